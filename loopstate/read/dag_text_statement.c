/* loopstate/read/dag_text_statement.c -- one statement of the text notation: a tensor, or several
 * of one op, what it is made of, and the ranges of its indices. */
#include <inttypes.h>
#include <string.h>

#include "loopstate/dag/ragged.h"
#include "loopstate/read/dag_text_priv.h"

void hn_text_add_op(struct hn_text *t, const struct hn_op *op, const struct hn_token *at)
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

/* -- the left side */

/* Whether a name may be given to a new tensor or index. */
static bool is_taken(const struct hn_text *t, const char *name)
{
	int32_t out;

	for (uint32_t i = 0; i < t->n_param; i++) {
		if (strcmp(t->param[i].op->id, name) == 0) {
			return true;
		}
	}
	return hn_text_tensor(t, name, &out) >= 0;
}

static void add_index(struct hn_text *t, const char *s, const struct hn_token *at)
{
	int32_t out;

	if (hn_text_tensor(t, s, &out) >= 0) {
		hn_text_fail(t, at, "'%s' is a tensor, an index is needed", s);
	}
	for (uint32_t k = 0; k < t->sizes.n; k++) {
		if (strcmp(t->size[k].name, s) == 0) {
			hn_text_fail(t, at, "'%s' is a size, an index is needed", s);
		}
	}
	for (uint32_t i = 0; i < t->n_index; i++) {
		if (strcmp(t->index[i].name, s) == 0) {
			hn_text_fail(t, at,
				     i < t->n_spatial || !t->reduces
					     ? "index '%s' is on the left twice"
					     : "index '%s' is there twice",
				     s);
		}
	}
	if (t->n_index == (t->reduces ? HN_DAG_MAX_ITERS : HN_DAG_MAX_RANK)) {
		hn_text_fail(t, at, "more than %d %s", (int)t->n_index,
			     t->reduces ? "indices" : "dimensions");
		return;
	}
	t->index[t->n_index++] = (struct hn_text_index){ .name = s, .at = *at };
}

/* "(" index, ... ")": of the first tensor they are new, of another of the op the same. */
static void parse_indices(struct hn_text *t)
{
	uint32_t n = 0;

	while (t->rc == 0 && !hn_text_take(t, ")")) {
		if (n > 0 && !hn_text_want(t, ",")) {
			return;
		}
		struct hn_token at = t->tok;
		const char *s = hn_text_want_name(t, "an index");

		if (s == NULL) {
			return;
		}
		if (t->n_target == 1) {
			add_index(t, s, &at);
		} else if (n >= t->n_index || strcmp(t->index[n].name, s) != 0) {
			hn_text_fail(t, &at, "the outputs of a statement have the same indices");
		}
		n++;
	}
	if (n != t->n_index) {
		hn_text_fail(t, &t->tok, "the outputs of a statement have the same indices");
	}
}

/* NAME [ "(" index, ... ")" ], ... */
static void parse_left(struct hn_text *t)
{
	do {
		struct hn_token at = t->tok;
		const char *name = hn_text_want_name(t, "a tensor");

		if (t->rc == 0 && is_taken(t, name)) {
			hn_text_fail(t, &at, "'%s' is defined already", name);
		}
		for (uint32_t k = 0; t->rc == 0 && k < t->n_target; k++) {
			if (strcmp(t->target[k], name) == 0) {
				hn_text_fail(t, &at, "'%s' is on the left twice", name);
			}
		}
		if (t->rc == 0 && t->n_target == HN_DAG_MAX_OUT) {
			hn_text_fail(t, &at, "more than %d outputs", HN_DAG_MAX_OUT);
		}
		if (t->rc != 0) {
			return;
		}
		t->target[t->n_target++] = name;
		if (hn_text_take(t, "(")) {
			parse_indices(t);
		} else if (t->n_index > 0) {
			hn_text_fail(t, &at, "the outputs of a statement have the same indices");
		}
	} while (hn_text_take(t, ","));
	t->n_spatial = t->n_index;
}

/* -- the sign */

/* The reduction the statement's sign stands for; NULL for "=". */
static const struct hn_text_reduction *parse_sign(struct hn_text *t)
{
	struct hn_token at = t->tok;

	for (uint32_t i = 0; i < hn_text_n_reduction; i++) {
		const struct hn_text_reduction *row = &hn_text_reductions[i];

		if (hn_text_is(t, row->name != NULL ? row->name : row->sign) &&
		    (row->name == NULL || strcmp(hn_text_peek(t).text, row->sign) == 0)) {
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
	if (t->tok.kind == HN_TOKEN_NAME && strcmp(hn_text_peek(t).text, "=!") == 0) {
		const char *name[8];
		size_t n = 0;

		for (uint32_t i = 0; i < hn_text_n_reduction; i++) {
			if (hn_text_reductions[i].name != NULL) {
				name[n++] = hn_text_reductions[i].name;
			}
		}
		hn_text_fail(t, &at, "there is no reduction '%s=!'%s", at.text,
			     hn_dag_known(at.text, "reductions", name, n, 0, t->a));
	}
	hn_text_want(t, "=");
	return NULL;
}

/* "[" index, ... "]" behind the sign: the indices that are reduced, in their order. */
static void parse_order(struct hn_text *t)
{
	if (!hn_text_take(t, "[")) {
		return;
	}
	do {
		struct hn_token at = t->tok;
		const char *s = hn_text_want_name(t, "an index");

		if (s != NULL) {
			add_index(t, s, &at);
		}
	} while (t->rc == 0 && hn_text_take(t, ","));
	hn_text_want(t, "]");
}

/* -- the op */

/* Weights given as `const` may be laid out anew by whoever reads them. */
static void note_constants(struct hn_text *t, struct hn_attr *attr)
{
	const char **item = HN_NEW_ARRAY(t->a, const char *, t->n_load + 1);
	bool seen[HN_DAG_MAX_OPS] = { false };
	struct hn_buf json;

	hn_buf_init(&json);
	*attr = (struct hn_attr){ .name = "layout_free_placeholders", .item = item };
	for (uint32_t k = 0; k < t->n_load; k++) {
		int32_t p = t->load[k].e->ref;

		if (t->constant[p] && !seen[p]) {
			seen[p] = true;
			hn_buf_puts(&json, attr->n_item > 0 ? "," : "[");
			hn_buf_json_string(&json, t->op[p]->id);
			item[attr->n_item++] = t->op[p]->id;
		}
	}
	hn_buf_putc(&json, ']');
	attr->json = hn_arena_strdup(t->a, json.s);
	hn_buf_fini(&json);
}

/* What the outputs are called, for headers. */
static void note_outputs(struct hn_text *t, struct hn_attr *attr)
{
	const char **item = HN_NEW_ARRAY(t->a, const char *, t->n_target);
	struct hn_buf json;

	hn_buf_init(&json);
	for (uint32_t k = 0; k < t->n_target; k++) {
		item[k] = t->target[k];
		hn_buf_puts(&json, k > 0 ? "," : "[");
		hn_buf_json_string(&json, item[k]);
	}
	hn_buf_putc(&json, ']');
	*attr = (struct hn_attr){ .name = "outputs",
				  .json = hn_arena_strdup(t->a, json.s),
				  .n_item = t->n_target,
				  .item = item };
	hn_buf_fini(&json);
}

static void take_attrs(struct hn_text *t, struct hn_op *op)
{
	struct hn_attr *attr = HN_NEW_ARRAY(t->a, struct hn_attr, t->n_attr + 2);

	for (uint32_t i = 0; i < t->n_attr; i++) {
		attr[op->n_attr++] = t->attr[i];
	}
	op->attr = attr;
	if (hn_op_attr(op, "layout_free_placeholders") == NULL) {
		note_constants(t, &attr[op->n_attr]);
		op->n_attr += attr[op->n_attr].n_item > 0;
	}
	if (t->n_target > 1) {
		note_outputs(t, &attr[op->n_attr++]);
	}
}

/* The op's id: the tensor's, or those of its outputs put together, and no other's. */
static const char *make_id(struct hn_text *t)
{
	const char *id = t->target[0];
	int32_t out;

	for (uint32_t k = 1; k < t->n_target; k++) {
		id = hn_arena_printf(t->a, "%.*s_%s", HN_DAG_MAX_NAME / 2, id, t->target[k]);
	}
	id = t->n_target > 1 ? hn_arena_printf(t->a, "%.*s", HN_DAG_MAX_NAME / 2, id) : id;
	while (t->n_target > 1 &&
	       (is_taken(t, id) || hn_dag_find(t->op, t->n_op, id, &out) != -1)) {
		id = hn_arena_printf(t->a, "%s_", id);
	}
	return id;
}

static struct hn_op *make_op(struct hn_text *t, const struct hn_reduce *reduce,
			     const struct hn_expr *const *value)
{
	struct hn_op *op = HN_NEW(t->a, struct hn_op);
	uint8_t *dtype = HN_NEW_ARRAY(t->a, uint8_t, t->n_target);
	int64_t *shape = HN_NEW_ARRAY(t->a, int64_t, t->n_spatial);
	struct hn_axis *axis = HN_NEW_ARRAY(t->a, struct hn_axis, t->n_index);
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
	for (uint32_t k = 0; k < t->n_target; k++) {
		dtype[k] = value[k]->dtype;
	}
	*op = (struct hn_op){ .id = make_id(t),
			      .tag = "",
			      .kind = HN_OP_COMPUTE,
			      .n_dim = t->n_spatial,
			      .shape = shape,
			      .n_out = t->n_target,
			      .dtype = dtype,
			      .n_spatial = t->n_spatial,
			      .n_reduce = t->n_index - t->n_spatial,
			      .axis = axis,
			      .reduce = reduce,
			      .body = reduce != NULL ? NULL : value,
			      .sizes = hn_text_sizes(t),
			      .extent = t->sizes.n > 0 ? form : NULL };
	op->name = op->id;
	take_attrs(t, op);
	return op;
}

/* As many values as there are tensors on the left. */
static const struct hn_expr *const *parse_values(struct hn_text *t,
						 const struct hn_expr **ret_condition)
{
	const struct hn_expr **value = HN_NEW_ARRAY(t->a, const struct hn_expr *, t->n_target);

	*ret_condition = NULL;
	for (uint32_t k = 0; t->rc == 0 && k < t->n_target; k++) {
		if (k > 0) {
			hn_text_want(t, ",");
		}
		value[k] = t->reduces && k == 0 ? hn_text_source(t, ret_condition)
						: hn_text_expr(t, HN_N_DTYPE);
	}
	t->guard_depth = 0;
	return value;
}

static struct hn_reduce *parse_reduce(struct hn_text *t, const struct hn_text_reduction *row,
				      const struct hn_expr *const *value,
				      const struct hn_token *at)
{
	uint8_t dtype[HN_DAG_MAX_OUT] = { 0 };
	struct hn_reduce *r;

	if (row->n != 0 && row->n != t->n_target) {
		hn_text_fail(t, at, "%s%s is of %" PRIu32 " value%s, %" PRIu32 " on the left",
			     row->name != NULL ? row->name : "", row->sign, row->n,
			     row->n > 1 ? "s" : "", t->n_target);
	}
	for (uint32_t k = 0; t->rc == 0 && k < t->n_target; k++) {
		dtype[k] = value[k]->dtype;
		if (dtype[k] == HN_BOOL && row->n != 0) {
			hn_text_fail(t, at, "a reduction of bool; convert it, e.g. int32(...)");
		}
	}
	if (t->rc != 0) {
		return NULL;
	}
	r = row->n == 0 ? hn_text_combiner(t, dtype, t->n_target)
			: hn_text_reduce(row, dtype, t->a);
	if (r != NULL) {
		r->source = value;
	}
	return r;
}

static void parse_tensor(struct hn_text *t)
{
	struct hn_token at = t->tok;

	parse_left(t);
	const struct hn_text_reduction *row = parse_sign(t);
	const struct hn_expr *condition;
	struct hn_reduce *reduce = NULL;

	t->reduces = row != NULL;
	if (t->reduces) {
		parse_order(t);
	}
	const struct hn_expr *const *value = parse_values(t, &condition);

	if (t->rc == 0 && t->reduces && t->n_index == t->n_spatial) {
		hn_text_fail(t, &at,
			     "nothing to reduce: every index is on the left; write '='");
	}
	if (t->rc == 0 && t->reduces) {
		reduce = parse_reduce(t, row, value, &at);
	}
	hn_text_where(t);
	hn_text_take(t, ";");
	hn_text_infer(t);
	if (reduce != NULL) {
		reduce->condition = hn_ragged_both(hn_text_within(t), condition, t->a);
	}
	hn_text_attr_items(t);
	if (t->rc == 0) {
		struct hn_op *op = make_op(t, reduce, value);
		const char **name = HN_NEW_ARRAY(t->a, const char *, t->n_target);

		memcpy(name, t->target, t->n_target * sizeof(*name));
		t->constant[t->n_op % HN_DAG_MAX_OPS] = false;
		t->out_name[t->n_op % HN_DAG_MAX_OPS] = t->n_target > 1 ? name : NULL;
		hn_text_add_op(t, op, &at);
	}
}

/* "input" NAME, a parameter that was kept for later: it comes here in the order of ops. */
static bool parse_input(struct hn_text *t)
{
	struct hn_token at = t->tok;

	if (!hn_text_is(t, "input") || t->n_later == 0) {
		return false;
	}
	struct hn_token name = hn_text_peek(t);

	for (uint32_t i = 0; i < t->n_param && name.kind == HN_TOKEN_NAME; i++) {
		struct hn_text_param *p = &t->param[i];

		if (p->later && !p->placed && strcmp(p->op->id, name.text) == 0) {
			hn_text_next(t);
			hn_text_next(t);
			p->placed = true;
			t->constant[t->n_op % HN_DAG_MAX_OPS] = p->constant;
			t->out_name[t->n_op % HN_DAG_MAX_OPS] = NULL;
			hn_text_add_op(t, p->op, &at);
			hn_text_take(t, ";");
			return true;
		}
	}
	return false;
}

void hn_text_statement(struct hn_text *t)
{
	if (parse_input(t)) {
		return;
	}
	t->n_index = t->n_spatial = t->n_load = t->guard_depth = t->depth = 0;
	t->n_target = t->n_attr = 0;
	t->n_let = 0;
	t->let = NULL;
	t->reduces = false;
	while (hn_text_take(t, "@")) {
		hn_text_attr(t);
	}
	parse_tensor(t);
}
