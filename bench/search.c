/* bench/search.c -- how many candidates a second: sampled, replayed, bounded,
 * scored. */
#include <stdio.h>

#include "base/clock.h"
#include "bench/workload.h"
#include "costmodel/model.h"
#include "search/policy.h"

#define N_ASK 64
#define N_ROUND 8
#define N_TREE 64
#define N_EXTRACT 20000

/* A policy's whole work for a batch, told failures so that it goes on
 * exploring. */
static void bench_policy(const struct hn_bench_case *item, const struct hn_target *target,
			 const char *policy)
{
	const struct hn_policy_ops *ops = hn_policy_ops(policy);
	struct hn_task task = { item->dag, target, 1, "analytic" };
	struct hn_candidate candidate[N_ASK];
	struct hn_arena arena;
	struct hn_policy *p;
	struct hn_err err;
	char context[300];
	int64_t start = hn_clock_ns();
	uint32_t n = 0;

	if (ops->create(&task, &p, &err) != 0) {
		fprintf(stderr, "hone-bench: %s: %s\n", item->name, err.msg);
		return;
	}
	hn_arena_init(&arena, 0);
	for (int round = 0; round < N_ROUND; round++) {
		n += ops->ask(p, N_ASK, &arena, candidate);
	}
	snprintf(context, sizeof(context),
		 "\"case\": \"%s\", \"policy\": \"%s\", \"asked\": %u", item->name,
		 policy, n);
	hn_bench_row("search.asked", n / ((double)(hn_clock_ns() - start) * 1e-9),
		     "candidates/s", context);
	hn_arena_fini(&arena);
	ops->destroy(p);
}

/* Sketch generation, and fill + bounds + loop tree + analytic score of single
 * candidates. */
static void bench_candidates(const struct hn_bench_case *item,
			     const struct hn_target *target)
{
	struct hn_sketches sketches;
	struct hn_arena arena;
	struct hn_arena scratch;
	struct hn_err err;
	char context[300];
	int64_t start = hn_clock_ns();
	uint32_t n = 0;

	hn_arena_init(&arena, 0);
	hn_arena_init(&scratch, 0);
	if (hn_sketch_generate_own(item->dag, target, &arena, &sketches, &err) == 0) {
		snprintf(context, sizeof(context), "\"case\": \"%s\", \"sketches\": %u",
			 item->name, sketches.n);
		hn_bench_row("search.sketch", (double)(hn_clock_ns() - start) * 1e-6,
			     "ms", context);
		start = hn_clock_ns();
		for (uint32_t i = 0; i < 2000; i++) {
			struct hn_rng rng = hn_rng_stream(1, 0, 0, i);
			const struct hn_looptree *tree;
			const struct hn_state *s;
			struct hn_features f;

			hn_arena_reset(&scratch);
			if (hn_sketch_fill(&sketches.sketch[i % sketches.n], target, &rng,
					   &scratch, &s) == HN_VERDICT_OK &&
			    hn_looptree_build(s, &scratch, &tree, &err) == 0 &&
			    hn_features_of(tree, target, &scratch, &f)) {
				n += hn_model_analytic_score(&f) > 0;
			}
		}
		hn_bench_row("search.scored",
			     n / ((double)(hn_clock_ns() - start) * 1e-9), "candidates/s",
			     context);
	}
	hn_arena_fini(&scratch);
	hn_arena_fini(&arena);
}

/* Feature extraction alone, over loop trees of random candidates. */
static void bench_features(const struct hn_bench_case *item, const struct hn_target *target)
{
	const struct hn_looptree *tree[N_TREE];
	struct hn_sketches sketches;
	struct hn_arena arena, scratch;
	struct hn_err err;
	char context[300];
	uint32_t n = 0, n_row = 0;

	hn_arena_init(&arena, 0);
	hn_arena_init(&scratch, 0);
	if (hn_sketch_generate_own(item->dag, target, &arena, &sketches, &err) == 0) {
		for (uint32_t i = 0; i < 4 * N_TREE && n < N_TREE; i++) {
			struct hn_rng rng = hn_rng_stream(1, 0, 0, i);
			const struct hn_state *s;

			n += hn_sketch_fill(&sketches.sketch[i % sketches.n], target, &rng,
					    &arena, &s) == HN_VERDICT_OK &&
			     hn_looptree_build(s, &arena, &tree[n], &err) == 0;
		}
		int64_t start = hn_clock_ns();

		for (uint32_t i = 0; i < N_EXTRACT && n > 0; i++) {
			struct hn_features f;

			hn_arena_reset(&scratch);
			n_row += hn_features_of(tree[i % n], target, &scratch, &f) ? f.n : 0;
		}
		snprintf(context, sizeof(context), "\"case\": \"%s\", \"statements\": %.1f",
			 item->name, (double)n_row / N_EXTRACT);
		hn_bench_row("search.features",
			     N_EXTRACT / ((double)(hn_clock_ns() - start) * 1e-9), "programs/s",
			     context);
	}
	hn_arena_fini(&scratch);
	hn_arena_fini(&arena);
}

int hn_bench_search(const struct hn_bench_args *args);

int hn_bench_search(const struct hn_bench_args *args)
{
	struct hn_bench_case *item;
	struct hn_target target;
	struct hn_arena arena;
	uint32_t n;
	int status = 1;

	hn_arena_init(&arena, 0);
	hn_target_host(&arena, &target);
	if (hn_bench_cases(args, &arena, &n, &item) == 0) {
		for (uint32_t i = 0; i < n; i++) {
			bench_candidates(&item[i], &target);
			bench_features(&item[i], &target);
			bench_policy(&item[i], &target, "evolve");
		}
		status = 0;
	}
	hn_arena_fini(&arena);
	return status;
}
