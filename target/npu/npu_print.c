/* target/npu/npu_print.c -- a program of the NPU as text.  What the text need not say, because a
 * row of numbers.def has it, it does not say. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "target/npu/npu_form.h"
#include "target/npu/npu_insn.h"

static void number(struct hn_buf *b, const struct hn_npu_number *n)
{
	if (n->reg < 0) {
		hn_buf_printf(b, "%" PRId64, n->imm);
	} else if (n->imm == 0) {
		hn_buf_printf(b, "r%d", n->reg);
	} else {
		hn_buf_printf(b, "r%d%+" PRId64, n->reg, n->imm);
	}
}

static void place(const struct hn_npu_program *p, const struct hn_npu_place *at, struct hn_buf *b)
{
	hn_buf_printf(b, "%s[", at->memory == HN_NPU_GM ? p->buffer[at->buffer].name
							: hn_npu_memory_word[at->memory]);
	number(b, &at->at);
	hn_buf_putc(b, ']');
}

/* The fewest digits that read back as the same number. */
static void scale(float v, struct hn_buf *b)
{
	char text[32];
	int digits = 1;

	do {
		snprintf(text, sizeof(text), "%.*g", digits, (double)v);
	} while (strtof(text, NULL) != v && digits++ < 9);
	hn_buf_puts(b, text);
}

static void scalar(const struct hn_npu_insn *in, struct hn_buf *b)
{
	if (in->op == HN_NPU_I_SET || in->op == HN_NPU_I_WAIT) {
		hn_buf_printf(b, " %s %s ", hn_npu_pipe_name[in->pipe[0]],
			      hn_npu_pipe_name[in->pipe[1]]);
		number(b, &in->number[0]);
	} else if (in->op == HN_NPU_I_BARRIER) {
		hn_buf_printf(b, " %s", hn_npu_pipe_name[in->pipe[0]]);
	} else if (in->op == HN_NPU_I_CORE) {
		hn_buf_printf(b, " r%d", in->reg);
	} else if (in->op == HN_NPU_I_MOV || in->op == HN_NPU_I_LOOP) {
		hn_buf_printf(b, " r%d ", in->reg);
		number(b, &in->number[0]);
	} else if (in->op != HN_NPU_I_END) {
		if (in->op == HN_NPU_I_IF) {
			hn_buf_putc(b, ' ');
		} else {
			hn_buf_printf(b, " r%d ", in->reg);
		}
		number(b, &in->number[0]);
		hn_buf_putc(b, ' ');
		number(b, &in->number[1]);
	}
}

void hn_npu_print_insn(const struct hn_npu_program *p, const struct hn_npu_insn *in,
		       struct hn_buf *b)
{
	const struct hn_npu_op_row *op = &hn_npu_op[in->op];
	const struct hn_npu_kind_row *kind = &hn_npu_kind[op->kind];

	hn_buf_puts(b, op->word);
	for (int i = 0; i < 2 && (i == 0 ? op->types.first : op->types.second) != 0; i++) {
		hn_buf_printf(b, ".%s", hn_npu_type_word(in->type[i]));
	}
	for (uint32_t i = 0; i < kind->n_place; i++) {
		hn_buf_putc(b, ' ');
		place(p, &in->place[i], b);
	}
	if (op->kind == HN_NPU_K_SCALED || op->kind == HN_NPU_K_FILL) {
		hn_buf_putc(b, ' ');
		scale(in->scale, b);
	}
	for (uint32_t i = 0; i < kind->n_number; i++) {
		const struct hn_npu_numeral_row *row = &hn_npu_numeral[kind->number[i]];

		if (in->number[i].reg >= 0 || in->number[i].imm != row->fallback) {
			hn_buf_printf(b, " %s ", row->word);
			number(b, &in->number[i]);
		}
	}
	if (kind->n_place == 0 && kind->n_number == 0) {
		scalar(in, b);
	}
}

static void head(const struct hn_npu_program *p, struct hn_buf *b)
{
	for (uint32_t i = 0; i < p->n_size; i++) {
		const struct hn_npu_size *s = &p->size[i];

		hn_buf_printf(b, "size %s r%u %" PRId64 "..%" PRId64 "\n", s->name, s->reg, s->lo, s->hi);
	}
	for (uint32_t i = 0; i < p->n_where; i++) {
		hn_buf_puts(b, "where ");
		hn_npu_where_print(p, &p->where[i], b);
		hn_buf_putc(b, '\n');
	}
	for (uint32_t i = 0; i < p->n_buffer + p->n_scratch; i++) {
		const struct hn_npu_buffer *g = &p->buffer[i];

		hn_buf_printf(b, "%s %s %s[", i < p->n_buffer ? "gm" : "scratch", g->name,
			      hn_dtype_name(g->dtype));
		if (g->length != NULL) {
			hn_npu_form_print(p->size, g->length, b);
		} else {
			hn_buf_printf(b, "%" PRId64, g->n_elem);
		}
		hn_buf_puts(b, "]\n");
	}
}

void hn_npu_print(const struct hn_npu_program *p, struct hn_buf *b)
{
	hn_buf_puts(b, HN_NPU_FORMAT "\n");
	head(p, b);
	for (uint32_t s = 0; s < p->n_section; s++) {
		const struct hn_npu_section *c = &p->section[s];
		uint32_t depth = 1;

		hn_buf_printf(b, "cores %u %u {\n", c->first, c->n_core);
		for (uint32_t i = 0; i < c->n_insn; i++) {
			uint8_t op = c->insn[i].op;

			depth -= op == HN_NPU_I_END;
			for (uint32_t d = 0; d < depth; d++) {
				hn_buf_puts(b, "  ");
			}
			depth += op == HN_NPU_I_LOOP || op == HN_NPU_I_IF;
			hn_npu_print_insn(p, &c->insn[i], b);
			hn_buf_putc(b, '\n');
		}
		hn_buf_puts(b, "}\n");
	}
}
