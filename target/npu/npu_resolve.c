/* target/npu/npu_resolve.c -- an instruction's numbers and addresses, from registers and by the ranges
 * of the tables. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "target/npu/npu_op.h"

#define MOST_ADDRESS ((int64_t)1 << 40)

bool npu_is_wrong(struct npu_fault *ret, enum hn_npu_fault kind, const char *fmt, ...)
{
	va_list ap;

	ret->kind = kind;
	va_start(ap, fmt);
	vsnprintf(ret->text, sizeof(ret->text), fmt, ap);
	va_end(ap);
	return false;
}

static int64_t value(const struct hn_npu_number *n, const int64_t *reg)
{
	int64_t v;

	if (n->reg < 0) {
		return n->imm;
	}
	/* what does not fit is out of every range */
	return __builtin_add_overflow(n->imm, reg[n->reg], &v) ? INT64_MIN + 1 : v;
}

static bool numbers(const struct hn_npu_insn *in, const struct hn_npu_kind_row *kind,
		    const int64_t *reg, struct npu_op *op, struct npu_fault *ret)
{
	for (uint32_t i = 0; i < kind->n_number; i++) {
		const struct hn_npu_numeral_row *row = &hn_npu_numeral[kind->number[i]];
		int64_t v = value(&in->number[i], reg);

		if (v < row->least || v > row->greatest) {
			return npu_is_wrong(ret, HN_NPU_F_NUMBER, "%s %lld is not in %lld to %lld",
					    row->word, (long long)v, (long long)row->least,
					    (long long)row->greatest);
		}
		op->v[i] = v;
	}
	return true;
}

static int32_t bytes_of(enum hn_dtype t)
{
	return (int32_t)hn_dtype_bytes(t);
}

static struct npu_lanes lanes(const struct npu_op *op, uint32_t place, enum hn_dtype t, int64_t block,
			      int64_t step, int64_t dense)
{
	int32_t bytes = bytes_of(t);

	return (struct npu_lanes){ .at = op->at[place], .bytes = bytes, .per = HN_NPU_BLOCK / bytes,
				   .block = block * HN_NPU_BLOCK,
				   .step = step == HN_NPU_DENSE ? dense : step * HN_NPU_BLOCK };
}

/* Lanes up to `n` that do something, or those of the bits. */
static bool mask(struct npu_op *op, int64_t n, int64_t low, int64_t high, int32_t all,
		 struct npu_fault *ret)
{
	if (low != 0 || high != 0) {
		op->mask[0] = (uint64_t)low;
		op->mask[1] = (uint64_t)high;
		op->n_lane = high != 0 ? 128 - __builtin_clzll((uint64_t)high)
				       : 64 - __builtin_clzll((uint64_t)low);
	} else {
		op->n_lane = n == HN_NPU_DENSE ? all : (int32_t)n;
		op->mask[0] = op->n_lane >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << op->n_lane) - 1;
		op->mask[1] = op->n_lane >= 128 ? ~(uint64_t)0
			      : op->n_lane > 64 ? ((uint64_t)1 << (op->n_lane - 64)) - 1 : 0;
	}
	return op->n_lane <= all ||
	       npu_is_wrong(ret, HN_NPU_F_NUMBER, "lane %d of %d", op->n_lane - 1, all);
}

static bool vector(const struct hn_npu_insn *in, struct npu_op *op, struct npu_fault *ret)
{
	enum hn_dtype t = in->type[0], from = in->op == HN_NPU_I_CONV ? in->type[1] : t;
	int32_t widest = bytes_of(t) > bytes_of(from) ? bytes_of(t) : bytes_of(from);
	int32_t all = widest > 1 ? 256 / widest : NPU_LANES;
	const int64_t *v = op->v;
	int64_t dense = 256;

	switch (hn_npu_op[in->op].kind) {
	case HN_NPU_K_BINARY:
		op->lane[0] = lanes(op, 0, t, v[4], v[7], dense);
		op->lane[1] = lanes(op, 1, t, v[5], v[8], dense);
		op->lane[2] = lanes(op, 2, t, v[6], v[9], dense);
		break;
	case HN_NPU_K_UNARY:
	case HN_NPU_K_SCALED:
		op->lane[0] = lanes(op, 0, t, v[4], v[6], all * bytes_of(t));
		op->lane[1] = lanes(op, 1, from, v[5], v[7], all * bytes_of(from));
		break;
	case HN_NPU_K_FILL:
		op->lane[0] = lanes(op, 0, t, v[4], v[5], dense);
		break;
	case HN_NPU_K_REDUCE:
		op->lane[0] = (struct npu_lanes){ .at = op->at[0], .bytes = bytes_of(t), .per = 1,
						  .step = (v[5] == HN_NPU_DENSE ? 1 : v[5]) * bytes_of(t) };
		op->lane[1] = lanes(op, 1, t, v[4], v[6], dense);
		break;
	case HN_NPU_K_GROUPS:
		op->lane[0] = (struct npu_lanes){ .at = op->at[0], .bytes = bytes_of(t), .per = 1,
						  .step = (v[2] == HN_NPU_DENSE ? 8 : v[2]) * bytes_of(t) };
		op->lane[1] = lanes(op, 1, t, v[1], v[3], dense);
		return mask(op, HN_NPU_DENSE, 0, 0, all, ret);
	case HN_NPU_K_SPREAD:
		op->lane[0] = lanes(op, 0, t, v[1], v[2], dense);
		op->lane[1] = (struct npu_lanes){ .at = op->at[1], .bytes = bytes_of(t), .per = 1,
						  .step = 8 * bytes_of(t) };
		return mask(op, HN_NPU_DENSE, 0, 0, all, ret);
	case HN_NPU_K_COMPARE:
		op->lane[0] = lanes(op, 0, t, 1, v[4] == HN_NPU_DENSE ? 1 : v[4], dense);
		op->lane[1] = lanes(op, 1, t, v[2], v[5], dense);
		op->lane[2] = lanes(op, 2, t, v[3], v[6], dense);
		return mask(op, v[V_MASK], 0, 0, all, ret);
	case HN_NPU_K_SELECT:
		op->lane[0] = lanes(op, 0, t, v[2], v[5], dense);
		op->lane[1] = lanes(op, 1, t, v[3], v[6], dense);
		op->lane[2] = lanes(op, 2, t, v[4], v[7], dense);
		op->lane[3] = lanes(op, 3, t, 1, v[8], dense);
		return mask(op, v[V_MASK], 0, 0, all, ret);
	default:
		return true;
	}
	return mask(op, v[V_MASK], v[V_BITS], v[V_BITS2], all, ret);
}

bool npu_resolve(const struct hn_npu_program *p, const struct hn_npu_profile *m,
		 const struct hn_npu_insn *in, const int64_t *reg, const int64_t *image,
		 struct npu_op *op, struct npu_fault *ret)
{
	const struct hn_npu_kind_row *kind = &hn_npu_kind[hn_npu_op[in->op].kind];

	op->in = in;
	op->image = image;
	op->n_span = 0;
	if (kind->n_number == 0) { /* a flag, a barrier */
		op->v[0] = in->op == HN_NPU_I_BARRIER ? 0 : value(&in->number[0], reg);
		return (op->v[0] >= 0 && op->v[0] < m->events) ||
		       npu_is_wrong(ret, HN_NPU_F_NUMBER, "flag %lld of %lld", (long long)op->v[0],
				    (long long)m->events);
	}
	if (!numbers(in, kind, reg, op, ret)) {
		return false;
	}
	for (uint32_t i = 0; i < kind->n_place; i++) {
		op->at[i] = value(&in->place[i].at, reg);
		if (op->at[i] < 0 || op->at[i] > MOST_ADDRESS) {
			return npu_is_wrong(ret, HN_NPU_F_BOUNDS, "address %lld",
					    (long long)op->at[i]);
		}
	}
	return (hn_npu_op[in->op].pipe != HN_NPU_V || vector(in, op, ret)) &&
	       npu_spans(p, m, op, ret);
}
