/* loopstate/expr/simplify_range.c -- intervals of index expressions, and one loop's
 * coefficient.
 *
 * Plain interval arithmetic, saturating at +-HN_SPAN_MAX, where a bound means "not
 * known". One row of `rule` per operator; an operator without a row has no known bounds.
 */
#include "loopstate/expr/simplify.h"

#include "base/arith.h"

struct bounds {
	int64_t lo, hi;
};

struct ranges {
	const struct hn_span *loop;
	uint32_t n_loop;
};

static const struct bounds unknown = { -HN_SPAN_MAX, HN_SPAN_MAX };

static int64_t clamp(__int128 v)
{
	return v > HN_SPAN_MAX	  ? HN_SPAN_MAX
	       : v < -HN_SPAN_MAX ? -HN_SPAN_MAX
				  : (int64_t)v;
}

static bool bounded(struct bounds b)
{
	return b.lo > -HN_SPAN_MAX && b.hi < HN_SPAN_MAX;
}

static struct bounds range_of(const struct hn_expr *e, const struct ranges *r);

static struct bounds range_add(const struct hn_expr *e, const struct ranges *r)
{
	struct bounds x = range_of(e->arg[0], r), y = range_of(e->arg[1], r);

	if (!bounded(x) || !bounded(y)) {
		return unknown;
	}
	return (struct bounds){ clamp((__int128)x.lo + y.lo),
				clamp((__int128)x.hi + y.hi) };
}

static struct bounds range_sub(const struct hn_expr *e, const struct ranges *r)
{
	struct bounds x = range_of(e->arg[0], r), y = range_of(e->arg[1], r);

	if (!bounded(x) || !bounded(y)) {
		return unknown;
	}
	return (struct bounds){ clamp((__int128)x.lo - y.hi),
				clamp((__int128)x.hi - y.lo) };
}

static struct bounds range_mul(const struct hn_expr *e, const struct ranges *r)
{
	struct bounds x = range_of(e->arg[0], r), y = range_of(e->arg[1], r);

	if (!bounded(x) || !bounded(y)) {
		return unknown;
	}
	__int128 lo = (__int128)x.lo * y.lo, hi = lo;
	const int64_t pair[3][2] = { { x.lo, y.hi }, { x.hi, y.lo }, { x.hi, y.hi } };

	for (int k = 0; k < 3; k++) {
		__int128 p = (__int128)pair[k][0] * pair[k][1];

		lo = p < lo ? p : lo;
		hi = p > hi ? p : hi;
	}
	return (struct bounds){ clamp(lo), clamp(hi) };
}

static struct bounds range_min(const struct hn_expr *e, const struct ranges *r)
{
	struct bounds x = range_of(e->arg[0], r), y = range_of(e->arg[1], r);

	return (struct bounds){ x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi };
}

static struct bounds range_max(const struct hn_expr *e, const struct ranges *r)
{
	struct bounds x = range_of(e->arg[0], r), y = range_of(e->arg[1], r);

	return (struct bounds){ x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi };
}

static struct bounds range_floordiv(const struct hn_expr *e, const struct ranges *r)
{
	struct bounds x = range_of(e->arg[0], r), d = range_of(e->arg[1], r);

	if (!bounded(x) || d.lo != d.hi || d.lo <= 0) {
		return unknown;
	}
	return (struct bounds){ hn_floordiv(x.lo, d.lo), hn_floordiv(x.hi, d.lo) };
}

static struct bounds range_floormod(const struct hn_expr *e, const struct ranges *r)
{
	struct bounds x = range_of(e->arg[0], r), d = range_of(e->arg[1], r);

	if (!bounded(d) || d.lo <= 0) {
		return unknown;
	}
	if (d.lo == d.hi && bounded(x) &&
	    hn_floordiv(x.lo, d.lo) == hn_floordiv(x.hi, d.lo)) {
		return (struct bounds){ hn_floormod(x.lo, d.lo),
					hn_floormod(x.hi, d.lo) };
	}
	return (struct bounds){ 0, d.hi - 1 };
}

/* Truncating division and remainder are the flooring ones where the operand is not
 * negative. */
static struct bounds range_div(const struct hn_expr *e, const struct ranges *r)
{
	struct bounds x = range_of(e->arg[0], r), d = range_of(e->arg[1], r);

	if (!bounded(x) || d.lo != d.hi || d.lo <= 0) {
		return unknown;
	}
	return (struct bounds){ x.lo / d.lo, x.hi / d.lo };
}

static struct bounds range_truncmod(const struct hn_expr *e, const struct ranges *r)
{
	struct bounds x = range_of(e->arg[0], r), d = range_of(e->arg[1], r);

	if (!bounded(d) || d.lo <= 0) {
		return unknown;
	}
	return (struct bounds){ x.lo >= 0 ? 0 : 1 - d.hi, x.hi <= 0 ? 0 : d.hi - 1 };
}

static struct bounds range_choice(const struct hn_expr *e, const struct ranges *r)
{
	struct bounds x = range_of(e->arg[1], r), y = range_of(e->arg[2], r);

	return (struct bounds){ x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi };
}

/* The smallest and largest value of a type that a 62-bit bound can hold. */
static struct bounds range_of_type(enum hn_dtype t)
{
	uint32_t bits = hn_dtype_bytes(t) * 8;

	switch (hn_dtype_class(t)) {
	case HN_CLASS_BOOL:
		return (struct bounds){ 0, 1 };
	case HN_CLASS_UNSIGNED:
		return bits <= 32 ? (struct bounds){ 0, ((int64_t)1 << bits) - 1 }
				  : unknown;
	case HN_CLASS_SIGNED:
		return bits <= 32 ? (struct bounds){ -((int64_t)1 << (bits - 1)),
						     ((int64_t)1 << (bits - 1)) - 1 }
				  : unknown;
	case HN_CLASS_FLOAT:
		break;
	}
	return unknown;
}

/* A conversion keeps the value where the new type can hold it; otherwise only the new
 * type's own limits are known. */
static struct bounds range_cast(const struct hn_expr *e, const struct ranges *r)
{
	struct bounds t = range_of_type(e->dtype);
	struct bounds x = hn_dtype_class(e->arg[0]->dtype) == HN_CLASS_FLOAT
				  ? unknown
				  : range_of(e->arg[0], r);

	return bounded(x) && x.lo >= t.lo && x.hi <= t.hi ? x : t;
}

typedef struct bounds (*range_fn)(const struct hn_expr *e, const struct ranges *r);

static const range_fn rule[HN_N_EXPR] = {
	[HN_EXPR_ADD] = range_add,	     [HN_EXPR_SUB] = range_sub,
	[HN_EXPR_MUL] = range_mul,	     [HN_EXPR_MIN] = range_min,
	[HN_EXPR_MAX] = range_max,	     [HN_EXPR_FLOORDIV] = range_floordiv,
	[HN_EXPR_FLOORMOD] = range_floormod, [HN_EXPR_DIV] = range_div,
	[HN_EXPR_TRUNCMOD] = range_truncmod, [HN_EXPR_SELECT] = range_choice,
	[HN_EXPR_IF] = range_choice,	     [HN_EXPR_CAST] = range_cast,
};

static struct bounds range_of(const struct hn_expr *e, const struct ranges *r)
{
	enum hn_dtype_class class = hn_dtype_class(e->dtype);

	if (class == HN_CLASS_FLOAT) {
		return unknown;
	}
	if (e->op == HN_EXPR_INT) {
		int64_t v = clamp(e->u.i);

		return (struct bounds){ v, v };
	}
	if (e->op == HN_EXPR_VAR) {
		bool known = e->ref >= 0 && (uint32_t)e->ref < r->n_loop;

		if (hn_expr_is_size(e)) {
			return (struct bounds){ 1, INT32_MAX }; /* dag_check.c */
		}
		return known ? (struct bounds){ clamp(r->loop[e->ref].lo),
						clamp(r->loop[e->ref].hi) }
			     : range_of_type(e->dtype);
	}
	/* Narrow and unsigned arithmetic may wrap round: only the type bounds it. */
	bool wide = class == HN_CLASS_SIGNED && hn_dtype_bytes(e->dtype) >= 4;
	bool exact = wide || e->op == HN_EXPR_CAST;

	return rule[e->op] != NULL && exact ? rule[e->op](e, r) : range_of_type(e->dtype);
}

bool hn_expr_range(const struct hn_expr *e, const struct hn_span *loop, uint32_t n_loop,
		   int64_t *ret_lo, int64_t *ret_hi)
{
	const struct ranges r = { loop, n_loop };
	struct bounds b = range_of(e, &r);

	if (!bounded(b)) {
		return false;
	}
	*ret_lo = b.lo;
	*ret_hi = b.hi;
	return true;
}

bool hn_expr_uses(const struct hn_expr *e, int32_t slot)
{
	if (e->op == HN_EXPR_VAR && e->ref == slot) {
		return true;
	}
	for (uint32_t k = 0; k < e->n_arg; k++) {
		if (hn_expr_uses(e->arg[k], slot)) {
			return true;
		}
	}
	return false;
}

static bool linear_mul(const struct hn_expr *e, int32_t slot, int64_t *ret_coef)
{
	const struct hn_expr *x = e->arg[0], *y = e->arg[1];

	if (x->op == HN_EXPR_INT) {
		const struct hn_expr *t = x;

		x = y;
		y = t;
	}
	int64_t coef;

	if (y->op != HN_EXPR_INT || !hn_expr_linear(x, slot, &coef)) {
		return false;
	}
	return !__builtin_mul_overflow(coef, y->u.i, ret_coef);
}

bool hn_expr_linear(const struct hn_expr *e, int32_t slot, int64_t *ret_coef)
{
	int64_t x, y;

	if (!hn_expr_uses(e, slot)) {
		*ret_coef = 0;
		return true;
	}
	if (e->op == HN_EXPR_VAR) {
		*ret_coef = 1;
		return true;
	}
	if (e->op == HN_EXPR_ADD || e->op == HN_EXPR_SUB) {
		if (!hn_expr_linear(e->arg[0], slot, &x) ||
		    !hn_expr_linear(e->arg[1], slot, &y)) {
			return false;
		}
		return e->op == HN_EXPR_ADD ? !__builtin_add_overflow(x, y, ret_coef)
					    : !__builtin_sub_overflow(x, y, ret_coef);
	}
	if (e->op == HN_EXPR_MUL) {
		return linear_mul(e, slot, ret_coef);
	}
	bool widens = e->op == HN_EXPR_CAST &&
		      hn_dtype_class(e->dtype) == HN_CLASS_SIGNED &&
		      hn_dtype_bytes(e->dtype) >= 4;

	return widens && hn_expr_linear(e->arg[0], slot, ret_coef);
}
