/* lower/npu/vector_ops.c -- the dag's expressions as operations on values of a tile.
 *
 * What is a number alone goes into instructions that take one.  What a row or a column has is spread
 * by strides of 0.  Sums go over a row's repeats first, then over the last repeat's lanes.
 */
#include <string.h>

#include "lower/npu/vector_int.h"

/* A value, or (value < 0) a number. */
struct item {
	int32_t value;
	float number;
};

static struct item no(struct vec *x, const struct hn_op *op, const char *why, const char *what)
{
	x->rc = x->rc ? x->rc : hn_fail(x->err, HONE_E_UNSUPPORTED, "%s: %s%s", op->id, why, what);
	return (struct item){ -1, 0 };
}

int32_t vec_new_value(struct vec *x, enum vec_shape shape, enum hn_dtype t)
{
	x->v = hn_arena_grow(x->a, x->v, x->n_value, &x->cap_value, sizeof(x->v[0]));
	x->v[x->n_value] = (struct vec_value){ .shape = (uint8_t)shape, .dtype = (uint8_t)t, .arg = -1,
					       .first = -1, .copies = 1 };
	return (int32_t)x->n_value++;
}

void vec_new_op(struct vec *x, uint16_t what, int32_t to, int32_t a, int32_t b, int32_t c, float scale)
{
	x->op = hn_arena_grow(x->a, x->op, x->n_op, &x->cap_op, sizeof(x->op[0]));
	x->op[x->n_op++] = (struct vec_op){ .what = what, .to = to, .from = { a, b, c }, .scale = scale };
}

static enum hn_dtype type_of(const struct vec *x, int32_t v)
{
	return (enum hn_dtype)x->v[v].dtype;
}

static enum vec_shape shape_of(const struct vec *x, int32_t v)
{
	return (enum vec_shape)x->v[v].shape;
}

/* A block of the number, made before the first tile. */
static int32_t constant(struct vec *x, float number, enum hn_dtype t)
{
	int32_t v;

	for (uint32_t i = 0; i < x->n_op; i++) {
		if (x->op[i].what == HN_NPU_I_DUP && type_of(x, x->op[i].to) == t &&
		    memcmp(&x->op[i].scale, &number, 4) == 0) {
			return x->op[i].to;
		}
	}
	v = vec_new_value(x, VEC_ONE, t);
	x->v[v].once = true;
	vec_new_op(x, HN_NPU_I_DUP, v, -1, -1, -1, number);
	return v;
}

static struct item unary(struct vec *x, uint16_t what, struct item a, enum hn_dtype t, float scale)
{
	int32_t v = vec_new_value(x, shape_of(x, a.value), t);

	x->v[v].once = x->v[a.value].once;
	vec_new_op(x, what, v, a.value, -1, -1, scale);
	return (struct item){ v, 0 };
}

/* A row's number as a block, where something is as wide as a row. */
static int32_t spread(struct vec *x, int32_t v)
{
	int32_t s;

	for (uint32_t i = 0; i < x->n_op; i++) {
		if (x->op[i].what == HN_NPU_I_BRCB && x->op[i].from[0] == v) {
			return x->op[i].to;
		}
	}
	s = vec_new_value(x, VEC_SPREAD, type_of(x, v));
	vec_new_op(x, HN_NPU_I_BRCB, s, v, -1, -1, 0);
	return s;
}

static enum vec_shape wider(enum vec_shape a, enum vec_shape b)
{
	return a == VEC_ONE ? b : b == VEC_ONE || a == b ? a : VEC_FULL;
}

static int32_t pair(struct vec *x, uint16_t what, int32_t a, int32_t b)
{
	enum vec_shape shape = wider(shape_of(x, a), shape_of(x, b));
	int32_t v;

	if (shape == VEC_FULL) {
		a = shape_of(x, a) == VEC_ROW ? spread(x, a) : a;
		b = shape_of(x, b) == VEC_ROW ? spread(x, b) : b;
	}
	v = vec_new_value(x, shape, type_of(x, a));
	x->v[v].once = x->v[a].once && x->v[b].once;
	vec_new_op(x, what, v, a, b, -1, 0);
	return v;
}

/* The operation as one with a number, if there is one: of the first or the second operand. */
static bool with_number(struct vec *x, uint16_t what, struct item a, struct item b, enum hn_dtype t,
			struct item *ret)
{
	struct item v = a.value >= 0 ? a : b;
	float c = a.value >= 0 ? b.number : a.number;

	static const uint16_t scaled[HN_NPU_N_OP] = {
		[HN_NPU_I_ADD] = HN_NPU_I_ADDS, [HN_NPU_I_MUL] = HN_NPU_I_MULS,
		[HN_NPU_I_MAX] = HN_NPU_I_MAXS, [HN_NPU_I_MIN] = HN_NPU_I_MINS,
	};

	if (what == HN_NPU_I_SUB) {
		*ret = a.value >= 0 ? unary(x, HN_NPU_I_ADDS, v, t, -c)
				    : unary(x, HN_NPU_I_ADDS, unary(x, HN_NPU_I_MULS, v, t, -1), t, c);
		return true;
	}
	if (scaled[what] != 0) {
		*ret = unary(x, scaled[what], v, t, c);
	}
	return scaled[what] != 0;
}

static struct item binary(struct vec *x, uint16_t what, struct item a, struct item b, enum hn_dtype t)
{
	struct item v;

	if ((a.value < 0 || b.value < 0) && with_number(x, what, a, b, t, &v)) {
		return v;
	}
	a.value = a.value < 0 ? constant(x, a.number, t) : a.value;
	b.value = b.value < 0 ? constant(x, b.number, t) : b.value;
	return (struct item){ pair(x, what, a.value, b.value), 0 };
}

static const struct {
	uint8_t op;
	uint16_t what;
} binaries[] = {
	{ HN_EXPR_ADD, HN_NPU_I_ADD },	 { HN_EXPR_SUB, HN_NPU_I_SUB },	  { HN_EXPR_MUL, HN_NPU_I_MUL },
	{ HN_EXPR_DIV, HN_NPU_I_DIV },	 { HN_EXPR_MIN, HN_NPU_I_MIN },	  { HN_EXPR_MAX, HN_NPU_I_MAX },
	{ HN_EXPR_EQ, HN_NPU_I_CMPEQ }, { HN_EXPR_NE, HN_NPU_I_CMPNE }, { HN_EXPR_LT, HN_NPU_I_CMPLT },
	{ HN_EXPR_LE, HN_NPU_I_CMPLE }, { HN_EXPR_GT, HN_NPU_I_CMPGT }, { HN_EXPR_GE, HN_NPU_I_CMPGE },
};

static const struct {
	uint8_t fn;
	uint16_t what;
} calls[] = {
	{ HN_FN_exp, HN_NPU_I_EXP },	 { HN_FN_log, HN_NPU_I_LN },   { HN_FN_sqrt, HN_NPU_I_SQRT },
	{ HN_FN_rsqrt, HN_NPU_I_RSQRT }, { HN_FN_abs, HN_NPU_I_ABS }, { HN_FN_fabs, HN_NPU_I_ABS },
};

static struct item expr(struct vec *x, const struct hn_op *op, const struct hn_expr *e);

static uint16_t binary_of(const struct hn_expr *e)
{
	for (size_t i = 0; i < HN_COUNT_OF(binaries); i++) {
		if (binaries[i].op == e->op) {
			return binaries[i].what;
		}
	}
	return HN_NPU_N_OP;
}

/* As wide as the tile: comparisons and choices have no strides of their own. */
static int32_t full(struct vec *x, struct item a, enum hn_dtype t)
{
	int32_t v = a.value < 0 ? constant(x, a.number, t) : a.value, to;

	if (shape_of(x, v) == VEC_FULL) {
		return v;
	}
	v = shape_of(x, v) == VEC_ROW ? spread(x, v) : v;
	to = vec_new_value(x, VEC_FULL, t);
	vec_new_op(x, HN_NPU_I_MAX, to, v, v, -1, 0);
	return to;
}

static struct item choice(struct vec *x, const struct hn_op *op, const struct hn_expr *e)
{
	const struct hn_expr *c = e->arg[0];
	uint16_t what = binary_of(c);
	struct item a, b, yes, not;
	enum hn_dtype t = (enum hn_dtype)e->dtype;
	int32_t bits, to, left, right;

	if (what < HN_NPU_I_CMPEQ || what > HN_NPU_I_CMPGE || c->arg[0]->dtype != t) {
		return no(x, op, "a choice by something else than a comparison of its own type", "");
	}
	a = expr(x, op, c->arg[0]);
	b = expr(x, op, c->arg[1]);
	yes = expr(x, op, e->arg[1]);
	not = expr(x, op, e->arg[2]);
	if (x->rc != 0) {
		return yes;
	}
	left = full(x, a, t);
	right = full(x, b, t);
	bits = vec_new_value(x, VEC_BITS, t);
	vec_new_op(x, what, bits, left, right, -1, 0);
	yes.value = full(x, yes, t);
	not.value = full(x, not, t);
	to = vec_new_value(x, VEC_FULL, t);
	vec_new_op(x, HN_NPU_I_SEL, to, yes.value, not.value, bits, 0);
	return (struct item){ to, 0 };
}

/* 1 / (1 + exp(-x)); tanh x = 2 / (1 + exp(-2 x)) - 1. */
static struct item logistic(struct vec *x, struct item a, enum hn_dtype t, float by)
{
	a = unary(x, HN_NPU_I_MULS, a, t, -by);
	a = unary(x, HN_NPU_I_EXP, a, t, 0);
	a = unary(x, HN_NPU_I_ADDS, a, t, 1);
	return binary(x, HN_NPU_I_DIV, (struct item){ -1, by }, a, t);
}

static struct item call(struct vec *x, const struct hn_op *op, const struct hn_expr *e)
{
	enum hn_dtype t = (enum hn_dtype)e->dtype;
	struct item a = expr(x, op, e->arg[0]);

	if (x->rc == 0 && a.value < 0) {
		a.value = constant(x, a.number, t);
	}
	for (size_t i = 0; i < HN_COUNT_OF(calls) && x->rc == 0; i++) {
		if (calls[i].fn == e->ref) {
			return unary(x, calls[i].what, a, t, 0);
		}
	}
	if (x->rc == 0 && e->ref == HN_FN_sigmoid) {
		return logistic(x, a, t, 1);
	}
	if (x->rc == 0 && e->ref == HN_FN_tanh) {
		return unary(x, HN_NPU_I_ADDS, logistic(x, a, t, 2), t, -1);
	}
	return no(x, op, "no instruction for ", hn_fn_name((enum hn_fn)e->ref));
}

static struct item load(struct vec *x, const struct hn_op *op, const struct hn_expr *e)
{
	if (x->value[e->ref] < 0 || e->out != 0) {
		return no(x, op, "it reads what has no form: ", x->dag->op[e->ref]->id);
	}
	return (struct item){ x->value[e->ref], 0 };
}

static struct item expr(struct vec *x, const struct hn_op *op, const struct hn_expr *e)
{
	uint16_t what = binary_of(e);
	struct item a = { -1, 0 }, b;

	if (x->rc != 0) {
		return a;
	}
	if (e->dtype != HN_F16 && e->dtype != HN_F32) {
		return no(x, op, "float16 and float32 alone have a form, not ",
			  hn_dtype_name((enum hn_dtype)e->dtype));
	}
	switch (e->op) {
	case HN_EXPR_FLOAT:
		return (struct item){ -1, (float)e->u.f };
	case HN_EXPR_LOAD:
		return load(x, op, e);
	case HN_EXPR_CALL:
		return call(x, op, e);
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		return choice(x, op, e);
	case HN_EXPR_CAST:
		if (e->arg[0]->op == HN_EXPR_INT) {
			return (struct item){ -1, (float)e->arg[0]->u.i };
		}
		a = expr(x, op, e->arg[0]);
		return x->rc != 0 || a.value < 0 || type_of(x, a.value) == e->dtype
			       ? a : unary(x, HN_NPU_I_CONV, a, (enum hn_dtype)e->dtype, 0);
	default:
		break;
	}
	if (what >= HN_NPU_N_OP) {
		return no(x, op, "no instruction for ", hn_expr_op_name((enum hn_expr_op)e->op));
	}
	a = expr(x, op, e->arg[0]);
	b = expr(x, op, e->arg[1]);
	if (x->rc == 0 && a.value < 0 && b.value < 0) {
		a.value = constant(x, a.number, (enum hn_dtype)e->dtype);
	}
	return x->rc != 0 ? a : binary(x, what, a, b, (enum hn_dtype)e->dtype);
}

static struct item reduced(struct vec *x, const struct hn_op *op)
{
	static const uint16_t lanes[] = { [HN_COMBINE_SUM] = HN_NPU_I_CADD, [HN_COMBINE_MAX] = HN_NPU_I_CMAX,
					  [HN_COMBINE_MIN] = HN_NPU_I_CMIN };
	static const uint8_t with[] = { [HN_COMBINE_SUM] = HN_NPU_I_ADD, [HN_COMBINE_MAX] = HN_NPU_I_MAX,
					[HN_COMBINE_MIN] = HN_NPU_I_MIN };
	const struct hn_reduce *r = op->reduce;
	enum hn_dtype t = (enum hn_dtype)op->dtype[0];
	struct item a;
	int32_t chunk, to;

	if (r->n != 1 || r->condition != NULL ||
	    (r->kind != HN_COMBINE_SUM && r->kind != HN_COMBINE_MAX && r->kind != HN_COMBINE_MIN)) {
		return no(x, op, "of reductions sums, greatest and least have a form", "");
	}
	if (r->kind == HN_COMBINE_SUM && (t != HN_F32 || !r->any_order)) {
		return no(x, op, "sums that keep their order have no form; of float16, cast first", "");
	}
	a = expr(x, op, r->source[0]);
	if (x->rc != 0) {
		return a;
	}
	a.value = full(x, a, t);
	if (x->flat) {
		return no(x, op, "it leaves nothing but one number: cores would wait for each other", "");
	}
	chunk = vec_new_value(x, VEC_CHUNK, t);
	vec_new_op(x, VEC_FOLD, chunk, a.value, -1, -1, 0);
	x->op[x->n_op - 1].with = with[r->kind];
	to = vec_new_value(x, VEC_ROW, t);
	vec_new_op(x, lanes[r->kind], to, chunk, -1, -1, 0);
	return (struct item){ to, 0 };
}

static enum vec_shape shape_of_op(const struct vec *x, uint32_t i)
{
	const struct hn_op *op = x->dag->op[i];
	int first = -1, last = -1;

	for (uint32_t d = 0; d < op->n_dim; d++) {
		if (x->pos[i][d] >= 0) {
			first = first < 0 ? x->pos[i][d] : first;
			last = x->pos[i][d];
		}
	}
	return first < 0				? VEC_ONE
	       : first == 0 && last == (int)x->n_dim - 1 ? VEC_FULL
	       : first == 0				? VEC_ROW : VEC_COLUMN;
}

static int32_t arg_of(const struct vec *x, uint32_t i)
{
	uint32_t k = 0;

	while (k < x->dag->n_arg && x->dag->arg[k] != (int32_t)i) {
		k++;
	}
	return k < x->dag->n_arg ? (int32_t)k : -1;
}

static void stage(struct vec *x, uint32_t i)
{
	const struct hn_op *op = x->dag->op[i];
	struct item v;

	if (op->kind == HN_OP_PLACEHOLDER) {
		enum vec_shape shape = shape_of_op(x, i);

		if (op->dtype[0] != HN_F16 && op->dtype[0] != HN_F32) {
			no(x, op, "float16 and float32 alone have a form, not ",
			   hn_dtype_name((enum hn_dtype)op->dtype[0]));
		}
		x->value[i] = vec_new_value(x, shape, (enum hn_dtype)op->dtype[0]);
		x->v[x->value[i]].once = shape == VEC_COLUMN || shape == VEC_ONE;
		x->v[x->value[i]].loaded = true;
		x->v[x->value[i]].arg = arg_of(x, i);
		if (x->v[x->value[i]].arg < 0) {
			no(x, op, "it is no argument", "");
		}
		vec_new_op(x, VEC_LOAD, x->value[i], -1, -1, -1, 0);
		if (shape == VEC_ONE) { /* the number in all lanes of a block */
			int32_t block = vec_new_value(x, VEC_ONE, (enum hn_dtype)op->dtype[0]);

			x->v[block].once = true;
			vec_new_op(x, HN_NPU_I_BRCB, block, x->value[i], -1, -1, 0);
			x->value[i] = block;
		}
		return;
	}
	v = op->n_out != 1 ? no(x, op, "several results", "")
	    : op->reduce   ? reduced(x, op) : expr(x, op, op->body[0]);
	if (x->rc == 0) {
		x->value[i] = v.value >= 0 ? v.value : constant(x, v.number, (enum hn_dtype)op->dtype[0]);
	}
}

/* A result is a value of its own, as wide as the op says. */
static void store(struct vec *x, uint32_t i, int32_t arg)
{
	const struct hn_op *op = x->dag->op[i];
	int32_t v = x->value[i], to;
	enum vec_shape shape = shape_of_op(x, i);

	if (shape != VEC_FULL && shape != VEC_ROW) {
		no(x, op, "a result that is the same in all rows: each core would write it", "");
		return;
	}
	if (shape == VEC_FULL) {
		v = full(x, (struct item){ v, 0 }, type_of(x, v));
	} else if (shape_of(x, v) != VEC_ROW) {
		no(x, op, "a result of rows that does not depend on them", "");
		return;
	}
	if (x->v[v].loaded || x->v[v].stored) {
		to = unary(x, HN_NPU_I_COPY, (struct item){ v, 0 }, type_of(x, v), 0).value;
		v = to;
	}
	x->v[v].arg = arg;
	x->v[v].stored = true;
	vec_new_op(x, VEC_STORE, -1, v, -1, -1, 0);
}

int vec_ops(struct vec *x)
{
	x->value = HN_NEW_ARRAY(x->a, int32_t, x->dag->n_op);
	for (uint32_t i = 0; i < x->dag->n_op && x->rc == 0; i++) {
		x->value[i] = -1;
		stage(x, i);
	}
	for (uint32_t i = x->dag->n_input; i < x->dag->n_arg && x->rc == 0; i++) {
		store(x, (uint32_t)x->dag->arg[i], (int32_t)i);
	}
	return x->rc;
}
