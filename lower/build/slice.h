/* lower/build/slice.h -- the time of a loop tree, from parts of it.
 *
 * A naive program may take minutes. All iterations of an outer loop do nearly the same work. So
 * a few iterations, timed and scaled by the exact count, give the time of all. Only the times
 * mean something: the values that a part reads may not have been computed.
 */
#ifndef HN_LOWER_BUILD_SLICE_H
#define HN_LOWER_BUILD_SLICE_H

#include "loopstate/nest/looptree.h"

#define HN_SLICE_MAX 8

/* A tree of which some loops run fewer iterations, from 0 on; buffers and statements are the
 * whole tree's. */
struct hn_slice {
	const struct hn_looptree *tree;
	double points, of; /* runs of statements: its own, and those of what it stands for */
};

/* Parts that together stand for the tree: the time of all is the sum of points' times of / points.
 * The nests at root that run a statement more than `most` times are one slice each, cut from
 * outside inwards to about `most`; all others together are one, uncut.  Returns their number; 0
 * when no nest is so long.  In `a`; pure. */
uint32_t hn_slice(const struct hn_looptree *t, double most, struct hn_arena *a,
		  struct hn_slice ret[HN_SLICE_MAX]);

#endif
