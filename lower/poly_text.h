/* lower/poly_text.h -- quasi-affine expressions and conditions as isl text.
 *
 * isl objects are made by printing and reading back: for one model this costs a few
 * milliseconds, and what is read is also what a person can read when something is
 * refused.
 */
#ifndef HN_LOWER_POLY_TEXT_H
#define HN_LOWER_POLY_TEXT_H

#include "base/buf.h"
#include "loopstate/expr.h"

/* Whether e is quasi-affine over its variables: + - * by constants, floordiv and floormod
 * by positive constants, min, max.  axis maps op-space slots to loop space; NULL = e is
 * in loop space already. */
bool hn_poly_affine(const struct hn_expr *e, const struct hn_expr *const *axis);

/* Print e (hn_poly_affine holds); loops print as l<id>. */
void hn_poly_print_expr(const struct hn_expr *e, const struct hn_expr *const *axis,
			struct hn_buf *buf);

/* Print a formula implied by e (or by its negation when !positive): parts that are not
 * affine are dropped where that can only enlarge the set. Prints "true" at worst. */
void hn_poly_print_cond(const struct hn_expr *e, bool positive,
			const struct hn_expr *const *axis, struct hn_buf *buf);

#endif
