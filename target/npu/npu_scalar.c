/* target/npu/npu_scalar.c -- the scalar unit: registers, loops and conditions; and what a program
 * asks of global memory, which these alone decide.
 */
#include <string.h>

#include "base/arith.h"
#include "target/npu/npu_sim_int.h"

static int64_t value(const struct npu_sim *s, const struct hn_npu_number *n)
{
	return (int64_t)((uint64_t)n->imm + (n->reg < 0 ? 0 : (uint64_t)s->reg[n->reg]));
}

static int64_t let(const struct npu_sim *s, const struct hn_npu_insn *in)
{
	int64_t x = value(s, &in->number[0]), y = value(s, &in->number[1]);

	switch (in->op) {
	case HN_NPU_I_SADD:
		return (int64_t)((uint64_t)x + (uint64_t)y);
	case HN_NPU_I_SSUB:
		return (int64_t)((uint64_t)x - (uint64_t)y);
	case HN_NPU_I_SMUL:
		return (int64_t)((uint64_t)x * (uint64_t)y);
	case HN_NPU_I_SDIV:
		return y == -1 ? (int64_t)(0 - (uint64_t)x) : hn_floordiv(x, y);
	case HN_NPU_I_SMOD:
		return y == -1 ? 0 : hn_floormod(x, y);
	case HN_NPU_I_SMIN:
		return x < y ? x : y;
	case HN_NPU_I_SMAX:
		return x > y ? x : y;
	case HN_NPU_I_CORE:
		return (int64_t)(s->core - s->section->first);
	default:
		return x;
	}
}

/* What the scalar unit does itself: registers, loops, conditions. */
bool npu_scalar(struct npu_sim *s, const struct hn_npu_insn *in)
{
	struct npu_loop *top = &s->loop[s->n_loop];
	bool enters;

	s->now++;
	if ((in->op == HN_NPU_I_SDIV || in->op == HN_NPU_I_SMOD) && value(s, &in->number[1]) == 0) {
		return npu_is_wrong(&s->fault, HN_NPU_F_NUMBER, "division by 0");
	}
	switch (in->op) {
	case HN_NPU_I_LOOP:
	case HN_NPU_I_IF:
		top->at = s->at;
		top->i = 0;
		top->n = value(s, &in->number[0]);
		enters = in->op == HN_NPU_I_LOOP ? top->n > 0 : top->n < value(s, &in->number[1]);
		if (in->op == HN_NPU_I_LOOP) {
			s->reg[in->reg] = 0;
		}
		s->n_loop += enters;
		s->at = enters ? s->at + 1 : in->jump + 1;
		return true;
	case HN_NPU_I_END:
		top--;
		if (s->section->insn[top->at].op == HN_NPU_I_LOOP && ++top->i < top->n) {
			s->reg[s->section->insn[top->at].reg] = top->i;
			s->at = top->at + 1;
		} else {
			s->n_loop--;
			s->at++;
		}
		return true;
	default:
		s->reg[in->reg] = let(s, in);
		s->at++;
		return true;
	}
}

/* Bytes of a transfer, onto those of its buffer. */
static void count(struct npu_sim *s, const struct hn_npu_insn *in, double times, double *bytes)
{
	struct npu_op op;
	struct npu_fault ignored; /* it is met again, where it is told of */

	if (!npu_resolve(s->p, s->m, in, s->reg, NULL, &op, &ignored)) {
		return;
	}
	for (uint32_t i = 0; i < op.n_span; i++) {
		if (op.span[i].memory == HN_NPU_GM) {
			bytes[op.span[i].buffer] += times * (double)(op.span[i].n0 * op.span[i].n1 *
								      op.span[i].bytes);
		}
	}
}

static void walk(struct npu_sim *s, double times, uint64_t *left, double *read, double *written)
{
	memset(s->reg, 0, sizeof(s->reg));
	s->at = s->n_loop = 0;
	while (s->at < s->section->n_insn && *left > 0) {
		const struct hn_npu_insn *in = &s->section->insn[s->at];
		uint8_t kind = hn_npu_op[in->op].kind;

		--*left;
		if (kind == HN_NPU_K_LET || kind == HN_NPU_K_LOOP || kind == HN_NPU_K_IF ||
		    kind == HN_NPU_K_END) {
			if (!npu_scalar(s, in)) {
				return;
			}
			continue;
		}
		if (hn_npu_op[in->op].pipe == HN_NPU_MTE2) {
			count(s, in, times, read);
		} else if (kind == HN_NPU_K_STORE) {
			count(s, in, times, written);
		}
		s->at++;
	}
}

int64_t npu_traffic(struct npu_sim *s, struct hn_arena *a)
{
	double *read = HN_NEW_ARRAY(a, double, s->p->n_buffer);
	double *written = HN_NEW_ARRAY(a, double, s->p->n_buffer), asked = 0;
	uint64_t left = s->most;

	for (uint32_t i = 0; i < s->p->n_section; i++) {
		uint32_t n;

		s->section = &s->p->section[i];
		n = s->section->straight ? 1 : s->section->n_core;
		for (uint32_t k = 0; k < n; k++) {
			s->core = s->section->first + k;
			walk(s, s->section->straight ? s->section->n_core : 1, &left, read, written);
		}
	}
	for (uint32_t i = 0; i < s->p->n_buffer; i++) {
		double bytes = (double)s->p->buffer[i].bytes, miss = 1;

		if (read[i] > bytes && s->p->buffer[i].bytes <= s->m->l2_bytes) {
			miss = bytes / read[i];
		}
		s->rate[i] = 1 / (miss / (double)s->m->gm_rate + (1 - miss) / (double)s->m->l2_rate);
		s->ret->read_bytes += (int64_t)read[i];
		s->ret->written_bytes += (int64_t)written[i];
		asked += miss * read[i] + written[i];
	}
	s->fault.kind = HN_NPU_FINE;
	return (int64_t)(asked / (double)s->m->chip_rate);
}
