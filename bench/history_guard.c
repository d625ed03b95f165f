/* bench/history_guard.c -- the best of a case's guard schedules: no search, no store. See
 * history.h. */
#include <stdio.h>

#include "bench/contest.h"
#include "bench/history.h"
#include "lower/lower.h"
#include "sketch/guard.h"

#define BUDGET_S 0.05 /* three rounds of all of them */

/* Its steps in the arena. */
static const char *steps_of(const struct hn_state *guard, struct hn_arena *a)
{
	struct hn_buf b;
	const char *ret;

	hn_buf_init(&b);
	hn_trace_write(guard->trace, &b);
	ret = hn_arena_strdup(a, b.s);
	hn_buf_fini(&b);
	return ret;
}

static void close_all(struct hn_contest *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		t->contender[i].close(t->contender[i].ctx);
	}
}

int hn_history_of_guards(const struct hn_contest *t, struct hn_emitter *emitter,
			 const struct hn_target *target, struct hn_arena *a,
			 const char **ret_steps, struct hn_err *err)
{
	const struct hn_state *guard[HN_GUARD_MAX];
	struct hn_race_result result[HN_GUARD_MAX];
	const char *steps[HN_GUARD_MAX];
	struct hn_contest trial = { .row = t->row,
				    .dag = t->dag,
				    .arg = t->arg,
				    .n_threads = t->n_threads,
				    .pool = t->pool };
	uint32_t n = hn_guards(t->dag, target, a, guard), best = 0;

	for (uint32_t i = 0; i < n; i++) {
		steps[trial.n] = steps_of(guard[i], a);
		if (hn_contest_hone(&trial, emitter, "guard", steps[trial.n], err) != 0) {
			fprintf(stderr, "hone-bench: %s: guard %u: %s\n", t->row->name, i,
				err->msg);
		}
	}
	if (trial.n == 0) {
		return hn_fail(err, HONE_E_NOT_FOUND, "no guard schedule runs");
	}
	hn_race(trial.contender, trial.n, /* cold= */ false, BUDGET_S, result);
	for (uint32_t i = 0; i < trial.n; i++) {
		best = hn_race_ns(&result[i]) < hn_race_ns(&result[best]) ? i : best;
	}
	close_all(&trial);
	*ret_steps = steps[best];
	return 0;
}
