/* The quick check of legality: by hand, and against evaluation of random trees, right ones
 * and damaged ones. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <malloc.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/dag/liberty.h"
#include "loopstate/dag/mark.h"
#include "loopstate/nest/quick.h"
#include "tests/lib/dag_form.h"
#include "tests/lib/looptree_dags.h"
#include "tests/lib/looptree_eval.h"
#include "tests/lib/lower_edits.h"
#include "tests/lib/lower_histories.h"

#define N_HISTORIES 60

static const struct hn_dag *open_form(const struct dag_form *form, struct hn_arena *a)
{
	return dag_form_open(form->name, form->json, a);
}

static const struct hn_dag *open_text(const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_err err = { 0 };

	if (hn_dag_parse("test", text, strlen(text), 0, a, &dag, &err)) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

/* The loop tree that the steps make of the dag. */
static const struct hn_looptree *tree_of(const char *dag_text, const char *steps,
					 struct hn_arena *a)
{
	const struct hn_dag *dag = open_text(dag_text, a);
	const struct hn_looptree *t;
	const struct hn_trace *trace;
	const struct hn_state *s;
	struct hn_err err = { 0 };

	if (hn_trace_parse("steps", steps, strlen(steps), a, &trace, &err) ||
	    hn_state_replay(dag, trace, a, &s, &err) || hn_looptree_build(s, a, &t, &err)) {
		fail_msg("%s: %s", steps, err.msg);
	}
	return t;
}

/* The verdict on what `steps` makes of the dag; *err has the reason. */
static bool judge_steps(const char *dag_text, const char *steps, struct hn_err *err)
{
	struct hn_quick *q = hn_quick_new();
	struct hn_arena a;
	bool ok;

	hn_arena_init(&a, 0);
	const struct hn_looptree *t = tree_of(dag_text, steps, &a);

	ok = hn_quick_legal(q, t, err);
	hn_arena_fini(&a);
	hn_quick_free(q);
	return ok;
}

#define MATMUL "m(float32 A[24,20], B[20,16]) -> C { C(i,j) +=! A(i,k) * B(k,j) }"

/* Steps, and whether what they make is legal. */
struct judged {
	const char *steps;
	bool legal;
};

static void judge_all(const char *dag_text, const struct judged *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct hn_err err = { 0 };

		if (judge_steps(dag_text, row[i].steps, &err) != row[i].legal) {
			fail_msg("%s: %s", row[i].steps,
				 row[i].legal ? err.msg : "accepted");
		}
	}
}

static void races_are_refused(void **state)
{
	static const struct judged row[] = {
		{ "[]", true },
		{ "[[\"AN\", 2, 0, 3], [\"AN\", 2, 1, 2]]", true },
		{ "[[\"AN\", 2, 2, 3]]", false }, /* the sum's loop in parallel */
		{ "[[\"AN\", 2, 2, 2]]", false }, /* in lanes */
		{ "[[\"SP\", 2, 2, 20, [4], 1], [\"AN\", 2, 3, 2]]", false },
		/* fused with a spatial loop: iterations share rows of C */
		{ "[[\"FU\", 2, [1, 2]], [\"AN\", 2, 1, 3]]", false },
		{ "[[\"FU\", 2, [0, 1]], [\"AN\", 2, 0, 3]]", true },
		/* lengths that do not divide */
		{ "[[\"SP\", 2, 0, 24, [7], 1], [\"AN\", 2, 0, 3]]", true },
		{ "[[\"RE\", 2, [2, 0, 1]], [\"AN\", 2, 1, 3]]", true },
		/* partial sums first, in parallel */
		{ "[[\"SP\", 2, 2, 20, [4], 1], [\"RF\", 2, 3, 2], [\"AN\", 2, 2, 3]]",
		  true },
	};

	(void)state;
	judge_all(MATMUL, row, HN_COUNT_OF(row));
}

/* Loops that were fused and split again: no digit of one loop, but of several taken as one. */
static void fused_loops_may_be_split_again(void **state)
{
	static const char sum[] = "s(float32 A[7,17]) -> C, D { C(i,j) = A(i,j) * 2.0\n"
				  "D(i) +=! A(i,k) }";
	static const struct judged row[] = {
		{ "[[\"FU\", 1, [0, 1]], [\"SP\", 1, 0, 119, [2, 13], 1]]", true },
		/* with a loop that runs once between them, and in parallel */
		{ "[[\"FU\", 1, [0, 1]], [\"SP\", 1, 0, 119, [1, 13], 1], [\"AN\", 1, 0, 3]]", true },
		{ "[[\"FU\", 1, [0, 1]], [\"SP\", 1, 0, 119, [13], 1], [\"AN\", 1, 1, 2]]", true },
		{ "[[\"FU\", 2, [0, 1]], [\"SP\", 2, 0, 119, [13], 1]]", true },
		/* parts of one sum in several iterations */
		{ "[[\"FU\", 2, [0, 1]], [\"SP\", 2, 0, 119, [13], 1], [\"AN\", 2, 0, 3]]", false },
		{ "[[\"FU\", 2, [0, 1]], [\"SP\", 2, 0, 119, [13], 1], [\"AN\", 2, 1, 2]]", false },
		/* the other loop first: nothing is directly in it */
		{ "[[\"FU\", 1, [0, 1]], [\"SP\", 1, 0, 119, [13], 1], [\"RE\", 1, [1, 0]]]", false },
	};

	(void)state;
	judge_all(sum, row, HN_COUNT_OF(row));
}

/* A GPU's grid over fused axes that its blocks do not divide: blocks and threads count together. */
static void a_grid_may_cut_fused_axes(void **state)
{
	static const char dag[] = "f(float32 A[17,15]) -> C { C(i,j) = A(i,j) * 2.0 }";
	static const char sum[] = "f(float32 A[17,15]) -> C { C(i) +=! A(i,k) }";
	static const struct judged row[] = {
		{ "[[\"FU\", 1, [0, 1]], [\"SP\", 1, 0, 255, [32], 1], [\"AN\", 1, 0, 5], "
		  "[\"AN\", 1, 1, 6]]",
		  true },
		/* one block, of more threads than there are points */
		{ "[[\"FU\", 1, [0, 1]], [\"SP\", 1, 0, 255, [256], 1], [\"AN\", 1, 0, 5], "
		  "[\"AN\", 1, 1, 6]]",
		  true },
		/* one number twice */
		{ "[[\"FU\", 1, [0, 1]], [\"SP\", 1, 0, 255, [32], 1], [\"AN\", 1, 0, 6], "
		  "[\"AN\", 1, 1, 6]]",
		  false },
	};
	static const struct judged racing[] = {
		/* the sum's points over blocks and threads: an element belongs to many */
		{ "[[\"FU\", 1, [0, 1]], [\"SP\", 1, 0, 255, [32], 1], [\"AN\", 1, 0, 5], "
		  "[\"AN\", 1, 1, 6]]",
		  false },
		{ "[[\"FU\", 1, [0, 1]], [\"SP\", 1, 0, 255, [32], 1], [\"AN\", 1, 1, 6]]",
		  false },
	};

	/* in rounds, 5 of 5 for 24 points; B's are read past the end, too: a row's has no guard */
	static const char outer[] = "f(float32 A[4], float32 B[6]) -> C { C(i,j) = A(i) * B(j) }";
	static const char inner[] = "f(float32 A[4], float32 B[6]) -> C { C(i) +=! A(i) * B(k) }";
	static const struct judged rounds[] = {
		{ "[[\"CHR\", 1, \"local\", [2]], [\"FU\", 3, [0, 1]], [\"SP\", 3, 0, 24, [5], 1], "
		  "[\"AN\", 3, 1, 5], [\"CA\", 2, 3, 1]]",
		  true },
	};
	static const struct judged racing_rounds[] = {
		{ "[[\"CHR\", 1, \"local\", [2]], [\"FU\", 3, [0, 1]], [\"SP\", 3, 0, 24, [5], 1], "
		  "[\"AN\", 3, 1, 5], [\"CA\", 2, 3, 1]]",
		  false },
	};

	(void)state;
	judge_all(dag, row, HN_COUNT_OF(row));
	judge_all(sum, racing, HN_COUNT_OF(racing));
	judge_all(outer, rounds, HN_COUNT_OF(rounds));
	judge_all(inner, racing_rounds, HN_COUNT_OF(racing_rounds));
}

static void drop_guards_of_p(struct hn_node *n, struct hn_arena *a)
{
	if (n->kind == HN_NODE_STMT && n->stage == 1) {
		drop_guards(n, a);
	}
}

/* A statement in them that no guard holds runs further than the others. */
static void each_statement_has_its_guard(void **state)
{
	static const char steps[] = "[[\"FU\", 2, [0, 1]], [\"SP\", 2, 0, 119, [2, 13], 1], "
				    "[\"CA\", 1, 2, 2]]";
	struct hn_quick *q = hn_quick_new();
	struct hn_looptree damaged;
	struct hn_err err = { 0 };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_looptree *t = tree_of("p(float32 A[7,17]) -> C { P(i,j) = A(i,j) + 1.0\n"
					      "C(i,j) = P(i,j) * 2.0 }",
					      steps, &a);

	if (!hn_quick_legal(q, t, &err)) {
		fail_msg("%s", err.msg);
	}
	damaged = *t;
	damaged.root = edit_tree(t->root, drop_guards_of_p, &a);
	assert_false(hn_quick_legal(q, &damaged, &err));
	hn_arena_fini(&a);
	hn_quick_free(q);
}

static void bitwise_tasks_keep_their_order(void **state)
{
	static const struct {
		const char *steps;
		bool legal;
	} row[] = {
		{ "[[\"SP\", 2, 2, 20, [4], 1], [\"RE\", 2, [2, 0, 1, 3]]]", true },
		{ "[[\"SP\", 2, 2, 20, [4], 1], [\"RE\", 2, [3, 0, 1, 2]]]", false },
	};
	struct hn_quick *q = hn_quick_new();
	struct hn_arena a;
	char key[2][HN_KEY_BYTES];

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *plain = open_text(MATMUL, &a);
	const struct hn_dag *dag = hn_dag_mark(plain, HN_MARK_BITWISE, &a);

	assert_false(hn_dag_bitwise(plain));
	assert_true(hn_dag_bitwise(dag));
	assert_ptr_equal(hn_dag_mark(dag, HN_MARK_BITWISE, &a), dag);
	hn_dag_key(plain, key[0]);
	hn_dag_key(dag, key[1]);
	assert_string_not_equal(key[0], key[1]);
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		for (int bitwise = 0; bitwise < 2; bitwise++) {
			const struct hn_looptree *t;
			const struct hn_trace *trace;
			const struct hn_state *s;
			struct hn_err err = { 0 };

			if (hn_trace_parse("steps", row[i].steps, strlen(row[i].steps), &a,
					   &trace, &err) ||
			    hn_state_replay(bitwise ? dag : plain, trace, &a, &s, &err) ||
			    hn_looptree_build(s, &a, &t, &err)) {
				fail_msg("%s", err.msg);
			}
			assert_int_equal(hn_quick_legal(q, t, &err),
					 !bitwise || row[i].legal);
		}
	}
	hn_arena_fini(&a);
	hn_quick_free(q);
}

static void a_refusal_says_why(void **state)
{
	struct hn_err err = { 0 };

	(void)state;
	assert_false(judge_steps(MATMUL, "[[\"AN\", 2, 2, 3]]", &err));
	assert_string_equal(
		err.msg,
		"stage 2 (C): iterations of a parallel loop may share an element");
}

/* What is accepted computes the dag; counts what is right and refused. */
static void judge(struct hn_quick *q, const char *name, uint64_t seed,
		  const struct hn_looptree *t, const struct eval *want, uint32_t *ret_right,
		  uint32_t *ret_refused, uint32_t *ret_wrong)
{
	struct hn_err err = { 0 };
	bool ok = hn_quick_legal(q, t, &err);
	bool right = tree_right(t, want);

	if (ok && !right) {
		struct hn_buf text;

		hn_buf_init(&text);
		hn_looptree_print(t, &text);
		print_error("%s, seed %llu\n%s\n", name, (unsigned long long)seed, text.s);
		fail_msg("accepted, and wrong");
	}
	*ret_right += right;
	*ret_wrong += !right;
	*ret_refused += right && !ok;
	if (right && !ok && getenv("RUN_VERBOSE")) {
		print_message("%s %llu: %s\n", name, (unsigned long long)seed, err.msg);
	}
}

static void agrees_with_evaluation(void **state)
{
	static const edit_fn edits[] = { shorten_reduction, shorten_spatial, drop_init,
					 drop_guards, tighten_guards, swap_children,
					 repeat_reduction, lengthen_spatial };
	struct hn_quick *q = hn_quick_new();
	uint32_t right = 0, refused = 0, wrong = 0, none = 0;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(dag_forms); i++) {
		struct hn_arena keep, a;
		struct eval want;

		hn_arena_init(&keep, 0);
		hn_arena_init(&a, 0);
		const struct hn_dag *dag = open_form(&dag_forms[i], &keep);

		eval_dag(&want, dag);
		for (uint64_t seed = 0; seed < N_HISTORIES; seed++) {
			const struct hn_looptree *t;

			hn_arena_reset(&a);
			if (hn_looptree_build(random_history(dag, seed, &a), &a, &t, NULL)) {
				continue;
			}
			struct hn_looptree damaged = *t;

			judge(q, dag_forms[i].name, seed, t, &want, &right, &refused,
			      &wrong);
			damaged.root = edit_tree(t->root,
						 edits[seed % HN_COUNT_OF(edits)], &a);
			judge(q, dag_forms[i].name, seed, &damaged, &want, &none, &none,
			      &wrong);
		}
		eval_free(&want);
		hn_arena_fini(&a);
		hn_arena_fini(&keep);
	}
	hn_quick_free(q);
	print_message("%u right, of which %u refused; %u wrong\n", right, refused, wrong);
	assert_true(wrong > right / 8);
	/* Forms with indices that are not affine, in any order: far from what search draws,
	 * of which full/all_quick counts the share. */
	assert_true(refused * 100 <= right * 15);
}

/* Read at i / 2, a loop of 5 has two digits that could count to 6; read at 6 - i, an element's
 * place counts down. */
static void right_ones_are_taken(void **state)
{
	static const struct {
		const char *dag, *steps;
	} row[] = {
		{ "f(float32 A[3]) -> B { s(i) = A(i) + 1 B(i) = i % 2 == 0 ? s(i / 2) : 0 "
		  "where i in 0:5 }",
		  "[[\"CA\", 1, 2, 0]]" },
		{ "f(float32 A[7]) -> B { s(i) = A(i) + 1 B(i) = s(6 - i) }",
		  "[[\"SP\", 2, 0, 7, [2], 1], [\"CA\", 1, 2, 1]]" },
		{ "f(int32 A[7]) -> B { s reduce=! A(k) by (a), (b) -> a - b from 0 B = s + 1 }",
		  "[[\"SP\", 1, 0, 7, [2], 1], [\"RE\", 1, [1, 0]]]" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		struct hn_err err = { 0 };

		if (!judge_steps(row[i].dag, row[i].steps, &err)) {
			fail_msg("%s: %s", row[i].dag, err.msg);
		}
	}
}

/* Parts of an uneven split that are one too long: two iterations of the parallel loop write one
 * element. */
static void parts_that_overlap_race(void **state)
{
	static const char steps[] = "[[\"SP\", 1, 0, 7, [2], 1], [\"AN\", 1, 0, 3]]";
	struct hn_quick *q = hn_quick_new();
	struct hn_err err = { 0 };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_looptree *t =
		tree_of("f(float32 A[7]) -> B { B(i) = A(i) + 1 }", steps, &a);

	assert_true(hn_quick_legal(q, t, NULL));

	struct hn_looptree longer = *t;

	longer.root = edit_tree(t->root, lengthen_spatial, &a);
	assert_false(hn_quick_legal(q, &longer, &err));
	assert_non_null(strstr(err.msg, "may share an element"));
	hn_arena_fini(&a);
	hn_quick_free(q);
}

static void takes_no_memory_when_warm(void **state)
{
	struct hn_quick *q = hn_quick_new();
	const struct hn_looptree *t;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_state *s = hn_state_init(open_text(MATMUL, &a), &a);

	assert_int_equal(hn_looptree_build(s, &a, &t, NULL), 0);
	assert_true(hn_quick_legal(q, t, NULL));

	struct mallinfo2 before = mallinfo2();

	for (int i = 0; i < 100; i++) {
		assert_true(hn_quick_legal(q, t, NULL));
	}
	struct mallinfo2 after = mallinfo2();

	assert_int_equal(before.uordblks, after.uordblks);
	assert_int_equal(before.hblkhd, after.hblkhd);
	hn_quick_free(q);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(races_are_refused),
		cmocka_unit_test(fused_loops_may_be_split_again),
		cmocka_unit_test(a_grid_may_cut_fused_axes),
		cmocka_unit_test(each_statement_has_its_guard),
		cmocka_unit_test(a_refusal_says_why),
		cmocka_unit_test(bitwise_tasks_keep_their_order),
		cmocka_unit_test(right_ones_are_taken),
		cmocka_unit_test(parts_that_overlap_race),
		cmocka_unit_test(agrees_with_evaluation),
		cmocka_unit_test(takes_no_memory_when_warm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
