/* stats.c -- order statistics of timing samples. */
#include "measure/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

static void sort_copy(const double *x, uint32_t n, double *sorted)
{
	hn_assert(n >= 1 && n <= HN_STATS_MAX_SAMPLE);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = i;

		for (; j > 0 && sorted[j - 1] > x[i]; j--) {
			sorted[j] = sorted[j - 1];
		}
		sorted[j] = x[i];
	}
}

static double sorted_median(const double *sorted, uint32_t n)
{
	return n % 2 == 1 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

double hn_stats_median(const double *x, uint32_t n)
{
	double sorted[HN_STATS_MAX_SAMPLE];

	sort_copy(x, n, sorted);
	return sorted_median(sorted, n);
}

double hn_stats_log_ratio(const double *x, const double *y, uint32_t n)
{
	double ratio[HN_STATS_MAX_SAMPLE];

	hn_assert(n >= 1 && n <= HN_STATS_MAX_SAMPLE);
	for (uint32_t i = 0; i < n; i++) {
		ratio[i] = log(y[i] / x[i]);
	}
	return hn_stats_median(ratio, n);
}

/* The number of samples below the median is binomial(n, 1/2): take the innermost
 * symmetric pair of ranks whose tails hold at most 2.5 % each. */
bool hn_stats_ranks(uint32_t n, uint32_t *ret_lo, uint32_t *ret_hi)
{
	double p = exp2(-(double)n), tail = 0;
	uint32_t lo = 0;

	if (n < 6) {
		return false;
	}
	while (lo < n / 2 && tail + p <= 0.025) {
		tail += p;
		p = p * (n - lo) / (lo + 1);
		lo++;
	}
	*ret_lo = lo - 1;
	*ret_hi = n - lo;
	return true;
}

double hn_stats_uncertainty(const double *x, uint32_t n)
{
	double sorted[HN_STATS_MAX_SAMPLE];
	uint32_t lo, hi;

	if (!hn_stats_ranks(n, &lo, &hi)) {
		return INFINITY;
	}
	sort_copy(x, n, sorted);
	return 0.5 * (sorted[hi] - sorted[lo]) / sorted_median(sorted, n);
}

#define RESAMPLES 4000

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The sample at that rank (from 0) of a resample that has sorted[i] so many times. */
static double drawn_rank(const double *sorted, const uint32_t *times, uint32_t rank)
{
	uint32_t i = 0;

	for (uint32_t before = times[0]; before <= rank; before += times[i]) {
		i++;
	}
	return sorted[i];
}

double hn_stats_least(const double *x, uint32_t n)
{
	double least = INFINITY;

	for (uint32_t i = 0; i < n; i++) {
		least = fmin(least, x[i]);
	}
	return least;
}

void hn_stats_bootstrap(const double *x, uint32_t n, double tail, uint64_t seed,
			double *ret_lo, double *ret_hi)
{
	struct hn_rng rng = hn_rng_stream(seed, 0, 0, 0);
	double sorted[HN_STATS_MAX_SAMPLE], median[RESAMPLES];
	uint32_t cut = (uint32_t)(tail * RESAMPLES);

	hn_assert(n >= 1 && n <= HN_STATS_MAX_SAMPLE && tail >= 0 && tail < 0.5);
	sort_copy(x, n, sorted);
	for (uint32_t r = 0; r < RESAMPLES; r++) {
		uint32_t times[HN_STATS_MAX_SAMPLE] = {0};

		for (uint32_t i = 0; i < n; i++) {
			times[hn_rng_below(&rng, n)]++;
		}
		median[r] = 0.5 * (drawn_rank(sorted, times, (n - 1) / 2) +
				   drawn_rank(sorted, times, n / 2));
	}
	qsort(median, RESAMPLES, sizeof(median[0]), by_value);
	*ret_lo = median[cut];
	*ret_hi = median[RESAMPLES - 1 - cut];
}
