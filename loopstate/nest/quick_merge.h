/* loopstate/nest/quick_merge.h -- loops that are only counted together, as one.
 *
 * Fused loops that are split again leave floordiv(a * 26 + b * 13 + c, 17) behind, often under
 * a * 26 + b * 13 + c < 119: no digit of one loop.  The same tree with one loop v of extent
 * 119 has floordiv(v, 17), which is one.  A grid of blocks and threads that fused axes do not
 * fill leaves the same, and so does one loop of 128 under v < 119.
 */
#ifndef HN_LOOPSTATE_NEST_QUICK_MERGE_H
#define HN_LOOPSTATE_NEST_QUICK_MERGE_H

#include "loopstate/nest/looptree.h"

/* The tree with loops merged that lie directly in each other and that one division counts
 * together, and with loops that are divided cut to where their guards end; in the arena; NULL
 * when there are none.  It runs the same statements in the same order, and claims at least as
 * much to run at the same time: what is legal of it is legal of t.  That leaves out what threads
 * share: a merged loop is of no number of the grid, so ask hn_threads_agree of t itself. */
const struct hn_looptree *hn_quick_merge(const struct hn_looptree *t, struct hn_arena *a);

#endif
