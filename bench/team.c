/* bench/team.c -- see team.h. */
#include "bench/team.h"

#if defined(_OPENMP)
#include <omp.h>
#include <sched.h>

void hn_team_pin(int32_t n)
{
	omp_set_num_threads(n);
#pragma omp parallel
	{
		int core = omp_get_thread_num();
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(core, &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
}
#else
void hn_team_pin(int32_t n)
{
	(void)n;
}
#endif
