/* bench/polybench/gesummv.c -- y = alpha A x + beta B x. */
#include "bench/polybench/nest.h"

enum { N = N1300 };

NEST void gesummv(const float a[restrict][N], const float b[restrict][N],
		  const float x[restrict], float y[restrict])
{
	PARALLEL
	for (int i = 0; i < N; i++) {
		float p = 0, q = 0;

		for (int j = 0; j < N; j++) {
			p += a[i][j] * x[j];
			q += b[i][j] * x[j];
		}
		y[i] = 1.5f * p + 1.2f * q;
	}
}

void polybench_gesummv(float *const *arg)
{
	gesummv((const void *)arg[0], (const void *)arg[1], arg[2], arg[3]);
}
