/* costmodel/ansor.c -- walk the loop tree: a row for each stored buffer.
 *
 * A reduction's init and update store to one buffer: the row is of the update, the later of the
 * two.  (Ansor adds up their operations, but an init has none: it stores a constant.)
 */
#include "costmodel/ansor.h"

#include <math.h>
#include <string.h>

#include "costmodel/ansor_int.h"
#include "loopstate/state/inline.h"

struct row {
	int32_t op, out;
	double x[HN_N_ANSOR]; /* not scaled yet */
};

struct walk {
	struct hn_ansor_nest nest;
	uint32_t n, cap;
	struct row *row;
	bool hopeless;
};

/* x: the annotation's columns. */
static void put_annotation(const struct hn_ansor_nest *nest, uint8_t ann, double *x)
{
	enum { NUM, PROD, LEN, NONE, MIXED = NONE + 7 };

	for (uint32_t l = 0; l < nest->n; l++) {
		if (nest->loop[l]->ann == ann) {
			double extent = (double)nest->loop[l]->extent;

			x[PROD] = x[NUM]++ > 0 ? x[PROD] * extent : extent;
			x[LEN] = extent;
		}
	}
	x[x[NUM] > 0 ? MIXED : NONE] = 1;
}

static void put_threads(const struct hn_ansor_nest *nest, double *x)
{
	static const enum hn_ansor_column of[HN_ANN_THREAD_Z + 1] = {
		[HN_ANN_BLOCK_X] = HN_ANSOR_blockIdx_x_len,
		[HN_ANN_BLOCK_Y] = HN_ANSOR_blockIdx_y_len,
		[HN_ANN_BLOCK_Z] = HN_ANSOR_blockIdx_z_len,
		[HN_ANN_THREAD_X] = HN_ANSOR_threadIdx_x_len,
		[HN_ANN_THREAD_Y] = HN_ANSOR_threadIdx_y_len,
		[HN_ANN_THREAD_Z] = HN_ANSOR_threadIdx_z_len,
	};

	x[HN_ANSOR_is_gpu] = nest->is_gpu;
	for (int i = HN_ANSOR_blockIdx_x_len; i <= HN_ANSOR_vthread_len; i++) {
		x[i] = 1;
	}
	for (uint32_t l = 0; l < nest->n; l++) {
		uint8_t ann = nest->loop[l]->ann;

		if (ann == HN_ANN_VTHREAD) {
			x[HN_ANSOR_vthread_len] *= (double)nest->loop[l]->extent;
		} else if (hn_ann_is_thread(ann)) {
			x[of[ann]] = (double)nest->loop[l]->extent;
		}
	}
}

static void put_nest(const struct hn_ansor_nest *nest, double *x)
{
	x[HN_ANSOR_outer_prod] = nest->points;
	x[HN_ANSOR_num_loops] = nest->n;
	x[HN_ANSOR_auto_unroll_max_step] = nest->unroll_max_step;
}

/* A buffer is allocated around the loops of its own stage, inside those of others. */
static void put_allocation(const struct hn_ansor_nest *nest, int32_t op, int64_t elem_bytes,
			   double *x)
{
	const struct hn_stage_bounds *b = &nest->tree->bounds->stage[op];
	double elements = 1, outer = 1;

	for (uint32_t d = 0; d < nest->dag->op[op]->n_spatial; d++) {
		elements *= (double)b->axis[d].extent;
	}
	for (uint32_t l = 0; l < nest->n; l++) {
		outer *= nest->loop[l]->stage != op ? (double)nest->loop[l]->extent : 1;
	}
	x[HN_ANSOR_alloc_size] = elements * (double)elem_bytes;
	x[HN_ANSOR_alloc_prod] = elements * outer;
	x[HN_ANSOR_alloc_outer_prod] = outer;
	x[HN_ANSOR_alloc_inner_prod] = nest->points / outer;
}

static struct row *row_of(struct walk *w, int32_t op, int32_t out)
{
	for (uint32_t i = w->n; i-- > 0;) {
		if (w->row[i].op == op && w->row[i].out == out) {
			return &w->row[i];
		}
	}
	w->row = hn_arena_grow(w->nest.a, w->row, w->n, &w->cap, sizeof *w->row);
	w->row[w->n] = (struct row){.op = op, .out = out};
	return &w->row[w->n++];
}

static void visit_store(struct walk *w, const struct hn_node *stmt, uint32_t out)
{
	struct hn_ansor_nest *nest = &w->nest;
	double *x = row_of(w, stmt->stage, (int32_t)out)->x;
	struct hn_ansor_store s;

	hn_ansor_store_read(nest, stmt, out, &s);
	memset(x, 0, HN_N_ANSOR * sizeof *x);
	for (int i = 0; i < HN_ANSOR_N_COUNT; i++) {
		x[i] = s.count[i] * nest->points;
	}
	put_annotation(nest, HN_ANN_VECTORIZE, &x[HN_ANSOR_vec_num]);
	put_annotation(nest, HN_ANN_UNROLL, &x[HN_ANSOR_unroll_num]);
	put_annotation(nest, HN_ANN_PARALLEL, &x[HN_ANSOR_parallel_num]);
	put_threads(nest, x);
	hn_ansor_store_measure(nest, &s, x);
	put_allocation(nest, stmt->stage, s.access[0].elem_bytes, x);
	put_nest(nest, x);
}

static void visit(struct walk *w, const struct hn_node *node);

/* A loop that runs once is none, unless a thread runs it. */
static void visit_loop(struct walk *w, const struct hn_node *node)
{
	struct hn_ansor_nest *nest = &w->nest;
	bool thread = hn_ann_is_thread(node->ann), counts = thread || node->extent != 1;
	int32_t outside = nest->unroll_max_step;

	w->hopeless = nest->n == HN_ANSOR_MAX_LOOPS;
	if (w->hopeless) {
		return;
	}
	nest->is_gpu |= thread;
	nest->unroll_max_step = node->unroll_max_step ? node->unroll_max_step : outside;
	if (counts) {
		nest->loop[nest->n++] = node;
		nest->points *= (double)node->extent;
		nest->span[node->loop].hi = node->extent - 1;
	}
	for (uint32_t i = 0; i < node->n_child && !w->hopeless; i++) {
		visit(w, node->child[i]);
	}
	nest->unroll_max_step = outside;
	if (counts) {
		nest->n--;
		nest->points /= (double)node->extent;
		nest->span[node->loop].hi = 0;
	}
}

static void visit(struct walk *w, const struct hn_node *node)
{
	if (node->init) {
		visit(w, node->init);
	}
	if (node->kind == HN_NODE_STMT) {
		for (uint32_t out = 0; out < w->nest.dag->op[node->stage]->n_out; out++) {
			visit_store(w, node, out);
		}
	} else if (!w->hopeless) {
		visit_loop(w, node);
	}
}

/* The tree's dag, with 1 wherever a constant matrix is inlined, as Ansor has it. */
static const struct hn_dag *dag_of(const struct hn_looptree *tree, struct hn_arena *a)
{
	struct hn_state s = *tree->state;
	struct hn_dag dag = *s.dag;
	const struct hn_op **op = NULL;
	const struct hn_dag *out = tree->dag;

	for (uint32_t i = 0; i < dag.n_op; i++) {
		if (s.stage[i]->at != HN_AT_INLINED || !hn_op_attr(dag.op[i], "const_matrix")) {
			continue;
		}
		struct hn_op *one = HN_NEW(a, struct hn_op);
		const struct hn_expr **body = HN_NEW_ARRAY(a, const struct hn_expr *, 1);

		if (!op) {
			op = HN_NEW_ARRAY(a, const struct hn_op *, dag.n_op);
			memcpy(op, dag.op, dag.n_op * sizeof *op);
		}
		body[0] = hn_expr_float(1, (enum hn_dtype)dag.op[i]->dtype[0], a);
		*one = *dag.op[i];
		one->body = body;
		op[i] = one;
	}
	if (op) {
		dag.op = op;
		s.dag = &dag;
		if (hn_inline_dag(&s, a, &out, NULL) < 0) {
			out = tree->dag;
		}
	}
	return out;
}

static void scale(const struct walk *w, struct hn_arena *a, struct hn_ansor *ret)
{
	int32_t *op = HN_NEW_ARRAY(a, int32_t, w->n), *out = HN_NEW_ARRAY(a, int32_t, w->n);
	float *x = HN_NEW_ARRAY(a, float, (size_t)w->n *HN_N_ANSOR);

	for (uint32_t i = 0; i < w->n; i++) {
		op[i] = w->row[i].op;
		out[i] = w->row[i].out;
		for (int k = 0; k < HN_N_ANSOR; k++) {
			x[(size_t)i * HN_N_ANSOR + k] = (float)log2(w->row[i].x[k] + 1);
		}
	}
	*ret = (struct hn_ansor){.n = w->n, .op = op, .out = out, .x = x};
}

bool hn_ansor_of(const struct hn_looptree *tree, const struct hn_target *target,
		 enum hn_ansor_defects defects, struct hn_arena *a, struct hn_ansor *ret)
{
	const struct hn_node *root = tree->root;
	struct walk *w = HN_NEW(a, struct walk);

	w->nest = (struct hn_ansor_nest){
		.tree = tree,
		.dag = dag_of(tree, a),
		.a = a,
		.defects = defects,
		.line_bytes = (double)target->param[HN_PARAM_CACHE_LINE_BYTES],
		.points = 1,
		.span = HN_NEW_ARRAY(a, struct hn_span, tree->n_loop),
		.of = HN_NEW_ARRAY(a, struct hn_ansor_loop, tree->n_loop)};
	for (uint32_t i = 0; i < root->n_child && !w->hopeless; i++) {
		if (!tree->prepared[root->child[i]->stage]) {
			visit(w, root->child[i]);
		}
	}
	scale(w, a, ret);
	return !w->hopeless && w->n > 0;
}
