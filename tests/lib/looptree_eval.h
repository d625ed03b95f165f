/* tests/lib/looptree_eval.h -- runs a loop tree, and a dag without one, on small
 * tensors.
 *
 * A LOCAL buffer is poisoned (NaN) each time its loop begins an iteration, every other
 * buffer once at the start; each access is checked: inside its buffer, inside the op's
 * domain, and never a read of poison.  Test code: aborts when memory is short. */
#ifndef HN_TESTS_LOOPTREE_EVAL_H
#define HN_TESTS_LOOPTREE_EVAL_H

#include "loopstate/dag/size.h"
#include "tests/lib/expr_eval.h"

/* n elements of each output, from `first` on. */
static void tensor_poison(struct tensor *t, int64_t first, int64_t n)
{
	for (uint32_t k = 0; k < t->n_out; k++) {
		for (int64_t i = first; i < first + n; i++) {
			t->v[k * t->n + i].i = (int64_t)EVAL_POISON;
		}
	}
}

static void tensor_make(struct tensor *t, uint32_t n_dim, uint32_t n_out,
			const int64_t *extent, int64_t n_copy)
{
	t->n_dim = n_dim;
	t->n_out = n_out;
	t->n = n_copy;
	t->copy = 0;
	t->swizzle = (struct hn_swizzle){ 0 };
	for (uint32_t d = 0; d < n_dim; d++) {
		t->extent[d] = extent[d];
		t->min[d] = 0;
		t->n *= extent[d];
	}
	t->v = malloc(sizeof(*t->v) * (size_t)(t->n * n_out));
	if (t->v == NULL) {
		abort();
	}
	tensor_poison(t, 0, t->n);
}

/* Inputs are a fixed function of (argument, element): small numbers, both signs, not 0.
 */
static void eval_fill(const struct eval *x, struct tensor *t, uint32_t arg, enum hn_dtype type)
{
	(void)x;
	for (int64_t i = 0; i < t->n; i++) {
		uint64_t h =
			((uint64_t)i * 2654435761u + arg * 40503u + 12345u) * 2246822519u;

		h ^= h >> 13;
		t->v[i].f = hn_dtype_class(type) == HN_CLASS_FLOAT
				  ? ((double)(h % 1999) - 999.5) / 512.0
				  : (double)(h % 3);
	}
}

/* Values of axis i of op; fewer than it has for sizes below the largest. */
static int64_t eval_extent(struct eval *x, const struct hn_op *op, uint32_t i)
{
	const struct hn_expr *form = x->size != NULL ? hn_op_extent(op, i) : NULL;

	return form != NULL ? eval_int(x, form) : op->axis[i].extent;
}

static union cell eval_value(struct eval *x, const struct hn_expr *e)
{
	return x->value != NULL ? x->value(x, e) : (union cell){ .f = eval_any(x, e) };
}

static bool eval_holds(struct eval *x, const struct hn_expr *e)
{
	return x->value != NULL ? x->value(x, e).i != 0 : eval_int(x, e) != 0;
}

/* One element of op at axis values x->slot: body, or (combine, source) into the tensor.
 */
static void eval_store(struct eval *x, int32_t i, enum hn_stmt_kind kind)
{
	const struct hn_op *op = x->dag->op[i];
	union cell value[HN_DAG_MAX_OUT] = { 0 };
	union cell *at[HN_DAG_MAX_OUT];

	for (uint32_t d = 0; d < op->n_dim; d++) {
		int64_t v = x->slot[d] - op->axis[d].min;

		if (v < 0 || v >= eval_extent(x, op, d)) {
			eval_fault(x, "write outside the domain", i, x->slot[d]);
		}
	}
	for (uint32_t k = 0; k < op->n_out; k++) {
		at[k] = eval_at(x, i, k, x->slot);
		if (at[k] == NULL) {
			return;
		}
	}
	const struct hn_reduce *red = op->reduce;

	if (x->touch != NULL) { /* whatever the condition says, as the exact check has it */
		x->touch(x, i, at[0] - x->tensor[i].v, /* write= */ true);
	}
	if (kind == HN_STMT_UPDATE && red->condition != NULL &&
	    !eval_holds(x, red->condition)) {
		return;
	}
	for (uint32_t k = 0; k < op->n_out && kind == HN_STMT_UPDATE; k++) {
		x->lhs[k] = *at[k];
		x->rhs[k] = eval_value(x, red->source[k]);
		if (eval_is_poison(&x->lhs[k])) {
			eval_fault(x, "update of poison", i, 0);
		}
	}
	for (uint32_t k = 0; k < op->n_out; k++) {
		value[k] = eval_value(x, kind == HN_STMT_COMPUTE ? op->body[k]
				       : kind == HN_STMT_INIT  ? red->identity[k]
							       : red->result[k]);
	}
	for (uint32_t k = 0; k < op->n_out; k++) {
		*at[k] = value[k];
	}
}

/* All points of an op's axes, first to last; statement `kind` at each. */
static void eval_domain(struct eval *x, int32_t i, uint32_t n_axis,
			enum hn_stmt_kind kind)
{
	const struct hn_op *op = x->dag->op[i];
	int64_t at[HN_DAG_MAX_ITERS];
	uint32_t k;

	for (k = 0; k < n_axis; k++) {
		at[k] = op->axis[k].min;
	}
	x->slot = at;
	x->n_slot = n_axis;
	do {
		eval_store(x, i, kind);
		for (k = n_axis; k-- > 0;) {
			if (++at[k] < op->axis[k].min + op->axis[k].extent) {
				break;
			}
			at[k] = op->axis[k].min;
		}
	} while (k != UINT32_MAX);
}

static void eval_inputs(struct eval *x)
{
	for (uint32_t k = 0; k < x->dag->n_arg; k++) {
		const struct hn_op *op = x->dag->op[x->dag->arg[k]];

		if (op->kind == HN_OP_PLACEHOLDER) {
			(x->fill != NULL ? x->fill : eval_fill)(
				x, &x->tensor[x->dag->arg[k]], k, op->dtype[0]);
		}
	}
}

/* The meaning of the dag, op by op; x says how to compute. */
static inline void eval_dag_as(struct eval *x, const struct hn_dag *dag)
{
	x->dag = dag;
	x->tensor = calloc(dag->n_op, sizeof(*x->tensor));
	for (uint32_t i = 0; i < dag->n_op; i++) {
		tensor_make(&x->tensor[i], dag->op[i]->n_dim, dag->op[i]->n_out,
			    dag->op[i]->shape, 1);
	}
	eval_inputs(x);
	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];

		if (op->kind == HN_OP_COMPUTE && op->reduce != NULL) {
			eval_domain(x, (int32_t)i, op->n_spatial, HN_STMT_INIT);
			eval_domain(x, (int32_t)i, op->n_spatial + op->n_reduce,
				    HN_STMT_UPDATE);
		} else if (op->kind == HN_OP_COMPUTE) {
			eval_domain(x, (int32_t)i, op->n_spatial, HN_STMT_COMPUTE);
		}
	}
}

static inline void eval_dag(struct eval *x, const struct hn_dag *dag)
{
	memset(x, 0, sizeof(*x));
	eval_dag_as(x, dag);
}

struct tree_eval {
	struct eval x;
	const struct hn_looptree *t;
	int64_t *loop; /* [n_loop]; poisoned outside */
};

#define EVAL_NO_VALUE INT64_C(-987654321987)

/* Work on an iteration of the loop goes on; `begins`: it is the first of it. */
static void tree_enter(struct tree_eval *e, int32_t loop, bool begins)
{
	for (uint32_t i = 0; i < e->t->dag->n_op; i++) {
		const struct hn_buffer *b = &e->t->buffer[i];
		struct tensor *t = &e->x.tensor[i];

		if (b->op < 0 || b->lifetime != HN_LIFETIME_LOOP || b->at_loop != loop) {
			continue;
		}
		t->copy = b->ring > 1 ? eval_int(&e->x, b->turn) * hn_layout_size(b) : 0;
		for (uint32_t d = 0; d < b->n_dim; d++) {
			t->min[d] = eval_int(&e->x, b->min[d]);
		}
		if (begins) {
			tensor_poison(t, t->copy, hn_layout_size(b));
		}
	}
}

/* The turns of a loop: [*ret_first, ret), in which each child is at turn + ahead. */
static int64_t tree_turns(const struct hn_node *n, int64_t *ret_first)
{
	int64_t most = n->n_child > 0 ? n->child[0]->ahead : 0, least = most;

	for (uint32_t k = 1; k < n->n_child; k++) {
		most = n->child[k]->ahead > most ? n->child[k]->ahead : most;
		least = n->child[k]->ahead < least ? n->child[k]->ahead : least;
	}
	*ret_first = -most;
	return n->extent - least;
}

/* Whether child k of the loop runs in this turn: its iteration is the loop's value then. */
static bool tree_turn(struct tree_eval *e, const struct hn_node *n, uint32_t k, int64_t turn)
{
	int64_t v = turn + n->child[k]->ahead, first;
	bool begins = true;

	if (n->kind != HN_NODE_LOOP) {
		return true;
	}
	if (v < 0 || v >= n->extent) {
		return false;
	}
	(void)tree_turns(n, &first);
	for (uint32_t i = 0; i < k; i++) {
		begins = begins && n->child[i]->ahead < n->child[k]->ahead;
	}
	e->loop[n->loop] = v;
	tree_enter(e, n->loop, begins && n->child[k]->ahead == -first);
	return true;
}

static void tree_stmt(struct tree_eval *e, const struct hn_node *n)
{
	const struct hn_op *op = e->t->dag->op[n->stage];
	uint32_t n_axis = op->n_spatial + op->n_reduce;
	int64_t axis[HN_DAG_MAX_ITERS];

	for (uint32_t k = 0; k < n->n_guard; k++) {
		if (!eval_int(&e->x, n->guard[k])) {
			e->x.n_guarded++;
			return;
		}
	}
	for (uint32_t k = 0; k < n_axis; k++) {
		axis[k] =
			n->axis[k] == NULL ? EVAL_NO_VALUE : eval_int(&e->x, n->axis[k]);
	}
	e->x.slot = axis;
	e->x.n_slot = n_axis;
	eval_store(&e->x, n->stage, n->stmt);
	e->x.slot = e->loop;
	e->x.n_slot = e->t->n_loop;
}

static void tree_node(struct tree_eval *e, const struct hn_node *n)
{
	if (n->init != NULL) {
		tree_node(e, n->init);
	}
	if (n->kind == HN_NODE_STMT) {
		tree_stmt(e, n);
		return;
	}
	int64_t first = 0, end = n->kind == HN_NODE_LOOP ? tree_turns(n, &first) : 1;

	for (int64_t turn = first; turn < end && e->x.fault[0] == 0; turn++) {
		for (uint32_t k = 0; k < n->n_child; k++) {
			if (tree_turn(e, n, k, turn)) {
				tree_node(e, n->child[k]);
			}
		}
	}
	if (n->kind == HN_NODE_LOOP) {
		e->loop[n->loop] = EVAL_NO_VALUE;
	}
}

/* Tensors of the tree's buffers, inputs filled; loops without values. */
static void eval_tensors(struct tree_eval *e)
{
	const struct hn_looptree *t = e->t;

	e->x.tensor = calloc(t->dag->n_op, sizeof(*e->x.tensor));
	e->loop = calloc(t->n_loop + 1, sizeof(*e->loop));
	for (uint32_t i = 0; i < t->dag->n_op; i++) {
		const struct hn_buffer *b = &t->buffer[i];

		if (b->op < 0) {
			continue;
		}
		int64_t extent[HN_DAG_MAX_RANK];

		for (uint32_t d = 0; d < b->n_dim; d++) {
			const struct hn_expr *form =
				e->x.size != NULL && b->lifetime == HN_LIFETIME_ARG
					? hn_op_extent(t->dag->op[i], d)
					: NULL;

			extent[d] = form != NULL ? eval_int(&e->x, form) : b->extent[d];
		}
		tensor_make(&e->x.tensor[i], b->n_dim, t->dag->op[i]->n_out, extent,
			    b->ring > 1 ? b->ring : 1);
		e->x.tensor[i].swizzle = b->swizzle;
		for (uint32_t d = 0; d < b->n_dim && b->lifetime != HN_LIFETIME_LOOP; d++) {
			e->x.tensor[i].min[d] = b->min[d]->u.i;
		}
	}
	for (uint32_t k = 0; k < t->n_loop; k++) {
		e->loop[k] = EVAL_NO_VALUE;
	}
	eval_inputs(&e->x);
	e->x.slot = e->loop;
	e->x.n_slot = t->n_loop;
}

static inline void eval_tree(struct eval *ret, const struct hn_looptree *t)
{
	struct tree_eval e = { .t = t, .x = { .dag = t->dag } };

	eval_tensors(&e);
	tree_node(&e, t->root);
	free(e.loop);
	e.x.slot = NULL;
	*ret = e.x;
}

static inline void eval_free(struct eval *x)
{
	for (uint32_t i = 0; i < x->dag->n_op; i++) {
		free(x->tensor[i].v);
	}
	free(x->tensor);
}

/* Do the outputs agree?  Sums may be in another order: 1e-9 of the size. */
static inline bool eval_same(const struct eval *want, struct eval *got)
{
	for (uint32_t k = 0; k < want->dag->n_arg; k++) {
		const struct tensor *p = &want->tensor[want->dag->arg[k]];
		const struct tensor *q = &got->tensor[got->dag->arg[k]];

		for (int64_t i = 0; i < p->n * p->n_out; i++) {
			double size = 1 + fabs(p->v[i].f);
			bool same = isfinite(size)
					    ? fabs(p->v[i].f - q->v[i].f) <= 1e-9 * size
				    : isnan(size) ? isnan(q->v[i].f) && !eval_is_poison(&q->v[i])
						  : p->v[i].f == q->v[i].f;

			if (!same) {
				snprintf(got->fault, sizeof(got->fault),
					 "argument %u element %" PRId64 ": %g, want %g",
					 k, i, q->v[i].f, p->v[i].f);
				return false;
			}
		}
	}
	return true;
}

#endif
