/* lower/emit_cond.c -- a comparison of indices at all points of a register tile at once.
 *
 * At each point (and lane) the difference of its operands is a linear form.  Where the
 * points' forms differ by constants only, the whole tile is judged by the smallest and
 * the largest constant: one comparison at run time, or none.
 */
#include "lower/emit_int.h"

static const LLVMIntPredicate predicate[] = { LLVMIntEQ,  LLVMIntNE,  LLVMIntSLT,
					      LLVMIntSLE, LLVMIntSGT, LLVMIntSGE };

int hn_emit_decide(uint8_t op, int64_t lo, int64_t hi)
{
	switch (op) {
	case HN_EXPR_LT:
		return hi < 0 ? 1 : lo >= 0 ? 0 : -1;
	case HN_EXPR_LE:
		return hi <= 0 ? 1 : lo > 0 ? 0 : -1;
	case HN_EXPR_GT:
		return lo > 0 ? 1 : hi <= 0 ? 0 : -1;
	case HN_EXPR_GE:
		return lo >= 0 ? 1 : hi < 0 ? 0 : -1;
	case HN_EXPR_EQ:
		return lo > 0 || hi < 0 ? 0 : lo == 0 && hi == 0 ? 1 : -1;
	default:
		return lo > 0 || hi < 0 ? 1 : lo == 0 && hi == 0 ? 0 : -1;
	}
}

static bool is_comparison(const struct emit *e, const struct hn_expr *g)
{
	return g->op >= HN_EXPR_EQ && g->op <= HN_EXPR_GE &&
	       hn_emit_is_index(e, g->arg[0]) && hn_emit_is_index(e, g->arg[1]);
}

/* Widen [*lo, *hi], the constants of the forms seen so far, by the current point's; false
 * when its terms are others than ret's. */
static bool add_point(struct emit *e, const struct hn_expr *g, struct emit_lin *ret,
		      bool *any, int64_t *lo, int64_t *hi)
{
	for (uint32_t k = 0; k < e->n_active; k++) {
		struct emit_lin x, y;

		hn_emit_lin_lane(e, g->arg[0], k, &x);
		hn_emit_lin_lane(e, g->arg[1], k, &y);
		hn_emit_lin_add(e, &x, &y, -1);
		if (!*any) {
			*ret = x;
			*lo = *hi = x.c;
			*any = true;
		} else if (!hn_emit_lin_same_terms(ret, &x)) {
			return false;
		}
		*lo = x.c < *lo ? x.c : *lo;
		*hi = x.c > *hi ? x.c : *hi;
	}
	return true;
}

/* terms op -c, terms without its constant. */
static LLVMValueRef test(struct emit *e, uint8_t op, struct emit_lin *terms, int64_t c)
{
	terms->c = 0;
	return LLVMBuildICmp(e->b, predicate[op - HN_EXPR_EQ],
			     hn_emit_lin_value(e, terms), hn_emit_const(e, -c), "");
}

int hn_emit_known_here(struct emit *e, const struct hn_expr *g)
{
	struct emit_lin f;
	bool any = false;
	int64_t lo, hi, least, most;

	if (!is_comparison(e, g) || !add_point(e, g, &f, &any, &lo, &hi)) {
		return -1;
	}
	f.c = 0;
	hn_emit_lin_range(&f, &least, &most);
	int first = hn_emit_decide(g->op, least + lo, most + lo);
	int last = hn_emit_decide(g->op, least + hi, most + hi);

	return first == last && (lo == hi || g->op >= HN_EXPR_LT) ? first : -1;
}

enum emit_truth hn_emit_over_tile(struct emit *e, struct emit_nest *n,
				  const struct hn_expr *g, uint32_t i, LLVMValueRef *ret)
{
	uint32_t n_point = hn_emit_count_points(n);
	struct emit_lin f = { 0 };
	bool any = false, low = g->op == HN_EXPR_GE || g->op == HN_EXPR_GT;
	int64_t lo = 0, hi = 0, least, most;

	if (!is_comparison(e, g)) {
		return EMIT_UNKNOWN;
	}
	for (uint32_t p = 0; p < n_point; p++) {
		hn_emit_set_point(e, n, p);
		if (hn_emit_adds_nothing(e, n, i)) {
			continue;
		}
		if (!add_point(e, g, &f, &any, &lo, &hi)) {
			hn_emit_no_point(e, n);
			return EMIT_UNKNOWN;
		}
	}
	hn_emit_no_point(e, n);
	if (!any) {
		return EMIT_NEVER;
	}
	f.c = 0;
	hn_emit_lin_range(&f, &least, &most);
	int first = hn_emit_decide(g->op, least + lo, most + lo);
	int last = hn_emit_decide(g->op, least + hi, most + hi);

	if (lo != hi && (g->op < HN_EXPR_LT || f.n == 0)) {
		return first == 1 && last == 1 && g->op >= HN_EXPR_LT	? EMIT_ALWAYS
		       : first == 0 && last == 0 && g->op >= HN_EXPR_LT ? EMIT_NEVER
									: EMIT_UNKNOWN;
	}
	if (first == last && first >= 0) {
		return first ? EMIT_ALWAYS : EMIT_NEVER;
	}
	*ret = test(e, g->op, &f, low ? lo : hi);
	return lo == hi ? EMIT_SAME : EMIT_MIXED;
}
