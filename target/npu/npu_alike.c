/* target/npu/npu_alike.c -- whether the cores of a section do the same, but for where in global memory:
 * then one stands for all when time alone is asked for.
 *
 * What depends on the core's number is followed through the registers: it may be part of an address
 * in global memory, and of nothing else.
 */
#include "target/npu/npu_sim_int.h"

static bool depends(uint32_t differs, const struct hn_npu_number *n)
{
	return n->reg >= 0 && (differs >> n->reg & 1) != 0;
}

/* Numbers that the instruction has; others are not set. */
static uint32_t n_number(const struct hn_npu_insn *in)
{
	switch (hn_npu_op[in->op].kind) {
	case HN_NPU_K_LET:
		return in->op == HN_NPU_I_CORE ? 0 : in->op == HN_NPU_I_MOV ? 1 : 2;
	case HN_NPU_K_FLAG:
	case HN_NPU_K_LOOP:
		return 1;
	case HN_NPU_K_IF:
		return 2;
	default:
		return hn_npu_kind[hn_npu_op[in->op].kind].n_number;
	}
}

static bool any_depends(const struct hn_npu_insn *in, uint32_t differs)
{
	for (uint32_t i = 0; i < n_number(in); i++) {
		if (depends(differs, &in->number[i])) {
			return true;
		}
	}
	return false;
}

/* Registers that may differ behind all of it, where those of `differs` do somewhere. */
static uint32_t follow(const struct hn_npu_section *c, uint32_t differs)
{
	for (uint32_t i = 0; i < c->n_insn; i++) {
		const struct hn_npu_insn *in = &c->insn[i];

		if (hn_npu_op[in->op].kind == HN_NPU_K_LET &&
		    (in->op == HN_NPU_I_CORE || any_depends(in, differs))) {
			differs |= (uint32_t)1 << in->reg;
		}
	}
	return differs;
}

static bool is_same(const struct hn_npu_insn *in, uint32_t differs)
{
	if (hn_npu_op[in->op].kind == HN_NPU_K_LET) {
		return true;
	}
	if (any_depends(in, differs)) {
		return false;
	}
	for (uint32_t i = 0; i < hn_npu_kind[hn_npu_op[in->op].kind].n_place; i++) {
		if (in->place[i].memory != HN_NPU_GM && depends(differs, &in->place[i].at)) {
			return false;
		}
	}
	return true;
}

bool npu_is_alike(const struct hn_npu_section *c)
{
	uint32_t differs = 0, before = 1;

	/* what is behind a loop's end may be before it */
	while (differs != before) {
		before = differs;
		differs = follow(c, before);
		before = c->straight ? differs : before;
	}
	for (uint32_t i = 0; i < c->n_insn && differs != 0; i++) {
		if (!is_same(&c->insn[i], differs)) {
			return false;
		}
	}
	return true;
}
