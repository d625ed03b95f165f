/* lower/device/device_bounds.c -- whether a kernel stays within its arrays: by intervals, by the prover of
 * dag/range.h under the conditions around an access, by isl. */
#include <isl/val.h>

#include "loopstate/dag/range.h"
#include "loopstate/expr/simplify.h"
#include "lower/device/device_verify_int.h"

#define MOST_AXES 128 /* of a question to the prover */
#define MOST_LETS 32  /* around an access; it keeps 64 */

/* An interval is enough for most. */
static bool is_within_interval(const struct verify *v, const struct access *a, int64_t n)
{
	int64_t lo, hi;

	if (!hn_expr_range(a->at, v->span, v->k->n_slot, &lo, &hi)) {
		return false;
	}
	for (uint32_t d = 0; a->copy != NULL && d < a->copy->n_dim; d++) {
		int64_t far;

		if (__builtin_mul_overflow(a->copy->extent[d] - 1, a->stride[d], &far) ||
		    __builtin_add_overflow(far < 0 ? lo : hi, far, far < 0 ? &lo : &hi)) {
			return false;
		}
	}
	return lo >= 0 && hi < n;
}

/* A kernel's slots as the axes of an op, for the prover of dag/range.h. */
static struct hn_range *range_of(struct verify *v)
{
	struct hn_op *op = HN_NEW(&v->arena, struct hn_op);
	struct hn_axis *axis = HN_NEW_ARRAY(&v->arena, struct hn_axis, v->k->n_slot);

	for (uint32_t s = 0; s < v->k->n_slot; s++) {
		axis[s] = (struct hn_axis){ .name = "", .extent = v->extent[s] };
	}
	op->axis = axis;
	op->n_spatial = v->k->n_slot;
	return hn_range_new(op, &v->arena);
}

static void assume(struct verify *v, const struct hn_poly_space *s,
		   const struct hn_expr *e, bool positive)
{
	if ((e->op == HN_EXPR_AND && positive) || (e->op == HN_EXPR_OR && !positive)) {
		assume(v, s, e->arg[0], positive);
		assume(v, s, e->arg[1], positive);
	} else if (hn_verify_is_known(s, e)) {
		hn_range_assume(v->range, e, positive);
	}
}

struct named {
	const struct access *a;
	const struct lets *lets;
	bool yes;
};

static void see_named(const struct hn_expr *e, void *ctx)
{
	struct named *n = ctx;
	const struct lets *l = n->lets;

	if (e->op == HN_EXPR_LET) {
		n->yes = false;
	}
	if (e->op != HN_EXPR_VAR || n->a->first_dim[e->ref] >= 0) {
		return;
	}
	while (l != NULL && l->slot != e->ref) {
		l = l->up;
	}
	n->yes = n->yes && l != NULL && hn_dtype_class(e->dtype) != HN_CLASS_FLOAT;
}

/* Whether all its names are loops, numbers, or integers that lets around it name. */
static bool is_named(const struct access *a, const struct lets *lets, const struct hn_expr *e)
{
	struct named n = { a, lets, true };

	hn_expr_visit(e, see_named, &n);
	return n.yes;
}

/* What a name may be: any number of its type, within the bounds of its value where these are known and the
 * code's arithmetic does not wrap.  It is a load of its own for the prover: what was loaded when it was
 * named may be another number now. */
static const struct hn_expr *any_value(struct verify *v, const struct access *a, const struct lets *l)
{
	const struct hn_expr *zero = hn_expr_int(0, HN_I32, &v->arena);
	const struct hn_expr own = { .op = HN_EXPR_LOAD, .dtype = l->e->dtype, .ref = -2 - l->slot };
	const struct hn_expr *x = hn_expr_with_args(&own, &zero, 1, &v->arena);
	struct hn_bound b;

	if (!is_named(a, l->up, l->e) || !hn_expr_is_exact(l->e, v->span, v->k->n_slot)) {
		return x;
	}
	b = hn_range_of(v->range, l->e, -HN_RANGE_INF, HN_RANGE_INF);
	if (b.lo > -HN_RANGE_INF) {
		x = hn_expr_binary(HN_EXPR_MAX, x, hn_expr_int(b.lo, l->e->dtype, &v->arena), &v->arena);
	}
	if (b.hi < HN_RANGE_INF) {
		x = hn_expr_binary(HN_EXPR_MIN, x, hn_expr_int(b.hi, l->e->dtype, &v->arena), &v->arena);
	}
	return x;
}

static void bind(struct verify *v, const struct access *a, const struct lets *l)
{
	if (l == NULL) {
		return;
	}
	bind(v, a, l->up);
	if (hn_dtype_class(l->e->dtype) != HN_CLASS_FLOAT) {
		hn_range_bind(v->range, l->slot, any_value(v, a, l));
	}
}

static uint32_t count(const struct lets *lets)
{
	uint32_t n = 0;

	for (; lets != NULL; lets = lets->up) {
		n++;
	}
	return n;
}

/* What the prover says of e under the conditions around an access; false: e is not for it. */
static bool prove(struct verify *v, const struct access *a, const struct hn_expr *e, int64_t lo,
		  int64_t hi, struct hn_bound *b)
{
	const struct hn_poly_space s = { .first_dim = a->first_dim };
	struct hn_range_mark mark;

	if (a->copy != NULL || v->k->n_slot > MOST_AXES || count(a->lets) > MOST_LETS ||
	    !is_named(a, a->lets, e)) {
		return false;
	}
	v->range = v->range != NULL ? v->range : range_of(v);
	mark = hn_range_push(v->range);
	bind(v, a, a->lets);
	for (const struct holds *h = a->holds; h != NULL; h = h->up) {
		assume(v, &s, h->e, h->positive);
	}
	*b = hn_range_of(v->range, e, lo, hi);
	if (hn_range_empty(v->range)) {
		*b = (struct hn_bound){ .lo = lo, .hi = hi };
	}
	hn_range_pop(v->range, mark);
	return true;
}

/* An index as a function of loops and numbers, and what data adds to it; NULL: nothing. */
struct parts {
	const struct hn_expr *known, *data;
};

static const struct hn_expr *sum(const struct hn_expr *x, const struct hn_expr *y, struct hn_arena *a)
{
	return x == NULL ? y : hn_expr_binary(HN_EXPR_ADD, x, y, a);
}

static void split(const struct hn_poly_space *s, const struct hn_expr *e, struct parts *p,
		  struct hn_arena *a)
{
	if (hn_verify_is_known(s, e)) {
		p->known = sum(p->known, e, a);
	} else if (e->op == HN_EXPR_ADD) {
		split(s, e->arg[0], p, a);
		split(s, e->arg[1], p, a);
	} else {
		p->data = sum(p->data, e, a);
	}
}

/* The map of instances to the known part of their index, and the bounds of the rest; NULL: neither is
 * known. */
static isl_map *known_part(struct verify *v, struct access *a, int64_t n, struct hn_bound *rest)
{
	struct parts p = { NULL, NULL };

	*rest = (struct hn_bound){ .lo = 0, .hi = 0 };
	hn_verify_in_isl(v, a);
	if (a->reach != NULL) {
		return isl_map_copy(a->reach);
	}
	split(&a->space, a->at, &p, &v->arena);
	if (p.known == NULL || p.data == NULL || !hn_poly_is_affine(p.known, NULL) ||
	    !prove(v, a, p.data, 1 - n, n - 1, rest) || rest->lo <= -n || rest->hi >= n) {
		return NULL;
	}
	return isl_map_intersect_domain(isl_map_from_pw_aff(hn_poly_value(&a->space, p.known, NULL)),
					isl_set_copy(a->domain));
}

bool hn_verify_is_within(struct verify *v, struct access *a, int64_t n)
{
	struct hn_bound b;
	isl_map *reach;
	isl_set *out, *in;
	bool ret;

	if (is_within_interval(v, a, n) || hn_verify_is_bounded(v, a, n) ||
	    (prove(v, a, a->at, 0, n - 1, &b) && b.lo >= 0 && b.hi < n)) {
		return true;
	}
	reach = known_part(v, a, n, &b);
	if (reach == NULL) {
		return false;
	}
	out = isl_map_range(reach);
	in = isl_set_universe(isl_set_get_space(out));
	in = isl_set_lower_bound_val(in, isl_dim_set, 0, isl_val_int_from_si(v->ctx, -b.lo));
	in = isl_set_upper_bound_val(in, isl_dim_set, 0, isl_val_int_from_si(v->ctx, n - 1 - b.hi));
	ret = isl_set_is_subset(out, in) !=
	      isl_bool_false; /* an error is counted elsewhere */
	isl_set_free(out);
	isl_set_free(in);
	return ret;
}
