/* loopstate/dag/attr.c -- the attributes that hone knows (see attr.h). */
#include "loopstate/dag/attr.h"

#include <string.h>

#include "loopstate/dag/dag_priv.h"

static const struct hn_attr_row rows[] = {
#define ATTR(name, kind) { #name, HN_ATTR_##kind },
#include "loopstate/dag/attrs.def"
#undef ATTR
};

uint32_t hn_attr_n_rows(void)
{
	return HN_COUNT_OF(rows);
}

const struct hn_attr_row *hn_attr_row(uint32_t i)
{
	return &rows[i];
}

const struct hn_attr_row *hn_attr_find(const char *name)
{
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (strcmp(rows[i].name, name) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

bool hn_attr_has_items(enum hn_attr_kind kind)
{
	return kind == HN_ATTR_OPS || kind == HN_ATTR_AXES;
}

int32_t hn_attr_op(const struct hn_dag *dag, const char *item)
{
	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (strcmp(dag->op[i]->id, item) == 0) {
			return (int32_t)i;
		}
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (strcmp(dag->op[i]->name, item) == 0) {
			return (int32_t)i;
		}
	}
	return -1;
}

bool hn_attr_means(const struct hn_dag *dag, const char *item, int32_t op)
{
	return strcmp(dag->op[op]->id, item) == 0 ||
	       (strcmp(dag->op[op]->name, item) == 0 && hn_attr_op(dag, item) == op);
}

int32_t hn_attr_axis(const struct hn_op *op, const char *item)
{
	for (uint32_t i = 0; i < op->n_spatial + op->n_reduce; i++) {
		if (strcmp(op->axis[i].name, item) == 0) {
			return (int32_t)i;
		}
	}
	return -1;
}

static int check_items(const char *what, const struct hn_dag *dag, const struct hn_op *op,
		       const struct hn_attr *attr, enum hn_attr_kind kind, struct hn_err *err)
{
	if (attr->item == NULL) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: '%s': the attribute '%s' must be a list of strings", what,
			       op->id, attr->name);
	}
	for (uint32_t i = 0; i < attr->n_item; i++) {
		const char *item = attr->item[i];
		bool is_op = kind == HN_ATTR_OPS;

		if ((is_op ? hn_attr_op(dag, item) : hn_attr_axis(op, item)) < 0) {
			return hn_fail(err, HONE_E_INVALID,
				       "%s: '%s': the attribute '%s' names '%s', and there is no "
				       "such %s",
				       what, op->id, attr->name, item,
				       is_op ? "op" : "axis of this op");
		}
	}
	return 0;
}

int hn_dag_check_attrs(const char *what, const struct hn_dag *dag, struct hn_err *err)
{
	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];

		for (uint32_t k = 0; k < op->n_attr; k++) {
			const struct hn_attr_row *row = hn_attr_find(op->attr[k].name);
			int rc = row != NULL && hn_attr_has_items(row->kind)
					 ? check_items(what, dag, op, &op->attr[k], row->kind, err)
					 : 0;

			if (rc != 0) {
				return rc;
			}
		}
	}
	return 0;
}
