/* loopstate/read/dag_text_write.c -- a dag in the text notation, to be read back to the same dag:
 * names and tags may differ, its key does not.
 *
 * Ranges are written where the reader would not infer them, which the reader's own inference
 * says.
 */
#include <inttypes.h>
#include <string.h>

#include "loopstate/dag/attr.h"
#include "loopstate/dag/size.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/read/dag_text_out.h"

#define LAYOUT_FREE "layout_free_placeholders"

/* -- what an op reads */

/* As the reader will meet it: loads where they end, indices where they first stand. */
struct uses {
	struct hn_arena *a;
	struct hn_text_load *load;
	uint32_t n_load, max_load;
	bool seen[HN_DAG_MAX_ITERS];
	uint32_t index[HN_DAG_MAX_ITERS], n_index;
};

static void add_load(const struct hn_expr *e, bool guarded, struct uses *u)
{
	if (u->n_load == u->max_load) {
		uint32_t max = 2 * u->max_load + 64;
		struct hn_text_load *load = HN_NEW_ARRAY(u->a, struct hn_text_load, max);

		if (u->n_load > 0) {
			memcpy(load, u->load, u->n_load * sizeof(*load));
		}
		u->load = load;
		u->max_load = max;
	}
	u->load[u->n_load++] = (struct hn_text_load){ .e = e, .guarded = guarded };
}

static void collect(const struct hn_expr *e, bool guarded, struct uses *u)
{
	if (e->op == HN_EXPR_VAR && e->ref < HN_DAG_MAX_ITERS && !u->seen[e->ref]) {
		u->seen[e->ref] = true;
		u->index[u->n_index++] = (uint32_t)e->ref;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		collect(e->arg[i], guarded || (e->op == HN_EXPR_IF && i > 0), u);
	}
	if (e->op == HN_EXPR_LOAD) {
		add_load(e, guarded, u);
	}
}

static void collect_op(const struct hn_op *op, struct uses *u)
{
	const struct hn_reduce *r = op->reduce;

	u->n_load = u->n_index = 0;
	memset(u->seen, 0, sizeof(u->seen));
	if (r != NULL && r->condition != NULL) {
		collect(r->condition, false, u);
	}
	for (uint32_t k = 0; k < op->n_out; k++) {
		collect(r != NULL ? r->source[k] : op->body[k], r != NULL && r->condition != NULL,
			u);
	}
}

/* -- what is const */

/* Whether the op's list of free layouts names op p. */
static bool lists(const struct hn_dag *dag, const struct hn_attr *attr, int32_t p)
{
	for (uint32_t j = 0; attr != NULL && j < attr->n_item; j++) {
		if (hn_attr_means(dag, attr->item[j], p)) {
			return true;
		}
	}
	return false;
}

/* Parameters that every reader lists. */
static const bool *find_constants(const struct hn_dag *dag, struct hn_arena *a)
{
	bool *constant = HN_NEW_ARRAY(a, bool, dag->n_op);
	bool *listed = HN_NEW_ARRAY(a, bool, dag->n_op);
	struct uses u = { .a = a };

	for (uint32_t p = 0; p < dag->n_op; p++) {
		constant[p] = dag->op[p]->kind == HN_OP_PLACEHOLDER;
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];

		if (op->kind == HN_OP_PLACEHOLDER) {
			continue;
		}
		collect_op(op, &u);
		for (uint32_t k = 0; k < u.n_load; k++) {
			int32_t p = u.load[k].e->ref;
			bool in_list = lists(dag, hn_op_attr(op, LAYOUT_FREE), p);

			constant[p] = constant[p] && in_list;
			listed[p] = listed[p] || in_list;
		}
	}
	for (uint32_t p = 0; p < dag->n_op; p++) {
		constant[p] = constant[p] && listed[p];
	}
	return constant;
}

/* Whether `const` alone gives the op its list. */
static bool const_says_it(const struct hn_text_out *w, const struct hn_op *op,
			  const struct uses *u)
{
	const struct hn_attr *attr = hn_op_attr(op, LAYOUT_FREE);
	bool seen[HN_DAG_MAX_OPS] = { false };
	uint32_t n = 0;

	for (uint32_t k = 0; k < u->n_load; k++) {
		int32_t p = u->load[k].e->ref;

		if (!w->constant[p] || seen[p]) {
			continue;
		}
		seen[p] = true;
		if (attr == NULL || n >= attr->n_item ||
		    !hn_attr_means(w->dag, attr->item[n++], p)) {
			return false;
		}
	}
	return attr == NULL || n == attr->n_item;
}

/* -- ranges */

static bool as_inferred(const struct hn_op *op, uint32_t i, const struct hn_text *t)
{
	const struct hn_text_index *x = &t->index[i];
	const struct hn_expr *form = hn_op_extent(op, i);

	return x->extent == op->axis[i].extent && x->min == op->axis[i].min &&
	       (x->form == NULL || form == NULL ? x->form == form
						: hn_expr_equal(x->form, form));
}

/* One try with the ranges that are stated; those that come out otherwise are stated in the next.
 * False: it stays as it is. */
static bool infer_once(const struct hn_op *op, struct hn_text *t, bool *stated)
{
	bool more = false;

	t->rc = 0;
	for (uint32_t i = 0; i < t->n_index; i++) {
		const struct hn_axis *axis = &op->axis[i];

		t->index[i] = (struct hn_text_index){ .name = axis->name, .stated = stated[i] };
		if (stated[i]) {
			t->index[i].min = axis->min;
			t->index[i].extent = axis->extent;
			t->index[i].form = hn_op_extent(op, i);
		}
	}
	hn_text_infer(t);
	for (uint32_t i = 0; i < t->n_index; i++) {
		if (!stated[i] && !as_inferred(op, i, t)) {
			stated[i] = more = true;
		}
	}
	for (uint32_t i = 0; t->rc != 0 && !more && i < t->n_index; i++) {
		more = more || !stated[i];
		stated[i] = true;
	}
	return more;
}

static void put_extent(struct hn_text_out *w, const struct hn_op *op, uint32_t i, int64_t number)
{
	if (hn_op_extent(op, i) != NULL) {
		hn_text_out_expr(w, hn_op_extent(op, i), 0, true);
	} else {
		hn_buf_printf(w->buf, "%" PRId64, number);
	}
}

static void put_where(struct hn_text_out *w, struct hn_text *t)
{
	const struct hn_op *op = w->op;
	bool stated[HN_DAG_MAX_ITERS] = { false };
	const char *sep = "  where ";

	t->n_index = op->n_spatial + op->n_reduce;
	t->n_spatial = op->n_spatial;
	while (infer_once(op, t, stated)) {
	}
	for (uint32_t i = 0; i < t->n_index; i++) {
		const struct hn_axis *axis = &op->axis[i];

		if (!stated[i]) {
			continue;
		}
		hn_buf_printf(w->buf, "%s%s in %" PRId64 ":", sep, w->index[i], axis->min);
		if (hn_op_extent(op, i) != NULL && axis->min != 0) {
			hn_buf_printf(w->buf, "%" PRId64 " + ", axis->min);
		}
		put_extent(w, op, i, axis->min + axis->extent);
		sep = ", ";
	}
}

/* -- one op */

static bool has_same_combiner(const struct hn_reduce *x, const struct hn_reduce *y)
{
	for (uint32_t k = 0; k < x->n; k++) {
		if (!hn_expr_equal(x->result[k], y->result[k]) ||
		    !hn_expr_equal(x->identity[k], y->identity[k])) {
			return false;
		}
	}
	return true;
}

/* The sign that stands for the op's combiner and identities; the last has any. */
static const struct hn_text_reduction *sign_of(const struct hn_text_out *w)
{
	const struct hn_reduce *r = w->op->reduce;
	uint32_t i = 0;

	while (i + 1 < hn_text_n_reduction) {
		const struct hn_text_reduction *row = &hn_text_reductions[i];

		if (row->n == r->n && w->op->dtype[0] != HN_BOOL &&
		    has_same_combiner(r, hn_text_reduce(row, w->op->dtype, w->a))) {
			break;
		}
		i++;
	}
	return &hn_text_reductions[i];
}

static void put_left(struct hn_text_out *w, uint32_t i)
{
	for (uint32_t k = 0; k < w->op->n_out; k++) {
		hn_buf_printf(w->buf, "%s%s", k > 0 ? ", " : "", w->tensor[i][k]);
		for (uint32_t d = 0; d < w->op->n_spatial; d++) {
			hn_buf_printf(w->buf, "%s%s", d > 0 ? "," : "(", w->index[d]);
		}
		hn_buf_puts(w->buf, w->op->n_spatial > 0 ? ")" : "");
	}
}

/* The reduced indices in brackets, unless they come in their order of themselves. */
static void put_order(struct hn_text_out *w, const struct uses *used)
{
	const struct hn_op *op = w->op;
	uint32_t n = 0;
	bool same = true;

	for (uint32_t i = 0; i < used->n_index; i++) {
		uint32_t axis = used->index[i];

		if (axis >= op->n_spatial) {
			same = same && axis == op->n_spatial + n;
			n++;
		}
	}
	if (same && n == op->n_reduce) {
		return;
	}
	for (uint32_t i = 0; i < op->n_reduce; i++) {
		hn_buf_printf(w->buf, "%s%s", i > 0 ? "," : " [", w->index[op->n_spatial + i]);
	}
	hn_buf_putc(w->buf, ']');
}

static void put_values(struct hn_text_out *w, const struct hn_expr *const *value, int level,
		       bool typed)
{
	for (uint32_t k = 0; k < w->op->n_out; k++) {
		bool open = value[k]->dtype == HN_F32 || value[k]->dtype == HN_I32;

		hn_buf_puts(w->buf, k > 0 ? ", " : "");
		hn_text_out_expr(w, value[k], level, typed || open);
	}
}

static void put_sides(struct hn_text_out *w)
{
	const struct hn_reduce *r = w->op->reduce;

	w->lhs = HN_NEW_ARRAY(w->a, const char *, r->n);
	w->rhs = HN_NEW_ARRAY(w->a, const char *, r->n);
	for (int side = 0; side < 2; side++) {
		const char **name = side == 0 ? w->lhs : w->rhs;

		hn_buf_puts(w->buf, side == 0 ? "  by (" : "), (");
		for (uint32_t k = 0; k < r->n; k++) {
			name[k] = hn_text_out_name(w, (side == 0 ? r->lhs : r->rhs)[k]);
			hn_buf_printf(w->buf, "%s%s", k > 0 ? ", " : "", name[k]);
		}
	}
	hn_buf_puts(w->buf, ") -> ");
	put_values(w, r->result, 0, true);
	hn_buf_puts(w->buf, " from ");
	put_values(w, r->identity, 0, true);
}

static void put_right(struct hn_text_out *w, const struct uses *used)
{
	const struct hn_reduce *r = w->op->reduce;
	const struct hn_text_reduction *sign;

	if (r == NULL) {
		hn_buf_puts(w->buf, " = ");
		put_values(w, w->op->body, 0, false);
		return;
	}
	sign = sign_of(w);
	hn_buf_printf(w->buf, " %s%s", sign->name != NULL ? sign->name : "", sign->sign);
	put_order(w, used);
	hn_buf_putc(w->buf, ' ');
	if (r->condition != NULL) {
		hn_text_out_expr(w, r->condition, 1, true);
		hn_buf_puts(w->buf, " ? ");
	}
	put_values(w, r->source, r->condition != NULL ? 1 : 0, false);
	if (sign->n == 0) {
		put_sides(w);
	}
}

/* -- attributes */

static const char *item_name(const struct hn_text_out *w, enum hn_attr_kind kind, const char *item)
{
	int32_t i = kind == HN_ATTR_OPS ? hn_attr_op(w->dag, item) : hn_attr_axis(w->op, item);

	if (i < 0) { /* of an op that steps made */
		return hn_text_out_word(item, w->a);
	}
	return kind == HN_ATTR_OPS ? w->tensor[i][0] : w->index[i];
}

static void put_attrs(struct hn_text_out *w, const struct uses *used)
{
	for (uint32_t i = 0; i < hn_attr_n_rows(); i++) {
		const struct hn_attr_row *row = hn_attr_row(i);
		const struct hn_attr *attr = hn_op_attr(w->op, row->name);
		bool layout = strcmp(row->name, LAYOUT_FREE) == 0;

		if (attr == NULL || (layout && const_says_it(w, w->op, used)) ||
		    (hn_attr_has_items(row->kind) && attr->n_item == 0)) {
			continue;
		}
		if (row->kind == HN_ATTR_NUMBER) {
			if (strspn(attr->json, "0123456789.eE+-") == strlen(attr->json) &&
			    attr->json[0] != '-') {
				hn_buf_printf(w->buf, "@%s(%s) ", attr->name, attr->json);
			}
			continue;
		}
		hn_buf_printf(w->buf, "@%s", attr->name);
		for (uint32_t j = 0; hn_attr_has_items(row->kind) && j < attr->n_item; j++) {
			hn_buf_printf(w->buf, "%s%s", j > 0 ? ", " : "(",
				      item_name(w, row->kind, attr->item[j]));
		}
		hn_buf_puts(w->buf, hn_attr_has_items(row->kind) ? ") " : " ");
	}
}

static void put_compute(struct hn_text_out *w, uint32_t i, struct uses *used,
			struct hn_text *reader)
{
	const struct hn_op *op = w->dag->op[i];
	uint32_t n_axis = op->n_spatial + op->n_reduce, n_name = w->n_name;

	w->op = op;
	w->index = HN_NEW_ARRAY(w->a, const char *, n_axis);
	for (uint32_t k = 0; k < n_axis; k++) {
		w->index[k] = hn_text_out_name(w, op->axis[k].name);
	}
	collect_op(op, used);
	hn_buf_putc(w->buf, '\t');
	put_attrs(w, used);
	put_left(w, i);
	put_right(w, used);
	reader->n_op = i;
	reader->load = used->load;
	reader->n_load = used->n_load;
	put_where(w, reader);
	hn_buf_putc(w->buf, '\n');
	w->n_name = n_name; /* an index is of its statement */
}

/* -- the program */

static void put_params(struct hn_text_out *w)
{
	const struct hn_dag *dag = w->dag;
	const char *sep = "";
	int dtype = -1;

	for (uint32_t k = 0; dag->sizes != NULL && k < dag->sizes->n; k++) {
		hn_buf_printf(w->buf, "%s%s in [%" PRId64 ", %" PRId64 "]", sep, w->size[k],
			      dag->sizes->size[k].lo, dag->sizes->size[k].hi);
		sep = ", ";
	}
	for (uint32_t i = 0; i < dag->n_input; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];

		hn_buf_printf(w->buf, "%s%s", sep, w->constant[dag->arg[i]] ? "const " : "");
		if (dtype != op->dtype[0]) {
			hn_buf_printf(w->buf, "%s ", hn_dtype_name((enum hn_dtype)op->dtype[0]));
		}
		dtype = op->dtype[0];
		hn_buf_puts(w->buf, w->tensor[dag->arg[i]][0]);
		for (uint32_t d = 0; d < op->n_dim; d++) {
			hn_buf_putc(w->buf, d > 0 ? ',' : '[');
			put_extent(w, op, d, op->shape[d]);
		}
		hn_buf_puts(w->buf, op->n_dim > 0 ? "]" : "");
		sep = ", ";
	}
}

/* Inputs that come first of all ops in the order of arguments need no word of their own. */
static uint32_t n_leading(const struct hn_dag *dag)
{
	uint32_t n = 0;

	while (n < dag->n_input && dag->arg[n] == (int32_t)n) {
		n++;
	}
	return n;
}

void hn_dag_write_text(const struct hn_dag *dag, const char *name, struct hn_buf *buf)
{
	struct hn_text_out w = { .dag = dag, .buf = buf };
	struct hn_arena a;
	struct uses used = { .a = &a };
	struct hn_text *reader;
	uint32_t leading = n_leading(dag);

	hn_arena_init(&a, 0);
	reader = HN_NEW(&a, struct hn_text);
	reader->what = "";
	reader->a = &a;
	memcpy(reader->op, dag->op, dag->n_op * sizeof(*dag->op));
	w.a = &a;
	w.constant = find_constants(dag, &a);
	hn_text_out_names(&w);
	hn_buf_printf(buf, "%s(", hn_text_out_word(name, &a));
	put_params(&w);
	hn_buf_puts(buf, ") -> ");
	for (uint32_t i = dag->n_input, k = 0; i < dag->n_arg; i++) {
		bool first = i == dag->n_input;

		k = !first && dag->arg[i] == dag->arg[i - 1] ? k + 1 : 0;
		hn_buf_printf(buf, "%s%s", first ? "" : ", ", w.tensor[dag->arg[i]][k]);
	}
	hn_buf_puts(buf, " {\n");
	for (uint32_t i = leading; i < dag->n_op; i++) {
		if (dag->op[i]->kind == HN_OP_PLACEHOLDER) {
			hn_buf_printf(buf, "\tinput %s\n", w.tensor[i][0]);
		} else {
			put_compute(&w, i, &used, reader);
		}
	}
	hn_buf_puts(buf, "}\n");
	hn_arena_fini(&a);
}
