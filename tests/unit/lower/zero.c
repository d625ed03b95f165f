/* Terms that are known to be nothing leave no instruction: the additions in a
 * kernel's LLVM IR, counted. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/state/trace.h"
#include "lower/lower.h"

/* A kernel of 4 phases: h, w, r and s are split by 2, the insides unrolled: 4 points, and 4
 * terms for each, of which one is not zero. */
static const char transposed[] =
	"f(float32 X[1,4,4,13], W[4,4,13,16]) -> Y { Y(n,h,w,f) +=! (h+r>=2 && h+r<9 &&"
	" w+s>=2 && w+s<9 && (h+r)%2==0 && (w+s)%2==0 ? X(n,(h+r)/2-1,(w+s)/2-1,c) : 0)"
	" * W(3-r,3-s,c,f) where h in 0:8, w in 0:8, r in 0:4, s in 0:4 }";
static const char phases[] =
	"[[\"SP\", 2, 5, 4, [2], 1], [\"SP\", 2, 4, 4, [2], 1], [\"SP\", 2, 2, 8, [2], "
	"1], [\"SP\", 2, 1, 8, [2], 1], [\"RE\", 2, [0, 1, 3, 6, 8, 10, 2, 4, 7, 9, 5]], "
	"[\"FU\", 2, [0, 1, 2]], [\"AN\", 2, 0, 3], [\"AN\", 2, 4, 1], [\"AN\", 2, 5, "
	"1], "
	"[\"AN\", 2, 6, 1], [\"AN\", 2, 7, 1], [\"AN\", 2, 8, 2]]";

/* The same with nothing known of the terms: zero there is not zero. */
static const char dense[] =
	"f(float32 X[1,4,4,13], W[4,4,13,16]) -> Y { Y(n,h,w,f) +=! (h+r>=2 && h+r<9 &&"
	" w+s>=2 && w+s<9 && (h+r)%2==0 && (w+s)%2==0 ? X(n,(h+r)/2-1,(w+s)/2-1,c) : 1)"
	" * W(3-r,3-s,c,f) where h in 0:8, w in 0:8, r in 0:4, s in 0:4 }";

static uint32_t count(const char *text, const char *word)
{
	uint32_t n = 0;

	for (; (text = strstr(text, word)); text += strlen(word)) {
		n++;
	}
	return n;
}

/* How often `word` stands in the kernel of `program` under `steps`, on vectors of 64 bytes. */
static uint32_t count_in_kernel(const char *program, const char *steps, const char *word)
{
	struct hn_emit_options opt = { .symbol = "k", .want_ir = true };
	struct hn_target host;
	struct hn_emitter *em;
	struct hn_artefact artefact;
	const struct hn_looptree *tree;
	const struct hn_trace *trace;
	const struct hn_state *s;
	const struct hn_dag *dag;
	struct hn_arena a;
	struct hn_err err = { 0 };

	hn_arena_init(&a, 0);
	/* Read and not run, so of a machine that this one need not be. */
	if (hn_target_parse("cpu -isa=x86-64-avx512", &a, &host, &err) ||
	    hn_dag_parse("f", program, strlen(program), 0, &a, &dag, &err) ||
	    hn_trace_parse("steps", steps, strlen(steps), &a, &trace, &err) ||
	    hn_state_replay(dag, trace, &a, &s, &err) ||
	    hn_looptree_build(s, &a, &tree, &err) || hn_emitter_new(&host, &em, &err) ||
	    hn_emit(em, tree, &opt, &a, &artefact, &err)) {
		fail_msg("%s", err.msg);
	}
	uint32_t n = count(artefact.ir, word);

	hn_emitter_free(em);
	hn_arena_fini(&a);
	return n;
}

static uint32_t additions(const char *program, const char *steps)
{
	return count_in_kernel(program, steps, " = fadd ");
}

static void phases_of_a_transposed_convolution(void **state)
{
	(void)state;
	uint32_t all = additions(dense, phases), some = additions(transposed, phases);

	assert_true(some >= 4);
	assert_int_equal(some * 4, all); /* whatever the forms a tile has */
}

/* A row of 7 points between pads, its channels in a loop: the three places of the window
 * have 6, 7 and 6 terms, two vectors each. */
static void window_at_both_ends_of_a_row(void **state)
{
	static const char row[] =
		"f(float32 X[7,13], W[3,13,32]) -> Y { Y(w,f) +=! (w+s>=1 && w+s<8 ?"
		" X(w+s-1,c) : 0) * W(s,c,f) where w in 0:7, s in 0:3 }";
	static const char strided[] =
		"f(float32 X[14,13], W[5,13,32]) -> Y { Y(w,f) +=! (2*w+s>=2 && 2*w+s<16"
		" ? X(2*w+s-2,c) : 0) * W(s,c,f) where w in 0:7, s in 0:5 }";
	static const char steps[] =
		"[[\"RE\", 2, [2, 3, 0, 1]], [\"AN\", 2, 3, 2]]";

	(void)state;
	assert_int_equal(additions(row, steps), 2 * (6 + 7 + 6));
	/* the row is one tile: a loop over channels for each place and no other */
	assert_int_equal(count_in_kernel(row, steps, "br i1 "), 3);
	/* the first and the last two places: of 2w + s - 2 in 0:14 */
	assert_int_equal(additions(strided, steps), 2 * (6 + 6 + 7 + 7 + 6));
}

static int setup(void **state)
{
	(void)state;
	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_of_a_transposed_convolution),
		cmocka_unit_test(window_at_both_ends_of_a_row),
	};

	return cmocka_run_group_tests_name("lower zero", tests, setup, NULL);
}
