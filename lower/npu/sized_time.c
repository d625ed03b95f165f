/* lower/npu/sized_time.c -- what turns of a tile's code take, on the machine: of a core by itself, at one
 * address, with as many terms as the code has.
 */
#include "lower/npu/sized.h"
#include "target/npu/npu_run.h"

static void append(struct hn_npu_insn *to, uint32_t *n, const struct hn_npu_insn *in, uint32_t n_in)
{
	for (uint32_t i = 0; i < n_in; i++) {
		to[(*n)++] = in[i];
	}
}

/* The same, for as many terms as the tile has; conditions are within these instructions. */
static void append_cut(const struct sized *s, const struct sized_registers *r, struct hn_npu_insn *to, uint32_t *n,
		       const struct npu_turns *t)
{
	uint32_t open = 0;

	for (uint32_t i = 0; i < t->n_body; i++) {
		struct hn_npu_insn cut[SIZED_CUT];
		uint32_t n_cut = sized_cut(s, r, &t->body[i], cut);

		for (uint32_t k = 0; k < n_cut; k++) {
			to[*n] = cut[k];
			if (cut[k].op == HN_NPU_I_IF) {
				open = *n;
			} else if (cut[k].op == HN_NPU_I_END) {
				to[*n].jump = open;
				to[open].jump = *n;
			}
			(*n)++;
		}
	}
}

/* As a program has them; which are all the same here. */
static struct sized_registers registers_of(const struct sized *s, const struct npu_turns *t)
{
	int next = HN_NPU_REGISTERS - 2 - (int)s->n_size;
	struct sized_registers r = { .terms = next, .scratch = { next - 1, next - 2 } };

	sized_multiples(s, t->body, t->n_body, &r);
	for (uint32_t k = 0; k < r.n; k++) {
		r.reg[k] = next - 3 - (int)k;
	}
	return r;
}

double sized_turns(const struct sized *s, const struct npu_turns *t, uint32_t turns)
{
	const uint32_t grows = s->n_sum > 0 ? SIZED_CUT : 1;
	struct hn_npu_insn *in = HN_NEW_ARRAY(s->a, struct hn_npu_insn, t->n_before + grows * t->n_body + t->n_behind + 12);
	const struct sized_registers regs = registers_of(s, t);
	const int64_t terms = s->width < s->most_terms ? s->width : s->most_terms;
	struct hn_npu_section c = { .n_core = 1, .insn = in };
	struct hn_npu_program p = *s->head;
	const struct hn_npu_options o = { 0 };
	int64_t largest[HN_NPU_MOST_SIZES] = { 0 };
	struct hn_npu_result r;
	struct hn_arena a;
	uint32_t n = 0, begun;
	int64_t rows = 1;
	int rc;

	for (uint32_t i = 0; i < s->n_size; i++) {
		largest[i] = s->size[i].hi;
	}
	for (uint32_t k = s->n_outer; k < s->n_class; k++) {
		rows *= s->class[k].largest;
	}
	for (uint32_t k = 0; k < regs.n && s->n_sum > 0; k++) {
		in[n++] = sized_scalar(HN_NPU_I_MOV, regs.reg[k], sized_imm(regs.by[k] > 0 ? regs.by[k] * terms : -regs.by[k] * rows),
				       sized_imm(0));
	}
	if (s->n_sum > 0) {
		in[n++] = sized_scalar(HN_NPU_I_MOV, regs.terms, sized_imm(terms), sized_imm(0));
	}
	append(in, &n, t->before, t->n_before);
	in[n] = (struct hn_npu_insn){ .op = HN_NPU_I_LOOP, .reg = (uint8_t)(HN_NPU_REGISTERS - 1 - s->n_size),
				      .number = { { turns, -1 } } };
	/* registers of addresses are 0 in all turns */
	begun = n++;
	append_cut(s, &regs, in, &n, t);
	in[begun].jump = n;
	in[n++] = (struct hn_npu_insn){ .op = HN_NPU_I_END, .jump = begun };
	append(in, &n, t->behind, t->n_behind);
	c.n_insn = n;
	p.section = &c;
	p.n_section = 1;
	p.value = largest;
	hn_arena_init(&a, 0);
	rc = hn_npu_run(&p, s->m, &o, &a, &r, NULL);
	hn_arena_fini(&a);
	return rc == 0 ? (double)r.core_cycles : 1e18;
}
