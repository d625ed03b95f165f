/* bench/lower.c -- what a candidate costs before it can be measured: proof,
 * code, object. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "bench/workload.h"
#include "lower/lower.h"
#include "sketch/sketch.h"

#define N_SAMPLE 48

struct times {
	double prove_ms[N_SAMPLE];
	double emit_ms[N_SAMPLE];
	uint32_t n, n_legal;
};

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x;
	double b = *(const double *)y;

	return (a > b) - (a < b);
}

static double median(double *v, uint32_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n ? v[n / 2] : 0;
}

static void time_one(const struct hn_looptree *tree, struct hn_emitter *emitter,
		     struct hn_arena *a, struct times *t)
{
	struct hn_emit_options options = { .symbol = "kernel" };
	struct hn_artefact artefact;
	struct hn_err err;
	int64_t t0 = hn_clock_ns();
	int64_t t1;

	t->n_legal += hn_legal_check(tree, 10000, &err) == HN_VERDICT_OK;
	t1 = hn_clock_ns();
	if (hn_emit(emitter, tree, &options, a, &artefact, &err) != 0) {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
		return;
	}
	t->prove_ms[t->n] = (double)(t1 - t0) * 1e-6;
	t->emit_ms[t->n] = (double)(hn_clock_ns() - t1) * 1e-6;
	t->n++;
}

static void bench_case(const struct hn_bench_case *item, const struct hn_target *target,
		       struct hn_emitter *emitter)
{
	struct hn_sketches sketches;
	struct hn_arena arena;
	struct times t = { .n = 0 };
	struct hn_err err;
	char context[300];

	hn_arena_init(&arena, 0);
	if (hn_sketch_generate(item->dag, target, &arena, &sketches, &err) != 0) {
		fprintf(stderr, "hone-bench: %s: %s\n", item->name, err.msg);
		hn_arena_fini(&arena);
		return;
	}
	for (uint32_t i = 0; i < N_SAMPLE; i++) {
		struct hn_rng rng = hn_rng_stream(7, 0, 0, i);
		const struct hn_looptree *tree;
		const struct hn_state *s;

		if (hn_sketch_fill(&sketches.sketch[i % sketches.n], target, &rng, &arena,
				   &s) == HN_VERDICT_OK &&
		    hn_looptree_build(s, &arena, &tree, &err) == 0) {
			time_one(tree, emitter, &arena, &t);
		}
	}
	snprintf(context, sizeof(context),
		 "\"case\": \"%s\", \"samples\": %u, \"legal\": %u", item->name, t.n,
		 t.n_legal);
	hn_bench_row("lower.prove", median(t.prove_ms, t.n), "ms", context);
	hn_bench_row("lower.emit", median(t.emit_ms, t.n), "ms", context);
	hn_arena_fini(&arena);
}

int hn_bench_lower(const struct hn_bench_args *args);

int hn_bench_lower(const struct hn_bench_args *args)
{
	struct hn_bench_case *item;
	struct hn_emitter *emitter;
	struct hn_target target;
	struct hn_arena arena;
	struct hn_err err;
	uint32_t n;
	int status = 1;

	hn_arena_init(&arena, 0);
	hn_target_host(&arena, &target);
	if (hn_emitter_new(&target, &emitter, &err) != 0) {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
	} else if (hn_bench_cases(args, &arena, &n, &item) == 0) {
		for (uint32_t i = 0; i < n; i++) {
			bench_case(&item[i], &target, emitter);
		}
		hn_emitter_free(emitter);
		status = 0;
	}
	hn_arena_fini(&arena);
	return status;
}
