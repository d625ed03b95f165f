/* A search that packs: the mutation leads to the sketch with one pack more or less, keeps
 * what both have, and the way back is found; and the policy asks for both kinds. */
#include "tests/lib/search_bed.h"

static void pairs_differ_by_one_pack(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	const struct {
		const struct hn_dag *dag;
		uint32_t n_sketch, n_pair;
	} want[] = {
		{ dag_matmul(&f.a, 512, 512, 512), 6, 3 },
		{ dag_double_matmul(&f.a, 512), 36, 36 },
		{ dag_conv(&f.a, 14, 16, 512), 6, 3 },
		{ dag_conv(&f.a, 14, 64, 128), 3, 0 },
		{ dag_softmax(&f.a, 1, 1024), 9, 0 },
		{ dag_scalar(&f.a), 1, 0 },
	};
	for (size_t i = 0; i < HN_COUNT_OF(want); i++) {
		open_space(&f, want[i].dag);
		if (f.space.sketches.n != want[i].n_sketch ||
		    f.space.n_pair != want[i].n_pair) {
			fail_msg("dag %zu: %u sketches, %u pairs", i, f.space.sketches.n,
				 f.space.n_pair);
		}
		hn_space_fini(&f.space);
	}
	hn_arena_fini(&f.a);
}

static uint32_t n_pack(const struct hn_trace *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_step; i++) {
		n += t->step[i]->kind == HN_STEP_pack;
	}
	return n;
}

static const char *stage_name(const struct hn_indiv *x, uint32_t hole)
{
	return x->sketch->state->dag->op[x->sketch->hole[hole].stage]->name;
}

/* Whether y decides the hole of x as x does: found by its stage and axis.  A pack that y
 * lacks is not compared; *ret_lacks counts those. */
static bool decides_alike(const struct hn_indiv *x, uint32_t h, const struct hn_indiv *y,
			  uint32_t *ret_lacks)
{
	const struct hn_hole *hole = &x->sketch->hole[h];

	for (uint32_t k = 0; k < y->sketch->n_hole; k++) {
		if (y->sketch->hole[k].axis == hole->axis &&
		    strcmp(stage_name(x, h), stage_name(y, k)) == 0) {
			return memcmp(x->plan->len[h], y->plan->len[k],
				      hole->n_len * sizeof(int64_t)) == 0;
		}
	}
	(*ret_lacks)++;
	return hole->pack != NULL;
}

/* All that both decide is decided alike; one pack is in x or y alone. */
static bool differ_by_one_pack(const struct hn_indiv *x, const struct hn_indiv *y)
{
	uint32_t lacks = 0;
	bool alike = true;

	for (uint32_t h = 0; h < x->sketch->n_hole; h++) {
		alike &= decides_alike(x, h, y, &lacks);
	}
	for (uint32_t h = 0; h < y->sketch->n_hole; h++) {
		alike &= decides_alike(y, h, x, &lacks);
	}
	return alike && lacks == 1;
}

static void one_more_or_less_and_all_else_stays(void **state)
{
	struct fixture f;
	uint32_t more = 0, less = 0;

	(void)state;
	setup(&f);
	open_space(&f, dag_double_matmul(&f.a, 512));
	for (uint64_t i = 0; i < 200; i++) {
		struct hn_rng r = hn_rng_stream(7, 0, 0, i);
		const struct hn_sketch *to;
		const struct hn_plan *plan;
		const char *origin = NULL;
		struct hn_indiv x, y;
		if (hn_space_sample(&f.space, i, &f.a, &x) != HN_VERDICT_OK) {
			continue;
		}
		to = x.sketch;
		plan = hn_mutate_pack(&f.space, &to, x.plan, &r, &f.a, &origin);
		assert_non_null(plan);
		assert_string_equal(origin, "mutate:pack");
		assert_int_equal(hn_space_rebuild(&f.space, to, plan, &r, &f.a, &y),
				 HN_VERDICT_OK);
		int by = (int)n_pack(y.trace) - (int)n_pack(x.trace);
		assert_true(by == 1 || by == -1);
		more += by > 0;
		less += by < 0;
		assert_true(differ_by_one_pack(&x, &y));
	}
	assert_true(more > 20 && less > 20);
	hn_space_fini(&f.space);
	hn_arena_fini(&f.a);
}

/* Nothing is packed where nothing can be: the plan stays the caller's. */
static void nothing_to_pack(void **state)
{
	struct fixture f;
	struct hn_indiv x;
	const char *origin;

	(void)state;
	setup(&f);
	open_space(&f, dag_softmax(&f.a, 3, 100));
	assert_int_equal(hn_space_sample(&f.space, 0, &f.a, &x), HN_VERDICT_OK);
	struct hn_rng r = hn_rng_stream(7, 0, 0, 0);
	assert_null(hn_mutate_pack(&f.space, &x.sketch, x.plan, &r, &f.a, &origin));
	hn_space_fini(&f.space);
	hn_arena_fini(&f.a);
}

static void both_kinds_are_asked_for(void **state)
{
	struct fixture f;
	struct hn_candidate c[96];
	struct hn_err err = { 0 };
	const struct hn_policy_ops *ops = hn_policy_ops("evolve");
	struct hn_policy *p;
	uint32_t packed = 0, by_mutation = 0;

	(void)state;
	setup(&f);
	struct hn_task task = { .dag = dag_matmul(&f.a, 1024, 1024, 1024),
				.target = &f.target,
				.seed = 1,
				.model = "analytic" };
	assert_int_equal(ops->create(&task, &p, &err), 0);
	uint32_t got = ops->ask(p, 96, &f.a, c);
	assert_int_equal(got, 96);
	for (uint32_t i = 0; i < got; i++) {
		packed += n_pack(c[i].trace) > 0;
		by_mutation += strcmp(c[i].origin, "mutate:pack") == 0;
	}
	assert_true(packed > 8 && packed < 88);
	assert_true(by_mutation > 0);
	ops->destroy(p);
	hn_arena_fini(&f.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_differ_by_one_pack),
		cmocka_unit_test(one_more_or_less_and_all_else_stays),
		cmocka_unit_test(nothing_to_pack),
		cmocka_unit_test(both_kinds_are_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
