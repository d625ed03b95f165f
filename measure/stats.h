/* measure/stats.h -- what a few noisy samples say: medians and their certainty.
 *
 * No mean: timing noise is one-sided.  The interval is by order statistics, so nothing is
 * assumed of the distribution.
 */
#ifndef HN_MEASURE_STATS_H
#define HN_MEASURE_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cdefs.h"

#define HN_STATS_MAX_SAMPLE 256

/* Median of x[0..n), 1 <= n <= HN_STATS_MAX_SAMPLE; x is untouched. */
double hn_stats_median(const double *x, uint32_t n);

/* Median of log(y[i] / x[i]), x and y > 0: by how much y is slower, of times taken in turn. */
double hn_stats_log_ratio(const double *x, const double *y, uint32_t n);

/* The least of x[0..n); infinity when n = 0. */
double hn_stats_least(const double *x, uint32_t n);

/* Ranks [lo, hi] (from 0) of the sorted samples that enclose the median with at least 95
 * % probability. False when n is too small for that (n < 6). */
bool hn_stats_ranks(uint32_t n, uint32_t *ret_lo, uint32_t *ret_hi);

/* Half the width of the median's 95 % interval over the median; infinity when n < 6. */
double hn_stats_uncertainty(const double *x, uint32_t n);

/* An interval for the median of x[0..n), each tail holding `tail` (0.025 for 95 %): the
 * percentile bootstrap of Efron (1979), 4,000 resamples, the same for the same seed.  With
 * x the logarithms of paired ratios it is an interval for the ratio (Kalibera and Jones,
 * ISMM'13: resample at the level that has the variance, here the process). */
void hn_stats_bootstrap(const double *x, uint32_t n, double tail, uint64_t seed,
			double *ret_lo, double *ret_hi);

#endif
