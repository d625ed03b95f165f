/* lower/npu/task_after.c -- ops that follow the sum, as operations on its numbers.
 *
 * Each result is followed back to the sum and to arguments; what stands between has to be one
 * instruction for each number, or a few.
 */
#include <string.h>

#include "lower/npu/task_int.h"

/* A value, or (value < 0) a number. */
struct item {
	int32_t value;
	float number;
};

static struct item none(struct task *x, const char *why)
{
	(void)task_no(x, why);
	return (struct item){ -1, 0 };
}

static struct item new_value(struct task *x, struct hn_npu_value v)
{
	if (x->t->n_value == HN_NPU_MOST_VALUES) {
		return none(x, "more operations behind the sums than one program has");
	}
	x->t->value[x->t->n_value] = v;
	return (struct item){ (int32_t)x->t->n_value++, 0 };
}

/* Shapes are known when all operands are; until then, where they are read decides. */
static struct item operation(struct task *x, uint16_t op, enum hn_dtype t, int32_t a, int32_t b, float scale)
{
	return x->why != NULL ? (struct item){ -1, 0 }
			      : new_value(x, (struct hn_npu_value){ .dtype = (uint8_t)t, .op = op,
								    .from = { a, b }, .scale = scale });
}

static bool is_same(const struct task_form *a, const struct task_form *b, uint32_t n)
{
	return n == 0 || memcmp(a, b, n * sizeof(*a)) == 0;
}

static struct item loaded(struct task *x, const struct hn_expr *e, const struct task_form *index)
{
	struct task_steps s;
	struct item v;

	if (!task_steps(x, e->ref, index, &s)) {
		return (struct item){ -1, 0 };
	}
	for (uint32_t i = 1; i < x->t->n_value; i++) {
		if (x->t->value[i].loaded && x->value[i].arg == s.arg && is_same(&x->value[i].at, &s.at, 1)) {
			return (struct item){ (int32_t)i, 0 };
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

static struct item expr(struct task *x, const struct hn_expr *e, const struct task_form *env);

/* What an op has at these forms. */
static struct item op_at(struct task *x, int32_t at, const struct task_form *env)
{
	const struct hn_op *op = x->dag->op[at];
	struct item v;

	for (uint32_t i = 0; i < x->n_known; i++) {
		if (x->known[i].op == at && is_same(x->known[i].env, env, op->n_dim)) {
			return (struct item){ x->known[i].value, x->known[i].number };
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

static struct item load(struct task *x, const struct hn_expr *e, const struct task_form *env)
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
		return (struct item){ 0, 0 };
	}
	return x->dag->op[e->ref]->kind == HN_OP_PLACEHOLDER ? loaded(x, e, index) : op_at(x, e->ref, index);
}

static const struct {
	uint8_t op;
	uint16_t what, scaled; /* scaled: with a number; NUL: none */
} binaries[] = {
	{ HN_EXPR_ADD, HN_NPU_I_ADD, HN_NPU_I_ADDS }, { HN_EXPR_SUB, HN_NPU_I_SUB, HN_NPU_N_OP },
	{ HN_EXPR_MUL, HN_NPU_I_MUL, HN_NPU_I_MULS }, { HN_EXPR_DIV, HN_NPU_I_DIV, HN_NPU_N_OP },
	{ HN_EXPR_MAX, HN_NPU_I_MAX, HN_NPU_I_MAXS }, { HN_EXPR_MIN, HN_NPU_I_MIN, HN_NPU_I_MINS },
};

static const struct {
	uint8_t fn;
	uint16_t what;
} calls[] = {
	{ HN_FN_exp, HN_NPU_I_EXP },	 { HN_FN_log, HN_NPU_I_LN },   { HN_FN_sqrt, HN_NPU_I_SQRT },
	{ HN_FN_rsqrt, HN_NPU_I_RSQRT }, { HN_FN_abs, HN_NPU_I_ABS }, { HN_FN_fabs, HN_NPU_I_ABS },
};

/* What has no instruction with a number takes a block of it. */
static struct item as_value(struct task *x, struct item a, enum hn_dtype t)
{
	return a.value >= 0 ? a : operation(x, HN_NPU_I_DUP, t, -1, -1, a.number);
}

static struct item binary(struct task *x, uint32_t row, struct item a, struct item b, enum hn_dtype t)
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
static struct item logistic(struct task *x, struct item a, enum hn_dtype t, float by)
{
	a = operation(x, HN_NPU_I_MULS, t, a.value, -1, -by);
	a = operation(x, HN_NPU_I_EXP, t, a.value, -1, 0);
	a = operation(x, HN_NPU_I_ADDS, t, a.value, -1, 1);
	return operation(x, HN_NPU_I_DIV, t, as_value(x, (struct item){ -1, by }, t).value, a.value, 0);
}

static struct item call(struct task *x, const struct hn_expr *e, const struct task_form *env)
{
	struct item a = expr(x, e->arg[0], env);
	enum hn_dtype t = (enum hn_dtype)e->dtype;

	if (a.value < 0) {
		return none(x, "a function of a number");
	}
	for (size_t i = 0; i < HN_COUNT_OF(calls); i++) {
		if (calls[i].fn == e->ref) {
			return operation(x, calls[i].what, t, a.value, -1, 0);
		}
	}
	if (e->ref == HN_FN_sigmoid) {
		return logistic(x, a, t, 1);
	}
	if (e->ref == HN_FN_tanh) {
		return operation(x, HN_NPU_I_ADDS, t, logistic(x, a, t, 2).value, -1, -1);
	}
	return none(x, "a function behind the sums that has no instruction");
}

static struct item cast(struct task *x, const struct hn_expr *e, const struct task_form *env)
{
	struct item a;

	if (e->arg[0]->op == HN_EXPR_INT) {
		return (struct item){ -1, (float)e->arg[0]->u.i };
	}
	a = expr(x, e->arg[0], env);
	if (a.value < 0 || e->arg[0]->dtype == e->dtype) {
		return a;
	}
	return e->dtype != HN_F16 && e->dtype != HN_F32
		       ? none(x, "a cast behind the sums to another type than float16 and float32")
		       : operation(x, HN_NPU_I_CONV, (enum hn_dtype)e->dtype, a.value, -1, 0);
}

static struct item expr(struct task *x, const struct hn_expr *e, const struct task_form *env)
{
	enum hn_dtype t = (enum hn_dtype)e->dtype;
	struct item a, b;

	if (x->why != NULL) {
		return (struct item){ -1, 0 };
	}
	switch (e->op) {
	case HN_EXPR_FLOAT:
		return (struct item){ -1, (float)e->u.f };
	case HN_EXPR_LOAD:
		return load(x, e, env);
	case HN_EXPR_CAST:
		return cast(x, e, env);
	case HN_EXPR_CALL:
		return call(x, e, env);
	case HN_EXPR_INT:
		/* numbers go into instructions as float32 */
		return e->u.i > -(1 << 24) && e->u.i < 1 << 24 ? (struct item){ -1, (float)e->u.i }
								 : none(x, "an integer of more than 24 bits");
	default:
		break;
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

/* -- results ---------------------------------------------------------------------------- */

struct reader { /* a load of what follows the sum */
	const struct task *x;
	const struct hn_expr *load;
};

static void find_load(const struct hn_expr *e, void *ctx)
{
	struct reader *r = ctx;

	if (e->op == HN_EXPR_LOAD && r->load == NULL && r->x->env[e->ref] != NULL) {
		r->load = e;
	}
}

/* Which of the sum's axes each axis of an op is, by what it reads of them. */
static void follow(struct task *x, int32_t at)
{
	const struct hn_op *op = x->dag->op[at];
	struct reader r = { x, NULL };
	struct task_form *f;

	if (op->kind == HN_OP_PLACEHOLDER || op->reduce != NULL || op->n_out != 1) {
		return;
	}
	hn_op_visit(op, find_load, &r);
	if (r.load == NULL) {
		return;
	}
	f = HN_NEW_ARRAY(x->a, struct task_form, op->n_dim + 1u);
	for (uint32_t d = 0; d < r.load->n_arg; d++) {
		const struct hn_expr *i = r.load->arg[d];

		if (i->op == HN_EXPR_VAR && i->ref >= 0 && i->ref < (int32_t)op->n_dim) {
			f[i->ref] = x->env[r.load->ref][d];
		}
	}
	x->env[at] = f;
}

/* Its own steps, by the axes of the sum; each axis of more than one number is one of these. */
static bool result_steps(struct task *x, int32_t at, struct task_steps *ret)
{
	const struct hn_op *op = x->dag->op[at];
	int64_t step = 1;

	*ret = (struct task_steps){ .dtype = op->dtype[0] };
	for (uint32_t d = op->n_dim; d-- > 0; step *= op->shape[d]) {
		uint32_t axis = 0;

		while (axis < x->sum->n_spatial && (x->env[at][d].by[axis] != 1 || task_extent(x, axis) == 1)) {
			axis++;
		}
		if (op->shape[d] == 1) {
			continue;
		}
		if (axis == x->sum->n_spatial || task_extent(x, axis) != op->shape[d] || ret->at.by[axis] != 0) {
			return task_no(x, "a result that is wider than the sums");
		}
		ret->at.by[axis] = step;
	}
	for (uint32_t i = 0; i < x->sum->n_spatial; i++) {
		if (ret->at.by[i] == 0 && task_extent(x, i) > 1) {
			return task_no(x, "a result that has not all of the sums");
		}
	}
	return true;
}

/* Sums that are read by one conversion alone come out of the cube converted. */
static void fold_cast(struct hn_npu_task *t)
{
	int32_t reader = -1;
	uint32_t n = 0;

	for (uint32_t i = 1; i < t->n_value; i++) {
		for (int k = 0; k < 2 && !t->value[i].loaded; k++) {
			n += t->value[i].from[k] == 0;
			reader = t->value[i].from[k] == 0 ? (int32_t)i : reader;
		}
	}
	for (uint32_t i = 0; i < t->n_store; i++) {
		n += t->store[i].value == 0;
	}
	if (n != 1 || reader < 0 || t->value[reader].op != HN_NPU_I_CONV) {
		return;
	}
	t->value[0].dtype = t->value[reader].dtype;
	for (uint32_t i = 1; i < t->n_value; i++) {
		for (int k = 0; k < 2 && !t->value[i].loaded; k++) {
			t->value[i].from[k] = t->value[i].from[k] == reader ? 0 : t->value[i].from[k];
		}
	}
	for (uint32_t i = 0; i < t->n_store; i++) {
		t->store[i].value = t->store[i].value == reader ? 0 : t->store[i].value;
	}
	t->value[reader].from[0] = -1; /* nobody reads it */
}

bool task_after(struct task *x)
{
	struct task_form *itself = HN_NEW_ARRAY(x->a, struct task_form, HN_DAG_MAX_ITERS);

	x->env = HN_NEW_ARRAY(x->a, const struct task_form *, x->dag->n_op);
	for (uint32_t i = 0; i < x->sum->n_spatial; i++) {
		itself[i].by[i] = 1;
	}
	x->env[x->sum_at] = itself;
	x->t->n_value = 1;
	x->t->value[0] = (struct hn_npu_value){ .shape = HN_NPU_FULL, .dtype = x->sum->dtype[0],
						.from = { -1, -1 } };
	for (uint32_t i = (uint32_t)x->sum_at + 1; i < x->dag->n_op; i++) {
		follow(x, (int32_t)i);
	}
	for (uint32_t i = x->dag->n_input; i < x->dag->n_arg; i++) {
		int32_t at = x->dag->arg[i];
		struct item v;

		if (x->t->n_store == HN_NPU_MOST_STORES || x->env[at] == NULL) {
			return task_no(x, "a result that does not follow the sums, or too many");
		}
		v = at == x->sum_at ? (struct item){ 0, 0 } : op_at(x, at, x->env[at]);
		if (x->why != NULL || v.value < 0 || !result_steps(x, at, &x->store[x->t->n_store])) {
			return task_no(x, "a result that is a number");
		}
		x->store[x->t->n_store].arg = (int32_t)i;
		x->t->store[x->t->n_store++].value = v.value;
	}
	fold_cast(x->t);
	return true;
}
