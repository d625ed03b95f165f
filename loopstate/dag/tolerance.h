/* loopstate/dag/tolerance.h -- how far a right kernel may be from the reference. */
#ifndef HN_LOOPSTATE_DAG_TOLERANCE_H
#define HN_LOOPSTATE_DAG_TOLERANCE_H

#include "loopstate/dag/dag.h"

/* How far an output may be from the reference, relative to the magnitude of what
 * was summed.  A sum of L random terms errs by about eps * sqrt(L) in any order, so
 * the rule is factor(dtype) * sqrt(L), with L the longest chain of reductions (extents of
 * reduce axes, added up along producers) and factor 1e-5 for float32, 1e-13 for float64, never
 * above 1e-2; integers and booleans must be equal.
 *
 * What is rounded to 16 bits may come out one unit in the last place beside the reference where
 * the float32 before it was near a tie, so 1e-3 for float16 and 8e-3 for bfloat16 are added, times
 * the root of how many such roundings follow each other. Sums in these types keep their order
 * (liberty.h), so their length does not count. A float that becomes an integer on the way to a float
 * counts likewise, with 2^-bits, where its last bits are free (sway.h). The worst output counts. */
double hn_dag_tolerance(const struct hn_dag *dag);

/* The first part of it for what op i makes, before it is rounded to 16 bits or to an integer. */
double hn_op_tolerance(const struct hn_dag *dag, uint32_t i);

#endif
