/* lower/device/device_access.c -- what a kernel touches, and from where. */
#include <isl/aff.h>
#include <isl/local_space.h>
#include <isl/space.h>
#include <isl/val.h>
#include <string.h>

#include "base/arith.h"
#include "loopstate/dag/range.h"
#include "lower/device/device_verify_int.h"
#include "lower/device/device_role.h"

static void add_access(struct verify *v, struct access a, const struct path *path,
		       const struct holds *holds)
{
	if (v->n_access == v->cap_access) {
		v->access = hn_arena_grow(&v->arena, v->access, v->n_access,
					  &v->cap_access, sizeof(v->access[0]));
	}
	a.path = path;
	a.holds = holds;
	a.lets = v->lets;
	a.pos = v->pos;
	a.stmt = v->stmt;
	v->access[v->n_access++] = a;
}

static const struct holds *also(struct verify *v, const struct hn_expr *e, bool positive,
				const struct holds *up)
{
	struct holds *h = HN_NEW(&v->arena, struct holds);

	*h = (struct holds){ e, positive, up };
	return h;
}

static void name(struct verify *v, int32_t slot, const struct hn_expr *e)
{
	struct lets *l = HN_NEW(&v->arena, struct lets);

	*l = (struct lets){ slot, e, v->lets };
	v->lets = l;
}

static void see_expr(struct verify *v, const struct hn_expr *e, const struct path *path,
		     const struct holds *holds)
{
	const struct lets *outside = v->lets;

	if (e->op == HN_EXPR_LOAD) {
		add_access(v, (struct access){ .buffer = e->ref, .at = e->arg[0] }, path,
			   holds);
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		bool branch = e->op == HN_EXPR_IF && i > 0;

		if (e->op == HN_EXPR_LET && i == 1) {
			name(v, e->ref, e->arg[0]);
		}
		see_expr(v, e->arg[i], path,
			 branch ? also(v, e->arg[0], i == 1, holds) : holds);
	}
	v->lets = outside;
}

/* A run of elements that lie side by side. */
static void add_run(struct verify *v, int32_t buffer, const struct hn_expr *at, int64_t n,
		    bool write, bool warp, const struct path *up, const struct holds *holds)
{
	struct hn_device_copy *run = HN_NEW(&v->arena, struct hn_device_copy);

	*run = (struct hn_device_copy){ .n_dim = 1, .extent = { n }, .stride = { 1 } };
	add_access(v,
		   (struct access){ .buffer = buffer,
				    .write = write,
				    .at = at,
				    .copy = run,
				    .stride = run->stride,
				    .warp = warp },
		   up, holds);
}

/* Whole rows, whatever part of them it takes. */
static void see_factors(struct verify *v, const struct hn_device_warp *w,
			const struct hn_expr *const *from_at, const struct path *up,
			const struct holds *holds)
{
	int64_t bytes = (int64_t)hn_dtype_bytes(w->intrin->left), count;

	for (int i = 0; i < 2; i++) {
		int64_t run = hn_wgmma_run(w, i, &count);

		see_expr(v, from_at[i], up, holds);
		if (w->lies[i].next == run) {
			run *= count;
			count = 1;
		}
		for (int64_t k = 0; k < count; k++) {
			const struct hn_expr *at = from_at[i];

			if (k > 0) {
				at = hn_expr_binary(HN_EXPR_ADD, at,
						    hn_expr_int(k * w->lies[i].next / bytes,
								at->dtype, &v->arena),
						    &v->arena);
			}
			add_run(v, w->from[i], at, run / bytes, false, true, up, holds);
		}
	}
}

struct turn_before {
	int32_t slot;
};

static const struct hn_expr *before(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	const struct turn_before *t = ctx;

	return e->op == HN_EXPR_VAR && e->ref == t->slot
		       ? hn_expr_binary(HN_EXPR_SUB, e, hn_expr_int(1, e->dtype, a), a)
		       : e;
}

/* What is settled but the last reads to here what the product of the turn before does. */
static void see_settle(struct verify *v, const struct path *up, const struct holds *holds)
{
	const struct hn_device_node *open = hn_wgmma_open_in(up->n);
	struct turn_before t = { up->n->slot };
	const struct hn_expr *v0 = hn_expr_var(t.slot, HN_I32, NULL, &v->arena);
	const struct hn_expr *any = hn_expr_binary(HN_EXPR_LT, hn_expr_int(0, HN_I32, &v->arena),
						   v0, &v->arena);
	const struct hn_expr *at[2];

	holds = also(v, any, true, holds); /* there is a turn before */
	for (int i = 0; i < 2; i++) {
		at[i] = hn_expr_map(open->warp->from_at[i], before, &t, &v->arena);
	}
	see_factors(v, open->warp, at, up, holds);
}

static void see_wgmma(struct verify *v, const struct hn_device_node *n, const struct path *up,
		      const struct holds *holds)
{
	const struct hn_device_warp *w = n->warp;

	if (n->kind == HN_DEVICE_WGMMA) {
		see_factors(v, w, w->from_at, up, holds);
	} else if (n->extent == 1) {
		see_settle(v, up, holds);
	}
	add_run(v, n->buffer, n->at,
		w->columns / 8 * hn_warp_elements(w->intrin, HN_FRAGMENT_SUM), true, false, up,
		holds);
}

static void see_warp(struct verify *v, const struct hn_device_node *n, const struct path *up,
		     const struct holds *holds)
{
	const struct hn_device_warp *w = n->warp;
	int64_t bytes = (int64_t)hn_dtype_bytes((enum hn_dtype)v->d->buffer[n->buffer].dtype);

	if (n->kind == HN_DEVICE_WGMMA || n->kind == HN_DEVICE_SETTLE) {
		see_wgmma(v, n, up, holds);
		return;
	}
	for (int i = 0; i < hn_device_n_from(n); i++) {
		see_expr(v, w->from_at[i], up, holds);
	}
	if (n->kind == HN_DEVICE_LDMATRIX) {
		add_run(v, w->from[0], w->from_at[0], HN_WARP_ROW / bytes, false, true, up,
			holds);
		add_run(v, n->buffer, n->at, w->n_matrix * 4 / bytes, true, false, up, holds);
		return;
	}
	for (int i = 0; i < 2; i++) {
		add_run(v, w->from[i], w->from_at[i],
			hn_warp_elements(w->intrin, (enum hn_fragment)i), false, false, up,
			holds);
	}
	add_run(v, n->buffer, n->at, hn_warp_elements(w->intrin, HN_FRAGMENT_SUM), true, false, up,
		holds);
}

static void see_node(struct verify *v, const struct hn_device_node *n,
		     const struct path *up, const struct holds *holds)
{
	struct path *here = HN_NEW(&v->arena, struct path);
	const struct lets *outside = v->lets;

	*here = (struct path){ n, up };
	v->pos++;
	v->stmt += n->kind == HN_DEVICE_LET || n->kind == HN_DEVICE_STORE ||
		   n->kind == HN_DEVICE_COPY || n->kind == HN_DEVICE_BULK || n->warp != NULL;
	if (n->e != NULL) {
		see_expr(v, n->e, up, holds);
	}
	if (n->at != NULL) {
		see_expr(v, n->at, up, holds);
	}
	if (n->warp != NULL) {
		see_warp(v, n, up, holds);
	}
	if (n->kind == HN_DEVICE_COPY) {
		see_expr(v, n->copy->from_at, up, holds);
		add_access(v,
			   (struct access){ .buffer = n->copy->from,
					    .at = n->copy->from_at,
					    .copy = n->copy,
					    .stride = n->copy->from_stride },
			   up, holds);
	}
	if (n->kind == HN_DEVICE_STORE || n->kind == HN_DEVICE_COPY) {
		add_access(v,
			   (struct access){ .buffer = n->buffer,
					    .at = n->at,
					    .write = true,
					    .copy = n->copy,
					    .stride = n->copy != NULL ? n->copy->stride
								      : NULL },
			   up, holds);
	}
	if (n->kind == HN_DEVICE_BULK) {
		add_run(v, n->buffer, n->at, hn_map_box(&v->d->map[n->bulk->map]), true, false, up,
			holds);
	}
	if (n->kind == HN_DEVICE_BARRIER) {
		if (v->n_barrier == v->cap_barrier) {
			v->barrier =
				hn_arena_grow(&v->arena, v->barrier, v->n_barrier,
					      &v->cap_barrier, sizeof(v->barrier[0]));
		}
		v->barrier[v->n_barrier++] = (struct barrier){ up, v->pos };
	}
	if (n->kind == HN_DEVICE_LOOP) {
		v->extent[n->slot] = n->extent;
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		see_node(v, n->child[i], here,
			 n->kind == HN_DEVICE_IF || n->kind == HN_DEVICE_ROLE
				 ? also(v, n->e, true, holds)
				 : holds);
		if (n->child[i]->kind == HN_DEVICE_LET) { /* for what follows it */
			name(v, n->child[i]->slot, n->child[i]->e);
		}
	}
	v->lets = outside;
}

/* ---- indices as sums of digits */

static void make_digits(struct verify *v, struct access *a)
{
	a->first_dim = HN_NEW_ARRAY(&v->arena, int32_t, v->k->n_slot);
	memset(a->first_dim, 0xff, v->k->n_slot * sizeof(a->first_dim[0]));
	a->n_dim = 0;
	for (int32_t s = 0; s < HN_DEVICE_FIRST; s++) {
		a->first_dim[s] = (int32_t)a->n_dim;
		a->n_dim += v->radix[s].n_digit;
	}
	for (const struct path *p = a->path; p != NULL; p = p->up) {
		if (p->n->kind == HN_DEVICE_LOOP) {
			a->first_dim[p->n->slot] = (int32_t)a->n_dim;
			a->n_dim += v->radix[p->n->slot].n_digit;
		}
	}
	a->n_dim += a->copy != NULL ? a->copy->n_dim : 0;
}

/* The extent that conditions `slot < number` leave. */
static void tighten(const struct hn_expr *e, int32_t slot, int64_t *extent)
{
	if (e->op == HN_EXPR_AND) {
		tighten(e->arg[0], slot, extent);
		tighten(e->arg[1], slot, extent);
	} else if (e->op == HN_EXPR_LT && e->arg[0]->op == HN_EXPR_VAR &&
		   e->arg[0]->ref == slot && e->arg[1]->op == HN_EXPR_INT &&
		   e->arg[1]->u.i < *extent) {
		*extent = e->arg[1]->u.i;
	}
}

static void count_digits(struct verify *v, struct access *a)
{
	a->count = HN_NEW_ARRAY(&v->arena, int64_t, a->n_dim);
	a->limit = HN_NEW_ARRAY(&v->arena, int64_t, v->k->n_slot);
	for (uint32_t s = 0; s < v->k->n_slot; s++) {
		const struct hn_radix *r = &v->radix[s];
		int64_t extent = r->extent;

		for (const struct holds *h = a->holds; h != NULL && a->first_dim[s] >= 0;
		     h = h->up) {
			if (h->positive) {
				tighten(h->e, (int32_t)s, &extent);
			}
		}
		extent = extent < 1 ? 1 : extent;
		a->limit[s] = extent;
		for (uint32_t k = 0; k < r->n_digit && a->first_dim[s] >= 0; k++) {
			int64_t all = hn_digit_range(r, k);
			int64_t some = hn_ceildiv(extent, r->weight[k]);

			a->count[a->first_dim[s] + (int)k] = some < all ? some : all;
		}
	}
	for (uint32_t d = 0; a->copy != NULL && d < a->copy->n_dim; d++) {
		a->count[a->n_dim - a->copy->n_dim + d] = a->copy->extent[d];
	}
}

bool hn_verify_digits(const struct verify *v, const struct access *a, const struct hn_expr *e,
		      int64_t times, int64_t *coef, int64_t *at0)
{
	uint32_t first = 0, end = 1;
	int32_t slot = 0;
	int64_t c;

	switch ((enum hn_expr_op)e->op) {
	case HN_EXPR_INT:
		return !__builtin_mul_overflow(times, e->u.i, &c) &&
		       !__builtin_add_overflow(*at0, c, at0);
	case HN_EXPR_ADD:
		return hn_verify_digits(v, a, e->arg[0], times, coef, at0) &&
		       hn_verify_digits(v, a, e->arg[1], times, coef, at0);
	case HN_EXPR_SUB:
		return times != INT64_MIN && hn_verify_digits(v, a, e->arg[0], times, coef, at0) &&
		       hn_verify_digits(v, a, e->arg[1], -times, coef, at0);
	case HN_EXPR_MUL:
		for (int k = 0; k < 2; k++) {
			if (e->arg[k]->op == HN_EXPR_INT) {
				return !__builtin_mul_overflow(times, e->arg[k]->u.i,
							       &c) &&
				       hn_verify_digits(v, a, e->arg[1 - k], c, coef, at0);
			}
		}
		return false;
	case HN_EXPR_VAR:
		slot = e->ref;
		end = v->radix[slot].n_digit;
		break;
	default:
		if ((e->op != HN_EXPR_FLOORDIV && e->op != HN_EXPR_FLOORMOD) ||
		    !hn_radix_division(v->radix, e, &slot, &first, &end)) {
			return false;
		}
	}
	if (a->first_dim[slot] < 0) {
		return false; /* a scalar's name */
	}
	for (uint32_t k = first; k < end; k++) {
		int64_t w = v->radix[slot].weight[k] / v->radix[slot].weight[end - 1];

		if (__builtin_mul_overflow(times, w, &c) ||
		    __builtin_add_overflow(coef[a->first_dim[slot] + (int)k], c,
					   &coef[a->first_dim[slot] + (int)k]) ||
		    coef[a->first_dim[slot] + (int)k] == INT64_MIN) { /* has no size */
			return false;
		}
	}
	return true;
}

uint32_t hn_verify_run(const struct verify *v, const struct access *a, int32_t slot, uint32_t k)
{
	const struct hn_radix *r = &v->radix[slot];
	const int64_t *c = a->first_dim[slot] >= 0 ? &a->coef[a->first_dim[slot]] : NULL;

	for (k++; k < r->n_digit && (c == NULL || c[k - 1] % (r->weight[k - 1] / r->weight[k]) == 0) &&
		  (c == NULL || c[k - 1] / (r->weight[k - 1] / r->weight[k]) == c[k]);
	     k++) {
	}
	return k;
}

int64_t hn_verify_run_values(const struct verify *v, const struct access *a, int32_t slot, uint32_t k,
			     uint32_t end)
{
	const struct hn_radix *r = &v->radix[slot];
	int64_t last = 0, weight = r->weight[end - 1];
	int64_t limit = k == 0 ? hn_ceildiv(a->limit[slot], weight) : INT64_MAX;

	if (a->first_dim[slot] < 0) {
		return 1;
	}
	for (; k < end; k++) {
		last += (a->count[a->first_dim[slot] + (int)k] - 1) * (r->weight[k] / weight);
	}
	return last < limit ? last + 1 : limit;
}

static void make_linear(struct verify *v, struct access *a)
{
	a->coef = HN_NEW_ARRAY(&v->arena, int64_t, a->n_dim);
	for (uint32_t d = 0; a->copy != NULL && d < a->copy->n_dim; d++) {
		a->coef[a->n_dim - a->copy->n_dim + d] = a->stride[d];
	}
	if (!hn_verify_digits(v, a, a->at, 1, a->coef, &a->at0)) {
		a->coef = NULL;
	}
}

void hn_verify_sums(struct verify *v, struct access *a)
{
	count_digits(v, a);
	make_linear(v, a);
}

/* ---- as isl has it */

static isl_val *number(const struct verify *v, int64_t x)
{
	return isl_val_int_from_si(v->ctx, x);
}

struct known {
	const struct hn_poly_space *s;
	bool yes;
};

static void see_known(const struct hn_expr *e, void *ctx)
{
	struct known *k = ctx;

	if (e->op == HN_EXPR_LOAD || e->op == HN_EXPR_LET ||
	    (e->op == HN_EXPR_VAR && k->s->first_dim[e->ref] < 0)) {
		k->yes = false;
	}
}

bool hn_verify_is_known(const struct hn_poly_space *s, const struct hn_expr *e)
{
	struct known k = { s, true };

	hn_expr_visit(e, see_known, &k);
	return k.yes;
}

/* Where the condition holds; or more, where that cannot be said. */
static isl_set *where(const struct access *a, const struct hn_expr *e, bool positive)
{
	bool both =
		(e->op == HN_EXPR_AND && positive) || (e->op == HN_EXPR_OR && !positive);

	if (both) {
		return isl_set_intersect(where(a, e->arg[0], positive),
					 where(a, e->arg[1], positive));
	}
	return hn_verify_is_known(&a->space, e) ? hn_poly_condition(&a->space, e, positive, NULL)
				      : isl_set_universe(isl_space_copy(a->space.space));
}

static void make_domain(struct verify *v, struct access *a)
{
	isl_set *set = isl_set_universe(isl_space_copy(a->space.space));
	uint32_t n = a->n_dim;

	for (uint32_t s = 0; s < v->k->n_slot; s++) {
		if (a->first_dim[s] >= 0) {
			set = isl_set_intersect(
				set, hn_poly_loop_range(&a->space, (int32_t)s));
		}
	}
	for (uint32_t d = 0; a->copy != NULL && d < a->copy->n_dim; d++) {
		uint32_t dim = n - a->copy->n_dim + d;

		set = isl_set_lower_bound_si(set, isl_dim_set, dim, 0);
		set = isl_set_upper_bound_val(set, isl_dim_set, dim,
					      number(v, a->copy->extent[d] - 1));
	}
	for (const struct holds *h = a->holds; h != NULL; h = h->up) {
		set = isl_set_intersect(set, where(a, h->e, h->positive));
	}
	a->domain = set;
}

static isl_pw_aff *element(struct verify *v, const struct access *a)
{
	isl_pw_aff *at = hn_poly_value(&a->space, a->at, NULL);
	uint32_t n = a->n_dim;

	for (uint32_t d = 0; a->copy != NULL && d < a->copy->n_dim; d++) {
		isl_local_space *ls =
			isl_local_space_from_space(isl_space_copy(a->space.space));
		isl_aff *x =
			isl_aff_var_on_domain(ls, isl_dim_set, n - a->copy->n_dim + d);

		at = isl_pw_aff_add(at, isl_pw_aff_from_aff(isl_aff_scale_val(
						x, number(v, a->stride[d]))));
	}
	return at;
}

void hn_verify_in_isl(struct verify *v, struct access *a)
{
	if (a->in_isl) {
		return;
	}
	a->in_isl = true;
	a->space.radix = v->radix;
	a->space.first_dim = a->first_dim;
	a->space.space = isl_space_set_alloc(v->ctx, 0, a->n_dim);
	make_domain(v, a);
	if (hn_verify_is_known(&a->space, a->at) && hn_poly_is_affine(a->at, NULL)) {
		a->reach = isl_map_intersect_domain(isl_map_from_pw_aff(element(v, a)),
						    isl_set_copy(a->domain));
	}
}

void hn_verify_forget(struct verify *v)
{
	for (uint32_t i = 0; i < v->n_access; i++) {
		isl_set_free(v->access[i].domain);
		isl_map_free(v->access[i].reach);
		isl_space_free(v->access[i].space.space);
	}
	v->n_access = 0;
	hn_range_free(v->range);
	v->range = NULL;
}

/* ---- a kernel */

static void make_radix(struct verify *v)
{
	uint32_t n = 0, most = 0;

	for (uint32_t i = 0; i < v->n_access; i++) {
		for (const struct holds *h = v->access[i].holds; h != NULL; h = h->up) {
			most++;
		}
		most++;
	}
	const struct hn_expr **e = HN_NEW_ARRAY(&v->arena, const struct hn_expr *, most);

	for (uint32_t i = 0; i < v->n_access; i++) {
		for (const struct holds *h = v->access[i].holds; h != NULL; h = h->up) {
			e[n++] = h->e;
		}
		e[n++] = v->access[i].at;
	}
	v->radix = hn_radix_of_variables(v->extent, v->k->n_slot, e, n, &v->arena);
}

void hn_verify_see(struct verify *v, const struct hn_device_kernel *k)
{
	v->k = k;
	v->n_barrier = v->pos = v->stmt = 0;
	v->lets = NULL;
	v->extent = HN_NEW_ARRAY(&v->arena, int64_t, k->n_slot);
	v->span = HN_NEW_ARRAY(&v->arena, struct hn_span, k->n_slot);
	for (int d = 0; d < 3; d++) {
		v->extent[HN_DEVICE_BLOCK + d] = k->grid[d];
		v->extent[HN_DEVICE_THREAD + d] = k->block[d];
	}
	see_node(v, k->body, NULL, NULL);
	for (uint32_t s = 0; s < k->n_slot; s++) {
		v->span[s] = v->extent[s] > 0
				     ? (struct hn_span){ 0, v->extent[s] - 1 }
				     : (struct hn_span){ -HN_SPAN_MAX, HN_SPAN_MAX };
		v->extent[s] = v->extent[s] > 0 ? v->extent[s] : 1;
	}
	make_radix(v);
	for (uint32_t i = 0; i < v->n_access; i++) {
		make_digits(v, &v->access[i]);
		hn_verify_sums(v, &v->access[i]);
	}
}
