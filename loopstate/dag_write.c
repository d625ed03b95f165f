/* loopstate/dag_write.c -- compute-dag/1 out: compact, the same bytes for the same dag.
 */
#include <inttypes.h>

#include "loopstate/dag_priv.h"
#include "loopstate/size.h"

struct writer {
	const struct hn_dag *dag;
	const struct hn_op *op;
	struct hn_buf *buf;
};

static void write_id(const struct writer *w, int32_t op, int32_t out)
{
	const struct hn_op *p = w->dag->op[op];
	struct hn_buf id;

	hn_buf_init(&id);
	hn_buf_puts(&id, p->id);
	if (p->n_out > 1) {
		hn_buf_printf(&id, ".v%" PRId32, out);
	}
	hn_buf_json_string(w->buf, id.s);
	hn_buf_fini(&id);
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

/* What comes between the node's name and its arguments. */
static void write_payload(const struct writer *w, const struct hn_expr *e)
{
	switch (e->op) {
	case HN_EXPR_VAR:
	case HN_EXPR_LET:
		hn_buf_putc(w->buf, ',');
		hn_buf_json_string(w->buf, slot_name(w, e));
		return;
	case HN_EXPR_INT:
		/* Numbers past 2^53 are read back from a string. */
		hn_buf_printf(w->buf,
			      e->u.i > -(1LL << 53) && e->u.i < (1LL << 53)
				      ? ",%" PRId64
				      : ",\"%" PRId64 "\"",
			      e->u.i);
		break;
	case HN_EXPR_FLOAT:
		hn_buf_putc(w->buf, ',');
		hn_buf_double(w->buf, e->u.f);
		break;
	case HN_EXPR_LOAD:
		hn_buf_putc(w->buf, ',');
		write_id(w, e->ref, e->out);
		return;
	case HN_EXPR_CAST:
		break;
	case HN_EXPR_CALL:
		hn_buf_printf(w->buf, ",\"%s\"", hn_fn_name((enum hn_fn)e->ref));
		break;
	default:
		return;
	}
	hn_buf_printf(w->buf, ",\"%s\"", hn_dtype_name(e->dtype));
}

static void write_expr(const struct writer *w, const struct hn_expr *e)
{
	hn_buf_printf(w->buf, "[\"%s\"", hn_expr_op_name(e->op));
	write_payload(w, e);
	for (uint32_t i = 0; i < e->n_arg; i++) {
		hn_buf_putc(w->buf, ',');
		write_expr(w, e->arg[i]);
	}
	hn_buf_putc(w->buf, ']');
}

static void write_exprs(const struct writer *w, const char *key,
			const struct hn_expr *const *e, uint32_t n)
{
	hn_buf_printf(w->buf, "\"%s\":[", key);
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_puts(w->buf, i > 0 ? "," : "");
		write_expr(w, e[i]);
	}
	hn_buf_putc(w->buf, ']');
}

static void write_names(const struct writer *w, const char *key, const char *const *name,
			uint32_t n)
{
	hn_buf_printf(w->buf, "\"%s\":[", key);
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_puts(w->buf, i > 0 ? "," : "");
		hn_buf_json_string(w->buf, name[i]);
	}
	hn_buf_puts(w->buf, "],");
}

static void write_reduce(const struct writer *w, uint32_t k)
{
	const struct hn_reduce *r = w->op->reduce;

	hn_buf_puts(w->buf, "{\"reduce\":{");
	write_names(w, "lhs", r->lhs, r->n);
	write_names(w, "rhs", r->rhs, r->n);
	write_exprs(w, "result", r->result, r->n);
	hn_buf_putc(w->buf, ',');
	write_exprs(w, "identity", r->identity, r->n);
	hn_buf_puts(w->buf, "},");
	write_exprs(w, "source", r->source, r->n);
	hn_buf_puts(w->buf, ",\"condition\":");
	if (r->condition != NULL) {
		write_expr(w, r->condition);
	} else {
		hn_buf_puts(w->buf, "[\"int\",1,\"bool\"]");
	}
	hn_buf_printf(w->buf, ",\"init\":[],\"value_index\":%" PRIu32 "}", k);
}

/* Extent i of the op: a number, or a form over sizes. */
static void write_extent(const struct writer *w, uint32_t i, int64_t number)
{
	const struct hn_expr *form = hn_op_extent(w->op, i);

	if (form != NULL) {
		write_expr(w, form);
	} else {
		hn_buf_printf(w->buf, "%" PRId64, number);
	}
}

static void write_axes(const struct writer *w, const char *key, uint32_t first,
		       uint32_t n)
{
	hn_buf_printf(w->buf, ",\"%s\":[", key);
	for (uint32_t i = first; i < first + n; i++) {
		const struct hn_axis *axis = &w->op->axis[i];

		hn_buf_puts(w->buf, i > first ? ",[" : "[");
		hn_buf_json_string(w->buf, axis->name);
		hn_buf_printf(w->buf, ",%" PRId64 ",", axis->min);
		write_extent(w, i, axis->extent);
		hn_buf_putc(w->buf, ']');
	}
	hn_buf_putc(w->buf, ']');
}

static void write_compute(const struct writer *w)
{
	const struct hn_op *op = w->op;

	write_axes(w, "axes", 0, op->n_spatial);
	write_axes(w, "reduce_axes", op->n_spatial, op->n_reduce);
	hn_buf_putc(w->buf, ',');
	if (op->reduce == NULL) {
		write_exprs(w, "body", op->body, op->n_out);
		return;
	}
	hn_buf_puts(w->buf, "\"body\":[");
	for (uint32_t k = 0; k < op->n_out; k++) {
		hn_buf_puts(w->buf, k > 0 ? "," : "");
		write_reduce(w, k);
	}
	hn_buf_putc(w->buf, ']');
}

static void write_head(const struct writer *w)
{
	const struct hn_op *op = w->op;
	bool compute = op->kind == HN_OP_COMPUTE;

	hn_buf_printf(w->buf,
		      "{\"kind\":\"%s\",\"id\":", compute ? "compute" : "placeholder");
	hn_buf_json_string(w->buf, op->id);
	hn_buf_puts(w->buf, ",\"name\":");
	hn_buf_json_string(w->buf, op->name);
	if (compute || op->tag[0] != '\0') {
		hn_buf_puts(w->buf, ",\"tag\":");
		hn_buf_json_string(w->buf, op->tag);
	}
	hn_buf_puts(w->buf, ",\"shape\":[");
	for (uint32_t d = 0; d < op->n_dim; d++) {
		hn_buf_puts(w->buf, d > 0 ? "," : "");
		write_extent(w, d, op->shape[d]);
	}
	hn_buf_puts(w->buf, compute ? "],\"dtype\":[" : "],\"dtype\":");
	for (uint32_t k = 0; k < op->n_out; k++) {
		hn_buf_printf(w->buf, "%s\"%s\"", k > 0 ? "," : "",
			      hn_dtype_name(op->dtype[k]));
	}
	hn_buf_puts(w->buf, compute ? "]" : "");
}

static void write_op(const struct writer *w)
{
	const struct hn_op *op = w->op;

	write_head(w);
	if (op->kind == HN_OP_COMPUTE) {
		write_compute(w);
	}
	for (uint32_t i = 0; i < op->n_attr; i++) {
		hn_buf_puts(w->buf, i > 0 ? "," : ",\"attrs\":{");
		hn_buf_json_string(w->buf, op->attr[i].name);
		hn_buf_printf(w->buf, ":%s", op->attr[i].json);
	}
	hn_buf_puts(w->buf, op->n_attr > 0 ? "}}" : "}");
}

static void write_sizes(const struct hn_dag *dag, struct hn_buf *buf)
{
	for (uint32_t k = 0; dag->sizes != NULL && k < dag->sizes->n; k++) {
		const struct hn_size *s = &dag->sizes->size[k];

		hn_buf_puts(buf, k > 0 ? ",[" : "\"sizes\":[[");
		hn_buf_json_string(buf, s->name);
		hn_buf_printf(buf, ",%" PRId64 ",%" PRId64 "]", s->lo, s->hi);
	}
	hn_buf_puts(buf, dag->sizes != NULL ? "]," : "");
}

void hn_dag_write_json(const struct hn_dag *dag, struct hn_buf *buf)
{
	struct writer w = { dag, NULL, buf };

	hn_buf_puts(buf, "{\"format\":\"compute-dag/1\",");
	write_sizes(dag, buf);
	hn_buf_puts(buf, "\"ops\":[");
	for (uint32_t i = 0; i < dag->n_op; i++) {
		hn_buf_puts(buf, i > 0 ? "," : "");
		w.op = dag->op[i];
		write_op(&w);
	}
	hn_buf_puts(buf, "],\"inputs_outputs\":[");
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		int32_t out = 0;

		for (uint32_t j = 0; j < i; j++) {
			out += dag->arg[j] == dag->arg[i];
		}
		hn_buf_puts(buf, i > 0 ? "," : "");
		write_id(&w, dag->arg[i], out);
	}
	hn_buf_puts(buf, "]}");
}
