/* loopstate/dag/dag_needed.c -- operations that no kernel can leave out.
 *
 * A sum's terms that are zero whatever the data (padding, the zeros between the elements of
 * a transposed convolution, those of a constant matrix) may be skipped, so they are no
 * evidence of what a kernel did.  Their share of a sum is estimated at random points of
 * its domain, deterministically, and from below.  What depends on constant inputs alone may
 * have been computed before the first call, unless it is an output.
 */
#include <math.h>

#include "base/rng.h"
#include "loopstate/dag/constant.h"
#include "loopstate/dag/dag_priv.h"
#include "loopstate/expr/at.h"

#define POINTS 8192 /* drawn in each sum: its share to 1 % of the whole */
#define SIGMAS 4    /* that the estimate stays below */
#define DEPTH 8	    /* producers of producers looked through */

struct at {
	const struct hn_dag *dag;
	const int64_t *point;
	uint32_t n_point;
	uint32_t depth;
};

/* The value of an integer expression there; false = it depends on data. */
static bool integer(const struct hn_expr *e, const struct at *at, int64_t *ret)
{
	return hn_expr_at(e, at->point, at->n_point, ret);
}

static bool is_zero(const struct hn_expr *e, const struct at *at);

/* An element of another tensor that a body without reduction makes. */
static bool zero_element(const struct hn_expr *e, const struct at *at)
{
	const struct hn_op *op = at->dag->op[e->ref];
	int64_t point[HN_DAG_MAX_ITERS];
	struct at there = { at->dag, point, e->n_arg, at->depth + 1 };

	if (op->kind != HN_OP_COMPUTE || op->reduce || op->n_out != 1 ||
	    at->depth == DEPTH) {
		return false;
	}
	for (uint32_t d = 0; d < e->n_arg; d++) {
		if (!integer(e->arg[d], at, &point[d])) {
			return false;
		}
	}
	return is_zero(op->body[0], &there);
}

/* Whether e is zero at the point whatever the data. */
static bool is_zero(const struct hn_expr *e, const struct at *at)
{
	int64_t c;

	switch (e->op) {
	case HN_EXPR_FLOAT:
		return e->u.f == 0;
	case HN_EXPR_INT:
		return e->u.i == 0;
	case HN_EXPR_MUL:
		return is_zero(e->arg[0], at) || is_zero(e->arg[1], at);
	case HN_EXPR_CAST:
		return is_zero(e->arg[0], at);
	case HN_EXPR_IF:
	case HN_EXPR_SELECT:
		return integer(e->arg[0], at, &c) && is_zero(e->arg[c ? 1 : 2], at);
	case HN_EXPR_LOAD:
		return zero_element(e, at);
	default:
		return false;
	}
}

/* Whether the term at the point is one of the reduction's. */
static bool counts(const struct hn_op *op, const struct at *at)
{
	int64_t c;

	return op->reduce->condition == NULL || !integer(op->reduce->condition, at, &c) || c;
}

/* The share of op's terms that are needed, from below; those that its condition leaves out are
 * no terms. */
static double needed_share(const struct hn_dag *dag, const struct hn_op *op)
{
	struct hn_rng rng = hn_rng_stream(11, (uint64_t)op->n_spatial, op->n_reduce, 0);
	uint32_t n_axis = op->n_spatial + op->n_reduce, zero = 0, terms = 0;
	int64_t point[HN_DAG_MAX_ITERS];
	struct at at = { dag, point, n_axis, 0 };

	if (!op->reduce || op->reduce->n != 1 || op->reduce->kind != HN_COMBINE_SUM) {
		return 1;
	}
	for (uint32_t i = 0; i < POINTS; i++) {
		for (uint32_t a = 0; a < n_axis; a++) {
			uint64_t n = (uint64_t)op->axis[a].extent;

			point[a] = op->axis[a].min +
				   (n > 1 ? (int64_t)hn_rng_below(&rng, n) : 0);
		}
		if (counts(op, &at)) {
			terms++;
			zero += is_zero(op->reduce->source[0], &at);
		}
	}
	if (terms == 0) {
		return 0;
	}
	double share = 1 - (double)zero / terms;

	share -= SIGMAS * sqrt(share * (1 - share) / terms);
	return share > 0 ? share : 0;
}

double hn_dag_needed_flops(const struct hn_dag *dag)
{
	uint8_t depends[HN_DAG_MAX_OPS];
	double sum = 0;

	hn_dag_find_constant(dag, dag, depends);
	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];

		if (op->kind == HN_OP_COMPUTE && depends[i] == HN_VARIES) {
			sum += hn_op_flops(op) * needed_share(dag, op);
		}
	}
	return sum;
}
