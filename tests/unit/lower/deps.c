/* The polyhedral model of dags of many forms: its dependences are those that isl's dataflow
 * analysis finds in the order the dag is written in, and what must hold does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <isl/options.h>
#include <string.h>

#include "lower/prove/deps.h"
#include "tests/lib/dag_form.h"
#include "tests/lib/deps_judge.h"
#include "tests/lib/looptree_dags.h"

struct bed {
	isl_ctx *ctx;
	struct hn_arena a;
	struct hn_deps deps;
	const struct hn_dag *dag;
};

static void bed_open(struct bed *b, const char *name, const char *form)
{
	struct hn_err err = { 0 };

	b->ctx = isl_ctx_alloc();
	isl_options_set_on_error(b->ctx, ISL_ON_ERROR_CONTINUE);
	hn_arena_init(&b->a, 0);
	b->dag = dag_form_open(name, form, &b->a);
	if (hn_deps_build(b->dag, b->ctx, &b->a, &b->deps, &err)) {
		fail_msg("%s: %s", name, err.msg);
	}
}

static void bed_close(struct bed *b)
{
	hn_deps_free(&b->deps);
	hn_arena_fini(&b->a);
	isl_ctx_free(b->ctx);
}

static void agree_with_dataflow(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(dag_forms); i++) {
		struct bed b;

		bed_open(&b, dag_forms[i].name, dag_forms[i].json);
		assert_int_equal(deps_agree(&b.deps, dag_forms[i].name), isl_bool_true);
		bed_close(&b);
	}
}

static void expect_map(const struct bed *b, isl_union_map *got, const char *text)
{
	isl_union_map *want = isl_union_map_read_from_str(b->ctx, text);

	assert_non_null(want);
	if (isl_union_map_is_equal(got, want) != isl_bool_true) {
		fail_msg("wanted %s, got %s", text, isl_union_map_to_str(got));
	}
	isl_union_map_free(want);
}

/* A guard on a read cuts the access, floor and mod by constants stay exact. */
static void models_guards_and_divisions(void **state)
{
	struct bed b;

	(void)state;
	bed_open(&b, "pad",
		 "p(float32 A[4]) -> C { P(i) = i >= 1 && i < 5 ? A(i-1) : 0 where i in "
		 "0:6\n"
		 "C(i,j) = P(2*i + j) where i in 0:3, j in 0:2 }");
	expect_map(&b, b.deps.live_in, "{ S0[i] -> T0[i - 1] : 1 <= i <= 4 }");
	expect_map(&b, b.deps.dep[HN_DEP_FLOW],
		   "{ S0[x] -> S1[i, j] : x = 2i + j and 0 <= i <= 2 and 0 <= j <= 1 }");
	bed_close(&b);
	bed_open(&b, "reshape",
		 "r(float32 A[3,4]) -> C { C(i) = A(i / 4, i % 4) where i in 0:12 }");
	expect_map(&b, b.deps.read,
		   "{ [S0[i] -> R0[]] -> T0[floor(i/4), i mod 4] : 0 <= i < 12 }");
	bed_close(&b);
}

static void every_update_goes_before_its_reader(void **state)
{
	struct bed b;
	isl_union_map *kept;

	(void)state;
	bed_open(&b, "sum",
		 "s(float32 A[5,7]) -> D { C(i) +=! A(i,k)\nD(i) = C(i) * 2.0 }");
	expect_map(&b, b.deps.dep[HN_DEP_FLOW],
		   "{ S1[i, k] -> S2[i] : 0 <= i < 5 and 0 <= k < 7 }");
	expect_map(&b, b.deps.dep[HN_DEP_INIT],
		   "{ S0[i] -> S1[i, k] : 0 <= i < 5 and 0 <= k < 7 }");
	expect_map(&b, b.deps.dep[HN_DEP_REDUCTION],
		   "{ S1[i, k] -> S1[i, l] : 0 <= i < 5 and 0 <= k < l < 7 }");
	kept = hn_deps_validity(&b.deps); /* a sum may be reordered */
	expect_map(
		&b, kept,
		"{ S1[i, k] -> S2[i] : 0 <= i < 5 and 0 <= k < 7; S0[i] -> S1[i, k] : 0 "
		"<= i < 5 and 0 <= k < 7 }");
	isl_union_map_free(kept);
	bed_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agree_with_dataflow),
		cmocka_unit_test(models_guards_and_divisions),
		cmocka_unit_test(every_update_goes_before_its_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
