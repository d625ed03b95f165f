/* loopstate/fingerprint.c -- see fingerprint.h.
 *
 * The tree is written as a row of numbers, first to last as it runs, and the row is hashed.
 * Invariant: place[id] is the number, from 1, of a loop among those that are written; of one
 * that runs once it is that of the loop around it (0: none), which is where its locals live.
 */
#include "loopstate/fingerprint.h"

#include <string.h>

struct writer {
	const struct hn_looptree *t;
	int64_t *place; /* [n_loop] */
	int64_t n_place;
	bool in_op; /* expressions are in op space (loopstate/expr.h) */
	uint64_t hash;
};

/* One number more: the mixing step of splitmix64 (Steele, Lea, Flood 2014). */
static void put(struct writer *w, int64_t v)
{
	uint64_t h = (w->hash + 0x9e3779b97f4a7c15) ^ (uint64_t)v;

	h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
	h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
	w->hash = h ^ (h >> 31);
}

static void put_expr(const struct hn_expr *e, void *ctx)
{
	struct writer *w = ctx;
	bool loop = !w->in_op && e->op == HN_EXPR_VAR && (uint32_t)e->ref < w->t->n_loop;

	put(w, e->op | e->dtype << 8 | (int64_t)e->n_arg << 16);
	put(w, loop ? w->place[e->ref] : e->ref);
	put(w, e->out);
	if (e->op == HN_EXPR_INT) {
		put(w, e->u.i);
	} else if (e->op == HN_EXPR_FLOAT) {
		int64_t bits;

		memcpy(&bits, &e->u.f, sizeof(bits));
		put(w, bits);
	}
}

static void put_exprs(struct writer *w, const struct hn_expr *const *e, uint32_t n)
{
	put(w, n);
	for (uint32_t i = 0; e && i < n; i++) {
		if (e[i]) {
			hn_expr_visit(e[i], put_expr, w);
		}
	}
}

static void put_op(struct writer *w, const struct hn_op *op)
{
	put(w, op->kind);
	for (uint32_t i = 0; i < op->n_spatial + op->n_reduce; i++) {
		put(w, op->axis[i].min);
		put(w, op->axis[i].extent);
	}
	put_exprs(w, op->body, op->body ? op->n_out : 0);
	if (op->reduce) {
		put(w, op->reduce->kind);
		put_exprs(w, op->reduce->source, op->reduce->n);
		put_exprs(w, &op->reduce->condition, 1);
	}
}

static void put_buffer(struct writer *w, const struct hn_buffer *b)
{
	put(w, b->scope);
	put(w, b->n_dim);
	for (uint32_t d = 0; d < b->n_dim; d++) {
		put(w, b->extent[d]);
		put(w, b->stride[d]);
	}
	if (b->scope == HN_SCOPE_LOCAL) {
		put(w, w->place[b->at_loop]);
		put_exprs(w, b->min, b->n_dim);
	}
}

/* What the code generator asks of a loop: it unrolls a reduction further when the limit
 * covers all of it (lower/emit_plan.c). */
static void put_loop(struct writer *w, const struct hn_node *n)
{
	bool limit = n->iter_kind == HN_ITER_REDUCE && n->unroll_max_step >= n->extent;

	put(w, n->extent);
	put(w, n->ann | n->iter_kind << 8 | (int64_t)limit << 16);
	put(w, n->stage);
	for (uint32_t i = 0; i < n->n_prefetch; i++) {
		put(w, n->prefetch[i].operand);
		put(w, n->prefetch[i].distance);
	}
}

static void put_node(struct writer *w, const struct hn_node *n, int64_t around)
{
	bool loop = n->kind == HN_NODE_LOOP && n->extent > 1;

	if (n->init) {
		put(w, -1);
		put_node(w, n->init, around);
	}
	if (n->kind == HN_NODE_STMT) {
		put(w, -2);
		put(w, n->stage);
		put(w, n->stmt);
		put_exprs(w, n->axis,
			  w->t->dag->op[n->stage]->n_spatial + w->t->dag->op[n->stage]->n_reduce);
		put_exprs(w, n->guard, n->n_guard);
		return;
	}
	if (loop) {
		around = ++w->n_place;
		put(w, -3);
		put_loop(w, n);
	}
	if (n->kind == HN_NODE_LOOP) {
		w->place[n->loop] = around;
	}
	for (uint32_t k = 0; k < n->n_child; k++) {
		put_node(w, n->child[k], around);
	}
	if (loop) {
		put(w, -4);
	}
}

uint64_t hn_fingerprint(const struct hn_looptree *t, struct hn_arena *a)
{
	struct writer w = { .t = t, .place = HN_NEW_ARRAY(a, int64_t, t->n_loop) };

	put_node(&w, t->root, /* around= */ 0);
	for (uint32_t i = 0; i < t->dag->n_op; i++) {
		put(&w, t->buffer[i].op);
		if (t->buffer[i].op >= 0) {
			put_buffer(&w, &t->buffer[i]);
		}
	}
	w.in_op = true;
	for (uint32_t i = 0; i < t->dag->n_op; i++) {
		if (t->buffer[i].op >= 0) {
			put_op(&w, t->dag->op[i]);
		}
	}
	return w.hash;
}
