/* search/strategy/round_robin.c -- who has had the fewest rounds; the earliest of them. */
#include "search/taskset.h"

static uint32_t choose(const struct hn_taskset *ts)
{
	uint32_t best = ts->n;

	for (uint32_t i = 0; i < ts->n; i++) {
		const struct hn_taskset_task *t = &ts->task[i];

		if (!t->over &&
		    (best == ts->n ||
		     t->n_round + t->n_open <
			     ts->task[best].n_round + ts->task[best].n_open)) {
			best = i;
		}
	}
	return best;
}

const struct hn_strategy_ops hn_strategy_round_robin = { .name = "round-robin",
							 .choose = choose };
