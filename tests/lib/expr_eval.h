/* tests/lib/expr_eval.h -- the value of an expression, with checked loads.
 *
 * Numbers are doubles and 64-bit integers, unless `value` computes in the program's own types
 * (exact_eval.h).  Each load is checked: inside its tensor, and never of poison, a NaN that no
 * computation makes.  The first fault is kept as text. */
#ifndef HN_TESTS_EXPR_EVAL_H
#define HN_TESTS_EXPR_EVAL_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "loopstate/nest/layout.h"

#define EVAL_MAX_LET 64
#define EVAL_POISON UINT64_C(0x7ff8dead0000beef) /* a quiet NaN's bits */

/* A number: a double; of exact evaluation an integer's is an integer. */
union cell {
	double f;
	int64_t i;
};

struct tensor {
	uint32_t n_dim, n_out;
	int64_t extent[HN_DAG_MAX_RANK];
	int64_t min[HN_DAG_MAX_RANK];
	struct hn_swizzle swizzle;
	int64_t copy; /* of a ring: the first element of the copy at hand */
	int64_t n; /* of all copies */
	union cell *v; /* [n_out * n] */
};

struct eval {
	const struct hn_dag *dag;
	struct tensor *tensor; /* [n_op]; v == NULL: none */
	/* variables: axes or loops from 0, then lhs/rhs, then lets */
	int64_t *slot;
	uint32_t n_slot;
	union cell lhs[HN_DAG_MAX_OUT], rhs[HN_DAG_MAX_OUT], let[EVAL_MAX_LET];
	const int64_t *size; /* of the dag's sizes; NULL: there are none */
	union cell (*value)(struct eval *x, const struct hn_expr *e); /* NULL: doubles */
	/* what input `arg` holds; NULL: as looptree_eval.h has it */
	void (*fill)(const struct eval *x, struct tensor *t, uint32_t arg, enum hn_dtype type);
	/* of exact_eval.h: */
	uint64_t seed; /* of inputs and orders */
	int family;
	bool rounds, numbers_decide;
	int64_t n_access, n_guarded;
	char fault[300];
	/* told of each access to an element: who watches for races (looptree_trace.h) */
	void (*touch)(struct eval *x, int32_t op, int64_t element, bool write);
	void *trace;
};

static double eval_float(struct eval *x, const struct hn_expr *e);
static int64_t eval_int(struct eval *x, const struct hn_expr *e);

static void eval_fault(struct eval *x, const char *what, int32_t op, int64_t v)
{
	if (x->fault[0] == 0) {
		snprintf(x->fault, sizeof(x->fault), "%s: op %d (%s), %" PRId64, what, op,
			 x->dag->op[op]->name, v);
	}
}

/* Programs have NaNs of their own. */
static bool eval_is_poison(const union cell *at)
{
	return (uint64_t)at->i == EVAL_POISON;
}

/* The element, or NULL after a fault. */
static union cell *eval_at(struct eval *x, int32_t op, uint32_t out, const int64_t *index)
{
	struct tensor *t = &x->tensor[op];
	const struct hn_swizzle *z = &t->swizzle;
	int64_t at = 0;

	x->n_access++;
	if (t->v == NULL) {
		eval_fault(x, "no such buffer", op, 0);
		return NULL;
	}
	for (uint32_t d = 0; d < t->n_dim; d++) {
		int64_t i = index[d] - t->min[d];

		if (i < 0 || i >= t->extent[d]) {
			eval_fault(x, "access outside the buffer", op, index[d]);
			return NULL;
		}
		if (z->bits > 0 && d + 1 == t->n_dim) {
			i = hn_layout_turned(z, index[z->row_dim] - t->min[z->row_dim], i);
		}
		at = at * t->extent[d] + i;
	}
	at += t->copy;
	if (at >= t->n) {
		eval_fault(x, "place outside the buffer", op, at);
		return NULL;
	}
	return &t->v[out * t->n + at];
}

/* What is loaded at the index. */
static union cell eval_element(struct eval *x, const struct hn_expr *e, const int64_t *index)
{
	union cell *p = eval_at(x, e->ref, (uint32_t)e->out, index);

	if (p == NULL) {
		return (union cell){ .i = 0 };
	}
	if (x->touch != NULL) {
		struct tensor *t = &x->tensor[e->ref];

		x->touch(x, e->ref, (p - t->v) % t->n, /* write= */ false);
	}
	if (eval_is_poison(p)) {
		eval_fault(x, "read of poison", e->ref, e->n_arg > 0 ? index[0] : 0);
	}
	return *p;
}

static double eval_load(struct eval *x, const struct hn_expr *e)
{
	int64_t index[HN_DAG_MAX_RANK];

	for (uint32_t d = 0; d < e->n_arg; d++) {
		index[d] = eval_int(x, e->arg[d]);
	}
	return eval_element(x, e, index).f;
}

static bool eval_is_float(const struct hn_expr *e)
{
	return hn_dtype_class(e->dtype) == HN_CLASS_FLOAT;
}

static double eval_any(struct eval *x, const struct hn_expr *e)
{
	return eval_is_float(e) ? eval_float(x, e) : (double)eval_int(x, e);
}

static double eval_var(struct eval *x, const struct hn_expr *e)
{
	if (e->ref >= HN_SLOT_SIZE) {
		return (double)x->size[e->ref - HN_SLOT_SIZE];
	}
	if (e->ref >= HN_SLOT_LET) {
		return x->let[e->ref - HN_SLOT_LET].f;
	}
	if (e->ref >= HN_SLOT_RHS) {
		return x->rhs[e->ref - HN_SLOT_RHS].f;
	}
	if (e->ref >= HN_SLOT_LHS) {
		return x->lhs[e->ref - HN_SLOT_LHS].f;
	}
	if ((uint32_t)e->ref >= x->n_slot) {
		eval_fault(x, "variable out of range", 0, e->ref);
		return 0;
	}
	return (double)x->slot[e->ref];
}

static double eval_let(struct eval *x, const struct hn_expr *e)
{
	double value = eval_any(x, e->arg[0]);
	union cell old = x->let[e->ref - HN_SLOT_LET];

	x->let[e->ref - HN_SLOT_LET].f = value;
	double r = eval_any(x, e->arg[1]);

	x->let[e->ref - HN_SLOT_LET] = old;
	return r;
}

static double eval_call(struct eval *x, const struct hn_expr *e)
{
	double v = eval_any(x, e->arg[0]);

	double w = e->n_arg > 1 ? eval_any(x, e->arg[1]) : 0;

	/* A number on any input: NaN is poison here, so domains are made whole. */
	switch (e->ref) {
	case HN_FN_exp:
		return exp(v);
	case HN_FN_exp2:
		return exp2(v);
	case HN_FN_log:
		return log(1 + fabs(v));
	case HN_FN_log2:
		return log2(1 + fabs(v));
	case HN_FN_log10:
		return log10(1 + fabs(v));
	case HN_FN_log1p:
		return log1p(fabs(v));
	case HN_FN_sqrt:
		return sqrt(fabs(v));
	case HN_FN_rsqrt:
		return 1 / sqrt(1 + fabs(v));
	case HN_FN_sin:
		return sin(v);
	case HN_FN_cos:
		return cos(v);
	case HN_FN_tan:
		return tan(v);
	case HN_FN_atan:
		return atan(v);
	case HN_FN_sinh:
		return sinh(v);
	case HN_FN_cosh:
		return cosh(v);
	case HN_FN_tanh:
		return tanh(v);
	case HN_FN_erf:
		return erf(v);
	case HN_FN_sigmoid:
		return 1 / (1 + exp(-v));
	case HN_FN_abs:
	case HN_FN_fabs:
		return fabs(v);
	case HN_FN_floor:
		return floor(v);
	case HN_FN_ceil:
		return ceil(v);
	case HN_FN_trunc:
		return trunc(v);
	case HN_FN_round:
		return round(v);
	case HN_FN_nearbyint:
		return nearbyint(v);
	case HN_FN_pow:
		return pow(fabs(v), w);
	case HN_FN_fmod:
		return fmod(v, 1 + fabs(w));
	default:
		abort();
	}
}

static int64_t eval_compare(struct eval *x, const struct hn_expr *e)
{
	double p = eval_any(x, e->arg[0]), q = eval_any(x, e->arg[1]);

	switch (e->op) {
	case HN_EXPR_EQ:
		return p == q;
	case HN_EXPR_NE:
		return p != q;
	case HN_EXPR_LT:
		return p < q;
	case HN_EXPR_LE:
		return p <= q;
	case HN_EXPR_GT:
		return p > q;
	default:
		return p >= q;
	}
}

/* Numbers of no narrow type wrap at 64 bits, and nothing is undefined. */
static int64_t eval_whole(double v)
{
	return v >= 0x1p63 ? INT64_MAX : v >= -0x1p63 ? (int64_t)v : INT64_MIN;
}

static int64_t eval_int_binary(struct eval *x, const struct hn_expr *e)
{
	int64_t p = eval_int(x, e->arg[0]), q = eval_int(x, e->arg[1]);

	switch (e->op) {
	case HN_EXPR_ADD:
		return (int64_t)((uint64_t)p + (uint64_t)q);
	case HN_EXPR_SUB:
		return (int64_t)((uint64_t)p - (uint64_t)q);
	case HN_EXPR_MUL:
		return (int64_t)((uint64_t)p * (uint64_t)q);
	case HN_EXPR_DIV:
		return p / q;
	case HN_EXPR_TRUNCMOD:
		return p % q;
	case HN_EXPR_FLOORDIV:
		return hn_floordiv(p, q);
	case HN_EXPR_FLOORMOD:
		return hn_floormod(p, q);
	case HN_EXPR_MIN:
		return p < q ? p : q;
	case HN_EXPR_MAX:
		return p > q ? p : q;
	default:
		abort();
	}
}

static int64_t eval_int(struct eval *x, const struct hn_expr *e)
{
	switch (e->op) {
	case HN_EXPR_INT:
		return e->u.i;
	case HN_EXPR_VAR:
		return eval_whole(eval_var(x, e));
	case HN_EXPR_LOAD:
		return eval_whole(eval_load(x, e));
	case HN_EXPR_AND:
		return eval_int(x, e->arg[0]) && eval_int(x, e->arg[1]);
	case HN_EXPR_OR:
		return eval_int(x, e->arg[0]) || eval_int(x, e->arg[1]);
	case HN_EXPR_NOT:
		return !eval_int(x, e->arg[0]);
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		return eval_int(x, eval_int(x, e->arg[0]) ? e->arg[1] : e->arg[2]);
	case HN_EXPR_CAST:
		return eval_whole(eval_any(x, e->arg[0]));
	case HN_EXPR_LET:
		return eval_whole(eval_let(x, e));
	case HN_EXPR_CALL: /* abs is the only one of integers */
		return eval_whole(fabs((double)eval_int(x, e->arg[0])));
	default:
		return e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE ? eval_compare(x, e)
								  : eval_int_binary(x, e);
	}
}

static double eval_float_binary(struct eval *x, const struct hn_expr *e)
{
	double p = eval_float(x, e->arg[0]), q = eval_float(x, e->arg[1]);

	switch (e->op) {
	case HN_EXPR_ADD:
		return p + q;
	case HN_EXPR_SUB:
		return p - q;
	case HN_EXPR_MUL:
		return p * q;
	case HN_EXPR_DIV:
		return p / q;
	case HN_EXPR_MIN:
		return p < q ? p : q;
	case HN_EXPR_MAX:
		return p > q ? p : q;
	default:
		abort();
	}
}

static double eval_float(struct eval *x, const struct hn_expr *e)
{
	switch (e->op) {
	case HN_EXPR_FLOAT:
		return e->u.f;
	case HN_EXPR_VAR:
		return eval_var(x, e);
	case HN_EXPR_LOAD:
		return eval_load(x, e);
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		return eval_any(x, eval_int(x, e->arg[0]) ? e->arg[1] : e->arg[2]);
	case HN_EXPR_CAST:
		return eval_any(x, e->arg[0]);
	case HN_EXPR_CALL:
		return eval_call(x, e);
	case HN_EXPR_LET:
		return eval_let(x, e);
	default:
		return eval_float_binary(x, e);
	}
}

#endif
