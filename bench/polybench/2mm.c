/* bench/polybench/2mm.c -- E = alpha A B C + beta D. */
#include "bench/polybench/nest.h"

enum { I = N800, J = N900, K = N1100, L = N1200 };

static float t[I][J];

NEST void two_mm(const float a[restrict][K], const float b[restrict][J],
		 const float c[restrict][L], const float d[restrict][L],
		 float e[restrict][L])
{
	PARALLEL
	for (int i = 0; i < I; i++) {
		for (int j = 0; j < J; j++) {
			t[i][j] = 0;
		}
		for (int k = 0; k < K; k++) {
			for (int j = 0; j < J; j++) {
				t[i][j] += 1.5f * a[i][k] * b[k][j];
			}
		}
	}
	PARALLEL
	for (int i = 0; i < I; i++) {
		for (int l = 0; l < L; l++) {
			e[i][l] = 1.2f * d[i][l];
		}
		for (int j = 0; j < J; j++) {
			for (int l = 0; l < L; l++) {
				e[i][l] += t[i][j] * c[j][l];
			}
		}
	}
}

void polybench_two_mm(float *const *arg)
{
	two_mm((const void *)arg[0], (const void *)arg[1], (const void *)arg[2],
	       (const void *)arg[3], (void *)arg[4]);
}
