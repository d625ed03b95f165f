/* loopstate/nest/digit_form.c -- sparse linear forms over digits.  See digit_form.h. */
#include "loopstate/nest/digit_form.h"

#include <stddef.h>
#include <string.h>

#include "base/arith.h"

#define FAR ((int64_t)1 << 60) /* nothing that is indexed is this large */

static bool fits(int64_t v)
{
	return v > -FAR && v < FAR;
}

static bool add_product(int64_t *sum, int64_t x, int64_t y)
{
	int64_t p;

	return !__builtin_mul_overflow(x, y, &p) &&
	       !__builtin_add_overflow(*sum, p, sum) && fits(*sum);
}

void hn_digit_set_loop(struct hn_digit_space *s, int32_t loop, uint32_t depth)
{
	const struct hn_radix *r = &s->radix[loop];

	for (uint32_t k = 0; k < r->n_digit; k++) {
		s->digit[s->first[loop] + (int32_t)k] = (struct hn_digit){
			.range = hn_digit_range(r, k),
			.depth = depth,
			.ragged = r->extent % r->weight[0] != 0,
		};
	}
}

static bool add_constant(struct hn_digit_form *f, int64_t lo, int64_t hi, int64_t mul)
{
	return add_product(&f->lo, mul < 0 ? hi : lo, mul) &&
	       add_product(&f->hi, mul < 0 ? lo : hi, mul);
}

static bool add_term(struct hn_digit_form *f, uint32_t digit, int64_t coef)
{
	for (uint32_t i = 0; i < f->n; i++) {
		if (f->term[i].digit == digit) {
			f->term[i].coef += coef;
			if (f->term[i].coef == 0) {
				f->term[i] = f->term[--f->n];
			}
			return fits(coef);
		}
	}
	if (f->n == HN_DIGIT_FORM_TERMS || !fits(coef)) {
		return false;
	}
	f->term[f->n++] = (struct hn_digit_term){ digit, coef };
	return true;
}

bool hn_digit_form_add(const struct hn_digit_form *f, int64_t mul,
		       struct hn_digit_form *ret)
{
	for (uint32_t i = 0; i < f->n; i++) {
		int64_t coef = 0;

		if (!add_product(&coef, f->term[i].coef, mul) ||
		    !add_term(ret, f->term[i].digit, coef)) {
			return false;
		}
	}
	return add_constant(ret, f->lo, f->hi, mul);
}

bool hn_digit_form_range(const struct hn_digit_space *s, const struct hn_digit_form *f,
		    int64_t *ret_lo, int64_t *ret_hi)
{
	*ret_lo = f->lo;
	*ret_hi = f->hi;
	for (uint32_t i = 0; i < f->n; i++) {
		int64_t coef = f->term[i].coef;

		if (!add_product(coef < 0 ? ret_lo : ret_hi, coef,
				 s->digit[f->term[i].digit].range - 1)) {
			return false;
		}
	}
	return true;
}

bool hn_digit_form_within(const struct hn_digit_space *s, const struct hn_digit_form *f,
		     int64_t lo, int64_t hi)
{
	int64_t least, most;

	return hn_digit_form_range(s, f, &least, &most) && least >= lo && most <= hi;
}

bool hn_digit_form_tell(const struct hn_digit_space *s, const struct hn_digit_form *f,
			uint32_t first, bool *told)
{
	struct hn_digit_term term[HN_DIGIT_FORM_TERMS]; /* not known yet, the largest first */
	int64_t below = 0;				/* what they can make together */
	bool any = false;
	uint32_t n = 0;

	if (f->lo != f->hi) {
		return false;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		const struct hn_digit *d = &s->digit[f->term[i].digit];
		uint32_t k = n;

		if ((d->depth < first && !d->of) || told[f->term[i].digit]) {
			continue;
		}
		if (f->term[i].coef < 0) {
			return false;
		}
		for (; k > 0 && term[k - 1].coef < f->term[i].coef; k--) {
			term[k] = term[k - 1];
		}
		term[k] = f->term[i];
		n++;
		below += hn_mul_sat(f->term[i].coef, d->range - 1);
		if (below >= HN_EXTENT_MAX) {
			return false;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct hn_digit *d = &s->digit[term[i].digit];

		below -= term[i].coef * (d->range - 1);
		if (term[i].coef <= below) {
			return any;
		}
		told[term[i].digit] = any = true;
		if (d->of) {
			hn_digit_form_tell(s, d->of, first, told);
		}
	}
	return any;
}

void hn_digit_form_copy(struct hn_digit_form *ret, const struct hn_digit_form *f)
{
	memcpy(ret, f, offsetof(struct hn_digit_form, term) + f->n * sizeof(f->term[0]));
}

const struct hn_digit_form *hn_digit_form_keep(const struct hn_digit_form *f,
					  struct hn_arena *a)
{
	size_t bytes = offsetof(struct hn_digit_form, term) + f->n * sizeof(f->term[0]);
	struct hn_digit_form *ret = hn_arena_alloc(a, bytes);

	memcpy(ret, f, bytes);
	return ret;
}

/* Digits [first, end) of loop l, divided by the weight of the last of them. */
static bool add_digits(const struct hn_digit_space *s, int32_t l, uint32_t first,
		       uint32_t end, int64_t mul, struct hn_digit_form *ret)
{
	const struct hn_radix *r = &s->radix[l];

	if (s->first[l] < 0) {
		return false;
	}
	for (uint32_t i = first; i < end; i++) {
		uint32_t d = (uint32_t)s->first[l] + i;
		int64_t coef = 0;

		if (!add_product(&coef, mul, r->weight[i] / r->weight[end - 1])) {
			return false;
		}
		if (s->digit[d].range > 1 && !add_term(ret, d, coef)) {
			return false;
		}
	}
	return true;
}

/* A quotient or remainder by c > 0 of any form: floor((c * whole + rest) / c) is whole +
 * floor(rest / c), of which the latter is an interval, or one number. */
static bool add_division(const struct hn_digit_space *s, const struct hn_digit_form *x,
			 int64_t c, bool remainder, int64_t mul,
			 struct hn_digit_form *ret)
{
	struct hn_digit_form whole, rest;
	int64_t lo, hi;

	hn_digit_form_zero(&whole);
	rest.n = 0;
	rest.lo = x->lo;
	rest.hi = x->hi;
	for (uint32_t i = 0; i < x->n; i++) {
		bool divides = x->term[i].coef % c == 0;

		if (!add_term(divides ? &whole : &rest, x->term[i].digit,
			      divides ? x->term[i].coef / c : x->term[i].coef)) {
			return false;
		}
	}
	if (!hn_digit_form_range(s, &rest, &lo, &hi)) {
		return false;
	}
	int64_t first = hn_floordiv(lo, c), last = hn_floordiv(hi, c);

	if (!remainder) {
		return hn_digit_form_add(&whole, mul, ret) &&
		       add_constant(ret, first, last, mul);
	}
	return first == last ? hn_digit_form_add(&rest, mul, ret) &&
				       add_constant(ret, -first * c, -first * c, mul)
			     : add_constant(ret, 0, c - 1, mul);
}

static bool is_constant(const struct hn_expr *e)
{
	return e->op == HN_EXPR_INT;
}

static bool form_of(const struct hn_digit_space *s, const struct hn_expr *e,
		    const struct hn_digit_form *const *axis, struct hn_digit_form *ret)
{
	hn_digit_form_zero(ret);
	return hn_digit_form_add_expr(s, e, axis, 1, ret);
}

static bool divide(const struct hn_digit_space *s, const struct hn_expr *e,
		   const struct hn_digit_form *const *axis, int64_t mul,
		   struct hn_digit_form *ret)
{
	struct hn_digit_form x;
	uint32_t first, end;
	int32_t l;

	if (!is_constant(e->arg[1]) || e->arg[1]->u.i <= 0) {
		return false;
	}
	if (!axis && hn_radix_division(s->radix, e, &l, &first, &end)) {
		return add_digits(s, l, first, end, mul, ret);
	}
	return form_of(s, e->arg[0], axis, &x) &&
	       add_division(s, &x, e->arg[1]->u.i, e->op == HN_EXPR_FLOORMOD, mul, ret);
}

/* One of two values: an interval around both. */
static bool either(const struct hn_digit_space *s, const struct hn_expr *x,
		   const struct hn_expr *y, const struct hn_digit_form *const *axis,
		   int64_t mul, struct hn_digit_form *ret)
{
	struct hn_digit_form f;
	int64_t lo[2], hi[2];

	if (!form_of(s, x, axis, &f) || !hn_digit_form_range(s, &f, &lo[0], &hi[0]) ||
	    !form_of(s, y, axis, &f) || !hn_digit_form_range(s, &f, &lo[1], &hi[1])) {
		return false;
	}
	return add_constant(ret, lo[lo[1] < lo[0]], hi[hi[1] > hi[0]], mul);
}

bool hn_digit_form_add_expr(const struct hn_digit_space *s, const struct hn_expr *e,
		  const struct hn_digit_form *const *axis, int64_t mul,
		  struct hn_digit_form *ret)
{
	bool first;

	switch (e->op) {
	case HN_EXPR_INT:
		return add_constant(ret, e->u.i, e->u.i, mul);
	case HN_EXPR_VAR:
		if (e->ref >= HN_SLOT_LHS || (axis && !axis[e->ref])) {
			return false;
		}
		return axis ? hn_digit_form_add(axis[e->ref], mul, ret)
			    : add_digits(s, e->ref, 0, s->radix[e->ref].n_digit, mul, ret);
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		return hn_digit_form_add_expr(s, e->arg[0], axis, mul, ret) &&
		       hn_digit_form_add_expr(s, e->arg[1], axis,
				    e->op == HN_EXPR_ADD ? mul : -mul, ret);
	case HN_EXPR_MUL:
		first = is_constant(e->arg[0]);
		if (!first && !is_constant(e->arg[1])) {
			return false;
		}
		return fits(e->arg[!first]->u.i) && fits(mul) &&
		       hn_mul_sat(mul < 0 ? -mul : mul,
				  e->arg[!first]->u.i < 0 ? -e->arg[!first]->u.i
							  : e->arg[!first]->u.i) < FAR &&
		       hn_digit_form_add_expr(s, e->arg[first], axis,
					      mul * e->arg[!first]->u.i, ret);
	case HN_EXPR_FLOORDIV:
	case HN_EXPR_FLOORMOD:
		return divide(s, e, axis, mul, ret);
	case HN_EXPR_MIN:
	case HN_EXPR_MAX:
		return either(s, e->arg[0], e->arg[1], axis, mul, ret);
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		return either(s, e->arg[1], e->arg[2], axis, mul, ret);
	case HN_EXPR_CAST:
		return hn_dtype_class(e->dtype) != HN_CLASS_FLOAT &&
		       hn_dtype_bytes(e->dtype) >= 4 &&
		       hn_digit_form_add_expr(s, e->arg[0], axis, mul, ret);
	default:
		return false;
	}
}
