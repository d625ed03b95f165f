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
};

/* Time call(ctx); first_ns is what one (warm or not) call took. best_ns 0 = never give
 * up.  No call is begun that, lasting first_ns, would end later than budget_ns from now;
 * when not even one fits, first_ns is the sample. */
void hn_timing_run(void (*call)(void *ctx), void *ctx, double first_ns, double best_ns,
		   double budget_ns, struct hn_timing *ret);

#endif
