/* Ops that share loops: the rule (sketch/together.h) against isl's scheduler, and as histories,
 * which are legal; and wherever isl stops, an answer comes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/rng.h"
#include "loopstate/read/dag_read.h"
#include "lower/prove/fuse.h"
#include "lower/lower.h"
#include "sketch/together.h"
#include "tests/lib/random_dags.h"

#define N_RANDOM 120
#define N_TOGETHER 12 /* of them, or of those drawn further */
static uint32_t n_fault = 24; /* or argv[1] */

#define ROWS                                                                             \
	"f(float32 A[40,50]) -> Y { M(i) max=! A(i,j) E(i,j) = exp(A(i,j) - M(i))"        \
	" S(i) +=! E(i,j) Y(i,j) = E(i,j) / S(i) }"
#define COLUMNS                                                                          \
	"f(float32 A[40,150]) -> Y { s(j) +=! A(i,j) q(j) +=! A(i,j) * A(i,j)"            \
	" Y(i,j) = (A(i,j) - s(j)) * q(j) }"
#define APART "f(float32 A[40], B[50]) -> C, D { C(i) = A(i) + 1 D(j) = B(j) * 2 }"
#define PADDED                                                                           \
	"f(float32 X[4,9,9,8], W[3,3,8,8], b[8]) -> Y {"                                  \
	" P(n,h,w,c) = h >= 1 && h < 10 && w >= 1 && w < 10 ? X(n,h-1,w-1,c) : 0"         \
	"   where h in 0:11, w in 0:11"                                                   \
	" C(n,h,w,f) +=! P(n,h+r,w+t,c) * W(r,t,c,f) where h in 0:9, w in 0:9"            \
	" Y(n,h,w,f) = max(C(n,h,w,f) + b(f), 0) }"
#define CHAIN                                                                            \
	"f(float32 X[64,32], V[32,48], W[48,40]) -> Y { T(i,j) +=! X(i,k) * V(k,j)"       \
	" G(i,j) = exp(T(i,j)) Y(i,j) +=! G(i,k) * W(k,j) }"
#define BRANCHES                                                                         \
	"f(float32 A[40,50,30]) -> Y { S(i,j) +=! A(i,j,k) M(i) max=! S(i,j)"              \
	" E(i,j) = exp(S(i,j) - M(i)) Y(i,j) = E(i,j) * S(i,j) }"

/* S is read along the group's loops, and across them */
#define TURNED                                                                           \
	"f(float32 A[40,40,30]) -> Y { S(i,j) +=! A(i,j,k) E(i,j) = exp(S(i,j))"           \
	" Y(i,j) = E(i,j) * S(j,i) }"
/* one iteration is nothing to share */
#define ONE_ROW                                                                          \
	"f(float32 A[1,50]) -> Y { M(i) max=! A(i,j) E(i,j) = exp(A(i,j) - M(i))"         \
	" S(i) +=! E(i,j) Y(i,j) = E(i,j) / S(i) }"

struct bed {
	struct hn_arena a;
	struct hn_target target;
	const struct hn_dag *dag;
	bool *skip; /* none */
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
	b->skip = HN_NEW_ARRAY(&b->a, bool, b->dag->n_op);
}

/* The history of the rule's groups, proved; whether there is one. */
static bool check_history(struct bed *b, const char *want)
{
	const struct hn_state *s = hn_together(b->dag, &b->target, &b->a);
	const struct hn_looptree *tree;
	struct hn_err err = { 0 };
	struct hn_buf steps;

	if (!s) {
		return false;
	}
	if (hn_looptree_build(s, &b->a, &tree, &err) != 0 ||
	    hn_legal_check(tree, 0, &err) != HN_VERDICT_OK) {
		fail_msg("%s", err.msg);
	}
	hn_buf_init(&steps);
	hn_trace_write(s->trace, &steps);
	if (want) {
		assert_string_equal(steps.s, want);
	}
	hn_buf_fini(&steps);
	return true;
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
		{ APART, NULL },
		{ ONE_ROW, NULL },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		struct bed b;

		bed_open(&b, of[i].text);
		assert_int_equal(check_history(&b, of[i].steps), of[i].steps != NULL);
		hn_arena_fini(&b.a);
	}
}

/* As a set: isl orders the loops of a group as it likes. */
static bool same_loops(const struct hn_together_op *x, const struct hn_fused_op *y)
{
	uint64_t in_x = 0, in_y = 0;

	for (uint32_t k = 0; k < x->n; k++) {
		in_x |= UINT64_C(1) << x->axis[k];
	}
	for (uint32_t k = 0; k < y->n; k++) {
		in_y |= UINT64_C(1) << y->axis[k];
	}
	return in_x == in_y;
}

static bool agree(struct bed *b)
{
	const struct hn_fuse_limits none = { 0 };
	struct hn_together_op *op =
		HN_NEW_ARRAY(&b->a, struct hn_together_op, b->dag->n_op);
	struct hn_fusion isl;

	hn_fuse_groups(b->dag, b->skip, &none, &b->a, &isl);
	hn_together_find(b->dag, b->skip, 2, &b->a, op);
	for (uint32_t i = 0; i < b->dag->n_op; i++) {
		if (op[i].host != isl.op[i].host ||
		    (op[i].host == (int32_t)i && !same_loops(&op[i], &isl.op[i]))) {
			return false;
		}
	}
	return true;
}

static void the_scheduler_groups_alike(void **state)
{
	static const char *const text[] = { ROWS, COLUMNS, APART, PADDED, CHAIN, BRANCHES };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(text); i++) {
		struct bed b;

		bed_open(&b, text[i]);
		if (!agree(&b)) {
			fail_msg("%s", text[i]);
		}
		hn_arena_fini(&b.a);
	}
}

/* (isl puts all three in one group without a loop.) */
static void readers_that_disagree_share_nothing(void **state)
{
	struct hn_together_op op[4];
	struct bed b;

	(void)state;
	bed_open(&b, TURNED);
	assert_int_equal(b.dag->n_op, 4); /* A, S, E, Y */
	assert_true(hn_together_find(b.dag, b.skip, 2, &b.a, op));
	assert_int_equal(op[1].host, 1);
	assert_int_equal(op[2].host, 3);
	assert_int_equal(op[3].n, 2);
	hn_arena_fini(&b.a);
}

/* isl is stopped after a random number of its operations: it says so at whatever call it is
 * in, and the next, simpler question is asked. */
static void any_error_leads_to_an_answer(void **state)
{
	static const char *const text[] = { ROWS, COLUMNS, PADDED };
	uint32_t n_how[HN_N_FUSE] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < n_fault; i++) {
		struct hn_rng rng = hn_rng_stream(11, i, 0, 0);
		struct hn_fuse_limits limits = {
			.operations = 1 + hn_rng_below(&rng, 1u << hn_rng_below(&rng, 19)),
		};
		struct hn_fusion isl;
		struct bed b;

		bed_open(&b, text[i % HN_COUNT_OF(text)]);
		hn_fuse_groups(b.dag, b.skip, &limits, &b.a, &isl);
		for (uint32_t k = 0; k < b.dag->n_op; k++) {
			bool op = b.dag->op[k]->kind == HN_OP_COMPUTE;

			assert_true(op ? isl.op[k].host >= (int32_t)k : isl.op[k].host < 0);
		}
		n_how[isl.how]++;
		hn_arena_fini(&b.a);
	}
	print_message("max %u, parallel %u, min %u, none %u\n", n_how[HN_FUSE_MAX],
		      n_how[HN_FUSE_PARALLEL], n_how[HN_FUSE_MIN], n_how[HN_FUSE_NONE]);
	assert_true(n_how[HN_FUSE_MAX] > 0 && n_how[HN_FUSE_NONE] > 0);
	assert_true(n_how[HN_FUSE_PARALLEL] + n_how[HN_FUSE_MIN] > 0);
}

static void random_programs_have_legal_groups(void **state)
{
	uint32_t n = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= N_RANDOM || (n < N_TOGETHER && seed <= 4 * N_RANDOM); seed++) {
		uint32_t tape[RD_TAPE];
		struct hn_buf text;
		struct bed b;
		bool inexact;

		rd_tape(seed, tape);
		hn_buf_init(&text);
		rd_program(tape, RD_TAPE, &text, &inexact);
		bed_open(&b, text.s);
		n += check_history(&b, NULL);
		hn_arena_fini(&b.a);
		hn_buf_fini(&text);
	}
	print_message("%u of %u with ops together\n", n, (uint32_t)seed - 1);
	assert_true(n >= N_TOGETHER);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_become_nests),
		cmocka_unit_test(the_scheduler_groups_alike),
		cmocka_unit_test(readers_that_disagree_share_nothing),
		cmocka_unit_test(any_error_leads_to_an_answer),
		cmocka_unit_test(random_programs_have_legal_groups),
	};

	n_fault = argc > 1 ? (uint32_t)atoi(argv[1]) : n_fault;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
