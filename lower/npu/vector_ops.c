/* lower/npu/vector_ops.c -- operations on values of a tile, of what a dag's expressions have.
 *
 * What is a number alone goes into instructions that take one.  What lacks dimensions that another
 * operand has is read again by strides of 0: so where rows meet what has no last dimension, this is
 * spread to a block for each number.
 */
#include <string.h>

#include "lower/npu/vector_int.h"

#define A_ROW 40 /* lanes */

#define MOST_OPS 4000 /* of a tile */

int vec_no(struct vec *x, const struct hn_op *op, const char *why, const char *what)
{
	x->rc = x->rc ? x->rc : hn_fail(x->err, HONE_E_UNSUPPORTED, "%s: %s%s", op->id, why, what);
	return x->rc;
}

int32_t vec_new_value(struct vec *x, enum vec_form form, enum hn_dtype t, uint32_t dims)
{
	x->v = hn_arena_grow(x->a, x->v, x->n_value, &x->cap_value, sizeof(x->v[0]));
	x->v[x->n_value] = (struct vec_value){ .form = (uint8_t)form, .dtype = (uint8_t)t, .dims = dims,
					       .deps = dims, .arg = -1 };
	return (int32_t)x->n_value++;
}

struct vec_op *vec_new_op(struct vec *x, uint16_t what, int32_t to, int32_t a, int32_t b, int32_t c,
			  float scale)
{
	const int32_t from[3] = { a, b, c };

	if (x->n_op == MOST_OPS) {
		x->rc = x->rc ? x->rc : hn_fail(x->err, HONE_E_UNSUPPORTED, "a tile takes more than %d operations",
						MOST_OPS);
		x->n_op--; /* nothing is done with it */
	}
	x->op = hn_arena_grow(x->a, x->op, x->n_op, &x->cap_op, sizeof(x->op[0]));
	x->op[x->n_op] = (struct vec_op){ .what = what, .to = to, .from = { a, b, c }, .scale = scale };
	for (int i = 0; i < 3 && to >= 0; i++) {
		x->v[to].deps |= from[i] >= 0 ? x->v[from[i]].deps : 0;
	}
	return &x->op[x->n_op++];
}

static enum hn_dtype type_of(const struct vec *x, int32_t v)
{
	return (enum hn_dtype)x->v[v].dtype;
}

static int32_t made_of(const struct vec *x, uint16_t what, int32_t from)
{
	for (uint32_t i = 0; i < x->n_op; i++) {
		if (x->op[i].what == what && x->op[i].from[0] == from) {
			return x->op[i].to;
		}
	}
	return -1;
}

/* A block of the number. */
int32_t vec_constant(struct vec *x, float number, enum hn_dtype t)
{
	int32_t v;

	for (uint32_t i = 0; i < x->n_op; i++) {
		if (x->op[i].what == HN_NPU_I_DUP && type_of(x, x->op[i].to) == t &&
		    memcmp(&x->op[i].scale, &number, 4) == 0) {
			return x->op[i].to;
		}
	}
	v = vec_new_value(x, VEC_SPREAD, t, 0);
	vec_new_op(x, HN_NPU_I_DUP, v, -1, -1, -1, number);
	return v;
}

static int32_t value_of(struct vec *x, struct vec_item a, enum hn_dtype t)
{
	return a.value >= 0 ? a.value : vec_constant(x, a.number, t);
}

struct vec_item vec_unary(struct vec *x, uint16_t what, struct vec_item a, enum hn_dtype t, float scale)
{
	int32_t from = value_of(x, a, t);
	int32_t v = vec_new_value(x, (enum vec_form)x->v[from].form, t, x->v[from].dims);

	vec_new_op(x, what, v, from, -1, -1, scale);
	return (struct vec_item){ v, 0 };
}

struct vec_item vec_as(struct vec *x, struct vec_item a, enum hn_dtype t)
{
	return a.value < 0 || type_of(x, a.value) == t ? a : vec_unary(x, HN_NPU_I_CONV, a, t, 0);
}

/* A block for each number. */
int32_t vec_spread(struct vec *x, int32_t v)
{
	int32_t s;

	if (x->v[v].form != VEC_NUMBERS) {
		return v;
	}
	s = made_of(x, HN_NPU_I_BRCB, v);
	if (s < 0) {
		s = vec_new_value(x, VEC_SPREAD, type_of(x, v), x->v[v].dims);
		vec_new_op(x, HN_NPU_I_BRCB, s, v, -1, -1, 0);
	}
	return s;
}

int32_t vec_widened(struct vec *x, int32_t v, uint32_t dims)
{
	bool rows = (dims & vec_last(x)) != 0 || !x->ordered;
	int32_t to;

	if (x->v[v].dims == dims && (rows || dims != 0)) {
		return v;
	}
	v = vec_spread(x, v);
	if (x->v[v].dims == dims) {
		return v;
	}
	to = vec_new_value(x, rows ? VEC_FULL : VEC_SPREAD, type_of(x, v), dims);
	vec_new_op(x, HN_NPU_I_COPY, to, v, -1, -1, 0);
	return to;
}

/* Whether both go number by number: neither has the last dimension, and both have the same others. */
static bool are_numbers(const struct vec *x, int32_t a, int32_t b)
{
	const struct vec_value *v = &x->v[a], *w = &x->v[b];

	return (v->form == VEC_NUMBERS && (w->form == VEC_NUMBERS ? v->dims == w->dims : w->dims == 0)) ||
	       (w->form == VEC_NUMBERS && v->form != VEC_NUMBERS && v->dims == 0);
}

static int32_t pair(struct vec *x, uint16_t what, int32_t a, int32_t b)
{
	uint32_t dims = x->v[a].dims | x->v[b].dims;
	bool rows = (dims & vec_last(x)) != 0, numbers = !rows && are_numbers(x, a, b);
	int32_t v;

	if (!numbers && x->ordered) {
		a = vec_spread(x, a);
		b = vec_spread(x, b);
	}
	v = vec_new_value(x, rows || !x->ordered ? VEC_FULL : numbers ? VEC_NUMBERS : VEC_SPREAD,
			  type_of(x, a), dims);
	vec_new_op(x, what, v, a, b, -1, 0);
	return v;
}

/* The operation as one with a number, if there is one: of the first or the second operand. */
static bool with_number(struct vec *x, uint16_t what, struct vec_item a, struct vec_item b,
			enum hn_dtype t, struct vec_item *ret)
{
	struct vec_item v = a.value >= 0 ? a : b;
	float c = a.value >= 0 ? b.number : a.number;

	static const uint16_t scaled[HN_NPU_N_OP] = {
		[HN_NPU_I_ADD] = HN_NPU_I_ADDS, [HN_NPU_I_MUL] = HN_NPU_I_MULS,
		[HN_NPU_I_MAX] = HN_NPU_I_MAXS, [HN_NPU_I_MIN] = HN_NPU_I_MINS,
	};

	if (what == HN_NPU_I_SUB) {
		*ret = a.value >= 0 ? vec_unary(x, HN_NPU_I_ADDS, v, t, -c)
				    : vec_unary(x, HN_NPU_I_ADDS, vec_unary(x, HN_NPU_I_MULS, v, t, -1), t, c);
		return true;
	}
	if (scaled[what] != 0) {
		*ret = vec_unary(x, scaled[what], v, t, c);
	}
	return scaled[what] != 0;
}

struct vec_item vec_binary(struct vec *x, uint16_t what, struct vec_item a, struct vec_item b,
			   enum hn_dtype t)
{
	struct vec_item v;

	if (a.value < 0 && b.value < 0) {
		a.value = vec_constant(x, a.number, t);
	}
	if ((a.value < 0 || b.value < 0) && with_number(x, what, a, b, t, &v)) {
		return v;
	}
	return (struct vec_item){ pair(x, what, value_of(x, a, t), value_of(x, b, t)), 0 };
}

/* Operands of one comparison or choice go through the tile alike; a number is one for all. */
struct vec_item vec_choose(struct vec *x, uint16_t what, struct vec_item a, struct vec_item b,
			   enum hn_dtype t, struct vec_item yes, struct vec_item no, enum hn_dtype u)
{
	int32_t v[4] = { value_of(x, a, t), value_of(x, b, t), value_of(x, yes, u), value_of(x, no, u) };
	uint32_t dims = 0, rows, compared = x->v[v[0]].dims | x->v[v[1]].dims;
	bool numbers = true, one_row;
	enum vec_form form;
	int32_t bits, to;

	for (int i = 0; i < 4; i++) {
		dims |= x->v[v[i]].dims;
	}
	rows = dims & vec_last(x);
	for (int i = 0; i < 4; i++) {
		const struct vec_value *w = &x->v[v[i]];

		numbers = numbers && dims != 0 && rows == 0 &&
			  (w->form == VEC_NUMBERS ? w->dims == dims : w->dims == 0);
	}
	/* what a row says is said once, where rows are not so short that several fill a repeat */
	one_row = x->ordered && rows != 0 && compared == rows && dims != rows && x->dim[x->n_dim - 1] >= A_ROW;
	for (int i = one_row ? 2 : 0; i < 4 && x->ordered; i++) {
		if (!numbers && (x->v[v[i]].dims != 0 || x->v[v[i]].form == VEC_NUMBERS)) {
			v[i] = rows != 0 ? vec_widened(x, v[i], dims)
					 : vec_widened(x, vec_spread(x, v[i]), dims);
		}
	}
	form = !x->ordered || rows != 0 ? VEC_FULL : numbers ? VEC_NUMBERS : VEC_SPREAD;
	bits = vec_new_value(x, VEC_BITS, t, one_row ? rows : dims);
	vec_new_op(x, what, bits, v[0], v[1], -1, 0)->with = (uint8_t)form;
	to = vec_new_value(x, form, u, dims);
	vec_new_op(x, HN_NPU_I_SEL, to, v[2], v[3], bits, 0);
	return (struct vec_item){ to, 0 };
}
