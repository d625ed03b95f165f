/* target/npu/npu_tiles.c -- see npu_tiles.h. */
#include "target/npu/npu_tiles.h"

#include <string.h>

#include "base/arith.h"

static int64_t points(const struct hn_op *op)
{
	int64_t n = 1;

	for (uint32_t d = 0; d < op->n_spatial + op->n_reduce; d++) {
		n = hn_mul_sat(n, op->axis[d].extent > 0 ? op->axis[d].extent : 1);
	}
	return n;
}

int32_t hn_npu_widest(const struct hn_dag *dag)
{
	int32_t widest = -1;

	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (dag->op[i]->kind == HN_OP_COMPUTE &&
		    (widest < 0 || points(dag->op[i]) > points(dag->op[widest]))) {
			widest = (int32_t)i;
		}
	}
	return widest;
}

static const struct hn_expr *without_casts(const struct hn_expr *e)
{
	while (e->op == HN_EXPR_CAST) {
		e = e->arg[0];
	}
	return e;
}

static void mark(const struct hn_expr *e, bool has[HN_DAG_MAX_ITERS])
{
	if (e->op == HN_EXPR_VAR) {
		has[e->ref] = true;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		mark(e->arg[i], has);
	}
}

bool hn_npu_roles(const struct hn_op *op, uint8_t role[HN_DAG_MAX_ITERS])
{
	const struct hn_reduce *r = op->reduce;
	bool has[2][HN_DAG_MAX_ITERS] = { { false } };

	if (r == NULL || r->n != 1 || r->kind != HN_COMBINE_SUM || r->condition != NULL ||
	    r->source[0]->op != HN_EXPR_MUL || op->n_spatial + op->n_reduce > HN_DAG_MAX_ITERS) {
		return false;
	}
	for (int i = 0; i < 2; i++) {
		const struct hn_expr *load = without_casts(r->source[0]->arg[i]);

		if (load->op != HN_EXPR_LOAD) {
			return false;
		}
		mark(load, has[i]);
	}
	for (uint32_t i = 0; i < op->n_spatial + op->n_reduce; i++) {
		role[i] = i >= op->n_spatial	       ? HN_NPU_ROLE_TERM
			  : has[0][i] == has[1][i] ? HN_NPU_ROLE_BATCH
			  : has[0][i]		       ? HN_NPU_ROLE_ROW
						       : HN_NPU_ROLE_COLUMN;
	}
	return true;
}

static int64_t extent_of(const struct hn_stage *st, int32_t var)
{
	for (uint32_t i = 0; i < st->n_iter; i++) {
		if (st->iter[i].var == var) {
			return st->iter[i].extent > 0 ? st->iter[i].extent : 1;
		}
	}
	return 1;
}

static struct hn_npu_cut cut_of(const struct hn_stage *st, int32_t axis)
{
	for (uint32_t i = 0; i < st->n_rel; i++) {
		const struct hn_rel *r = &st->rel[i];

		if (r->kind == HN_REL_SPLIT && r->parent == axis && r->n >= 2) {
			return (struct hn_npu_cut){
				.tile = extent_of(st, r->part[r->n - 1]),
				.times = extent_of(st, r->part[r->n - 2]),
				.parts = r->n > 2 ? extent_of(st, r->part[r->n - 3]) : 0
			};
		}
	}
	return (struct hn_npu_cut){ 0 };
}

/* The stage of that op; steps put others between. */
static int32_t stage_of(const struct hn_state *s, const struct hn_op *op)
{
	for (int32_t i = 0; i < (int32_t)s->n_stage; i++) {
		if (strcmp(s->dag->op[i]->id, op->id) == 0) {
			return i;
		}
	}
	return -1;
}

void hn_npu_tiles_of(const struct hn_state *s, struct hn_npu_tiles *ret)
{
	int32_t op = hn_npu_widest(s->root_dag);
	int32_t stage = op < 0 ? -1 : stage_of(s, s->root_dag->op[op]);
	uint8_t role[HN_DAG_MAX_ITERS];
	const struct hn_stage *st;
	const struct hn_op *it;

	*ret = (struct hn_npu_tiles){ .op = -1, .slots = 1 };
	if (stage < 0) {
		return;
	}
	st = s->stage[stage];
	it = s->dag->op[stage];
	ret->n_axis = it->n_spatial + it->n_reduce;
	ret->product = hn_npu_roles(s->root_dag->op[op], role);
	for (uint32_t i = 0; i < ret->n_axis; i++) {
		ret->axis[i] = cut_of(st, (int32_t)i);
		ret->op = ret->axis[i].tile > 0 ? op : ret->op;
	}
	ret->slots = st->pipeline.stages > 1 ? st->pipeline.stages : 1;
}
