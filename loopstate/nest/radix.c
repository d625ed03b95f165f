/* loopstate/nest/radix.c -- finding the digits of fused loops.  See radix.h. */
#include "loopstate/nest/radix.h"

#include <stdlib.h>

#include "base/arith.h"

#define MAX_DIVISORS 64

struct divisors {
	uint32_t n;
	int64_t c[MAX_DIVISORS];
};

struct collector {
	struct divisors **loop; /* [n_loop] NULL where no fuse made the loop: nearly everywhere */
	uint32_t n_loop;
	struct hn_arena *arena;
};

static void add_divisor(struct collector *k, int32_t loop, int64_t c)
{
	struct divisors *d;

	if (loop < 0 || (uint32_t)loop >= k->n_loop || c <= 1) {
		return;
	}
	if (!k->loop[loop]) {
		k->loop[loop] = HN_NEW(k->arena, struct divisors);
	}
	d = k->loop[loop];
	for (uint32_t i = 0; i < d->n; i++) {
		if (d->c[i] == c) {
			return;
		}
	}
	if (d->n < MAX_DIVISORS) {
		d->c[d->n++] = c;
	}
}

static void visit(const struct hn_expr *e, void *ctx)
{
	bool division = e->op == HN_EXPR_FLOORDIV || e->op == HN_EXPR_FLOORMOD;
	const struct hn_expr *x;
	int64_t c;

	if (!division || e->arg[1]->op != HN_EXPR_INT) {
		return;
	}
	x = e->arg[0];
	c = e->arg[1]->u.i;
	if (x->op == HN_EXPR_FLOORDIV && x->arg[0]->op == HN_EXPR_VAR &&
	    x->arg[1]->op == HN_EXPR_INT) {
		c = hn_mul_sat(c, x->arg[1]->u.i);
		x = x->arg[0];
	}
	if (x->op == HN_EXPR_VAR) {
		add_divisor(ctx, x->ref, c);
	}
}

static void visit_all(const struct hn_expr *const *e, uint32_t n, struct collector *k)
{
	for (uint32_t i = 0; i < n; i++) {
		if (e[i]) {
			hn_expr_visit(e[i], visit, k);
		}
	}
}

static void visit_node(const struct hn_looptree *t, const struct hn_node *node,
		       struct collector *k)
{
	if (node->kind == HN_NODE_STMT) {
		const struct hn_op *op = t->dag->op[node->stage];

		visit_all(node->axis, op->n_spatial + op->n_reduce, k);
	}
	visit_all(node->guard, node->n_guard, k);
	if (node->init) {
		visit_node(t, node->init, k);
	}
	for (uint32_t i = 0; i < node->n_child; i++) {
		visit_node(t, node->child[i], k);
	}
}

static void find_extents(const struct hn_node *node, struct hn_radix *radix)
{
	if (node->kind == HN_NODE_LOOP) {
		radix[node->loop].extent = node->extent;
	}
	if (node->init) {
		find_extents(node->init, radix);
	}
	for (uint32_t i = 0; i < node->n_child; i++) {
		find_extents(node->child[i], radix);
	}
}

static int descending(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x;
	int64_t b = *(const int64_t *)y;

	return (a < b) - (a > b);
}

/* Keeps the divisors that form a chain, greedily from the largest that is inside the
 * loop. */
static void choose(struct divisors *d, struct hn_radix *r)
{
	if (d) {
		qsort(d->c, d->n, sizeof(d->c[0]), descending);
	}
	for (uint32_t i = 0; d && i < d->n; i++) {
		bool inside = d->c[i] < r->extent;
		bool chains = r->n_digit == 0 || r->weight[r->n_digit - 1] % d->c[i] == 0;

		if (inside && chains && r->n_digit < HN_RADIX_MAX_DIGITS - 1) {
			r->weight[r->n_digit++] = d->c[i];
		}
	}
	r->weight[r->n_digit++] = 1;
}

const struct hn_radix *hn_radix_of_variables(const int64_t *extent, uint32_t n,
					     const struct hn_expr *const *e, uint32_t n_expr,
					     struct hn_arena *a)
{
	struct hn_radix *radix = HN_NEW_ARRAY(a, struct hn_radix, n);
	struct collector k = { HN_NEW_ARRAY(a, struct divisors *, n), n, a };

	visit_all(e, n_expr, &k);
	for (uint32_t i = 0; i < n; i++) {
		radix[i].extent = extent[i];
		choose(k.loop[i], &radix[i]);
	}
	return radix;
}

const struct hn_radix *hn_radix_of(const struct hn_looptree *t,
					     struct hn_arena *a)
{
	struct hn_radix *radix = HN_NEW_ARRAY(a, struct hn_radix, t->n_loop);
	struct collector k = { HN_NEW_ARRAY(a, struct divisors *, t->n_loop), t->n_loop, a };

	find_extents(t->root, radix);
	visit_node(t, t->root, &k);
	for (uint32_t op = 0; op < t->dag->n_op; op++) {
		if (t->buffer[op].op >= 0) {
			visit_all(t->buffer[op].min, t->buffer[op].n_dim, &k);
		}
	}
	for (uint32_t i = 0; i < t->n_loop; i++) {
		choose(k.loop[i], &radix[i]);
	}
	return radix;
}

int64_t hn_digit_range(const struct hn_radix *r, uint32_t i)
{
	return hn_ceildiv(i == 0 ? r->extent : r->weight[i - 1], r->weight[i]);
}

/* The first digit whose weight is below c, which must be a weight or reach past the loop.
 */
static bool digit_below(const struct hn_radix *r, int64_t c, uint32_t *ret)
{
	if (c >= r->extent) {
		*ret = 0;
		return true;
	}
	for (uint32_t i = 0; i < r->n_digit; i++) {
		if (r->weight[i] == c) {
			*ret = i + 1;
			return true;
		}
	}
	return false;
}

static bool by_constant(const struct hn_expr *e)
{
	return (e->op == HN_EXPR_FLOORDIV || e->op == HN_EXPR_FLOORMOD) &&
	       e->arg[1]->op == HN_EXPR_INT && e->arg[1]->u.i > 0;
}

bool hn_radix_division(const struct hn_radix *radix, const struct hn_expr *e,
		      int32_t *ret_loop, uint32_t *ret_first, uint32_t *ret_end)
{
	const struct hn_expr *x = e->arg[0];
	const struct hn_radix *r;
	uint32_t at;

	if (!by_constant(e) || hn_expr_is_size(x) ||
	    (x->n_arg > 0 && hn_expr_is_size(x->arg[0]))) {
		return false;
	}
	int64_t c = e->arg[1]->u.i;

	if (e->op == HN_EXPR_FLOORMOD && x->op == HN_EXPR_FLOORDIV && by_constant(x) &&
	    x->arg[0]->op == HN_EXPR_VAR) {
		int64_t inner = x->arg[1]->u.i;

		r = &radix[x->arg[0]->ref];
		*ret_loop = x->arg[0]->ref;
		if (!digit_below(r, hn_mul_sat(c, inner), ret_first) ||
		    !digit_below(r, inner, ret_end)) {
			return false;
		}
		*ret_end = *ret_end > *ret_first ? *ret_end : *ret_first;
		return true;
	}
	if (x->op != HN_EXPR_VAR || !digit_below(&radix[x->ref], c, &at)) {
		return false;
	}
	*ret_loop = x->ref;
	*ret_first = e->op == HN_EXPR_FLOORDIV ? 0 : at;
	*ret_end = e->op == HN_EXPR_FLOORDIV ? at : radix[x->ref].n_digit;
	return true;
}
