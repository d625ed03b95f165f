/* Programs carried over to another size of the same operator: nothing changes for the same
 * size; lengths fit the new loops, divide them where asked and possible, and stay whole
 * vectors; most programs carry over and are legal; and a policy asks for them early. */
#include "tests/lib/search_bed.h"

#include "search/near.h"

static const struct hn_trace *parse(struct fixture *f, const char *steps)
{
	const struct hn_trace *t;
	struct hn_err err = { 0 };

	if (hn_trace_parse("test", steps, strlen(steps), &f->a, &t, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return t;
}

static void assert_carries(struct fixture *f, const struct hn_dag *from, const char *steps,
			   const struct hn_dag *to, enum hn_near_fit fit, const char *want)
{
	const struct hn_trace *got =
		hn_near_carry(from, parse(f, steps), to, &f->target, fit, &f->a);
	struct hn_buf text;

	assert_non_null(got);
	hn_buf_init(&text);
	hn_trace_write(got, &text);
	assert_string_equal(text.s, want);
	hn_buf_fini(&text);
}

#define TILED(n, i, m, j, k, kk)                                                         \
	"[[\"SP\", 2, 0, " n ", [" i "], 1], [\"SP\", 2, 3, " m ", [" j                  \
	"], 1], [\"SP\", 2, 5, " k ", [" kk "], 1]]"

static void lengths_fit_the_new_loops(void **state)
{
	struct fixture f;
	const char *steps = TILED("512", "8, 4", "512", "64", "512", "512");

	(void)state;
	setup(&f);
	const struct hn_dag *from = dag_matmul(&f.a, 512, 512, 512);
	/* 8 x 4 of 90 rows: 90 has 5 (or 3), then 18 has 9; 176 columns have no whole
	 * vectors near 64; a loop of 96 is whole where one of 512 was. */
	const struct hn_dag *to = dag_matmul(&f.a, 90, 176, 96);
	assert_carries(&f, from, steps, to, HN_NEAR_DIVIDE,
		       TILED("90", "9, 5", "176", "64", "96", "96"));
	assert_carries(&f, from, steps, to, HN_NEAR_MASK,
		       TILED("90", "8, 4", "176", "64", "96", "96"));
	hn_arena_fini(&f.a);
}

/* Blocks of a packed operand follow the tiles they were made for, or the whole dimension. */
static void packs_follow(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	assert_carries(&f, dag_matmul(&f.a, 512, 512, 512),
		       "[[\"PK\", 1, [512, 48]], [\"SP\", 3, 1, 512, [48], 1]]",
		       dag_matmul(&f.a, 256, 160, 128), HN_NEAR_DIVIDE,
		       "[[\"PK\", 1, [128, 32]], [\"SP\", 3, 1, 160, [32], 1]]");
	assert_carries(&f, dag_matmul(&f.a, 512, 512, 512),
		       "[[\"PK\", 1, [512, 48]], [\"SP\", 3, 1, 512, [48], 1]]",
		       dag_matmul(&f.a, 256, 160, 128), HN_NEAR_MASK,
		       "[[\"PK\", 1, [128, 48]], [\"SP\", 3, 1, 160, [48], 1]]");
	hn_arena_fini(&f.a);
}

static void what_does_not_replay_is_refused(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	const struct hn_dag *dag = dag_matmul(&f.a, 64, 64, 64);
	static const char *const bad[] = {
		"[[\"SP\", 9, 0, 64, [8], 1]]", "[[\"SP\", 2, 7, 64, [8], 1]]",
		"[[\"SP\", 2, 0, 64, [null], 1]]", "[[\"PK\", 1, [65, 8]]]"
	};

	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		assert_null(hn_near_carry(dag, parse(&f, bad[i]), dag, &f.target,
					  HN_NEAR_DIVIDE, &f.a));
	}
	hn_arena_fini(&f.a);
}

/* Programs drawn for `from`: the same on itself, and how many of them are programs of `to`. */
static double share_carried(struct fixture *f, const struct hn_dag *from,
			    const struct hn_dag *to, enum hn_near_fit fit)
{
	uint32_t n = 0, good = 0;

	open_space(f, from);
	struct hn_space drawn = f->space;
	open_space(f, to);
	for (uint64_t i = 0; i < 100; i++) {
		struct hn_indiv x, y;
		if (hn_space_sample(&drawn, i, &f->a, &x) != HN_VERDICT_OK) {
			continue;
		}
		n++;
		const struct hn_trace *same =
			hn_near_carry(from, x.trace, from, &f->target, fit, &f->a);
		assert_true(same && hn_trace_equal(same, x.trace));
		const struct hn_trace *t =
			hn_near_carry(from, x.trace, to, &f->target, fit, &f->a);
		good += t && hn_space_check(&f->space, t, &f->a, &y) == HN_VERDICT_OK;
	}
	hn_space_fini(&f->space);
	hn_space_fini(&drawn);
	assert_true(n > 50);
	return (double)good / n;
}

static void most_programs_carry_over(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	const struct hn_dag *pair[][2] = {
		{ dag_matmul(&f.a, 512, 512, 512), dag_matmul(&f.a, 320, 176, 96) },
		{ dag_double_matmul(&f.a, 256), dag_double_matmul(&f.a, 96) },
		{ dag_conv(&f.a, 14, 64, 128), dag_conv(&f.a, 28, 32, 96) },
		{ dag_softmax(&f.a, 64, 1024), dag_softmax(&f.a, 24, 1000) },
	};
	for (size_t i = 0; i < HN_COUNT_OF(pair); i++) {
		for (int fit = 0; fit < HN_NEAR_FITS; fit++) {
			double share = share_carried(&f, pair[i][0], pair[i][1],
						     (enum hn_near_fit)fit);
			if (share < 0.9) {
				fail_msg("pair %zu, fit %d: %.2f", i, fit, share);
			}
		}
	}
	hn_arena_fini(&f.a);
}

static void distance_is_of_extents(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	const struct hn_dag *x = dag_matmul(&f.a, 512, 512, 512);
	const struct hn_dag *y = dag_matmul(&f.a, 512, 256, 512);
	const struct hn_dag *z = dag_matmul(&f.a, 64, 256, 1024);
	assert_true(hn_near_distance(x, x) == 0);
	assert_true(hn_near_distance(x, y) == 1);
	assert_true(hn_near_distance(y, x) == 1);
	assert_true(hn_near_distance(x, z) == 5);
	hn_arena_fini(&f.a);
}

/* Behind the heuristics, once, and only what is legal. */
static void hints_go_out_early(void **state)
{
	struct fixture f;
	struct hn_candidate c[16];
	struct hn_policy *p;
	const struct hn_policy_ops *ops = hn_policy_ops("evolve");
	uint32_t n_near = 0, last_heuristic = 0, first_near = 16;

	(void)state;
	setup(&f);
	open_space(&f, dag_matmul(&f.a, 512, 512, 512));
	struct hn_indiv drawn;
	assert_int_equal(hn_space_sample(&f.space, 5, &f.a, &drawn), HN_VERDICT_OK);
	const struct hn_trace *good = drawn.trace;
	/* the sum's loop in parallel: threads would share C */
	const struct hn_trace *illegal = parse(&f, "[[\"AN\", 2, 2, 3]]");
	const struct hn_trace *hints[] = { good, illegal, good };
	assert_int_equal(ops->create(&f.task, &p, NULL), 0);
	ops->hint(p, hints, 3);
	uint32_t n = ops->ask(p, 16, &f.a, c);
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(c[i].origin, "guard") == 0) {
			last_heuristic = i;
		}
		if (strcmp(c[i].origin, "near") == 0) {
			assert_true(hn_trace_equal(c[i].trace, good));
			n_near++;
			first_near = i;
		}
	}
	assert_int_equal(n_near, 1);
	assert_int_equal(first_near, last_heuristic + 1);
	ops->destroy(p);
	hn_space_fini(&f.space);
	hn_arena_fini(&f.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_fit_the_new_loops),
		cmocka_unit_test(packs_follow),
		cmocka_unit_test(what_does_not_replay_is_refused),
		cmocka_unit_test(most_programs_carry_over),
		cmocka_unit_test(distance_is_of_extents),
		cmocka_unit_test(hints_go_out_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
