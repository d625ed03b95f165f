/* lower/npu/vector_expr.c -- an expression of an op at a point, as operations on values.
 *
 * Flags, int8 and uint8 are numbers of float16, which has all of theirs; a flag may be float32 too.
 * int32 is itself.  What an instruction has for floats alone is said for int32 by what it has:
 * x < y where the greater of the two, less x, is not 0.
 */
#include <math.h>

#include "lower/npu/vector_eval.h"

#define MOST_WHOLE 16777216 /* numbers of instructions are float32 */
#define MOST_DEPTH 6000	    /* of expressions of ops that ops read */

typedef struct vec_item item;

static item no(const struct vec_point *p, const char *why, const char *what)
{
	vec_no(p->x, p->op, why, what);
	return (item){ -1, 0 };
}

static bool has_form(enum hn_dtype t)
{
	t = vec_carrier(t);
	return t == HN_F16 || t == HN_F32 || t == HN_I32;
}

static bool is_narrow(enum hn_dtype t)
{
	return t == HN_I8 || t == HN_U8;
}

/* Of what values of e are. */
static enum hn_dtype type_of(const struct vec_point *p, const struct hn_expr *e, item a)
{
	return a.value >= 0 ? (enum hn_dtype)p->x->v[a.value].dtype : vec_carrier((enum hn_dtype)e->dtype);
}

static item choose(const struct vec_point *p, uint16_t what, item a, item b, enum hn_dtype t, item yes,
		   item not, enum hn_dtype u)
{
	return p->x->rc != 0 ? a : vec_choose(p->x, what, a, b, t, yes, not, u);
}

static const struct {
	uint8_t op;
	uint16_t what;
} binaries[] = {
	{ HN_EXPR_ADD, HN_NPU_I_ADD },	{ HN_EXPR_SUB, HN_NPU_I_SUB },	{ HN_EXPR_MUL, HN_NPU_I_MUL },
	{ HN_EXPR_DIV, HN_NPU_I_DIV },	{ HN_EXPR_MIN, HN_NPU_I_MIN },	{ HN_EXPR_MAX, HN_NPU_I_MAX },
	{ HN_EXPR_EQ, HN_NPU_I_CMPEQ }, { HN_EXPR_NE, HN_NPU_I_CMPNE }, { HN_EXPR_LT, HN_NPU_I_CMPLT },
	{ HN_EXPR_LE, HN_NPU_I_CMPLE }, { HN_EXPR_GT, HN_NPU_I_CMPGT }, { HN_EXPR_GE, HN_NPU_I_CMPGE },
	{ HN_EXPR_AND, HN_NPU_I_MIN },	{ HN_EXPR_OR, HN_NPU_I_MAX },
};

static uint16_t binary_of(const struct hn_expr *e)
{
	for (size_t i = 0; i < HN_COUNT_OF(binaries); i++) {
		if (binaries[i].op == e->op) {
			return binaries[i].what;
		}
	}
	return HN_NPU_N_OP;
}

static bool is_comparison(const struct hn_expr *e)
{
	return e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE;
}

/* x what y as what 0 may be compared with: of floats they are; of int32 they are made so. */
static uint16_t comparable(const struct vec_point *p, uint16_t what, item *a, item *b)
{
	bool order = what != HN_NPU_I_CMPEQ && what != HN_NPU_I_CMPNE;
	bool strict = what == HN_NPU_I_CMPLT || what == HN_NPU_I_CMPGT || what == HN_NPU_I_CMPNE;
	item x = *a, y = *b;

	/* y > x, or not x >= y, is what x < y is */
	if (what == HN_NPU_I_CMPGT || what == HN_NPU_I_CMPLE) {
		x = *b;
		y = *a;
	}
	if (order) {
		y = vec_binary(p->x, HN_NPU_I_MAX, x, y, HN_I32);
	}
	x.value = x.value < 0 ? vec_constant(p->x, x.number, HN_I32) : x.value;
	*a = vec_as(p->x, vec_binary(p->x, HN_NPU_I_SUB, y, x, HN_I32), HN_F32);
	*b = (item){ -1, 0 };
	return strict ? HN_NPU_I_CMPNE : HN_NPU_I_CMPEQ;
}

/* The comparison's operands, of one type: which instruction compares them. */
static uint16_t compared(const struct vec_point *p, const struct hn_expr *e, item *a, item *b,
			 enum hn_dtype *t)
{
	uint16_t what = binary_of(e);

	*a = vec_expr(p, e->arg[0]);
	*b = vec_expr(p, e->arg[1]);
	if (p->x->rc != 0) {
		return what;
	}
	*t = type_of(p, e->arg[0], a->value >= 0 ? *a : *b);
	if (*t == HN_I32) {
		what = comparable(p, what, a, b);
		*t = HN_F32;
	}
	*a = vec_as(p->x, *a, *t);
	*b = vec_as(p->x, *b, *t);
	return what;
}

item vec_guarded(const struct vec_point *p, const struct hn_expr *condition, item a, item b,
		 enum hn_dtype t)
{
	item x, y;
	enum hn_dtype u = t;
	uint16_t what;

	if (is_comparison(condition)) {
		what = compared(p, condition, &x, &y, &u);
	} else {
		x = vec_expr(p, condition);
		y = (item){ -1, 0 };
		what = HN_NPU_I_CMPNE;
		u = p->x->rc == 0 ? type_of(p, condition, x) : u;
	}
	if (p->x->rc == 0 && hn_dtype_bytes(u) != hn_dtype_bytes(t)) { /* a bit for each lane of its own */
		item one = { -1, 1 }, zero = { -1, 0 };
		enum hn_dtype wide = hn_dtype_bytes(t) == 4 ? HN_F32 : HN_F16;

		x = vec_as(p->x, choose(p, what, x, y, u, one, zero, u), wide);
		y = zero;
		u = wide;
		what = HN_NPU_I_CMPNE;
	}
	return choose(p, what, x, y, u, a, b, t);
}

static item flag(const struct vec_point *p, const struct hn_expr *e)
{
	item a, b, one = { -1, 1 }, zero = { -1, 0 };
	enum hn_dtype t = HN_F16;
	uint16_t what;

	if (is_comparison(e)) {
		what = compared(p, e, &a, &b, &t);
		return choose(p, what, a, b, t, one, zero, t);
	}
	a = vec_expr(p, e->arg[0]);
	b = e->op == HN_EXPR_NOT ? one : vec_expr(p, e->arg[1]);
	if (p->x->rc != 0) {
		return a;
	}
	t = type_of(p, e->arg[0], a);
	if (e->op == HN_EXPR_NOT) {
		return vec_binary(p->x, HN_NPU_I_SUB, one, a, t);
	}
	return vec_binary(p->x, binary_of(e), vec_as(p->x, a, t), vec_as(p->x, b, t), t);
}

/* Towards 0, as C does. */
static item whole(const struct vec_point *p, item a)
{
	item none = { -1, 0 }, r;

	vec_call(p->x, HN_FN_trunc, vec_as(p->x, a, HN_F32), none, HN_F32, &r);
	return r;
}

static item cast(const struct vec_point *p, const struct hn_expr *e)
{
	const struct hn_expr *of = e->arg[0];
	enum hn_dtype from = (enum hn_dtype)of->dtype, to = (enum hn_dtype)e->dtype;
	bool floats = from == HN_F16 || from == HN_F32;
	item a, one = { -1, 1 }, zero = { -1, 0 };

	if (of->op == HN_EXPR_INT) {
		return (item){ -1, (float)of->u.i };
	}
	a = vec_expr(p, of);
	if (p->x->rc != 0 || a.value < 0 || from == to) {
		return a;
	}
	if (to == HN_BOOL) {
		a = from == HN_I32 ? vec_as(p->x, a, HN_F32) : a;
		from = (enum hn_dtype)p->x->v[a.value].dtype;
		return choose(p, HN_NPU_I_CMPNE, a, zero, from, one, zero, from);
	}
	if ((is_narrow(to) && from != HN_BOOL && !floats && !(from == HN_U8 && to == HN_U8)) ||
	    (to == HN_U8 && from == HN_I8)) {
		return no(p, "integers that may not fit have no form as ", hn_dtype_name(to));
	}
	a = floats && (to == HN_I32 || is_narrow(to)) ? whole(p, a) : a;
	return vec_as(p->x, a, vec_carrier(to));
}

static item call(const struct vec_point *p, const struct hn_expr *e)
{
	enum hn_dtype t = (enum hn_dtype)e->dtype;
	item a = vec_expr(p, e->arg[0]), b = { -1, 0 }, r = { -1, 0 };

	b = e->n_arg > 1 ? vec_expr(p, e->arg[1]) : b;
	if (p->x->rc == 0 && (t == HN_I32 || is_narrow(t) || !vec_call(p->x, (enum hn_fn)e->ref, a, b, t, &r))) {
		return no(p, "no instruction for ", hn_fn_name((enum hn_fn)e->ref));
	}
	return r;
}

static item load(const struct vec_point *p, const struct hn_expr *e)
{
	const struct hn_op *from = p->x->dag->op[e->ref];
	struct vec_line *at = HN_NEW_ARRAY(p->x->a, struct vec_line, from->n_dim + 1);

	for (uint32_t d = 0; d < from->n_dim; d++) {
		if (!vec_line_of(p, e->arg[d], &at[d])) {
			return no(p, "an index is no linear form of axes, of ", from->id);
		}
	}
	return (item){ vec_value_of(p->x, (uint32_t)e->ref, (uint32_t)e->out, at), 0 };
}

static item arithmetic(const struct vec_point *p, const struct hn_expr *e)
{
	enum hn_dtype t = vec_carrier((enum hn_dtype)e->dtype);
	uint16_t what = binary_of(e);
	item a, b;

	if (what >= HN_NPU_N_OP || (t == HN_I32 && what == HN_NPU_I_DIV)) {
		return no(p, "no instruction for ", hn_expr_op_name((enum hn_expr_op)e->op));
	}
	if (is_narrow((enum hn_dtype)e->dtype) && what != HN_NPU_I_MAX && what != HN_NPU_I_MIN) {
		return no(p, "arithmetic has no form of ", hn_dtype_name((enum hn_dtype)e->dtype));
	}
	a = vec_expr(p, e->arg[0]);
	b = vec_expr(p, e->arg[1]);
	if (p->x->rc != 0) {
		return a;
	}
	if (t == HN_I32 && a.value < 0 && what == HN_NPU_I_SUB) {
		a.value = vec_constant(p->x, a.number, t);
	}
	return vec_binary(p->x, what, vec_as(p->x, a, t), vec_as(p->x, b, t), t);
}

/* One of the two, or, where data decide, both. */
static item choice(const struct vec_point *p, const struct hn_expr *e)
{
	enum vec_truth truth = vec_decided(p, e->arg[0]);
	item a, b;

	if (truth == VEC_PARTLY) {
		return no(p, "a condition on where a point is, that no box of results is within", "");
	}
	if (truth != VEC_DATA) {
		return vec_expr(p, e->arg[truth == VEC_YES ? 1 : 2]);
	}
	a = vec_expr(p, e->arg[1]);
	b = vec_expr(p, e->arg[2]);
	if (p->x->rc == 0 && e->dtype == HN_BOOL) { /* flags of two types */
		a = vec_as(p->x, a, HN_F16);
		b = vec_as(p->x, b, HN_F16);
	}
	return p->x->rc != 0 ? a : vec_guarded(p, e->arg[0], a, b, vec_carrier((enum hn_dtype)e->dtype));
}

static item at_point(const struct vec_point *p, const struct hn_expr *e)
{
	switch (e->op) {
	case HN_EXPR_FLOAT:
		return (item){ -1, e->dtype == HN_F16 ? hn_half_to_float(hn_half_of_float((float)e->u.f))
						      : (float)e->u.f };
	case HN_EXPR_INT:
		return e->u.i > MOST_WHOLE || e->u.i < -MOST_WHOLE
			       ? no(p, "a number that float32 may not have", "") : (item){ -1, (float)e->u.i };
	case HN_EXPR_LOAD:
		return load(p, e);
	case HN_EXPR_CALL:
		return call(p, e);
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		return choice(p, e);
	case HN_EXPR_CAST:
		return cast(p, e);
	case HN_EXPR_VAR:
		return no(p, "the number of a point has no form as data", "");
	case HN_EXPR_LET:
		return no(p, "a name for a value, as of an index that data decide, has no form", "");
	default:
		return e->dtype == HN_BOOL ? (e->op == HN_EXPR_NOT || (e->n_arg == 2 && binary_of(e) < HN_NPU_N_OP))
						     ? flag(p, e)
						     : no(p, "no instruction for ",
							  hn_expr_op_name((enum hn_expr_op)e->op))
					   : arithmetic(p, e);
	}
}

item vec_expr(const struct vec_point *p, const struct hn_expr *e)
{
	item a = { -1, 0 };

	if (p->x->rc != 0) {
		return a;
	}
	if (!has_form((enum hn_dtype)e->dtype)) {
		return no(p, "float16, float32, int32 and what has a byte have a form, not ",
			  hn_dtype_name((enum hn_dtype)e->dtype));
	}
	if (++p->x->depth > MOST_DEPTH) {
		return no(p, "ops read each other too deep", "");
	}
	a = at_point(p, e);
	p->x->depth--;
	return a;
}
