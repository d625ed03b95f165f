/* target/npu/npu_vector.c -- the vector unit, lane by lane.
 *
 * float16 is computed in float32 and rounded.  int32 wraps.  Sums of a repeat are taken by halves, as
 * a tree of adders does, in float32.
 */
#include <math.h>
#include <string.h>

#include "target/npu/npu_op.h"

struct lane { /* of a source, or a result */
	uint8_t *base;
	const struct npu_lanes *l;
	enum hn_dtype t;
};

static uint8_t *address(const struct lane *x, int64_t rep, int32_t i)
{
	return x->base + rep * x->l->step + i / x->l->per * x->l->block + i % x->l->per * x->l->bytes;
}

static float get(const struct lane *x, int64_t rep, int32_t i)
{
	const uint8_t *p = address(x, rep, i);
	uint16_t half;
	int32_t whole;
	float f;

	switch (x->t) {
	case HN_F16:
		memcpy(&half, p, 2);
		return hn_half_to_float(half);
	case HN_F32:
		memcpy(&f, p, 4);
		return f;
	case HN_I32:
		memcpy(&whole, p, 4);
		return (float)whole;
	default:
		return (float)*(const int8_t *)p;
	}
}

static int32_t get_int(const struct lane *x, int64_t rep, int32_t i)
{
	int32_t v;

	memcpy(&v, address(x, rep, i), 4);
	return v;
}

/* To nearest, ties to even; what is too large becomes the largest, a NaN 0. */
static int32_t whole(float v, double least, double most)
{
	double r = nearbyint((double)v);

	return r >= most ? (int32_t)most : r <= least ? (int32_t)least : r == r ? (int32_t)r : 0;
}

static void put(const struct lane *x, int64_t rep, int32_t i, float v)
{
	uint8_t *p = address(x, rep, i);
	uint16_t half;
	int32_t n;

	switch (x->t) {
	case HN_F16:
		half = hn_half_of_float(v);
		memcpy(p, &half, 2);
		return;
	case HN_F32:
		memcpy(p, &v, 4);
		return;
	case HN_I32:
		n = whole(v, INT32_MIN, INT32_MAX);
		memcpy(p, &n, 4);
		return;
	default:
		*(int8_t *)p = (int8_t)whole(v, INT8_MIN, INT8_MAX);
	}
}

static void put_int(const struct lane *x, int64_t rep, int32_t i, int32_t v)
{
	memcpy(address(x, rep, i), &v, 4);
}

static float greater(float x, float y)
{
	return x > y ? x : y;
}

static float less(float x, float y)
{
	return x < y ? x : y;
}

static float number(uint8_t op, float x, float y)
{
	switch (op) {
	case HN_NPU_I_ADD:
	case HN_NPU_I_ADDS:
	case HN_NPU_I_CADD:
	case HN_NPU_I_CGADD:
		return x + y;
	case HN_NPU_I_SUB:
		return x - y;
	case HN_NPU_I_MUL:
	case HN_NPU_I_MULS:
		return x * y;
	case HN_NPU_I_DIV:
		return x / y;
	case HN_NPU_I_MAX:
	case HN_NPU_I_MAXS:
	case HN_NPU_I_CMAX:
	case HN_NPU_I_CGMAX:
		return greater(x, y);
	case HN_NPU_I_MIN:
	case HN_NPU_I_MINS:
	case HN_NPU_I_CMIN:
	case HN_NPU_I_CGMIN:
		return less(x, y);
	case HN_NPU_I_ABS:
		return fabsf(x);
	case HN_NPU_I_EXP:
		return expf(x);
	case HN_NPU_I_LN:
		return logf(x);
	case HN_NPU_I_SQRT:
		return sqrtf(x);
	case HN_NPU_I_RSQRT:
		return 1 / sqrtf(x);
	case HN_NPU_I_REC:
		return 1 / x;
	case HN_NPU_I_RELU:
		return x < 0 ? 0 : x;
	case HN_NPU_I_DUP:
		return y;
	default: /* a copy, a conversion */
		return x;
	}
}

static int32_t integer(uint8_t op, int32_t x, int32_t y)
{
	switch (op) {
	case HN_NPU_I_ADD:
	case HN_NPU_I_ADDS:
		return (int32_t)((uint32_t)x + (uint32_t)y);
	case HN_NPU_I_SUB:
		return (int32_t)((uint32_t)x - (uint32_t)y);
	case HN_NPU_I_MUL:
	case HN_NPU_I_MULS:
		return (int32_t)((uint32_t)x * (uint32_t)y);
	case HN_NPU_I_MAX:
	case HN_NPU_I_MAXS:
		return x > y ? x : y;
	case HN_NPU_I_MIN:
	case HN_NPU_I_MINS:
		return x < y ? x : y;
	case HN_NPU_I_RELU:
		return x < 0 ? 0 : x;
	case HN_NPU_I_DUP:
		return y;
	default:
		return x;
	}
}

static bool holds(uint8_t op, float x, float y)
{
	switch (op) {
	case HN_NPU_I_CMPEQ:
		return x == y;
	case HN_NPU_I_CMPNE:
		return x != y;
	case HN_NPU_I_CMPLT:
		return x < y;
	case HN_NPU_I_CMPLE:
		return x <= y;
	case HN_NPU_I_CMPGT:
		return x > y;
	default:
		return x >= y;
	}
}

static bool is_on(const struct npu_op *op, int32_t i)
{
	return op->mask[i / 64] >> (i % 64) & 1;
}

static void lanes(const struct npu_op *op, const struct lane *x, int64_t rep)
{
	uint8_t kind = hn_npu_op[op->in->op].kind;
	bool ints = op->in->type[0] == HN_I32 && op->in->op != HN_NPU_I_CONV;
	int32_t n = ints ? whole(op->in->scale, INT32_MIN, INT32_MAX) : 0;

	for (int32_t i = 0; i < op->n_lane; i++) {
		if (!is_on(op, i)) {
			continue;
		}
		if (ints) {
			put_int(&x[0], rep, i,
				integer(op->in->op, kind == HN_NPU_K_FILL ? 0 : get_int(&x[1], rep, i),
					kind == HN_NPU_K_BINARY ? get_int(&x[2], rep, i) : n));
		} else {
			put(&x[0], rep, i,
			    number(op->in->op, kind == HN_NPU_K_FILL ? 0 : get(&x[1], rep, i),
				   kind == HN_NPU_K_BINARY ? get(&x[2], rep, i) : op->in->scale));
		}
	}
}

/* By halves: lanes that do nothing have the value that changes nothing. */
static float tree(const struct npu_op *op, const struct lane *x, int64_t rep, int32_t from, int32_t n)
{
	float v[128];
	uint8_t o = op->in->op;
	float rest = o == HN_NPU_I_CADD || o == HN_NPU_I_CGADD	 ? 0
		     : o == HN_NPU_I_CMAX || o == HN_NPU_I_CGMAX ? -INFINITY : INFINITY;

	for (int32_t i = 0; i < n; i++) {
		v[i] = from + i < op->n_lane && is_on(op, from + i) ? get(x, rep, from + i) : rest;
	}
	for (int32_t half = n / 2; half > 0; half /= 2) {
		for (int32_t i = 0; i < half; i++) {
			v[i] = number(o, v[i], v[i + half]);
		}
	}
	return v[0];
}

static void groups(const struct npu_op *op, const struct lane *x, int64_t rep)
{
	for (int32_t g = 0; g < 8; g++) {
		float v = tree(op, &x[1], rep, g * x[1].l->per, x[1].l->per);

		put(&(struct lane){ x[0].base + g * x[0].l->bytes, x[0].l, x[0].t }, rep, 0, v);
	}
}

static void compare(const struct npu_op *op, const struct lane *x, int64_t rep)
{
	uint8_t bits[HN_NPU_BLOCK] = { 0 };

	for (int32_t i = 0; i < op->n_lane; i++) {
		bits[i / 8] |= (uint8_t)(holds(op->in->op, get(&x[1], rep, i), get(&x[2], rep, i)) << i % 8);
	}
	memcpy(address(&x[0], rep, 0), bits, sizeof(bits));
}

static void select(const struct npu_op *op, const struct lane *x, int64_t rep)
{
	const uint8_t *bits = address(&x[3], rep, 0);

	for (int32_t i = 0; i < op->n_lane; i++) {
		put(&x[0], rep, i, get(&x[bits[i / 8] >> i % 8 & 1 ? 1 : 2], rep, i));
	}
}

/* Numbers are read before any is written: results may lie where they were. */
static void spread(const struct lane *x, int64_t rep)
{
	float v[8];

	for (int32_t b = 0; b < 8; b++) {
		v[b] = get(&(struct lane){ x[1].base + b * x[1].l->bytes, x[1].l, x[1].t }, rep, 0);
	}
	for (int32_t i = 0; i < 8 * x[0].l->per; i++) {
		put(&x[0], rep, i, v[i / x[0].l->per]);
	}
}

void npu_vector(const struct npu_bases *b, const struct npu_op *op)
{
	struct lane x[4];
	int64_t n = op->v[V_REP];

	for (uint32_t i = 0; i < hn_npu_kind[hn_npu_op[op->in->op].kind].n_place; i++) {
		x[i] = (struct lane){ b->memory[HN_NPU_UB] + op->at[i], &op->lane[i],
				      i > 0 && op->in->op == HN_NPU_I_CONV ? op->in->type[1]
									   : op->in->type[0] };
	}
	for (int64_t rep = 0; rep < n; rep++) {
		switch (hn_npu_op[op->in->op].kind) {
		case HN_NPU_K_REDUCE:
			put(&x[0], rep, 0, tree(op, &x[1], rep, 0, 256 / x[1].l->bytes));
			break;
		case HN_NPU_K_GROUPS:
			groups(op, x, rep);
			break;
		case HN_NPU_K_SPREAD:
			spread(x, rep);
			break;
		case HN_NPU_K_COMPARE:
			compare(op, x, rep);
			break;
		case HN_NPU_K_SELECT:
			select(op, x, rep);
			break;
		default:
			lanes(op, x, rep);
		}
	}
}
