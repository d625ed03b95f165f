/* loopstate/dag/dag_bytes.c -- input and output elements that no kernel can leave out.
 *
 * From the outputs backwards: an op all of whose elements are needed needs every element that
 * its loads certainly touch.  How many a load touches is counted from below: where an axis
 * appears in one index only and moves it, as many values as it has are distinct there.
 */
#include <math.h>

#include "loopstate/dag/constant.h"
#include "loopstate/dag/dag_priv.h"

struct need {
	const struct hn_dag *dag;
	const struct hn_op *op; /* the one that reads */
	double touched[HN_DAG_MAX_OPS]; /* elements of an op that are needed, from below */
	bool vanishes[HN_DAG_MAX_OPS];	/* an op: some elements may be zero whatever the data */
};

/* Whether e may be zero at some points whatever the data. */
static bool may_vanish(const struct need *n, const struct hn_expr *e)
{
	switch (e->op) {
	case HN_EXPR_FLOAT:
		return e->u.f == 0;
	case HN_EXPR_LOAD:
		return n->vanishes[e->ref];
	case HN_EXPR_CALL:
		break;
	default:
		if (e->op < HN_EXPR_ADD || e->op > HN_EXPR_MAX) {
			return true;
		}
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		if (may_vanish(n, e->arg[i])) {
			return true;
		}
	}
	return false;
}

static bool op_vanishes(const struct need *n, const struct hn_op *op)
{
	if (op->kind == HN_OP_PLACEHOLDER) {
		return false;
	}
	return op->n_out != 1 ||
	       (op->reduce != NULL
			? op->reduce->condition != NULL || may_vanish(n, op->reduce->source[0])
			: may_vanish(n, op->body[0]));
}

/* By how much index e moves with the axis; false when it is not that simple. */
static bool moves(const struct hn_expr *e, int32_t axis, int64_t *ret)
{
	int64_t x, y;

	switch (e->op) {
	case HN_EXPR_VAR:
		*ret = e->ref == axis;
		return e->ref < HN_SLOT_LHS;
	case HN_EXPR_INT:
		*ret = 0;
		return true;
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		if (!moves(e->arg[0], axis, &x) || !moves(e->arg[1], axis, &y)) {
			return false;
		}
		return hn_expr_ints((enum hn_expr_op)e->op, x, y, ret);
	case HN_EXPR_MUL:
		for (int i = 0; i < 2; i++) {
			if (e->arg[i]->op == HN_EXPR_INT && moves(e->arg[1 - i], axis, &x)) {
				return hn_expr_ints(HN_EXPR_MUL, x, e->arg[i]->u.i, ret);
			}
		}
		return false;
	default:
		return false;
	}
}

/* Whether the axis moves index d of the load and none of the others. */
static bool own_axis(const struct hn_expr *load, uint32_t d, int32_t axis)
{
	int64_t by;

	for (uint32_t k = 0; k < load->n_arg; k++) {
		if (!moves(load->arg[k], axis, &by) || (by != 0) != (k == d)) {
			return false;
		}
	}
	return true;
}

static double distinct(const struct hn_op *op, const struct hn_expr *load)
{
	double n = 1;

	for (uint32_t d = 0; d < load->n_arg; d++) {
		int64_t most = 1;

		for (uint32_t i = 0; i < op->n_spatial + op->n_reduce; i++) {
			if (op->axis[i].extent > most && own_axis(load, d, (int32_t)i)) {
				most = op->axis[i].extent;
			}
		}
		n *= (double)most;
	}
	return n;
}

/* Every load of e that is made whatever the data and counts whatever the data. */
static void visit(struct need *n, const struct hn_expr *e)
{
	switch (e->op) {
	case HN_EXPR_LOAD:
		n->touched[e->ref] = fmax(n->touched[e->ref], distinct(n->op, e));
		return;
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
	case HN_EXPR_AND:
	case HN_EXPR_OR:
	case HN_EXPR_LET:
		return;
	case HN_EXPR_MUL:
		for (int i = 0; i < 2; i++) {
			if (!may_vanish(n, e->arg[1 - i])) {
				visit(n, e->arg[i]);
			}
		}
		return;
	default:
		for (uint32_t i = 0; i < e->n_arg; i++) {
			visit(n, e->arg[i]);
		}
	}
}

static void visit_op(struct need *n)
{
	const struct hn_op *op = n->op;

	if (op->reduce != NULL) {
		for (uint32_t i = 0; i < op->reduce->n && op->reduce->condition == NULL; i++) {
			visit(n, op->reduce->source[i]);
		}
		return;
	}
	for (uint32_t i = 0; i < op->n_out; i++) {
		visit(n, op->body[i]);
	}
}

void hn_dag_needed_bytes(const struct hn_dag *dag, double *ret_read, double *ret_written)
{
	uint8_t depends[HN_DAG_MAX_OPS];
	struct need n = {.dag = dag};

	*ret_read = *ret_written = 0;
	hn_dag_find_constant(dag, dag, depends);
	for (uint32_t i = 0; i < dag->n_op; i++) {
		n.vanishes[i] = op_vanishes(&n, dag->op[i]);
	}
	for (uint32_t i = dag->n_input; i < dag->n_arg; i++) {
		n.touched[dag->arg[i]] = (double)hn_op_elements(dag->op[dag->arg[i]]);
		*ret_written += (double)hn_op_bytes(dag->op[dag->arg[i]], hn_dag_arg_out(dag, i));
	}
	for (uint32_t i = dag->n_op; i-- > 0;) {
		n.op = dag->op[i];
		if (n.op->kind == HN_OP_COMPUTE &&
		    n.touched[i] >= (double)hn_op_elements(n.op)) {
			visit_op(&n);
		}
	}
	for (uint32_t i = 0; i < dag->n_input; i++) {
		if (depends[dag->arg[i]] == HN_VARIES) {
			*ret_read += n.touched[dag->arg[i]] *
				     hn_dtype_bytes((enum hn_dtype)dag->op[dag->arg[i]]->dtype[0]);
		}
	}
}
