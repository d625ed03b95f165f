/* sketch/together.h -- ops that go through the same outermost loops, as a history.
 *
 * An op joins the nest of its readers if each of them reads it, in every load, at the nest's own
 * loop variables along some axes. Then an iteration of these loops needs only what it computes
 * of the op itself, whatever else the loops do. This is the greedy end of loop fusion (Kennedy
 * and McKinley, LCPC 1993), consumers first, without shifts or skews.
 *
 * It looks at each load once. isl's scheduler solves linear programs, which only a clock bounds.
 * For rows, columns, chains and padded convolutions the groups are the same (unit/all_together).
 */
#ifndef HN_SKETCH_TOGETHER_H
#define HN_SKETCH_TOGETHER_H

#include "loopstate/state/state.h"
#include "target/target.h"

struct hn_together_op {
	int32_t host; /* the group's last op; itself when it is alone; -1: no op of its own */
	uint32_t n;   /* of a host: loops that its group has in common, */
	uint32_t axis[HN_DAG_MAX_ITERS]; /* these axes of it */
};

/* Groups of the dag's ops onto ret[n_op], those skip[] left out; an op joins where `iterations`
 * of the common loops or more are left.  False when none does.  Cost: loads times axes. */
bool hn_together_find(const struct hn_dag *dag, const bool *skip, int64_t iterations,
		      struct hn_arena *a, struct hn_together_op *ret);

/* The dag's history with those groups for the target: element-wise ops inlined, each group
 * one nest, common loops fused and in parallel, the last axis in blocks for lanes.  Complete;
 * nothing is proved.  NULL when no op joins another, or inlining fails. */
const struct hn_state *hn_together(const struct hn_dag *dag, const struct hn_target *target,
				   struct hn_arena *a);

#endif
