/* loopstate/dag/dag_key.c -- the name of a computation, and of its structure.
 *
 * A canonical text of all that decides what is computed and what may be done about it,
 * hashed. Ids, names of axes and tensors, tags and unknown attributes do not count.  The
 * order of ops does: it is the order of stages, which records number.  The structure's text
 * is the same with a mark for each integer.
 */
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "loopstate/dag/attr.h"
#include "loopstate/dag/dag_priv.h"
#include "loopstate/dag/size.h"

/* Slots as keys spell them, for ever: axes as they are, then 1000, 2000 and 3000 on for the
 * combiner's two sides and let names, 1000000 on for size parameters. */
static int32_t key_slot(const struct hn_expr *e)
{
	if (e->op != HN_EXPR_VAR && e->op != HN_EXPR_LET) {
		return e->ref;
	}
	if (hn_expr_is_size(e)) {
		return 1000000 + (e->ref - HN_SLOT_SIZE);
	}
	if (e->ref >= HN_SLOT_LET) {
		return 3000 + (e->ref - HN_SLOT_LET);
	}
	if (e->ref >= HN_SLOT_RHS) {
		return 2000 + (e->ref - HN_SLOT_RHS);
	}
	return e->ref >= HN_SLOT_LHS ? 1000 + (e->ref - HN_SLOT_LHS) : e->ref;
}

struct text {
	struct hn_buf buf;
	bool structure; /* integers do not count */
};

static void key_int(struct text *t, int64_t v)
{
	if (t->structure) {
		hn_buf_puts(&t->buf, " #");
	} else {
		hn_buf_printf(&t->buf, " %" PRId64, v);
	}
}

static void key_expr(const struct hn_expr *e, struct text *t)
{
	struct hn_buf *buf = &t->buf;

	hn_buf_printf(buf, "(%s %s", hn_expr_op_name(e->op), hn_dtype_name(e->dtype));
	switch (e->op) {
	case HN_EXPR_INT:
		key_int(t, e->u.i);
		break;
	case HN_EXPR_FLOAT:
		hn_buf_printf(buf, " %a", e->u.f);
		break;
	case HN_EXPR_CALL:
		hn_buf_printf(buf, " %s", hn_fn_name((enum hn_fn)e->ref));
		break;
	default:
		hn_buf_printf(buf, " %" PRId32 ".%" PRId32, key_slot(e), e->out);
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		key_expr(e->arg[i], t);
	}
	hn_buf_putc(buf, ')');
}

static void key_owned(const struct hn_expr *e, const char *owner, uint32_t k, void *ctx)
{
	struct text *t = ctx;

	hn_buf_printf(&t->buf, " %s %" PRIu32 " ", owner, k);
	key_expr(e, t);
}

/* An item by what it stands for, so that renaming changes nothing. */
static void key_item(const struct hn_dag *dag, const struct hn_op *op, enum hn_attr_kind kind,
		     const char *item, struct hn_buf *buf)
{
	int32_t i = kind == HN_ATTR_OPS ? hn_attr_op(dag, item) : hn_attr_axis(op, item);

	if (i >= 0) {
		hn_buf_printf(buf, " %" PRIi32, i);
	} else { /* of an op that steps made, whose axes are others */
		hn_buf_putc(buf, ' ');
		hn_buf_json_string(buf, item);
	}
}

static void key_attrs(const struct hn_dag *dag, const struct hn_op *op, struct text *t)
{
	for (uint32_t i = 0; i < hn_attr_n_rows(); i++) {
		const struct hn_attr_row *row = hn_attr_row(i);
		const struct hn_attr *attr = hn_op_attr(op, row->name);

		if (attr == NULL || row->kind == HN_ATTR_NUMBER ||
		    (hn_attr_has_items(row->kind) && attr->n_item == 0) ||
		    (row->kind == HN_ATTR_TIMED && t->structure)) {
			continue;
		}
		hn_buf_printf(&t->buf, " %s", row->name);
		for (uint32_t j = 0; hn_attr_has_items(row->kind) && j < attr->n_item; j++) {
			key_item(dag, op, row->kind, attr->item[j], &t->buf);
		}
	}
}

static void key_op(const struct hn_dag *dag, const struct hn_op *op, struct text *t)
{
	struct hn_buf *buf = &t->buf;

	hn_buf_puts(buf, op->kind == HN_OP_COMPUTE ? "compute [" : "input [");
	for (uint32_t d = 0; d < op->n_dim; d++) {
		key_int(t, op->shape[d]);
	}
	hn_buf_puts(buf, " ]");
	for (uint32_t k = 0; k < op->n_out; k++) {
		hn_buf_printf(buf, " %s", hn_dtype_name(op->dtype[k]));
	}
	for (uint32_t i = op->n_spatial; i < op->n_spatial + op->n_reduce; i++) {
		hn_buf_puts(buf, " over");
		key_int(t, op->axis[i].min);
		key_int(t, op->axis[i].extent);
	}
	for (uint32_t i = 0; i < op->n_dim + op->n_reduce; i++) {
		if (hn_op_extent(op, i) != NULL) {
			hn_buf_printf(buf, " extent %" PRIu32 " ", i);
			key_expr(hn_op_extent(op, i), t);
		}
	}
	hn_dag_op_exprs(op, key_owned, t);
	key_attrs(dag, op, t);
	hn_buf_putc(buf, '\n');
}

static void write_key(const struct hn_dag *dag, struct text *t, const char *kind,
		      char key[HN_KEY_BYTES])
{
	struct hn_buf *buf = &t->buf;

	hn_buf_init(buf);
	hn_buf_puts(buf, kind);
	for (uint32_t k = 0; dag->sizes != NULL && k < dag->sizes->n; k++) {
		hn_buf_puts(buf, "size");
		key_int(t, dag->sizes->size[k].lo);
		key_int(t, dag->sizes->size[k].hi);
		hn_buf_putc(buf, '\n');
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		key_op(dag, dag->op[i], t);
	}
	hn_buf_puts(buf, "args");
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		hn_buf_printf(buf, " %" PRId32, dag->arg[i]);
	}
	hn_assert(!buf->failed);
	hn_sha256_hex(buf->s, buf->n, key);
	hn_buf_fini(buf);
}

void hn_dag_key(const struct hn_dag *dag, char key[HN_KEY_BYTES])
{
	write_key(dag, &(struct text){ .structure = false }, "hone-dag-key/1\n", key);
}

void hn_dag_structure_key(const struct hn_dag *dag, char key[HN_KEY_BYTES])
{
	write_key(dag, &(struct text){ .structure = true }, "hone-structure/1\n", key);
}
