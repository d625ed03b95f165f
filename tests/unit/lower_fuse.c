/* Groups of ops by isl's scheduler: rows and columns go together, what shares nothing stays
 * alone; and wherever isl stops, an answer comes that is a legal history. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/rng.h"
#include "lower/fuse.h"
#include "lower/lower.h"
#include "tests/unit/random_dags.h"

#define N_RANDOM 40
#define N_FAULT 120

#define ROWS                                                                             \
	"f(float32 A[40,50]) -> Y { M(i) max=! A(i,j) E(i,j) = exp(A(i,j) - M(i))"        \
	" S(i) +=! E(i,j) Y(i,j) = E(i,j) / S(i) }"
#define COLUMNS                                                                          \
	"f(float32 A[40,150]) -> Y { s(j) +=! A(i,j) q(j) +=! A(i,j) * A(i,j)"            \
	" Y(i,j) = (A(i,j) - s(j)) * q(j) }"
#define APART "f(float32 A[40], B[50]) -> C, D { C(i) = A(i) + 1 D(j) = B(j) * 2 }"
#define PADDED                                                                           \
	"f(float32 X[1,9,9,8], W[3,3,8,8], b[8]) -> Y {"                                  \
	" P(n,h,w,c) = h >= 1 && h < 10 && w >= 1 && w < 10 ? X(n,h-1,w-1,c) : 0"         \
	"   where h in 0:11, w in 0:11"                                                   \
	" C(n,h,w,f) +=! P(n,h+r,w+t,c) * W(r,t,c,f) where h in 0:9, w in 0:9"            \
	" Y(n,h,w,f) = max(C(n,h,w,f) + b(f), 0) }"

struct bed {
	struct hn_arena a;
	struct hn_target target;
	const struct hn_dag *dag;
};

static void bed_open(struct bed *b, const char *text)
{
	struct hn_err err = { 0 };

	hn_arena_init(&b->a, 0);
	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx512 -num_cores=4", &b->a,
					 &b->target, &err),
			 0);
	if (hn_dag_parse("t", text, strlen(text), 0, &b->a, &b->dag, &err) != 0) {
		fail_msg("%s: %s", text, err.msg);
	}
}

/* The history under these limits, proved. */
static const char *history(struct bed *b, const struct hn_fuse_limits *limits,
			   enum hn_fuse_how *how)
{
	const struct hn_looptree *tree;
	const struct hn_trace *trace;
	const struct hn_state *s;
	struct hn_err err = { 0 };
	const char *steps;

	if (hn_fuse_history(b->dag, &b->target, limits, &b->a, &steps, how, &err) != 0 ||
	    hn_trace_parse("t", steps, strlen(steps), &b->a, &trace, &err) != 0 ||
	    hn_state_replay(b->dag, trace, &b->a, &s, &err) != 0 ||
	    hn_looptree_build(s, &b->a, &tree, &err) != 0 ||
	    hn_legal_check(tree, 0, &err) != HN_VERDICT_OK) {
		fail_msg("%s", err.msg);
	}
	return steps;
}

static void groups_become_nests(void **state)
{
	static const struct {
		const char *text, *steps;
	} of[] = {
		{ ROWS, "[[\"RE\", 4, [0, 1]], [\"AN\", 4, 0, 3], [\"CA\", 3, 4, 0], "
			"[\"CA\", 2, 4, 0], [\"CA\", 1, 4, 0]]" },
		{ COLUMNS, "[[\"SP\", 3, 1, 150, [64], 1], [\"RE\", 3, [1, 0, 2]], "
			   "[\"AN\", 3, 0, 3], [\"AN\", 3, 2, 2], [\"CA\", 2, 3, 0], "
			   "[\"CA\", 1, 3, 0]]" },
		{ APART, "[]" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		const struct hn_fuse_limits none = { 0 };
		enum hn_fuse_how how;
		struct bed b;

		bed_open(&b, of[i].text);
		assert_string_equal(history(&b, &none, &how), of[i].steps);
		assert_int_equal(how, HN_FUSE_MAX);
		hn_arena_fini(&b.a);
	}
}

/* isl is stopped after a random number of its operations: it says so at whatever call it is
 * in, and the next, simpler question is asked. */
static void any_error_leads_to_an_answer(void **state)
{
	static const char *const text[] = { ROWS, COLUMNS, PADDED };
	uint32_t n_how[HN_N_FUSE] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < N_FAULT; i++) {
		struct hn_rng rng = hn_rng_stream(11, i, 0, 0);
		struct hn_fuse_limits limits = {
			.operations = 1 + hn_rng_below(&rng, 1u << hn_rng_below(&rng, 19)),
		};
		enum hn_fuse_how how;
		struct bed b;

		bed_open(&b, text[i % HN_COUNT_OF(text)]);
		history(&b, &limits, &how);
		n_how[how]++;
		hn_arena_fini(&b.a);
	}
	print_message("max %u, parallel %u, min %u, none %u\n", n_how[HN_FUSE_MAX],
		      n_how[HN_FUSE_PARALLEL], n_how[HN_FUSE_MIN], n_how[HN_FUSE_NONE]);
	assert_true(n_how[HN_FUSE_MAX] > 0 && n_how[HN_FUSE_NONE] > 0);
	assert_true(n_how[HN_FUSE_PARALLEL] + n_how[HN_FUSE_MIN] > 0);
}

static void random_programs_have_legal_groups(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= N_RANDOM; seed++) {
		const struct hn_fuse_limits limits = { .ms = 500 };
		uint32_t tape[RD_TAPE];
		enum hn_fuse_how how;
		struct hn_buf text;
		struct bed b;
		bool inexact;

		rd_tape(seed, tape);
		hn_buf_init(&text);
		rd_program(tape, RD_TAPE, &text, &inexact);
		bed_open(&b, text.s);
		history(&b, &limits, &how);
		hn_arena_fini(&b.a);
		hn_buf_fini(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_become_nests),
		cmocka_unit_test(any_error_leads_to_an_answer),
		cmocka_unit_test(random_programs_have_legal_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
