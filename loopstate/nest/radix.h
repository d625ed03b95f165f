/* loopstate/nest/radix.h -- a fused loop as the digits it was fused from.
 *
 * After a fuse, axes are floordiv(l, c) and floormod(l, c) of the fused loop l.  isl can
 * reason about those, but slowly: each is an existential variable.  When the divisors of
 * a loop form a chain (each divides the next), l is written in that mixed radix instead
 * and its digits are the model's variables: everything is affine again, and the
 * lexicographic order of the digits is the order of l.
 */
#ifndef HN_LOOPSTATE_NEST_RADIX_H
#define HN_LOOPSTATE_NEST_RADIX_H

#include "loopstate/nest/looptree.h"

#define HN_RADIX_MAX_DIGITS 16

struct hn_radix {
	uint32_t n_digit;		    /* at least 1 */
	int64_t weight[HN_RADIX_MAX_DIGITS]; /* descending; the last is 1 */
	int64_t extent;			    /* of the loop */
};

/* The radix of every loop of the tree, [t->n_loop]. */
const struct hn_radix *hn_radix_of(const struct hn_looptree *t,
					     struct hn_arena *a);

/* The radix of variables 0..n-1 of these extents, from the divisions in the expressions; NULL among
 * them are skipped. */
const struct hn_radix *hn_radix_of_variables(const int64_t *extent, uint32_t n,
					     const struct hn_expr *const *e, uint32_t n_expr,
					     struct hn_arena *a);

/* Digit i runs over [0, this). */
int64_t hn_digit_range(const struct hn_radix *r, uint32_t i);

/* floordiv(l, c), floormod(l, c) and floormod(floordiv(l, c), m) of a loop l (e is in loop
 * space): digits [first, end) of l divided by the weight of the last; they may be none
 * (first == end, value 0).  False when e is none of these or c is not a weight. */
bool hn_radix_division(const struct hn_radix *radix, const struct hn_expr *e,
		      int32_t *ret_loop, uint32_t *ret_first, uint32_t *ret_end);

#endif
