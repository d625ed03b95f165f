/* Crossover: every decision of the child is one parent's, some of either; whole stages where
 * the parents differ in two, splits where in one; and a policy that was told of several
 * programs of a sketch asks for children of two. */
#include "tests/lib/search_bed.h"

extern const struct hn_mutation_ops hn_mutation_cross;

static void close_space(struct fixture *f)
{
	hn_space_fini(&f->space);
	hn_arena_fini(&f->a);
}

/* Two random programs of one sketch. */
static void draw_pair(struct fixture *f, uint64_t i, struct hn_indiv *x, struct hn_indiv *y)
{
	uint64_t k = 1000 * i;

	while (hn_space_sample(&f->space, k++, &f->a, x) != HN_VERDICT_OK) {
	}
	while (hn_space_sample(&f->space, k++, &f->a, y) != HN_VERDICT_OK ||
	       y->sketch != x->sketch) {
	}
}

static bool hole_as(const struct hn_sketch *sk, uint32_t h, const struct hn_plan *x,
		    const struct hn_plan *y)
{
	return memcmp(x->len[h], y->len[h], sk->hole[h].n_len * sizeof(int64_t)) == 0;
}

/* What the child has of x where the parents differ. */
struct share {
	uint32_t of_x, of_y, mixed_stages;
};

static struct share shares(const struct hn_sketch *sk, const struct hn_plan *x,
			   const struct hn_plan *y, const struct hn_plan *child)
{
	struct share sum = { 0 };

	for (uint32_t s = 0; s < sk->state->n_stage; s++) {
		uint32_t of_x = 0, of_y = 0;

		for (uint32_t h = 0; h < sk->n_hole; h++) {
			if (sk->hole[h].stage == (int32_t)s && !hole_as(sk, h, x, y)) {
				of_x += hole_as(sk, h, child, x);
				of_y += hole_as(sk, h, child, y);
				assert_true(hole_as(sk, h, child, x) ||
					    hole_as(sk, h, child, y));
			}
		}
		if (memcmp(&x->stage[s], &y->stage[s], sizeof x->stage[s]) != 0) {
			bool as_x = memcmp(&child->stage[s], &x->stage[s],
					   sizeof x->stage[s]) == 0;
			assert_true(as_x || memcmp(&child->stage[s], &y->stage[s],
						   sizeof x->stage[s]) == 0);
			of_x += as_x;
			of_y += !as_x;
		}
		sum.of_x += of_x;
		sum.of_y += of_y;
		sum.mixed_stages += of_x > 0 && of_y > 0;
	}
	return sum;
}

static void whole_stages_of_either(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	open_space(&f, dag_double_matmul(&f.a, 512));
	for (uint64_t i = 0; i < 100; i++) {
		struct hn_rng r = hn_rng_stream(7, 0, 0, i);
		struct hn_indiv x, y, z;
		draw_pair(&f, i, &x, &y);
		const struct hn_plan *child =
			hn_mutation_cross.cross(x.sketch, x.plan, y.plan, &r, &f.a);
		assert_non_null(child);
		struct share got = shares(x.sketch, x.plan, y.plan, child);
		assert_true(got.of_x > 0 && got.of_y > 0);
		assert_int_equal(got.mixed_stages, 0);
		if (hn_space_rebuild(&f.space, x.sketch, child, &r, &f.a, &z) ==
		    HN_VERDICT_OK) {
			for (uint32_t h = 0; h < x.sketch->n_hole; h++) {
				/* blocks of a pack have several names (sketch.h) */
				assert_true(x.sketch->hole[h].pack ||
					    hole_as(x.sketch, h, z.plan, child));
			}
		}
	}
	close_space(&f);
}

static void splits_of_the_only_stage(void **state)
{
	struct fixture f;
	struct hn_indiv x, y;

	(void)state;
	setup(&f);
	open_space(&f, dag_matmul(&f.a, 512, 512, 512));
	struct hn_rng draw = hn_rng_stream(8, 0, 0, 0);
	const struct hn_sketch *sk = &f.space.sketches.sketch[0]; /* tiles one stage */
	assert_int_equal(hn_space_rebuild(&f.space, sk, NULL, &draw, &f.a, &x),
			 HN_VERDICT_OK);
	assert_int_equal(hn_space_rebuild(&f.space, sk, NULL, &draw, &f.a, &y),
			 HN_VERDICT_OK);
	const int64_t **len;
	struct hn_plan_stage *stage;
	struct hn_plan *mate =
		hn_plan_copy(x.sketch, x.plan, &len, &stage, &f.a);
	for (uint32_t h = 0; h < x.sketch->n_hole; h++) {
		len[h] = y.plan->len[h]; /* all else is x's */
	}
	uint32_t mixed = 0;
	for (uint64_t i = 0; i < 50; i++) {
		struct hn_rng r = hn_rng_stream(9, 0, 0, i);
		const struct hn_plan *child =
			hn_mutation_cross.cross(x.sketch, x.plan, mate, &r, &f.a);
		assert_non_null(child);
		struct share got = shares(x.sketch, x.plan, mate, child);
		assert_true(got.of_x > 0 && got.of_y > 0);
		mixed += got.mixed_stages;
	}
	assert_int_equal(mixed, 50);
	close_space(&f);
}

static void equal_parents_have_no_child(void **state)
{
	struct fixture f;
	struct hn_indiv x;
	struct hn_rng r = hn_rng_stream(7, 0, 0, 0);

	(void)state;
	setup(&f);
	open_space(&f, dag_conv(&f.a, 14, 16, 512));
	draw_pair(&f, 0, &x, &x);
	assert_null(hn_mutation_cross.cross(x.sketch, x.plan, x.plan, &r, &f.a));
	close_space(&f);
}

static void a_policy_asks_for_children_of_two(void **state)
{
	struct fixture f;
	struct hn_candidate c[64];
	struct hn_told told[64];
	struct hn_policy *p;
	const struct hn_policy_ops *ops = hn_policy_ops("evolve");
	uint32_t before = 0, after = 0;

	(void)state;
	setup(&f);
	open_space(&f, dag_double_matmul(&f.a, 256));
	assert_int_equal(ops->create(&f.task, &p, NULL), 0);
	for (int round = 0; round < 6; round++) {
		uint32_t n = ops->ask(p, 64, &f.a, c);
		for (uint32_t i = 0; i < n; i++) {
			bool crossed = strcmp(c[i].origin, "cross") == 0;
			before += crossed && round == 0;
			after += crossed;
			told[i] = (struct hn_told){
				c[i].trace, HN_VERDICT_OK, 1e9 / (c[i].score + 1)
			};
		}
		ops->tell(p, told, n);
	}
	assert_int_equal(before, 0); /* nothing is measured yet */
	assert_true(after > 0);
	ops->destroy(p);
	close_space(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_stages_of_either),
		cmocka_unit_test(splits_of_the_only_stage),
		cmocka_unit_test(equal_parents_have_no_child),
		cmocka_unit_test(a_policy_asks_for_children_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
