/* measure/board/plausible.h -- the time that no kernel on a machine can beat.
 *
 * It is the larger of two: operations over the peak, and bytes over the rate at which this
 * machine reads a set of that size. This is the roofline (Williams, Waterman, Patterson 2009),
 * with a roof for each level that was probed.
 *   - A set is never read faster than a smaller one. So the roof of the largest probed set that
 *     is no larger holds for it, whichever caches it really lies in.
 *   - What a nearer level may hold from call to call is left out, at twice its probed size,
 *     because that size is a rough figure.
 *   - Reads and writes may overlap: the larger of the two counts, and neither is faster than
 *     reading.
 *   - The rates of one core count for each core. Together the cores are slower, if anything.
 */
#ifndef HN_MEASURE_BOARD_PLAUSIBLE_H
#define HN_MEASURE_BOARD_PLAUSIBLE_H

#include "measure/board/probe.h"

/* Faster than the bound by more than this did not happen. */
#define HN_PLAUSIBLE_MARGIN 1.05

/* What a call of any correct kernel must do. */
struct hn_need {
	double flops; /* in float32 or wider; 0 = not judged */
	double read_bytes, written_bytes; /* distinct ones; 0 = not judged */
};

/* Least time of a call in ns on n_workers cores; 0 where nothing bounds it (a set smaller than
 * the smallest that was probed, or rates that are 0).  Pure. */
double hn_plausible_least_ns(const struct hn_probe *p, int32_t n_workers,
			     const struct hn_need *need);

#endif
