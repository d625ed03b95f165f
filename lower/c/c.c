/* lower/c/c.c -- the file from its head to its end.  See c.h. */
#include "lower/c/c.h"

#include "loopstate/dag/decided.h"
#include "loopstate/dag/liberty.h"
#include "loopstate/read/dag_read.h"
#include "lower/c/c_int.h"

/* Comments end at the first end of one, wherever it comes from. */
static void put_task(const struct c *c, struct hn_buf *ret)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_dag_write_text(c->t->state->root_dag, c->symbol, &text);
	hn_buf_puts(ret, " *     ");
	for (size_t i = 0; i < text.n; i++) {
		bool two = i + 1 < text.n;

		if (text.s[i] == '\n') {
			hn_buf_puts(ret, two ? "\n *     " : "");
			continue;
		}
		hn_buf_putc(ret, text.s[i]);
		if (two && ((text.s[i] == '*' && text.s[i + 1] == '/') ||
			    (text.s[i] == '/' && text.s[i + 1] == '*'))) {
			hn_buf_putc(ret, ' ');
		}
	}
	hn_buf_puts(ret, "\n");
	hn_buf_fini(&text);
}

/* Whether a product and a sum must be rounded each by itself somewhere in the file. */
static bool is_uncontracted(struct c *c)
{
	bool *decided = HN_NEW_ARRAY(c->a, bool, c->t->dag->n_op);
	bool any = (hn_dag_forbidden(c->t->dag) >> HN_LIBERTY_contraction & 1) != 0;

	hn_dag_decided(c->t->dag, decided);
	for (uint32_t i = 0; i < c->t->dag->n_op; i++) {
		const struct hn_op *op = c->t->dag->op[i];

		any = any || decided[i] || hn_dtype_is_narrow((enum hn_dtype)op->dtype[0]);
	}
	return any;
}

static void put_head(struct c *c, struct hn_buf *ret)
{
	hn_buf_printf(ret,
		      "/* %s.c: a kernel made by hone, as C.  %s.h declares it.\n *\n"
		      " *     cc -O3 -march=native -I. -c %s.c\n *\n",
		      c->symbol, c->symbol, c->symbol);
	put_task(c, ret);
	hn_buf_puts(ret,
		    " */\n#include <float.h>\n#include <math.h>\n#include <stddef.h>\n"
		    "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n\n");
	hn_buf_printf(ret, "#include \"%s.h\"\n\n", c->symbol);
	hn_buf_puts(ret, "#if FLT_EVAL_METHOD != 0 || defined(__FAST_MATH__)\n"
			 "#error \"the numbers would be others: compile without -ffast-math, for a "
			 "processor that rounds each operation\"\n#endif\n");
	if (is_uncontracted(c)) {
		hn_buf_puts(ret,
			    "/* A product is rounded before it is added to anything. */\n"
			    "#if defined(__GNUC__) && !defined(__clang__)\n"
			    "#pragma GCC optimize(\"fp-contract=off\")\n#else\n"
			    "#pragma STDC FP_CONTRACT OFF\n#endif\n");
	}
	hn_buf_puts(ret,
		    "#if defined(__GNUC__) && !defined(__clang__)\n"
		    "/* GCC 12 may take the wrong side of a condition in vectors of AVX-512. */\n"
		    "#pragma GCC optimize(\"no-unswitch-loops\")\n#endif\n\n");
}

static void put_tools(struct c *c, bool runs, struct hn_buf *ret)
{
	for (uint32_t i = 0; i < c->n_helper; i++) {
		hn_buf_printf(ret, "%s\n", c->helper[i].text);
	}
	if (runs) {
		hn_buf_puts(ret,
			    "/* The iterations [0, n), by env's threads where it has some. */\n"
			    "static void hone_run(const struct hone_env *env, hone_body_fn body, "
			    "void *closure, int64_t n)\n{\n"
			    "\tif (env != NULL && env->parallel_for != NULL) {\n"
			    "\t\tenv->parallel_for(env->ctx, body, closure, n);\n"
			    "\t} else {\n\t\tbody(closure, 0, n, 0);\n\t}\n}\n\n");
	}
	hn_buf_printf(ret,
		      "/* What a call was given, and its scratch memory. */\nstruct %s_call {\n"
		      "\tvoid *const *args;\n\tconst struct hone_env *env;\n"
		      "\tchar *shared, *workers, *prepared;\n%s};\n\n",
		      c->symbol, c_n_size(c) > 0 ? "\tconst int64_t *sizes;\n" : "");
}

static void find_spans(struct c *c, const struct hn_node *n)
{
	if (n->init != NULL) {
		find_spans(c, n->init);
	}
	if (n->kind == HN_NODE_LOOP) {
		c->span[n->loop] = (struct hn_span){ 0, n->extent - 1 };
		if (n->extent == 1) {
			c->known[n->loop] = hn_expr_int(0, HN_I32, c->a);
		}
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		find_spans(c, n->child[i]);
	}
}

static void open_names(struct c *c)
{
	uint32_t n_loop = c->t->n_loop + 1;

	c->loop = HN_NEW_ARRAY(c->a, const char *, n_loop);
	c->open = HN_NEW_ARRAY(c->a, uint32_t, n_loop);
	c->span = HN_NEW_ARRAY(c->a, struct hn_span, n_loop);
	c->known = HN_NEW_ARRAY(c->a, const struct hn_expr *, n_loop);
	c->buffer = HN_NEW_ARRAY(c->a, const char **, c->t->dag->n_op);
	c->size = HN_NEW_ARRAY(c->a, const char *, c_n_size(c) + 1);
	hn_c_name_all(c);
	find_spans(c, c->t->root);
}

int hn_c_source(const struct hn_looptree *t, const struct hn_target *target, const char *symbol,
		const struct hn_artefact *made, struct hn_buf *ret, struct hn_err *err)
{
	struct hn_arena a;
	struct c c = { .t = t, .target = target, .symbol = symbol, .a = &a, .err = err };

	hn_arena_init(&a, 0);
	hn_buf_init(&c.functions);
	c.rc = hn_places_find(t, /* prepares= */ true, &a, &c.places, err);
	if (c.rc == 0) {
		open_names(&c);
		if (c.places.prepared_bytes > 0) {
			hn_c_part(&c, "prep", /* prepared= */ true);
		}
		hn_c_part(&c, "main", /* prepared= */ false);
	}
	if (c.rc == 0) {
		put_head(&c, ret);
		put_tools(&c, c.n_body > 0, ret);
		hn_buf_add(ret, c.functions.s, c.functions.n);
		hn_c_entries(&c, made, ret);
	}
	if (c.rc == 0 && (ret->failed || c.functions.failed)) {
		c.rc = hn_fail(err, HONE_E_NOMEM, "no memory for C source");
	}
	hn_buf_fini(&c.functions);
	hn_arena_fini(&a);
	return c.rc;
}
