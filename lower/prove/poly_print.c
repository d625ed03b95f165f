/* lower/prove/poly_print.c -- the polyhedral model for people: one isl object a line,
 * re-readable. */
#include <isl/options.h>
#include <isl/printer.h>
#include <stdlib.h>

#include "lower/lower.h"
#include "lower/prove/poly.h"

const char *hn_poly_kind(const struct hn_poly_stmt *s)
{
	static const char *const name[] = { "compute", "init", "update" };

	return name[s->node->stmt];
}

void hn_poly_put_instance(const struct hn_poly *p, const struct hn_poly_stmt *s,
			  struct hn_buf *ret)
{
	const char *comma = "";

	hn_buf_printf(ret, "S%u[", s->id);
	for (uint32_t i = 0; i < s->n_loop; i++) {
		int32_t l = s->loop[i]->loop;

		for (uint32_t k = 0; k < p->radix[l].n_digit; k++, comma = ", ") {
			hn_buf_printf(ret, "%sl%d_%u", comma, l, k);
		}
	}
	hn_buf_putc(ret, ']');
}

static void print_map(const char *what, const char *op, isl_map *m, struct hn_buf *buf)
{
	char *text = isl_map_to_str(m);

	hn_buf_printf(buf, "  %s %s %s\n", what, op, text ? text : "(failed)");
	free(text);
}

static void print_stmt(const struct hn_poly *p, const struct hn_poly_stmt *s,
		       struct hn_buf *buf)
{
	const struct hn_dag *dag = p->tree->dag;
	isl_set *domain = isl_map_domain(isl_map_copy(s->write));
	char *text = isl_set_to_str(domain);

	hn_buf_printf(buf, "S%u %s %s\n  domain %s\n", s->id,
		      dag->op[s->node->stage]->name, hn_poly_kind(s),
		      text ? text : "(failed)");
	free(text);
	isl_set_free(domain);
	hn_buf_puts(buf, "  order");
	for (uint32_t i = 0; i < s->n_level; i++) {
		hn_buf_printf(buf, " %u", s->level[i].position);
		if (s->level[i].node->kind == HN_NODE_LOOP) {
			hn_buf_printf(buf, " l%d", s->level[i].node->loop);
		}
	}
	hn_buf_putc(buf, '\n');
	print_map("write", dag->op[s->node->stage]->name, s->write, buf);
	if (s->point) {
		print_map("point", dag->op[s->node->stage]->name, s->point, buf);
	}
	for (uint32_t k = 0; k < s->n_read; k++) {
		print_map("read", dag->op[s->read[k].op]->name, s->read[k].element, buf);
	}
}

void hn_poly_print_model(const struct hn_poly *p, struct hn_buf *ret)
{
	for (uint32_t i = 0; i < p->n_stmt; i++) {
		print_stmt(p, &p->stmt[i], ret);
	}
}

int hn_poly_print(const struct hn_looptree *t, struct hn_buf *buf, struct hn_err *err)
{
	isl_ctx *ctx = isl_ctx_alloc();
	struct hn_arena arena;
	struct hn_poly poly;
	int rc = 0;

	isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
	hn_arena_init(&arena, 0);
	hn_poly_build(t, ctx, &arena, &poly);
	if (poly.n_error) {
		rc = hn_fail(err, HONE_E_INTERNAL, "isl could not read the model: %s",
			     isl_ctx_last_error_msg(ctx));
	}
	if (rc == 0) {
		hn_poly_print_model(&poly, buf);
	}
	hn_poly_free(&poly);
	hn_arena_fini(&arena);
	isl_ctx_free(ctx);
	return rc;
}
