/* search/strategy/gradient.c -- the round that is expected to take most off the objective, for
 * what it costs: the partial derivative of the weighted sum by the rounds of each task.  Between
 * equals, who has had fewer rounds.  Source: Ansor, section 6; its forecast is replaced
 * (taskset.h). */
#include "search/taskset.h"

static uint32_t choose(const struct hn_taskset *ts)
{
	double most = -1;
	uint32_t best = 0;

	for (uint32_t i = 0; i < ts->n; i++) {
		const struct hn_taskset_task *t = &ts->task[i], *b = &ts->task[best];
		double gain =
			t->weight * hn_taskset_gain_ns(ts, i) / hn_taskset_cost(ts, i);

		if (!t->over &&
		    (gain > most ||
		     (gain == most && t->n_round + t->n_open < b->n_round + b->n_open))) {
			most = gain;
			best = i;
		}
	}
	return best;
}

const struct hn_strategy_ops hn_strategy_gradient = { .name = "gradient",
						      .choose = choose };
