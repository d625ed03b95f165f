/* bench/race.h -- contenders for the same work, timed in turn.
 *
 * The clock of a core drifts with its neighbours' load and memory is shared, so figures of
 * different runs do not compare.  Here every round times every contender once, and a ratio
 * is the median of the rounds' own ratios.  Before each turn the process is waited for until it is
 * idle: thread pools of libraries spin for milliseconds after their work.
 */
#ifndef HN_BENCH_RACE_H
#define HN_BENCH_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/board/flush.h"

#define HN_CONTENDER_MAX_RANGE 16
#define HN_RACE_MAX_CONTENDER 16
#define HN_RACE_MAX_ROUND 15

struct hn_contender {
	const char *name;
	void *ctx;
	void (*call)(void *ctx);
	/* Write the answer of the last call into the contest's output, row-major as hone has
	 * it; NULL when the call has done so. */
	void (*fetch)(void *ctx);
	void (*close)(void *ctx); /* NULL: nothing to do */
	bool limit;		  /* it computes nothing */
	bool own;		  /* hone's by other means: no peer */
	double amount;		  /* of a limit: the case needs so many of its calls */
	uint32_t n_range;	  /* memory it reads and writes, for cold runs */
	struct hn_flush_range range[HN_CONTENDER_MAX_RANGE];
};

void hn_contender_range(struct hn_contender *c, const void *at, size_t bytes);

struct hn_race_result {
	uint32_t n_round;
	double ns[HN_RACE_MAX_ROUND]; /* of one call, the best sample of each round */
};

enum hn_race_how { /* bits */
		   HN_RACE_COLD = 1, /* each call finds its ranges in memory, in no cache */
		   /* count what the calling thread runs, not what passes: for contenders of
		    * one thread on a machine whose cores others use as well */
		   HN_RACE_OWN_TIME = 2
};

/* Time n contenders for about budget_s seconds, at least 3 rounds. */
void hn_race(const struct hn_contender *c, uint32_t n, uint32_t how, double budget_s,
	     struct hn_race_result *ret);

double hn_race_ns(const struct hn_race_result *r); /* median over the rounds */

/* Median over the rounds of other's time over r's: above 1, r is the faster. */
double hn_race_ratio(const struct hn_race_result *r, const struct hn_race_result *other);

/* Wait until this process's threads have gone to sleep, at most 0.2 s. */
void hn_race_settle(void);

#endif
