/* loopstate/expr/at.h -- the value of an integer expression at a point, where no data decides it.
 */
#ifndef HN_LOOPSTATE_EXPR_AT_H
#define HN_LOOPSTATE_EXPR_AT_H

#include "loopstate/expr/expr.h"

/* The value of e, an integer or a bool, where variable i has value point[i], i < n_point.
 * False = it depends on data, sizes or a `let`, or it divides by zero.  One side that decides an
 * `and`, an `or` or a choice is enough.  Pure. */
bool hn_expr_at(const struct hn_expr *e, const int64_t *point, uint32_t n_point, int64_t *ret);

#endif
