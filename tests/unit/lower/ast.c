/* What runs against isl's AST: the loop tree of random histories over small dags of many
 * forms, instance by instance; and the schedule tree's text reads back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/looptree_dags.h"
#include "tests/lib/looptree_eval.h"
#include "tests/lib/lower_histories.h"
#include "tests/lib/dag_form.h"
#include "tests/lib/ast_walk.h"
#include "tests/lib/ast_judge.h"

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

static uint32_t count_isolated(const char *program, const char *steps)
{
	isl_ctx *ctx = isl_ctx_alloc();
	const struct hn_trace *trace;
	const struct hn_looptree *t;
	const struct hn_state *s;
	struct hn_err err = { 0 };
	struct hn_buf text;
	struct hn_arena a;
	struct hn_poly p;
	uint32_t n = 0;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	const struct hn_dag *dag = dag_form_open("t", program, &a);

	if (hn_trace_parse("t", steps, strlen(steps), &a, &trace, &err) ||
	    hn_state_replay(dag, trace, &a, &s, &err) ||
	    hn_looptree_build(s, &a, &t, &err)) {
		fail_msg("%s", err.msg);
	}
	hn_poly_build(t, ctx, &a, &p);
	assert_true(hn_poly_tree_text(&p, &text));
	for (const char *at = text.s; (at = strstr(at, "isolate[[")) != NULL; at++) {
		n++;
	}
	hn_poly_free(&p);
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	isl_ctx_free(ctx);
	return n;
}

/* Tiles of five loops inside each other, unrolled: code may grow eightfold, not 32 times. */
#define TILES(length)                                                                    \
	"[[\"SP\", 1, 0, 7, [" length "], 1], [\"SP\", 1, 2, 7, [" length "], 1],"       \
	" [\"SP\", 1, 4, 7, [" length "], 1], [\"SP\", 1, 6, 7, [" length "], 1],"       \
	" [\"SP\", 1, 8, 7, [" length                                                    \
	"], 1], [\"RE\", 1, [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]],"                            \
	" [\"AN\", 1, 5, 1], [\"AN\", 1, 6, 1], [\"AN\", 1, 7, 1], [\"AN\", 1, 8, 1],"   \
	" [\"AN\", 1, 9, 2]]"

static void isolates_what_pays(void **state)
{
	static const char five[] = "f(float32 A[7,7,7,7,7]) -> C { C(a,b,c,d,e) = "
				   "A(a,b,c,d,e) + 1.0 }";

	(void)state;
	assert_int_equal(count_isolated(five, TILES("2")), 3);
	assert_int_equal(count_isolated(five, TILES("7")), 0); /* divides */
	assert_int_equal(count_isolated(five, "[[\"SP\", 1, 0, 7, [2], 1]]"),
			 0); /* plain */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_what_the_tree_runs),
		cmocka_unit_test(isolates_what_pays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
