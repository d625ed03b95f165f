/* search/auto.h -- the automatic schedule: one program for any dag, unmeasured.
 *
 * The heuristics (sketch/heuristic.h) are the few alternatives: register and cache tiles by the
 * target's numbers, and different answers to what is fused, packed and cut.  The analytic
 * cost model chooses among them, and believes in loops that ops have in common (sketch/together.h)
 * where these promise more.  It is what `hone tune --trials 0` answers, and what a search
 * measures first.  Figures: docs/kernels.md.
 */
#ifndef HN_SEARCH_AUTO_H
#define HN_SEARCH_AUTO_H

#include "sketch/heuristic.h"

#define HN_AUTO_MAX (HN_HEURISTIC_MAX + 1)

/* Programs for dag as complete traces in `a`, the automatic schedule first, the others as what
 * to fall back on, best first; nothing is proved yet.  Returns how many: 0 only for targets
 * that have no heuristics.  Pure: same dag and target, same traces. */
uint32_t hn_auto(const struct hn_dag *dag, const struct hn_target *target,
		 struct hn_arena *a, const struct hn_trace *ret[HN_AUTO_MAX]);

#endif
