/* sketch/heuristic.h -- heuristic schedules: complete programs by rule, no search and no
 * measurement.
 *
 * A heuristic is an ordinary trace, built from what the hardware parameters say about a nest
 * and from how its stages read each other, never from their names.  Search measures the
 * heuristics first, so that its answer is never worse than they are, and goes on from them.
 * Sources: the register and cache tiles of Low et al., "Analytical Modeling Is Enough for
 * High-Performance BLIS" (TOMS 2016); direct convolution with channels as lanes,
 * Georganas et al. (SC'18).
 */
#ifndef HN_SKETCH_HEURISTIC_H
#define HN_SKETCH_HEURISTIC_H

#include "loopstate/state/state.h"
#include "target/target.h"

#define HN_HEURISTIC_MAX 8

/* The heuristics of dag for a target whose cores run loops (HN_CAP_THREADS) or blocks of threads
 * (HN_CAP_GPU_THREADS; 0 for others): distinct concrete states in `a`, the most promising first,
 * for cores the plain one (outer loops parallel, inner ones vectors) always among them.  Returns
 * how many, at most HN_HEURISTIC_MAX; for cores at least 1.  Pure: same dag and target, same traces. */
uint32_t hn_heuristics(const struct hn_dag *dag, const struct hn_target *target,
		       struct hn_arena *a, const struct hn_state *ret[HN_HEURISTIC_MAX]);

/* The same by instructions that no machine has confirmed yet (heuristic/warp_units.def).  They are
 * for a search, which measures each program and compares its results; 0 where there are none. */
uint32_t hn_heuristics_unconfirmed(const struct hn_dag *dag, const struct hn_target *target,
				   struct hn_arena *a,
				   const struct hn_state *ret[HN_HEURISTIC_MAX]);

#endif
