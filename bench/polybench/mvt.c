/* bench/polybench/mvt.c -- z = x + A v, w = y + A' u. */
#include "bench/polybench/nest.h"

enum { N = N2000 };

NEST void mvt(const float a[restrict][N], const float x[restrict],
	      const float y[restrict], const float v[restrict], const float u[restrict],
	      float z[restrict], float w[restrict])
{
	PARALLEL
	for (int i = 0; i < N; i++) {
		z[i] = x[i];
		for (int j = 0; j < N; j++) {
			z[i] += a[i][j] * v[j];
		}
	}
	for (int j = 0; j < N; j++) {
		w[j] = y[j];
	}
	PARALLEL_SUM(w[:N])
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++) {
			w[j] += a[i][j] * u[i];
		}
	}
}

void polybench_mvt(float *const *arg)
{
	mvt((const void *)arg[0], arg[1], arg[2], arg[3], arg[4], arg[5], arg[6]);
}
