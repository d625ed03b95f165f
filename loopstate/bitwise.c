/* loopstate/bitwise.c -- see bitwise.h. */
#include "loopstate/bitwise.h"

#define KEY "bitwise"

bool hn_dag_bitwise(const struct hn_dag *dag)
{
	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (dag->op[i]->n_attr > 0 && hn_op_attr(dag->op[i], KEY)) {
			return true;
		}
	}
	return false;
}

static const struct hn_op *marked(const struct hn_op *op, struct hn_arena *a)
{
	struct hn_op *ret = HN_NEW(a, struct hn_op);
	struct hn_attr *attr = HN_NEW_ARRAY(a, struct hn_attr, (size_t)op->n_attr + 1);

	for (uint32_t i = 0; i < op->n_attr; i++) {
		attr[i] = op->attr[i];
	}
	attr[op->n_attr] = (struct hn_attr){ .name = KEY, .json = "true" };
	*ret = *op;
	ret->attr = attr;
	ret->n_attr = op->n_attr + 1;
	return ret;
}

const struct hn_dag *hn_dag_make_bitwise(const struct hn_dag *dag, struct hn_arena *a)
{
	struct hn_dag *ret = HN_NEW(a, struct hn_dag);
	const struct hn_op **op = HN_NEW_ARRAY(a, const struct hn_op *, dag->n_op);

	if (hn_dag_bitwise(dag)) {
		return dag;
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		bool compute = dag->op[i]->kind == HN_OP_COMPUTE;

		op[i] = compute ? marked(dag->op[i], a) : dag->op[i];
	}
	*ret = *dag;
	ret->op = op;
	return ret;
}

static bool rounds(const struct hn_op *op)
{
	for (uint32_t k = 0; k < op->n_out; k++) {
		if (hn_dtype_class(op->dtype[k]) == HN_CLASS_FLOAT) {
			return true;
		}
	}
	return false;
}

bool hn_keeps_order(const struct hn_dag *dag, const struct hn_op *op)
{
	return op->reduce && (op->reduce->kind == HN_COMBINE_GENERAL ||
			      (rounds(op) && hn_dag_bitwise(dag)));
}

bool hn_bitwise_broken(const struct hn_state *s)
{
	if (!s || !s->trace || !hn_dag_bitwise(s->root_dag)) {
		return false;
	}
	for (uint32_t i = 0; i < s->trace->n_step; i++) {
		if (s->trace->step[i]->kind == HN_STEP_rfactor) {
			return true;
		}
	}
	return false;
}
