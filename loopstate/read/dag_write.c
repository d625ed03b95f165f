/* loopstate/read/dag_write.c -- compute-dag/1 out: compact, the same bytes for the same dag.
 */
#include <inttypes.h>
#include <math.h>

#include "base/jw.h"
#include "loopstate/dag/dag_priv.h"
#include "loopstate/dag/size.h"
#include "loopstate/read/dag_read.h"

struct writer {
	const struct hn_dag *dag;
	const struct hn_op *op;
	struct hn_jw w;
};

static void write_id(struct writer *w, int32_t op, int32_t out)
{
	const struct hn_op *p = w->dag->op[op];

	if (p->n_out > 1) {
		hn_jw_strf(&w->w, NULL, "%s.v%" PRId32, p->id, out);
	} else {
		hn_jw_str(&w->w, NULL, p->id);
	}
}

/* The name that stands for a slot where it is used. */
static const char *slot_name(const struct writer *w, const struct hn_expr *e)
{
	const struct hn_op *op = w->op;

	if (hn_expr_is_size(e)) {
		return op->sizes->size[e->ref - HN_SLOT_SIZE].name;
	}
	if (e->ref >= HN_SLOT_LET) {
		return e->u.name != NULL ? e->u.name : "t";
	}
	if (e->ref >= HN_SLOT_RHS) {
		return op->reduce->rhs[e->ref - HN_SLOT_RHS];
	}
	if (e->ref >= HN_SLOT_LHS) {
		return op->reduce->lhs[e->ref - HN_SLOT_LHS];
	}
	return op->axis[e->ref].name;
}

/* Of a program, infinity is a number like others; JSON has no name for it. */
static void write_float(struct writer *w, double v)
{
	if (isfinite(v)) {
		hn_jw_double(&w->w, NULL, v);
	} else {
		hn_jw_str(&w->w, NULL, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
	}
}

/* What comes between the node's name and its arguments. */
static void write_payload(struct writer *w, const struct hn_expr *e)
{
	switch (e->op) {
	case HN_EXPR_VAR:
	case HN_EXPR_LET:
		hn_jw_str(&w->w, NULL, slot_name(w, e));
		return;
	case HN_EXPR_INT:
		/* Numbers past 2^53 are read back from a string. */
		if (e->u.i > -(1LL << 53) && e->u.i < (1LL << 53)) {
			hn_jw_int(&w->w, NULL, e->u.i);
		} else {
			hn_jw_strf(&w->w, NULL, "%" PRId64, e->u.i);
		}
		break;
	case HN_EXPR_FLOAT:
		write_float(w, e->u.f);
		break;
	case HN_EXPR_LOAD:
		write_id(w, e->ref, e->out);
		return;
	case HN_EXPR_CAST:
		break;
	case HN_EXPR_CALL:
		hn_jw_str(&w->w, NULL, hn_fn_name((enum hn_fn)e->ref));
		break;
	default:
		return;
	}
	hn_jw_str(&w->w, NULL, hn_dtype_name(e->dtype));
}

static void write_expr(struct writer *w, const char *key, const struct hn_expr *e)
{
	hn_jw_list(&w->w, key);
	hn_jw_str(&w->w, NULL, hn_expr_op_name(e->op));
	write_payload(w, e);
	for (uint32_t i = 0; i < e->n_arg; i++) {
		write_expr(w, NULL, e->arg[i]);
	}
	hn_jw_end(&w->w);
}

static void write_exprs(struct writer *w, const char *key, const struct hn_expr *const *e,
			uint32_t n)
{
	hn_jw_list(&w->w, key);
	for (uint32_t i = 0; i < n; i++) {
		write_expr(w, NULL, e[i]);
	}
	hn_jw_end(&w->w);
}

static void write_names(struct writer *w, const char *key, const char *const *name, uint32_t n)
{
	hn_jw_list(&w->w, key);
	for (uint32_t i = 0; i < n; i++) {
		hn_jw_str(&w->w, NULL, name[i]);
	}
	hn_jw_end(&w->w);
}

static void write_true(struct writer *w, const char *key)
{
	hn_jw_list(&w->w, key);
	hn_jw_str(&w->w, NULL, "int");
	hn_jw_int(&w->w, NULL, 1);
	hn_jw_str(&w->w, NULL, "bool");
	hn_jw_end(&w->w);
}

static void write_reduce(struct writer *w, uint32_t k)
{
	const struct hn_reduce *r = w->op->reduce;

	hn_jw_object(&w->w, NULL);
	hn_jw_object(&w->w, "reduce");
	write_names(w, "lhs", r->lhs, r->n);
	write_names(w, "rhs", r->rhs, r->n);
	write_exprs(w, "result", r->result, r->n);
	write_exprs(w, "identity", r->identity, r->n);
	hn_jw_end(&w->w);
	write_exprs(w, "source", r->source, r->n);
	if (r->condition != NULL) {
		write_expr(w, "condition", r->condition);
	} else {
		write_true(w, "condition");
	}
	hn_jw_list(&w->w, "init");
	hn_jw_end(&w->w);
	hn_jw_uint(&w->w, "value_index", k);
	hn_jw_end(&w->w);
}

/* Extent i of the op: a number, or a form over sizes. */
static void write_extent(struct writer *w, uint32_t i, int64_t number)
{
	const struct hn_expr *form = hn_op_extent(w->op, i);

	if (form != NULL) {
		write_expr(w, NULL, form);
	} else {
		hn_jw_int(&w->w, NULL, number);
	}
}

static void write_axes(struct writer *w, const char *key, uint32_t first, uint32_t n)
{
	hn_jw_list(&w->w, key);
	for (uint32_t i = first; i < first + n; i++) {
		const struct hn_axis *axis = &w->op->axis[i];

		hn_jw_list(&w->w, NULL);
		hn_jw_str(&w->w, NULL, axis->name);
		hn_jw_int(&w->w, NULL, axis->min);
		write_extent(w, i, axis->extent);
		hn_jw_end(&w->w);
	}
	hn_jw_end(&w->w);
}

static void write_compute(struct writer *w)
{
	const struct hn_op *op = w->op;

	write_axes(w, "axes", 0, op->n_spatial);
	write_axes(w, "reduce_axes", op->n_spatial, op->n_reduce);
	if (op->reduce == NULL) {
		write_exprs(w, "body", op->body, op->n_out);
		return;
	}
	hn_jw_list(&w->w, "body");
	for (uint32_t k = 0; k < op->n_out; k++) {
		write_reduce(w, k);
	}
	hn_jw_end(&w->w);
}

static void write_head(struct writer *w)
{
	const struct hn_op *op = w->op;
	bool compute = op->kind == HN_OP_COMPUTE;

	hn_jw_str(&w->w, "kind", compute ? "compute" : "placeholder");
	hn_jw_str(&w->w, "id", op->id);
	hn_jw_str(&w->w, "name", op->name);
	if (compute || op->tag[0] != '\0') {
		hn_jw_str(&w->w, "tag", op->tag);
	}
	hn_jw_list(&w->w, "shape");
	for (uint32_t d = 0; d < op->n_dim; d++) {
		write_extent(w, d, op->shape[d]);
	}
	hn_jw_end(&w->w);
	if (!compute) {
		hn_jw_str(&w->w, "dtype", hn_dtype_name(op->dtype[0]));
		return;
	}
	hn_jw_list(&w->w, "dtype");
	for (uint32_t k = 0; k < op->n_out; k++) {
		hn_jw_str(&w->w, NULL, hn_dtype_name(op->dtype[k]));
	}
	hn_jw_end(&w->w);
}

static void write_op(struct writer *w)
{
	const struct hn_op *op = w->op;

	hn_jw_object(&w->w, NULL);
	write_head(w);
	if (op->kind == HN_OP_COMPUTE) {
		write_compute(w);
	}
	if (op->n_attr > 0) {
		hn_jw_object(&w->w, "attrs");
		for (uint32_t i = 0; i < op->n_attr; i++) {
			hn_jw_written(&w->w, op->attr[i].name, op->attr[i].json);
		}
		hn_jw_end(&w->w);
	}
	hn_jw_end(&w->w);
}

static void write_sizes(struct writer *w)
{
	const struct hn_sizes *sizes = w->dag->sizes;

	if (sizes == NULL) {
		return;
	}
	hn_jw_list(&w->w, "sizes");
	for (uint32_t k = 0; k < sizes->n; k++) {
		hn_jw_list(&w->w, NULL);
		hn_jw_str(&w->w, NULL, sizes->size[k].name);
		hn_jw_int(&w->w, NULL, sizes->size[k].lo);
		hn_jw_int(&w->w, NULL, sizes->size[k].hi);
		hn_jw_end(&w->w);
	}
	hn_jw_end(&w->w);
}

void hn_dag_write_json(const struct hn_dag *dag, struct hn_buf *buf)
{
	struct writer w = {.dag = dag};

	hn_jw_init(&w.w, buf);
	hn_jw_object(&w.w, NULL);
	hn_jw_str(&w.w, "format", "compute-dag/1");
	write_sizes(&w);
	hn_jw_list(&w.w, "ops");
	for (uint32_t i = 0; i < dag->n_op; i++) {
		w.op = dag->op[i];
		write_op(&w);
	}
	hn_jw_end(&w.w);
	hn_jw_list(&w.w, "inputs_outputs");
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		int32_t out = 0;

		for (uint32_t j = 0; j < i; j++) {
			out += dag->arg[j] == dag->arg[i];
		}
		write_id(&w, dag->arg[i], out);
	}
	hn_jw_end(&w.w);
	hn_jw_end(&w.w);
	hn_jw_done(&w.w);
}
