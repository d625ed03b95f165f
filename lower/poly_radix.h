/* lower/poly_radix.h -- a fused loop as the digits it was fused from.
 *
 * After a fuse, axes are floordiv(l, c) and floormod(l, c) of the fused loop l.  isl can
 * reason about those, but slowly: each is an existential variable.  When the divisors of
 * a loop form a chain (each divides the next), l is written in that mixed radix instead
 * and its digits are the model's variables: everything is affine again, and the
 * lexicographic order of the digits is the order of l.
 */
#ifndef HN_LOWER_POLY_RADIX_H
#define HN_LOWER_POLY_RADIX_H

#include "loopstate/looptree.h"

#define HN_POLY_MAX_DIGITS 16

struct hn_poly_radix {
	uint32_t n_digit;		    /* at least 1 */
	int64_t weight[HN_POLY_MAX_DIGITS]; /* descending; the last is 1 */
	int64_t extent;			    /* of the loop */
};

/* The radix of every loop of the tree, [t->n_loop]. */
const struct hn_poly_radix *hn_poly_radix_of(const struct hn_looptree *t,
					     struct hn_arena *a);

#endif
