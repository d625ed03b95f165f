/* bench/search.c -- how fast the search decides: sketches, features, and whole rounds of
 * evolution, from drawing candidates to the trained model's order.
 *
 *     hone-bench search [--case] FILE...
 *
 * Each figure once with one thread and once with all cores.  The rounds are those of a real
 * policy (search/evolve.c) whose model has learned from N_TAUGHT programs of a pretended machine;
 * what it does is counted by the policy itself.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "bench/workload.h"
#include "costmodel/ansor.h"
#include "search/policy.h"
#include "search/threads.h"

#define N_ASK 64
#define N_TAUGHT 256
#define N_ROUND 12
#define N_TREE 64
#define N_SKETCH 20
#define N_EXTRACT 20000 /* of each thread */

static double seconds_since(int64_t start)
{
	return (double)(hn_clock_ns() - start) * 1e-9;
}

static void print_row(const char *name, double value, const char *unit,
		      const struct hn_bench_case *item, const char *more)
{
	char context[400];

	snprintf(context, sizeof(context), "\"case\": \"%s\"%s", item->name, more);
	hn_bench_row(name, value, unit, context);
}

static void bench_sketches(const struct hn_bench_case *item, const struct hn_target *target)
{
	struct hn_sketches sketches = { 0 };
	struct hn_arena arena;
	struct hn_err err;
	char more[60];
	int64_t start = hn_clock_ns();

	hn_arena_init(&arena, 0);
	for (int i = 0; i < N_SKETCH; i++) {
		hn_arena_reset(&arena);
		if (hn_sketch_generate_own(item->dag, target, &arena, &sketches, &err) != 0) {
			fprintf(stderr, "hone-bench: %s: %s\n", item->name, err.msg);
			break;
		}
	}
	snprintf(more, sizeof(more), ", \"sketches\": %u", sketches.n);
	print_row("search.sketch", seconds_since(start) * 1e3 / N_SKETCH, "ms", item, more);
	hn_arena_fini(&arena);
}

/* Loop trees of random candidates, of which each thread extracts features again and again. */
struct trees {
	const struct hn_target *target;
	bool (*extract)(const struct hn_looptree *tree, const struct hn_target *target,
			struct hn_arena *a);
	uint32_t n;
	const struct hn_looptree *tree[N_TREE];
};

static void make_trees(const struct hn_bench_case *item, struct trees *t, struct hn_arena *a)
{
	struct hn_sketches sketches;
	struct hn_err err;

	if (hn_sketch_generate_own(item->dag, t->target, a, &sketches, &err) != 0) {
		return;
	}
	for (uint32_t i = 0; i < 4 * N_TREE && t->n < N_TREE; i++) {
		struct hn_rng rng = hn_rng_stream(1, 0, 0, i);
		const struct hn_state *s;

		t->n += hn_sketch_fill(&sketches.sketch[i % sketches.n], t->target, &rng, a,
				       &s) == HN_VERDICT_OK &&
			hn_looptree_build(s, a, &t->tree[t->n], &err) == 0;
	}
}

static bool extract_own(const struct hn_looptree *tree, const struct hn_target *target,
			struct hn_arena *a)
{
	struct hn_features f;

	return hn_features_of(tree, target, a, &f);
}

static bool extract_ansor(const struct hn_looptree *tree, const struct hn_target *target,
			  struct hn_arena *a)
{
	struct hn_ansor f;

	return hn_ansor_of(tree, target, HN_ANSOR_CORRECTED, a, &f);
}

static void extract(void *ctx, uint32_t who)
{
	const struct trees *t = ctx;
	struct hn_arena scratch;

	hn_arena_init(&scratch, 0);
	for (uint32_t i = 0; i < N_EXTRACT && t->n > 0; i++) {
		hn_arena_reset(&scratch);
		if (!t->extract(t->tree[(i + who) % t->n], t->target, &scratch)) {
			break;
		}
	}
	hn_arena_fini(&scratch);
}

static void bench_features(const struct hn_bench_case *item, const struct hn_target *target,
			   uint32_t threads, bool ansor)
{
	struct trees t = { .target = target,
			   .extract = ansor ? extract_ansor : extract_own };
	struct hn_arena arena;
	char more[60];

	hn_arena_init(&arena, 0);
	make_trees(item, &t, &arena);
	int64_t start = hn_clock_ns();

	hn_threads_run(threads, extract, &t);
	snprintf(more, sizeof(more), ", \"threads\": %u", threads);
	print_row(ansor ? "search.features.ansor" : "search.features", threads * N_EXTRACT / seconds_since(start), "states/s",
		  item, more);
	hn_arena_fini(&arena);
}

/* The time of a program on a machine that is the model, bent by a factor of the program. */
static double pretend_ns(const struct hn_candidate *c)
{
	struct hn_rng r = hn_rng_stream(hn_trace_hash(c->trace), 5, 5, 5);

	return 1e9 / c->score * exp(0.6 * (hn_rng_unit(&r) - 0.5));
}

static void teach(const struct hn_policy_ops *ops, struct hn_policy *p, struct hn_arena *a)
{
	struct hn_candidate c[N_ASK];
	struct hn_told told[N_ASK];

	for (int i = 0; i < N_TAUGHT / N_ASK; i++) {
		uint32_t n = ops->ask(p, N_ASK, a, c);

		for (uint32_t k = 0; k < n; k++) {
			told[k] = (struct hn_told){ c[k].trace, HN_VERDICT_OK,
						    pretend_ns(&c[k]) };
		}
		ops->tell(p, told, n);
	}
}

static void bench_rounds(const struct hn_bench_case *item, const struct hn_target *target,
			 uint32_t threads)
{
	const struct hn_policy_ops *ops = hn_policy_ops("evolve");
	struct hn_work work = { 0 };
	struct hn_task task = { .dag = item->dag,
				.target = target,
				.seed = 1,
				.model = "learned",
				.threads = threads,
				.work = &work };
	struct hn_candidate candidate[N_ASK];
	struct hn_policy *p;
	struct hn_arena arena;
	struct hn_err err;
	char more[100];
	uint32_t n = 0;

	if (ops->create(&task, &p, &err) != 0) {
		fprintf(stderr, "hone-bench: %s: %s\n", item->name, err.msg);
		return;
	}
	hn_arena_init(&arena, 0);
	teach(ops, p, &arena);
	work = (struct hn_work){ 0 };
	int64_t start = hn_clock_ns();

	for (int i = 0; i < N_ROUND; i++) {
		n += ops->ask(p, N_ASK, &arena, candidate);
	}
	double seconds = seconds_since(start);

	snprintf(more, sizeof(more), ", \"threads\": %u, \"drawn\": %llu, \"asked\": %u",
		 threads, (unsigned long long)work.drawn, n);
	print_row("search.screened", (double)work.scored / seconds, "candidates/s", item, more);
	print_row("search.ranked", (double)work.ranked / seconds, "candidates/s", item, more);
	print_row("search.asked", n / seconds, "candidates/s", item, more);
	hn_arena_fini(&arena);
	ops->destroy(p);
}

int hn_bench_search(const struct hn_bench_args *args);

int hn_bench_search(const struct hn_bench_args *args)
{
	struct hn_bench_args files = *args;
	struct hn_bench_case *item;
	struct hn_target target;
	struct hn_arena arena;
	uint32_t n;

	if (files.argc > 0 && strcmp(files.argv[0], "--case") == 0) {
		files.argc--;
		files.argv++;
	}
	hn_arena_init(&arena, 0);
	hn_target_host(&arena, &target);
	int status = hn_bench_cases(&files, &arena, &n, &item) == 0 ? 0 : 1;
	uint32_t cores = (uint32_t)target.param[HN_PARAM_NUM_CORES];

	for (uint32_t i = 0; i < n && status == 0; i++) {
		bench_sketches(&item[i], &target);
		bench_features(&item[i], &target, 1, /* ansor= */ false);
		bench_features(&item[i], &target, cores, /* ansor= */ false);
		bench_features(&item[i], &target, 1, /* ansor= */ true);
		bench_rounds(&item[i], &target, 1);
		bench_rounds(&item[i], &target, cores);
	}
	hn_arena_fini(&arena);
	return status;
}
