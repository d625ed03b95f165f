/* loopstate/mark.c -- see mark.h. */
#include "loopstate/mark.h"

bool hn_dag_marked(const struct hn_dag *dag, const char *mark)
{
	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (dag->op[i]->n_attr > 0 && hn_op_attr(dag->op[i], mark)) {
			return true;
		}
	}
	return false;
}

const char *hn_dag_cache(const struct hn_dag *dag)
{
	return hn_dag_marked(dag, HN_MARK_COLD) ? "cold" : "warm";
}

static const struct hn_op *marked(const struct hn_op *op, const char *mark,
				  struct hn_arena *a)
{
	struct hn_op *ret = HN_NEW(a, struct hn_op);
	struct hn_attr *attr = HN_NEW_ARRAY(a, struct hn_attr, (size_t)op->n_attr + 1);

	for (uint32_t i = 0; i < op->n_attr; i++) {
		attr[i] = op->attr[i];
	}
	attr[op->n_attr] = (struct hn_attr){ .name = mark, .json = "true" };
	*ret = *op;
	ret->attr = attr;
	ret->n_attr = op->n_attr + 1;
	return ret;
}

const struct hn_dag *hn_dag_mark(const struct hn_dag *dag, const char *mark, struct hn_arena *a)
{
	struct hn_dag *ret = HN_NEW(a, struct hn_dag);
	const struct hn_op **op = HN_NEW_ARRAY(a, const struct hn_op *, dag->n_op);

	if (hn_dag_marked(dag, mark)) {
		return dag;
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		bool compute = dag->op[i]->kind == HN_OP_COMPUTE;

		op[i] = compute ? marked(dag->op[i], mark, a) : dag->op[i];
	}
	*ret = *dag;
	ret->op = op;
	return ret;
}
