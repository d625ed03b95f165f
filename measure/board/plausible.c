/* plausible.c -- see plausible.h. */
#include "measure/board/plausible.h"

#include <math.h>

#define ROUGH 2 /* a level may hold so many times its probed size */

static double over(double amount, double rate)
{
	return amount > 0 && rate > 0 ? amount / rate : 0;
}

/* GB/s are bytes per ns. */
static double bytes_ns(const struct hn_probe *p, int32_t n_workers, double bytes)
{
	double share = bytes / n_workers, held = 0, least = 0;

	for (uint32_t i = 0; i < p->n_level && i < HN_PROBE_LEVELS; i++) {
		if (share >= HN_PROBE_SET(p->level[i].bytes)) {
			least = fmax(least, over(share - held, p->level[i].gb_s));
		}
		held += ROUGH * p->level[i].bytes;
	}
	if (bytes >= HN_PROBE_MEMORY_BYTES) {
		held = fmax(held * n_workers, ROUGH * p->cache_bytes);
		least = fmax(least, over(bytes - held, p->memory_gb_s));
	}
	return least;
}

double hn_plausible_least_ns(const struct hn_probe *p, int32_t n_workers,
			     const struct hn_need *need)
{
	/* cores one by one may clock higher than together: the looser bound */
	double peak = fmax(p->fma_gflops_all, p->fma_gflops_one * n_workers);

	return fmax(over(need->flops, peak),
		    fmax(bytes_ns(p, n_workers, need->read_bytes),
			 bytes_ns(p, n_workers, need->written_bytes)));
}
