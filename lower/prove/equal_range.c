/* lower/prove/equal_range.c -- the values an index can take, by intervals, and what they tell:
 * whether integers stay within their type, so that they mean the same as data and as an index. */
#include "base/arith.h"
#include "lower/prove/equal_int.h"

struct span {
	int64_t lo, hi;
};

static bool is_choice(const struct hn_expr *e)
{
	return e->op == HN_EXPR_SELECT || e->op == HN_EXPR_IF;
}

static bool is_positive(const struct hn_expr *e)
{
	return e->op == HN_EXPR_INT && e->u.i > 0;
}

static bool fits(uint8_t dtype, const struct span *s)
{
	return dtype == HN_I64 || (dtype == HN_I32 && s->lo >= INT32_MIN && s->hi <= INT32_MAX);
}

static bool span_of(const struct hn_eq *c, const struct hn_expr *e, bool typed, struct span *r);

static bool span_var(const struct hn_eq *c, const struct hn_expr *e, struct span *r)
{
	if (hn_expr_is_size(e)) {
		const struct hn_size *s = &c->given->sizes->size[e->ref - HN_SLOT_SIZE];

		*r = (struct span){ s->lo, s->hi };
		return true;
	}
	if (e->ref < 0 || (uint32_t)e->ref >= c->n_slot) {
		return false;
	}
	r->lo = c->slot[e->ref].min;
	return !__builtin_add_overflow(r->lo, c->slot[e->ref].extent - 1, &r->hi);
}

static bool span_product(const struct span *x, const struct span *y, struct span *r)
{
	const int64_t a[2] = { x->lo, x->hi }, b[2] = { y->lo, y->hi };

	*r = (struct span){ INT64_MAX, INT64_MIN };
	for (int i = 0; i < 4; i++) {
		int64_t v;

		if (__builtin_mul_overflow(a[i & 1], b[i >> 1], &v)) {
			return false;
		}
		r->lo = v < r->lo ? v : r->lo;
		r->hi = v > r->hi ? v : r->hi;
	}
	return true;
}

static struct span span_mod(struct span x, int64_t d)
{
	if (hn_floordiv(x.lo, d) == hn_floordiv(x.hi, d)) {
		return (struct span){ hn_floormod(x.lo, d), hn_floormod(x.hi, d) };
	}
	return (struct span){ 0, d - 1 };
}

static bool span_binary(const struct hn_eq *c, const struct hn_expr *e, bool typed,
			struct span *r)
{
	struct span x, y;

	if (!span_of(c, e->arg[0], typed, &x) || !span_of(c, e->arg[1], typed, &y)) {
		return false;
	}
	switch (e->op) {
	case HN_EXPR_ADD:
		return !__builtin_add_overflow(x.lo, y.lo, &r->lo) &&
		       !__builtin_add_overflow(x.hi, y.hi, &r->hi);
	case HN_EXPR_SUB:
		return !__builtin_sub_overflow(x.lo, y.hi, &r->lo) &&
		       !__builtin_sub_overflow(x.hi, y.lo, &r->hi);
	case HN_EXPR_MUL:
		return span_product(&x, &y, r);
	case HN_EXPR_MIN:
		*r = (struct span){ x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi };
		return true;
	case HN_EXPR_MAX:
		*r = (struct span){ x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi };
		return true;
	default:
		break;
	}
	if (!is_positive(e->arg[1])) {
		return false;
	}
	bool trunc = e->op == HN_EXPR_DIV || e->op == HN_EXPR_TRUNCMOD;

	if (trunc && x.lo < 0) {
		return false;
	}
	*r = e->op == HN_EXPR_FLOORMOD || e->op == HN_EXPR_TRUNCMOD
		     ? span_mod(x, y.lo)
		     : (struct span){ hn_floordiv(x.lo, y.lo), hn_floordiv(x.hi, y.lo) };
	return true;
}

static bool exact(const struct hn_eq *c, const struct hn_expr *e);

static bool span_of(const struct hn_eq *c, const struct hn_expr *e, bool typed, struct span *r)
{
	struct span x, y;
	bool known = false;

	if (e->dtype != HN_I32 && e->dtype != HN_I64) {
		return false;
	}
	if (e->op == HN_EXPR_INT) {
		*r = (struct span){ e->u.i, e->u.i };
		known = true;
	} else if (e->op == HN_EXPR_VAR) {
		known = span_var(c, e, r);
	} else if (e->op >= HN_EXPR_ADD && e->op <= HN_EXPR_TRUNCMOD) {
		known = span_binary(c, e, typed, r);
	} else if (e->op == HN_EXPR_CAST && !hn_eq_is_data(e)) {
		known = span_of(c, e->arg[0], typed, r);
	} else if (is_choice(e) && (!typed || exact(c, e->arg[0])) &&
		   span_of(c, e->arg[1], typed, &x) && span_of(c, e->arg[2], typed, &y)) {
		*r = (struct span){ x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi };
		known = true;
	}
	return known && (!typed || fits(e->dtype, r));
}

static bool exact(const struct hn_eq *c, const struct hn_expr *e)
{
	struct span s;

	if (e->dtype != HN_BOOL) {
		return span_of(c, e, true, &s);
	}
	if (e->op == HN_EXPR_INT) {
		return true;
	}
	bool compares = e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE;
	bool logic = e->op == HN_EXPR_AND || e->op == HN_EXPR_OR || e->op == HN_EXPR_NOT;

	for (uint32_t i = 0; i < e->n_arg && (compares || logic); i++) {
		if (!exact(c, e->arg[i])) {
			return false;
		}
	}
	return compares || logic;
}

bool hn_eq_span(const struct hn_eq *c, const struct hn_expr *e, int64_t *lo, int64_t *hi)
{
	struct span s;

	if (!span_of(c, e, false, &s)) {
		return false;
	}
	*lo = s.lo;
	*hi = s.hi;
	return true;
}

bool hn_eq_exact(const struct hn_eq *c, const struct hn_expr *e)
{
	return exact(c, e);
}

/* 1 or 0 where all values of x and y say so, else -1. */
static int decided(uint8_t op, const struct span *x, const struct span *y)
{
	switch (op) {
	case HN_EXPR_LT:
		return x->hi < y->lo ? 1 : x->lo >= y->hi ? 0 : -1;
	case HN_EXPR_LE:
		return x->hi <= y->lo ? 1 : x->lo > y->hi ? 0 : -1;
	case HN_EXPR_GT:
		return decided(HN_EXPR_LT, y, x);
	case HN_EXPR_GE:
		return decided(HN_EXPR_LE, y, x);
	case HN_EXPR_EQ:
		return x->hi < y->lo || y->hi < x->lo		 ? 0
		       : x->lo == y->hi && x->hi == y->lo ? 1
								 : -1;
	default:
		return x->hi < y->lo || y->hi < x->lo ? 1 : -1;
	}
}

static const struct hn_expr *ranged_number(struct hn_eq *c, const struct hn_expr *e)
{
	struct span s, x;
	uint8_t op = e->op == HN_EXPR_DIV	 ? HN_EXPR_FLOORDIV
		     : e->op == HN_EXPR_TRUNCMOD ? HN_EXPR_FLOORMOD
						 : e->op;

	if (!span_of(c, e, false, &s)) {
		return e;
	}
	if (s.lo == s.hi) {
		return hn_expr_int(s.lo, (enum hn_dtype)e->dtype, c->arena);
	}
	if (op == HN_EXPR_FLOORMOD && is_positive(e->arg[1]) &&
	    span_of(c, e->arg[0], false, &x) && x.lo >= 0 && x.hi < e->arg[1]->u.i) {
		return e->arg[0];
	}
	if (op != e->op) { /* what truncates something that is not negative: it has a span */
		struct hn_expr like = *e;

		like.op = op;
		return hn_expr_with_args(&like, e->arg, e->n_arg, c->arena);
	}
	return e;
}

const struct hn_expr *hn_eq_ranged(struct hn_eq *c, const struct hn_expr *e, bool index)
{
	bool compares = e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE;
	struct span x, y;
	int holds;

	if (e->n_arg == 0 || e->op == HN_EXPR_LOAD || e->op == HN_EXPR_LET ||
	    (!index && !exact(c, e))) {
		return e;
	}
	if (e->dtype == HN_I32 || e->dtype == HN_I64) {
		return ranged_number(c, e);
	}
	if (!compares || !span_of(c, e->arg[0], false, &x) ||
	    !span_of(c, e->arg[1], false, &y)) {
		return e;
	}
	holds = decided(e->op, &x, &y);
	return holds < 0 ? e : hn_expr_int(holds, HN_BOOL, c->arena);
}
