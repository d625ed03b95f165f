/* loopstate/nest/looptree_text.c -- a loop tree for people.
 *
 *   shared pad [1, 34, 34, 64]
 *   parallel h.0 (8)                        loop id 12
 *     local T [4, 16] at min [h.0 * 4, 0]
 *     ...
 *
 * Two loops may bear one name; the number behind `#` is the loop id that expressions
 * mean. */
#include "loopstate/nest/looptree.h"

#include "loopstate/dag/size.h"

#include "base/buf.h"
#include "loopstate/state/intrin.h"

struct text {
	const struct hn_looptree *t;
	const char **op_name;
	const char **loop_name; /* [n_loop] "i.0#3" */
	struct hn_arena *a;
	struct hn_buf *buf;
};

static const char *const lifetime_name[] = {
	[HN_LIFETIME_ARG] = "arg", [HN_LIFETIME_KERNEL] = "shared", [HN_LIFETIME_LOOP] = "local"
};

static void indent(const struct text *x, uint32_t depth)
{
	for (uint32_t k = 0; k < depth; k++) {
		hn_buf_puts(x->buf, "  ");
	}
}

static const struct hn_expr *name_map(const struct hn_expr *e, void *ctx,
				      struct hn_arena *a)
{
	const struct text *x = ctx;
	bool loop = e->op == HN_EXPR_VAR && e->ref >= 0 &&
		    (uint32_t)e->ref < x->t->n_loop && x->loop_name[e->ref] != NULL;

	return loop ? hn_expr_var(e->ref, e->dtype, x->loop_name[e->ref], a) : e;
}

static void print_expr(struct text *x, const struct hn_expr *e)
{
	hn_expr_print(hn_expr_map(e, name_map, x, x->a), x->op_name, x->buf);
}

/* A body in op space, its axes replaced by the statement's loop expressions. */
static void print_body(struct text *x, const struct hn_node *n, const struct hn_expr *e)
{
	const struct hn_op *op = x->t->dag->op[n->stage];

	print_expr(x, hn_expr_substitute(e, n->axis, op->n_spatial + op->n_reduce, x->a));
}

static void print_target(struct text *x, const struct hn_node *n)
{
	const struct hn_op *op = x->t->dag->op[n->stage];

	hn_buf_printf(x->buf, "%s[", op->name);
	for (uint32_t d = 0; d < op->n_dim; d++) {
		hn_buf_puts(x->buf, d == 0 ? "" : ", ");
		print_expr(x, n->axis[d]);
	}
	hn_buf_puts(x->buf, "]");
}

static const char *combine_text(enum hn_combiner kind)
{
	static const char *const text[] = {
		[HN_COMBINE_NONE] = "=",   [HN_COMBINE_SUM] = "+=",
		[HN_COMBINE_PROD] = "*=",  [HN_COMBINE_MIN] = "min=",
		[HN_COMBINE_MAX] = "max=", [HN_COMBINE_GENERAL] = "combine=",
	};

	return text[kind];
}

static void print_values(struct text *x, const struct hn_node *n)
{
	const struct hn_op *op = x->t->dag->op[n->stage];
	uint32_t n_value = op->reduce != NULL ? op->reduce->n : op->n_out;

	for (uint32_t k = 0; k < n_value; k++) {
		hn_buf_puts(x->buf, k == 0 ? " " : ", ");
		if (n->stmt == HN_STMT_COMPUTE) {
			print_body(x, n, op->body[k]);
		} else if (n->stmt == HN_STMT_INIT) {
			print_expr(x, op->reduce->identity[k]);
		} else {
			print_body(x, n, op->reduce->source[k]);
		}
	}
	if (n->stmt == HN_STMT_UPDATE && op->reduce->condition != NULL) {
		hn_buf_puts(x->buf, " where ");
		print_body(x, n, op->reduce->condition);
	}
}

static void print_stmt(struct text *x, const struct hn_node *n, uint32_t depth)
{
	const struct hn_op *op = x->t->dag->op[n->stage];

	for (uint32_t k = 0; k < n->n_guard; k++) {
		indent(x, depth + k);
		hn_buf_puts(x->buf, "if ");
		print_expr(x, n->guard[k]);
		hn_buf_putc(x->buf, '\n');
	}
	indent(x, depth + n->n_guard);
	print_target(x, n);
	hn_buf_printf(x->buf, " %s",
		      n->stmt == HN_STMT_UPDATE ? combine_text(op->reduce->kind) : "=");
	print_values(x, n);
	hn_buf_putc(x->buf, '\n');
}

static void print_buffer(struct text *x, const struct hn_buffer *b, uint32_t depth)
{
	indent(x, depth);
	hn_buf_printf(x->buf, "%s %s [",
		      x->t->prepared[b->op] ? "prepared" : lifetime_name[b->lifetime],
		      x->op_name[b->op]);
	for (uint32_t d = 0; d < b->n_dim; d++) {
		const struct hn_expr *form = b->lifetime == HN_LIFETIME_ARG
						     ? hn_op_extent(x->t->dag->op[b->op], d)
						     : NULL;

		hn_buf_puts(x->buf, d == 0 ? "" : ", ");
		if (form) {
			print_expr(x, form);
		} else {
			hn_buf_printf(x->buf, "%lld", (long long)b->extent[d]);
		}
	}
	hn_buf_puts(x->buf, "]");
	for (uint32_t d = 0; d < b->n_dim && b->lifetime == HN_LIFETIME_LOOP; d++) {
		hn_buf_puts(x->buf, d == 0 ? " from [" : ", ");
		print_expr(x, b->min[d]);
		hn_buf_puts(x->buf, d + 1 == b->n_dim ? "]" : "");
	}
	if (b->ring > 1) {
		hn_buf_printf(x->buf, " x %d", b->ring);
	}
	if (b->swizzle.bits > 0) {
		hn_buf_printf(x->buf, " chunks of %d xor dim %d / %d %% %d", 1 << b->swizzle.unit,
			      b->swizzle.row_dim, 1 << b->swizzle.shift, 1 << b->swizzle.bits);
	}
	hn_buf_putc(x->buf, '\n');
}

static void print_ahead(const struct text *x, const struct hn_node *n)
{
	for (uint32_t k = 0; k < n->n_child; k++) {
		if (n->child[k]->ahead != 0) {
			hn_buf_printf(x->buf, " %s %d ahead", x->op_name[n->child[k]->stage],
				      n->child[k]->ahead);
		}
	}
}

static void print_node(struct text *x, const struct hn_node *n, uint32_t depth)
{
	if (n->init != NULL) {
		print_node(x, n->init, depth);
	}
	if (n->kind == HN_NODE_STMT) {
		print_stmt(x, n, depth);
		return;
	}
	if (n->kind == HN_NODE_LOOP) {
		indent(x, depth++);
		hn_buf_printf(x->buf, "%s %s#%d (%lld)", hn_ann_keyword(n->ann), n->name,
			      n->loop, (long long)n->extent);
		if (n->unroll_max_step > 0) {
			hn_buf_printf(x->buf, " auto_unroll %d", n->unroll_max_step);
		}
		for (uint32_t i = 0; i < n->n_prefetch; i++) {
			hn_buf_printf(x->buf, " prefetch %s %d ahead",
				      x->op_name[n->prefetch[i].operand],
				      n->prefetch[i].distance);
		}
		if (n->intrin != NULL) {
			hn_buf_printf(x->buf, " by %s", n->intrin->name);
			if (hn_intrin_n_dim(n->intrin) > 1) {
				hn_buf_printf(x->buf, " (%s)%s",
					      hn_intrin_dim_name((enum hn_intrin_dim)n->intrin_dim),
					      n->held ? " held" : "");
			}
		}
		print_ahead(x, n);
		hn_buf_putc(x->buf, '\n');
		for (uint32_t i = 0; i < x->t->bounds->n_stage; i++) {
			const struct hn_buffer *b = &x->t->buffer[i];

			if (b->op >= 0 && b->lifetime == HN_LIFETIME_LOOP &&
			    b->at_loop == n->loop) {
				print_buffer(x, b, depth);
			}
		}
	}
	for (uint32_t k = 0; k < n->n_child; k++) {
		print_node(x, n->child[k], depth);
	}
}

static void name_loops(struct text *x, const struct hn_node *n)
{
	if (n->kind == HN_NODE_LOOP) {
		x->loop_name[n->loop] = hn_arena_printf(x->a, "%s#%d", n->name, n->loop);
	}
	if (n->init != NULL) {
		name_loops(x, n->init);
	}
	for (uint32_t k = 0; k < n->n_child; k++) {
		name_loops(x, n->child[k]);
	}
}

void hn_looptree_print(const struct hn_looptree *t, struct hn_buf *buf)
{
	struct hn_arena a;

	hn_arena_init(&a, /* budget_bytes= */ 0);
	struct text x = { .t = t,
			  .op_name = HN_NEW_ARRAY(&a, const char *, t->dag->n_op),
			  .loop_name = HN_NEW_ARRAY(&a, const char *, t->n_loop),
			  .a = &a,
			  .buf = buf };

	for (uint32_t i = 0; i < t->dag->n_op; i++) {
		x.op_name[i] = t->dag->op[i]->name;
	}
	name_loops(&x, t->root);
	for (uint32_t i = 0; i < t->dag->n_op; i++) {
		if (t->buffer[i].op >= 0 && t->buffer[i].lifetime != HN_LIFETIME_LOOP) {
			print_buffer(&x, &t->buffer[i], /* depth= */ 0);
		}
	}
	print_node(&x, t->root, /* depth= */ 0);
	hn_arena_fini(&a);
}
