/* lower/device/device_bounds.c -- whether a kernel stays within its arrays: by intervals, by the prover of
 * dag/range.h under the conditions around an access, by isl. */
#include <isl/val.h>

#include "loopstate/dag/range.h"
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

struct bound {
	const struct access *a;
	const struct lets *lets;
	bool yes;
};

static bool has_bounds(const struct access *a, const struct lets *lets, const struct hn_expr *e);

static void see_bound(const struct hn_expr *e, void *ctx)
{
	struct bound *b = ctx;
	const struct lets *l = b->lets;

	if (e->op == HN_EXPR_LET) {
		b->yes = false;
	}
	if (e->op != HN_EXPR_VAR || b->a->first_dim[e->ref] >= 0) {
		return;
	}
	while (l != NULL && l->slot != e->ref) {
		l = l->up;
	}
	b->yes = b->yes && l != NULL && hn_dtype_class(e->dtype) != HN_CLASS_FLOAT &&
		 has_bounds(b->a, l->up, l->e);
}

/* Whether all its names are loops, numbers, or integers that lets around it name: what they load may be
 * anything, and the prover knows that. */
static bool has_bounds(const struct access *a, const struct lets *lets, const struct hn_expr *e)
{
	struct bound b = { a, lets, true };

	hn_expr_visit(e, see_bound, &b);
	return b.yes;
}

static void bind(struct verify *v, const struct access *a, const struct lets *lets)
{
	if (lets == NULL) {
		return;
	}
	bind(v, a, lets->up);
	if (has_bounds(a, lets->up, lets->e)) {
		hn_range_bind(v->range, lets->slot, lets->e);
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
	    !has_bounds(a, a->lets, e)) {
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
