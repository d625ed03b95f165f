/* target/npu/npu_vector.c -- the vector unit, repeat by repeat: all lanes of one are read before any is
 * written.
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

union row { /* lanes of a repeat, one behind the other */
	float f[NPU_LANES];
	int32_t whole[NPU_LANES];
	uint16_t half[NPU_LANES];
	int8_t byte[NPU_LANES];
	uint8_t raw[NPU_LANES * 4];
};

struct vector { /* an instruction, and its operands as numbers */
	const struct npu_op *op;
	const struct npu_simd *simd;
	uint8_t kind;
	bool ints, first; /* all lanes up to the last do something */
	struct lane x[4];
	union row a, b, packed;
};

static uint8_t *address(const struct lane *x, int64_t rep, int32_t i)
{
	return x->base + rep * x->l->step + i / x->l->per * x->l->block + i % x->l->per * x->l->bytes;
}

/* Bytes of the first n lanes. */
static void gather(const struct lane *x, int64_t rep, int32_t n, union row *to)
{
	int32_t bytes = x->l->bytes, per = x->l->per;
	const uint8_t *from = x->base + rep * x->l->step;

	if (x->l->block == per * bytes) {
		memcpy(to->raw, from, (size_t)(n * bytes));
		return;
	}
	for (int32_t i = 0; i < n; i += per, from += x->l->block) {
		memcpy(to->raw + i * bytes, from, (size_t)((n - i < per ? n - i : per) * bytes));
	}
}

/* The same as numbers. */
static void get(struct vector *v, const struct lane *x, int64_t rep, int32_t n, float *to)
{
	gather(x, rep, n, &v->packed);
	switch (x->t) {
	case HN_F16:
		v->simd->widen(to, v->packed.half, n);
		return;
	case HN_F32:
		memcpy(to, v->packed.f, (size_t)n * 4);
		return;
	case HN_I32:
		for (int32_t i = 0; i < n; i++) {
			to[i] = (float)v->packed.whole[i];
		}
		return;
	default:
		for (int32_t i = 0; i < n; i++) {
			to[i] = (float)v->packed.byte[i];
		}
	}
}

/* To nearest, ties to even; what is too large becomes the largest, a NaN 0. */
static int32_t whole(float v, double least, double most)
{
	double r = nearbyint((double)v);

	return r >= most ? (int32_t)most : r <= least ? (int32_t)least : r == r ? (int32_t)r : 0;
}

/* Numbers as that type, into v->packed. */
static void pack(struct vector *v, enum hn_dtype t, const float *from, int32_t n)
{
	switch (t) {
	case HN_F16:
		v->simd->narrow(v->packed.half, from, n);
		return;
	case HN_F32:
		memcpy(v->packed.f, from, (size_t)n * 4);
		return;
	case HN_I32:
		for (int32_t i = 0; i < n; i++) {
			v->packed.whole[i] = whole(from[i], INT32_MIN, INT32_MAX);
		}
		return;
	default:
		for (int32_t i = 0; i < n; i++) {
			v->packed.byte[i] = (int8_t)whole(from[i], INT8_MIN, INT8_MAX);
		}
	}
}

static bool is_on(const struct npu_op *op, int32_t i)
{
	return op->mask[i / 64] >> (i % 64) & 1;
}

/* What is in v->packed, to the lanes that do something. */
static void scatter(struct vector *v, int64_t rep)
{
	const struct lane *x = &v->x[0];
	int32_t bytes = x->l->bytes, per = x->l->per, n = v->op->n_lane;

	if (v->first && x->l->block == per * bytes) {
		memcpy(address(x, rep, 0), v->packed.raw, (size_t)(n * bytes));
		return;
	}
	for (int32_t i = 0; i < n; i += v->first ? per : 1) {
		int32_t some = !v->first ? is_on(v->op, i) : n - i < per ? n - i : per;

		memcpy(address(x, rep, i), v->packed.raw + i * bytes, (size_t)(some * bytes));
	}
}

static float function(uint8_t op, float x)
{
	switch (op) {
	case HN_NPU_I_EXP:
		return expf(x);
	case HN_NPU_I_LN:
		return logf(x);
	case HN_NPU_I_SQRT:
		return sqrtf(x);
	default:
		return 1 / sqrtf(x);
	}
}

static void lanes(struct vector *v, int64_t rep)
{
	uint8_t op = v->op->in->op;
	int32_t n = v->op->n_lane;

	if (v->ints) {
		if (v->kind != HN_NPU_K_FILL) {
			gather(&v->x[1], rep, n, &v->a);
		}
		if (v->kind == HN_NPU_K_BINARY) {
			gather(&v->x[2], rep, n, &v->b);
		}
		(void)v->simd->integers(op, v->a.whole, v->b.whole, n);
		memcpy(v->packed.whole, v->a.whole, (size_t)n * 4);
	} else {
		if (v->kind != HN_NPU_K_FILL) {
			get(v, &v->x[1], rep, n, v->a.f);
		}
		if (v->kind == HN_NPU_K_BINARY) {
			get(v, &v->x[2], rep, n, v->b.f);
		}
		if (!v->simd->numbers(op, v->a.f, v->b.f, n)) {
			for (int32_t i = 0; i < n; i++) {
				v->a.f[i] = function(op, v->a.f[i]);
			}
		}
		pack(v, v->x[0].t, v->a.f, n);
	}
	scatter(v, rep);
}

/* By halves: lanes that do nothing have the value that changes nothing. */
static void trees(struct vector *v, int64_t rep, int32_t n_tree)
{
	uint8_t o = v->op->in->op;
	int32_t n = 256 / v->x[1].l->bytes, each = n / n_tree;
	float rest = o == HN_NPU_I_CADD || o == HN_NPU_I_CGADD	 ? 0
		     : o == HN_NPU_I_CMAX || o == HN_NPU_I_CGMAX ? -INFINITY : INFINITY;
	float sum[16] = { 0 };

	get(v, &v->x[1], rep, v->op->n_lane, v->a.f);
	for (int32_t i = v->first ? v->op->n_lane : 0; i < n; i++) {
		v->a.f[i] = i < v->op->n_lane && is_on(v->op, i) ? v->a.f[i] : rest;
	}
	for (int32_t t = 0; t < n_tree; t++) {
		float *x = v->b.f;

		memcpy(x, v->a.f + t * each, (size_t)each * 4);
		/* numbers behind `half` are not looked at again, whatever becomes of them */
		for (int32_t half = each / 2; half > 0; half /= 2) {
			(void)v->simd->numbers(o, x, x + half, half);
		}
		sum[t] = x[0];
	}
	pack(v, v->x[0].t, sum, n_tree);
	memcpy(address(&v->x[0], rep, 0), v->packed.raw, (size_t)(n_tree * v->x[0].l->bytes));
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

static void compare(struct vector *v, int64_t rep)
{
	uint8_t bits[HN_NPU_BLOCK] = { 0 };

	get(v, &v->x[1], rep, v->op->n_lane, v->a.f);
	get(v, &v->x[2], rep, v->op->n_lane, v->b.f);
	for (int32_t i = 0; i < v->op->n_lane; i++) {
		bits[i / 8] |= (uint8_t)(holds(v->op->in->op, v->a.f[i], v->b.f[i]) << i % 8);
	}
	memcpy(address(&v->x[0], rep, 0), bits, sizeof(bits));
}

static void select(struct vector *v, int64_t rep)
{
	const uint8_t *bits = address(&v->x[3], rep, 0);

	get(v, &v->x[1], rep, v->op->n_lane, v->a.f);
	get(v, &v->x[2], rep, v->op->n_lane, v->b.f);
	for (int32_t i = 0; i < v->op->n_lane; i++) {
		v->a.f[i] = bits[i / 8] >> i % 8 & 1 ? v->a.f[i] : v->b.f[i];
	}
	pack(v, v->x[0].t, v->a.f, v->op->n_lane);
	scatter(v, rep);
}

static void spread(struct vector *v, int64_t rep)
{
	int32_t per = v->x[0].l->per, bytes = v->x[1].l->bytes;

	memcpy(v->b.raw, address(&v->x[1], rep, 0), (size_t)(8 * bytes));
	for (int32_t i = 0; i < 8 * per; i++) {
		memcpy(v->packed.raw + i * bytes, v->b.raw + i / per * bytes, (size_t)bytes);
	}
	scatter(v, rep);
}

/* Operands that are the same in each repeat. */
static void begin(struct vector *v, const struct npu_bases *b)
{
	const struct hn_npu_insn *in = v->op->in;
	int32_t n = v->op->n_lane, n_place = (int32_t)hn_npu_kind[v->kind].n_place;

	v->ints = in->type[0] == HN_I32 && in->op != HN_NPU_I_CONV;
	for (int32_t i = 0; i < n_place; i++) {
		v->x[i] = (struct lane){ b->memory[HN_NPU_UB] + v->op->at[i], &v->op->lane[i],
					 i > 0 && in->op == HN_NPU_I_CONV ? in->type[1] : in->type[0] };
	}
	v->first = true;
	for (int32_t i = 0; i < n; i += 64) {
		v->first &= v->op->mask[i / 64] ==
			    (n - i < 64 ? ((uint64_t)1 << (n - i)) - 1 : ~(uint64_t)0);
	}
	for (int32_t i = 0; i < n; i++) {
		if (v->ints) {
			v->b.whole[i] = whole(in->scale, INT32_MIN, INT32_MAX);
		} else {
			v->b.f[i] = in->scale;
		}
	}
}

void npu_vector(const struct npu_bases *b, const struct npu_op *op)
{
	struct vector v = { .op = op, .simd = b->simd, .kind = hn_npu_op[op->in->op].kind };
	int64_t n = op->v[V_REP];

	begin(&v, b);
	for (int64_t rep = 0; rep < n; rep++) {
		switch (v.kind) {
		case HN_NPU_K_REDUCE:
			trees(&v, rep, 1);
			break;
		case HN_NPU_K_GROUPS:
			trees(&v, rep, 8);
			break;
		case HN_NPU_K_SPREAD:
			spread(&v, rep);
			break;
		case HN_NPU_K_COMPARE:
			compare(&v, rep);
			break;
		case HN_NPU_K_SELECT:
			select(&v, rep);
			break;
		default:
			lanes(&v, rep);
		}
	}
}
