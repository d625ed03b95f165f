/* bench/reference.c -- the definitions, followed backwards from one element.
 *
 * Everything is a double: integers of indices are far below 2^53.  Results of reductions
 * are kept in a table per op, NaN where not known yet; the rest is computed anew each
 * time.
 */
#include "bench/reference.h"

#include <math.h>
#include <stdlib.h>

struct hn_reference {
	const struct hn_dag *dag;
	const float *const *input; /* of each op; NULL for computes */
	double **kept;		   /* of each op; NULL until needed */
	struct hn_arena arena;
};

/* One evaluation: an op's axes, and its combiner's arguments. */
struct frame {
	struct hn_reference *r;
	const double *axis;
	double lhs, rhs;
};

static double eval(const struct frame *f, const struct hn_expr *e);

static double call(const struct frame *f, const struct hn_expr *e)
{
	double x = eval(f, e->arg[0]);

	switch (e->ref) {
	case HN_FN_exp:
		return exp(x);
	case HN_FN_log:
		return log(x);
	case HN_FN_sqrt:
		return sqrt(x);
	case HN_FN_rsqrt:
		return 1 / sqrt(x);
	case HN_FN_tanh:
		return tanh(x);
	case HN_FN_erf:
		return erf(x);
	case HN_FN_sigmoid:
		return 1 / (1 + exp(-x));
	case HN_FN_abs:
	case HN_FN_fabs:
		return fabs(x);
	default:
		return NAN; /* no case of the suite has it: it shows as a wrong answer */
	}
}

static double binary(const struct frame *f, const struct hn_expr *e)
{
	double x = eval(f, e->arg[0]), y = eval(f, e->arg[1]);

	switch (e->op) {
	case HN_EXPR_ADD:
		return x + y;
	case HN_EXPR_SUB:
		return x - y;
	case HN_EXPR_MUL:
		return x * y;
	case HN_EXPR_DIV:
		return x / y;
	case HN_EXPR_MIN:
		return fmin(x, y);
	case HN_EXPR_MAX:
		return fmax(x, y);
	case HN_EXPR_FLOORDIV:
		return floor(x / y);
	case HN_EXPR_FLOORMOD:
		return x - floor(x / y) * y;
	case HN_EXPR_EQ:
		return x == y;
	case HN_EXPR_NE:
		return x != y;
	case HN_EXPR_LT:
		return x < y;
	case HN_EXPR_LE:
		return x <= y;
	case HN_EXPR_GT:
		return x > y;
	case HN_EXPR_GE:
		return x >= y;
	default:
		return NAN;
	}
}

static double element(struct hn_reference *r, int32_t op, int64_t at);

static double load(const struct frame *f, const struct hn_expr *e)
{
	const struct hn_op *op = f->r->dag->op[e->ref];
	int64_t at = 0;

	for (uint32_t d = 0; d < op->n_dim; d++) {
		at = at * op->shape[d] + (int64_t)eval(f, e->arg[d]);
	}
	return element(f->r, e->ref, at);
}

static double eval(const struct frame *f, const struct hn_expr *e)
{
	switch (e->op) {
	case HN_EXPR_INT:
		return (double)e->u.i;
	case HN_EXPR_FLOAT:
		return e->u.f;
	case HN_EXPR_VAR:
		return e->ref >= HN_SLOT_RHS   ? f->rhs
		       : e->ref >= HN_SLOT_LHS ? f->lhs
					       : f->axis[e->ref];
	case HN_EXPR_LOAD:
		return load(f, e);
	case HN_EXPR_AND:
		return eval(f, e->arg[0]) != 0 && eval(f, e->arg[1]) != 0;
	case HN_EXPR_OR:
		return eval(f, e->arg[0]) != 0 || eval(f, e->arg[1]) != 0;
	case HN_EXPR_NOT:
		return eval(f, e->arg[0]) == 0;
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		return eval(f, e->arg[eval(f, e->arg[0]) != 0 ? 1 : 2]);
	case HN_EXPR_CAST:
		return eval(f, e->arg[0]);
	case HN_EXPR_CALL:
		return call(f, e);
	default:
		return binary(f, e);
	}
}

/* All points of the reduction, axes behind the spatial ones counting up. */
static double reduced(struct frame *f, const struct hn_op *op, double *axis)
{
	const struct hn_reduce *red = op->reduce;
	uint32_t first = op->n_spatial, end = first + op->n_reduce, i;

	f->lhs = eval(f, red->identity[0]);
	for (i = first; i < end; i++) {
		axis[i] = (double)op->axis[i].min;
	}
	do {
		if (red->condition == NULL || eval(f, red->condition) != 0) {
			f->rhs = eval(f, red->source[0]);
			f->lhs = eval(f, red->result[0]);
		}
		for (i = end; i-- > first;) {
			const struct hn_axis *a = &op->axis[i];

			axis[i] += 1;
			if (axis[i] < (double)(a->min + a->extent)) {
				break;
			}
			axis[i] = (double)a->min;
		}
	} while (i >= first && i < end);
	return f->lhs;
}

static double *kept(struct hn_reference *r, int32_t i_op)
{
	int64_t n = hn_op_elements(r->dag->op[i_op]);

	if (r->kept[i_op] == NULL) {
		r->kept[i_op] = malloc((size_t)n * sizeof(double));
		hn_assert(r->kept[i_op] != NULL);
		for (int64_t i = 0; i < n; i++) {
			r->kept[i_op][i] = NAN;
		}
	}
	return r->kept[i_op];
}

static double element(struct hn_reference *r, int32_t i_op, int64_t at)
{
	const struct hn_op *op = r->dag->op[i_op];
	double axis[HN_DAG_MAX_ITERS], *keep;
	struct frame f = { .r = r, .axis = axis };
	int64_t rest = at;

	if (r->input[i_op] != NULL) {
		return (double)r->input[i_op][at];
	}
	for (uint32_t d = op->n_dim; d-- > 0;) {
		axis[d] = (double)(rest % op->shape[d]);
		rest /= op->shape[d];
	}
	if (op->reduce == NULL) {
		return eval(&f, op->body[0]);
	}
	keep = kept(r, i_op);
	if (isnan(keep[at])) {
		keep[at] = reduced(&f, op, axis);
	}
	return keep[at];
}

struct hn_reference *hn_reference_new(const struct hn_dag *dag, float *const *arg)
{
	struct hn_reference *r = malloc(sizeof(*r));
	const float **input;

	hn_assert(r != NULL);
	hn_arena_init(&r->arena, 0);
	r->dag = dag;
	input = HN_NEW_ARRAY(&r->arena, const float *, dag->n_op);
	r->kept = HN_NEW_ARRAY(&r->arena, double *, dag->n_op);
	for (uint32_t i = 0; i < dag->n_input; i++) {
		input[dag->arg[i]] = arg[i];
	}
	r->input = input;
	return r;
}

void hn_reference_free(struct hn_reference *r)
{
	for (uint32_t i = 0; i < r->dag->n_op; i++) {
		free(r->kept[i]);
	}
	hn_arena_fini(&r->arena);
	free(r);
}

double hn_reference_at(struct hn_reference *r, uint32_t arg, int64_t at)
{
	return element(r, r->dag->arg[arg], at);
}
