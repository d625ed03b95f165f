/* bench/npu_rank.c -- how alike two lists of times are: the order in which they put the cases, and how
 * far they are apart.  See npu_case.h. */
#include <math.h>
#include <stdlib.h>

#include "bench/npu_case.h"

/* Those below it, and half of those that are the same. */
static double rank(const double *v, size_t count, size_t i)
{
	double n = 0;

	for (size_t k = 0; k < count; k++) {
		n += v[k] < v[i] ? 1 : v[k] == v[i] ? 0.5 : 0;
	}
	return n;
}

double hn_npu_spearman(const double *x, const double *y, size_t n)
{
	double xy = 0, xx = 0, yy = 0, mean = (double)n / 2;

	for (size_t i = 0; i < n; i++) {
		double a = rank(x, n, i) - mean, b = rank(y, n, i) - mean;

		xy += a * b;
		xx += a * a;
		yy += b * b;
	}
	return xx * yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

double hn_npu_median_off(const double *x, const double *y, size_t n)
{
	double off[HN_NPU_MOST_CASES] = { 0 };

	n = n > HN_NPU_MOST_CASES ? HN_NPU_MOST_CASES : n;
	for (size_t i = 0; i < n; i++) {
		off[i] = fabs(log2(x[i] / y[i]));
	}
	qsort(off, n, sizeof(off[0]), by_value);
	return n == 0 ? 0 : n % 2 == 1 ? off[n / 2] : (off[n / 2 - 1] + off[n / 2]) / 2;
}
