/* lower/npu/sized_write.c -- instructions of a program for sizes, one behind the other, as they are written.
 */
#include "lower/npu/sized_code.h"

struct hn_npu_insn *sized_add(struct code *c)
{
	c->insn = hn_arena_grow(c->s->a, c->insn, c->n, &c->cap, sizeof(c->insn[0]));
	c->insn[c->n] = (struct hn_npu_insn){ .op = HN_NPU_N_OP };
	return &c->insn[c->n++];
}

void sized_let(struct code *c, enum hn_npu_op op, int to, struct hn_npu_number x, struct hn_npu_number y)
{
	bool scales = op == HN_NPU_I_SMUL || op == HN_NPU_I_SDIV, moves = op == HN_NPU_I_SADD || op == HN_NPU_I_SSUB;

	if (y.reg < 0 && ((scales && y.imm == 1) || (moves && y.imm == 0))) { /* it is x */
		op = HN_NPU_I_MOV;
	}
	if (op == HN_NPU_I_MOV && x.reg == to && x.imm == 0) {
		return;
	}
	*sized_add(c) = (struct hn_npu_insn){ .op = (uint8_t)op, .reg = (uint8_t)to, .number = { x, y } };
}

void sized_begin(struct code *c, enum hn_npu_op op, int to, struct hn_npu_number x, struct hn_npu_number y)
{
	c->open[c->n_open++] = c->n;
	sized_let(c, op, to, x, y);
}

void sized_end(struct code *c)
{
	uint32_t from = c->open[--c->n_open];

	c->insn[from].jump = c->n;
	sized_add(c)->op = HN_NPU_I_END;
	c->insn[c->n - 1].jump = from;
}

void sized_put(struct code *c, const struct hn_npu_insn *in, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (in[i].op == HN_NPU_I_END) {
			sized_end(c);
			continue;
		}
		if (in[i].op == HN_NPU_I_IF) {
			c->open[c->n_open++] = c->n;
		}
		*sized_add(c) = in[i];
	}
}

/* The value of a form, in a register of its own from `to` on, or as it is. */
static struct hn_npu_number form(struct code *c, const struct hn_npu_form *f, int to)
{
	static const uint16_t ops[] = {
		[HN_NPU_FORM_ADD] = HN_NPU_I_SADD, [HN_NPU_FORM_SUB] = HN_NPU_I_SSUB,
		[HN_NPU_FORM_MUL] = HN_NPU_I_SMUL, [HN_NPU_FORM_DIV] = HN_NPU_I_SDIV,
		[HN_NPU_FORM_MOD] = HN_NPU_I_SMOD,
	};
	struct hn_npu_number x, y;

	if (f->op == HN_NPU_FORM_NUMBER) {
		return sized_imm(f->number);
	}
	if (f->op == HN_NPU_FORM_SIZE) {
		return sized_reg(c->s->size[f->number].reg);
	}
	x = form(c, f->a, to);
	y = form(c, f->b, x.reg == to ? to + 1 : to);
	if (to + 1 >= HN_NPU_REGISTERS - (int)c->s->n_size) {
		c->next = HN_NPU_REGISTERS; /* too many: told by the caller */
		return sized_imm(0);
	}
	sized_let(c, (enum hn_npu_op)ops[f->op], to, x, y);
	return sized_reg(to);
}

void sized_form_into(struct code *c, int to, const struct hn_npu_form *f)
{
	struct hn_npu_number v = form(c, f, c->next);

	sized_let(c, HN_NPU_I_MOV, to, v, sized_imm(0));
}
