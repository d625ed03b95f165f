/* lower/gpu/gpu_walk.c -- through a device program, node by node.
 *
 * Loops that are written out bring neighbours together: conditions that say the same are one
 * condition, and asynchronous copies of neighbours are one copy.  Both wait in a scope until
 * something else comes.
 */
#include "lower/gpu/gpu_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_BYTES 16 /* of one asynchronous copy */

/* Asynchronous copies of neighbours: n elements from these places on. */
struct flight {
	uint32_t n;
	int32_t to, from; /* buffers */
	struct hn_affine to_at, from_at;
};

struct scope {
	struct flight flight;
	const struct hn_expr *open; /* a condition that code is under; NULL: none */
	struct scope *in;	    /* that code's */
};

void hn_gpu_refuse(struct gpu *g, int code, const char *fmt, ...)
{
	char why[200];
	va_list ap;

	if (g->rc != 0) {
		return;
	}
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	g->rc = hn_fail(g->err, code, "kernel %s: %s", g->k != NULL ? g->k->name : "?", why);
}

/* ---- asynchronous copies */

static bool is_next(const struct hn_affine *x, const struct hn_affine *y, uint32_t n)
{
	if (x->n != y->n || x->c + n != y->c) {
		return false;
	}
	for (uint32_t i = 0; i < x->n; i++) {
		if (x->term[i].coef != y->term[i].coef ||
		    !hn_expr_equal(x->term[i].atom, y->term[i].atom)) {
			return false;
		}
	}
	return true;
}

/* The place of element i. */
static struct gpu_at element(struct gpu *g, int32_t buffer, struct hn_affine sum, uint32_t i)
{
	sum.c += i;
	return hn_gpu_at(g, buffer, &sum);
}

/* Elements first to first + n - 1, in one instruction where there is one. */
static void copy_now(struct gpu *g, const struct flight *f, uint32_t first, uint32_t n,
		     uint32_t size)
{
	struct gpu_at to, from;

	if (n * size >= 4 && g->has_async) {
		to = element(g, f->to, f->to_at, first);
		from = element(g, f->from, f->from_at, first);
		g->lang->copy(g, &to, &from, n * size);
		return;
	}
	for (uint32_t i = first; i < first + n; i++) {
		to = element(g, f->to, f->to_at, i);
		from = element(g, f->from, f->from_at, i);
		g->lang->store(g, &to, g->lang->load(g, &from));
	}
}

/* In pieces of as many elements as both sides are aligned to. */
static void land(struct gpu *g, struct flight *f)
{
	uint32_t size = hn_dtype_bytes((enum hn_dtype)g->d->buffer[f->to].dtype);

	for (uint32_t i = 0, n; i < f->n; i += n) {
		struct hn_affine to = f->to_at, from = f->from_at;

		to.c += i;
		from.c += i;
		n = MOST_BYTES / size;
		while (n > f->n - i || hn_gpu_divides(&to) % n != 0 ||
		       hn_gpu_divides(&from) % n != 0) {
			n /= 2;
		}
		copy_now(g, f, i, n, size);
	}
	f->n = 0;
}

static void fly(struct gpu *g, struct scope *s, const struct hn_device_node *n)
{
	struct hn_affine to = hn_gpu_affine(g, n->at), from = hn_gpu_affine(g, n->e->arg[0]);
	struct flight *f = &s->flight;
	uint32_t size = hn_dtype_bytes((enum hn_dtype)g->d->buffer[n->buffer].dtype);

	if (f->n > 0 && f->n < MOST_BYTES / size && f->to == n->buffer && f->from == n->e->ref &&
	    is_next(&f->to_at, &to, f->n) && is_next(&f->from_at, &from, f->n)) {
		f->n++;
		return;
	}
	land(g, f);
	*f = (struct flight){ 1, n->buffer, n->e->ref, to, from };
}

/* ---- conditions */

/* x < y with what x - y is, so that conditions that hold for the same points are equal: a sum of
 * multiples of k is below 0 where the sum of what they are k times is. */
static const struct hn_expr *below_zero(struct gpu *g, const struct hn_expr *x,
					const struct hn_expr *y)
{
	struct hn_affine d =
		hn_affine_of(hn_expr_binary(HN_EXPR_SUB, x, y, g->a), g->span, g->n_slot, g->a);
	struct hn_affine sum = { .n = d.n };
	struct hn_term *term = HN_NEW_ARRAY(g->a, struct hn_term, d.n);
	struct hn_affine terms = { .n = d.n, .term = d.term };
	int64_t k = hn_gpu_divides(&terms);

	if (k <= 1) {
		return NULL;
	}
	for (uint32_t i = 0; i < d.n; i++) {
		term[i] = (struct hn_term){ d.term[i].coef / k, d.term[i].atom };
	}
	/* the constant goes to the other side: sum < -floordiv(c, k) */
	int64_t c = d.c / k - (d.c % k != 0 && d.c < 0);

	sum.term = term;
	return hn_expr_binary(HN_EXPR_LT,
			      hn_simplify_sum(sum, HN_I32, g->span, g->n_slot, g->a),
			      hn_expr_int(-c, HN_I32, g->a), g->a);
}

static const struct hn_expr *normal(struct gpu *g, const struct hn_expr *e)
{
	const struct hn_expr *ret = NULL;

	if (e->op == HN_EXPR_AND) {
		return hn_expr_binary(HN_EXPR_AND, normal(g, e->arg[0]), normal(g, e->arg[1]),
				      g->a);
	}
	if (e->op == HN_EXPR_LT && e->arg[0]->dtype == HN_I32 &&
	    hn_expr_is_exact(e->arg[0], g->span, g->n_slot) &&
	    hn_expr_is_exact(e->arg[1], g->span, g->n_slot)) {
		ret = below_zero(g, e->arg[0], e->arg[1]);
	}
	return ret != NULL && hn_expr_is_exact(ret->arg[0], g->span, g->n_slot) ? ret : e;
}

static void see_data(const struct hn_expr *e, void *ctx)
{
	*(bool *)ctx |= e->op == HN_EXPR_LOAD || e->op == HN_EXPR_LET;
}

static void finish(struct gpu *g, struct scope *s)
{
	land(g, &s->flight);
	if (s->open != NULL) {
		finish(g, s->in);
		s->open = NULL;
		g->lang->end_if(g);
	}
}

static void node(struct gpu *g, struct scope *s, const struct hn_device_node *n);

static void children(struct gpu *g, struct scope *s, const struct hn_device_node *n)
{
	for (uint32_t i = 0; i < n->n_child && g->rc == 0; i++) {
		node(g, s, n->child[i]);
	}
}

static void under(struct gpu *g, struct scope *s, const struct hn_device_node *n)
{
	const struct hn_expr *e = hn_gpu_here(g, n->e);
	bool data = false;

	e = hn_simplify_data(e, g->span, g->n_slot, g->a);
	if (e->op == HN_EXPR_INT) {
		if (e->u.i != 0) {
			children(g, s, n);
		}
		return;
	}
	hn_expr_visit(e, see_data, &data);
	e = normal(g, e);
	land(g, &s->flight);
	if (data || s->open == NULL || !hn_expr_equal(s->open, e)) {
		finish(g, s);
		g->lang->begin_if(g, hn_gpu_guard(g, e));
		s->open = e;
		s->in = HN_NEW(g->a, struct scope);
	}
	children(g, s->in, n);
	if (data) {
		finish(g, s);
	}
}

/* ---- the others */

static void settled(struct gpu *g, struct scope *s, const struct hn_device_node *n)
{
	children(g, s, n);
	finish(g, s);
}

static void loop(struct gpu *g, struct scope *s, const struct hn_device_node *n)
{
	bool whole = g->whole[n->slot];
	uint32_t lanes = hn_gpu_lanes_of(g, n);

	if (lanes > 1 || g->vector_bytes > 0) {
		finish(g, s);
	}
	if (lanes > 1) {
		hn_gpu_lanes(g, n, lanes, settled, s);
		return;
	}
	if (hn_gpu_lanes_sum(g, n, settled, s)) {
		return;
	}

	if (whole && (g->lang->unrolls || n->how == HN_DEVICE_LANES)) {
		for (int64_t i = 0; i < n->extent && g->rc == 0; i++) {
			g->value[n->slot] = hn_expr_int(i, HN_I32, g->a);
			children(g, s, n);
		}
		g->value[n->slot] = NULL;
		return;
	}
	struct scope inner = { 0 };

	finish(g, s);
	if (hn_gpu_turns(g, n)) {
		g->settled = true;
		return;
	}
	g->lang->begin_loop(g, n->slot, n->extent, whole);
	g->rank[n->slot] = ++g->depth + 1;
	children(g, &inner, n);
	finish(g, &inner);
	g->depth--;
	g->lang->end_loop(g, n->slot, n->extent);
}

static const struct hn_expr *data_here(struct gpu *g, const struct hn_expr *e)
{
	const struct hn_expr *here = hn_gpu_here(g, e);

	return here == e ? e : hn_simplify_data(here, g->span, g->n_slot, g->a);
}

static void store(struct gpu *g, const struct hn_device_node *n)
{
	gpu_val v = hn_gpu_value(g, data_here(g, n->e));
	struct hn_affine sum = hn_gpu_affine(g, n->at);
	struct gpu_at at = hn_gpu_at(g, n->buffer, &sum);

	g->lang->store(g, &at, v);
}

struct gpu_at hn_gpu_place(struct gpu *g, int32_t buffer, const struct hn_expr *e)
{
	struct hn_affine sum = hn_gpu_affine(g, e);

	return hn_gpu_at(g, buffer, &sum);
}

static void warp(struct gpu *g, const struct hn_device_node *n)
{
	const struct hn_device_warp *w = n->warp;
	struct gpu_at at = hn_gpu_place(g, n->buffer, n->at), from[2];

	if (g->lang->mma == NULL || !g->has_async) {
		hn_gpu_refuse(g, HONE_E_UNSUPPORTED,
			      "products of matrices by warps have no form in this language, or "
			      "for %s",
			      g->target->isa);
		return;
	}
	if ((n->kind == HN_DEVICE_WGMMA || n->kind == HN_DEVICE_SETTLE) &&
	    (g->lang->wgmma == NULL || !g->has_wgmma)) {
		hn_gpu_refuse(g, HONE_E_UNSUPPORTED,
			      "products of matrices by warpgroups have no form in this language, "
			      "or for %s",
			      g->target->isa);
		return;
	}
	for (int i = 0; i < hn_device_n_from(n); i++) {
		from[i] = hn_gpu_place(g, w->from[i], w->from_at[i]);
	}
	if (n->kind == HN_DEVICE_SETTLE && g->settled) {
		g->settled = false; /* by the turns before */
	} else if (n->kind == HN_DEVICE_SETTLE) {
		g->lang->settle(g, w, &at, n->extent);
	} else if (n->kind == HN_DEVICE_WGMMA) {
		g->lang->wgmma(g, w, &at, from);
	} else if (n->kind == HN_DEVICE_MMA) {
		g->lang->mma(g, w->intrin, &at, &from[0], &from[1]);
	} else {
		g->lang->ldmatrix(g, &at, &from[0], w->n_matrix, w->trans);
	}
}

static void node(struct gpu *g, struct scope *s, const struct hn_device_node *n)
{
	/* the settle that turns have done stands right behind them */
	g->settled = g->settled && (n->kind == HN_DEVICE_SETTLE || n->kind == HN_DEVICE_SEQ);
	switch ((enum hn_device_kind)n->kind) {
	case HN_DEVICE_SEQ:
		children(g, s, n);
		return;
	case HN_DEVICE_LOOP:
		loop(g, s, n);
		return;
	case HN_DEVICE_IF:
		under(g, s, n);
		return;
	case HN_DEVICE_STORE:
		if (n->async) {
			if (s->open != NULL) {
				finish(g, s);
			}
			fly(g, s, n);
			return;
		}
		finish(g, s);
		store(g, n);
		return;
	default:
		break;
	}
	finish(g, s);
	switch ((enum hn_device_kind)n->kind) {
	case HN_DEVICE_LET:
		g->var[n->slot] = g->lang->name(g, hn_dtype_arith((enum hn_dtype)n->e->dtype),
						hn_gpu_value(g, data_here(g, n->e)));
		g->rank[n->slot] = g->depth + 1;
		return;
	case HN_DEVICE_BARRIER:
		g->lang->barrier(g);
		return;
	case HN_DEVICE_COMMIT:
		g->lang->commit(g);
		return;
	case HN_DEVICE_WAIT:
		g->lang->wait(g, n->extent);
		return;
	case HN_DEVICE_FENCE:
		if (g->lang->fence != NULL && g->has_wgmma) {
			g->lang->fence(g);
		}
		return;
	case HN_DEVICE_MMA:
	case HN_DEVICE_LDMATRIX:
	case HN_DEVICE_WGMMA:
	case HN_DEVICE_SETTLE:
		warp(g, n);
		return;
	case HN_DEVICE_MBARRIER:
	case HN_DEVICE_EXPECT:
	case HN_DEVICE_BULK:
	case HN_DEVICE_ARRIVE:
	case HN_DEVICE_AWAIT:
	case HN_DEVICE_ROLE:
		hn_gpu_word(g, n, settled, s);
		return;
	default:
		hn_bug(__FILE__, __LINE__, "kind of a device node");
	}
}

void hn_gpu_walk(struct gpu *g)
{
	struct scope s = { 0 };

	node(g, &s, g->k->body);
	finish(g, &s);
}
