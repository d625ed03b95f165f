/* loopstate/nest/quick.h -- whether a loop tree is legal, in microseconds (tier T0).
 *
 * The same five things as the exact check (lower/lower.h) are shown with linear forms and
 * intervals alone: accesses inside their buffers, everything read computed (each point of a
 * reduction once), order, the order of reductions that may not be changed, and that
 * iterations of parallel and vector loops share nothing.  Loops that were fused and split again
 * are looked at as one loop, too (quick_merge.h).  It only ever proves: what it accepts
 * the exact check accepts, what it refuses may be legal where a tree is of no usual form.
 *
 * Why it is enough to look at signs and sizes of coefficients: a tree's axes are sums of loop
 * digits times constants, so a dependence between two statements is decided by the digits of
 * the loops around both.  Where these follow from the element (each coefficient larger than
 * all smaller ones can make together) the distance is zero in them; the sign of the first
 * other component is the order of the text.  Classical sign and bound tests: Banerjee (1988),
 * Wolfe (1989).
 */
#ifndef HN_LOOPSTATE_NEST_QUICK_H
#define HN_LOOPSTATE_NEST_QUICK_H

#include "loopstate/nest/looptree.h"

struct hn_quick; /* a workspace; one thread at a time */

struct hn_quick *hn_quick_new(void); /* aborts when out of memory, like an arena */
void hn_quick_free(struct hn_quick *q); /* NULL is fine */

/* Whether t is shown to be legal.  When not, and err is not NULL, one sentence in it names
 * stage and reason (HONE_E_INVALID).  Takes no memory once trees of that size have been
 * seen.  A dag that is hn_dag_check'ed is relied on: its points read inside their tensors. */
bool hn_quick_legal(struct hn_quick *q, const struct hn_looptree *t, struct hn_err *err);

#endif
