/* lower/npu/sized_share.c -- what a core has of a launch: its registers, its rows, and numbers that it keeps.
 */
#include "lower/npu/sized_code.h"

static int new_register(struct code *c)
{
	return c->next++;
}

void sized_registers(struct code *c)
{
	int *all[] = { &c->rows, &c->start, &c->part, &c->last, &c->turns, &c->turn, &c->row, &c->scratch };
	int *more[] = { &c->first_outer, &c->tiles, &c->all };

	c->next = (int)(2 * c->s->n_address);
	for (size_t i = 0; i < HN_COUNT_OF(all); i++) {
		*all[i] = new_register(c);
	}
	for (size_t i = 0; i < HN_COUNT_OF(more) && c->s->n_outer > 0; i++) {
		*more[i] = new_register(c);
	}
	for (uint32_t k = 0; k < c->s->n_outer; k++) {
		c->extent[k] = new_register(c);
		c->place[k] = new_register(c);
	}
	if (c->s->n_sum > 0) {
		c->ragged.terms = new_register(c);
		c->ragged.scratch[0] = c->row; /* done with when a tile's code begins */
		c->ragged.scratch[1] = new_register(c);
		for (uint32_t k = 0; k < c->ragged.n; k++) {
			c->ragged.reg[k] = new_register(c);
		}
	}
	c->step = c->s->step > c->s->least_step ? c->ragged.scratch[1] : -1; /* until there are tiles */
}

/* So few rows at a time as terms allow: half of them if these are even, and so on. */
static void steps(struct code *c)
{
	const struct sized *s = c->s;

	if (c->step < 0) {
		return;
	}
	sized_let(c, HN_NPU_I_MOV, c->step, sized_imm(s->step), sized_imm(0));
	for (int64_t n = 2; s->step / n >= s->least_step; n *= 2) {
		sized_let(c, HN_NPU_I_SMOD, c->scratch, sized_reg(c->ragged.terms), sized_imm(n));
		sized_begin(c, HN_NPU_I_IF, 0, sized_reg(c->scratch), sized_imm(1));
		sized_let(c, HN_NPU_I_MOV, c->step, sized_imm(s->step / n), sized_imm(0));
		sized_end(c);
	}
}

/* What this core has: rows from `start` on, so many in `part`; of outer dimensions `all` from first_outer. */
void sized_shares(struct code *c)
{
	const struct sized *s = c->s;
	int groups = c->turn, t = c->scratch;
	struct hn_npu_number step = c->step >= 0 ? sized_reg(c->step) : sized_imm(s->step);

	sized_form_into(c, c->rows, s->rows);
	if (s->n_sum > 0) {
		sized_form_into(c, c->ragged.terms, s->terms);
		for (uint32_t k = 0; k < c->ragged.n; k++) {
			int64_t by = c->ragged.by[k];

			sized_let(c, HN_NPU_I_SMUL, c->ragged.reg[k], sized_reg(by > 0 ? c->ragged.terms : c->rows),
				  sized_imm(by > 0 ? by : -by));
		}
	}
	for (uint32_t k = 0; k < s->n_outer; k++) {
		sized_form_into(c, c->extent[k], s->class[k].extent);
	}
	*sized_add(c) = (struct hn_npu_insn){ .op = HN_NPU_I_CORE, .reg = (uint8_t)c->start };
	if (s->n_outer > 0) { /* as many cores as they have get one each, or some; the others share rows */
		sized_form_into(c, c->all, s->outer);
		sized_let(c, HN_NPU_I_SMIN, c->tiles, sized_reg(c->all), sized_imm(s->cores));
		sized_let(c, HN_NPU_I_MOV, groups, sized_imm(s->cores), sized_imm(0));
		sized_let(c, HN_NPU_I_SDIV, groups, sized_reg(groups), sized_reg(c->tiles)); /* cores of each */
		sized_let(c, HN_NPU_I_SDIV, c->first_outer, sized_reg(c->start), sized_reg(groups));
		sized_let(c, HN_NPU_I_SMOD, c->start, sized_reg(c->start), sized_reg(groups));
		sized_let(c, HN_NPU_I_SADD, t, sized_reg(c->all), sized_reg(c->tiles));
		sized_let(c, HN_NPU_I_SSUB, t, sized_reg(t), sized_imm(1));
		sized_let(c, HN_NPU_I_SDIV, t, sized_reg(t), sized_reg(c->tiles)); /* of each */
		sized_let(c, HN_NPU_I_SMUL, c->first_outer, sized_reg(c->first_outer), sized_reg(t));
		sized_let(c, HN_NPU_I_SSUB, c->all, sized_reg(c->all), sized_reg(c->first_outer));
		sized_let(c, HN_NPU_I_SMIN, c->all, sized_reg(c->all), sized_reg(t));
	}
	steps(c);
	if (c->step >= 0) {
		sized_let(c, HN_NPU_I_SADD, c->part, sized_reg(c->rows), step);
		sized_let(c, HN_NPU_I_SSUB, c->part, sized_reg(c->part), sized_imm(1));
	} else {
		sized_let(c, HN_NPU_I_SADD, c->part, sized_reg(c->rows), sized_imm(s->step - 1));
	}
	sized_let(c, HN_NPU_I_SDIV, c->part, sized_reg(c->part), step);
	if (s->n_outer > 0) {
		sized_let(c, HN_NPU_I_SADD, c->part, sized_reg(c->part), sized_reg(groups));
		sized_let(c, HN_NPU_I_SSUB, c->part, sized_reg(c->part), sized_imm(1));
		sized_let(c, HN_NPU_I_SDIV, c->part, sized_reg(c->part), sized_reg(groups));
	} else {
		sized_let(c, HN_NPU_I_SADD, c->part, sized_reg(c->part), sized_imm(s->cores - 1));
		sized_let(c, HN_NPU_I_SDIV, c->part, sized_reg(c->part), sized_imm(s->cores));
	}
	sized_let(c, HN_NPU_I_SMUL, c->part, sized_reg(c->part), step);
	sized_let(c, HN_NPU_I_SMUL, c->start, sized_reg(c->start), sized_reg(c->part));
	sized_let(c, HN_NPU_I_SSUB, t, sized_reg(c->rows), sized_reg(c->start));
	sized_let(c, HN_NPU_I_SMIN, c->part, sized_reg(c->part), sized_reg(t));
	if (s->n_outer > 0) { /* a core that has none of them has no rows */
		sized_begin(c, HN_NPU_I_IF, 0, sized_reg(c->all), sized_imm(1));
		sized_let(c, HN_NPU_I_MOV, c->part, sized_imm(0), sized_imm(0));
		sized_end(c);
	}
}

/* Sizes that ops compute with. */
void sized_keep_values(struct code *c)
{
	for (uint32_t k = 0; k < c->s->n_value; k++) {
		const struct hn_npu_insn *in;
		uint32_t n;

		sized_form_into(c, c->turn, c->s->value[k]);
		sized_keep(c->s, k, sized_reg(c->turn), c->turn, c->scratch, &in, &n);
		sized_put(c, in, n);
	}
	if (c->s->n_value > 0) {
		*sized_add(c) = npu_plain(HN_NPU_I_BARRIER, HN_NPU_ALL, 0, 0);
	}
}
