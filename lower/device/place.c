/* lower/device/place.c -- from a loop tree to a device program.
 *
 * Blocks and threads: a statement runs where the numbers of all bound loops around it are in
 * range; where no loop around it names a dimension, number 0 runs it.
 *
 * Memory that threads share: in the tree a stage that is attached inside thread loops is computed
 * in each of their iterations.  What lies in shared memory is computed once instead, by the thread
 * loops of its own (loopstate/nest/concurrent.h says when both are the same).
 *
 * Virtual threads are iterations that run at the same time in one thread: their loop is put around
 * each piece between two barriers, and what each of them owns gets a dimension more.
 *
 * Source: TVM's pass InjectVirtualThread does the last on a syntax tree.
 */
#include "lower/device/device_wgmma.h"
#include "lower/device/place_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "loopstate/nest/bounds_scope.h"
#include "loopstate/nest/concurrent.h"
#include "loopstate/nest/ring.h"

bool hn_place_serves(const struct place *p, int32_t stage, const struct hn_node *loop)
{
	return !p->over_cores && hn_scope_serves(p->t->state, stage, loop->ann);
}

uint32_t hn_place_dim(const struct hn_node *loop)
{
	switch ((enum hn_ann)loop->ann) {
	case HN_ANN_BLOCK_Y:
	case HN_ANN_THREAD_Y:
		return 1;
	case HN_ANN_BLOCK_Z:
	case HN_ANN_THREAD_Z:
		return 2;
	default:
		return 0;
	}
}

void hn_place_refuse(struct place *p, int32_t stage, const char *fmt, ...)
{
	char why[200];
	va_list ap;

	if (p->rc != 0) {
		return;
	}
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	p->rc = hn_fail(p->err, HONE_E_UNSUPPORTED, "device program: stage %d (%s) %s",
			stage, p->t->dag->op[stage]->name, why);
}

const struct hn_expr *hn_place_int(struct place *p, int64_t v)
{
	return hn_expr_int(v, HN_I32, p->a);
}

const struct hn_expr *hn_place_binary(struct place *p, enum hn_expr_op op,
				      const struct hn_expr *x, const struct hn_expr *y)
{
	return hn_expr_binary(op, x, y, p->a);
}

/* extent 0: a value of which nothing is known. */
int32_t hn_place_slot(struct place *p, enum hn_dtype type, int64_t extent)
{
	if (p->n_slot == p->cap_slot) {
		uint32_t cap = p->cap_slot;

		p->span =
			hn_arena_grow(p->a, p->span, p->n_slot, &cap, sizeof(p->span[0]));
		p->type = hn_arena_grow(p->a, p->type, p->n_slot, &p->cap_slot,
					sizeof(p->type[0]));
	}
	p->span[p->n_slot] = extent > 0 ? (struct hn_span){ 0, extent - 1 }
					: (struct hn_span){ -HN_SPAN_MAX, HN_SPAN_MAX };
	p->type[p->n_slot] = (uint8_t)type;
	return (int32_t)p->n_slot++;
}

const struct hn_expr *hn_place_var(struct place *p, int32_t slot)
{
	return hn_expr_var(slot, (enum hn_dtype)p->type[slot], NULL, p->a);
}

/* A name that no other buffer has: of the characters that the text takes. */
static const char *free_name(struct place *p, const char *name)
{
	char *clean = hn_arena_strdup(p->a, name[0] != '\0' ? name : "t"), *ret = clean;

	for (char *c = clean; *c != '\0'; c++) {
		bool letter =
			(*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';

		if (!letter && (c == clean || !((*c >= '0' && *c <= '9') || *c == '.'))) {
			*c = '_';
		}
	}
	for (uint32_t i = 0, k = 2; i < p->n_buffer;) {
		if (strcmp(p->buffer[i].name, ret) != 0) {
			i++;
			continue;
		}
		ret = hn_arena_printf(p->a, "%s.%u", clean, k++);
		i = 0;
	}
	return ret;
}

int32_t hn_place_buffer(struct place *p, const char *name, enum hn_dtype type,
			enum hn_memory memory, int64_t n_elem, int32_t arg)
{
	if (p->n_buffer == p->cap_buffer) {
		p->buffer = hn_arena_grow(p->a, p->buffer, p->n_buffer, &p->cap_buffer,
					  sizeof(p->buffer[0]));
	}
	p->buffer[p->n_buffer] = (struct hn_device_buffer){ .name = free_name(p, name),
							    .dtype = (uint8_t)type,
							    .memory = (uint8_t)memory,
							    .n_elem = n_elem,
							    .arg = arg };
	return (int32_t)p->n_buffer++;
}

/* ---- pieces */

struct draft *hn_place_draft(struct place *p, struct draft *to)
{
	struct draft *d = HN_NEW(p->a, struct draft);

	d->stage = d->loop = -1;
	d->phase = p->phase;
	if (to->n == to->cap) {
		to->child = hn_arena_grow(p->a, to->child, to->n, &to->cap,
					  sizeof(struct draft *));
	}
	to->child[to->n++] = d;
	return d;
}

/* Where the numbers of the bound loops are in range, and 0 where no loop names them. */
static const struct hn_expr *in_range(struct place *p, const struct bound *q)
{
	const struct hn_expr *all = NULL;

	for (int first = HN_DEVICE_BLOCK; first <= HN_DEVICE_THREAD;
	     first += HN_DEVICE_THREAD - HN_DEVICE_BLOCK) {
		const int64_t *count = first == HN_DEVICE_BLOCK ? p->grid : p->block;
		enum hn_runs runs =
			first == HN_DEVICE_BLOCK ? HN_RUNS_BLOCKS : HN_RUNS_THREADS;

		for (uint32_t d = 0; d < 3; d++) {
			int64_t extent = 1;

			for (const struct bound *b = q; b != NULL; b = b->up) {
				if (hn_place_runs(b->loop) == runs &&
				    hn_place_dim(b->loop) == d) {
					extent = b->loop->extent;
				}
			}
			if (extent < count[d] &&
			    !(p->warp && first == HN_DEVICE_THREAD && d == 0)) {
				const struct hn_expr *less = hn_place_binary(
					p, HN_EXPR_LT,
					hn_place_var(p, first + (int32_t)d),
					hn_place_int(p, extent));

				all = all == NULL ? less
						  : hn_place_binary(p, HN_EXPR_AND, all,
								    less);
			}
		}
	}
	return all;
}

/* The loops of virtual threads among q, outermost first, around what `c` holds. */
static void wrap_virtual(struct place *p, const struct bound *q, const int32_t *slot,
			 struct code *c)
{
	for (; q != NULL; q = q->up) {
		if (hn_place_runs(q->loop) == HN_RUNS_VIRTUAL) {
			struct code one = { 0 };

			hn_place_add(p, &one,
				     *hn_place_wrap(p,
						    (struct hn_device_node){
							    .kind = HN_DEVICE_LOOP,
							    .how = HN_DEVICE_UNROLLED,
							    .slot = slot[q->loop->loop],
							    .extent = q->loop->extent },
						    c));
			*c = one;
		}
	}
}

/* Begins what runs as a piece below q: virtual threads have values. */
int32_t *hn_place_begin_piece(struct place *p, const struct bound *q)
{
	int32_t *slot = HN_NEW_ARRAY(p->a, int32_t, p->t->n_loop + 1);

	for (; q != NULL; q = q->up) {
		if (hn_place_runs(q->loop) == HN_RUNS_VIRTUAL) {
			slot[q->loop->loop] = hn_place_slot(p, HN_I32, q->loop->extent);
			p->value[q->loop->loop] = hn_place_var(p, slot[q->loop->loop]);
		}
	}
	return slot;
}

void hn_place_end_piece(struct place *p, const struct bound *q, const int32_t *slot,
			struct code *c, int32_t stage, struct draft *out)
{
	const struct hn_expr *range = in_range(p, q);

	if (p->when != NULL) {
		range = range == NULL ? p->when
				      : hn_place_binary(p, HN_EXPR_AND, range, p->when);
	}
	if (c->n == 0) {
		return;
	}
	wrap_virtual(p, q, slot, c);
	struct draft *d = hn_place_draft(p, out);

	d->piece = true;
	d->stage = stage;
	d->node =
		range != NULL
			? *hn_place_wrap(p,
					 (struct hn_device_node){ .kind = HN_DEVICE_IF,
								  .e = range },
					 c)
			: *hn_place_wrap(
				  p, (struct hn_device_node){ .kind = HN_DEVICE_SEQ }, c);
	for (; q != NULL; q = q->up) {
		if (hn_place_runs(q->loop) == HN_RUNS_VIRTUAL) {
			p->value[q->loop->loop] = NULL;
		}
	}
}

static bool is_init(const struct hn_node *n)
{
	return n->kind == HN_NODE_STMT ? n->stmt == HN_STMT_INIT
				       : n->n_child > 0 && is_init(n->child[0]);
}

static void piece(struct place *p, const struct hn_node *n, const struct bound *q,
		  struct draft *out)
{
	int32_t *slot = hn_place_begin_piece(p, q);
	struct code c = { 0 };

	p->warp = hn_place_is_warp(p, n);
	hn_place_code(p, n, &c);
	hn_place_end_piece(p, q, slot, &c, is_init(n) ? -1 : n->stage, out);
	p->warp = false;
}

/* ---- what threads pass together */

/* The loops among q that the memory of the stage does not serve: it is computed once for those
 * that it does. */
static const struct bound *without_served(struct place *p, const struct hn_node *n,
					  const struct bound *q)
{
	struct bound *copy;

	if (q == NULL) {
		return NULL;
	}
	const struct bound *up = without_served(p, n, q->up);

	if (n->stage >= 0 && q->loop->stage != n->stage &&
	    p->t->buffer[n->stage].lifetime == HN_LIFETIME_LOOP &&
	    hn_place_serves(p, n->stage, q->loop)) {
		return up;
	}
	if (up == q->up) {
		return q;
	}
	copy = HN_NEW(p->a, struct bound);
	*copy = (struct bound){ q->loop, up };
	return copy;
}

/* Whether threads do n together: a loop below is bound to a number, or a stage below is computed
 * once for several of them. */
static bool is_together(struct place *p, const struct hn_node *n, const struct bound *q)
{
	bool ret = hn_place_is_number(n) || without_served(p, n, q) != q;

	for (uint32_t i = 0; i < n->n_child && !ret; i++) {
		ret = is_together(p, n->child[i], q) ||
		      (n->child[i]->init != NULL && is_together(p, n->child[i]->init, q));
	}
	return ret;
}

/* The first statement of the stage below, and whether threads combine in a loop around it. */
const struct hn_node *hn_place_update(const struct hn_dag *dag, const struct hn_node *n,
				      int32_t stage, bool *combines)
{
	const struct hn_node *ret = NULL;

	if (n->kind == HN_NODE_STMT) {
		return n->stage == stage && n->stmt == HN_STMT_UPDATE ? n : NULL;
	}
	for (uint32_t i = 0; i < n->n_child && ret == NULL; i++) {
		ret = hn_place_update(dag, n->child[i], stage, combines);
	}
	if (ret != NULL && n->kind == HN_NODE_LOOP && n->extent > 1 &&
	    hn_loop_combines(dag, n, stage)) {
		*combines = true;
	}
	return ret;
}

const struct hn_expr *hn_place_turn(struct place *p, const struct hn_expr *v, int64_t extent)
{
	return p->around == NULL
		       ? v
		       : hn_place_binary(p, HN_EXPR_ADD,
					 hn_place_binary(p, HN_EXPR_MUL, p->around,
							 hn_place_int(p, extent)),
					 v);
}

void hn_place_loop(struct place *p, const struct hn_node *n, const struct bound *q,
		   struct draft *out)
{
	struct bound *inner = HN_NEW(p->a, struct bound);
	enum hn_runs runs = hn_place_runs(n);
	const struct hn_expr *around = p->around;

	*inner = (struct bound){ n, q };
	if (hn_place_is_number(n)) {
		int32_t first =
			runs == HN_RUNS_BLOCKS ? HN_DEVICE_BLOCK : HN_DEVICE_THREAD;

		p->value[n->loop] = hn_place_var(p, first + (int32_t)hn_place_dim(n));
		q = inner;
	} else if (runs == HN_RUNS_VIRTUAL) {
		q = inner;
	} else if (n->extent == 1) {
		p->value[n->loop] = hn_place_int(p, 0);
	} else if (hn_ring_ahead(n) > 0) {
		hn_place_turns(p, n, q, out);
		return;
	} else {
		int32_t slot = hn_place_slot(p, HN_I32, n->extent);

		out = hn_place_draft(p, out);
		p->value[n->loop] = hn_place_var(p, slot);
		p->around = hn_place_turn(p, p->value[n->loop], n->extent);
		out->node = (struct hn_device_node){ .kind = HN_DEVICE_LOOP,
						     .slot = slot,
						     .extent = n->extent };
		out->stage = is_init(n) ? -1 : n->stage;
	}
	for (uint32_t i = 0; i < n->n_child && p->rc == 0; i++) {
		hn_place_node(p, n->child[i], q, out);
	}
	p->around = around;
}

void hn_place_node(struct place *p, const struct hn_node *n, const struct bound *q,
		   struct draft *out)
{
	const struct hn_node *update = NULL;
	bool combines = false;

	if (n->init != NULL) {
		hn_place_node(p, n->init, q, out);
	}
	const struct bound *all = q;

	q = without_served(p, n, q);
	/* what the loops that it serves are worth means nothing in it */
	const struct hn_expr **keep = p->value;

	if (q != all) {
		p->value = HN_NEW_ARRAY(p->a, const struct hn_expr *, p->t->n_loop + 1);
		memcpy(p->value, keep, p->t->n_loop * sizeof(keep[0]));
		for (; all != NULL; all = all->up) {
			bool still = false;

			for (const struct bound *b = q; b != NULL; b = b->up) {
				still = still || b->loop == all->loop;
			}
			p->value[all->loop->loop] =
				still ? p->value[all->loop->loop] : NULL;
		}
	}
	if (n->kind == HN_NODE_LOOP && n->iter_kind == HN_ITER_REDUCE &&
	    p->part[n->stage] == NULL && p->t->dag->op[n->stage]->reduce != NULL) {
		update = hn_place_update(p->t->dag, n, n->stage, &combines);
	}
	if (p->rc != 0) {
		return;
	}
	if (combines) {
		hn_place_sum(p, n, update, q, out);
	} else if (!is_together(p, n, q)) {
		piece(p, n, q, out);
	} else if (n->kind == HN_NODE_LOOP) {
		hn_place_loop(p, n, q, out);
	} else {
		for (uint32_t i = 0; i < n->n_child && p->rc == 0; i++) {
			hn_place_node(p, n->child[i], q, out);
		}
	}
	p->value = keep;
}

/* ---- kernels */

static void begin_kernel(struct place *p, const struct hn_node *nest)
{
	p->n_slot = p->cap_slot = 0;
	p->open_slot = p->bulk_slot = p->bulk_loop = -1;
	p->around = NULL;
	p->first_buffer = p->n_buffer;
	p->span = NULL;
	p->type = NULL;
	for (uint32_t d = 0; d < 3; d++) {
		p->grid[d] = p->block[d] = 1;
	}
	memset(p->value, 0, p->t->n_loop * sizeof(p->value[0]));
	hn_place_survey(p, nest);
	for (int32_t s = 0; s < HN_DEVICE_FIRST; s++) {
		hn_place_slot(p, HN_I32,
			      s < HN_DEVICE_THREAD ? p->grid[s]
						   : p->block[s - HN_DEVICE_THREAD]);
	}
}

static void end_kernel(struct place *p, struct draft *root, uint32_t i,
		       struct hn_device_kernel *ret)
{
	*ret = (struct hn_device_kernel){
		.name = hn_arena_printf(p->a, "k%u", i),
		.n_slot = p->n_slot,
		.type = p->type,
		.body = hn_place_sync(p, root),
	};
	if (p->bulk_slot >= 0) {
		ret->body = hn_place_roles(p, ret->body);
		ret->n_slot = p->n_slot;
		ret->type = p->type;
	} else if (p->team == HN_WARPGROUP) {
		ret->body = hn_place_overlap(p, ret->body);
	}
	memcpy(ret->grid, p->grid, sizeof(ret->grid));
	memcpy(ret->block, p->block, sizeof(ret->block));
}

/* Arguments first, in their order. */
static void place_arguments(struct place *p)
{
	const struct hn_dag *dag = p->t->dag;

	for (uint32_t i = 0; i < dag->n_arg; i++) {
		struct held *h = &p->held[dag->arg[i]];
		uint32_t out = hn_dag_arg_out(dag, i);
		const struct hn_op *op = dag->op[dag->arg[i]];
		int32_t b = hn_place_buffer(p, op->name, op->dtype[out], HN_MEMORY_GLOBAL,
					    hn_op_elements(op), (int32_t)i);

		if (!h->made) {
			*h = (struct held){ .made = true, .buffer = b };
		} else if (b != h->buffer + (int32_t)out) {
			hn_place_refuse(p, dag->arg[i],
					"has outputs that are no neighbours among the "
					"arguments");
		}
	}
}

int hn_device_place(const struct hn_looptree *t, struct hn_arena *a,
		    const struct hn_device **ret, struct hn_err *err)
{
	struct hn_device *dev = HN_NEW(a, struct hn_device);
	struct hn_device_kernel *kernel =
		HN_NEW_ARRAY(a, struct hn_device_kernel, t->root->n_child);
	struct place p = {
		.t = t,
		.a = a,
		.err = err,
		.held = HN_NEW_ARRAY(a, struct held, t->dag->n_op),
		.value = HN_NEW_ARRAY(a, const struct hn_expr *, t->n_loop + 1),
		.part = HN_NEW_ARRAY(a, const struct part *, t->dag->n_op),
		.fragment = HN_NEW_ARRAY(a, struct fragment, t->dag->n_op),
		.digit = HN_NEW_ARRAY(a, uint8_t, t->n_loop + 1),
		.loop_span = HN_NEW_ARRAY(a, struct hn_span, t->n_loop + 1),
		.loop_stage = HN_NEW_ARRAY(a, int32_t, t->n_loop + 1),
	};

	if (t->dag->sizes != NULL) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "device program: sizes that are parameters have none yet");
	}
	place_arguments(&p);
	for (uint32_t i = 0; i < t->root->n_child && p.rc == 0; i++) {
		struct draft root = { .node = { .kind = HN_DEVICE_SEQ }, .loop = -1 };
		const struct hn_node *nest;

		p.over_cores = false;
		nest = hn_place_over_blocks(&p, t->root->child[i]);

		begin_kernel(&p, nest);
		hn_place_node(&p, nest, NULL, &root);
		if (p.rc == 0) {
			end_kernel(&p, &root, i, &kernel[i]);
		}
	}
	dev->n_buffer = p.n_buffer;
	dev->buffer = p.buffer;
	dev->n_map = p.n_map;
	dev->map = p.map;
	dev->n_kernel = t->root->n_child;
	dev->kernel = kernel;
	if (p.rc == 0) {
		*ret = dev;
	}
	return p.rc;
}
