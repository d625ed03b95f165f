/* loopstate/read/dag_json_ragged.c -- extents of compute-dag/1 that are expressions over axes
 * outside, as TVM writes adaptive pooling (loopstate/dag/ragged.h).
 *
 * Ansor's rules do not know such an extent, even one that is a number everywhere.  So the op
 * remembers in an attribute which these axes are (sketch/query.c).
 */
#include <string.h>

#include "loopstate/dag/ragged.h"
#include "loopstate/dag/size.h"
#include "loopstate/expr/simplify.h"
#include "loopstate/read/dag_json_priv.h"

#define FAIL(r, at, ...) hn_dag_read_fail(r, at, HONE_E_INVALID, __VA_ARGS__)

/* Add the name to the op's list of such axes. */
static void note_axis(struct hn_dag_reader *r, struct hn_op *op, const char *name)
{
	struct hn_attr *attr = HN_NEW_ARRAY(r->a, struct hn_attr, op->n_attr + 1);
	struct hn_attr *mine = &attr[op->n_attr];
	struct hn_buf json;

	for (uint32_t i = 0; i < op->n_attr; i++) {
		attr[i] = op->attr[i];
		mine = strcmp(attr[i].name, HN_RAGGED_AXES) == 0 ? &attr[i] : mine;
	}
	op->n_attr += mine == &attr[op->n_attr];
	const char **item = HN_NEW_ARRAY(r->a, const char *, mine->n_item + 1);

	for (uint32_t i = 0; i < mine->n_item; i++) {
		item[i] = mine->item[i];
	}
	item[mine->n_item] = name;
	hn_buf_init(&json);
	for (uint32_t i = 0; i <= mine->n_item; i++) {
		hn_buf_putc(&json, i > 0 ? ',' : '[');
		hn_buf_json_string(&json, item[i]);
	}
	hn_buf_putc(&json, ']');
	*mine = (struct hn_attr){ .name = HN_RAGGED_AXES,
				  .json = hn_arena_strdup(r->a, json.s),
				  .n_item = mine->n_item + 1,
				  .item = item };
	hn_buf_fini(&json);
	op->attr = attr;
}

static bool uses_axis(const struct hn_expr *e, uint32_t n)
{
	bool uses = false;

	for (uint32_t i = 0; i < n && !uses; i++) {
		uses = hn_expr_uses(e, (int32_t)i);
	}
	return uses;
}

int hn_dag_read_ragged(struct hn_dag_reader *r, const struct hn_json *v, struct hn_op *op,
		       uint32_t i, const struct hn_json_path *at, struct hn_axis *ret,
		       const struct hn_expr **ret_form)
{
	struct hn_dag_name names[HN_DAG_MAX_ITERS];
	struct hn_expr_reader x = { .dag = r, .at = { op, r->op, r->n_op, false } };
	const struct hn_expr *within;
	int64_t lo;

	if (hn_json_kind(v) != HN_JSON_ARRAY) {
		return FAIL(r, at, "the extent must be a whole number, or an expression over axes "
				   "outside of this one");
	}
	x.scope = hn_dag_axis_names(r->size_names, op->axis, i, names);
	const struct hn_expr *form = hn_dag_read_expr(&x, v, at);

	if (form == NULL) {
		return -HONE_E_INVALID;
	}
	if (r->sizes != NULL && !uses_axis(form, i) &&
	    hn_size_range(r->sizes, form, &lo, &ret->extent)) {
		*ret_form = hn_size_form(form, r->a);
		return 0;
	}
	const char *fault = hn_ragged_axis(op, i, ret->name, ret->min, form, r->a, &ret->extent,
					   &within);

	if (fault != NULL) {
		return hn_dag_read_fail(r, at, HONE_E_UNSUPPORTED, "%s", fault);
	}
	r->within = hn_ragged_both(r->within, within, r->a);
	note_axis(r, op, ret->name);
	return 0;
}
