/* loopstate/dag/ragged.h -- reduction axes whose extent depends on the axes outside of them:
 * triangles, causal sums, the windows of adaptive pooling.
 *
 * A dag's domains are boxes.  So such an axis gets the greatest extent that it has anywhere, and
 * `axis < extent` becomes a part of the reduction's condition, where the source is not evaluated
 * if it fails.  Everything behind a reader knows conditions, and nothing but them.  As bounded
 * domains with guards: Verdoolaege (2010).
 */
#ifndef HN_LOOPSTATE_DAG_RAGGED_H
#define HN_LOOPSTATE_DAG_RAGGED_H

#include "loopstate/dag/dag.h"

/* The attribute of an op that lists the reduction axes whose extent compute-dag/1 gave as an
 * expression: no part of the key. */
#define HN_RAGGED_AXES "ragged_axes"

/* Reduction axis i of op, whose axes before i are known, and whose first value is `min`, gets
 * extent `form`, made of these axes.  *ret_most: the greatest value of form (>= 1).
 * *ret_within: the condition `axis < min + form`; NULL where the form is that one number
 * everywhere.  Returns why it cannot be, in a few words; NULL when all is well. */
const char *hn_ragged_axis(const struct hn_op *op, uint32_t i, const char *name, int64_t min,
			   const struct hn_expr *form, struct hn_arena *a, int64_t *ret_most,
			   const struct hn_expr **ret_within);

/* x and y, each of which may be NULL: always. */
const struct hn_expr *hn_ragged_both(const struct hn_expr *x, const struct hn_expr *y,
				     struct hn_arena *a);

/* Of the points of op's reduction, the share for which its condition holds: exact where the outer
 * axes that it names have at most 2^16 points, otherwise an estimate from fixed random points.
 * 1 without a condition, or where data decides it.  Pure. */
double hn_ragged_share(const struct hn_op *op);

#endif
