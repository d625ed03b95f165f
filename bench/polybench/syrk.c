/* bench/polybench/syrk.c -- the lower triangle of D = alpha A A' + beta C, the rest of C kept.
 * The triangle alone is computed. */
#include "bench/polybench/nest.h"

enum { I = N1200, K = N1000 };

NEST void syrk(const float a[restrict][K], const float c[restrict][I],
	       float d[restrict][I])
{
	PARALLEL
	for (int i = 0; i < I; i++) {
		for (int j = 0; j <= i; j++) {
			float sum = 0;

			for (int k = 0; k < K; k++) {
				sum += a[i][k] * a[j][k];
			}
			d[i][j] = 1.5f * sum + 1.2f * c[i][j];
		}
		for (int j = i + 1; j < I; j++) {
			d[i][j] = c[i][j];
		}
	}
}

void polybench_syrk(float *const *arg)
{
	syrk((const void *)arg[0], (const void *)arg[1], (void *)arg[2]);
}
