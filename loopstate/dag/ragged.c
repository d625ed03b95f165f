/* loopstate/dag/ragged.c -- see ragged.h. */
#include "loopstate/dag/ragged.h"

#include "base/arith.h"
#include "base/rng.h"
#include "loopstate/dag/range.h"
#include "loopstate/expr/at.h"
#include "loopstate/expr/simplify.h"

#define MAX_POINTS ((int64_t)1 << 16) /* looked at one by one */

static bool is_positive(const struct hn_expr *e)
{
	return e->op == HN_EXPR_INT && e->u.i > 0;
}

/* Sums, multiples, quotients by constants, and choices between such: what proofs of loops know. */
static bool is_affine(const struct hn_expr *e)
{
	bool divides = e->op >= HN_EXPR_FLOORDIV && e->op <= HN_EXPR_TRUNCMOD;
	bool ok = hn_dtype_class(e->dtype) != HN_CLASS_FLOAT;

	switch (e->op) {
	case HN_EXPR_LOAD:
	case HN_EXPR_CALL:
	case HN_EXPR_LET:
	case HN_EXPR_FLOAT:
		return false;
	case HN_EXPR_MUL:
		ok = ok && (e->arg[0]->op == HN_EXPR_INT || e->arg[1]->op == HN_EXPR_INT);
		break;
	default:
		ok = ok && (!(divides || e->op == HN_EXPR_DIV) || is_positive(e->arg[1]));
	}
	for (uint32_t i = 0; i < e->n_arg && ok; i++) {
		ok = is_affine(e->arg[i]);
	}
	return ok;
}

static bool is_int(const struct hn_expr *e, int64_t v)
{
	return e->op == HN_EXPR_INT && e->u.i == v;
}

static bool is_quotient(const struct hn_expr *e, const struct hn_expr *x, const struct hn_expr *c)
{
	return e->op == HN_EXPR_FLOORDIV && hn_expr_equal(e->arg[0], x) &&
	       hn_expr_equal(e->arg[1], c);
}

/* `x % c == 0 ? x / c : x / c + 1`, as TVM writes the quotient that is rounded up, is
 * (x + c - 1) / c. */
static const struct hn_expr *round_up(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	const struct hn_expr *when = e->n_arg == 3 ? e->arg[0] : NULL, *rest = NULL;

	(void)ctx;
	if (when == NULL || (e->op != HN_EXPR_SELECT && e->op != HN_EXPR_IF) ||
	    when->op != HN_EXPR_EQ || when->arg[0]->op != HN_EXPR_FLOORMOD ||
	    !is_int(when->arg[1], 0)) {
		return e;
	}
	const struct hn_expr *x = when->arg[0]->arg[0], *c = when->arg[0]->arg[1];

	for (uint32_t k = 0; k < 2 && e->arg[2]->op == HN_EXPR_ADD; k++) {
		rest = is_int(e->arg[2]->arg[1 - k], 1) ? e->arg[2]->arg[k] : rest;
	}
	if (!is_positive(c) || rest == NULL || !is_quotient(rest, x, c) ||
	    !is_quotient(e->arg[1], x, c)) {
		return e;
	}
	const struct hn_expr *more = hn_expr_int(c->u.i - 1, c->dtype, a);

	return hn_expr_binary(HN_EXPR_FLOORDIV, hn_expr_binary(HN_EXPR_ADD, x, more, a), c, a);
}

/* The next point of the axes that e uses but for `still`, in any order; false after the last. */
static bool advance(const struct hn_op *op, uint32_t n, const struct hn_expr *e, int32_t still,
		    int64_t *point)
{
	for (uint32_t i = 0; i < n; i++) {
		if ((int32_t)i == still || !hn_expr_uses(e, (int32_t)i)) {
			continue;
		}
		if (++point[i] < op->axis[i].min + op->axis[i].extent) {
			return true;
		}
		point[i] = op->axis[i].min;
	}
	return false;
}

/* Points of those of the first n axes that e uses; they all begin at their first value. */
static int64_t begin(const struct hn_op *op, uint32_t n, const struct hn_expr *e, int64_t *point)
{
	int64_t points = 1;

	for (uint32_t i = 0; i < n; i++) {
		point[i] = op->axis[i].min;
		points = hn_expr_uses(e, (int32_t)i) ? hn_mul_sat(points, op->axis[i].extent)
						     : points;
	}
	return points;
}

/* The least and the greatest value of the form over the first n axes: exact where they have few
 * points; false when they are not bounded. */
static bool values(const struct hn_op *op, uint32_t n, const struct hn_expr *form,
		   struct hn_arena *a, int64_t *lo, int64_t *hi)
{
	int64_t point[HN_DAG_MAX_ITERS], v;

	if (begin(op, n, form, point) <= MAX_POINTS && hn_expr_at(form, point, n, &v)) {
		*lo = *hi = v;
		while (advance(op, n, form, -1, point)) {
			if (!hn_expr_at(form, point, n, &v)) {
				return false;
			}
			*lo = v < *lo ? v : *lo;
			*hi = v > *hi ? v : *hi;
		}
		return true;
	}
	struct hn_op outer = *op;

	outer.n_spatial = n < op->n_spatial ? n : op->n_spatial;
	outer.n_reduce = n - outer.n_spatial;
	struct hn_range *r = hn_range_new(&outer, a);
	struct hn_bound b = hn_range_of(r, form, HN_RANGE_INF, -HN_RANGE_INF);

	hn_range_free(r);
	*lo = b.lo;
	*hi = b.hi;
	return b.lo > -HN_RANGE_INF && b.hi < HN_RANGE_INF;
}

const char *hn_ragged_axis(const struct hn_op *op, uint32_t i, const char *name, int64_t min,
			   const struct hn_expr *form, struct hn_arena *a, int64_t *ret_most,
			   const struct hn_expr **ret_within)
{
	int64_t lo, hi;

	*ret_within = NULL;
	if (!is_affine(form)) {
		return "the extent is not affine: it may have sums of axes, multiples and "
		       "quotients by constants, min, max and choices, and no data";
	}
	form = hn_expr_map(form, round_up, NULL, a);
	if (!values(op, i, form, a, &lo, &hi)) {
		return "the extent is not bounded";
	}
	if (hi < 1) {
		return "the extent is below 1 everywhere";
	}
	*ret_most = hi;
	if (lo < hi) {
		const struct hn_expr *axis = hn_expr_var((int32_t)i, HN_I32, name, a);
		const struct hn_expr *end = hn_expr_binary(
			HN_EXPR_ADD, form, hn_expr_int(min, form->dtype, a), a);

		*ret_within = hn_expr_binary(HN_EXPR_LT, axis, end, a);
	}
	return NULL;
}

const struct hn_expr *hn_ragged_both(const struct hn_expr *x, const struct hn_expr *y,
				     struct hn_arena *a)
{
	return x == NULL ? y : y == NULL ? x : hn_expr_binary(HN_EXPR_AND, x, y, a);
}

/* -- how many points there are ------------------------------------------------------------ */

/* The last axis of the condition, if each of its parts that uses it says `axis < end`, or <=. */
struct ends {
	int32_t axis; /* -1: none */
	int64_t end;  /* of its values at the current point */
};

static bool is_end(const struct hn_expr *c, int32_t axis)
{
	return (c->op == HN_EXPR_LT || c->op == HN_EXPR_LE) && c->arg[0]->op == HN_EXPR_VAR && c->arg[0]->ref == axis &&
	       !hn_expr_uses(c->arg[1], axis);
}

static bool has_ends(const struct hn_expr *c, int32_t axis)
{
	if (c->op == HN_EXPR_AND) {
		return has_ends(c->arg[0], axis) && has_ends(c->arg[1], axis);
	}
	return !hn_expr_uses(c, axis) || is_end(c, axis);
}

/* Whether the condition can hold at the point, ends aside, which are noted; false: it is not
 * known. */
static bool look(const struct hn_expr *c, struct ends *x, const int64_t *point, uint32_t n,
		 int64_t *ret)
{
	int64_t v = 0;

	if (x->axis >= 0 && c->op == HN_EXPR_AND) {
		bool known = look(c->arg[0], x, point, n, ret) && look(c->arg[1], x, point, n, &v);

		*ret = known && *ret && v;
		return known;
	}
	if (x->axis >= 0 && is_end(c, x->axis)) {
		bool known = hn_expr_at(c->arg[1], point, n, &v);

		v += known && c->op == HN_EXPR_LE;
		x->end = known && v < x->end ? v : x->end;
		*ret = 1;
		return known;
	}
	return hn_expr_at(c, point, n, ret);
}

/* The share of the last axis for which the condition holds where the others stand at point;
 * below 0: it is not known. */
static double share_at(const struct hn_op *op, const struct hn_expr *c, int32_t last,
		       const int64_t *point)
{
	const struct hn_axis *x = last >= 0 ? &op->axis[last] : NULL;
	struct ends ends = { last, x != NULL ? x->min + x->extent : 0 };
	int64_t holds;

	if (!look(c, &ends, point, op->n_spatial + op->n_reduce, &holds)) {
		return -1;
	}
	if (x == NULL || !holds) {
		return (double)(holds != 0);
	}
	return ends.end > x->min ? (double)(ends.end - x->min) / (double)x->extent : 0;
}

double hn_ragged_share(const struct hn_op *op)
{
	const struct hn_expr *c = op->reduce != NULL ? op->reduce->condition : NULL;
	struct hn_rng rng = hn_rng_stream(13, op->n_spatial, op->n_reduce, 0);
	int64_t point[HN_DAG_MAX_ITERS], n_point = 0;
	uint32_t n = op->n_spatial + op->n_reduce;
	int32_t last = (int32_t)n - 1;
	double sum = 0;

	if (c == NULL) {
		return 1;
	}
	while (last >= 0 && !hn_expr_uses(c, last)) {
		last--;
	}
	last = last >= 0 && has_ends(c, last) ? last : -1;
	int64_t points = begin(op, n, c, point) / (last >= 0 ? op->axis[last].extent : 1);
	bool all = points <= MAX_POINTS, more = true;

	while (more) {
		for (uint32_t i = 0; i < n && !all; i++) {
			uint64_t extent = (uint64_t)op->axis[i].extent;

			point[i] = op->axis[i].min + (int64_t)hn_rng_below(&rng, extent);
		}
		double share = share_at(op, c, last, point);

		if (share < 0) {
			return 1;
		}
		sum += share;
		n_point++;
		more = all ? advance(op, n, c, last, point) : n_point < MAX_POINTS;
	}
	return sum / (double)n_point;
}
