/* The exact legality check against evaluation: what computes the dag when evaluated in
 * order must be accepted (the histories put parallel and vector only where iterations
 * share nothing), what does not must be refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "loopstate/nest/quick.h"
#include "lower/lower.h"
#include "tests/lib/dag_form.h"
#include "tests/lib/looptree_dags.h"
#include "tests/lib/looptree_eval.h"
#include "tests/lib/lower_edits.h"
#include "tests/lib/lower_histories.h"

#define N_HISTORIES 150

static struct hn_quick *quick;

static void describe(const char *name, uint64_t seed, const struct hn_looptree *t,
		     const struct hn_err *err)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_looptree_print(t, &text);
	print_error("%s, seed %llu: %s\n%s\n", name, (unsigned long long)seed, err->msg,
		    text.s);
	hn_buf_fini(&text);
}

/* Adds to *ret_n the trees judged, to *ret_refused those that are wrong. */
static void judge(const char *name, const struct hn_dag *dag, const struct eval *want,
		  uint64_t seed, uint32_t *ret_n, uint32_t *ret_refused)
{
	const struct hn_looptree *t;
	const struct hn_state *s;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	s = random_history(dag, seed, &a);
	if (hn_looptree_build(s, &a, &t, &err) == 0) {
		bool good = tree_right(t, want);
		enum hn_verdict v = hn_legal_check(t, 60000, &err);

		/* An unknown combiner keeps its order even where the numbers happen to
		 * agree. */
		bool reordered = v == HN_VERDICT_ILLEGAL &&
				 strstr(err.msg, "may not be reordered") != NULL;

		if (hn_quick_legal(quick, t, NULL) && v != HN_VERDICT_OK) {
			describe(name, seed, t, &err);
			fail_msg("the quick check accepts, the exact one says %s",
				 hn_verdict_name(v));
		}
		*ret_refused += v == HN_VERDICT_ILLEGAL && !reordered;
		if (!reordered && v != (good ? HN_VERDICT_OK : HN_VERDICT_ILLEGAL)) {
			describe(name, seed, t, &err);
			fail_msg("evaluation says %s, the check says %s",
				 good ? "right" : "wrong", hn_verdict_name(v));
		}
		++*ret_n;
	}
	hn_arena_fini(&a);
}

/* The same tree, damaged: where that shows in the numbers, the check must have refused
 * it. */
static void judge_damaged(const char *name, const struct hn_dag *dag,
			  const struct eval *want, uint64_t seed, uint32_t *ret_wrong)
{
	static const edit_fn edits[] = { shorten_reduction, shorten_spatial, drop_init,
					 drop_guards, swap_children };
	const struct hn_looptree *t;
	struct hn_looptree damaged;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_looptree_build(random_history(dag, seed, &a), &a, &t, &err) == 0) {
		damaged = *t;
		damaged.root = edit_tree(t->root, edits[seed % HN_COUNT_OF(edits)], &a);
		if (!tree_right(&damaged, want)) {
			if (hn_legal_check(&damaged, 60000, &err) == HN_VERDICT_OK) {
				describe(name, seed, &damaged, &err);
				fail_msg("evaluation says wrong, the check says right");
			}
			if (hn_quick_legal(quick, &damaged, NULL)) {
				describe(name, seed, &damaged, &err);
				fail_msg("evaluation says wrong, the quick check right");
			}
			++*ret_wrong;
		}
	}
	hn_arena_fini(&a);
}

static void agrees_with_evaluation(void **state)
{
	uint32_t n = 0;
	uint32_t refused = 0;
	uint32_t wrong = 0;

	(void)state;
	quick = hn_quick_new();
	for (size_t i = 0; i < HN_COUNT_OF(dag_forms); i++) {
		const struct hn_dag *dag;
		struct hn_arena a;
		struct eval want;

		hn_arena_init(&a, 0);
		dag = dag_form_open(dag_forms[i].name, dag_forms[i].json, &a);
		eval_dag(&want, dag);
		for (uint64_t seed = 0; seed < N_HISTORIES; seed++) {
			judge(dag_forms[i].name, dag, &want, seed, &n, &refused);
			judge_damaged(dag_forms[i].name, dag, &want, seed, &wrong);
		}
		eval_free(&want);
		hn_arena_fini(&a);
	}
	hn_quick_free(quick);
	print_message(
		"%u trees judged, %u of them wrong; %u damaged ones wrong and refused\n",
		n, refused, wrong);
	assert_true(wrong > n / 8);
	assert_true(n > HN_COUNT_OF(dag_forms) * N_HISTORIES / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(agrees_with_evaluation) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
