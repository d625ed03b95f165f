/* magnitude.c -- see magnitude.h.  A bound is a double; INFINITY = nothing is known, or it does
 * not fit. */
#include "loopstate/dag/magnitude.h"

#include <math.h>

#define EXP_END 16
#define MAX_LET 64

struct bounds {
	const struct hn_dag *dag;
	const struct hn_op *op; /* whose expression it is */
	double *of_op;		/* of what an op holds, the largest of its outputs */
	double let[MAX_LET];
};

/* The largest absolute value that arithmetic may give in type t; of 64-bit integers a half, as
 * doubles round there. */
static double end_of(enum hn_dtype t)
{
	int bits = 8 * (int)hn_dtype_bytes(t);

	switch (hn_dtype_class(t)) {
	case HN_CLASS_BOOL:
		return 1;
	case HN_CLASS_SIGNED:
		return bits < 64 ? ldexp(1, bits - 1) - 1 : 0x1p62;
	case HN_CLASS_UNSIGNED:
		return bits < 64 ? ldexp(1, bits) - 1 : 0x1p63;
	default:
		return ldexp(1, hn_dtype_inputs_exponent(t));
	}
}

/* What is computed in type t: past its end integers wrap, which all kernels do alike, and floats
 * become infinite. */
static double within(double v, enum hn_dtype t)
{
	bool wraps = hn_dtype_class(t) != HN_CLASS_FLOAT;

	return v <= end_of(t) ? v : wraps && isfinite(v) ? end_of(t) + 1 : INFINITY;
}

static double bound(struct bounds *b, const struct hn_expr *e);

static double of_var(const struct bounds *b, const struct hn_expr *e)
{
	const struct hn_op *op = b->op;

	if (e->ref >= HN_SLOT_LET && e->ref < HN_SLOT_LET + MAX_LET) {
		return b->let[e->ref - HN_SLOT_LET];
	}
	if (e->ref < 0 || e->ref >= (int32_t)(op->n_spatial + op->n_reduce)) {
		return INFINITY;
	}
	return fmax(fabs((double)op->axis[e->ref].min),
		    fabs((double)(op->axis[e->ref].min + op->axis[e->ref].extent)));
}

static double of_let(struct bounds *b, const struct hn_expr *e)
{
	if (e->ref < HN_SLOT_LET || e->ref >= HN_SLOT_LET + MAX_LET) {
		return INFINITY;
	}
	b->let[e->ref - HN_SLOT_LET] = bound(b, e->arg[0]);
	return bound(b, e->arg[1]);
}

/* Division by a number other than zero; by data it may be by anything. */
static double of_quotient(const struct hn_expr *e, double x)
{
	const struct hn_expr *by = e->arg[1];
	double d = by->op == HN_EXPR_INT     ? fabs((double)by->u.i)
		   : by->op == HN_EXPR_FLOAT ? fabs(by->u.f)
					     : 0;

	return d > 0 ? x / d : INFINITY;
}

static double of_call(const struct hn_expr *e, double x)
{
	switch (e->ref) {
	case HN_FN_abs:
	case HN_FN_fabs:
		return x;
	case HN_FN_tanh:
	case HN_FN_erf:
	case HN_FN_sigmoid:
		return isfinite(x) ? 1 : INFINITY;
	case HN_FN_floor:
	case HN_FN_ceil:
	case HN_FN_trunc:
	case HN_FN_round:
	case HN_FN_nearbyint:
		return x + 1;
	case HN_FN_sqrt:
		return fmax(x, 1);
	case HN_FN_exp:
	case HN_FN_exp2:
		return x <= EXP_END ? exp(x) : INFINITY;
	default:
		return INFINITY;
	}
}

/* A node from the bounds x, y of its first two operands (y = 0: it has one). */
static double combine(const struct hn_expr *e, double x, double y)
{
	bool is_unsigned = hn_dtype_class(e->dtype) == HN_CLASS_UNSIGNED;

	switch (e->op) {
	case HN_EXPR_SUB:
		if (is_unsigned && isfinite(x + y)) {
			return end_of((enum hn_dtype)e->dtype); /* below zero it wraps */
		}
		return x + y;
	case HN_EXPR_ADD:
		return x + y;
	case HN_EXPR_MUL:
		return x == 0 || y == 0 ? 0 : x * y;
	case HN_EXPR_MIN:
	case HN_EXPR_MAX:
		return fmax(x, y);
	case HN_EXPR_DIV:
	case HN_EXPR_FLOORDIV:
		return of_quotient(e, x);
	case HN_EXPR_FLOORMOD:
	case HN_EXPR_TRUNCMOD:
		return isfinite(of_quotient(e, x)) ? y : INFINITY;
	case HN_EXPR_CAST:
		return x;
	case HN_EXPR_CALL:
		return of_call(e, x);
	default: /* comparisons and connectives */
		return isfinite(x) && isfinite(y) ? 1 : INFINITY;
	}
}

static double of_choice(struct bounds *b, const struct hn_expr *e)
{
	double c = bound(b, e->arg[0]);

	return isfinite(c) ? fmax(bound(b, e->arg[1]), bound(b, e->arg[2])) : INFINITY;
}

/* Only what computes can leave the type: -128 may be loaded, chosen and stored. */
static double bound(struct bounds *b, const struct hn_expr *e)
{
	bool computes = false;
	double v;

	switch (e->op) {
	case HN_EXPR_VAR:
		v = of_var(b, e);
		break;
	case HN_EXPR_LET:
		v = of_let(b, e);
		break;
	case HN_EXPR_INT:
		v = fabs((double)e->u.i);
		break;
	case HN_EXPR_FLOAT:
		v = fabs(e->u.f);
		break;
	case HN_EXPR_LOAD:
		v = b->of_op[e->ref]; /* what it is indexed by was proved in range */
		break;
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		v = of_choice(b, e);
		break;
	default:
		v = e->n_arg == 0 ? INFINITY
				  : combine(e, bound(b, e->arg[0]),
					    e->n_arg > 1 ? bound(b, e->arg[1]) : 0);
		computes = e->op != HN_EXPR_MIN && e->op != HN_EXPR_MAX;
	}
	return computes ? within(v, (enum hn_dtype)e->dtype) : v;
}

static double of_reduction(struct bounds *b)
{
	const struct hn_op *op = b->op;
	const struct hn_reduce *r = op->reduce;
	double v = 0, length = 1;

	for (uint32_t i = 0; i < r->n; i++) {
		v = fmax(v, bound(b, r->source[i]));
	}
	switch (r->kind) {
	case HN_COMBINE_MIN:
	case HN_COMBINE_MAX:
		return v;
	case HN_COMBINE_SUM:
		for (uint32_t i = 0; i < op->n_reduce; i++) {
			length *= (double)op->axis[op->n_spatial + i].extent;
		}
		return within(length * v, (enum hn_dtype)op->dtype[0]);
	default:
		return INFINITY;
	}
}

static double of_op(struct bounds *b, double input)
{
	const struct hn_op *op = b->op;
	enum hn_dtype t = (enum hn_dtype)op->dtype[0];
	double v = 0;

	if (op->kind == HN_OP_PLACEHOLDER) {
		bool is_signed = hn_dtype_class(t) == HN_CLASS_SIGNED;

		/* a signed type has one value more below zero than above */
		return fmin(input, is_signed ? ldexp(1, 8 * (int)hn_dtype_bytes(t) - 1)
					     : end_of(t));
	}
	if (op->reduce != NULL) {
		return of_reduction(b);
	}
	for (uint32_t i = 0; i < op->n_out; i++) {
		v = fmax(v, bound(b, op->body[i]));
	}
	return v;
}

static bool fits(const struct hn_dag *dag, double *of, int32_t k)
{
	struct bounds b = {.dag = dag, .of_op = of};

	for (uint32_t i = 0; i < dag->n_op; i++) {
		b.op = dag->op[i];
		of[i] = of_op(&b, ldexp(1, k));
		if (!isfinite(of[i])) {
			return false;
		}
	}
	return true;
}

int32_t hn_dag_magnitude(const struct hn_dag *dag)
{
	double of[HN_DAG_MAX_OPS];
	int32_t low = 0, high = HN_MAGNITUDE_MAX;

	/* bounds grow with k: the last that fits */
	while (low < high) {
		int32_t k = (low + high + 1) / 2;

		if (fits(dag, of, k)) {
			low = k;
		} else {
			high = k - 1;
		}
	}
	return low;
}
