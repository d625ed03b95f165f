/* target/npu/npu_scalar.c -- the scalar unit: registers, loops and conditions. */
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

void npu_registers(struct npu_sim *s)
{
	memset(s->reg, 0, sizeof(s->reg));
	for (uint32_t i = 0; i < s->p->n_size; i++) {
		s->reg[s->p->size[i].reg] = s->p->value[i];
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
