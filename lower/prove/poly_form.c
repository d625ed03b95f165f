/* lower/prove/poly_form.c -- linear forms without isl.  See poly_form.h. */
#include "lower/prove/poly_form.h"

#include <string.h>

static bool add_product(int64_t *sum, int64_t x, int64_t y)
{
	int64_t p;

	return !__builtin_mul_overflow(x, y, &p) && !__builtin_add_overflow(*sum, p, sum);
}

/* ret += mul * (digits [first, end) of loop l, divided by the weight of the last). */
static bool add_digits(const struct hn_poly_digits *s, int32_t l, uint32_t first,
		       uint32_t end, int64_t mul, struct hn_poly_form *ret)
{
	const struct hn_radix *r = &s->radix[l];

	for (uint32_t i = first; i < end; i++) {
		int32_t d = s->first_dim[l] + (int32_t)i;

		if (d < 0 || d >= HN_POLY_FORM_DIMS ||
		    !add_product(&ret->coef[d], mul, r->weight[i] / r->weight[end - 1])) {
			return false;
		}
		ret->range[d] = hn_digit_range(r, i);
	}
	return true;
}

static bool is_constant(const struct hn_expr *e)
{
	return e->op == HN_EXPR_INT;
}

static bool add_product_of(const struct hn_poly_digits *s, const struct hn_expr *e,
			   const struct hn_expr *const *axis, int64_t mul,
			   struct hn_poly_form *ret)
{
	bool first = is_constant(e->arg[0]);
	int64_t scaled;

	return (first || is_constant(e->arg[1])) &&
	       !__builtin_mul_overflow(mul, e->arg[!first]->u.i, &scaled) &&
	       hn_poly_form_add(s, e->arg[first], axis, scaled, ret);
}

bool hn_poly_form_add(const struct hn_poly_digits *s, const struct hn_expr *e,
		      const struct hn_expr *const *axis, int64_t mul,
		      struct hn_poly_form *ret)
{
	uint32_t first, end;
	int32_t l;

	if (mul == INT64_MIN) {
		return false;
	}
	switch (e->op) {
	case HN_EXPR_INT:
		return add_product(&ret->c, mul, e->u.i);
	case HN_EXPR_VAR:
		if (e->ref >= HN_SLOT_LHS) {
			return false;
		}
		if (axis) {
			return axis[e->ref] &&
			       hn_poly_form_add(s, axis[e->ref], NULL, mul, ret);
		}
		return add_digits(s, e->ref, 0, s->radix[e->ref].n_digit, mul, ret);
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		return hn_poly_form_add(s, e->arg[0], axis, mul, ret) &&
		       hn_poly_form_add(s, e->arg[1], axis,
					e->op == HN_EXPR_ADD ? mul : -mul, ret);
	case HN_EXPR_MUL:
		return add_product_of(s, e, axis, mul, ret);
	case HN_EXPR_FLOORDIV:
	case HN_EXPR_FLOORMOD:
		return !axis && hn_radix_division(s->radix, e, &l, &first, &end) &&
		       add_digits(s, l, first, end, mul, ret);
	default:
		return false;
	}
}

bool hn_poly_form_within(const struct hn_poly_form *f, int64_t lo, int64_t hi)
{
	int64_t least = f->c, most = f->c;

	for (uint32_t d = 0; d < HN_POLY_FORM_DIMS; d++) {
		int64_t coef = f->coef[d];

		if (coef && !add_product(coef < 0 ? &least : &most, coef, f->range[d] - 1)) {
			return false;
		}
	}
	return least >= lo && most <= hi;
}

/* Whether f's digits that are not known follow from its value; then they become known. */
static bool determine(const struct hn_poly_form *f, bool *known, uint32_t n_dim)
{
	bool next[HN_POLY_FORM_DIMS], any = false;
	int64_t below = 0; /* what the digits looked at can make together */

	memcpy(next, known, sizeof(next));
	for (;;) {
		uint32_t least = n_dim;

		for (uint32_t d = 0; d < n_dim; d++) {
			if (!next[d] && f->coef[d] > 0 &&
			    (least == n_dim || f->coef[d] < f->coef[least])) {
				least = d;
			}
			if (!next[d] && f->coef[d] < 0) {
				return false;
			}
		}
		if (least == n_dim) {
			break;
		}
		if (f->coef[least] <= below ||
		    !add_product(&below, f->coef[least], f->range[least] - 1)) {
			return false;
		}
		next[least] = any = true;
	}
	memcpy(known, next, sizeof(next));
	return any;
}

bool hn_poly_forms_injective(const struct hn_poly_form *f, uint32_t n, uint32_t n_known,
			     const int64_t *range, uint32_t n_dim)
{
	bool known[HN_POLY_FORM_DIMS] = { false }, again = true;

	if (n_dim > HN_POLY_FORM_DIMS) {
		return false;
	}
	for (uint32_t d = 0; d < n_dim; d++) {
		known[d] = d < n_known || range[d] == 1;
	}
	while (again) {
		again = false;
		for (uint32_t i = 0; i < n; i++) {
			again = determine(&f[i], known, n_dim) || again;
		}
	}
	for (uint32_t d = 0; d < n_dim; d++) {
		if (!known[d]) {
			return false;
		}
	}
	return true;
}
