/* loopstate/dag/attr.h -- the attributes that hone knows, and what their items stand for.
 *
 * One table (attrs.def) for the readers, the writer, the key and the checks.  Unknown attributes
 * have no row: they are kept and ignored. */
#ifndef HN_LOOPSTATE_DAG_ATTR_H
#define HN_LOOPSTATE_DAG_ATTR_H

#include "loopstate/dag/dag.h"

enum hn_attr_kind {
	HN_ATTR_OPS,   /* a list of ops */
	HN_ATTR_AXES,  /* a list of axes of the op */
	HN_ATTR_FLAG,  /* present or not */
	HN_ATTR_TIMED, /* the same, of how the task is timed: no part of its structure */
	HN_ATTR_NUMBER /* a number: no part of the key */
};

struct hn_attr_row {
	const char *name;
	enum hn_attr_kind kind;
};

uint32_t hn_attr_n_rows(void);
const struct hn_attr_row *hn_attr_row(uint32_t i); /* i < hn_attr_n_rows() */
const struct hn_attr_row *hn_attr_find(const char *name); /* NULL: unknown */

/* Whether attributes of that kind have a list of items. */
bool hn_attr_has_items(enum hn_attr_kind kind);

/* The index of what the item stands for, or -1.  An op is meant by its id, or by its name where
 * no op has that id (then the first op with that name). */
int32_t hn_attr_op(const struct hn_dag *dag, const char *item);
int32_t hn_attr_axis(const struct hn_op *op, const char *item);

/* hn_attr_op(dag, item) == op, without a walk over all ops where neither id nor name fits. */
bool hn_attr_means(const struct hn_dag *dag, const char *item, int32_t op);

#endif
