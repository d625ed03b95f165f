/* lower/c/c_loop.c -- loops, and buffers that live in them; each nest under a line that says what it
 * computes. */
#include <string.h>

#include "loopstate/state/ann.h"
#include "lower/c/c_int.h"

#define MOST_COMMENT 200 /* bytes */
#define MOST_UNROLL 64

/* Text that cannot end the comment it stands in, on one line. */
static void put_safe(struct hn_buf *to, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool ends = s[i] == '*' && i + 1 < n && s[i + 1] == '/';
		bool begins = s[i] == '/' && i + 1 < n && s[i + 1] == '*';

		hn_buf_putc(to, (unsigned char)s[i] < ' ' || s[i] == '\\' ? '_' : s[i]);
		if (ends || begins) {
			hn_buf_putc(to, ' ');
		}
	}
}

static const char *sign_of(const struct hn_op *op)
{
	static const char *const sign[] = {
		[HN_COMBINE_NONE] = "=",     [HN_COMBINE_SUM] = "+=",
		[HN_COMBINE_PROD] = "*=",    [HN_COMBINE_MIN] = "min=",
		[HN_COMBINE_MAX] = "max=",   [HN_COMBINE_GENERAL] = "combine=",
	};

	return sign[op->reduce != NULL ? op->reduce->kind : HN_COMBINE_NONE];
}

/* "C(i, j) += A[i,k] * B[k,j]" */
static void say_stage(struct c *c, int32_t stage)
{
	const struct hn_op *op = c->t->dag->op[stage];
	const char **name = HN_NEW_ARRAY(c->a, const char *, c->t->dag->n_op);
	struct hn_buf text, safe;

	hn_buf_init(&text);
	hn_buf_init(&safe);
	for (uint32_t i = 0; i < c->t->dag->n_op; i++) {
		name[i] = c->t->dag->op[i]->id;
	}
	hn_buf_printf(&text, "%s(", op->id);
	for (uint32_t d = 0; d < op->n_spatial; d++) {
		hn_buf_printf(&text, "%s%s", d > 0 ? ", " : "", op->axis[d].name);
	}
	hn_buf_printf(&text, ") %s ", sign_of(op));
	hn_expr_print(op->reduce != NULL ? op->reduce->source[0] : op->body[0], name, &text);
	put_safe(&safe, text.s, text.n < MOST_COMMENT ? text.n : MOST_COMMENT);
	hn_c_line(c, "/* %s%s */", safe.s, text.n > MOST_COMMENT ? " ..." : "");
	hn_buf_fini(&text);
	hn_buf_fini(&safe);
}

/* Buffers that are made anew in each iteration of the loop. */
static void declare_locals(struct c *c, int32_t loop)
{
	for (uint32_t i = 0; i < c->t->dag->n_op; i++) {
		const struct hn_buffer *b = &c->t->buffer[i];
		uint64_t offset = c->places.at[i].offset;

		if (b->op < 0 || b->lifetime != HN_LIFETIME_LOOP || b->at_loop != loop) {
			continue;
		}
		c->fn->own_buffer[i] = true;
		for (uint32_t k = 0; k < c->t->dag->op[i]->n_out; k++) {
			enum hn_dtype t = (enum hn_dtype)c->t->dag->op[i]->dtype[k];
			uint64_t bytes = hn_place_bytes(c->t, i, k);
			const char *name = c->buffer[i][k], *type = hn_dtype_c_name(t);

			if (c->places.at[i].place == HN_PLACE_STACK) {
				hn_c_line(c, "_Alignas(64) %s %s[%llu];", type, name,
					  (unsigned long long)(bytes / hn_dtype_bytes(t)));
				continue;
			}
			c->fn->workers = true;
			if (c->fn->is_body) {
				hn_c_line(c,
					  "%s *restrict %s = (void *)(workers + (int64_t)worker * "
					  "%lld + %llu);",
					  type, name, (long long)c->places.worker_bytes,
					  (unsigned long long)offset);
			} else {
				hn_c_line(c, "%s *restrict %s = (void *)(workers + %llu);", type,
					  name, (unsigned long long)offset);
			}
			offset += bytes;
		}
	}
}

/* Lanes do the same at the same time: what one iteration writes no other touches. */
static bool is_lanes(const struct hn_node *n)
{
	return hn_ann_rows[n->ann].runs == HN_RUNS_LANES && n->iter_kind != HN_ITER_REDUCE &&
	       n->n_child == 1 && n->child[0]->kind == HN_NODE_STMT && n->child[0]->init == NULL;
}

static void say_pragma(struct c *c, const struct hn_node *n)
{
	if (is_lanes(n)) {
		hn_buf_puts(c->out, "#pragma GCC ivdep\n");
	} else if (n->ann == HN_ANN_UNROLL && n->extent <= MOST_UNROLL) {
		hn_buf_printf(c->out, "#pragma GCC unroll %lld\n", (long long)n->extent);
	}
}

/* Which axis the loop goes along, and who runs it. */
static const char *role_of(struct c *c, const struct hn_node *n)
{
	const char *sum = n->iter_kind == HN_ITER_REDUCE ? ", reduced" : "";
	const char *who = n->ann != HN_ANN_NONE ? hn_ann_keyword(n->ann) : "";
	struct hn_buf b;

	hn_buf_init(&b);
	put_safe(&b, n->name, strlen(n->name));
	const char *s = hn_arena_printf(c->a, "%s%s%s%s", b.s, sum, *who != '\0' ? ", " : "", who);

	hn_buf_fini(&b);
	return s;
}

static void children(struct c *c, const struct hn_node *n)
{
	for (uint32_t i = 0; i < n->n_child; i++) {
		hn_c_node(c, n->child[i], n->kind == HN_NODE_SEQ ? -1 : n->stage);
	}
}

/* The body of a loop whose variable has a name. */
static void loop_body(struct c *c, const struct hn_node *n)
{
	c->indent++;
	c->open[c->n_open++] = (uint32_t)n->loop;
	c->fn->own_loop[n->loop] = true;
	declare_locals(c, n->loop);
	children(c, n);
	c->n_open--;
	c->indent--;
}

void hn_c_loop(struct c *c, const struct hn_node *n, const char *from, const char *to)
{
	const char *v = hn_c_name(c, n->name);

	c->loop[n->loop] = v;
	say_pragma(c, n);
	hn_c_line(c, "for (int64_t %s = %s; %s < %s; %s++) { /* %s */", v, from, v, to, v,
		  role_of(c, n));
	loop_body(c, n);
	hn_c_line(c, "}");
}

/* "i++" */
static const char *advance(struct c *c, const char *v, int64_t step)
{
	return step == 1 ? hn_arena_printf(c->a, "%s++", v)
			 : hn_arena_printf(c->a, "%s += %lld", v, (long long)step);
}

void hn_c_loop_open(struct c *c, const struct hn_node *n, int64_t to, int64_t step)
{
	const char *v = hn_c_name(c, n->name);

	c->loop[n->loop] = v;
	c->open[c->n_open++] = (uint32_t)n->loop;
	c->fn->own_loop[n->loop] = true;
	c->span[n->loop].hi = to - step;
	hn_c_line(c, "for (int64_t %s = 0; %s < %lld; %s) { /* %s */", v, v, (long long)to,
		  advance(c, v, step), role_of(c, n));
	c->indent++;
}

void hn_c_part_open(struct c *c, const struct hn_node *n, const char *base, int64_t at,
		    int64_t count, int64_t step)
{
	const char *v = hn_c_name(c, n->name);
	const char *from = base ? base : hn_arena_printf(c->a, "%lld", (long long)at);
	const char *to = base ? hn_arena_printf(c->a, "%s + %lld", base, (long long)count)
			      : hn_arena_printf(c->a, "%lld", (long long)(at + count));

	c->loop[n->loop] = v;
	c->open[c->n_open++] = (uint32_t)n->loop;
	c->fn->own_loop[n->loop] = true;
	c->span[n->loop].hi = n->extent - 1;
	hn_c_line(c, "for (int64_t %s = %s; %s < %s; %s) { /* %s */", v, from, v, to,
		  advance(c, v, step), role_of(c, n));
	c->indent++;
}

void hn_c_loop_close(struct c *c, const struct hn_node *n)
{
	c->indent--;
	c->n_open--;
	c->span[n->loop].hi = n->extent - 1;
	hn_c_line(c, "}");
}

void hn_c_know(struct c *c, int32_t loop, bool looped, int64_t at)
{
	const struct hn_expr *k = hn_expr_int(at, HN_I32, c->a);

	c->known[loop] = looped ? hn_expr_binary(HN_EXPR_ADD, hn_expr_var(loop, HN_I32, NULL, c->a),
						 k, c->a)
				: k;
}

void hn_c_know_nothing(struct c *c, const struct hn_node *n)
{
	c->known[n->loop] = NULL;
}

static void once(struct c *c, const struct hn_node *n)
{
	bool scope = false;

	for (uint32_t i = 0; i < c->t->dag->n_op; i++) {
		const struct hn_buffer *b = &c->t->buffer[i];

		scope = scope || (b->op >= 0 && b->lifetime == HN_LIFETIME_LOOP &&
				  b->at_loop == n->loop);
	}
	if (scope) {
		hn_c_line(c, "{");
		c->indent++;
		declare_locals(c, n->loop);
	}
	children(c, n);
	if (scope) {
		c->indent--;
		hn_c_line(c, "}");
	}
}

void hn_c_node(struct c *c, const struct hn_node *n, int32_t stage_around)
{
	if (c->rc != 0) {
		return;
	}
	if (n->kind == HN_NODE_SEQ) {
		children(c, n);
		return;
	}
	if (n->stage != stage_around) {
		say_stage(c, n->stage);
	}
	if (hn_c_tile(c, n)) {
		return;
	}
	if (n->init != NULL) {
		hn_c_node(c, n->init, n->stage);
	}
	if (n->kind == HN_NODE_STMT) {
		hn_c_stmt(c, n);
	} else if (n->extent == 1) {
		once(c, n);
	} else if (hn_ann_rows[n->ann].runs == HN_RUNS_CORES && !c->fn->is_body) {
		hn_c_parallel(c, n);
	} else {
		hn_c_loop(c, n, "0", hn_arena_printf(c->a, "%lld", (long long)n->extent));
	}
}
