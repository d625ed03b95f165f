/* loopstate/dag/dag_flops.c -- operations of one evaluation, counted as Ansor counts them.
 *
 * Records and papers compare by this number, so the rules are kept: one for every binary
 * operation with an operand of the output's type class; function calls count their
 * arguments only; padding and index arithmetic are free.  A reduction has the terms for which
 * its condition holds, where Ansor counts none at all.  Source: TVM FlopEstimator
 * (compute_dag.cc).
 */
#include <math.h>
#include <stdlib.h>

#include "loopstate/dag/dag_priv.h"
#include "loopstate/dag/ragged.h"

/* TVM has no bool of its own: it is a one-bit unsigned. */
static enum hn_dtype_class flop_class(enum hn_dtype t)
{
	enum hn_dtype_class c = hn_dtype_class(t);

	return c == HN_CLASS_BOOL ? HN_CLASS_UNSIGNED : c;
}

static double count(const struct hn_expr *e, enum hn_dtype_class c)
{
	double arg[3] = { 0, 0, 0 }, sum = 0;

	if (e->op == HN_EXPR_LOAD) {
		return 0;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		arg[i] = count(e->arg[i], c);
		sum += arg[i];
	}
	if (e->op >= HN_EXPR_ADD && e->op <= HN_EXPR_OR) {
		return sum + (flop_class(e->arg[0]->dtype) == c ||
			      flop_class(e->arg[1]->dtype) == c);
	}
	if (e->op == HN_EXPR_NOT) {
		return sum + (flop_class(e->arg[0]->dtype) == c);
	}
	if (e->op == HN_EXPR_SELECT) {
		return arg[0] + (arg[1] > arg[2] ? arg[1] : arg[2]);
	}
	return sum;
}

/* Of one point of all axes. */
static double per_point(const struct hn_op *op)
{
	enum hn_dtype_class c = flop_class(op->dtype[0]);
	const struct hn_reduce *r = op->reduce;
	double sum = 0;

	if (r == NULL) {
		for (uint32_t k = 0; k < op->n_out; k++) {
			sum += count(op->body[k], c);
		}
		return sum;
	}
	for (uint32_t k = 0; k < r->n; k++) {
		sum += count(r->result[k], c) + count(r->source[k], c);
	}
	/* A reduction of n values is counted once for each of its outputs. */
	return sum * r->n;
}

static double points(const struct hn_op *op)
{
	double n = (double)hn_op_elements(op);

	for (uint32_t i = op->n_spatial; i < op->n_spatial + op->n_reduce; i++) {
		n *= (double)op->axis[i].extent;
	}
	return op->reduce != NULL && op->reduce->condition != NULL ? rint(n * hn_ragged_share(op))
								   : n;
}

double hn_op_flops(const struct hn_op *op)
{
	const struct hn_attr *told = hn_op_attr(op, "FLOP");
	/* A string value keeps its quote in json. */
	double v = told != NULL ? strtod(told->json + (told->json[0] == '"'), NULL) : -1;

	return v >= 0 ? v : points(op) * per_point(op);
}

double hn_dag_flops(const struct hn_dag *dag)
{
	double sum = 0;

	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (dag->op[i]->kind == HN_OP_COMPUTE) {
			sum += hn_op_flops(dag->op[i]);
		}
	}
	return sum;
}

bool hn_dag_is_float32(const struct hn_dag *dag)
{
	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];
		bool any = false;

		for (uint32_t k = 0; k < op->n_out; k++) {
			enum hn_dtype t = (enum hn_dtype)op->dtype[k];

			/* products of narrow ones have instructions of their own */
			if (hn_dtype_is_narrow(t) || (op->kind == HN_OP_COMPUTE && t == HN_F64)) {
				return false;
			}
			any = any || t == HN_F32;
		}
		if (op->kind == HN_OP_COMPUTE && !any) {
			return false;
		}
	}
	return true;
}
