/* bench/states.c -- how many complete histories a second are replayed, with bounds.
 *
 * The histories are random completions of every sketch, so the mix is what a search
 * meets. A task's initial state is made once; each replay starts there, in an arena that
 * is reset between replays and so takes memory from the system in the warm-up only. */
#include <stdio.h>

#include "base/clock.h"
#include "bench/workload.h"
#include "loopstate/nest/bounds.h"
#include "sketch/sketch.h"

#define N_TRACE 64
#define MIN_SECONDS 1.0

struct histories {
	uint32_t n;
	const struct hn_trace *trace[N_TRACE];
};

static int make_histories(const struct hn_bench_case *item,
			  const struct hn_target *target, struct hn_arena *a,
			  struct histories *ret)
{
	struct hn_sketches sketches;
	struct hn_arena scratch;
	struct hn_err err;
	int rc = hn_sketch_generate(item->dag, target, a, &sketches, &err);

	if (rc != 0) {
		fprintf(stderr, "hone-bench: %s: %s\n", item->name, err.msg);
		return rc;
	}
	hn_arena_init(&scratch, 0);
	ret->n = 0;
	for (uint32_t i = 0; i < 4 * N_TRACE && ret->n < N_TRACE; i++) {
		struct hn_rng rng = hn_rng_stream(1, 0, 0, i);
		const struct hn_state *s;

		if (hn_sketch_fill(&sketches.sketch[i % sketches.n], target, &rng,
				   &scratch, &s) == HN_VERDICT_OK) {
			ret->trace[ret->n++] = hn_trace_copy(s->trace, a);
		}
	}
	hn_arena_fini(&scratch);
	return 0;
}

/* One pass over the histories; the number that were replayed. */
static uint32_t replay_all(const struct hn_state *start, const struct histories *h,
			   bool with_bounds, struct hn_arena *a, uint64_t *ret_steps)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->n; i++) {
		const struct hn_state *s;
		const struct hn_bounds *b;
		struct hn_err err;

		hn_arena_reset(a);
		if (hn_state_replay_from(start, h->trace[i], a, &s, &err) == 0 &&
		    (!with_bounds || hn_bounds_infer(s, a, &b, &err) == 0)) {
			n++;
			*ret_steps += h->trace[i]->n_step;
		}
	}
	return n;
}

static void bench_replay(const struct hn_bench_case *item, const struct histories *h,
			 bool with_bounds, struct hn_arena *keep)
{
	const struct hn_state *start = hn_state_init(item->dag, keep);
	struct hn_arena a;
	uint64_t n = 0, steps = 0, warm_steps = 0;
	char context[400];

	hn_arena_init(&a, 0);
	for (int i = 0; i < 3; i++) {
		replay_all(start, h, with_bounds, &a, &warm_steps);
	}
	const struct hn_arena_block *warm = a.block;
	int64_t begin = hn_clock_ns();
	bool grew = false;
	double seconds;

	do {
		n += replay_all(start, h, with_bounds, &a, &steps);
		grew |= a.block != warm;
		seconds = (double)(hn_clock_ns() - begin) * 1e-9;
	} while (seconds < MIN_SECONDS && n > 0);
	snprintf(context, sizeof(context),
		 "\"case\": \"%s\", \"histories\": %u, \"steps\": %.1f, \"arena_bytes\": "
		 "%zu, \"grew_after_warm_up\": %s",
		 item->name, h->n, n > 0 ? (double)steps / (double)n : 0.0, a.used_bytes,
		 grew ? "true" : "false");
	hn_bench_row(with_bounds ? "states.replay_bounds" : "states.replay",
		     (double)n / seconds, "histories/s", context);
	hn_arena_fini(&a);
}

int hn_bench_states(const struct hn_bench_args *args);

int hn_bench_states(const struct hn_bench_args *args)
{
	struct hn_bench_case *item;
	struct histories h;
	struct hn_target target;
	struct hn_arena arena;
	uint32_t n;
	int status = 1;

	hn_arena_init(&arena, 0);
	hn_target_host(&arena, &target);
	if (hn_bench_cases(args, &arena, &n, &item) == 0) {
		status = 0;
		for (uint32_t i = 0; i < n; i++) {
			if (make_histories(&item[i], &target, &arena, &h) != 0) {
				status = 1;
				continue;
			}
			bench_replay(&item[i], &h, false, &arena);
			bench_replay(&item[i], &h, true, &arena);
		}
	}
	hn_arena_fini(&arena);
	return status;
}
