/* loopstate/bitwise.c -- see bitwise.h. */
#include "loopstate/bitwise.h"

#include "loopstate/mark.h"

bool hn_dag_bitwise(const struct hn_dag *dag)
{
	return hn_dag_marked(dag, HN_MARK_BITWISE);
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
