/* loopstate/dag_text.c -- the text notation: programs, parameters, statements.
 *
 *   matmul(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }
 *
 * In the spirit of Tensor Comprehensions (Vasilache et al., 2018): indices on the left
 * are spatial, those only on the right are reduced, sizes are inferred.  The grammar is
 * in docs/dag.md.  Each statement becomes one op and is checked before the next is read.
 */
#include <float.h>
#include <inttypes.h>
#include <string.h>

#include "loopstate/dag_text_priv.h"

#define MAX_OUTPUTS 64

struct reduce_row {
	const char *name, *sign; /* "max" "=!": max=! */
	enum hn_expr_op op;
	enum hn_combiner kind;
};

static const struct reduce_row reductions[] = {
	{ NULL, "+=!", HN_EXPR_ADD, HN_COMBINE_SUM },
	{ NULL, "*=!", HN_EXPR_MUL, HN_COMBINE_PROD },
	{ "max", "=!", HN_EXPR_MAX, HN_COMBINE_MAX },
	{ "min", "=!", HN_EXPR_MIN, HN_COMBINE_MIN },
};

static int64_t int_extreme(enum hn_dtype t, bool lowest)
{
	uint32_t bits = 8 * hn_dtype_bytes(t);

	if (hn_dtype_class(t) == HN_CLASS_UNSIGNED) {
		return lowest ? 0 : (int64_t)(UINT64_MAX >> (64 - bits));
	}
	int64_t highest = (int64_t)(((uint64_t)1 << (bits - 1)) - 1);

	return lowest ? -highest - 1 : highest;
}

/* What a reduction starts from. */
static const struct hn_expr *identity(enum hn_combiner kind, enum hn_dtype t,
				      struct hn_arena *a)
{
	bool real = hn_dtype_class(t) == HN_CLASS_FLOAT, extreme = kind >= HN_COMBINE_MIN;
	bool lowest = kind == HN_COMBINE_MAX;
	int64_t v = kind == HN_COMBINE_PROD;
	double top = t == HN_F32 ? (double)FLT_MAX : DBL_MAX;

	if (real) {
		return hn_expr_float(!extreme ? (double)v : lowest ? -top : top, t, a);
	}
	return hn_expr_int(extreme ? int_extreme(t, lowest) : v, t, a);
}

static const struct hn_reduce *
make_reduce(struct hn_text *t, const struct reduce_row *row, const struct hn_expr *source)
{
	static const char *const lhs[] = { "x" }, *const rhs[] = { "y" };
	struct hn_reduce *r = HN_NEW(t->a, struct hn_reduce);
	const struct hn_expr **e = HN_NEW_ARRAY(t->a, const struct hn_expr *, 3);
	const struct hn_expr *arg[2] = {
		hn_expr_var(HN_SLOT_LHS, source->dtype, lhs[0], t->a),
		hn_expr_var(HN_SLOT_RHS, source->dtype, rhs[0], t->a),
	};
	const struct hn_expr like = { .op = (uint8_t)row->op, .dtype = source->dtype };

	e[0] = hn_expr_with_args(&like, arg, 2, t->a);
	e[1] = identity(row->kind, source->dtype, t->a);
	e[2] = source;
	*r = (struct hn_reduce){ .kind = row->kind,
				 .n = 1,
				 .result = &e[0],
				 .identity = &e[1],
				 .source = &e[2],
				 .lhs = lhs,
				 .rhs = rhs };
	return r;
}

static bool known_tensor(const struct hn_text *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_op; i++) {
		if (strcmp(t->op[i]->id, name) == 0) {
			return true;
		}
	}
	return false;
}

/* Add op, checked as if at token `at`. */
static void add_op(struct hn_text *t, const struct hn_op *op, const struct hn_token *at)
{
	if (t->rc != 0) {
		return;
	}
	if (t->n_op == HN_DAG_MAX_OPS) {
		hn_text_fail(t, at, "more than %d tensors", HN_DAG_MAX_OPS);
		return;
	}
	const char *place = hn_arena_printf(t->a, "%s:%" PRIu32 ":%" PRIu32, t->what,
					    at->line, at->col);

	t->op[t->n_op++] = op;
	t->rc = hn_dag_check_op(place, t->op, t->n_op - 1, t->max_bytes, t->err);
}

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
		hn_text_fail(t, &at, "unknown type '%s'", at.text);
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
	t->constant[t->n_op % HN_DAG_MAX_OPS] = constant;
	add_op(t, op, &at);
}

/* Weights given as `const` may be laid out anew by whoever reads them. */
static void note_constants(struct hn_text *t, struct hn_op *op)
{
	const char **item = HN_NEW_ARRAY(t->a, const char *, t->n_load + 1);
	struct hn_attr *attr = HN_NEW(t->a, struct hn_attr);
	bool seen[HN_DAG_MAX_OPS] = { false };
	struct hn_buf json;

	hn_buf_init(&json);
	for (uint32_t k = 0; k < t->n_load; k++) {
		int32_t p = t->load[k].e->ref;

		if (t->constant[p] && !seen[p]) {
			seen[p] = true;
			hn_buf_puts(&json, attr->n_item > 0 ? "," : "[");
			hn_buf_json_string(&json, t->op[p]->id);
			item[attr->n_item++] = t->op[p]->id;
		}
	}
	if (attr->n_item > 0) {
		hn_buf_putc(&json, ']');
		attr->name = "layout_free_placeholders";
		attr->json = hn_arena_strdup(t->a, json.s);
		attr->item = item;
		op->n_attr = 1;
		op->attr = attr;
	}
	hn_buf_fini(&json);
}

/* NAME [ "(" index, ... ")" ] */
static void parse_left(struct hn_text *t)
{
	struct hn_token at = t->tok;

	t->target = hn_text_want_name(t, "a tensor");
	if (t->rc == 0 && known_tensor(t, t->target)) {
		hn_text_fail(t, &at, "'%s' is defined already", t->target);
	}
	if (!hn_text_take(t, "(")) {
		return;
	}
	while (t->rc == 0 && !hn_text_take(t, ")")) {
		if (t->n_index > 0 && !hn_text_want(t, ",")) {
			return;
		}
		struct hn_token name = t->tok;
		const char *s = hn_text_want_name(t, "an index");

		if (s == NULL) {
			return;
		}
		if (known_tensor(t, s)) {
			hn_text_fail(t, &name, "'%s' is a tensor, an index is needed", s);
		}
		for (uint32_t k = 0; k < t->sizes.n; k++) {
			if (strcmp(t->size[k].name, s) == 0) {
				hn_text_fail(t, &name, "'%s' is a size, an index is needed",
					     s);
			}
		}
		for (uint32_t i = 0; i < t->n_index; i++) {
			if (strcmp(t->index[i].name, s) == 0) {
				hn_text_fail(t, &name, "index '%s' is on the left twice",
					     s);
			}
		}
		if (t->n_index == HN_DAG_MAX_RANK) {
			hn_text_fail(t, &name, "more than %d dimensions",
				     HN_DAG_MAX_RANK);
			return;
		}
		t->index[t->n_index++] = (struct hn_text_index){ .name = s, .at = name };
	}
}

/* The reduction the statement's sign stands for; NULL for "=". */
static const struct reduce_row *parse_sign(struct hn_text *t)
{
	struct hn_token at = t->tok;

	for (size_t i = 0; i < HN_COUNT_OF(reductions); i++) {
		const struct reduce_row *row = &reductions[i];

		if (hn_text_is(t, row->name != NULL ? row->name : row->sign)) {
			hn_text_next(t);
			if (row->name != NULL) {
				hn_text_want(t, row->sign);
			}
			return row;
		}
	}
	if (hn_text_is(t, "+=") || hn_text_is(t, "*=")) {
		hn_text_fail(
			t, &at,
			"'%s' would add to an old value; write '%s!', which starts from "
			"nothing",
			at.text, at.text);
	}
	hn_text_want(t, "=");
	return NULL;
}

static bool parse_bound(struct hn_text *t, int64_t *ret)
{
	bool minus = hn_text_take(t, "-");

	if (t->rc != 0 || t->tok.kind != HN_TOKEN_INT) {
		hn_text_fail(t, &t->tok, "expected a whole number, found '%s'",
			     t->tok.text);
		return false;
	}
	*ret = minus ? -t->tok.i : t->tok.i;
	hn_text_next(t);
	return true;
}

/* The end of a range that begins at lo: a number, or a form over sizes. */
static bool parse_end(struct hn_text *t, int64_t lo, int64_t *ret,
		      const struct hn_expr **ret_form)
{
	*ret_form = NULL;
	if (t->sizes.n == 0 || hn_text_is(t, "-")) {
		return parse_bound(t, ret);
	}
	if (!hn_text_extent(t, ret, ret_form)) {
		return false;
	}
	if (*ret_form != NULL && lo != 0) {
		hn_text_fail(t, &t->tok, "a range up to a size begins at 0");
		return false;
	}
	return true;
}

/* where i in 0:n, j in ... */
static void parse_where(struct hn_text *t)
{
	if (!hn_text_take(t, "where")) {
		return;
	}
	do {
		struct hn_token at = t->tok;
		const char *name = hn_text_want_name(t, "an index");
		const struct hn_expr *form;
		int64_t lo, hi;
		uint32_t i = 0;

		if (name == NULL || !hn_text_want(t, "in") || !parse_bound(t, &lo) ||
		    !hn_text_want(t, ":") || !parse_end(t, lo, &hi, &form)) {
			return;
		}
		while (i < t->n_index && strcmp(t->index[i].name, name) != 0) {
			i++;
		}
		if (i == t->n_index) {
			hn_text_fail(t, &at, "'%s' is no index of this statement", name);
		} else if (hi <= lo || lo < -((int64_t)1 << 60) ||
			   hi > (int64_t)1 << 60) {
			hn_text_fail(t, &at, "the range of '%s' is empty or too large",
				     name);
		} else if (t->index[i].stated) {
			hn_text_fail(t, &at, "the range of '%s' is stated twice", name);
		} else {
			t->index[i].min = lo;
			t->index[i].extent = hi - lo;
			t->index[i].form = form;
			t->index[i].stated = true;
		}
	} while (t->rc == 0 && hn_text_take(t, ","));
}

static struct hn_op *make_op(struct hn_text *t, const struct reduce_row *row,
			     const struct hn_expr *value)
{
	struct hn_op *op = HN_NEW(t->a, struct hn_op);
	uint8_t *dtype = HN_NEW(t->a, uint8_t);
	int64_t *shape = HN_NEW_ARRAY(t->a, int64_t, t->n_spatial);
	struct hn_axis *axis = HN_NEW_ARRAY(t->a, struct hn_axis, t->n_index);
	const struct hn_expr **body = HN_NEW(t->a, const struct hn_expr *);
	const struct hn_expr **form =
		HN_NEW_ARRAY(t->a, const struct hn_expr *, t->n_index);

	for (uint32_t i = 0; i < t->n_index; i++) {
		axis[i] = (struct hn_axis){ t->index[i].name, t->index[i].min,
					    t->index[i].extent };
		form[i] = t->index[i].form;
		if (i < t->n_spatial) {
			shape[i] = t->index[i].extent;
		}
	}
	*dtype = value->dtype;
	*body = value;
	*op = (struct hn_op){ .id = t->target,
			      .name = t->target,
			      .tag = "",
			      .kind = HN_OP_COMPUTE,
			      .n_dim = t->n_spatial,
			      .shape = shape,
			      .n_out = 1,
			      .dtype = dtype,
			      .n_spatial = t->n_spatial,
			      .n_reduce = t->n_index - t->n_spatial,
			      .axis = axis,
			      .reduce = row != NULL ? make_reduce(t, row, value) : NULL,
			      .body = row != NULL ? NULL : body,
			      .sizes = hn_text_sizes(t),
			      .extent = t->sizes.n > 0 ? form : NULL };
	note_constants(t, op);
	return op;
}

static void parse_statement(struct hn_text *t)
{
	struct hn_token at = t->tok;

	t->n_index = t->n_load = t->guard_depth = t->depth = 0;
	parse_left(t);
	t->n_spatial = t->n_index;
	const struct reduce_row *row = parse_sign(t);

	t->reduces = row != NULL;
	const struct hn_expr *value = t->rc == 0 ? hn_text_expr(t, HN_N_DTYPE) : NULL;

	if (value == NULL) {
		return;
	}
	if (t->reduces && t->n_index == t->n_spatial) {
		hn_text_fail(t, &at,
			     "nothing to reduce: every index is on the left; write '='");
	}
	parse_where(t);
	hn_text_take(t, ";");
	hn_text_infer(t);
	if (t->rc == 0 && row != NULL && value->dtype == HN_BOOL) {
		hn_text_fail(t, &at, "a reduction of bool; convert it, e.g. int32(...)");
	}
	if (t->rc == 0) {
		t->constant[t->n_op % HN_DAG_MAX_OPS] = false;
		add_op(t, make_op(t, row, value), &at);
	}
}

/* NAME, ... with or without parentheses; the count. */
static uint32_t parse_outputs(struct hn_text *t, struct hn_token out[MAX_OUTPUTS])
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

static void find_args(struct hn_text *t, const struct hn_token *out, uint32_t n_out,
		      struct hn_dag *dag)
{
	int32_t *arg = HN_NEW_ARRAY(t->a, int32_t, dag->n_input + n_out);

	dag->n_arg = dag->n_input + n_out;
	dag->arg = arg;
	for (uint32_t i = 0; i < dag->n_input; i++) {
		arg[i] = (int32_t)i;
	}
	for (uint32_t i = 0; i < n_out; i++) {
		int32_t ignored, op = hn_dag_find(t->op, t->n_op, out[i].text, &ignored);

		if (op < (int32_t)dag->n_input) {
			hn_text_fail(t, &out[i],
				     op < 0 ? "output '%s' is never computed"
					    : "output '%s' is an input",
				     out[i].text);
			return;
		}
		arg[dag->n_input + i] = op;
	}
}

static void parse_program(struct hn_text *t, struct hn_dag *dag)
{
	struct hn_token out[MAX_OUTPUTS];

	hn_text_next(t);
	hn_text_want_name(t, "the computation");
	parse_params(t);
	dag->n_input = t->n_op;
	hn_text_want(t, "->");
	uint32_t n_out = t->rc == 0 ? parse_outputs(t, out) : 0;

	hn_text_want(t, "{");
	while (t->rc == 0 && !hn_text_take(t, "}")) {
		parse_statement(t);
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
	t->target = "";
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
