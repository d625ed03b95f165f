/* bench/polybench/atax.c -- y = A' (A x).  Each row of A is read once for both products. */
#include "bench/polybench/nest.h"

enum { I = N1900, J = N2100 };

static float t[I];

NEST void atax(const float a[restrict][J], const float x[restrict], float y[restrict])
{
	for (int j = 0; j < J; j++) {
		y[j] = 0;
	}
	PARALLEL_SUM(y[:J])
	for (int i = 0; i < I; i++) {
		t[i] = 0;
		for (int j = 0; j < J; j++) {
			t[i] += a[i][j] * x[j];
		}
		for (int j = 0; j < J; j++) {
			y[j] += a[i][j] * t[i];
		}
	}
}

void polybench_atax(float *const *arg)
{
	atax((const void *)arg[0], arg[1], arg[2]);
}
