/* loopstate/state/bracket.h -- the same computation rounded a little lower and a little higher.
 *
 * A float that becomes an integer or a number of 16 bits at the end falls to one of two neighbours.
 * Where it lies near the border between them its last bits decide, and of a sum whose order is free
 * right kernels have other last bits (loopstate/dag/sway.h).  So what is converted is moved by its
 * error bound, down in one program and up in the other: an answer is right if it lies between the
 * two.  Far from a border they agree, and the answer has one value.
 *
 * The bound is the tolerance of the float (loopstate/dag/tolerance.h), relative to itself or to the
 * root of the mean square of all of them, the larger.  Where a few elements are asked for, and all
 * of them would take too long, it is relative to itself or to 1.
 */
#ifndef HN_LOOPSTATE_STATE_BRACKET_H
#define HN_LOOPSTATE_STATE_BRACKET_H

#include "loopstate/dag/dag.h"

enum hn_bracket { HN_BRACKET_LOW, HN_BRACKET_HIGH };
enum hn_bracket_of { HN_BRACKET_WHOLE, HN_BRACKET_ELEMENTS };

/* The dag in which what its outputs convert is moved to that side.  Arguments are the same, and
 * outputs of float32 and float64 are as they were.  The dag itself where floats of 16 bits are the
 * same in all right kernels.
 *
 * NULL when there is nothing to move, and where answers between the two would not be all right ones,
 * or others too: when an output of another type
 *   - reads what was rounded so before: one step there may be many here;
 *   - compares loose floats, or is not monotone in what it converts;
 * and when extents are parameters.  In `a`; pure. */
const struct hn_dag *hn_dag_bracket(const struct hn_dag *dag, enum hn_bracket side,
				    enum hn_bracket_of of, struct hn_arena *a);

#endif
