/* bench/polybench/doitgen.c -- B[r,q,:] = A[r,q,:] C. */
#include "bench/polybench/nest.h"

enum { R = N150, Q = N140, P = N160 };

NEST void doitgen(const float a[restrict][Q][P], const float c[restrict][P],
		  float b[restrict][Q][P])
{
	PARALLEL
	for (int r = 0; r < R; r++) {
		for (int q = 0; q < Q; q++) {
			for (int p = 0; p < P; p++) {
				b[r][q][p] = 0;
			}
			for (int s = 0; s < P; s++) {
				for (int p = 0; p < P; p++) {
					b[r][q][p] += a[r][q][s] * c[s][p];
				}
			}
		}
	}
}

void polybench_doitgen(float *const *arg)
{
	doitgen((const void *)arg[0], (const void *)arg[1], (void *)arg[2]);
}
