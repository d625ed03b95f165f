/* lower/prove/poly_show.c -- the parts of `hone poly`.  See poly_show.h. */
#include "lower/prove/poly_show.h"

#include <isl/options.h>
#include <isl/printer.h>
#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"
#include "lower/prove/equal.h"
#include "lower/prove/poly_ast.h"
#include "lower/prove/poly_tree.h"
#include "lower/prove/poly_why.h"
#include "lower/prove/watchdog.h"

/* One part's work; `deps` is built, errors stay in its ctx. */
typedef void (*part_fn)(struct hn_deps *d, struct hn_buf *ret);

static void show_statements(struct hn_deps *d, struct hn_buf *ret)
{
	hn_poly_print_model(&d->poly, ret);
}

static void show_dependences(struct hn_deps *d, struct hn_buf *ret)
{
	for (uint32_t c = 0; c < HN_N_DEP; c++) {
		char *text = isl_union_map_to_str(d->dep[c]);

		hn_buf_printf(ret, "%s %s\n", hn_dep_class_name(c), text ? text : "");
		free(text);
	}
}

static void show_schedule(struct hn_deps *d, struct hn_buf *ret)
{
	isl_schedule *tree = hn_poly_tree(&d->poly);
	isl_printer *p = isl_printer_to_str(d->poly.ctx);
	char *text;

	p = isl_printer_set_yaml_style(p, ISL_YAML_STYLE_BLOCK);
	p = isl_printer_print_schedule(p, tree);
	text = isl_printer_get_str(p);
	hn_buf_puts(ret, text ? text : "");
	free(text);
	isl_printer_free(p);
	isl_schedule_free(tree);
}

static void show_ast(struct hn_deps *d, struct hn_buf *ret)
{
	isl_schedule *tree = hn_poly_tree(&d->poly);
	isl_ast_node *ast = hn_poly_ast(&d->poly, tree);
	char *text = isl_ast_node_to_C_str(ast);

	hn_buf_puts(ret, text ? text : "");
	free(text);
	isl_ast_node_free(ast);
	isl_schedule_free(tree);
}

static void show_broken(struct hn_deps *d, struct hn_buf *ret)
{
	(void)hn_poly_why(d, ret);
}

/* The part in an isl of its own, and if it failed, in what way. */
static void show_part(const struct hn_looptree *t, int64_t limit_ms, part_fn show,
		      struct hn_buf *ret)
{
	isl_ctx *ctx = isl_ctx_alloc();
	struct hn_watchdog *dog = hn_watchdog_start(ctx, limit_ms);
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct hn_deps d;

	isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
	hn_arena_init(&a, 0);
	if (hn_deps_of_tree(t, ctx, &a, &d, &err) == 0) {
		show(&d, ret);
	}
	hn_watchdog_stop(dog);
	if (hn_deps_failure(ctx, "isl", &err) != 0) {
		hn_buf_printf(ret, "(%s)\n", err.msg);
	}
	hn_deps_free(&d);
	hn_arena_fini(&a);
	isl_ctx_free(ctx);
}

static void show_legality(const struct hn_looptree *t, int64_t limit_ms,
			  struct hn_buf *ret)
{
	struct hn_err err = { 0 };
	struct hn_equal equal;
	struct hn_arena a;
	enum hn_verdict v;

	hn_arena_init(&a, 0);
	v = hn_legal_show(t, limit_ms, &a, &equal, &err);
	if (v == HN_VERDICT_OK) {
		hn_buf_puts(ret, "legal\n");
		hn_equal_print(&equal, ret);
	}
	hn_arena_fini(&a);
	if (v == HN_VERDICT_OK) {
		return;
	}
	hn_buf_printf(ret, "%s: %s\n", hn_verdict_name(v), err.msg);
	if (v == HN_VERDICT_ILLEGAL) {
		show_part(t, limit_ms, show_broken, ret);
	}
}

int hn_poly_show(const struct hn_looptree *t, const char *part, int64_t limit_ms,
		 struct hn_buf *ret, struct hn_err *err)
{
	static const struct {
		const char *name;
		part_fn show; /* NULL: legality, which has an isl of its own */
	} parts[] = { { "statements", show_statements },
		      { "dependences", show_dependences },
		      { "schedule", show_schedule },
		      { "ast", show_ast },
		      { "legality", NULL } };
	bool all = strcmp(part, "all") == 0, any = false;

	for (size_t i = 0; i < HN_COUNT_OF(parts); i++) {
		if (!all && strcmp(part, parts[i].name) != 0) {
			continue;
		}
		if (all) {
			hn_buf_printf(ret, "%s%s:\n", any ? "\n" : "", parts[i].name);
		}
		any = true;
		if (parts[i].show) {
			show_part(t, limit_ms, parts[i].show, ret);
		} else {
			show_legality(t, limit_ms, ret);
		}
	}
	return any ? 0
		   : hn_fail(err, HONE_E_INVALID,
			     "no part \"%.40s\": all, statements, dependences, schedule, "
			     "ast, "
			     "legality",
			     part);
}
