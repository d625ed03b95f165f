/* looptree_trace.h -- legality of a loop tree by running it with every access watched: no
 * polyhedra, no proofs.  Small trees only.
 *
 * On top of looptree_eval.h (bounds, domains, poison, numbers):
 *   race      within one run of a loop whose iterations run at once, an element that lives
 *             outside its iterations is touched by two of them, and written by one; but for
 *             parts of a sum, which threads of a GPU's block combine;
 *   twice     a reduction takes one of its points twice into one element;
 *   left out  an element is read, or left as a result, before all points are in it;
 *   reordered a combiner that no law allows it takes its points in another order than written.
 */
#ifndef HN_TESTS_LOOPTREE_TRACE_H
#define HN_TESTS_LOOPTREE_TRACE_H

#include "base/rng.h"
#include "loopstate/dag/liberty.h"
#include "tests/lib/looptree_eval.h"

#define TRACE_DEPTH 12 /* concurrent loops within each other */

struct touched {
	int64_t run;  /* of the loop, from 1 */
	int64_t iter; /* that touched it first */
	bool wrote, shared;
};

struct trace_level {
	const struct hn_node *loop;
	int64_t run, iter;
};

struct trace {
	const struct hn_looptree *t;
	uint32_t n_level;
	struct trace_level level[TRACE_DEPTH];
	int64_t n_run;
	struct touched **touched;     /* [op][element * TRACE_DEPTH + level] */
	int64_t **last;		      /* [op][element]: last point of its reduction, -1 */
	unsigned char **taken;	      /* [op][element * points + point] */
	int64_t *points;	      /* [op] of its reduction */
	int64_t **count;	      /* [op][element] of them taken */
	const struct hn_node *stmt;   /* that runs */
	bool is_inside[TRACE_DEPTH][64];
};

static void trace_fault(struct eval *x, const char *what, int32_t op, int64_t element)
{
	eval_fault(x, what, op, element);
}

/* A part of a reduction that may be cut into parts, taken by threads in a loop over it. */
static bool trace_is_part(const struct trace *r, const struct hn_node *loop, int32_t op)
{
	bool threads = loop->ann == HN_ANN_THREAD_X || loop->ann == HN_ANN_THREAD_Y ||
		       loop->ann == HN_ANN_THREAD_Z;

	return threads && loop->iter_kind == HN_ITER_REDUCE && loop->stage == op && r->stmt->stage == op &&
	       r->stmt->stmt == HN_STMT_UPDATE &&
	       hn_against_parts(r->t->dag, r->t->dag->op[op]) == NULL;
}

static void trace_race(struct eval *x, struct trace *r, int32_t op, int64_t element,
		       bool write)
{
	for (uint32_t k = 0; k < r->n_level; k++) {
		struct touched *at = &r->touched[op][element * TRACE_DEPTH + k];
		const struct trace_level *l = &r->level[k];

		if (r->is_inside[k][op] || trace_is_part(r, l->loop, op)) {
			continue;
		}
		if (at->run != l->run) {
			*at = (struct touched){ l->run, l->iter, write, false };
			continue;
		}
		at->shared = at->shared || at->iter != l->iter;
		at->wrote = at->wrote || write;
		if (at->shared && at->wrote) {
			trace_fault(x, "race", op, element);
		}
	}
}

static void trace_point(struct eval *x, struct trace *r, int32_t op, int64_t element)
{
	const struct hn_op *o = x->dag->op[op];
	int64_t point = 0;

	if (r->stmt->stmt == HN_STMT_INIT) {
		r->last[op][element] = -1;
		r->count[op][element] = 0;
		memset(r->taken[op] + element * r->points[op], 0, (size_t)r->points[op]);
		return;
	}
	for (uint32_t k = o->n_spatial; k < o->n_spatial + o->n_reduce; k++) {
		int64_t v = x->slot[k] - o->axis[k].min;

		if (v < 0 || v >= eval_extent(x, o, k)) {
			trace_fault(x, "reduction outside its domain", op, v);
			return;
		}
		point = point * eval_extent(x, o, k) + v;
	}
	unsigned char *taken = &r->taken[op][element * r->points[op] + point];

	if (*taken && !x->numbers_decide) {
		trace_fault(x, "twice", op, point);
	}
	*taken = 1;
	r->count[op][element]++;
	if (hn_keeps_order(x->dag, o) && point < r->last[op][element] &&
	    !x->numbers_decide) {
		trace_fault(x, "reordered", op, point);
	}
	r->last[op][element] = point;
}

static void trace_touch(struct eval *x, int32_t op, int64_t element, bool write)
{
	struct trace *r = x->trace;

	trace_race(x, r, op, element, write);
	if (!write && x->dag->op[op]->reduce && r->stmt->stage != op &&
	    r->count[op][element] != r->points[op] && !x->numbers_decide) {
		trace_fault(x, "left out", op, element);
	}
	if (write && r->stmt->stmt != HN_STMT_COMPUTE) {
		trace_point(x, r, op, element);
	}
}

/* Buffers made within an iteration of the loop: held by it or by a loop below. */
static void trace_private(struct trace *r, const struct hn_node *n, bool *inside)
{
	for (uint32_t i = 0; i < r->t->dag->n_op && n->kind == HN_NODE_LOOP; i++) {
		const struct hn_buffer *b = &r->t->buffer[i];

		inside[i] = inside[i] || (b->op >= 0 && b->lifetime == HN_LIFETIME_LOOP &&
					  b->at_loop == n->loop);
	}
	if (n->init) {
		trace_private(r, n->init, inside);
	}
	for (uint32_t k = 0; k < n->n_child; k++) {
		trace_private(r, n->child[k], inside);
	}
}

/* Iteration k of those of a concurrent loop: all of them, in the order of this seed. */
static int64_t trace_iteration(const struct eval *x, int64_t k, int64_t extent)
{
	struct hn_rng rng = hn_rng_stream(x->seed, 21, (uint64_t)extent, 0);
	int64_t start = (int64_t)hn_rng_below(&rng, (uint64_t)extent), step = 1, y = extent;

	if (x->seed % 3 != 2) {
		return x->seed % 3 == 0 ? k : extent - 1 - k;
	}
	while (y != 1) { /* one that has no divisor with the extent */
		int64_t p = step = 1 + (int64_t)hn_rng_below(&rng, (uint64_t)extent);

		for (y = extent; p != 0;) {
			int64_t rest = y % p;

			y = p;
			p = rest;
		}
	}
	return (start + k * step) % extent;
}

static void trace_node(struct tree_eval *e, struct trace *r, const struct hn_node *n)
{
	bool concurrent = n->kind == HN_NODE_LOOP && n->extent > 1 && n->ann != HN_ANN_NONE &&
			  n->ann != HN_ANN_UNROLL && n->ann != HN_ANN_TENSORIZE;

	if (n->init != NULL) {
		trace_node(e, r, n->init);
	}
	if (n->kind == HN_NODE_STMT) {
		r->stmt = n;
		tree_stmt(e, n);
		return;
	}
	if (concurrent) {
		if (r->n_level == TRACE_DEPTH) {
			abort();
		}
		memset(r->is_inside[r->n_level], 0, sizeof(r->is_inside[0]));
		trace_private(r, n, r->is_inside[r->n_level]);
		r->level[r->n_level++] = (struct trace_level){ n, ++r->n_run, 0 };
	}
	int64_t first = 0, end = n->kind == HN_NODE_LOOP ? tree_turns(n, &first) : 1;

	for (int64_t k = first; k < end && e->x.fault[0] == 0; k++) {
		int64_t turn = concurrent && first == 0 && end == n->extent
				       ? trace_iteration(&e->x, k, end)
				       : k;

		if (concurrent) {
			r->level[r->n_level - 1].iter = turn;
		}
		for (uint32_t i = 0; i < n->n_child; i++) {
			if (tree_turn(e, n, i, turn)) {
				trace_node(e, r, n->child[i]);
			}
		}
	}
	r->n_level -= concurrent;
	if (n->kind == HN_NODE_LOOP) {
		e->loop[n->loop] = EVAL_NO_VALUE;
	}
}

static void trace_make(struct trace *r, const struct hn_looptree *t, struct eval *x)
{
	uint32_t n = t->dag->n_op;

	memset(r, 0, sizeof(*r));
	r->t = t;
	r->touched = calloc(n, sizeof(*r->touched));
	r->last = calloc(n, sizeof(*r->last));
	r->taken = calloc(n, sizeof(*r->taken));
	r->points = calloc(n, sizeof(*r->points));
	r->count = calloc(n, sizeof(*r->count));
	for (uint32_t i = 0; i < n; i++) {
		const struct hn_op *op = t->dag->op[i];
		size_t elements = (size_t)x->tensor[i].n;

		if (t->buffer[i].op < 0) {
			continue;
		}
		r->points[i] = 1;
		for (uint32_t k = 0; k < op->n_reduce; k++) {
			r->points[i] *= eval_extent(x, op, op->n_spatial + k);
		}
		r->touched[i] = calloc(elements * TRACE_DEPTH, sizeof(**r->touched));
		r->last[i] = calloc(elements, sizeof(**r->last));
		r->count[i] = calloc(elements, sizeof(**r->count));
		r->taken[i] = calloc(elements * (size_t)r->points[i], 1);
	}
}

static void trace_free(struct trace *r)
{
	for (uint32_t i = 0; i < r->t->dag->n_op; i++) {
		free(r->touched[i]);
		free(r->last[i]);
		free(r->count[i]);
		free(r->taken[i]);
	}
	free(r->touched);
	free(r->last);
	free(r->count);
	free(r->taken);
	free(r->points);
}

static void trace_outputs(struct eval *x, const struct trace *r)
{
	for (uint32_t k = x->dag->n_input; k < x->dag->n_arg; k++) {
		int32_t op = x->dag->arg[k];

		for (int64_t i = 0; x->dag->op[op]->reduce && i < x->tensor[op].n; i++) {
			if (r->count[op][i] != r->points[op] && !x->numbers_decide) {
				trace_fault(x, "left out", op, i);
			}
		}
	}
}

/* eval_tree with every access watched; *ret says how to compute. */
static void trace_tree_as(struct eval *ret, const struct hn_looptree *t)
{
	struct tree_eval e = { .t = t, .x = *ret };
	struct trace r;

	eval_tensors(&e);
	trace_make(&r, t, &e.x);
	e.x.touch = trace_touch;
	e.x.trace = &r;
	trace_node(&e, &r, t->root);
	trace_outputs(&e.x, &r);
	free(e.loop);
	trace_free(&r);
	e.x.slot = NULL;
	e.x.touch = NULL;
	*ret = e.x;
}

static inline void trace_tree(struct eval *ret, const struct hn_looptree *t)
{
	*ret = (struct eval){ .dag = t->dag };
	trace_tree_as(ret, t);
}

/* Whether the tree is legal and computes the dag; *why holds the fault, "" when none. */
static inline bool trace_right(const struct hn_looptree *t, const struct eval *want,
			char why[300])
{
	struct eval got;
	bool same;

	trace_tree(&got, t);
	same = got.fault[0] == 0 && eval_same(want, &got);
	snprintf(why, 300, "%s", got.fault);
	eval_free(&got);
	return same;
}

#endif
