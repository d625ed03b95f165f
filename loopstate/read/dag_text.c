/* loopstate/read/dag_text.c -- the text notation: programs and parameters.
 *
 *   matmul(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }
 *
 * In the spirit of Tensor Comprehensions (Vasilache et al., 2018): indices on the left
 * are spatial, those only on the right are reduced, sizes are inferred.  The grammar is
 * in docs/dag.md.  Each statement becomes one op and is checked before the next is read
 * (dag_text_statement.c).
 */
#include <inttypes.h>
#include <string.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/read/dag_text_priv.h"

#define MAX_OUTPUTS HN_DAG_MAX_OPS

static void parse_shape(struct hn_text *t, struct hn_op *op)
{
	int64_t *shape = HN_NEW_ARRAY(t->a, int64_t, HN_DAG_MAX_RANK);
	const struct hn_expr **form =
		HN_NEW_ARRAY(t->a, const struct hn_expr *, HN_DAG_MAX_RANK);

	op->shape = shape;
	op->sizes = hn_text_sizes(t);
	op->extent = op->sizes != NULL ? form : NULL;
	if (!hn_text_take(t, "[")) {
		return;
	}
	while (t->rc == 0 && !hn_text_take(t, "]")) {
		if (op->n_dim > 0 && !hn_text_want(t, ",")) {
			return;
		}
		if (op->n_dim == HN_DAG_MAX_RANK) {
			hn_text_fail(t, &t->tok, "more than %d dimensions",
				     HN_DAG_MAX_RANK);
			return;
		}
		if (!hn_text_extent(t, &shape[op->n_dim], &form[op->n_dim])) {
			return;
		}
		op->n_dim++;
	}
}

static bool comes_later(const struct hn_text *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_later; i++) {
		if (strcmp(t->later[i], name) == 0) {
			return true;
		}
	}
	return false;
}

static void add_param(struct hn_text *t, const struct hn_op *op, bool constant,
		      const struct hn_token *at)
{
	if (t->n_param == HN_DAG_MAX_OPS) {
		hn_text_fail(t, at, "more than %d tensors", HN_DAG_MAX_OPS);
		return;
	}
	struct hn_text_param *p = &t->param[t->n_param];

	*p = (struct hn_text_param){ .op = op,
				     .constant = constant,
				     .later = comes_later(t, op->id),
				     .at = *at };
	for (uint32_t i = 0; i < t->n_param; i++) {
		if (strcmp(t->param[i].op->id, op->id) == 0) {
			p->later = false; /* said of the op: a duplicate */
		}
	}
	t->n_param++;
	if (!p->later) {
		p->placed = true;
		t->constant[t->n_op % HN_DAG_MAX_OPS] = constant;
		hn_text_add_op(t, op, at);
	}
}

/* [const] [dtype] NAME [ "[" n, ... "]" ]; a missing dtype repeats the one before.  Or NAME in
 * [least, largest], a size. */
static void parse_param(struct hn_text *t, enum hn_dtype *dtype)
{
	struct hn_op *op = HN_NEW(t->a, struct hn_op);
	uint8_t *own = HN_NEW(t->a, uint8_t);
	bool constant = hn_text_take(t, "const"), typed = constant;
	struct hn_token at = t->tok;

	if (at.kind == HN_TOKEN_NAME && hn_dtype_of(at.text) != HN_N_DTYPE) {
		*dtype = hn_dtype_of(at.text);
		typed = true;
		hn_text_next(t);
		at = t->tok;
	}
	op->id = hn_text_want_name(t, "a parameter");
	if (t->rc == 0 && hn_text_is(t, "in") && !typed) {
		hn_text_size(t, op->id, &at);
		return;
	}
	if (t->rc == 0 && t->tok.kind == HN_TOKEN_NAME) {
		hn_text_fail(t, &at, "unknown type '%s'%s", at.text,
			     hn_dag_known_types(at.text, t->a));
	}
	if (t->rc == 0 && *dtype == HN_N_DTYPE) {
		hn_text_fail(t, &at, "'%s' needs a type, e.g. float32", op->id);
	}
	parse_shape(t, op);
	if (t->rc != 0) {
		return;
	}
	*own = (uint8_t)*dtype;
	op->kind = HN_OP_PLACEHOLDER;
	op->name = op->id;
	op->tag = "";
	op->n_out = 1;
	op->dtype = own;
	add_param(t, op, constant, &at);
}

/* NAME, ... with or without parentheses; the count. */
static uint32_t parse_outputs(struct hn_text *t, struct hn_token *out)
{
	bool paren = hn_text_take(t, "(");
	uint32_t n = 0;

	do {
		out[n++] = t->tok;
		hn_text_want_name(t, "an output");
		if (n == MAX_OUTPUTS && hn_text_is(t, ",")) {
			hn_text_fail(t, &t->tok, "more than %d outputs", MAX_OUTPUTS);
		}
	} while (t->rc == 0 && hn_text_take(t, ","));
	if (paren) {
		hn_text_want(t, ")");
	}
	return n;
}

static void parse_params(struct hn_text *t)
{
	enum hn_dtype dtype = HN_N_DTYPE;

	if (!hn_text_want(t, "(") || hn_text_take(t, ")")) {
		return;
	}
	do {
		parse_param(t, &dtype);
	} while (t->rc == 0 && hn_text_take(t, ","));
	hn_text_want(t, ")");
}

/* The op and the output that a token of the program's outputs names. */
static int32_t find_output(struct hn_text *t, const struct hn_token *out, int32_t *ret_out)
{
	int32_t op = hn_text_tensor(t, out->text, ret_out);

	if (op < 0 || t->op[op]->kind == HN_OP_PLACEHOLDER) {
		hn_text_fail(t, out,
			     op < 0 ? "output '%s' is never computed" : "output '%s' is an input",
			     out->text);
	}
	return op;
}

static void find_args(struct hn_text *t, const struct hn_token *out, uint32_t n_out,
		      struct hn_dag *dag)
{
	int32_t *arg = HN_NEW_ARRAY(t->a, int32_t, t->n_param + n_out);

	dag->n_input = t->n_param;
	dag->n_arg = t->n_param + n_out;
	dag->arg = arg;
	for (uint32_t i = 0; i < t->n_param; i++) {
		int32_t ignored;

		if (!t->param[i].placed) {
			hn_text_fail(t, &t->param[i].at, "`input %s` does not come as a statement",
				     t->param[i].op->id);
			return;
		}
		arg[i] = hn_text_tensor(t, t->param[i].op->id, &ignored);
	}
	for (uint32_t i = 0; t->rc == 0 && i < n_out; i++) {
		int32_t part, n_before = 0, op = find_output(t, &out[i], &part);

		for (uint32_t j = 0; t->rc == 0 && j < i; j++) {
			n_before += arg[t->n_param + j] == op;
		}
		if (t->rc == 0 && t->op[op]->n_out > 1 && part != n_before) {
			hn_text_fail(t, &out[i],
				     "the outputs of a statement are listed together, as in it: "
				     "'%s' comes out of order",
				     out[i].text);
		}
		arg[t->n_param + i] = op;
	}
}

/* What `input NAME` says anywhere behind the first "{", before it is known what NAME is. */
static void look_ahead(struct hn_text *t)
{
	struct hn_text ahead = { .what = t->what, .s = t->s, .end = t->end, .a = t->a };
	bool input = false;

	ahead.s = memchr(ahead.s, '{', (size_t)(ahead.end - ahead.s));
	t->later = HN_NEW_ARRAY(t->a, const char *, HN_DAG_MAX_OPS);
	if (ahead.s == NULL || memmem(ahead.s, (size_t)(ahead.end - ahead.s), "input", 5) == NULL) {
		return;
	}
	for (hn_text_next(&ahead); ahead.rc == 0 && ahead.tok.kind != HN_TOKEN_END;
	     hn_text_next(&ahead)) {
		if (input && ahead.tok.kind == HN_TOKEN_NAME && t->n_later < HN_DAG_MAX_OPS) {
			t->later[t->n_later++] = ahead.tok.text;
		}
		input = hn_text_is(&ahead, "input");
	}
}

static void parse_program(struct hn_text *t, struct hn_dag *dag)
{
	struct hn_token *out = HN_NEW_ARRAY(t->a, struct hn_token, MAX_OUTPUTS);

	look_ahead(t);
	hn_text_next(t);
	hn_text_want_name(t, "the computation");
	parse_params(t);
	hn_text_want(t, "->");
	uint32_t n_out = t->rc == 0 ? parse_outputs(t, out) : 0;

	hn_text_want(t, "{");
	while (t->rc == 0 && !hn_text_take(t, "}")) {
		hn_text_statement(t);
	}
	if (t->rc == 0 && t->tok.kind != HN_TOKEN_END) {
		hn_text_fail(t, &t->tok, "expected the end, found '%s'", t->tok.text);
	}
	if (t->rc == 0) {
		find_args(t, out, n_out, dag);
	}
}

int hn_dag_from_text(const char *what, const char *text, size_t n, uint64_t max_bytes,
		     struct hn_arena *a, const struct hn_dag **ret, struct hn_err *err)
{
	struct hn_text *t = HN_NEW(a, struct hn_text);
	struct hn_dag *dag = HN_NEW(a, struct hn_dag);

	t->what = what;
	t->s = text;
	t->end = text + n;
	t->line = t->col = 1;
	t->a = a;
	t->err = err;
	t->max_bytes = max_bytes;
	if (n > HN_DAG_MAX_TEXT) {
		return hn_fail(err, HONE_E_QUOTA, "%s: %zu bytes of text, at most %d",
			       what, n, HN_DAG_MAX_TEXT);
	}
	parse_program(t, dag);
	if (t->rc != 0) {
		return t->rc;
	}
	dag->n_op = t->n_op;
	dag->sizes = hn_text_sizes(t);
	dag->op = t->op; /* the parser's state lives in the same arena */
	int rc = hn_dag_check_whole(what, dag, max_bytes, err);

	if (rc == 0) {
		*ret = dag;
	}
	return rc;
}
