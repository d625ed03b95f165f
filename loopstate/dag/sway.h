/* loopstate/dag/sway.h -- which values hang on floats that right kernels need not have to the bit.
 *
 * A sum of floats whose order is free, a function that is vector code in one kernel and libm's in
 * another, a product that is contracted with a sum: their last bits differ among right kernels, and
 * the tolerance says by how much.  Where such a number decides something (it becomes an integer,
 * is compared, or rounded down) a right kernel may decide otherwise near the border.  What is
 * decided by other numbers is settled: all right kernels have it (decided.h).
 */
#ifndef HN_LOOPSTATE_DAG_SWAY_H
#define HN_LOOPSTATE_DAG_SWAY_H

#include "loopstate/dag/dag.h"

enum hn_sway {
	HN_SWAY_NONE,
	HN_SWAY_CASTS, /* casts of floats to integers alone: an error moves them by a step */
	HN_SWAY_ANY    /* comparisons or the like: by anything */
};

/* How what op i holds may differ among right kernels, for want of the bits that decide: ret[n_op].
 * Pure; O(expression nodes). */
void hn_dag_sways(const struct hn_dag *dag, enum hn_sway *ret);

/* Whether floats of an op may differ in their last bits: ret[n_op]. */
void hn_dag_loose(const struct hn_dag *dag, bool *ret);

/* Whether the call's result differs among kernels, vector code being one thing and libm another. */
bool hn_dag_loose_call(const struct hn_dag *dag, const struct hn_expr *e);

/* Whether no output that is an integer sways. */
bool hn_dag_settled(const struct hn_dag *dag);

#endif
