/* loopstate/dag/range_form.c -- from integer expressions to linear forms over atoms.
 *
 * What is not linear becomes an atom: a quotient by a constant with its two defining
 * inequalities, min and max with theirs, anything else with an interval.  Values that
 * come from data or may wrap are known by their type alone.
 */
#include "loopstate/dag/range_priv.h"

static void dtype_interval(enum hn_dtype t, int64_t *ret_lo, int64_t *ret_hi)
{
	uint32_t bits = 8 * hn_dtype_bytes(t);
	bool is_signed = hn_dtype_class(t) == HN_CLASS_SIGNED;

	if (t == HN_BOOL) {
		*ret_lo = 0;
		*ret_hi = 1;
		return;
	}
	if (bits == 64 || hn_dtype_class(t) == HN_CLASS_FLOAT) {
		*ret_lo = hn_dtype_class(t) == HN_CLASS_UNSIGNED ? 0 : -HN_RANGE_INF;
		*ret_hi = HN_RANGE_INF;
		return;
	}
	*ret_lo = is_signed ? -((int64_t)1 << (bits - 1)) : 0;
	*ret_hi = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
}

/* The atom of that key, made with [lo, hi] if new; -1 when there is no room. */
int32_t hn_range_atom(struct hn_range *r, const struct hn_expr *key, int64_t divisor,
		      int64_t lo, int64_t hi, bool *ret_new)
{
	*ret_new = false;
	for (uint32_t i = 0; i < r->n_atom; i++) {
		if (r->atom[i].divisor == divisor && hn_expr_equal(r->atom[i].key, key)) {
			return (int32_t)i;
		}
	}
	if (r->n_atom == MAX_ATOM) {
		return -1;
	}
	*ret_new = true;
	r->atom[r->n_atom] = (struct atom){ key, divisor, lo, hi, r->data };
	return (int32_t)r->n_atom++;
}

/* e as an atom of its own, known to lie in [lo, hi]. */
static struct hn_form opaque(struct hn_range *r, const struct hn_expr *e, int64_t lo,
			     int64_t hi)
{
	bool fresh;
	int32_t atom = hn_range_atom(r, e, 0, lo, hi, &fresh);
	struct hn_form f = hn_form_interval(0, 0);

	if (atom < 0) {
		return hn_form_interval(lo, hi);
	}
	r->data = r->data || r->atom[atom].data;
	hn_form_add_term(r, &f, atom, 1);
	return f;
}

static struct hn_form unknown(struct hn_range *r, const struct hn_expr *e)
{
	int64_t lo, hi;

	dtype_interval(e->dtype, &lo, &hi);
	return opaque(r, e, lo, hi);
}

static struct hn_form unknown_data(struct hn_range *r, const struct hn_expr *e)
{
	r->data = true;
	return unknown(r, e);
}

static bool constant(const struct hn_form *f, int64_t *ret)
{
	*ret = f->lo;
	return f->n == 0 && f->lo == f->hi && hn_range_known(f->lo);
}

static int64_t floor_end(int64_t v, int64_t c)
{
	return hn_range_known(v) ? hn_floordiv(v, c) : v;
}

/* floordiv(x, c) as a form, c > 0.  x = c*y + rest with y taken out; when rest's quotient
 * is one number the result is exact, else it is an atom q with 0 <= x - c*q <= c-1. */
static struct hn_form quotient(struct hn_range *r, const struct hn_expr *key,
			       const struct hn_form *x, int64_t c)
{
	struct hn_form y = hn_form_interval(0, 0), rest = hn_form_interval(x->lo, x->hi);
	bool fresh;

	for (uint32_t i = 0; i < x->n; i++) {
		bool whole = x->term[i].coef % c == 0;

		hn_form_add_term(r, whole ? &y : &rest, x->term[i].atom,
				 whole ? x->term[i].coef / c : x->term[i].coef);
	}
	int64_t lo = floor_end(hn_form_min(r, &rest), c),
		hi = floor_end(hn_form_max(r, &rest), c);

	if (lo == hi && hn_range_known(lo)) {
		hn_form_shift(&y, lo, hi);
		return y;
	}
	int32_t q = hn_range_atom(r, key, c, floor_end(hn_form_min(r, x), c),
				  floor_end(hn_form_max(r, x), c), &fresh);

	if (q < 0) {
		return hn_form_interval(floor_end(hn_form_min(r, x), c),
					floor_end(hn_form_max(r, x), c));
	}
	struct hn_form f = hn_form_interval(0, 0);

	hn_form_add_term(r, &f, q, 1);
	if (fresh && hn_range_known(x->lo) && hn_range_known(x->hi)) {
		struct hn_form above = hn_form_combine(r, *x, &f, -c); /* x - c*q >= 0 */
		struct hn_form below =
			hn_form_scaled(r, &above, -1); /* c-1 - x + c*q >= 0 */

		hn_form_shift(&below, c - 1, c - 1);
		hn_range_add_fact(r, &above);
		hn_range_add_fact(r, &below);
	}
	return f;
}

/* Both kinds of division by a positive constant; `floor` false truncates. */
static struct hn_form form_divide(struct hn_range *r, const struct hn_expr *e, bool floor,
				  bool remainder)
{
	struct hn_form x = hn_range_form(r, e->arg[0]), d = hn_range_form(r, e->arg[1]);
	int64_t c;

	if (!constant(&d, &c) || c <= 0) {
		return unknown(r, e);
	}
	int64_t lo = hn_form_min(r, &x), hi = hn_form_max(r, &x);

	if (!floor && lo < 0) {
		if (remainder) {
			return opaque(r, e, -(c - 1), hi <= 0 ? 0 : c - 1);
		}
		return opaque(r, e, hn_range_known(lo) ? lo / c : lo,
			      hn_range_known(hi) ? hi / c : hi);
	}
	bool exact = x.lo == x.hi && hn_range_known(x.lo);

	if (remainder && !(exact && hn_range_known(lo) && hn_range_known(hi))) {
		return opaque(r, e, 0, c - 1);
	}
	struct hn_form q = quotient(r, e->arg[0], &x, c);

	return remainder ? hn_form_combine(r, x, &q, -c) : q;
}

static struct hn_form form_multiply(struct hn_range *r, const struct hn_expr *e)
{
	struct hn_form x = hn_range_form(r, e->arg[0]), y = hn_range_form(r, e->arg[1]);
	int64_t c, lo, hi, end[4];

	if (constant(&y, &c)) {
		return hn_form_scaled(r, &x, c);
	}
	if (constant(&x, &c)) {
		return hn_form_scaled(r, &y, c);
	}
	int64_t xl = hn_form_min(r, &x), xh = hn_form_max(r, &x), yl = hn_form_min(r, &y),
		yh = hn_form_max(r, &y);

	if (!hn_range_known(xl) || !hn_range_known(xh) || !hn_range_known(yl) ||
	    !hn_range_known(yh)) {
		return opaque(r, e, -HN_RANGE_INF, HN_RANGE_INF);
	}
	hn_form_scale_interval(xl, yl, yh, &end[0], &end[1]);
	hn_form_scale_interval(xh, yl, yh, &end[2], &end[3]);
	lo = end[0] < end[2] ? end[0] : end[2];
	hi = end[1] > end[3] ? end[1] : end[3];
	return opaque(r, e, lo, hi);
}

static struct hn_form form_extreme(struct hn_range *r, const struct hn_expr *e)
{
	struct hn_form x = hn_range_form(r, e->arg[0]), y = hn_range_form(r, e->arg[1]);
	int64_t xl = hn_form_min(r, &x), xh = hn_form_max(r, &x), yl = hn_form_min(r, &y),
		yh = hn_form_max(r, &y);
	bool is_min = e->op == HN_EXPR_MIN;
	int64_t lo = is_min == (xl < yl) ? xl : yl, hi = is_min == (xh < yh) ? xh : yh;
	uint32_t n_before = r->n_atom;
	struct hn_form m = opaque(r, e, lo, hi);

	if (r->n_atom > n_before) { /* min: x - m >= 0, y - m >= 0; max: the other way */
		struct hn_form fx = hn_form_combine(
			r, hn_form_scaled(r, &x, is_min ? 1 : -1), &m, is_min ? -1 : 1);
		struct hn_form fy = hn_form_combine(
			r, hn_form_scaled(r, &y, is_min ? 1 : -1), &m, is_min ? -1 : 1);

		hn_range_add_fact(r, &fx);
		hn_range_add_fact(r, &fy);
	}
	return m;
}

static void assume_all(struct hn_range *r, const struct hn_expr *e, bool holds)
{
	if (e->op == HN_EXPR_NOT) {
		assume_all(r, e->arg[0], !holds);
	} else if ((e->op == HN_EXPR_AND && holds) || (e->op == HN_EXPR_OR && !holds)) {
		assume_all(r, e->arg[0], holds);
		assume_all(r, e->arg[1], holds);
	} else {
		hn_range_assume(r, e, holds);
	}
}

/* The values of a select or if: each side under its condition. */
static struct hn_form form_choose(struct hn_range *r, const struct hn_expr *e)
{
	int64_t lo = HN_RANGE_INF, hi = -HN_RANGE_INF;

	for (uint32_t k = 1; k <= 2; k++) {
		struct hn_range_mark mark = hn_range_push(r);

		assume_all(r, e->arg[0], k == 1);
		struct hn_form f = hn_range_form(r, e->arg[k]);

		if (!r->empty) {
			int64_t l = hn_form_min(r, &f), h = hn_form_max(r, &f);

			lo = l < lo ? l : lo;
			hi = h > hi ? h : hi;
		}
		hn_range_pop(r, mark);
	}
	return lo <= hi ? opaque(r, e, lo, hi) : unknown(r, e);
}

static struct hn_form form_cast(struct hn_range *r, const struct hn_expr *e)
{
	int64_t lo, hi;

	if (hn_dtype_class(e->arg[0]->dtype) == HN_CLASS_FLOAT) {
		return unknown_data(r, e);
	}
	struct hn_form f = hn_range_form(r, e->arg[0]);

	dtype_interval(e->dtype, &lo, &hi);
	if (hn_form_min(r, &f) >= lo && hn_form_max(r, &f) <= hi) {
		return f;
	}
	return opaque(r, e, lo, hi);
}

static struct hn_form form_var(struct hn_range *r, const struct hn_expr *e)
{
	for (uint32_t i = r->n_let; i-- > 0;) {
		if (r->let[i].slot == e->ref) {
			r->data = r->data || r->let[i].data;
			return r->let[i].form;
		}
	}
	if (hn_expr_is_size(e) && r->op->sizes != NULL) {
		const struct hn_size *s = &r->op->sizes->size[e->ref - HN_SLOT_SIZE];

		return opaque(r, e, s->lo, s->hi);
	}
	return e->ref < HN_SLOT_LHS ? unknown(r, e) : unknown_data(r, e);
}

static struct hn_form form_let(struct hn_range *r, const struct hn_expr *e)
{
	hn_range_bind(r, e->ref, e->arg[0]);
	return hn_range_form(r, e->arg[1]);
}

/* f as the value of arithmetic e.  Index arithmetic is done in 64 bits; what comes from
 * data or has a narrow type may wrap, and then f says nothing. */
static struct hn_form unless_wrapped(struct hn_range *r, const struct hn_expr *e,
				     struct hn_form f)
{
	int64_t lo, hi, box_lo = hn_form_min(r, &f), box_hi = hn_form_max(r, &f);
	bool index = (e->dtype == HN_I32 || e->dtype == HN_I64) && !r->data;

	dtype_interval(e->dtype, &lo, &hi);
	if (index || (box_lo >= lo && box_hi <= hi)) {
		return f;
	}
	return opaque(r, e, box_lo < lo ? box_lo : lo, box_hi > hi ? box_hi : hi);
}

static struct hn_form form_int(struct hn_range *r, const struct hn_expr *e)
{
	if (e->dtype == HN_U64 && e->u.i < 0) {
		return unknown(r, e);
	}
	return hn_form_interval(hn_range_clamp(e->u.i), hn_range_clamp(e->u.i));
}

struct hn_form hn_range_form(struct hn_range *r, const struct hn_expr *e)
{
	struct hn_form x, y;

	switch (e->op) {
	case HN_EXPR_VAR:
		return form_var(r, e);
	case HN_EXPR_INT:
		return form_int(r, e);
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		x = hn_range_form(r, e->arg[0]);
		y = hn_range_form(r, e->arg[1]);
		return unless_wrapped(
			r, e, hn_form_combine(r, x, &y, e->op == HN_EXPR_ADD ? 1 : -1));
	case HN_EXPR_MUL:
		return unless_wrapped(r, e, form_multiply(r, e));
	case HN_EXPR_DIV:
	case HN_EXPR_TRUNCMOD:
		return form_divide(r, e, /* floor= */ false, e->op == HN_EXPR_TRUNCMOD);
	case HN_EXPR_FLOORDIV:
	case HN_EXPR_FLOORMOD:
		return form_divide(r, e, /* floor= */ true, e->op == HN_EXPR_FLOORMOD);
	case HN_EXPR_MIN:
	case HN_EXPR_MAX:
		return form_extreme(r, e);
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		return form_choose(r, e);
	case HN_EXPR_CAST:
		return form_cast(r, e);
	case HN_EXPR_LET:
		return form_let(r, e);
	case HN_EXPR_LOAD:
	case HN_EXPR_CALL:
		return unknown_data(r, e);
	default: /* booleans */
		return unknown(r, e);
	}
}
