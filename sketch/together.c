/* sketch/together.c -- see together.h. */
#include "sketch/together.h"

#include "base/arith.h"
#include "loopstate/dag/access.h"
#include "loopstate/state/inline.h"
#include "sketch/sketch_int.h"

#define VECTORS 4 /* in a block of the last axis: sums that stay in registers */
#define APART UINT32_MAX /* no axis of the op goes along */

struct together {
	const struct hn_dag *dag; /* inlined */
	const struct hn_access *acc;
	const bool *skip;
	int64_t iterations;
	struct hn_together_op *op;
	uint32_t (*along)[HN_DAG_MAX_ITERS]; /* [op][i]: its axis for loop i of its group */
};

/* The one dimension whose index is that axis of the reader in all its loads of `producer`. */
static uint32_t dimension(const struct hn_op_access *reader, int32_t producer, uint32_t axis)
{
	uint64_t all = ~UINT64_C(0);

	for (uint32_t k = 0; k < reader->n_read; k++) {
		const struct hn_read *r = &reader->read[k];
		uint64_t here = 0;

		for (uint32_t d = 0; r->producer == producer && d < r->load->n_arg; d++) {
			int64_t shift;
			int32_t slot;
			bool same = hn_access_const_shift(r->load->arg[d], &slot, &shift) &&
				    slot == (int32_t)axis && shift == 0;

			here |= (uint64_t)same << d;
		}
		all &= r->producer == producer ? here : all;
	}
	for (uint32_t d = 0; d < HN_DAG_MAX_RANK; d++) {
		if (all >> d & 1) {
			return d;
		}
	}
	return APART;
}

/* The group that all readers are in, if it is one; -1. */
static int32_t host_of_readers(const struct together *t, int32_t op)
{
	const struct hn_op_access *acc = &t->acc->op[op];
	int32_t host = -1;

	if (hn_dag_arg_of(t->dag, op) >= 0) {
		return -1;
	}
	for (uint32_t k = 0; k < acc->n_consumer; k++) {
		int32_t c = acc->consumer[k];

		if (!t->skip[c] && host >= 0 && t->op[c].host != host) {
			return -1;
		}
		host = t->skip[c] ? host : t->op[c].host;
	}
	return host;
}

/* The axis of op that runs with loop i of the group, by all its readers. */
static uint32_t runs_with(const struct together *t, int32_t op, uint32_t i)
{
	const struct hn_op_access *acc = &t->acc->op[op];
	uint32_t axis = APART;

	for (uint32_t k = 0; k < acc->n_consumer; k++) {
		int32_t c = acc->consumer[k];

		if (t->skip[c]) {
			continue;
		}
		uint32_t d = t->along[c][i] == APART
				     ? APART
				     : dimension(&t->acc->op[c], op, t->along[c][i]);

		if (d == APART || (axis != APART && d != axis)) {
			return APART;
		}
		axis = d;
	}
	return axis;
}

/* Join the readers' group, when enough of its loops are left. */
static void join(struct together *t, int32_t op)
{
	int32_t host = host_of_readers(t, op);
	int64_t left = 1;

	if (host < 0) {
		return;
	}
	const struct hn_together_op *group = &t->op[host];
	struct hn_together_op rest = { .host = host };

	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t axis = group->axis[i];

		t->along[op][axis] = runs_with(t, op, axis);
		if (t->along[op][axis] != APART) {
			rest.axis[rest.n++] = axis;
			left = hn_mul_sat(left, t->dag->op[host]->axis[axis].extent);
		}
	}
	if (rest.n > 0 && left >= t->iterations) {
		t->op[host] = rest;
		t->op[op].host = host;
	}
}

static void begin_group(struct together *t, int32_t op)
{
	const struct hn_op *o = t->dag->op[op];

	t->op[op] = (struct hn_together_op){ .host = op, .n = o->n_spatial };
	for (uint32_t a = 0; a < HN_DAG_MAX_ITERS; a++) {
		t->along[op][a] = a < o->n_spatial ? a : APART;
		t->op[op].axis[a] = a;
	}
}

bool hn_together_find(const struct hn_dag *dag, const bool *skip, int64_t iterations,
		      struct hn_arena *a, struct hn_together_op *ret)
{
	struct together t = {
		.dag = dag,
		.acc = hn_access_analyze(dag, a),
		.skip = skip,
		.iterations = iterations,
		.op = ret,
		.along = hn_arena_alloc(a, dag->n_op * sizeof(*t.along)),
	};

	bool any = false;

	for (int32_t i = (int32_t)dag->n_op - 1; i >= 0; i--) {
		ret[i] = (struct hn_together_op){ .host = -1 };
		if (skip[i] || dag->op[i]->kind != HN_OP_COMPUTE) {
			continue;
		}
		for (uint32_t k = 0; k < HN_DAG_MAX_ITERS; k++) {
			t.along[i][k] = APART;
		}
		join(&t, i);
		if (ret[i].host < 0) {
			begin_group(&t, i);
		}
		any |= ret[i].host != i;
	}
	return any;
}

/* Loops of the host: common ones first, its lanes last when they are split. */
static uint32_t order_loops(const struct hn_op *op, const uint32_t *axis, uint32_t n,
			    bool split, int64_t *order)
{
	uint32_t lanes = op->n_spatial - 1, n_axis = op->n_spatial + op->n_reduce, k = 0;

	for (uint32_t i = 0; i < n; i++) {
		order[k++] = axis[i];
	}
	for (uint32_t a = 0; a < n_axis; a++) {
		bool common = false;

		for (uint32_t i = 0; i < n; i++) {
			common = common || axis[i] == a;
		}
		if (!common) {
			order[k++] = a + (split && a > lanes);
		}
	}
	if (split) {
		order[k++] = lanes + 1;
	}
	return k;
}

/* The host's common axes, one that is for lanes left out; whether that is to be in blocks. */
static uint32_t common_axes(const struct hn_together_op *group, const struct hn_op *op,
			    int64_t block, uint32_t *axis, bool *ret_split)
{
	uint32_t lanes = op->n_spatial - 1, n = 0;
	bool common = false;

	for (uint32_t k = 0; k < group->n; k++) {
		if (group->axis[k] == lanes) {
			common = true;
		} else {
			axis[n++] = group->axis[k];
		}
	}
	*ret_split = common && op->axis[lanes].extent > block;
	if (*ret_split) {
		axis[n++] = lanes;
	}
	return n;
}

static void schedule_group(struct hn_chain *c, const struct hn_together_op *op, int32_t host,
			   const struct hn_op *o, int64_t block)
{
	uint32_t axis[HN_DAG_MAX_ITERS];
	int64_t order[HN_DAG_MAX_ITERS + 1];
	bool split;

	if (o->n_spatial == 0 || op[host].n == 0) {
		return;
	}
	uint32_t n = common_axes(&op[host], o, block, axis, &split);

	if (n == 0) {
		return;
	}
	if (split) {
		hn_chain_split(c, host, (int32_t)o->n_spatial - 1, &block, 1);
	}
	uint32_t k = order_loops(o, axis, n, split, order);

	hn_chain_reorder(c, host, order, k);
	if (n > 1) {
		hn_chain_fuse(c, host, 0, n);
	}
	hn_chain_annotate(c, host, 0, HN_ANN_PARALLEL);
	if (split) {
		hn_chain_annotate(c, host, (int32_t)(k - n), HN_ANN_VECTORIZE);
	}
	for (int32_t i = host - 1; i >= 0; i--) {
		if (op[i].host == host) {
			hn_chain_compute_at(c, i, host, 0);
		}
	}
}

struct body {
	uint64_t nodes, loads;
};

static void body_visit(const struct hn_expr *e, void *ctx)
{
	struct body *b = ctx;

	b->nodes++;
	b->loads += e->op == HN_EXPR_LOAD;
}

static struct body body_of(const struct hn_op *op)
{
	struct body b = { 0 };

	hn_op_visit(op, body_visit, &b);
	return b;
}

static uint64_t loads_of(const struct hn_op_access *acc, int32_t producer)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < acc->n_read; k++) {
		n += acc->read[k].producer == producer;
	}
	return n;
}

/* Element-wise ops that their one reader takes over, as long as none grows too large: skip[]. */
static void choose_inlined(const struct hn_dag *dag, struct hn_arena *a, bool *skip)
{
	const struct hn_access *acc = hn_access_analyze(dag, a);
	struct body *body = HN_NEW_ARRAY(a, struct body, dag->n_op);

	for (uint32_t i = 0; i < dag->n_op; i++) {
		struct body with = body_of(dag->op[i]);

		for (uint32_t k = 0; k < acc->op[i].n_producer; k++) {
			int32_t p = acc->op[i].producer[k];
			uint64_t times = loads_of(&acc->op[i], p);
			struct body more = { times * body[p].nodes, times * body[p].loads };

			skip[p] = dag->op[p]->kind == HN_OP_COMPUTE && !dag->op[p]->reduce &&
				  acc->op[p].has_expensive == 0 && hn_dag_arg_of(dag, p) < 0 &&
				  acc->op[p].n_consumer == 1 &&
				  with.nodes + more.nodes <= HN_LARGE_BODY &&
				  with.loads + more.loads <= HN_MANY_LOADS;
			with.nodes += skip[p] ? more.nodes : 0;
			with.loads += skip[p] ? more.loads : 0;
		}
		body[i] = with;
	}
}

const struct hn_state *hn_together(const struct hn_dag *dag, const struct hn_target *target,
				   struct hn_arena *a)
{
	int64_t cores = target->param[HN_PARAM_NUM_CORES];
	struct hn_chain c = { .s = hn_state_init(dag, a), .a = a };
	struct hn_together_op *op = HN_NEW_ARRAY(a, struct hn_together_op, dag->n_op);
	bool *skip = HN_NEW_ARRAY(a, bool, dag->n_op);
	const struct hn_dag *inlined;

	choose_inlined(dag, a, skip);
	for (int32_t i = (int32_t)dag->n_op - 1; i >= 0; i--) {
		if (skip[i]) {
			hn_chain_inline(&c, i);
		}
	}
	if (c.failed || hn_inline_dag(c.s, a, &inlined, NULL) < 0) {
		return NULL;
	}
	if (!hn_together_find(inlined, skip, 2 * (cores > 1 ? cores : 1), a, op)) {
		return NULL;
	}
	for (int32_t i = (int32_t)dag->n_op - 1; i >= 0; i--) {
		if (op[i].host == i) {
			const struct hn_op *o = inlined->op[i];
			int64_t bytes = hn_dtype_bytes((enum hn_dtype)o->dtype[0]);
			int64_t unit = target->param[HN_PARAM_VECTOR_UNIT_BYTES];

			schedule_group(&c, op, i, o, VECTORS * unit / bytes);
		}
	}
	return c.failed ? NULL : c.s;
}
