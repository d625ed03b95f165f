/* lower/npu/sized_code.c -- the program: each core finds its rows, and goes through them in turns of the
 * length that is taken for so many.
 *
 * Registers: first those of addresses, of each slot; then what is the same in all turns; sizes are the
 * last.  What needs the number of a core or of a turn is computed by S, a cycle each.
 */
#include "lower/npu/sized_code.h"

int sized_register(const struct sized *s, uint32_t slot, uint32_t address)
{
	return (int)(slot * s->n_address + address);
}

static void copy(struct code *c, const struct hn_npu_insn *in, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct hn_npu_insn cut[SIZED_CUT];

		sized_put(c, cut, sized_cut(c->s, &c->ragged, &in[i], cut));
	}
}

/* What is loaded short is written once before, where it will be. */
static void clear(struct code *c, const struct npu_turns *turns)
{
	const struct hn_npu_insn *made;
	uint32_t n;

	if (c->s->n_sum == 0) {
		return;
	}
	n = sized_clear(c->s, turns->body, turns->n_body, &made);
	sized_begin(c, HN_NPU_I_IF, 0, sized_reg(c->ragged.terms), sized_imm(c->s->width));
	sized_put(c, made, n);
	*sized_add(c) = npu_plain(HN_NPU_I_BARRIER, HN_NPU_ALL, 0, 0);
	sized_end(c);
}

/* Where terms lie inside of the first n that it lies along. */
static void past_terms(struct code *c, const struct sized_address *x, int to, uint32_t n)
{
	if (x->terms == n && n > 0) {
		sized_let(c, HN_NPU_I_SMUL, to, sized_reg(to), sized_reg(c->ragged.terms));
	}
}

/* Registers of a slot's addresses: of tile `slot` of the turn. */
static void addresses(struct code *c, const struct sized_tile *t, uint32_t slot)
{
	const struct sized *s = c->s;

	sized_let(c, HN_NPU_I_SMUL, c->row, sized_reg(c->turn), sized_imm(t->slots));
	if (slot > 0) {
		sized_let(c, HN_NPU_I_SADD, c->row, sized_reg(c->row), sized_imm(slot));
	}
	if (s->n_outer > 0) {
		int q = c->scratch;

		sized_let(c, HN_NPU_I_SMUL, q, sized_reg(c->all), sized_reg(c->tiles));
		sized_let(c, HN_NPU_I_SSUB, q, sized_reg(q), sized_imm(1));
		sized_let(c, HN_NPU_I_SMIN, c->row, sized_reg(c->row), sized_reg(q));
		sized_let(c, HN_NPU_I_SDIV, q, sized_reg(c->row), sized_reg(c->tiles));
		sized_let(c, HN_NPU_I_SMOD, c->row, sized_reg(c->row), sized_reg(c->tiles));
		sized_let(c, HN_NPU_I_SADD, q, sized_reg(q), sized_reg(c->first_outer));
		for (uint32_t k = s->n_outer; k-- > 0;) {
			sized_let(c, HN_NPU_I_SMOD, c->place[k], sized_reg(q), sized_reg(c->extent[k]));
			sized_let(c, HN_NPU_I_SDIV, q, sized_reg(q), sized_reg(c->extent[k]));
		}
	}
	sized_let(c, HN_NPU_I_SMUL, c->row, sized_reg(c->row), sized_imm(t->rows));
	sized_let(c, HN_NPU_I_SMIN, c->row, sized_reg(c->row), sized_reg(c->last));
	sized_let(c, HN_NPU_I_SADD, c->row, sized_reg(c->row), sized_reg(c->start));
	for (uint32_t k = 0; k < s->n_address; k++) {
		const struct sized_address *x = &s->address[k];
		int to = sized_register(s, slot, k);

		sized_let(c, HN_NPU_I_MOV, to, x->n_outer > 0 ? sized_reg(c->place[(int)x->outer[0]]) : sized_reg(c->row), sized_imm(0));
		for (uint32_t i = 1; i < x->n_outer; i++) {
			past_terms(c, x, to, i);
			sized_let(c, HN_NPU_I_SMUL, to, sized_reg(to), sized_reg(c->extent[(int)x->outer[i]]));
			sized_let(c, HN_NPU_I_SADD, to, sized_reg(to), sized_reg(c->place[(int)x->outer[i]]));
		}
		if (x->n_outer > 0 && x->rows) {
			past_terms(c, x, to, x->n_outer);
			sized_let(c, HN_NPU_I_SMUL, to, sized_reg(to), sized_reg(c->rows));
			sized_let(c, HN_NPU_I_SADD, to, sized_reg(to), sized_reg(c->row));
		}
		past_terms(c, x, to, x->n_outer + x->rows);
		sized_let(c, HN_NPU_I_SMUL, to, sized_reg(to), sized_imm(x->row_bytes));
	}
}

/* All of a core's rows in tiles of this length. */
static void tiles(struct code *c, const struct sized_tile *t, uint32_t inner)
{
	const struct sized *s = c->s;
	const struct npu_turns *turns = &t->turns[inner];

	sized_begin(c, HN_NPU_I_IF, 0, sized_imm(t->from - 1), sized_reg(c->part));
	if (t->to != INT64_MAX) {
		sized_begin(c, HN_NPU_I_IF, 0, sized_reg(c->part), sized_imm(t->to));
	}
	sized_let(c, HN_NPU_I_SSUB, c->last, sized_reg(c->part), sized_imm(t->rows));
	sized_let(c, HN_NPU_I_SADD, c->turns, sized_reg(c->part), sized_imm(t->rows - 1));
	sized_let(c, HN_NPU_I_SDIV, c->turns, sized_reg(c->turns), sized_imm(t->rows));
	if (s->n_outer > 0) {
		sized_let(c, HN_NPU_I_MOV, c->tiles, sized_reg(c->turns), sized_imm(0));
		sized_let(c, HN_NPU_I_SMUL, c->turns, sized_reg(c->turns), sized_reg(c->all));
	}
	clear(c, turns);
	if (t->slots > 1) {
		sized_begin(c, HN_NPU_I_IF, 0, sized_reg(c->turns), sized_imm(2));
		sized_let(c, HN_NPU_I_MOV, c->turn, sized_imm(0), sized_imm(0));
		sized_let(c, HN_NPU_I_MOV, c->turns, sized_imm(0), sized_imm(0));
		addresses(c, t, 0);
		copy(c, t->single.insn, t->single.n_insn);
		sized_end(c);
		sized_let(c, HN_NPU_I_SADD, c->turns, sized_reg(c->turns), sized_imm(t->slots - 1));
		sized_let(c, HN_NPU_I_SDIV, c->turns, sized_reg(c->turns), sized_imm(t->slots));
	}
	sized_begin(c, HN_NPU_I_IF, 0, sized_imm(0), sized_reg(c->turns));
	copy(c, turns->before, turns->n_before);
	sized_begin(c, HN_NPU_I_LOOP, c->turn, sized_reg(c->turns), sized_imm(0));
	for (uint32_t slot = 0; slot < t->slots; slot++) {
		addresses(c, t, slot);
	}
	copy(c, turns->body, turns->n_body);
	sized_end(c);
	copy(c, turns->behind, turns->n_behind);
	sized_end(c);
	if (t->to != INT64_MAX) {
		sized_end(c);
	}
	sized_end(c);
}

/* Of a core's rows, as many as there are, the tiles that are taken for so many terms. */
static void widths(struct code *c, uint32_t w, uint32_t inner, uint32_t n_insn)
{
	struct sized *s = c->s;
	bool first = w == 0, last = w + 1 == s->n_width;

	s->width = s->at[w].terms;
	if (!first) {
		sized_begin(c, HN_NPU_I_IF, 0, sized_imm(s->at[w - 1].terms), sized_reg(c->ragged.terms));
	}
	if (!last) {
		sized_begin(c, HN_NPU_I_IF, 0, sized_reg(c->ragged.terms), sized_imm(s->at[w].terms + 1));
	}
	for (uint32_t k = 0; k < s->at[w].n_tile && n_insn + c->n <= HN_NPU_MOST_INSNS; k++) {
		if (s->at[w].tile[k].from < s->at[w].tile[k].to) {
			tiles(c, &s->at[w].tile[k], inner);
		}
	}
	for (int i = !first + !last; i > 0; i--) {
		sized_end(c);
	}
}

/* The code of all cores that have these columns. */
static int section(struct sized *s, uint32_t inner, uint32_t *n_insn, struct hn_npu_section *ret)
{
	struct code *c = HN_NEW(s->a, struct code);

	*c = (struct code){ .s = s };
	for (uint32_t w = 0; w < s->n_width; w++) {
		s->width = s->at[w].terms;
		for (uint32_t k = 0; k < s->at[w].n_tile && s->n_sum > 0; k++) {
			const struct sized_tile *t = &s->at[w].tile[k];

			if (t->from < t->to && !sized_multiples(s, t->turns[inner].body, t->turns[inner].n_body, &c->ragged)) {
				return hn_fail(s->err, HONE_E_UNSUPPORTED, "arguments lie in more than %d ways along a size "
					       "that is summed over", SIZED_MULTIPLES);
			}
		}
	}
	sized_registers(c);
	if (c->next + 2 < HN_NPU_REGISTERS - (int)s->n_size) {
		sized_shares(c);
	}
	if (c->next + 2 >= HN_NPU_REGISTERS - (int)s->n_size) {
		return hn_fail(s->err, HONE_E_UNSUPPORTED, "arguments lie in %u ways along %u dimensions of sizes: "
			       "that is more than registers hold", s->n_address, s->n_class);
	}
	sized_keep_values(c);
	for (uint32_t w = 0; w < s->n_width; w++) {
		widths(c, w, inner, *n_insn);
	}
	if (*n_insn + c->n > HN_NPU_MOST_INSNS) {
		return hn_fail(s->err, HONE_E_UNSUPPORTED, "it takes more than %d instructions", HN_NPU_MOST_INSNS);
	}
	for (uint32_t i = 0; i < c->n; i++) {
		c->insn[i].line = ++*n_insn;
	}
	*ret = (struct hn_npu_section){ .first = inner * s->cores, .n_core = s->cores, .insn = c->insn,
					.n_insn = c->n };
	return 0;
}

int sized_code(struct sized *s, const struct hn_npu_program **ret)
{
	struct hn_npu_section *made = HN_NEW_ARRAY(s->a, struct hn_npu_section, s->inner);
	struct hn_npu_program *p = HN_NEW(s->a, struct hn_npu_program);
	uint32_t n_insn = 0;

	for (uint32_t i = 0; i < s->inner; i++) {
		int rc = section(s, i, &n_insn, &made[i]);

		if (rc != 0) {
			return rc;
		}
	}
	*p = *s->head;
	p->section = made;
	p->n_section = s->inner;
	*ret = p;
	return 0;
}
