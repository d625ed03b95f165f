/* bench/polybench/covariance.c -- K = (X - mean)' (X - mean) / (n - 1).  K is symmetric: half
 * of it is computed, and written twice. */
#include "bench/polybench/nest.h"

enum { K = N1400, I = N1200 };

static float mean[I], y[K][I];

NEST void covariance(const float x[restrict][I], float c[restrict][I])
{
	for (int j = 0; j < I; j++) {
		mean[j] = 0;
	}
	PARALLEL_SUM(mean[:I])
	for (int k = 0; k < K; k++) {
		for (int j = 0; j < I; j++) {
			mean[j] += x[k][j];
		}
	}
	for (int j = 0; j < I; j++) {
		mean[j] /= (float)K;
	}
	PARALLEL
	for (int k = 0; k < K; k++) {
		for (int j = 0; j < I; j++) {
			y[k][j] = x[k][j] - mean[j];
		}
	}
	PARALLEL
	for (int i = 0; i < I; i++) {
		for (int j = i; j < I; j++) {
			c[i][j] = 0;
		}
		for (int k = 0; k < K; k++) {
			for (int j = i; j < I; j++) {
				c[i][j] += y[k][i] * y[k][j];
			}
		}
		for (int j = i; j < I; j++) {
			c[i][j] /= (float)N1399;
			c[j][i] = c[i][j];
		}
	}
}

void polybench_covariance(float *const *arg)
{
	covariance((const void *)arg[0], (void *)arg[1]);
}
