/* Policies: the same seed asks for the same programs, nothing is asked for twice,
 * everything asked for is a program, stored records are taken up, and evolution finds
 * better ones. */
#include "tests/lib/search_dags.h"

#include <math.h>

#include "base/rng.h"
#include "loopstate/nest/bounds.h"
#include "search/policy.h"

struct fixture {
	struct hn_arena a;
	struct hn_target target;
	struct hn_task task;
	const struct hn_policy_ops *ops;
	struct hn_policy *p;
};

static void start_with(struct fixture *f, const char *policy, const char *model,
		       const struct hn_dag *dag, uint64_t seed)
{
	struct hn_err err = {0};

	f->ops = hn_policy_ops(policy);
	assert_non_null(f->ops);
	f->task = (struct hn_task){
		.dag = dag, .target = &f->target, .seed = seed, .model = model};
	if (f->ops->create(&f->task, &f->p, &err) < 0) {
		fail_msg("%s", err.msg);
	}
}

static void start(struct fixture *f, const char *policy, const struct hn_dag *dag,
		  uint64_t seed)
{
	start_with(f, policy, "analytic", dag, seed);
}

static void setup(struct fixture *f)
{
	hn_arena_init(&f->a, 0);
	assert_int_equal(
		hn_target_parse("cpu -isa=x86-64-avx2 -num_cores=2 -l1_bytes=32768 "
				"-l2_bytes=524288 -l3_bytes=33554432",
				&f->a, &f->target, NULL),
		0);
}

/* A machine that is not the model: its speed is the model's, bent by a factor that
 * depends on the program alone, so that the model's favourite is not the fastest. */
static double pretend_ns(const struct hn_candidate *c)
{
	struct hn_rng r = hn_rng_stream(hn_trace_hash(c->trace), 5, 5, 5);

	return 1e9 / c->score * exp(0.6 * (hn_rng_unit(&r) - 0.5));
}

/* Ask and tell n times; the best time seen. hash[] gets what was asked for. */
static double run(struct fixture *f, uint32_t rounds, uint32_t batch, uint64_t *hash,
		  uint32_t *ret_n)
{
	double best = INFINITY;
	uint32_t n = 0;

	for (uint32_t i = 0; i < rounds; i++) {
		struct hn_candidate c[128];
		struct hn_told told[128];
		uint32_t got = f->ops->ask(f->p, batch, &f->a, c);
		for (uint32_t k = 0; k < got; k++) {
			double ns = pretend_ns(&c[k]);
			told[k] = (struct hn_told){c[k].trace, HN_VERDICT_OK, ns};
			best = ns < best ? ns : best;
			if (hash) {
				hash[n] = hn_trace_hash(c[k].trace);
			}
			n++;
		}
		f->ops->tell(f->p, told, got);
	}
	if (ret_n) {
		*ret_n = n;
	}
	return best;
}

static void same_seed_same_candidates(void **state)
{
	static const char *const policies[] = {"evolve", "random"};
	struct fixture f, g;
	uint64_t x[96], y[96], z[96];
	uint32_t n, m;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(policies); i++) {
		setup(&f);
		setup(&g);
		start(&f, policies[i], dag_conv(&f.a, 14, 32, 64), 11);
		start(&g, policies[i], dag_conv(&g.a, 14, 32, 64), 11);
		run(&f, 3, 32, x, &n);
		run(&g, 3, 32, y, &m);
		assert_int_equal(n, 96);
		assert_int_equal(m, n);
		assert_memory_equal(x, y, sizeof x);
		g.ops->destroy(g.p);
		start(&g, policies[i], dag_conv(&g.a, 14, 32, 64), 12);
		run(&g, 3, 32, z, &m);
		assert_memory_not_equal(x, z, sizeof x);
		f.ops->destroy(f.p);
		g.ops->destroy(g.p);
		hn_arena_fini(&f.a);
		hn_arena_fini(&g.a);
	}
}

/* With a model that learns, too; and it does ask for others than one that does not. */
static void what_is_learned_is_the_same_again(void **state)
{
	struct fixture f, g;
	uint64_t x[96], y[96];
	uint32_t n, m;

	(void)state;
	setup(&f);
	setup(&g);
	start_with(&f, "evolve", "learned", dag_conv(&f.a, 14, 32, 64), 11);
	start_with(&g, "evolve", "learned", dag_conv(&g.a, 14, 32, 64), 11);
	run(&f, 3, 32, x, &n);
	run(&g, 3, 32, y, &m);
	assert_int_equal(n, 96);
	assert_memory_equal(x, y, sizeof x);
	g.ops->destroy(g.p);
	start(&g, "evolve", dag_conv(&g.a, 14, 32, 64), 11);
	run(&g, 3, 32, y, &m);
	assert_memory_equal(x, y, 32 * sizeof *x);
	assert_memory_not_equal(x, y, sizeof x);
	f.ops->destroy(f.p);
	g.ops->destroy(g.p);
	hn_arena_fini(&f.a);
	hn_arena_fini(&g.a);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void nothing_is_asked_for_twice(void **state)
{
	static uint64_t hash[2048];
	struct fixture f;
	uint32_t n;

	(void)state;
	setup(&f);
	start(&f, "evolve", dag_matmul(&f.a, 512, 512, 512), 1);
	run(&f, 16, 125, hash, &n);
	assert_int_equal(n, 2000);
	qsort(hash, n, sizeof hash[0], by_value);
	for (uint32_t i = 1; i < n; i++) {
		assert_true(hash[i] != hash[i - 1]);
	}
	f.ops->destroy(f.p);
	hn_arena_fini(&f.a);
}

static void all_that_is_asked_for_is_a_program(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	const struct hn_dag *dags[] = {dag_matmul(&f.a, 509, 521, 503),
				       dag_matmul(&f.a, 1, 17, 1),
				       dag_double_matmul(&f.a, 48),
				       dag_conv(&f.a, 7, 5, 12),
				       dag_softmax(&f.a, 3, 1000),
				       dag_max_pool(&f.a, 8, 13),
				       dag_row_min(&f.a, 10, 1024),
				       dag_total(&f.a, 127),
				       dag_scalar(&f.a)};
	for (size_t d = 0; d < HN_COUNT_OF(dags); d++) {
		struct hn_candidate c[24];
		uint32_t asked = 0;
		start(&f, "evolve", dags[d], d);
		for (int round = 0; round < 3; round++) {
			uint32_t got = f.ops->ask(f.p, 24, &f.a, c);
			for (uint32_t i = 0; i < got; i++) {
				const struct hn_state *s;
				const struct hn_bounds *b;
				const struct hn_looptree *tree;
				struct hn_err err = {0};
				assert_true(hn_trace_complete(c[i].trace));
				if (hn_state_replay(dags[d], c[i].trace, &f.a, &s, &err) <
					    0 ||
				    hn_bounds_infer(s, &f.a, &b, &err) < 0 ||
				    hn_looptree_build(s, &f.a, &tree, &err) < 0) {
					fail_msg("dag %zu: %s", d, err.msg);
				}
				struct hn_told t = {c[i].trace, HN_VERDICT_OK,
						    pretend_ns(&c[i])};
				f.ops->tell(f.p, &t, 1);
			}
			asked += got;
		}
		assert_true(asked > 0);
		f.ops->destroy(f.p);
	}
	hn_arena_fini(&f.a);
}

static void evolution_beats_chance(void **state)
{
	double log_ratio = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct fixture f, g;
		setup(&f);
		setup(&g);
		start(&f, "evolve", dag_conv(&f.a, 28, 128, 128), seed);
		start(&g, "random", dag_conv(&g.a, 28, 128, 128), seed);
		log_ratio += log(run(&g, 5, 32, NULL, NULL) / run(&f, 5, 32, NULL, NULL));
		f.ops->destroy(f.p);
		g.ops->destroy(g.p);
		hn_arena_fini(&f.a);
		hn_arena_fini(&g.a);
	}
	assert_true(exp(log_ratio / 6) > 1.08);
}

/* Records of an earlier run: never asked for again, and parents of what is. */
static void a_warm_start_goes_on(void **state)
{
	struct fixture f, g;
	struct hn_candidate c[32], d[32];
	struct hn_told told[32];
	uint32_t n_child = 0;

	(void)state;
	setup(&f);
	setup(&g);
	const struct hn_dag *dag = dag_matmul(&f.a, 512, 512, 512);
	start(&f, "evolve", dag, 1);
	assert_int_equal(f.ops->ask(f.p, 32, &f.a, c), 32);
	for (int i = 0; i < 32; i++) {
		told[i] = (struct hn_told){c[i].trace, HN_VERDICT_OK, pretend_ns(&c[i])};
	}
	start(&g, "evolve", dag, 1);
	g.ops->tell(g.p, told, 32);
	assert_int_equal(g.ops->ask(g.p, 32, &g.a, d), 32);
	for (int i = 0; i < 32; i++) {
		for (int k = 0; k < 32; k++) {
			assert_false(hn_trace_equal(d[i].trace, c[k].trace));
			n_child += d[i].lineage.parent[0] == hn_trace_hash(c[k].trace);
		}
	}
	assert_in_range(n_child, 8, 32);
	f.ops->destroy(f.p);
	g.ops->destroy(g.p);
	hn_arena_fini(&f.a);
	hn_arena_fini(&g.a);
}

/* Beyond Ansor's space: some of what is asked for fetches an operand ahead, and such a
 * program has neighbours without, elsewhere and further ahead. */
static void prefetches_come_and_go(void **state)
{
	struct fixture f;
	struct hn_candidate c[500];
	struct hn_told told[500];
	uint32_t with[2] = {0}, mutated = 0;
	bool distance[33] = {false};

	(void)state;
	setup(&f);
	start(&f, "evolve", dag_matmul(&f.a, 512, 512, 512), 3);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(f.ops->ask(f.p, 500, &f.a, c), 500);
		for (int i = 0; i < 500; i++) {
			bool any = false;
			for (uint32_t k = 0; k < c[i].trace->n_step; k++) {
				const struct hn_step *x = c[i].trace->step[k];
				if (x->kind == HN_STEP_prefetch) {
					any = true;
					distance[x->a[HN_PF_DISTANCE]] = true;
				}
			}
			with[round] += any;
			mutated += strcmp(c[i].origin, "mutate:prefetch") == 0;
			/* a machine on which prefetches help */
			told[i] = (struct hn_told){c[i].trace, HN_VERDICT_OK,
						   any ? 1e5 : 1e6};
		}
		f.ops->tell(f.p, told, 500);
	}
	assert_true(with[0] > 2 && with[0] < 100);
	assert_true(with[1] > 2 * with[0]);
	assert_true(mutated > 5);
	assert_true(distance[1] && distance[4] && distance[32]);
	f.ops->destroy(f.p);
	hn_arena_fini(&f.a);
}

static void strangers_are_survived(void **state)
{
	static const char *const traces[] = {
		"[]",
		"[[\"SP\", 2, 0, 512, [7], 1]]",
		"[[\"CI\", 9]]",
		"[[\"CA\", 0, 1, 0]]",
		"[[\"SP\", 2, 0, 512, [null], 1]]",
	};
	struct fixture f;
	struct hn_candidate c[8];
	struct hn_err err;

	(void)state;
	setup(&f);
	start(&f, "evolve", dag_matmul(&f.a, 512, 512, 512), 1);
	for (size_t i = 0; i < HN_COUNT_OF(traces); i++) {
		struct hn_told t = {.verdict = HN_VERDICT_OK, .median_ns = 1e6};
		if (hn_trace_parse("t", traces[i], strlen(traces[i]), &f.a, &t.trace,
				   &err) == 0) {
			f.ops->tell(f.p, &t, 1);
		}
	}
	assert_int_equal(f.ops->ask(f.p, 8, &f.a, c), 8);
	f.ops->destroy(f.p);
	f.task.model = "oracle";
	assert_int_equal(f.ops->create(&f.task, &f.p, &err), -HONE_E_NOT_FOUND);
	assert_null(hn_policy_ops("oracle"));
	hn_arena_fini(&f.a);
}

/* The heuristics come before anything else, and the best of them has children. */
static void heuristics_come_first_and_seed(void **state)
{
	struct hn_candidate c[64];
	struct hn_told told[64];
	struct fixture f;
	bool seeded = false;

	(void)state;
	setup(&f);
	assert_ptr_equal(hn_policy_ops("guard"), hn_policy_ops("heuristic")); /* an older name */
	start(&f, "heuristic", dag_matmul(&f.a, 512, 512, 512), 1);
	uint32_t n_heuristic = f.ops->ask(f.p, 64, &f.a, c);
	assert_in_range(n_heuristic, 2, 8);
	assert_int_equal(f.ops->ask(f.p, 64, &f.a, c), 0);
	f.ops->destroy(f.p);
	start(&f, "evolve", dag_matmul(&f.a, 512, 512, 512), 1);
	for (int round = 0; round < 4; round++) {
		uint32_t n = f.ops->ask(f.p, 16, &f.a, c);
		assert_int_equal(n, 16);
		for (uint32_t i = 0; i < n; i++) {
			bool heuristic = strcmp(c[i].origin, "guard") == 0;
			assert_int_equal(heuristic, round == 0 && i < n_heuristic);
			seeded |= strcmp(c[i].origin, "mutate:trace") == 0;
			told[i] = (struct hn_told){.trace = c[i].trace,
						   .verdict = HN_VERDICT_OK,
						   .median_ns = heuristic ? 1e5 : 1e6};
		}
		f.ops->tell(f.p, told, n);
	}
	assert_true(seeded);
	f.ops->destroy(f.p);
	hn_arena_fini(&f.a);
}

/* A space of one program gives that one, then nothing. */
static void a_small_space_is_exhausted(void **state)
{
	static const char *const policies[] = {"evolve", "random"};
	struct hn_candidate c[8];
	struct fixture f;

	(void)state;
	setup(&f);
	for (size_t i = 0; i < HN_COUNT_OF(policies); i++) {
		start(&f, policies[i], dag_scalar(&f.a), 1);
		assert_int_equal(f.ops->ask(f.p, 8, &f.a, c), 1);
		assert_int_equal(f.ops->ask(f.p, 8, &f.a, c), 0);
		f.ops->destroy(f.p);
	}
	hn_arena_fini(&f.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_seed_same_candidates),
		cmocka_unit_test(what_is_learned_is_the_same_again),
		cmocka_unit_test(nothing_is_asked_for_twice),
		cmocka_unit_test(all_that_is_asked_for_is_a_program),
		cmocka_unit_test(evolution_beats_chance),
		cmocka_unit_test(a_warm_start_goes_on),
		cmocka_unit_test(prefetches_come_and_go),
		cmocka_unit_test(strangers_are_survived),
		cmocka_unit_test(a_small_space_is_exhausted),
		cmocka_unit_test(heuristics_come_first_and_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
