/* lower/npu/sized_cut.c -- code of so many terms, as it is for the terms of a launch: transfers are cut, and
 * masks are written.
 *
 * A transfer has the terms of a row in its bursts, or a burst for each.  In the code of a tile these are
 * numbers; in the program they are multiples of what the launch has, which registers hold.  Where each term
 * has a transfer of its own, those that a launch has not are left out.
 */
#include "base/arith.h"
#include "lower/npu/sized.h"

#define LANES 64	 /* of a repeat: float32 */
#define MOST_REPEATS 255
#define MOST_PARTS 8 /* fills of that many repeats */

enum { PLAIN, MASK_ROW, MASK_REST, MASK_BLOCKS }; /* hn_npu_insn.jump of what writes a mask */
enum { T_N, T_BURST, T_FROM, T_TO }; /* numbers of a transfer */
enum { D_REP, D_MASK, D_BITS, D_BITS2, D_BD, D_SD, D_N, D_FIRST = D_N }; /* of a FILL; of MASK_BLOCKS: the term */

/* -- masks ---------------------------------------------------------------------------------- */

struct hn_npu_insn sized_fill(int64_t at, float value, int64_t rep, int64_t mask, int64_t step)
{
	struct hn_npu_insn in = { .op = HN_NPU_I_DUP, .type = { HN_F32, HN_F32 }, .scale = value };
	const int64_t v[D_N] = { rep, mask, 0, 0, 1, step };

	for (int i = 0; i < D_N; i++) {
		in.number[i] = (struct hn_npu_number){ .imm = v[i], .reg = -1 };
	}
	in.place[0] = (struct hn_npu_place){ .memory = HN_NPU_UB, .at = { .imm = at, .reg = -1 } };
	return in;
}

/* Where the mask was loaded: zeros, and ones behind them that become as many as there are terms. */
static uint32_t write_mask(const struct sized *s, const struct hn_npu_insn *load, struct hn_npu_insn *to)
{
	int64_t at = load->place[0].at.imm, n = load->number[T_N].imm, burst = load->number[T_BURST].imm;
	int64_t full = s->width / LANES, rest = s->width % LANES;
	uint32_t k = 0;

	if (n == 1 && burst == s->width * 4) {
		for (int ones = 0; ones < 2; ones++) {
			if (full > 0) {
				to[k] = sized_fill(at, (float)ones, full, HN_NPU_DENSE, HN_NPU_DENSE);
				to[k++].jump = ones ? MASK_ROW : PLAIN;
			}
			if (rest > 0) {
				to[k] = sized_fill(at + full * LANES * 4, (float)ones, 1, rest, HN_NPU_DENSE);
				to[k++].jump = ones ? (full > 0 ? MASK_REST : MASK_ROW) : PLAIN;
			}
		}
	} else if (n == s->width && burst == 4 && n <= MOST_REPEATS * MOST_PARTS &&
		   (load->number[T_TO].imm == HN_NPU_DENSE || load->number[T_TO].imm == HN_NPU_BLOCK)) {
		for (int ones = 0; ones < 2; ones++) { /* a block for each, of which it is the first */
			for (int64_t i = 0; i < n; i += MOST_REPEATS) {
				to[k] = sized_fill(at + i * HN_NPU_BLOCK, (float)ones, n - i < MOST_REPEATS ? n - i : MOST_REPEATS,
					     ones ? 1 : 8, 1);
				to[k].number[D_FIRST].imm = i;
				to[k++].jump = ones ? MASK_BLOCKS : PLAIN;
			}
		}
	}
	return k;
}

/* -- transfers ------------------------------------------------------------------------------ */

struct cut {
	int64_t unit, at, apart; /* bytes from term to term; where it begins, and rows of terms before that */
	int64_t burst, n, from;	 /* multiples of the terms that these are; 0: as it is */
	int64_t more;		 /* bytes that the stride has beside */
	int64_t term;		 /* all of it is of this one; -1: of several */
	int64_t far;		 /* terms are as many rows apart as there are, of so many bytes; 0: a number of bytes */
};

static bool is_transfer(const struct hn_npu_insn *in)
{
	return in->op == HN_NPU_I_LOAD || in->op == HN_NPU_I_STORE;
}

/* What becomes of a transfer; false: it has some terms and not others. */
static bool cut_of(const struct sized *s, const struct hn_npu_insn *in, struct cut *c)
{
	bool in_store = in->op == HN_NPU_I_STORE;
	const struct hn_npu_place *gm = &in->place[in_store ? 0 : 1];
	int64_t n = in->number[T_N].imm, burst = in->number[T_BURST].imm;
	int64_t step = in->number[in_store ? T_TO : T_FROM].imm, row;

	*c = (struct cut){ .unit = s->unit[gm->buffer], .term = -1, .far = s->far[gm->buffer] };
	step = step == HN_NPU_DENSE ? burst : step;
	row = SIZED_APART * c->unit;
	c->at = gm->at.imm % row;
	c->apart = gm->at.imm / row;
	if (n > 1 && step >= row) {
		c->from = step / row * c->unit;
		c->more = step % row;
	}
	if (burst == s->width * c->unit) {
		c->burst = c->unit;
	} else if (n % s->width == 0 && n * step == s->width * c->unit) {
		c->n = n / s->width;
		return c->far == 0 || (c->n == 1 && c->apart == 0 && c->from == 0);
	} else {
		c->term = c->at / c->unit;
		c->at -= c->far > 0 ? c->term * c->unit : 0;
		return (c->far == 0 || (c->apart == 0 && c->from == 0)) && burst <= c->unit && (n == 1 || step >= row || n * step <= c->unit);
	}
	return true;
}

bool sized_ragged(const struct sized *s, struct hn_npu_insn *in, uint32_t *n)
{
	struct hn_npu_insn *from = HN_NEW_ARRAY(s->a, struct hn_npu_insn, *n + 1);
	uint32_t n_from = *n, masks = s->n_sum > 0, behind = s->dag->n_input + masks + s->n_value;

	for (uint32_t i = 0; i < n_from; i++) {
		from[i] = in[i];
	}
	*n = 0;
	for (uint32_t i = 0; i < n_from; i++) {
		struct hn_npu_place *gm;
		struct cut c;

		in[*n] = from[i];
		gm = &in[*n].place[from[i].op == HN_NPU_I_STORE ? 0 : 1];
		if (!is_transfer(&from[i])) {
			(*n)++;
		} else if ((uint32_t)gm->buffer >= s->dag->n_input && (uint32_t)gm->buffer < behind) {
			uint32_t k = (uint32_t)gm->buffer - s->dag->n_input, made = 1;

			if (k >= masks) {
				in[*n] = sized_copy(s, k - masks, &from[i]);
			} else {
				made = write_mask(s, &from[i], &in[*n]);
			}
			if (made == 0) {
				return false;
			}
			*n += made;
		} else {
			gm->buffer = (int16_t)(gm->buffer - ((uint32_t)gm->buffer >= behind ? masks + s->n_value : 0));
			if (s->unit[gm->buffer] > 0 && !cut_of(s, &in[*n], &c)) {
				return false;
			}
			(*n)++;
		}
	}
	return true;
}

static bool multiple(struct sized_registers *r, int64_t by)
{
	uint32_t k = 0;

	while (k < r->n && r->by[k] != by) {
		k++;
	}
	if (by == 0 || by == 1 || k < r->n) {
		return true;
	}
	if (r->n == SIZED_MULTIPLES) {
		return false;
	}
	r->by[r->n++] = by;
	return true;
}

static bool is_cut(const struct sized *s, const struct hn_npu_insn *in, struct cut *c)
{
	return is_transfer(in) && s->unit[in->place[in->op == HN_NPU_I_STORE ? 0 : 1].buffer] > 0 && cut_of(s, in, c);
}

bool sized_multiples(const struct sized *s, const struct hn_npu_insn *in, uint32_t n, struct sized_registers *r)
{
	struct cut c;

	for (uint32_t i = 0; i < n; i++) {
		if (is_cut(s, &in[i], &c) && !(multiple(r, c.burst) && multiple(r, c.n) && multiple(r, c.from) && multiple(r, -c.far))) {
			return false;
		}
	}
	return true;
}

/* -- instructions --------------------------------------------------------------------------- */

static struct hn_npu_number times(const struct sized_registers *r, int64_t by, int64_t more)
{
	int at = r->terms;

	for (uint32_t k = 0; k < r->n; k++) {
		at = r->by[k] == by ? r->reg[k] : at;
	}
	return (struct hn_npu_number){ .imm = more, .reg = (int8_t)at };
}

static uint32_t cut_mask(const struct sized *s, const struct sized_registers *r, const struct hn_npu_insn *in,
			 struct hn_npu_insn *to)
{
	int q = r->scratch[0], t = r->scratch[1];
	uint32_t n = 0;

	if (in->jump == MASK_BLOCKS) {
		to[n++] = sized_scalar(HN_NPU_I_SSUB, q, sized_reg(r->terms), sized_imm(in->number[D_FIRST].imm));
		to[n++] = sized_scalar(HN_NPU_I_SMIN, q, sized_reg(q), sized_imm(in->number[D_REP].imm));
		to[n++] = sized_scalar(HN_NPU_I_IF, 0, sized_imm(0), sized_reg(q));
		to[n] = *in;
		to[n].number[D_REP] = sized_reg(q);
		to[n++].jump = 0;
		to[n++] = (struct hn_npu_insn){ .op = HN_NPU_I_END };
		return n;
	}
	if (in->jump == MASK_REST) { /* done with the row */
		return 0;
	}
	if (s->width >= LANES) {
		to[n++] = sized_scalar(HN_NPU_I_SDIV, q, sized_reg(r->terms), sized_imm(LANES));
		to[n++] = sized_scalar(HN_NPU_I_IF, 0, sized_imm(0), sized_reg(q));
		to[n] = sized_fill(in->place[0].at.imm, 1, 1, HN_NPU_DENSE, HN_NPU_DENSE);
		to[n++].number[D_REP] = sized_reg(q);
		to[n++] = (struct hn_npu_insn){ .op = HN_NPU_I_END };
	}
	to[n++] = sized_scalar(HN_NPU_I_SMOD, q, sized_reg(r->terms), sized_imm(LANES));
	to[n++] = sized_scalar(HN_NPU_I_IF, 0, sized_imm(0), sized_reg(q));
	to[n++] = sized_scalar(HN_NPU_I_SSUB, t, sized_reg(r->terms), sized_reg(q));
	to[n++] = sized_scalar(HN_NPU_I_SMUL, t, sized_reg(t), sized_imm(4));
	to[n] = sized_fill(0, 1, 1, 0, HN_NPU_DENSE);
	to[n].number[D_MASK] = sized_reg(q);
	to[n++].place[0].at = (struct hn_npu_number){ .imm = in->place[0].at.imm, .reg = (int8_t)t };
	to[n++] = (struct hn_npu_insn){ .op = HN_NPU_I_END };
	return n;
}

uint32_t sized_cut(const struct sized *s, const struct sized_registers *r, const struct hn_npu_insn *in,
		   struct hn_npu_insn to[SIZED_CUT])
{
	bool in_store = in->op == HN_NPU_I_STORE;
	const struct hn_npu_number *at = &in->place[in_store ? 0 : 1].at;
	struct hn_npu_place *gm;
	uint32_t n = 0;
	struct cut c;
	bool moves;

	if (in->op == HN_NPU_I_DUP && in->jump != PLAIN) {
		return cut_mask(s, r, in, to);
	}
	if (!is_cut(s, in, &c)) {
		to[0] = *in;
		return 1;
	}
	moves = c.apart > 0 || (c.far > 0 && c.term > 0);
	if (c.term >= 0) {
		to[n++] = sized_scalar(HN_NPU_I_IF, 0, sized_imm(c.term), sized_reg(r->terms));
	}
	if (c.far > 0 && c.term > 0) {
		to[n++] = sized_scalar(HN_NPU_I_SMUL, r->scratch[0], times(r, -c.far, 0), sized_imm(c.term));
	}
	if (c.apart > 0) { /* behind other rows of terms: not where its register says */
		to[n++] = sized_scalar(HN_NPU_I_SMUL, r->scratch[0], sized_reg(r->terms), sized_imm(c.apart * c.unit));
	}
	if (moves && at->reg >= 0) {
		to[n++] = sized_scalar(HN_NPU_I_SADD, r->scratch[0], sized_reg(r->scratch[0]), sized_reg(at->reg));
	}
	to[n] = *in;
	gm = &to[n].place[in_store ? 0 : 1];
	gm->at.imm = c.at;
	gm->at.reg = (int8_t)(moves ? r->scratch[0] : gm->at.reg);
	if (in->number[T_N].imm > 1) { /* what a burst was is as far apart still */
		int64_t burst = in->number[T_BURST].imm, room = hn_ceildiv(burst, HN_NPU_BLOCK) * HN_NPU_BLOCK;

		for (int k = T_FROM; k <= T_TO; k++) {
			bool is_gm = (k == T_TO) == in_store;

			if (to[n].number[k].imm == HN_NPU_DENSE) {
				to[n].number[k] = sized_imm(is_gm ? burst : room);
			}
			if (is_gm && c.from > 0) {
				to[n].number[k] = times(r, c.from, c.more);
			} else if (is_gm && c.far > 0 && c.n > 0) {
				to[n].number[k] = times(r, -c.far, 0);
			}
		}
	}
	if (c.burst > 0) {
		to[n].number[T_BURST] = times(r, c.burst, 0);
	}
	if (c.n > 0) {
		to[n].number[T_N] = times(r, c.n, 0);
	}
	n++;
	if (c.term >= 0) {
		to[n++] = (struct hn_npu_insn){ .op = HN_NPU_I_END };
	}
	return n;
}

struct bytes {
	int64_t from, to;
};

/* Where a load that may be cut writes. */
static struct bytes loads(const struct sized *s, const struct hn_npu_insn *in)
{
	int64_t burst = hn_ceildiv(in->number[T_BURST].imm, HN_NPU_BLOCK) * HN_NPU_BLOCK, at = in->place[0].at.imm;
	int64_t step = in->number[T_TO].imm == HN_NPU_DENSE ? burst : in->number[T_TO].imm;
	struct cut c;

	return in->op == HN_NPU_I_LOAD && is_cut(s, in, &c)
		       ? (struct bytes){ at, at + (in->number[T_N].imm - 1) * step + burst } : (struct bytes){ 0, 0 };
}

uint32_t sized_clear(const struct sized *s, const struct hn_npu_insn *in, uint32_t n,
		     const struct hn_npu_insn **ret)
{
	struct bytes *b = HN_NEW_ARRAY(s->a, struct bytes, n + 1);
	uint32_t n_bytes = 0, n_made = 0, cap = 0;
	struct hn_npu_insn *made = NULL;

	for (uint32_t i = 0; i < n; i++) {
		struct bytes own = loads(s, &in[i]);

		/* with those that it meets, so that no two write to a block */
		for (uint32_t k = 0; k < n_bytes && own.to > own.from;) {
			if (b[k].from > own.to || own.from > b[k].to) {
				k++;
				continue;
			}
			own.from = b[k].from < own.from ? b[k].from : own.from;
			own.to = b[k].to > own.to ? b[k].to : own.to;
			b[k] = b[--n_bytes];
			k = 0;
		}
		if (own.to > own.from) {
			b[n_bytes++] = own;
		}
	}
	for (uint32_t k = 0; k < n_bytes; k++) {
		while (b[k].from < b[k].to) {
			int64_t all = b[k].to - b[k].from, rep = all / 256 < MOST_REPEATS ? all / 256 : MOST_REPEATS;

			made = hn_arena_grow(s->a, made, n_made, &cap, sizeof(made[0]));
			made[n_made++] = sized_fill(b[k].from, 0, rep > 0 ? rep : 1, rep > 0 ? HN_NPU_DENSE : all / 4,
					      HN_NPU_DENSE);
			b[k].from += rep > 0 ? rep * 256 : all;
		}
	}
	*ret = made;
	return n_made;
}
