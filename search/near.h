/* search/near.h -- programs of near workloads: same structure, other extents.
 *
 * Steps name stages and loops by place. So a history of one dag can be replayed on another dag
 * of the same structure (hn_dag_structure_key). Only lengths need to be adapted. The result is a
 * candidate like any other: nothing is known of it until it is measured.
 */
#ifndef HN_SEARCH_NEAR_H
#define HN_SEARCH_NEAR_H

#include "loopstate/state/trace.h"
#include "target/target.h"

struct hn_dag;

/* How far apart the sizes of two dags of equal structure are: the sum of |log2| of the ratios
 * of extents, over all axes of all ops; 0 = equal extents. */
double hn_near_distance(const struct hn_dag *x, const struct hn_dag *y);

enum hn_near_fit {
	HN_NEAR_DIVIDE, /* lengths go to the nearest that divides, where one is within half */
	HN_NEAR_MASK,	/* lengths stay; last tiles may be partial */
	HN_NEAR_FITS
};

/* The history `t` of `from` with its lengths fitted to `to`; both dags have one structure.  No
 * length is longer than its loop; whole vectors stay whole vectors; blocks of packed operands
 * follow the lengths they were made for.  NULL when it does not replay.  In `a`; pure. */
const struct hn_trace *hn_near_carry(const struct hn_dag *from, const struct hn_trace *t,
				     const struct hn_dag *to, const struct hn_target *target,
				     enum hn_near_fit fit, struct hn_arena *a);

#endif
