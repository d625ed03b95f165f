/* bench/polybench/gemm.c -- D = alpha A B + beta C. */
#include "bench/polybench/nest.h"

enum { I = N1000, J = N1100, K = N1200 };

NEST void gemm(const float a[restrict][K], const float b[restrict][J],
	       const float c[restrict][J], float d[restrict][J])
{
	PARALLEL
	for (int i = 0; i < I; i++) {
		for (int j = 0; j < J; j++) {
			d[i][j] = 1.2f * c[i][j];
		}
		for (int k = 0; k < K; k++) {
			for (int j = 0; j < J; j++) {
				d[i][j] += 1.5f * a[i][k] * b[k][j];
			}
		}
	}
}

void polybench_gemm(float *const *arg)
{
	gemm((const void *)arg[0], (const void *)arg[1], (const void *)arg[2], (void *)arg[3]);
}
