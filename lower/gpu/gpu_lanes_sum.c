/* lower/gpu/gpu_lanes_sum.c -- sums of neighbours as sums of vectors: a few grow side by side, and are
 * added up at the end.  Only where a sum may be taken in another order. */
#include <math.h>

#include "lower/gpu/gpu_lanes_int.h"

#define MOST_SUMS 4 /* vectors that grow side by side: each waits for itself */

/* The store of a loop that sums up neighbours, and its terms; NULL: it is none such, or its order is
 * fixed. */
static const struct hn_device_node *sum_of(const struct gpu *g, const struct hn_device_node *n,
					   const struct hn_expr **ret_term)
{
	const struct hn_device_node *s = hn_lanes_store(n);
	const struct hn_expr *e = s != NULL ? s->e : NULL;

	if (e == NULL || n->kind != HN_DEVICE_LOOP || !hn_lanes_type(e->dtype) ||
	    hn_expr_uses(s->at, n->slot)) {
		return NULL;
	}
	bool pick = e->op == HN_EXPR_MIN || e->op == HN_EXPR_MAX;

	if (pick ? !g->options->picks_anyhow
		 : !g->options->sums_anyhow || (e->op != HN_EXPR_ADD && e->op != HN_EXPR_MUL)) {
		return NULL;
	}
	for (int i = 0; i < 2; i++) {
		const struct hn_expr *own = e->arg[i], *term = e->arg[1 - i];

		if (own->op == HN_EXPR_LOAD && own->ref == s->buffer &&
		    hn_expr_equal(own->arg[0], s->at) && !hn_lanes_reads(term, s->buffer, NULL) &&
		    hn_expr_uses(term, n->slot) && hn_lanes_is_vector(g, term, n->slot)) {
			*ret_term = term;
			return s;
		}
	}
	return NULL;
}

static double identity(enum hn_expr_op op)
{
	return op == HN_EXPR_ADD ? 0 : op == HN_EXPR_MUL ? 1 : op == HN_EXPR_MIN ? HUGE_VAL : -HUGE_VAL;
}

static gpu_val joined(struct gpu *g, enum hn_expr_op op, enum hn_dtype t, uint32_t n, gpu_val x,
		      gpu_val y)
{
	return op == HN_EXPR_MIN || op == HN_EXPR_MAX
		       ? g->lang->vector->pick(g, op, t, n, x, y)
		       : g->lang->binary(g, op, t, x, y, false);
}

bool hn_gpu_lanes_sum(struct gpu *g, const struct hn_device_node *n, hn_gpu_children *walk,
		      struct scope *scope)
{
	const struct hn_expr *term = NULL;
	const struct hn_device_node *s = g->vector_bytes > 0 ? sum_of(g, n, &term) : NULL;
	struct lanes l = {
		.g = g, .slot = n->slot, .whole = g->span[n->slot], .walk = walk, .scope = scope
	};
	gpu_val sum[MOST_SUMS];

	if (s == NULL) {
		return false;
	}
	enum hn_dtype t = (enum hn_dtype)s->e->dtype;
	enum hn_expr_op op = (enum hn_expr_op)s->e->op;
	const struct gpu_vector_lang *v = g->lang->vector;

	l.n = hn_gpu_vector(g, t, INT32_MAX & ~(HN_MOST_LANES - 1));
	int64_t k = n->extent / l.n >= 2 * MOST_SUMS ? MOST_SUMS : 1, strips = n->extent / l.n / k;

	/* what stands beside the sum in variables has them for numbers, not for lanes */
	if (l.n < 2 || strips == 0 || hn_lanes_reads_variable(&l, term)) {
		return false;
	}
	struct hn_span span = g->span[n->slot];

	for (int64_t i = 0; i < k; i++) {
		sum[i] = v->grow(g, t, l.n,
				 v->spread(g, t, l.n, g->lang->real(g, t, identity(op))));
	}
	hn_lanes_begin(&l, strips, k * l.n);
	for (int64_t i = 0; i < k; i++) {
		l.at = i * l.n;
		hn_lanes_at(&l, 0);
		v->set(g, sum[i], joined(g, op, t, l.n, sum[i], hn_lanes_value(&l, term)));
	}
	hn_lanes_end(&l, strips);
	g->span[n->slot] = span;
	for (int64_t i = 1; i < k; i++) {
		v->set(g, sum[0], joined(g, op, t, l.n, sum[0], sum[i]));
	}
	struct gpu_at at = hn_lanes_place(&l, s->buffer, s->at);

	g->lang->store(g, &at,
		       g->lang->binary(g, op, t, g->lang->load(g, &at), v->fold(g, op, t, l.n, sum[0]),
				       false));
	for (l.at = strips * k * l.n, l.n = 1; l.at < n->extent; l.at++) {
		hn_lanes_at(&l, 0);
		walk(g, scope, n);
	}
	g->value[n->slot] = NULL;
	return true;
}
