/* loopstate/state/prefetch.h -- whether a loop can fetch an operand ahead of its use.
 *
 * It is used twice: by the step PF, which refuses what can never be fetched, and when the loop
 * tree is built. Later steps may have made a prefetch useless (an operand inlined, a loop run in
 * parallel). Such a prefetch is left out of the tree. It computes nothing, so only its effect is
 * lost.
 */
#ifndef HN_LOOPSTATE_STATE_PREFETCH_H
#define HN_LOOPSTATE_STATE_PREFETCH_H

#include "loopstate/state/state.h"

/* NULL when loop `iter` of `stage` can fetch what the stage reads of `operand` (both
 * stages, loop and operand must exist), else why not: a static sentence. */
const char *hn_prefetch_why_not(const struct hn_state *s, int32_t stage, uint32_t iter,
				int32_t operand);

/* After an op was inserted at `at`: operands move up by one with their ops, and where a
 * stage now reads the new op in place of an operand, its prefetches follow. */
void hn_prefetch_shift(struct hn_state *n, int32_t at, struct hn_arena *a);

#endif
