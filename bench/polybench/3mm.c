/* bench/polybench/3mm.c -- G = (A B) (C D). */
#include "bench/polybench/nest.h"

enum { I = N800, J = N900, K = N1000, L = N1100, M = N1200 };

static float e[I][J], f[J][L];

NEST void three_mm(const float a[restrict][K], const float b[restrict][J],
		   const float c[restrict][M], const float d[restrict][L],
		   float g[restrict][L])
{
	PARALLEL
	for (int i = 0; i < I; i++) {
		for (int j = 0; j < J; j++) {
			e[i][j] = 0;
		}
		for (int k = 0; k < K; k++) {
			for (int j = 0; j < J; j++) {
				e[i][j] += a[i][k] * b[k][j];
			}
		}
	}
	PARALLEL
	for (int j = 0; j < J; j++) {
		for (int l = 0; l < L; l++) {
			f[j][l] = 0;
		}
		for (int m = 0; m < M; m++) {
			for (int l = 0; l < L; l++) {
				f[j][l] += c[j][m] * d[m][l];
			}
		}
	}
	PARALLEL
	for (int i = 0; i < I; i++) {
		for (int l = 0; l < L; l++) {
			g[i][l] = 0;
		}
		for (int j = 0; j < J; j++) {
			for (int l = 0; l < L; l++) {
				g[i][l] += e[i][j] * f[j][l];
			}
		}
	}
}

void polybench_three_mm(float *const *arg)
{
	three_mm((const void *)arg[0], (const void *)arg[1], (const void *)arg[2],
		 (const void *)arg[3], (void *)arg[4]);
}
