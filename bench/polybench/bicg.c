/* bench/polybench/bicg.c -- s = A' r, q = A p.  Each row of A is read once for both. */
#include "bench/polybench/nest.h"

enum { I = N2100, J = N1900 };

NEST void bicg(const float a[restrict][J], const float p[restrict],
	       const float r[restrict], float s[restrict], float q[restrict])
{
	for (int j = 0; j < J; j++) {
		s[j] = 0;
	}
	PARALLEL_SUM(s[:J])
	for (int i = 0; i < I; i++) {
		q[i] = 0;
		for (int j = 0; j < J; j++) {
			s[j] += r[i] * a[i][j];
			q[i] += a[i][j] * p[j];
		}
	}
}

void polybench_bicg(float *const *arg)
{
	bicg((const void *)arg[0], arg[1], arg[2], arg[3], arg[4]);
}
