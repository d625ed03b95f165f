/* measure/board/probe_levels.h -- where the caches end, what a parallel loop costs, how fine the
 * clock is: the figures of a probe that are not rates. */
#ifndef HN_MEASURE_BOARD_PROBE_LEVELS_H
#define HN_MEASURE_BOARD_PROBE_LEVELS_H

#include "measure/board/probe.h"

/* Ends of the plateaus of a rising curve: ns[i] is the time of one dependent load from
 * bytes[i], sizes rising.  A level ends at the last size before two in a row that take
 * twice as long as the least so far of its plateau; the next plateau begins where the
 * curve flattens.  The last plateau is memory and is no level.  Into ret[0..3), how many. */
uint32_t hn_probe_find_levels(uint32_t n, const size_t *bytes, const double *ns,
			      size_t ret[HN_PROBE_LEVELS]);

/* The same, measured: a chase through memory[0..bytes) in random order, line by line, of
 * the calling thread (Saavedra and Smith 1995).  memory is overwritten. */
uint32_t hn_probe_chase_levels(void *memory, size_t bytes, size_t ret[HN_PROBE_LEVELS]);

/* Least time of an empty parallel loop on all n_workers, in ns. */
double hn_probe_fork_join(struct hone_pool *pool, int32_t n_workers);

/* Least step of the clock, in ns. */
double hn_probe_timer(void);

#endif
