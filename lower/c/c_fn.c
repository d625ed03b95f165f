/* lower/c/c_fn.c -- functions: what a body uses is declared in front of it.
 *
 * A parallel loop's body is a function of its own (hone_body_fn), which finds what it uses of the
 * function around in a struct.
 */
#include "lower/c/c_int.h"

struct c_fn *hn_c_fn_open(struct c *c, bool is_body)
{
	struct c_fn *f = HN_NEW(c->a, struct c_fn);
	uint32_t n_op = c->t->dag->n_op, n_loop = c->t->n_loop + 1;

	f->loop = HN_NEW_ARRAY(c->a, bool, n_loop);
	f->own_loop = HN_NEW_ARRAY(c->a, bool, n_loop);
	f->buffer = HN_NEW_ARRAY(c->a, bool, n_op);
	f->own_buffer = HN_NEW_ARRAY(c->a, bool, n_op);
	f->size = HN_NEW_ARRAY(c->a, bool, c_n_size(c) + 1);
	f->is_body = is_body;
	return f;
}

const char *hn_c_use_loop(struct c *c, int32_t loop)
{
	if (c->loop[loop] == NULL) {
		hn_c_refuse(c, "loop %d is used outside of it", loop);
		return "0";
	}
	c->fn->loop[loop] = c->fn->loop[loop] || !c->fn->own_loop[loop];
	return c->loop[loop];
}

const char *hn_c_use_size(struct c *c, uint32_t k)
{
	c->fn->size[k] = true;
	return c->size[k];
}

void hn_c_use_buffer(struct c *c, int32_t op)
{
	c->fn->buffer[op] = c->fn->buffer[op] || !c->fn->own_buffer[op];
}

static bool is_input(const struct c *c, uint32_t op)
{
	return c->t->dag->op[op]->kind == HN_OP_PLACEHOLDER;
}

/* -- what a function uses, one after the other --------------------------------------------- */

struct used {
	const char *type, *name; /* "const float *" */
	bool pointer;		 /* of one kind of element: no other points there */
	int32_t op;		 /* of a buffer; else -1 */
	int32_t size;
	uint32_t out;
};

static uint32_t list_used(struct c *c, const struct c_fn *f, struct used *ret)
{
	const struct hn_dag *dag = c->t->dag;
	uint32_t n = 0;

	for (uint32_t i = 0; i < dag->n_op; i++) {
		for (uint32_t k = 0; f->buffer[i] && k < dag->op[i]->n_out; k++) {
			const char *type = hn_dtype_c_name((enum hn_dtype)dag->op[i]->dtype[k]);

			ret[n++] = (struct used){ hn_arena_printf(c->a, "%s%s *",
								  is_input(c, i) ? "const " : "",
								  type),
						  c->buffer[i][k], true, (int32_t)i, -1, k };
		}
	}
	for (uint32_t i = 0; i < c->t->n_loop; i++) {
		if (f->loop[i]) {
			ret[n++] = (struct used){ "int64_t ", c->loop[i], false, -1, -1, 0 };
		}
	}
	for (uint32_t k = 0; k < c_n_size(c); k++) {
		if (f->size[k]) {
			ret[n++] = (struct used){ "int64_t ", c->size[k], false, -1, (int32_t)k,
						  0 };
		}
	}
	if (f->workers) {
		ret[n++] = (struct used){ "char *", "workers", false, -1, -1, 0 };
	}
	return n;
}

static struct used *room_for_used(struct c *c)
{
	uint32_t n = c->t->n_loop + c_n_size(c) + 1;

	for (uint32_t i = 0; i < c->t->dag->n_op; i++) {
		n += c->t->dag->op[i]->n_out;
	}
	return HN_NEW_ARRAY(c->a, struct used, n);
}

/* -- a parallel loop ------------------------------------------------------------------------ */

static void put_body(struct c *c, uint32_t number, const struct used *u, uint32_t n,
		     const struct c_fn *f, const struct hn_buf *loop)
{
	struct hn_buf *to = &c->functions;

	hn_buf_printf(to, "struct %s_shared%u {\n", c->symbol, number);
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_printf(to, "\t%s%s;\n", u[i].type, u[i].name);
	}
	hn_buf_printf(to,
		      "%s};\n\nstatic void %s_body%u(void *closure, int64_t begin, int64_t end, "
		      "int32_t worker)\n{\n\tconst struct %s_shared%u *k = closure;\n",
		      n == 0 ? "\tint nothing;\n" : "", c->symbol, number, c->symbol, number);
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_printf(to, "\t%s%s%s%s = k->%s;\n", u[i].pointer ? "" : "const ",
			      u[i].type, u[i].pointer ? "restrict " : "", u[i].name, u[i].name);
	}
	hn_buf_puts(to, "\n");
	if (!f->workers) {
		hn_buf_puts(to, "\t(void)worker;\n");
	}
	if (n == 0) {
		hn_buf_puts(to, "\t(void)k;\n");
	}
	hn_buf_add(to, loop->s, loop->n);
	hn_buf_puts(to, "}\n\n");
}

void hn_c_parallel(struct c *c, const struct hn_node *node)
{
	struct c_fn *outer = c->fn, *f = hn_c_fn_open(c, /* is_body= */ true);
	struct used *u = room_for_used(c);
	struct hn_buf body, *out = c->out;
	uint32_t indent = c->indent, number = ++c->n_body;

	hn_buf_init(&body);
	c->fn = f;
	c->out = &body;
	c->indent = 1;
	hn_c_loop(c, node, "begin", "end");
	c->fn = outer;
	c->out = out;
	c->indent = indent;

	uint32_t n = list_used(c, f, u);

	put_body(c, number, u, n, f, &body);
	hn_buf_fini(&body);
	hn_c_line(c, "{");
	hn_c_line(c, "\tstruct %s_shared%u k = {", c->symbol, number);
	for (uint32_t i = 0; i < n; i++) {
		hn_c_line(c, "\t\t.%s = %s,", u[i].name, u[i].name);
	}
	hn_c_line(c, n == 0 ? "\t\t0\n\t};" : "\t};");
	hn_c_line(c, "\thone_run(env, %s_body%u, &k, %lld);", c->symbol, number,
		  (long long)node->extent);
	hn_c_line(c, "}");
	for (uint32_t i = 0; i < c->t->dag->n_op; i++) {
		outer->buffer[i] = outer->buffer[i] || (f->buffer[i] && !outer->own_buffer[i]);
	}
	for (uint32_t i = 0; i < c->t->n_loop; i++) {
		outer->loop[i] = outer->loop[i] || (f->loop[i] && !outer->own_loop[i]);
	}
	for (uint32_t i = 0; i < c_n_size(c); i++) {
		outer->size[i] = outer->size[i] || f->size[i];
	}
	outer->workers = outer->workers || f->workers;
	outer->runs = true;
}

/* -- the nests at root ---------------------------------------------------------------------- */

/* Where the buffer is in a call. */
static const char *place_of(struct c *c, const struct used *u)
{
	const struct hn_placed *p = &c->places.at[u->op];
	const struct hn_dag *dag = c->t->dag;
	uint64_t offset = p->offset;

	if (p->place == HN_PLACE_ARG) {
		for (uint32_t i = 0; i < dag->n_arg; i++) {
			if (dag->arg[i] == u->op && hn_dag_arg_out(dag, i) == u->out) {
				return hn_arena_printf(c->a, "call->args[%u]", i);
			}
		}
		hn_bug(__FILE__, __LINE__, "argument");
	}
	for (uint32_t k = 0; k < u->out; k++) {
		offset += hn_place_bytes(c->t, (uint32_t)u->op, k);
	}
	return hn_arena_printf(c->a, "(void *)(call->%s + %llu)",
			       p->place == HN_PLACE_PREPARED ? "prepared" : "shared",
			       (unsigned long long)offset);
}

void hn_c_part(struct c *c, const char *name, bool prepared)
{
	const struct hn_node *root = c->t->root;
	struct used *u = room_for_used(c);
	struct hn_buf body, *to = &c->functions;

	hn_buf_init(&body);
	c->fn = hn_c_fn_open(c, /* is_body= */ false);
	c->out = &body;
	c->indent = 1;
	for (uint32_t i = 0; i < root->n_child; i++) {
		const struct hn_placed *p = &c->places.at[root->child[i]->stage];

		if ((p->place == HN_PLACE_PREPARED) == prepared) {
			hn_c_node(c, root->child[i], -1);
		}
	}
	uint32_t n = list_used(c, c->fn, u);

	hn_buf_printf(to, "static void %s_%s(const struct %s_call *call)\n{\n", c->symbol, name,
		      c->symbol);
	for (uint32_t i = 0; i < n; i++) {
		if (u[i].op >= 0) {
			hn_buf_printf(to, "\t%srestrict %s = %s;\n", u[i].type, u[i].name,
				      place_of(c, &u[i]));
		} else if (u[i].size >= 0) {
			hn_buf_printf(to, "\tconst int64_t %s = call->sizes[%d];\n", u[i].name,
				      u[i].size);
		}
	}
	if (c->fn->workers) {
		hn_buf_puts(to, "\tchar *const workers = call->workers;\n");
	}
	if (c->fn->runs) {
		hn_buf_puts(to, "\tconst struct hone_env *const env = call->env;\n");
	}
	hn_buf_puts(to, n > 0 || c->fn->runs ? "\n" : "\t(void)call;\n");
	hn_buf_add(to, body.s, body.n);
	hn_buf_puts(to, "}\n\n");
	hn_buf_fini(&body);
}
