/* loopstate/expr/expr_print.c -- expressions as people read them.
 *
 * C-like, with parentheses only where precedence needs them.  floordiv and floormod print
 * as calls, since C's / and % mean something else for negative numbers.
 */
#include <inttypes.h>

#include "loopstate/expr/expr.h"

struct infix {
	const char *sign; /* NULL: printed as a call */
	int level;	  /* binds tighter when higher */
};

static const struct infix infixes[HN_N_EXPR] = {
	[HN_EXPR_OR] = { "||", 1 },	 [HN_EXPR_AND] = { "&&", 2 },
	[HN_EXPR_EQ] = { "==", 3 },	 [HN_EXPR_NE] = { "!=", 3 },
	[HN_EXPR_LT] = { "<", 4 },	 [HN_EXPR_LE] = { "<=", 4 },
	[HN_EXPR_GT] = { ">", 4 },	 [HN_EXPR_GE] = { ">=", 4 },
	[HN_EXPR_ADD] = { "+", 5 },	 [HN_EXPR_SUB] = { "-", 5 },
	[HN_EXPR_MUL] = { "*", 6 },	 [HN_EXPR_DIV] = { "/", 6 },
	[HN_EXPR_TRUNCMOD] = { "%", 6 },
};

struct printer {
	const char *const *op_names; /* may be NULL */
	struct hn_buf *buf;
};

static void print(const struct printer *p, const struct hn_expr *e, int level);

static void print_list(const struct printer *p, const struct hn_expr *e, char open,
		       char close)
{
	hn_buf_putc(p->buf, open);
	for (uint32_t i = 0; i < e->n_arg; i++) {
		if (i > 0) {
			hn_buf_puts(p->buf, ", ");
		}
		print(p, e->arg[i], 0);
	}
	hn_buf_putc(p->buf, close);
}

static void print_var(const struct printer *p, const struct hn_expr *e)
{
	if (e->u.name != NULL) {
		hn_buf_puts(p->buf, e->u.name);
	} else {
		hn_buf_printf(p->buf, "v%" PRId32, e->ref);
	}
}

static void print_int(const struct printer *p, const struct hn_expr *e)
{
	if (e->dtype == HN_BOOL) {
		hn_buf_puts(p->buf, e->u.i ? "true" : "false");
	} else {
		hn_buf_printf(p->buf, "%" PRId64, e->u.i);
	}
}

static void print_load(const struct printer *p, const struct hn_expr *e)
{
	if (p->op_names != NULL) {
		hn_buf_puts(p->buf, p->op_names[e->ref]);
	} else {
		hn_buf_printf(p->buf, "T%" PRId32, e->ref);
	}
	if (e->out > 0) {
		hn_buf_printf(p->buf, ".v%" PRId32, e->out);
	}
	print_list(p, e, '[', ']');
}

static void print_infix(const struct printer *p, const struct hn_expr *e, int level)
{
	const struct infix *in = &infixes[e->op];

	if (in->level < level) {
		hn_buf_putc(p->buf, '(');
	}
	print(p, e->arg[0], in->level);
	hn_buf_printf(p->buf, " %s ", in->sign);
	print(p, e->arg[1], in->level + 1);
	if (in->level < level) {
		hn_buf_putc(p->buf, ')');
	}
}

static void print(const struct printer *p, const struct hn_expr *e, int level)
{
	if (infixes[e->op].sign != NULL) {
		print_infix(p, e, level);
		return;
	}
	switch (e->op) {
	case HN_EXPR_VAR:
		print_var(p, e);
		return;
	case HN_EXPR_INT:
		print_int(p, e);
		return;
	case HN_EXPR_FLOAT:
		hn_buf_double(p->buf, e->u.f);
		return;
	case HN_EXPR_LOAD:
		print_load(p, e);
		return;
	case HN_EXPR_NOT:
		hn_buf_putc(p->buf, '!');
		print(p, e->arg[0], 7);
		return;
	case HN_EXPR_CAST:
		hn_buf_puts(p->buf, hn_dtype_name(e->dtype));
		print_list(p, e, '(', ')');
		return;
	case HN_EXPR_CALL:
		hn_buf_puts(p->buf, hn_fn_name((enum hn_fn)e->ref));
		print_list(p, e, '(', ')');
		return;
	case HN_EXPR_LET:
		hn_buf_puts(p->buf, "let ");
		print_var(p, e);
		hn_buf_puts(p->buf, " = ");
		print(p, e->arg[0], 0);
		hn_buf_puts(p->buf, " in ");
		print(p, e->arg[1], 0);
		return;
	default: /* min, max, floordiv, floormod, select, if */
		hn_buf_puts(p->buf, hn_expr_op_name(e->op));
		print_list(p, e, '(', ')');
	}
}

void hn_expr_print(const struct hn_expr *e, const char *const *op_names,
		   struct hn_buf *buf)
{
	const struct printer p = { op_names, buf };

	print(&p, e, 0);
}
