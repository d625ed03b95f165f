/* loopstate/state/split_iter.h -- one loop cut into several: what split, follow_split and
 * follow_fused_split share. */
#ifndef HN_LOOPSTATE_STATE_SPLIT_ITER_H
#define HN_LOOPSTATE_STATE_SPLIT_ITER_H

#include "loopstate/state/state.h"

/* step->a[0] is an iterator that may be split by these lengths (HN_HOLE among them or
 * not). */
int hn_split_iter_check(const struct hn_state *s, const struct hn_step *step,
			const int64_t *len, uint32_t n_len,
			struct hn_err *err) HN_NODISCARD;

/* Do it: n_len + 1 parts.  inner_to_outer: len[k] is the length of part k + 1, part 0 the
 * rest; otherwise len[k] is the length of part k, the last part the rest. */
const struct hn_state *hn_split_iter_apply(const struct hn_state *s,
					   const struct hn_step *step, const int64_t *len,
					   uint32_t n_len, bool inner_to_outer,
					   struct hn_arena *a);

/* The split that step `i` of s's history is; NULL when it is none. */
const struct hn_step *hn_split_iter_source(const struct hn_state *s, int64_t i);

/* The product of lengths; HN_HOLE when one is unknown. */
int64_t hn_split_iter_product(const int64_t *len, uint32_t n);

#endif
