/* costmodel/line.h -- how a number moves while each loop of a nest runs alone.
 *
 * Indices of split and fused loops are sums of loops times constants, nearly always: their
 * coefficients are added up in one walk.  What is not (a quotient, a remainder, a choice) is
 * computed from its arguments at each of those points: every loop at 0, one loop at a time at 1
 * and at its end.  Either way the numbers are those of an evaluation, modulo 2^64; a load or a
 * call counts as 0.
 *
 * A line is three samples for each loop, not a sum of terms: it has a value for every expression,
 * where the forms of loopstate/ have none or an interval.
 */
#ifndef HN_COSTMODEL_LINE_H
#define HN_COSTMODEL_LINE_H

#include "base/arena.h"
#include "loopstate/expr/expr.h"
#include "loopstate/nest/looptree.h"

struct hn_line {
	int64_t base;	/* with every loop at 0 */
	int64_t *one;	/* [n_loop] how much more with this loop alone at 1, */
	int64_t *end;	/* [n_loop] and at its end */
};

/* What variables of an expression stand for: the loops themselves, or lines. */
struct hn_line_space {
	uint32_t n_loop;
	const struct hn_node *const *loop; /* [n_loop] */
	const int32_t *at;		   /* [n_var] position of the loop, -1 = it stands at 0; */
	const struct hn_line *line;	   /* or NULL, and this: [n_var] */
	uint32_t n_var;			   /* variables past these are 0 */
	struct hn_arena *arena;
};

/* The line of 0. */
struct hn_line hn_line_zero(const struct hn_line_space *in);

/* *to += scale * variable; nothing for one past n_var. */
void hn_line_add_variable(const struct hn_line_space *in, int32_t var, int64_t scale,
			  struct hn_line *to);

/* *to += scale * e. */
void hn_line_add(const struct hn_line_space *in, const struct hn_expr *e, int64_t scale,
		 struct hn_line *to);

#endif
