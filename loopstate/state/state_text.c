/* state_text.c -- the preview of a state, letter for letter Ansor's. */
#include "loopstate/state/state.h"

#include <inttypes.h>

struct preview {
	const struct hn_state *s;
	bool delete_trivial_loops;
	struct hn_buf *buf;
};

static void indent_by(struct hn_buf *buf, uint32_t n)
{
	for (; n > 0; n--) {
		hn_buf_puts(buf, "  ");
	}
}

static void print_loop(const struct preview *p, const struct hn_iter *it, uint32_t indent)
{
	indent_by(p->buf, indent);
	hn_buf_puts(p->buf, hn_ann_keyword(it->ann));
	hn_buf_putc(p->buf, ' ');
	hn_buf_puts(p->buf, it->name);
	if (it->extent == HN_EXTENT_UNKNOWN) {
		hn_buf_puts(p->buf, " (None)\n");
		return;
	}
	hn_buf_puts(p->buf, " (");
	if (it->min_expr != NULL) {
		hn_expr_print(it->min_expr, NULL, p->buf);
	} else {
		hn_buf_printf(p->buf, "%" PRId64, it->min);
	}
	hn_buf_printf(p->buf, ",%" PRId64 ")\n", it->extent);
}

/* Attached stages are always later in no cycle (hn_state_check 5), so this ends. */
static void print_stage(const struct preview *p, int32_t stage, uint32_t indent)
{
	const struct hn_stage *st = p->s->stage[stage];
	const char *name = p->s->dag->op[stage]->name;

	if (st->auto_unroll_max_step != 0) {
		indent_by(p->buf, indent);
		hn_buf_printf(p->buf, "%s auto_unroll: %" PRId32 "\n", name,
			      st->auto_unroll_max_step);
	}
	if (st->storage_offset != 0) {
		indent_by(p->buf, indent);
		hn_buf_printf(p->buf, "%s storage_offset: %" PRId64 "\n", name,
			      st->storage_offset);
	}
	for (uint32_t i = 0; i < st->n_iter; i++) {
		bool trivial = p->delete_trivial_loops && st->iter[i].extent == 1;

		if (!trivial && !st->iter[i].hidden) {
			print_loop(p, &st->iter[i], indent++);
		}
		const struct hn_attached *at =
			hn_state_attached_at(p->s, stage, (int32_t)i);

		for (uint32_t k = 0; at != NULL && k < at->n; k++) {
			print_stage(p, at->child[k], indent);
		}
	}
	indent_by(p->buf, indent);
	hn_buf_puts(p->buf, name);
	hn_buf_puts(p->buf, " = ...\n");
}

void hn_state_print(const struct hn_state *s, bool delete_trivial_loops,
		    struct hn_buf *buf)
{
	const struct preview p = {s, delete_trivial_loops, buf};
	const char *sep = "";

	hn_buf_puts(buf, "Placeholder: ");
	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (s->dag->op[i]->kind == HN_OP_PLACEHOLDER) {
			hn_buf_puts(buf, sep);
			hn_buf_puts(buf, s->dag->op[i]->name);
			sep = ", ";
		}
	}
	hn_buf_putc(buf, '\n');
	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (s->dag->op[i]->kind == HN_OP_COMPUTE &&
		    s->stage[i]->at == HN_AT_ROOT) {
			print_stage(&p, (int32_t)i, 0);
		}
	}
}
