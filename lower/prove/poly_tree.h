/* lower/prove/poly_tree.h -- a loop tree as isl's schedule tree (tier T2).
 *
 * What runs is compiled from the loop tree itself; the schedule tree is the same program in
 * isl's words, so that isl's AST of it (poly_ast.h) can be held against what runs.
 *
 *   root stages          statements of the domain node
 *   loops                bands, one member a loop, all tile levels in the order of the tree;
 *                        a perfect nest without annotations is one band
 *   what a body holds    a sequence of filters
 *   annotations          marks "hone:parallel", "hone:vectorize", "hone:unroll" above a band
 *   LOCAL buffers        (compute_at, cache_read, cache_write, packed copies) their statements
 *                        enter by an extension node inside the loop that holds the buffer,
 *                        under a mark "hone:local T<op>"
 *
 * Vector and unrolled loops that a guard cuts short are isolated, full iterations apart from
 * partial ones, at most three inside each other, so code grows at most eightfold; everything
 * else is kept in one piece with guards or bounds of min and max.
 * Source: isl's manual, AST generation options; AKG, PPCG and Tensor Comprehensions for extensions.
 */
#ifndef HN_LOWER_PROVE_POLY_TREE_H
#define HN_LOWER_PROVE_POLY_TREE_H

#include <isl/schedule.h>

#include "lower/prove/poly.h"

#define HN_POLY_MAX_ISOLATED 3 /* inside each other */

/* The tree of the model, in isl's text form (YAML); isl_schedule_read_from_str reads it.
 * False when isl failed on the way. */
bool hn_poly_tree_text(const struct hn_poly *p, struct hn_buf *ret);

/* The same as an object; the caller's, NULL when isl failed. */
isl_schedule *hn_poly_tree(const struct hn_poly *p);

#endif
