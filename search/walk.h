/* search/walk.h -- all plans of one sketch, one after another, in a fixed order.
 *
 * A plan is a row of decisions, in the order in which the fills take them: tile lengths
 * (innermost first) and panels, places, strips, parallel loops, unroll limits, prefetches.  The
 * walk counts through it like an odometer, the last decision fastest.  Choices:
 *
 *   length    what divides the rest of the extent, at most hole.longest for the innermost;
 *             of an extent that divides poorly also what runs at most a twentieth more
 *   panel     each part of its tiling; the whole dimension where panels may be that
 *   place     at root, or in any loop of any later stage
 *   strip, parallel, unroll, prefetch   none, or what the fills draw from
 *
 * Not every row is a program's: a fill clips what it cannot do.  A program's row is the one
 * that reads back from its history (hn_plan_of), so each program has one row, and where
 * another was asked for the walk goes on behind the decision that was not taken.
 *
 * Sketches for threads of a GPU decide other things and cannot be walked.
 */
#ifndef HN_SEARCH_WALK_H
#define HN_SEARCH_WALK_H

#include "sketch/sketch.h"

struct hn_decision;

struct hn_walk {
	const struct hn_sketch *sketch;
	const struct hn_target *target;
	uint32_t n;
	const struct hn_decision *decision; /* [n] */
	int64_t *value;			    /* [n] what is chosen now */
	int64_t at; /* the decision that moves next; -1: nothing was chosen yet */
	bool ended;
};

/* Before the first plan; `fetches`: prefetches are among the decisions.  Lives in the arena. */
void hn_walk_init(struct hn_walk *w, const struct hn_sketch *sketch,
		  const struct hn_target *target, bool fetches, struct hn_arena *a);

/* The next plan; false at the end. */
bool hn_walk_next(struct hn_walk *w);

/* The plan as it stands, in the arena; and whether it has a prefetch. */
const struct hn_plan *hn_walk_plan(const struct hn_walk *w, struct hn_arena *a);
bool hn_walk_fetches(const struct hn_walk *w);

/* Whether `read`, read back from what the plan was made into, is the plan.  If not, the walk
 * goes on behind the first decision that differs. */
bool hn_walk_agrees(struct hn_walk *w, const struct hn_plan *read);

#endif
