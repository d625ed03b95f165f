/* loopstate/dag/size.h -- sizes that are given at run time: one dag for a range of extents.
 *
 * A dag may name size parameters, each an integer with the range of values it may take
 * (dag.h, hn_sizes).  An extent is then a form over them: sums of multiples, and quotients
 * by constants (a strided window).  Everywhere `shape` and axis extents hold the largest
 * value, so that schedules, bounds and costs are those of the largest sizes; beside them
 * stand the forms (hn_op.extent), by which loop trees are guarded and arguments laid out.
 * As parameters of a polyhedral model with a context: Feautrier (1991).
 */
#ifndef HN_LOOPSTATE_DAG_SIZE_H
#define HN_LOOPSTATE_DAG_SIZE_H

#include "loopstate/dag/dag.h"

/* Extent i of op: i < n_dim its tensor's, then those of its reduction axes.  A form over
 * sizes; NULL when it is a number. */
const struct hn_expr *hn_op_extent(const struct hn_op *op, uint32_t i);

/* Whether any extent of the op's tensor is a form. */
bool hn_op_is_sized(const struct hn_op *op);

/* Whether any size occurs in e. */
bool hn_expr_uses_size(const struct hn_expr *e);

/* The values e takes over the ranges of the sizes; false when it is no form, or its numbers
 * leave 2^61.  Exact where each size occurs once. */
bool hn_size_range(const struct hn_sizes *sizes, const struct hn_expr *e, int64_t *ret_lo,
		   int64_t *ret_hi);

/* e in one of few spellings, so that equal forms are mostly equal trees. */
const struct hn_expr *hn_size_form(const struct hn_expr *e, struct hn_arena *a);

/* The dag with value[k] for size k, an ordinary dag: what a parametric kernel must compute.
 * HONE_E_INVALID when a value leaves its range.  A dag without sizes is returned as it is;
 * expressions without them are shared. */
int hn_dag_instantiate(const struct hn_dag *dag, const int64_t *value, struct hn_arena *a,
		       const struct hn_dag **ret, struct hn_err *err) HN_NODISCARD;

/* HONE_E_UNSUPPORTED, "what: ...", when the dag has sizes: for all that needs numbers. */
int hn_dag_need_numbers(const char *what, const struct hn_dag *dag, struct hn_err *err)
	HN_NODISCARD;

#endif
