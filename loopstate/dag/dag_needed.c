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

#define POINTS 8192 /* drawn in each sum: its share to 1 % of the whole */
#define SIGMAS 4    /* that the estimate stays below */
#define DEPTH 8	    /* producers of producers looked through */

struct at {
	const struct hn_dag *dag;
	const int64_t *point;
	uint32_t n_point;
	uint32_t depth;
};

static bool integer(const struct hn_expr *e, const struct at *at, int64_t *ret);

/* AND and OR may be known by one side. */
static bool connective(const struct hn_expr *e, const struct at *at, int64_t *ret)
{
	int64_t x, y, decides = e->op == HN_EXPR_OR;
	bool has_x = integer(e->arg[0], at, &x), has_y = integer(e->arg[1], at, &y);

	if ((has_x && (x != 0) == decides) || (has_y && (y != 0) == decides)) {
		*ret = decides;
		return true;
	}
	*ret = !decides;
	return has_x && has_y;
}

/* The value of an integer expression at the point; false = it depends on data or is of a
 * form that is not evaluated here. */
static bool integer(const struct hn_expr *e, const struct at *at, int64_t *ret)
{
	int64_t x, y;

	switch (e->op) {
	case HN_EXPR_INT:
		*ret = e->u.i;
		return true;
	case HN_EXPR_VAR:
		if (e->ref < 0 || e->ref >= (int32_t)at->n_point) {
			return false;
		}
		*ret = at->point[e->ref];
		return true;
	case HN_EXPR_AND:
	case HN_EXPR_OR:
		return connective(e, at, ret);
	case HN_EXPR_NOT:
		if (!integer(e->arg[0], at, &x)) {
			return false;
		}
		*ret = !x;
		return true;
	default:
		return e->op >= HN_EXPR_ADD && e->op <= HN_EXPR_GE &&
		       hn_dtype_class(e->arg[0]->dtype) != HN_CLASS_FLOAT &&
		       integer(e->arg[0], at, &x) && integer(e->arg[1], at, &y) &&
		       hn_expr_ints(e->op, x, y, ret);
	}
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

/* The share of op's terms that are needed, from below. */
static double needed_share(const struct hn_dag *dag, const struct hn_op *op)
{
	struct hn_rng rng = hn_rng_stream(11, (uint64_t)op->n_spatial, op->n_reduce, 0);
	uint32_t n_axis = op->n_spatial + op->n_reduce, zero = 0;
	int64_t point[HN_DAG_MAX_ITERS];
	struct at at = { dag, point, n_axis, 0 };

	if (!op->reduce || op->reduce->n != 1 || op->reduce->kind != HN_COMBINE_SUM) {
		return 1;
	}
	for (uint32_t i = 0; i < POINTS; i++) {
		for (uint32_t a = 0; a < n_axis; a++) {
			uint64_t n = (uint64_t)op->axis[a].extent;

			point[a] = n > 1 ? (int64_t)hn_rng_below(&rng, n) : 0;
		}
		zero += is_zero(op->reduce->source[0], &at);
	}
	double share = 1 - (double)zero / POINTS;

	share -= SIGMAS * sqrt(share * (1 - share) / POINTS);
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
