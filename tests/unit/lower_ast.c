/* What runs against isl's AST: the loop tree of random histories over small dags of many
 * forms, instance by instance; and the schedule tree's text reads back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "looptree_dags.h"
#include "looptree_eval.h"
#include "lower_histories.h"
#include "dag_form.h"
#include "ast_walk.h"
#include "ast_judge.h"

#define N_HISTORIES 4
#define LIMIT_MS 20000
#define MAX_NUMBERS 200000

static void judge(const char *name, const struct hn_state *s, struct hn_arena *a,
		  struct ast_total *total)
{
	const struct hn_looptree *t;
	struct hn_err err;
	struct hn_buf text;

	if (hn_looptree_build(s, a, &t, &err) != 0) {
		return;
	}
	if (!ast_judge(t, LIMIT_MS, MAX_NUMBERS, total)) {
		hn_buf_init(&text);
		hn_looptree_print(t, &text);
		fail_msg("%s: not what the AST runs:\n%s", name, text.s);
	}
}

static void runs_what_the_tree_runs(void **state)
{
	struct ast_total total = { 0 };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(dag_forms); i++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		const struct hn_dag *dag =
			dag_form_open(dag_forms[i].name, dag_forms[i].json, &a);

		judge(dag_forms[i].name, hn_state_init(dag, &a), &a, &total);
		for (uint64_t seed = 0; seed < N_HISTORIES; seed++) {
			judge(dag_forms[i].name, random_history(dag, seed, &a), &a,
			      &total);
		}
		hn_arena_fini(&a);
	}
	ast_report(&total);
	assert_true(total.n_tree > 4 * HN_COUNT_OF(dag_forms));
	assert_true(total.n_extended > 0 && total.n_isolated > 0);
	assert_int_equal(total.n_long + total.n_slow, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_what_the_tree_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
