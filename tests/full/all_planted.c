/* tests/full/all_planted.c -- kernels of narrow types that are wrong in the ways such kernels go
 * wrong: none may be taken for right by a board, and right ones must be.
 *
 * Programs are products, convolutions, quantizations, softmax and layer norm of int8, uint8,
 * bfloat16 and float16. A fault is a change of the program's text: the zero point left out, terms
 * exchanged within a group of an instruction, the last group left out, sums in 16 bits, roundings
 * of another kind, signs mistaken, subnormal numbers lost.  What the changed text computes is
 * measured as a kernel of the program, on a board of this process, with the references, inputs and
 * tolerances of honed (daemon/workload.h).
 *
 * A fault that gives equal answers on all inputs is none: such rows name the programs that they
 * are not for, and why. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/workload.h"
#include "loopstate/read/dag_read.h"
#include "lower/build/build.h"
#include "measure/board/board.h"
#include "measure/board/child.h"
#include "loopstate/state/intrin.h"
#include "sketch/heuristic.h"
#include "sketch/sketch.h"

#define LEAST_PLANTED 300

#define U8S8 "uint8 A[$M,$K], const int8 B[$K,$N]"
#define S8S8 "int8 A[$M,$K], const int8 B[$K,$N]"
#define WHOLE_SUM " C(i,j) +=! int32(A(i,k)) * int32(B(k,j))\n"
#define HALF_SUM " S(i,j) +=! float32(A(i,k)) * float32(B(k,j))\n"
#define REQUANT                                                                          \
	" Q(i,j) = float32(C(i,j) + z(j)) * s(j)\n R(i,j) = nearbyint(Q(i,j)) + 3\n"

static const struct program {
	const char *name, *text;
	int m, n, k;
} programs[] = {
	{ "requant",
	  "f(" U8S8 ", int32 z[$N], float32 s[$N]) -> Y {\n" WHOLE_SUM REQUANT
	  " Y(i,j) = int8(min(max(R(i,j), -128), 127)) }",
	  29, 37, 61 },
	{ "requant_s8",
	  "f(" S8S8 ", int32 z[$N], float32 s[$N]) -> Y {\n" WHOLE_SUM REQUANT
	  " Y(i,j) = int8(min(max(R(i,j), -128), 127)) }",
	  16, 32, 64 },
	{ "requant_u8",
	  "f(" U8S8 ", int32 z[$N], float32 s[$N]) -> Y {\n" WHOLE_SUM REQUANT
	  " Y(i,j) = uint8(min(max(R(i,j), 0), 255)) }",
	  5, 48, 128 },
	{ "relu_int",
	  "f(" U8S8 ", int32 z[$N]) -> Y {\n" WHOLE_SUM
	  " Y(i,j) = max(C(i,j) + z(j), 0) }",
	  7, 21, 50 },
	{ "sum_int", "f(" S8S8 ") -> Y {\n" WHOLE_SUM " Y(i,j) = C(i,j) }", 3, 19, 77 },
	{ "dequant",
	  "f(" S8S8 ", int32 z[$N], float32 s[$N], b[$N]) -> Y {\n" WHOLE_SUM
	  " Y(i,j) = float32(C(i,j) + z(j)) * s(j) + b(j) }",
	  8, 24, 100 },
	{ "batch",
	  "f(int8 A[3,$M,$K], int8 B[3,$K,$N], int32 z[$N], float32 s[$N]) -> Y {\n"
	  " C(h,i,j) +=! int32(A(h,i,k)) * int32(B(h,k,j))\n"
	  " Q(h,i,j) = float32(C(h,i,j) + z(j)) * s(j)\n"
	  " R(h,i,j) = nearbyint(Q(h,i,j)) + 3\n"
	  " Y(h,i,j) = int8(min(max(R(h,i,j), -128), 127)) }",
	  6, 20, 36 },
	{ "conv",
	  "f(uint8 X[9,7,$K], const int8 W[3,3,$K,$N], int32 z[$N], float32 s[$N]) -> Y "
	  "{\n"
	  " P(y,x,c) = y >= 1 && y < 10 && x >= 1 && x < 8 ? X(y-1,x-1,c) : uint8(0)"
	  " where y in 0:11, x in 0:9\n"
	  " C(y,x,f) +=! int32(P(y+r,x+q,k)) * int32(W(r,q,k,f))"
	  " where y in 0:9, x in 0:7, r in 0:3, q in 0:3\n"
	  " Q(y,x,f) = float32(C(y,x,f) + z(f)) * s(f)\n"
	  " R(y,x,f) = nearbyint(Q(y,x,f)) + 3\n"
	  " Y(y,x,f) = int8(min(max(R(y,x,f), -128), 127)) }",
	  9, 17, 8 },
	{ "weights",
	  "f(float32 A[$M,$K], const int8 B[$K,$N], float32 s[$N]) -> Y {\n"
	  " S(i,j) +=! A(i,k) * (float32(B(k,j)) * s(j))\n Y(i,j) = S(i,j) }",
	  6, 40, 60 },
	{ "bf16",
	  "f(bfloat16 A[$M,$K], const bfloat16 B[$K,$N]) -> Y {\n" HALF_SUM
	  " Y(i,j) = S(i,j) }",
	  9, 37, 61 },
	{ "bf16_relu",
	  "f(bfloat16 A[$M,$K], const bfloat16 B[$K,$N], float32 b[$N]) -> Y {\n" HALF_SUM
	  " F(i,j) = max(S(i,j) + b(j), 0)\n Y(i,j) = bfloat16(F(i,j)) }",
	  16, 32, 64 },
	{ "bf16_kept",
	  "f(bfloat16 A[$M,$K], const bfloat16 B[$K,$N], float32 b[$N]) -> Y {\n"
	  "@no_subnormals" HALF_SUM
	  " F(i,j) = S(i,j) + b(j)\n Y(i,j) = bfloat16(F(i,j)) }",
	  7, 20, 34 },
	{ "f16",
	  "f(float16 A[$M,$K], const float16 B[$K,$N], float32 b[$N]) -> Y {\n" HALF_SUM
	  " F(i,j) = max(S(i,j) + b(j), 0)\n Y(i,j) = float16(F(i,j)) }",
	  8, 24, 47 },
	{ "quantize",
	  "f(float32 X[$M,$N], s[$N]) -> Y {\n Q(i,j) = X(i,j) * s(j)\n"
	  " R(i,j) = nearbyint(Q(i,j)) + 3\n"
	  " Y(i,j) = int8(min(max(R(i,j), -128), 127)) }",
	  40, 33, 1 },
	{ "to_int",
	  "f(float32 X[$M,$N], s[$N]) -> Y {\n Q(i,j) = X(i,j) * s(j)\n"
	  " Y(i,j) = int32(nearbyint(Q(i,j))) }",
	  40, 33, 1 },
	{ "to_bf16",
	  "f(float32 X[$M,$N], s[$N]) -> Y {\n F(i,j) = X(i,j) * s(j)\n"
	  " Y(i,j) = bfloat16(F(i,j)) }",
	  40, 33, 1 },
	{ "to_f16",
	  "f(float32 X[$M,$N], s[$N]) -> Y {\n F(i,j) = X(i,j) * s(j)\n"
	  " Y(i,j) = float16(F(i,j)) }",
	  40, 33, 1 },
	{ "norm",
	  "f(float32 X[$M,$N], g[$N], b[$N]) -> Y {\n"
	  " M(i) +=! X(i,t) where t in 0:$N\n"
	  " V(i) +=! (X(i,t) - M(i) / $N.0) * (X(i,t) - M(i) / $N.0) where t in 0:$N\n"
	  " Q(i,j) = ((X(i,j) - M(i) / $N.0) * rsqrt(V(i) / $N.0 + 1e-5) * g(j) + b(j)) "
	  "* 32\n"
	  " Y(i,j) = int8(min(max(nearbyint(Q(i,j)), -128), 127)) }",
	  12, 96, 1 },
	{ "softmax",
	  "f(bfloat16 A[$M,$N]) -> Y {\n M(i) max=! A(i,t)\n"
	  " E(i,j) = exp(A(i,j) - M(i))\n D(i) +=! float32(E(i,t))\n"
	  " Y(i,j) = bfloat16(float32(E(i,j)) / D(i)) }",
	  12, 100, 1 },
};

/* A change of the text: everywhere, `from` becomes `to`. */
static const struct fault {
	const char *name, *from, *to, *only, *not_for, *why;
} faults[] = {
#define FAULT(about, find, put, ...)                                                     \
	{ .name = about, .from = find, .to = put, __VA_ARGS__ },
#include "tests/lib/planted_faults.def"
#undef FAULT
};

struct bed {
	struct hn_builder builder;
	struct hn_target host;
	void *board;
	const struct hn_board_ops *ops;
	uint32_t n_planted, n_accepted, n_right, n_group, n_refused, n_argued;
};

/* ---- texts */

/* $M, $N, $K and what is made of them. */
static void put_number(const char **at, const struct program *p, struct hn_buf *b)
{
	int v = **at == 'M' ? p->m : **at == 'N' ? p->n : p->k;

	++*at;
	if (**at == '1') {
		v--;
	} else if (**at == '4') {
		v = (v - 1) / 4 * 4;
	} else if (**at == 'H') {
		v /= 2;
	} else {
		--*at;
	}
	++*at;
	hn_buf_printf(b, "%d", v);
}

static void expand(const char *text, const struct program *p, struct hn_buf *b)
{
	while (*text) {
		if (*text == '$') {
			text++;
			put_number(&text, p, b);
		} else {
			hn_buf_putc(b, *text++);
		}
	}
}

/* The program's text, with the fault if there is one. */
static void write_text(const struct program *p, const struct fault *f, struct hn_buf *b)
{
	size_t n = f != NULL ? strlen(f->from) : 0;
	struct hn_buf changed;

	hn_buf_init(&changed);
	for (const char *c = p->text; *c;) {
		if (n > 0 && strncmp(c, f->from, n) == 0) {
			hn_buf_puts(&changed, f->to);
			c += n;
		} else {
			hn_buf_putc(&changed, *c++);
		}
	}
	expand(changed.s, p, b);
	hn_buf_fini(&changed);
}

static bool has_word(const char *words, const char *word)
{
	const char *at = words != NULL ? strstr(words, word) : NULL;

	while (at != NULL &&
	       ((at > words && at[-1] != ' ') || strchr(" ", at[strlen(word)]) == NULL)) {
		at = strstr(at + 1, word);
	}
	return at != NULL;
}

static bool fits(const struct fault *f, const struct program *p)
{
	bool only = f->only == NULL ||
		    (strcmp(f->only, "k") == 0
			     ? p->k > 4 && strstr(p->text, " max=! ") == NULL
			     : strstr(p->text, f->only) != NULL);

	return only && strstr(p->text, f->from) != NULL;
}

/* ---- kernels */

static void build(struct bed *b, const struct hn_dag *dag, const char *steps, bool beside,
		  struct hn_arena *a, struct hn_build_answer *ret)
{
	struct hn_build_request r = { .target = "native",
				      .symbol = "k",
				      .plant = "",
				      .steps = steps,
				      .steps_bytes = strlen(steps),
				      .naive = strcmp(steps, "[]") == 0 };
	struct hn_buf json;

	if (beside) {
		r.wide = "wide";
		r.brackets = "bracket";
	}
	hn_buf_init(&json);
	hn_dag_write_json(dag, &json);
	r.dag = hn_arena_strdup(a, json.s);
	r.dag_bytes = json.n;
	hn_buf_fini(&json);
	memset(ret, 0, sizeof *ret);
	hn_build(&b->builder, &r, a, ret);
	if (ret->verdict != HN_VERDICT_OK) {
		fail_msg("%s", ret->why.msg);
	}
}

static struct hn_board_kernel kernel_of(const struct hn_build_answer *ans)
{
	const struct hn_artefact *x = &ans->artefact;

	return (struct hn_board_kernel){ .object = x->object,
					 .object_bytes = x->object_bytes,
					 .symbol = "k",
					 .shared_bytes = x->shared_bytes,
					 .per_worker_bytes = x->per_worker_bytes,
					 .prepared_bytes = x->prepared_bytes,
					 .limit_ms = 20000 };
}

static const struct hn_dag *dag_of(const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_err err = { 0 };

	if (hn_dag_parse("planted", text, strlen(text), 0, a, &dag, &err) != 0) {
		print_message("%s\n%s\n", err.msg, text);
		return NULL;
	}
	return dag;
}

/* The workload as honed has it. */
static void make_workload(struct bed *b, const struct hn_dag *dag, struct hn_arena *a,
			  char *inputs, size_t n)
{
	const struct hn_workload w = hn_workload_of(dag, "w", "{}", a);
	struct hn_tensor *t = HN_NEW_ARRAY(a, struct hn_tensor, w.n_arg);
	struct hn_board_answer ans = { .verdict = HN_VERDICT_NONE };
	struct hn_build_answer naive;

	for (uint32_t i = 0; i < w.n_arg; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];

		t[i] = (struct hn_tensor){ .name = w.arg[i].name,
					   .elem = hn_dtype_of(w.arg[i].dtype),
					   .n_dim = w.arg[i].n_dim,
					   .shape = w.arg[i].shape,
					   .output = w.arg[i].output,
					   .n_elem = hn_op_elements(op),
					   .bytes = hn_op_bytes(op, 0) };
	}
	build(b, dag, "[]", true, a, &naive);
	b->ops->workload(b->board,
			 &(struct hn_board_workload){ .key = "w",
						      .n_tensor = w.n_arg,
						      .tensor = t,
						      .seed = w.seed,
						      .magnitude = w.magnitude,
						      .tolerance = w.tolerance,
						      .settled = w.settled,
						      .subnormals = w.subnormals,
						      .naive = kernel_of(&naive),
						      .wide = "wide",
						      .bracket = "bracket" },
			 &ans);
	if (ans.verdict != HN_VERDICT_OK) {
		fail_msg("%s", ans.detail);
	}
	snprintf(inputs, n, "%s", ans.detail);
}

static struct hn_board_answer measure(struct bed *b, const struct hn_build_answer *x)
{
	struct hn_board_answer ans = { .verdict = HN_VERDICT_NONE };

	b->ops->measure(b->board,
			&(struct hn_board_request){ .key = "w", .kernel = kernel_of(x) },
			&ans);
	return ans;
}

/* ---- judgement */

static void right_one(struct bed *b, const struct program *p,
		      const struct hn_build_answer *x, const char *which)
{
	struct hn_board_answer ans = measure(b, x);
	bool right = ans.verdict == HN_VERDICT_OK || ans.verdict == HN_VERDICT_NOISY;

	b->n_right++;
	b->n_refused += !right;
	if (!right) {
		print_message("%s, %s, is right: %s (%s)\n", p->name, which,
			      hn_verdict_name(ans.verdict), ans.detail);
	}
}

static bool has_group(const struct hn_state *s)
{
	bool ret = false;

	for (uint32_t i = 0; i < s->n_stage; i++) {
		ret |= s->stage[i]->intrin != NULL;
	}
	return ret;
}

static void right_history(struct bed *b, const struct program *p,
			  const struct hn_dag *dag, const struct hn_state *s,
			  struct hn_arena *a)
{
	struct hn_build_answer x;
	struct hn_buf steps;

	hn_buf_init(&steps);
	hn_trace_write(s->trace, &steps);
	build(b, dag, hn_arena_strdup(a, steps.s), false, a, &x);
	right_one(b, p, &x, steps.s);
	b->n_group += has_group(s);
	hn_buf_fini(&steps);
}

/* Fills of sketches that give the sum to an instruction. */
static void tensorized_ones(struct bed *b, const struct program *p,
			    const struct hn_dag *dag, struct hn_arena *a)
{
	struct hn_rng rng = hn_rng_stream(3, 1, 4, 1);
	struct hn_sketches sketches;
	uint32_t n = 0;
	struct hn_err err;

	assert_int_equal(hn_sketch_generate_own(dag, &b->host, a, &sketches, &err), 0);
	for (uint32_t i = 0; i < 4 * sketches.n && n < 4; i++) {
		const struct hn_sketch *of = &sketches.sketch[i % sketches.n];
		const struct hn_state *s;

		if (has_group(of->state) &&
		    hn_sketch_fill(of, &b->host, &rng, a, &s) == HN_VERDICT_OK) {
			right_history(b, p, dag, s, a);
			n++;
		}
	}
}

/* The program itself, and its heuristic schedules. */
static void right_ones(struct bed *b, const struct program *p, const struct hn_dag *dag,
		       struct hn_arena *a)
{
	const struct hn_state *s[HN_HEURISTIC_MAX];
	uint32_t n = hn_heuristics(dag, &b->host, a, s);
	struct hn_build_answer x;

	build(b, dag, "[]", false, a, &x);
	right_one(b, p, &x, "as it is written");
	for (uint32_t i = 0; i < n && i < 4; i++) {
		right_history(b, p, dag, s[i], a);
	}
	tensorized_ones(b, p, dag, a);
}

static void wrong_one(struct bed *b, const struct program *p, const struct fault *f)
{
	struct hn_build_answer x;
	struct hn_board_answer ans;
	struct hn_buf text;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	write_text(p, f, &text);
	const struct hn_dag *dag = dag_of(text.s, &a);

	assert_non_null(dag);
	build(b, dag, "[]", false, &a, &x);
	ans = measure(b, &x);
	b->n_planted++;
	if (ans.verdict != HN_VERDICT_WRONG_RESULT) {
		b->n_accepted++;
		print_message("%s, %s: %s (%s)\n", p->name, f->name,
			      hn_verdict_name(ans.verdict), ans.detail);
	}
	hn_buf_fini(&text);
	hn_arena_fini(&a);
}

static void check_program(struct bed *b, const struct program *p)
{
	uint32_t before = b->n_planted, accepted = b->n_accepted;
	char inputs[400];
	struct hn_buf text;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	write_text(p, NULL, &text);

	const struct hn_dag *dag = dag_of(text.s, &a);

	make_workload(b, dag, &a, inputs, sizeof inputs);
	right_ones(b, p, dag, &a);
	for (size_t i = 0; i < HN_COUNT_OF(faults); i++) {
		if (!fits(&faults[i], p)) {
			continue;
		}
		if (has_word(faults[i].not_for, p->name)) {
			b->n_argued++;
			continue;
		}
		wrong_one(b, p, &faults[i]);
	}
	print_message("%s: %u planted, %u taken for right; %s\n", p->name,
		      b->n_planted - before, b->n_accepted - accepted, inputs);
	hn_buf_fini(&text);
	hn_arena_fini(&a);
}

static void none_is_taken_for_right(void **state)
{
	struct bed *b = *state;
	const char *only = getenv("RUN_ONLY");

	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		if (only == NULL || strcmp(only, programs[i].name) == 0) {
			check_program(b, &programs[i]);
		}
	}
	print_message(
		"%u planted, %u taken for right; %u right ones, %u by an instruction, %u "
		"refused; %u argued away\n",
		b->n_planted, b->n_accepted, b->n_right, b->n_group, b->n_refused,
		b->n_argued);
	assert_int_equal(b->n_accepted, 0);
	assert_int_equal(b->n_refused, 0);
	assert_true(only != NULL || b->n_planted >= LEAST_PLANTED);
}

static int open_bed(void **state)
{
	struct bed *b = calloc(1, sizeof *b);
	static struct hn_arena a;
	struct hn_err err;

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	hn_arena_init(&a, 0);
	hn_target_host(&a, &b->host);
	hn_child_adopt_orphans();
	b->ops = hn_board_of("cpu -isa=x");
	*state = b;
	return b->ops->open(&(struct hn_board_place){ .target = "cpu" }, &b->board, &err);
}

static int close_bed(void **state)
{
	struct bed *b = *state;

	b->ops->close(b->board);
	hn_builder_fini(&b->builder);
	free(b);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(
		none_is_taken_for_right, open_bed, close_bed) };

	return cmocka_run_group_tests_name("planted faults of narrow types", tests, NULL,
					   NULL);
}
