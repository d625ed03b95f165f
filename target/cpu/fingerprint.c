/* target/cpu/fingerprint.c -- see fingerprint.h, fingerprint_int.h. */
#include "target/cpu/fingerprint_int.h"

#include <string.h>

#include "base/arith.h"
#include "loopstate/state/intrin.h"
#include "target/cpu/nest.h"

void hn_print_number(struct writer *w, int64_t v)
{
	w->hash = hn_mix(w->hash, v);
}

void hn_print_leaf(struct writer *w, const struct hn_expr *e, int64_t ref, uint32_t n_arg)
{
	hn_print_number(w, e->op | e->dtype << 8 | (int64_t)n_arg << 16);
	hn_print_number(w, ref);
	hn_print_number(w, e->out);
	if (e->op == HN_EXPR_INT) {
		hn_print_number(w, e->u.i);
	} else if (e->op == HN_EXPR_FLOAT) {
		int64_t bits;

		memcpy(&bits, &e->u.f, sizeof(bits));
		hn_print_number(w, bits);
	}
}

static void put_expr(const struct hn_expr *e, void *ctx)
{
	struct writer *w = ctx;
	bool loop = !w->in_op && e->op == HN_EXPR_VAR && (uint32_t)e->ref < w->t->n_loop;

	hn_print_leaf(w, e, loop ? w->place[e->ref] : e->ref, e->n_arg);
}

void hn_print_expr(struct writer *w, const struct hn_expr *e)
{
	hn_expr_visit(e, put_expr, w);
}

static void put_exprs(struct writer *w, const struct hn_expr *const *e, uint32_t n)
{
	hn_print_number(w, n);
	for (uint32_t i = 0; e && i < n; i++) {
		if (e[i]) {
			hn_print_expr(w, e[i]);
		}
	}
}

static void put_op(struct writer *w, const struct hn_op *op)
{
	hn_print_number(w, op->kind);
	for (uint32_t i = 0; i < op->n_spatial + op->n_reduce; i++) {
		hn_print_number(w, op->axis[i].min);
		hn_print_number(w, op->axis[i].extent);
	}
	put_exprs(w, op->body, op->body ? op->n_out : 0);
	if (op->reduce) {
		hn_print_number(w, op->reduce->kind);
		put_exprs(w, op->reduce->source, op->reduce->n);
		put_exprs(w, &op->reduce->condition, 1);
	}
}

static void put_buffer(struct writer *w, const struct hn_buffer *b)
{
	bool local = b->lifetime == HN_LIFETIME_LOOP;
	const struct hn_swizzle *z = &b->swizzle;
	int64_t elements = 1;

	hn_print_number(w, b->lifetime);
	hn_print_number(w, w->by_axes ? b->n_dim : 1);
	for (uint32_t d = 0; d < b->n_dim; d++) {
		elements = hn_mul_sat(elements, b->extent[d]);
		if (w->by_axes) {
			hn_print_number(w, b->extent[d]);
			hn_print_number(w, b->stride[d]);
		}
	}
	hn_print_number(w, elements);
	if (b->ring > 1) {
		hn_print_number(w, -5);
		hn_print_number(w, b->ring);
	}
	if (z->bits > 0) {
		hn_print_number(w, z->row_dim << 24 | z->unit << 16 | z->bits << 8 | z->shift);
		for (uint32_t d = 0; d < b->n_dim; d++) { /* where its rows end matters now */
			hn_print_number(w, b->extent[d]);
		}
	}
	if (local) {
		hn_print_number(w, w->place[b->at_loop]);
	}
	if (local && w->by_axes) {
		put_exprs(w, b->min, b->n_dim);
	}
}

/* What the code generator asks of a nest's loop: it unrolls a reduction further when the limit
 * covers all of it (target/cpu/tile.c), and leaves it to its instruction. */
static void put_hints(struct writer *w, const struct hn_node *n)
{
	bool limit = n->iter_kind == HN_ITER_REDUCE && n->unroll_max_step >= n->extent;

	hn_print_number(w, n->ann | n->iter_kind << 8 | (int64_t)limit << 16);
	if (n->intrin != NULL) {
		hn_print_number(w, -7);
		hn_print_number(w, n->intrin - hn_intrin_at(0));
		hn_print_number(w, n->intrin_dim | (int64_t)n->held << 8);
	}
}

void hn_print_stmt(struct writer *w, const struct hn_node *n)
{
	const struct hn_op *op = w->t->dag->op[n->stage];

	w->by_axes = true;
	hn_print_number(w, -2);
	hn_print_number(w, n->stage);
	hn_print_number(w, n->stmt);
	put_exprs(w, n->axis, op->n_spatial + op->n_reduce);
	put_exprs(w, n->guard, n->n_guard);
}

/* -- the tree ------------------------------------------------------------------------------ */

/* Of a loop outside of nests it is asked whether it runs in parallel, and else what it fetches. */
static void put_loop(struct writer *w, const struct hn_node *n)
{
	bool parallel = n->ann == HN_ANN_PARALLEL && !w->in_parallel;

	hn_print_number(w, n->extent);
	if (w->target) {
		hn_print_number(w, parallel);
	} else {
		put_hints(w, n);
	}
	if (w->kinds && n->pipeline != HN_PIPELINE_NONE) {
		hn_print_number(w, -9);
		hn_print_number(w, n->pipeline);
	}
	hn_print_number(w, n->stage);
	for (uint32_t i = 0; i < n->n_prefetch && !(w->target && parallel); i++) {
		hn_print_number(w, n->prefetch[i].operand);
		hn_print_number(w, n->prefetch[i].distance);
	}
}

static void note_locals(struct writer *w, int32_t loop)
{
	for (uint32_t i = 0; w->target && i < w->t->dag->n_op; i++) {
		const struct hn_buffer *b = &w->t->buffer[i];

		if (b->op >= 0 && b->lifetime == HN_LIFETIME_LOOP && b->at_loop == loop) {
			w->made = hn_mix(w->made, i);
		}
	}
}

static void put_loop_node(struct writer *w, const struct hn_node *n, int64_t around)
{
	bool loop = n->extent > 1, in_parallel = w->in_parallel;

	note_locals(w, n->loop);

	if (loop) {
		around = ++w->n_place;
		hn_print_number(w, -3);
		put_loop(w, n);
	}
	w->in_parallel |= n->ann == HN_ANN_PARALLEL && loop;
	w->place[n->loop] = around;
	for (uint32_t k = 0; k < n->n_child; k++) {
		hn_print_node(w, n->child[k], around);
	}
	w->in_parallel = in_parallel;
	if (loop) {
		hn_print_number(w, -4);
	}
}

static void put_written(struct writer *w, const struct hn_node *n, int64_t around)
{
	if (n->init) {
		hn_print_number(w, -1);
		hn_print_node(w, n->init, around);
	}
	if (n->kind == HN_NODE_STMT) {
		hn_print_stmt(w, n);
	} else if (n->kind == HN_NODE_LOOP) {
		put_loop_node(w, n, around);
	} else {
		for (uint32_t k = 0; k < n->n_child; k++) {
			hn_print_node(w, n->child[k], around);
		}
	}
}

void hn_print_node(struct writer *w, const struct hn_node *n, int64_t around)
{
	if (n->ahead != 0) {
		hn_print_number(w, -6);
		hn_print_number(w, n->ahead);
	}
	const struct hn_target *target = w->target;
	bool nest = target && n->kind != HN_NODE_SEQ && hn_nest_begins(n, w->in_parallel);

	if (nest && hn_print_nest(w, n, around)) {
		return;
	}
	w->target = nest ? NULL : target; /* all of the nest as it is written */
	put_written(w, n, around);
	w->target = target;
}

static void note_extents(const struct hn_node *n, int64_t *extent)
{
	if (n->kind == HN_NODE_LOOP) {
		extent[n->loop] = n->extent;
	}
	if (n->init) {
		note_extents(n->init, extent);
	}
	for (uint32_t k = 0; k < n->n_child; k++) {
		note_extents(n->child[k], extent);
	}
}

uint64_t hn_fingerprint(const struct hn_looptree *t, const struct hn_target *target,
			struct hn_arena *a)
{
	struct writer w = { .t = t,
			    .target = target,
			    .kinds = !target || (target->caps & HN_CAP_GPU_THREADS),
			    .a = a,
			    .place = HN_NEW_ARRAY(a, int64_t, t->n_loop) };

	if (target) {
		int64_t *extent = HN_NEW_ARRAY(a, int64_t, t->n_loop);

		note_extents(t->root, extent);
		w.loops = (struct hn_nest_loops){ extent, w.place };
	}
	hn_print_node(&w, t->root, /* around= */ 0);
	if (target) {
		hn_print_number(&w, (int64_t)w.made);
	}
	for (uint32_t i = 0; i < t->dag->n_op; i++) {
		hn_print_number(&w, t->buffer[i].op);
		if (t->buffer[i].op >= 0) {
			put_buffer(&w, &t->buffer[i]);
		}
	}
	w.in_op = true;
	for (uint32_t i = 0; i < t->dag->n_op && w.by_axes; i++) {
		if (t->buffer[i].op >= 0) {
			put_op(&w, t->dag->op[i]);
		}
	}
	return w.hash;
}
