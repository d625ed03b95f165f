/* measure/timing.h -- how long does a call take?
 *
 * A sample is the mean of enough calls in a row to last a millisecond (or 1,000 ticks of
 * the clock); one call when it lasts longer.  Samples are taken until the median is known
 * to 3 %, or 10 samples and 100 ms are spent, or half a second; at once when the call is
 * hopelessly slower than the best known.  Samples in which the scheduler took a core from
 * us are dropped while enough others remain.  service.md 3.6.
 */
#ifndef HN_MEASURE_TIMING_H
#define HN_MEASURE_TIMING_H

#include "measure/stats.h"

struct hn_timing {
	uint32_t n;
	double sample_ns[HN_STATS_MAX_SAMPLE];
	uint32_t n_dropped;
	double spent_ns; /* inside call, all samples and calibration together */
};

struct hn_timing_plan {
	double first_ns;   /* what one call took, warm or not */
	double best_ns;	   /* the best known; 0 = never give up */
	double budget_ns;  /* no call is begun that, lasting first_ns, would end later */
	uint32_t n_sample; /* so many, or as many as fit 100 ms; 0 = by the rule above */
};

/* Time call(ctx).  When not even one call fits the budget, first_ns is the sample. */
void hn_timing_run(void (*call)(void *ctx), void *ctx, const struct hn_timing_plan *plan,
		   struct hn_timing *ret);

#endif
