/* lower/cpu/emit_cond.c -- comparisons of indices: judged by range, or tested at run time.
 *
 * The difference of the operands is a linear form; its range says whether the comparison
 * always holds, never does, or must be tested.  Where the forms of the points (and lanes)
 * of a register tile differ by constants only, the whole tile is judged by the smallest
 * and the largest constant: one comparison at run time, or none.
 */
#include "lower/cpu/emit_nest.h"

LLVMIntPredicate hn_emit_predicate(uint8_t op)
{
	static const LLVMIntPredicate predicate[] = { LLVMIntEQ,  LLVMIntNE,  LLVMIntSLT,
						      LLVMIntSLE, LLVMIntSGT, LLVMIntSGE };

	return predicate[op - HN_EXPR_EQ];
}

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

/* (terms + c) op 0 for constants c in [lo, hi]. */
static int decide_between(uint8_t op, const struct hn_linear *terms, int64_t lo,
			  int64_t hi)
{
	struct hn_linear f = *terms;
	int64_t least, most;

	f.c = 0;
	hn_linear_range(&f, &least, &most);
	return hn_emit_decide(op, least + lo, most + hi);
}

int hn_emit_judge(uint8_t op, const struct hn_linear *f)
{
	return decide_between(op, f, f->c, f->c);
}

LLVMValueRef hn_emit_test(struct emit *e, uint8_t op, const struct hn_linear *f)
{
	struct hn_linear terms = *f;

	terms.c = 0;
	return LLVMBuildICmp(e->b, hn_emit_predicate(op), hn_emit_lin_value(e, &terms),
			     hn_emit_const(e, -f->c), "");
}

bool hn_emit_compares_indices(const struct emit *e, const struct hn_expr *x)
{
	return x->op >= HN_EXPR_EQ && x->op <= HN_EXPR_GE &&
	       hn_emit_is_index(e, x->arg[0]) && hn_emit_is_index(e, x->arg[1]);
}

void hn_emit_difference(struct emit *e, const struct hn_expr *x, uint32_t k,
			struct hn_linear *ret)
{
	struct hn_linear y;

	hn_emit_lin_lane(e, x->arg[0], k, ret);
	hn_emit_lin_lane(e, x->arg[1], k, &y);
	hn_linear_add(&e->lin, ret, &y, -1);
}

/* Widen [*lo, *hi], the constants of the forms seen so far, by the current point's; false
 * when its terms are others than ret's. */
static bool add_point(struct emit *e, const struct hn_expr *g, struct hn_linear *ret,
		      bool *any, int64_t *lo, int64_t *hi)
{
	for (uint32_t k = 0; k < e->n_active; k++) {
		struct hn_linear x;

		hn_emit_difference(e, g, k, &x);
		if (!*any) {
			*ret = x;
			*lo = *hi = x.c;
			*any = true;
		} else if (!hn_linear_same_terms(ret, &x)) {
			return false;
		}
		*lo = x.c < *lo ? x.c : *lo;
		*hi = x.c > *hi ? x.c : *hi;
	}
	return true;
}

int hn_emit_known_here(struct emit *e, const struct hn_expr *g)
{
	struct hn_linear f;
	bool any = false;
	int64_t lo, hi;

	if (!hn_emit_compares_indices(e, g) || !add_point(e, g, &f, &any, &lo, &hi)) {
		return -1;
	}
	return decide_between(g->op, &f, lo, hi);
}

enum emit_truth hn_emit_over_tile(struct emit *e, struct emit_nest *n,
				  const struct hn_expr *g, uint32_t i, bool every,
				  LLVMValueRef *ret)
{
	uint32_t n_point = hn_emit_count_points(n);
	struct hn_linear f = { 0 };
	bool any = false, low = g->op == HN_EXPR_GE || g->op == HN_EXPR_GT;
	int64_t lo = 0, hi = 0;

	if (!hn_emit_compares_indices(e, g)) {
		return EMIT_UNKNOWN;
	}
	for (uint32_t p = 0; p < n_point; p++) {
		hn_emit_set_point(e, n, p);
		if (!every && hn_emit_adds_nothing(e, n, i)) {
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
	int known = decide_between(g->op, &f, lo, hi);

	if (known >= 0) {
		return known ? EMIT_ALWAYS : EMIT_NEVER;
	}
	if (lo != hi && (g->op < HN_EXPR_LT || f.n == 0)) {
		return EMIT_UNKNOWN;
	}
	f.c = low ? lo : hi;
	*ret = hn_emit_test(e, g->op, &f);
	return lo == hi ? EMIT_SAME : EMIT_MIXED;
}
