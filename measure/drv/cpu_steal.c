/* cpu_steal.c -- time that a hypervisor gave to other machines.
 *
 * A core that is taken away makes no involuntary switch and no page fault, so the gates of a
 * sample (timing.h) do not see it.  The kernel counts it in ticks, too coarse for a sample:
 * it is judged over the whole run.
 */
#include "measure/drv/cpu_int.h"

#include <stdio.h>
#include <unistd.h>

#include "measure/board/timing.h"

#define STOLEN 0.1	   /* of the wall clock: too much ... */
#define STOLEN_NS 20000000 /* ... when it is more than the tick's rounding */

/* The eighth number of the first line (proc(5)). */
int64_t hn_cpu_stolen_read(const char *path)
{
	FILE *f = fopen(path, "re");
	long tick = sysconf(_SC_CLK_TCK);
	long long n = 0;

	if (f == NULL || tick <= 0 ||
	    fscanf(f, "cpu %*d %*d %*d %*d %*d %*d %*d %lld", &n) != 1) {
		n = 0;
	}
	if (f != NULL) {
		fclose(f);
	}
	return n * (1000000000 / (tick > 0 ? tick : 1));
}

int64_t hn_cpu_stolen_ns(void)
{
	return hn_cpu_stolen_read("/proc/stat");
}

void hn_cpu_check_stolen(int64_t stolen_ns, int64_t wall_ns, double best_ns,
			 struct hn_board_answer *ret)
{
	bool matters = best_ns <= 0 || hn_stats_median(ret->sample_ns, ret->n_sample) <=
					       HN_TIMING_SLOWER * best_ns;

	if (matters && stolen_ns >= STOLEN_NS &&
	    (double)stolen_ns > STOLEN * (double)wall_ns) {
		ret->verdict = HN_VERDICT_NOISY;
		snprintf(ret->detail, sizeof ret->detail,
			 "the hypervisor took %lld ms of %lld",
			 (long long)(stolen_ns / 1000000), (long long)(wall_ns / 1000000));
	}
}
