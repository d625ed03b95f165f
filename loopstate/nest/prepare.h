/* loopstate/nest/prepare.h -- which nests may run once, before the first call, because they depend
 * on constant inputs alone (hone/kernel.h, prepared data), and what is left to the calls. */
#ifndef HN_LOOPSTATE_NEST_PREPARE_H
#define HN_LOOPSTATE_NEST_PREPARE_H

#include "loopstate/nest/looptree.h"

/* hn_looptree.prepared of a tree that is whole but for it; in a.  Pure. */
const bool *hn_prepare_find(const struct hn_looptree *t, struct hn_arena *a);

/* ret[n_input of the dag]: whether a call that is given the prepared data reads this input.  One
 * that is not read need not be there. */
void hn_prepare_reads(const struct hn_looptree *t, struct hn_arena *a, bool *ret);

#endif
