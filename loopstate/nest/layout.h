/* loopstate/nest/layout.h -- where in its buffer an element lies.
 *
 * Row-major, unless the buffer is swizzled (SW): then chunks of each row change places, by a rule
 * that depends on another index.  This is the only place that knows the rule; it has a form for
 * each who needs one: numbers, expressions, linear forms of code.
 *
 * An index is always that of the op less the buffer's min.
 */
#ifndef HN_LOOPSTATE_NEST_LAYOUT_H
#define HN_LOOPSTATE_NEST_LAYOUT_H

#include "loopstate/expr/linear.h"
#include "loopstate/nest/looptree.h"

/* Where along the last dimension the element of that row lies. */
int64_t hn_layout_turned(const struct hn_swizzle *z, int64_t row, int64_t last);

/* Elements of one copy. */
int64_t hn_layout_size(const struct hn_buffer *b);

/* The element's number in its copy; x[n_dim]. */
int64_t hn_layout_place(const struct hn_buffer *b, const int64_t *x);

/* The same as a form of code; x[n_dim], which may be changed. */
void hn_layout_linear(const struct hn_linear_maker *f, const struct hn_buffer *b,
		      struct hn_linear *x, struct hn_linear *ret);

/* hn_layout_turned as an expression: quasi-affine where row and last are.  The buffer is
 * swizzled. */
const struct hn_expr *hn_layout_expr(const struct hn_swizzle *z,
				     const struct hn_expr *row,
				     const struct hn_expr *last, struct hn_arena *a);

/* NULL where no two elements of the buffer lie in one place and all lie in it, which is shown by
 * the numbers of one period; else why not: a static sentence. */
const char *hn_layout_why_not(const struct hn_buffer *b);

#endif
