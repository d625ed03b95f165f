/* lower/npu/sized_code.c -- the program: each core finds its rows, and goes through them in turns of the
 * length that is taken for so many.
 *
 * Registers: first those of addresses, of each slot; then what is the same in all turns; sizes are the
 * last.  What needs the number of a core or of a turn is computed by S, a cycle each.
 */
#include <string.h>

#include "lower/npu/sized.h"

struct code {
	struct sized *s;
	struct hn_npu_insn *insn;
	uint32_t n, cap;
	uint32_t open[HN_NPU_NESTING], n_open;
	int next; /* register */
	/* rows; a core's first and how many; tiles; the outer dimensions' first of this core, the rows that a
	 * tile may begin at last, turns, the turn, and its tile's place */
	int rows, start, part, first_outer, last, turns, turn, tiles, all, row, scratch;
	struct sized_registers ragged; /* of terms */
	int extent[SIZED_CLASSES], place[SIZED_CLASSES]; /* of outer dimensions */
};

int sized_register(const struct sized *s, uint32_t slot, uint32_t address)
{
	return (int)(slot * s->n_address + address);
}

static struct hn_npu_insn *add(struct code *c)
{
	c->insn = hn_arena_grow(c->s->a, c->insn, c->n, &c->cap, sizeof(c->insn[0]));
	c->insn[c->n] = (struct hn_npu_insn){ .op = HN_NPU_N_OP };
	return &c->insn[c->n++];
}

static struct hn_npu_number reg(int r)
{
	return (struct hn_npu_number){ .reg = (int8_t)r };
}

static struct hn_npu_number imm(int64_t v)
{
	return (struct hn_npu_number){ .imm = v, .reg = -1 };
}

static void let(struct code *c, enum hn_npu_op op, int to, struct hn_npu_number x, struct hn_npu_number y)
{
	bool scales = op == HN_NPU_I_SMUL || op == HN_NPU_I_SDIV, moves = op == HN_NPU_I_SADD || op == HN_NPU_I_SSUB;

	if (y.reg < 0 && ((scales && y.imm == 1) || (moves && y.imm == 0))) { /* it is x */
		op = HN_NPU_I_MOV;
	}
	if (op == HN_NPU_I_MOV && x.reg == to && x.imm == 0) {
		return;
	}
	*add(c) = (struct hn_npu_insn){ .op = (uint8_t)op, .reg = (uint8_t)to, .number = { x, y } };
}

static void begin(struct code *c, enum hn_npu_op op, int to, struct hn_npu_number x, struct hn_npu_number y)
{
	c->open[c->n_open++] = c->n;
	let(c, op, to, x, y);
}

static void end(struct code *c)
{
	uint32_t from = c->open[--c->n_open];

	c->insn[from].jump = c->n;
	add(c)->op = HN_NPU_I_END;
	c->insn[c->n - 1].jump = from;
}

static void put(struct code *c, const struct hn_npu_insn *in, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (in[i].op == HN_NPU_I_END) {
			end(c);
			continue;
		}
		if (in[i].op == HN_NPU_I_IF) {
			c->open[c->n_open++] = c->n;
		}
		*add(c) = in[i];
	}
}

static void copy(struct code *c, const struct hn_npu_insn *in, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct hn_npu_insn cut[SIZED_CUT];

		put(c, cut, sized_cut(c->s, &c->ragged, &in[i], cut));
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
	begin(c, HN_NPU_I_IF, 0, reg(c->ragged.terms), imm(c->s->width));
	put(c, made, n);
	*add(c) = npu_plain(HN_NPU_I_BARRIER, HN_NPU_ALL, 0, 0);
	end(c);
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
		return imm(f->number);
	}
	if (f->op == HN_NPU_FORM_SIZE) {
		return reg(c->s->size[f->number].reg);
	}
	x = form(c, f->a, to);
	y = form(c, f->b, x.reg == to ? to + 1 : to);
	if (to + 1 >= HN_NPU_REGISTERS - (int)c->s->n_size) {
		c->next = HN_NPU_REGISTERS; /* too many: told by the caller */
		return imm(0);
	}
	let(c, (enum hn_npu_op)ops[f->op], to, x, y);
	return reg(to);
}

static int new_register(struct code *c)
{
	return c->next++;
}

static void registers(struct code *c)
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
}

/* A form into that register; those behind the registers in use are free for its parts. */
static void form_into(struct code *c, int to, const struct hn_npu_form *f)
{
	struct hn_npu_number v = form(c, f, c->next);

	let(c, HN_NPU_I_MOV, to, v, imm(0));
}

/* What this core has: rows from `start` on, so many in `part`; of outer dimensions `all` from first_outer. */
static void shares(struct code *c)
{
	const struct sized *s = c->s;
	int groups = c->turn, t = c->scratch;

	form_into(c, c->rows, s->rows);
	if (s->n_sum > 0) {
		form_into(c, c->ragged.terms, s->terms);
		for (uint32_t k = 0; k < c->ragged.n; k++) {
			let(c, HN_NPU_I_SMUL, c->ragged.reg[k], reg(c->ragged.terms), imm(c->ragged.by[k]));
		}
	}
	for (uint32_t k = 0; k < s->n_outer; k++) {
		form_into(c, c->extent[k], s->class[k].extent);
	}
	*add(c) = (struct hn_npu_insn){ .op = HN_NPU_I_CORE, .reg = (uint8_t)c->start };
	if (s->n_outer > 0) { /* as many cores as they have get one each, or some; the others share rows */
		form_into(c, c->all, s->outer);
		let(c, HN_NPU_I_SMIN, c->tiles, reg(c->all), imm(s->cores));
		let(c, HN_NPU_I_MOV, groups, imm(s->cores), imm(0));
		let(c, HN_NPU_I_SDIV, groups, reg(groups), reg(c->tiles)); /* cores of each */
		let(c, HN_NPU_I_SDIV, c->first_outer, reg(c->start), reg(groups));
		let(c, HN_NPU_I_SMOD, c->start, reg(c->start), reg(groups));
		let(c, HN_NPU_I_SADD, t, reg(c->all), reg(c->tiles));
		let(c, HN_NPU_I_SSUB, t, reg(t), imm(1));
		let(c, HN_NPU_I_SDIV, t, reg(t), reg(c->tiles)); /* of each */
		let(c, HN_NPU_I_SMUL, c->first_outer, reg(c->first_outer), reg(t));
		let(c, HN_NPU_I_SSUB, c->all, reg(c->all), reg(c->first_outer));
		let(c, HN_NPU_I_SMIN, c->all, reg(c->all), reg(t));
	}
	let(c, HN_NPU_I_SADD, c->part, reg(c->rows), imm(s->step - 1));
	let(c, HN_NPU_I_SDIV, c->part, reg(c->part), imm(s->step));
	if (s->n_outer > 0) {
		let(c, HN_NPU_I_SADD, c->part, reg(c->part), reg(groups));
		let(c, HN_NPU_I_SSUB, c->part, reg(c->part), imm(1));
		let(c, HN_NPU_I_SDIV, c->part, reg(c->part), reg(groups));
	} else {
		let(c, HN_NPU_I_SADD, c->part, reg(c->part), imm(s->cores - 1));
		let(c, HN_NPU_I_SDIV, c->part, reg(c->part), imm(s->cores));
	}
	let(c, HN_NPU_I_SMUL, c->part, reg(c->part), imm(s->step));
	let(c, HN_NPU_I_SMUL, c->start, reg(c->start), reg(c->part));
	let(c, HN_NPU_I_SSUB, t, reg(c->rows), reg(c->start));
	let(c, HN_NPU_I_SMIN, c->part, reg(c->part), reg(t));
	if (s->n_outer > 0) { /* a core that has none of them has no rows */
		begin(c, HN_NPU_I_IF, 0, reg(c->all), imm(1));
		let(c, HN_NPU_I_MOV, c->part, imm(0), imm(0));
		end(c);
	}
}

/* Sizes that ops compute with. */
static void keep(struct code *c)
{
	for (uint32_t k = 0; k < c->s->n_value; k++) {
		const struct hn_npu_insn *in;
		uint32_t n;

		form_into(c, c->turn, c->s->value[k]);
		sized_keep(c->s, k, reg(c->turn), c->turn, c->scratch, &in, &n);
		put(c, in, n);
	}
	if (c->s->n_value > 0) {
		*add(c) = npu_plain(HN_NPU_I_BARRIER, HN_NPU_ALL, 0, 0);
	}
}

/* Where terms lie inside of the first n that it lies along. */
static void past_terms(struct code *c, const struct sized_address *x, int to, uint32_t n)
{
	if (x->terms == n && n > 0) {
		let(c, HN_NPU_I_SMUL, to, reg(to), reg(c->ragged.terms));
	}
}

/* Registers of a slot's addresses: of tile `slot` of the turn. */
static void addresses(struct code *c, const struct sized_tile *t, uint32_t slot)
{
	const struct sized *s = c->s;

	let(c, HN_NPU_I_SMUL, c->row, reg(c->turn), imm(t->slots));
	if (slot > 0) {
		let(c, HN_NPU_I_SADD, c->row, reg(c->row), imm(slot));
	}
	if (s->n_outer > 0) {
		int q = c->scratch;

		let(c, HN_NPU_I_SMUL, q, reg(c->all), reg(c->tiles));
		let(c, HN_NPU_I_SSUB, q, reg(q), imm(1));
		let(c, HN_NPU_I_SMIN, c->row, reg(c->row), reg(q));
		let(c, HN_NPU_I_SDIV, q, reg(c->row), reg(c->tiles));
		let(c, HN_NPU_I_SMOD, c->row, reg(c->row), reg(c->tiles));
		let(c, HN_NPU_I_SADD, q, reg(q), reg(c->first_outer));
		for (uint32_t k = s->n_outer; k-- > 0;) {
			let(c, HN_NPU_I_SMOD, c->place[k], reg(q), reg(c->extent[k]));
			let(c, HN_NPU_I_SDIV, q, reg(q), reg(c->extent[k]));
		}
	}
	let(c, HN_NPU_I_SMUL, c->row, reg(c->row), imm(t->rows));
	let(c, HN_NPU_I_SMIN, c->row, reg(c->row), reg(c->last));
	let(c, HN_NPU_I_SADD, c->row, reg(c->row), reg(c->start));
	for (uint32_t k = 0; k < s->n_address; k++) {
		const struct sized_address *x = &s->address[k];
		int to = sized_register(s, slot, k);

		let(c, HN_NPU_I_MOV, to, x->n_outer > 0 ? reg(c->place[(int)x->outer[0]]) : reg(c->row), imm(0));
		for (uint32_t i = 1; i < x->n_outer; i++) {
			past_terms(c, x, to, i);
			let(c, HN_NPU_I_SMUL, to, reg(to), reg(c->extent[(int)x->outer[i]]));
			let(c, HN_NPU_I_SADD, to, reg(to), reg(c->place[(int)x->outer[i]]));
		}
		if (x->n_outer > 0 && x->rows) {
			past_terms(c, x, to, x->n_outer);
			let(c, HN_NPU_I_SMUL, to, reg(to), reg(c->rows));
			let(c, HN_NPU_I_SADD, to, reg(to), reg(c->row));
		}
		past_terms(c, x, to, x->n_outer + x->rows);
		let(c, HN_NPU_I_SMUL, to, reg(to), imm(x->row_bytes));
	}
}

/* All of a core's rows in tiles of this length. */
static void tiles(struct code *c, const struct sized_tile *t, uint32_t inner)
{
	const struct sized *s = c->s;
	const struct npu_turns *turns = &t->turns[inner];

	begin(c, HN_NPU_I_IF, 0, imm(t->from - 1), reg(c->part));
	if (t->to != INT64_MAX) {
		begin(c, HN_NPU_I_IF, 0, reg(c->part), imm(t->to));
	}
	let(c, HN_NPU_I_SSUB, c->last, reg(c->part), imm(t->rows));
	let(c, HN_NPU_I_SADD, c->turns, reg(c->part), imm(t->rows - 1));
	let(c, HN_NPU_I_SDIV, c->turns, reg(c->turns), imm(t->rows));
	if (s->n_outer > 0) {
		let(c, HN_NPU_I_MOV, c->tiles, reg(c->turns), imm(0));
		let(c, HN_NPU_I_SMUL, c->turns, reg(c->turns), reg(c->all));
	}
	clear(c, turns);
	if (t->slots > 1) {
		begin(c, HN_NPU_I_IF, 0, reg(c->turns), imm(2));
		let(c, HN_NPU_I_MOV, c->turn, imm(0), imm(0));
		let(c, HN_NPU_I_MOV, c->turns, imm(0), imm(0));
		addresses(c, t, 0);
		copy(c, t->single.insn, t->single.n_insn);
		end(c);
		let(c, HN_NPU_I_SADD, c->turns, reg(c->turns), imm(t->slots - 1));
		let(c, HN_NPU_I_SDIV, c->turns, reg(c->turns), imm(t->slots));
	}
	begin(c, HN_NPU_I_IF, 0, imm(0), reg(c->turns));
	copy(c, turns->before, turns->n_before);
	begin(c, HN_NPU_I_LOOP, c->turn, reg(c->turns), imm(0));
	for (uint32_t slot = 0; slot < t->slots; slot++) {
		addresses(c, t, slot);
	}
	copy(c, turns->body, turns->n_body);
	end(c);
	copy(c, turns->behind, turns->n_behind);
	end(c);
	if (t->to != INT64_MAX) {
		end(c);
	}
	end(c);
}

/* Of a core's rows, as many as there are, the tiles that are taken for so many terms. */
static void widths(struct code *c, uint32_t w, uint32_t inner, uint32_t n_insn)
{
	struct sized *s = c->s;
	bool first = w == 0, last = w + 1 == s->n_width;

	s->width = s->at[w].terms;
	if (!first) {
		begin(c, HN_NPU_I_IF, 0, imm(s->at[w - 1].terms), reg(c->ragged.terms));
	}
	if (!last) {
		begin(c, HN_NPU_I_IF, 0, reg(c->ragged.terms), imm(s->at[w].terms + 1));
	}
	for (uint32_t k = 0; k < s->at[w].n_tile && n_insn + c->n <= HN_NPU_MOST_INSNS; k++) {
		if (s->at[w].tile[k].from < s->at[w].tile[k].to) {
			tiles(c, &s->at[w].tile[k], inner);
		}
	}
	for (int i = !first + !last; i > 0; i--) {
		end(c);
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
	registers(c);
	if (c->next + 2 < HN_NPU_REGISTERS - (int)s->n_size) {
		shares(c);
	}
	if (c->next + 2 >= HN_NPU_REGISTERS - (int)s->n_size) {
		return hn_fail(s->err, HONE_E_UNSUPPORTED, "arguments lie in %u ways along %u dimensions of sizes: "
			       "that is more than registers hold", s->n_address, s->n_class);
	}
	keep(c);
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
