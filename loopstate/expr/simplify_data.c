/* loopstate/expr/simplify_data.c -- a body simplified without changing a bit of its values.
 *
 * An index is an integer without end: its arithmetic is done in 64 bits and its ranges are
 * proved, so a + 1 > a and (a * 6) / 3 = 2 * a.  Data is not: int32 sums wrap, and neither
 * law holds.  So the normal form (simplify.c) is for indices, and for those parts of a body
 * that read no data and stay within their type at every node; around them only laws of every
 * type are used (hn_expr_binary).
 */
#include "loopstate/expr/simplify.h"

struct data {
	const struct hn_span *loop;
	uint32_t n_loop;
};

static bool fits(const struct hn_expr *e, const struct data *x)
{
	int64_t lo, hi;

	return (e->dtype == HN_I32 || e->dtype == HN_I64) &&
	       hn_expr_range(e, x->loop, x->n_loop, &lo, &hi) &&
	       (e->dtype == HN_I64 || (lo >= INT32_MIN && hi <= INT32_MAX));
}

static bool is_exact(const struct hn_expr *e, const struct data *x)
{
	bool compares = e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE;
	bool logic = e->op == HN_EXPR_AND || e->op == HN_EXPR_OR || e->op == HN_EXPR_NOT;

	if (e->op == HN_EXPR_LOAD || e->op == HN_EXPR_LET || e->op == HN_EXPR_CALL ||
	    (e->op == HN_EXPR_VAR && e->dtype == HN_BOOL)) {
		return false;
	}
	if (!compares && !logic && !(e->op == HN_EXPR_INT && e->dtype == HN_BOOL) &&
	    !fits(e, x)) {
		return false;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		/* A conversion is the value itself only where its operand fits, too. */
		if (!is_exact(e->arg[i], x)) {
			return false;
		}
	}
	return e->op != HN_EXPR_CAST ||
	       (e->dtype != HN_BOOL && e->arg[0]->dtype != HN_BOOL &&
		(e->dtype == HN_I64 || e->arg[0]->dtype == HN_I32 || fits(e->arg[0], x)));
}

bool hn_expr_is_exact(const struct hn_expr *e, const struct hn_span *loop, uint32_t n_loop)
{
	const struct data x = { loop, n_loop };

	return is_exact(e, &x);
}

const struct hn_expr *hn_simplify_data(const struct hn_expr *e, const struct hn_span *loop,
				       uint32_t n_loop, struct hn_arena *a)
{
	if (e->n_arg == 0 && e->op != HN_EXPR_VAR) {
		return e;
	}
	if (hn_expr_is_exact(e, loop, n_loop)) {
		const struct hn_expr *r = hn_simplify(e, loop, n_loop, a);

		/* Terms of the normal form may be larger than those they were made of. */
		return hn_expr_is_exact(r, loop, n_loop) ? r : e;
	}
	if (e->n_arg == 0) {
		return e;
	}
	const struct hn_expr **arg = HN_NEW_ARRAY(a, const struct hn_expr *, e->n_arg);
	bool choice = e->op == HN_EXPR_SELECT || e->op == HN_EXPR_IF;

	for (uint32_t k = 0; k < e->n_arg; k++) {
		arg[k] = e->op == HN_EXPR_LOAD ? hn_simplify(e->arg[k], loop, n_loop, a)
					       : hn_simplify_data(e->arg[k], loop, n_loop, a);
	}
	if (choice && arg[0]->op == HN_EXPR_INT) {
		return arg[arg[0]->u.i != 0 ? 1 : 2];
	}
	if (e->op == HN_EXPR_NOT && arg[0]->op == HN_EXPR_INT) {
		return hn_expr_int(arg[0]->u.i == 0, HN_BOOL, a);
	}
	return e->op >= HN_EXPR_ADD && e->op <= HN_EXPR_OR
		       ? hn_expr_binary(e->op, arg[0], arg[1], a)
		       : hn_expr_with_args(e, arg, e->n_arg, a);
}
