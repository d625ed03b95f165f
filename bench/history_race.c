/* bench/history_race.c -- the fastest of several schedules, here and now.  See history.h. */
#include <stdio.h>

#include "bench/contest.h"
#include "bench/history.h"
#include "lower/lower.h"

#define BUDGET_S 0.4 /* several rounds of all of them */

int hn_history_fastest(const struct hn_contest *t, struct hn_emitter *emitter,
		       const struct hn_histories *of, const char **ret_steps,
		       struct hn_err *err)
{
	struct hn_race_result result[HN_HISTORY_MAX];
	const char *steps[HN_HISTORY_MAX];
	struct hn_contest trial = { .row = t->row,
				    .dag = t->dag,
				    .arg = t->arg,
				    .n_threads = t->n_threads,
				    .how = t->how,
				    .pool = t->pool };
	uint32_t best = 0;

	_Static_assert(HN_HISTORY_MAX <= HN_RACE_MAX_CONTENDER, "all can be raced");
	if (of->n == 1) {
		*ret_steps = of->steps[0];
		return 0;
	}
	for (uint32_t i = 0; i < of->n; i++) {
		steps[trial.n] = of->steps[i];
		if (hn_contest_hone(&trial, emitter, "trial", of->steps[i], err) != 0) {
			fprintf(stderr, "hone-bench: %s: schedule %u: %s\n", t->row->name,
				i, err->msg);
		}
	}
	if (trial.n == 0) {
		return hn_fail(err, HONE_E_NOT_FOUND, "no schedule of %u runs", of->n);
	}
	hn_race(trial.contender, trial.n, t->how, BUDGET_S, result);
	for (uint32_t i = 0; i < trial.n; i++) {
		/* by the rounds' own ratios: the clock drifts between them */
		best = hn_race_ratio(&result[i], &result[best]) > 1 ? i : best;
	}
	hn_contest_close(&trial);
	*ret_steps = steps[best];
	return 0;
}
