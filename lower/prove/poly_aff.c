/* lower/prove/poly_aff.c -- expressions as isl affine functions.  See poly_aff.h. */
#include "lower/prove/poly_aff.h"

#include <isl/local_space.h>
#include <isl/space.h>
#include <isl/val.h>

static bool is_constant(const struct hn_expr *e)
{
	return e->op == HN_EXPR_INT;
}

static bool is_comparison(const struct hn_expr *e)
{
	return e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE;
}

/* Whether hn_poly_condition is exact for e. */
static bool is_exact_condition(const struct hn_expr *e, const struct hn_expr *const *axis)
{
	switch (e->op) {
	case HN_EXPR_INT:
		return true;
	case HN_EXPR_NOT:
		return is_exact_condition(e->arg[0], axis);
	case HN_EXPR_AND:
	case HN_EXPR_OR:
		return is_exact_condition(e->arg[0], axis) &&
		       is_exact_condition(e->arg[1], axis);
	default:
		return is_comparison(e) && hn_poly_is_affine(e->arg[0], axis) &&
		       hn_poly_is_affine(e->arg[1], axis);
	}
}

bool hn_poly_is_affine(const struct hn_expr *e, const struct hn_expr *const *axis)
{
	switch (e->op) {
	case HN_EXPR_INT:
		return true;
	case HN_EXPR_VAR:
		if (hn_expr_is_size(e)) {
			return true;
		}
		if (e->ref >= HN_SLOT_LHS) {
			return false;
		}
		return !axis || (axis[e->ref] && hn_poly_is_affine(axis[e->ref], NULL));
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
	case HN_EXPR_MIN:
	case HN_EXPR_MAX:
		return hn_poly_is_affine(e->arg[0], axis) &&
		       hn_poly_is_affine(e->arg[1], axis);
	case HN_EXPR_MUL:
		return (is_constant(e->arg[0]) || is_constant(e->arg[1])) &&
		       hn_poly_is_affine(e->arg[0], axis) &&
		       hn_poly_is_affine(e->arg[1], axis);
	case HN_EXPR_FLOORDIV:
	case HN_EXPR_FLOORMOD:
		return is_constant(e->arg[1]) && e->arg[1]->u.i > 0 &&
		       hn_poly_is_affine(e->arg[0], axis);
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		return is_exact_condition(e->arg[0], axis) &&
		       hn_poly_is_affine(e->arg[1], axis) &&
		       hn_poly_is_affine(e->arg[2], axis);
	case HN_EXPR_CAST:
		return hn_dtype_class(e->dtype) != HN_CLASS_FLOAT &&
		       hn_dtype_bytes(e->dtype) >= 4 &&
		       hn_poly_is_affine(e->arg[0], axis);
	default:
		return false;
	}
}

static isl_local_space *local_space(const struct hn_poly_space *s)
{
	return isl_local_space_from_space(isl_space_copy(s->space));
}

static isl_val *value(const struct hn_poly_space *s, int64_t v)
{
	return isl_val_int_from_si(isl_space_get_ctx(s->space), v);
}

static isl_aff *constant(const struct hn_poly_space *s, int64_t v)
{
	return isl_aff_set_constant_val(isl_aff_zero_on_domain(local_space(s)),
					value(s, v));
}

/* Digits [first, end) of loop l, divided by the weight of the last of them; NULL where the loop
 * is not around the statement. */
static isl_aff *digits(const struct hn_poly_space *s, int32_t l, uint32_t first,
		       uint32_t end)
{
	const struct hn_radix *r = &s->radix[l];
	isl_aff *sum = isl_aff_zero_on_domain(local_space(s));

	if (s->first_dim[l] < 0) {
		return isl_aff_free(sum);
	}
	for (uint32_t i = first; i < end; i++) {
		sum = isl_aff_set_coefficient_val(
			sum, isl_dim_in, s->first_dim[l] + (int)i,
			value(s, r->weight[i] / r->weight[end - 1]));
	}
	return sum;
}

static isl_pw_aff *division(const struct hn_poly_space *s, const struct hn_expr *e,
			    const struct hn_expr *const *axis)
{
	uint32_t first, end;
	isl_pw_aff *x;
	isl_val *c;
	int32_t l;

	if (!axis && hn_radix_division(s->radix, e, &l, &first, &end)) {
		return isl_pw_aff_from_aff(digits(s, l, first, end));
	}
	x = hn_poly_value(s, e->arg[0], axis);
	c = value(s, e->arg[1]->u.i);
	return e->op == HN_EXPR_FLOORDIV
		       ? isl_pw_aff_floor(isl_pw_aff_scale_down_val(x, c))
		       : isl_pw_aff_mod_val(x, c);
}

static isl_pw_aff *product(const struct hn_poly_space *s, const struct hn_expr *e,
			   const struct hn_expr *const *axis)
{
	bool first = is_constant(e->arg[0]);

	return isl_pw_aff_scale_val(hn_poly_value(s, e->arg[first], axis),
				    value(s, e->arg[!first]->u.i));
}

static isl_pw_aff *selection(const struct hn_poly_space *s, const struct hn_expr *e,
			     const struct hn_expr *const *axis)
{
	isl_pw_aff *side[2];

	for (int i = 0; i < 2; i++) {
		side[i] = isl_pw_aff_intersect_domain(
			hn_poly_value(s, e->arg[1 + i], axis),
			hn_poly_condition(s, e->arg[0], i == 0, axis));
	}
	return isl_pw_aff_union_add(side[0], side[1]);
}

isl_pw_aff *hn_poly_value(const struct hn_poly_space *s, const struct hn_expr *e,
			  const struct hn_expr *const *axis)
{
	switch (e->op) {
	case HN_EXPR_INT:
		return isl_pw_aff_from_aff(constant(s, e->u.i));
	case HN_EXPR_VAR:
		if (hn_expr_is_size(e)) {
			return isl_pw_aff_from_aff(isl_aff_set_coefficient_si(
				isl_aff_zero_on_domain(local_space(s)), isl_dim_param,
				e->ref - HN_SLOT_SIZE, 1));
		}
		return axis ? hn_poly_value(s, axis[e->ref], NULL)
			    : isl_pw_aff_from_aff(
				      digits(s, e->ref, 0, s->radix[e->ref].n_digit));
	case HN_EXPR_ADD:
		return isl_pw_aff_add(hn_poly_value(s, e->arg[0], axis),
				      hn_poly_value(s, e->arg[1], axis));
	case HN_EXPR_SUB:
		return isl_pw_aff_sub(hn_poly_value(s, e->arg[0], axis),
				      hn_poly_value(s, e->arg[1], axis));
	case HN_EXPR_MIN:
		return isl_pw_aff_min(hn_poly_value(s, e->arg[0], axis),
				      hn_poly_value(s, e->arg[1], axis));
	case HN_EXPR_MAX:
		return isl_pw_aff_max(hn_poly_value(s, e->arg[0], axis),
				      hn_poly_value(s, e->arg[1], axis));
	case HN_EXPR_MUL:
		return product(s, e, axis);
	case HN_EXPR_FLOORDIV:
	case HN_EXPR_FLOORMOD:
		return division(s, e, axis);
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		return selection(s, e, axis);
	case HN_EXPR_CAST:
		return hn_poly_value(s, e->arg[0], axis);
	default:
		hn_bug(__FILE__, __LINE__, "not quasi-affine");
	}
}

static isl_set *everything(const struct hn_poly_space *s)
{
	return isl_set_universe(isl_space_copy(s->space));
}

static isl_set *compare(enum hn_expr_op op, isl_pw_aff *x, isl_pw_aff *y)
{
	switch (op) {
	case HN_EXPR_EQ:
		return isl_pw_aff_eq_set(x, y);
	case HN_EXPR_NE:
		return isl_pw_aff_ne_set(x, y);
	case HN_EXPR_LT:
		return isl_pw_aff_lt_set(x, y);
	case HN_EXPR_LE:
		return isl_pw_aff_le_set(x, y);
	case HN_EXPR_GT:
		return isl_pw_aff_gt_set(x, y);
	default:
		return isl_pw_aff_ge_set(x, y);
	}
}

static enum hn_expr_op opposite(enum hn_expr_op op)
{
	switch (op) {
	case HN_EXPR_EQ:
		return HN_EXPR_NE;
	case HN_EXPR_NE:
		return HN_EXPR_EQ;
	case HN_EXPR_LT:
		return HN_EXPR_GE;
	case HN_EXPR_LE:
		return HN_EXPR_GT;
	case HN_EXPR_GT:
		return HN_EXPR_LE;
	default:
		return HN_EXPR_LT;
	}
}

isl_set *hn_poly_condition(const struct hn_poly_space *s, const struct hn_expr *e,
			   bool positive, const struct hn_expr *const *axis)
{
	isl_set *x;
	isl_set *y;

	if (e->op == HN_EXPR_INT) {
		return (e->u.i != 0) == positive
			       ? everything(s)
			       : isl_set_empty(isl_space_copy(s->space));
	}
	if (e->op == HN_EXPR_NOT) {
		return hn_poly_condition(s, e->arg[0], !positive, axis);
	}
	if (e->op == HN_EXPR_AND || e->op == HN_EXPR_OR) {
		x = hn_poly_condition(s, e->arg[0], positive, axis);
		y = hn_poly_condition(s, e->arg[1], positive, axis);
		return (e->op == HN_EXPR_AND) == positive ? isl_set_intersect(x, y)
							  : isl_set_union(x, y);
	}
	if (is_comparison(e) && is_exact_condition(e, axis)) {
		return compare(positive ? e->op : opposite(e->op),
			       hn_poly_value(s, e->arg[0], axis),
			       hn_poly_value(s, e->arg[1], axis));
	}
	return everything(s);
}

isl_set *hn_poly_loop_range(const struct hn_poly_space *s, int32_t l)
{
	const struct hn_radix *r = &s->radix[l];
	isl_set *set = everything(s);

	for (uint32_t k = 0; k < r->n_digit; k++) {
		int dim = s->first_dim[l] + (int)k;

		set = isl_set_lower_bound_si(set, isl_dim_set, (unsigned)dim, 0);
		set = isl_set_upper_bound_val(
			set, isl_dim_set, (unsigned)dim,
			value(s, hn_digit_range(r, k) - 1));
	}
	if (r->extent % r->weight[0] != 0) {
		set = isl_set_intersect(set, isl_aff_lt_set(digits(s, l, 0, r->n_digit),
							    constant(s, r->extent)));
	}
	return set;
}

isl_set *hn_poly_below(isl_set *set, uint32_t dim, int64_t min,
		       const struct hn_expr *form)
{
	const struct hn_poly_space s = { .space = isl_set_get_space(set) };
	isl_pw_aff *x = isl_pw_aff_var_on_domain(local_space(&s), isl_dim_set, dim);
	isl_pw_aff *end = isl_pw_aff_add(hn_poly_value(&s, form, NULL),
					 isl_pw_aff_from_aff(constant(&s, min)));

	isl_space_free(s.space);
	return isl_set_intersect(set, isl_pw_aff_lt_set(x, end));
}
