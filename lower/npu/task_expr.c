/* lower/npu/task_expr.c -- expressions behind the sum as operations on its numbers: one instruction for
 * each, or a few.
 */
#include <string.h>

#include "lower/npu/task_int.h"

static struct task_item none(struct task *x, const char *why)
{
	(void)task_no(x, why);
	return (struct task_item){ -1, 0 };
}

static struct task_item new_value(struct task *x, struct hn_npu_value v)
{
	if (x->t->n_value == HN_NPU_MOST_VALUES) {
		return none(x, "more operations behind the sums than one program has");
	}
	x->t->value[x->t->n_value] = v;
	return (struct task_item){ (int32_t)x->t->n_value++, 0 };
}

/* Shapes are known when all operands are; until then, where they are read decides. */
static struct task_item operation(struct task *x, uint16_t op, enum hn_dtype t, int32_t a, int32_t b, float scale)
{
	return x->why != NULL ? (struct task_item){ -1, 0 }
			      : new_value(x, (struct hn_npu_value){ .dtype = (uint8_t)t, .op = op,
								    .from = { a, b }, .scale = scale });
}

static bool is_same(const struct task_form *a, const struct task_form *b, uint32_t n)
{
	return n == 0 || memcmp(a, b, n * sizeof(*a)) == 0;
}

static struct task_item loaded(struct task *x, const struct hn_expr *e, const struct task_form *index)
{
	struct task_steps s;
	struct task_item v;

	if (!task_steps(x, e->ref, index, &s)) {
		return (struct task_item){ -1, 0 };
	}
	for (uint32_t i = 1; i < x->t->n_value; i++) {
		if (x->t->value[i].loaded && x->value[i].arg == s.arg && is_same(&x->value[i].at, &s.at, 1)) {
			return (struct task_item){ (int32_t)i, 0 };
		}
	}
	if (s.dtype != HN_F16 && s.dtype != HN_F32 && s.dtype != HN_I32) {
		return none(x, "an operand behind the sums that is not float16, float32 or int32");
	}
	v = new_value(x, (struct hn_npu_value){ .dtype = s.dtype, .loaded = true, .from = { -1, -1 } });
	if (v.value >= 0) {
		x->value[v.value] = s;
	}
	return v;
}

static struct task_item expr(struct task *x, const struct hn_expr *e, const struct task_form *env);

/* What an op has at these forms. */
struct task_item task_op_at(struct task *x, int32_t at, const struct task_form *env)
{
	const struct hn_op *op = x->dag->op[at];
	struct task_item v;

	for (uint32_t i = 0; i < x->n_known; i++) {
		if (x->known[i].op == at && is_same(x->known[i].env, env, op->n_dim)) {
			return (struct task_item){ x->known[i].value, x->known[i].number };
		}
	}
	if (op->reduce != NULL || op->n_out != 1) {
		return none(x, "a second reduction");
	}
	v = expr(x, op->body[0], env);
	if (x->n_known < HN_NPU_MOST_VALUES) {
		x->known[x->n_known++] = (struct task_known){ at, env, v.value, v.number };
	}
	return v;
}

static bool is_itself(const struct task *x, const struct task_form *f, uint32_t axis)
{
	struct task_form g = { 0 };

	g.by[axis] = 1;
	return task_extent(x, axis) == 1 || is_same(f, &g, 1);
}

static struct task_item load(struct task *x, const struct hn_expr *e, const struct task_form *env)
{
	const struct task_form *index = task_indices(x, e, env);

	if (index == NULL || e->out != 0) {
		return none(x, "one of several results");
	}
	if (e->ref == x->sum_at) {
		for (uint32_t d = 0; d < x->sum->n_spatial; d++) {
			if (!is_itself(x, &index[d], d)) {
				return none(x, "a result that reads other sums than its own");
			}
		}
		return (struct task_item){ 0, 0 };
	}
	return x->dag->op[e->ref]->kind == HN_OP_PLACEHOLDER ? loaded(x, e, index) : task_op_at(x, e->ref, index);
}

static const struct {
	uint8_t op;
	uint16_t what, scaled; /* scaled: with a number; NUL: none */
} binaries[] = {
	{ HN_EXPR_ADD, HN_NPU_I_ADD, HN_NPU_I_ADDS }, { HN_EXPR_SUB, HN_NPU_I_SUB, HN_NPU_N_OP },
	{ HN_EXPR_MUL, HN_NPU_I_MUL, HN_NPU_I_MULS }, { HN_EXPR_DIV, HN_NPU_I_DIV, HN_NPU_N_OP },
	{ HN_EXPR_MAX, HN_NPU_I_MAX, HN_NPU_I_MAXS }, { HN_EXPR_MIN, HN_NPU_I_MIN, HN_NPU_I_MINS },
};
enum { GREATER = 4, LESS }; /* rows */

static const struct {
	uint8_t fn;
	uint16_t what;
} calls[] = {
	{ HN_FN_exp, HN_NPU_I_EXP },	 { HN_FN_log, HN_NPU_I_LN },   { HN_FN_sqrt, HN_NPU_I_SQRT },
	{ HN_FN_rsqrt, HN_NPU_I_RSQRT }, { HN_FN_abs, HN_NPU_I_ABS }, { HN_FN_fabs, HN_NPU_I_ABS },
};

/* What has no instruction with a number takes a block of it. */
static struct task_item as_value(struct task *x, struct task_item a, enum hn_dtype t)
{
	return a.value >= 0 ? a : operation(x, HN_NPU_I_DUP, t, -1, -1, a.number);
}

static struct task_item binary(struct task *x, uint32_t row, struct task_item a, struct task_item b, enum hn_dtype t)
{
	uint16_t what = binaries[row].what, scaled = binaries[row].scaled;

	if (x->why != NULL || (a.value >= 0 && b.value >= 0)) {
		return operation(x, what, t, a.value, b.value, 0);
	}
	if (a.value < 0 && b.value < 0) {
		return none(x, "a number that is no constant");
	}
	if (scaled != HN_NPU_N_OP) {
		return operation(x, scaled, t, a.value >= 0 ? a.value : b.value, -1,
				 a.value >= 0 ? b.number : a.number);
	}
	if (what == HN_NPU_I_SUB && a.value >= 0) {
		return operation(x, HN_NPU_I_ADDS, t, a.value, -1, -b.number);
	}
	if (what == HN_NPU_I_SUB) {
		return operation(x, HN_NPU_I_ADDS, t, operation(x, HN_NPU_I_MULS, t, b.value, -1, -1).value, -1,
				 a.number);
	}
	a = as_value(x, a, t);
	b = as_value(x, b, t);
	return operation(x, what, t, a.value, b.value, 0);
}

/* by / (1 + exp(-by x)): of by 1 sigmoid, of by 2 tanh + 1. */
static struct task_item logistic(struct task *x, struct task_item a, enum hn_dtype t, float by)
{
	a = operation(x, HN_NPU_I_MULS, t, a.value, -1, -by);
	a = operation(x, HN_NPU_I_EXP, t, a.value, -1, 0);
	a = operation(x, HN_NPU_I_ADDS, t, a.value, -1, 1);
	return operation(x, HN_NPU_I_DIV, t, as_value(x, (struct task_item){ -1, by }, t).value, a.value, 0);
}

/* By Abramowitz and Stegun, 7.1.26: 1 - (a1 t + ... + a5 t^5) exp(-x^2), t = 1 / (1 + p |x|), with the sign
 * of x; off by 1.5e-7 at most. */
static struct task_item error_function(struct task *x, struct task_item a)
{
	static const float by[] = { 1.061405429F, -1.453152027F, 1.421413741F, -0.284496736F, 0.254829592F };
	struct task_item t = operation(x, HN_NPU_I_ABS, HN_F32, a.value, -1, 0), sum, e;

	t = operation(x, HN_NPU_I_ADDS, HN_F32, operation(x, HN_NPU_I_MULS, HN_F32, t.value, -1, 0.3275911F).value, -1,
		      1);
	t = operation(x, HN_NPU_I_DIV, HN_F32, as_value(x, (struct task_item){ -1, 1 }, HN_F32).value, t.value, 0);
	sum = operation(x, HN_NPU_I_MULS, HN_F32, t.value, -1, by[0]);
	for (size_t i = 1; i < HN_COUNT_OF(by); i++) {
		sum = operation(x, HN_NPU_I_ADDS, HN_F32, sum.value, -1, by[i]);
		sum = operation(x, HN_NPU_I_MUL, HN_F32, sum.value, t.value, 0);
	}
	e = operation(x, HN_NPU_I_MUL, HN_F32, a.value, a.value, 0);
	e = operation(x, HN_NPU_I_EXP, HN_F32, operation(x, HN_NPU_I_MULS, HN_F32, e.value, -1, -1).value, -1, 0);
	sum = operation(x, HN_NPU_I_MUL, HN_F32, sum.value, e.value, 0);
	sum = operation(x, HN_NPU_I_ADDS, HN_F32, operation(x, HN_NPU_I_MULS, HN_F32, sum.value, -1, -1).value, -1, 1);
	/* -1 or 1, and less where x is as good as 0 */
	e = operation(x, HN_NPU_I_MULS, HN_F32, a.value, -1, 1e30F);
	e = operation(x, HN_NPU_I_MINS, HN_F32, operation(x, HN_NPU_I_MAXS, HN_F32, e.value, -1, -1).value, -1, 1);
	return operation(x, HN_NPU_I_MUL, HN_F32, sum.value, e.value, 0);
}

/* Functions of several instructions, in float32: each would round to float16. */
static struct task_item composed(struct task *x, enum hn_fn fn, struct task_item a, enum hn_dtype t)
{
	if (t == HN_F16) {
		a = operation(x, HN_NPU_I_CONV, HN_F32, a.value, -1, 0);
	}
	a = fn == HN_FN_erf ? error_function(x, a) : logistic(x, a, HN_F32, fn == HN_FN_tanh ? 2 : 1);
	if (fn == HN_FN_tanh) {
		a = operation(x, HN_NPU_I_ADDS, HN_F32, a.value, -1, -1);
	}
	return t == HN_F16 ? operation(x, HN_NPU_I_CONV, HN_F16, a.value, -1, 0) : a;
}

static struct task_item call(struct task *x, const struct hn_expr *e, const struct task_form *env)
{
	struct task_item a = expr(x, e->arg[0], env);
	enum hn_dtype t = (enum hn_dtype)e->dtype;

	if (a.value < 0 || (t != HN_F16 && t != HN_F32)) {
		return none(x, "a function of a number, or of other types than float16 and float32");
	}
	for (size_t i = 0; i < HN_COUNT_OF(calls); i++) {
		if (calls[i].fn == e->ref) {
			return operation(x, calls[i].what, t, a.value, -1, 0);
		}
	}
	if (e->ref == HN_FN_sigmoid || e->ref == HN_FN_tanh || e->ref == HN_FN_erf) {
		return composed(x, (enum hn_fn)e->ref, a, t);
	}
	return none(x, "a function behind the sums that has no instruction");
}

static struct task_item cast(struct task *x, const struct hn_expr *e, const struct task_form *env)
{
	struct task_item a;

	if (e->arg[0]->op == HN_EXPR_INT) {
		return (struct task_item){ -1, (float)e->arg[0]->u.i };
	}
	a = expr(x, e->arg[0], env);
	if (a.value < 0 || e->arg[0]->dtype == e->dtype) {
		return a;
	}
	return e->dtype != HN_F16 && e->dtype != HN_F32
		       ? none(x, "a cast behind the sums to another type than float16 and float32")
		       : operation(x, HN_NPU_I_CONV, (enum hn_dtype)e->dtype, a.value, -1, 0);
}

/* x > y ? x : y, and its kin: the greater or the less. */
static struct task_item chosen(struct task *x, const struct hn_expr *e, const struct task_form *env)
{
	const struct hn_expr *c = e->arg[0];
	bool greater = c->op == HN_EXPR_GT || c->op == HN_EXPR_GE, less = c->op == HN_EXPR_LT || c->op == HN_EXPR_LE;
	bool first = (greater || less) && hn_expr_equal(c->arg[0], e->arg[1]) && hn_expr_equal(c->arg[1], e->arg[2]);
	bool second = (greater || less) && hn_expr_equal(c->arg[0], e->arg[2]) && hn_expr_equal(c->arg[1], e->arg[1]);
	struct task_item a, b;

	if (!first && !second) {
		return none(x, "a choice behind the sums that is neither the greater nor the less of two");
	}
	a = expr(x, e->arg[1], env);
	b = expr(x, e->arg[2], env);
	return binary(x, greater == first ? GREATER : LESS, a, b, (enum hn_dtype)e->dtype);
}

static struct task_item expr(struct task *x, const struct hn_expr *e, const struct task_form *env)
{
	enum hn_dtype t = (enum hn_dtype)e->dtype;
	struct task_item a, b;

	if (x->why != NULL) {
		return (struct task_item){ -1, 0 };
	}
	switch (e->op) {
	case HN_EXPR_FLOAT:
		return (struct task_item){ -1, (float)e->u.f };
	case HN_EXPR_LOAD:
		return load(x, e, env);
	case HN_EXPR_CAST:
		return cast(x, e, env);
	case HN_EXPR_CALL:
		return call(x, e, env);
	case HN_EXPR_INT:
		/* numbers go into instructions as float32 */
		return e->u.i > -(1 << 24) && e->u.i < 1 << 24 ? (struct task_item){ -1, (float)e->u.i }
								 : none(x, "an integer of more than 24 bits");
	default:
		break;
	}
	if (e->op == HN_EXPR_SELECT || e->op == HN_EXPR_IF) {
		return chosen(x, e, env);
	}
	for (uint32_t i = 0; i < HN_COUNT_OF(binaries); i++) {
		if (binaries[i].op == e->op && (t == HN_F16 || t == HN_F32 || (t == HN_I32 && e->op != HN_EXPR_DIV))) {
			a = expr(x, e->arg[0], env);
			b = expr(x, e->arg[1], env);
			return binary(x, i, a, b, t);
		}
	}
	return none(x, "an operation behind the sums that has no instruction");
}
