/* loopstate/nest/ring.h -- loops in which some of the work is ahead of the rest (PL).
 *
 * A child with `ahead` (looptree.h) runs for later iterations than the others do, and each
 * iteration's values lie in a copy of the buffer of their own, of a ring of copies.  To walkers that
 * do not ask, the tree is the program in its own order: what is ahead comes into the same values.
 * Who runs the tree either heeds both, turns and copies, or neither.
 */
#ifndef HN_LOOPSTATE_NEST_RING_H
#define HN_LOOPSTATE_NEST_RING_H

#include "loopstate/nest/looptree.h"

/* Whether children of the loop are not in step with it. */
bool hn_ring_uneven(const struct hn_node *loop);

/* How far ahead the foremost of the loop's children is; 0: all are in step. */
int32_t hn_ring_ahead(const struct hn_node *loop);

/* NULL where each loop below n, n included, that has children ahead runs its iterations one after
 * the other, and no copy of a buffer is filled for an iteration while that of another may be
 * touched; else why not, a static sentence, and of which loop.  That values are there in time is
 * not asked: that is the order's affair. */
const char *hn_ring_why_not(const struct hn_looptree *t, const struct hn_node *n,
			    const struct hn_node **ret_loop);

#endif
