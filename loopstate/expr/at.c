/* loopstate/expr/at.c -- see at.h. */
#include "loopstate/expr/at.h"

/* AND and OR may be known by one side. */
static bool connective(const struct hn_expr *e, const int64_t *point, uint32_t n_point,
		       int64_t *ret)
{
	int64_t x, y, decides = e->op == HN_EXPR_OR;
	bool has_x = hn_expr_at(e->arg[0], point, n_point, &x);
	bool has_y = hn_expr_at(e->arg[1], point, n_point, &y);

	if ((has_x && (x != 0) == decides) || (has_y && (y != 0) == decides)) {
		*ret = decides;
		return true;
	}
	*ret = !decides;
	return has_x && has_y;
}

bool hn_expr_at(const struct hn_expr *e, const int64_t *point, uint32_t n_point, int64_t *ret)
{
	int64_t x, y;

	switch (e->op) {
	case HN_EXPR_INT:
		*ret = e->u.i;
		return true;
	case HN_EXPR_VAR:
		if (e->ref < 0 || (uint32_t)e->ref >= n_point) {
			return false;
		}
		*ret = point[e->ref];
		return true;
	case HN_EXPR_AND:
	case HN_EXPR_OR:
		return connective(e, point, n_point, ret);
	case HN_EXPR_NOT:
		if (!hn_expr_at(e->arg[0], point, n_point, &x)) {
			return false;
		}
		*ret = !x;
		return true;
	case HN_EXPR_IF:
	case HN_EXPR_SELECT:
		return hn_dtype_class(e->dtype) != HN_CLASS_FLOAT &&
		       hn_expr_at(e->arg[0], point, n_point, &x) &&
		       hn_expr_at(e->arg[x ? 1 : 2], point, n_point, ret);
	default:
		return e->op >= HN_EXPR_ADD && e->op <= HN_EXPR_GE &&
		       hn_dtype_class(e->arg[0]->dtype) != HN_CLASS_FLOAT &&
		       hn_expr_at(e->arg[0], point, n_point, &x) &&
		       hn_expr_at(e->arg[1], point, n_point, &y) &&
		       hn_expr_ints(e->op, x, y, ret);
	}
}
