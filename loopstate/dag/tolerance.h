/* loopstate/dag/tolerance.h -- how far a right kernel may be from the reference. */
#ifndef HN_LOOPSTATE_DAG_TOLERANCE_H
#define HN_LOOPSTATE_DAG_TOLERANCE_H

#include "loopstate/dag/dag.h"

/* How far an output may be from the reference, relative to the magnitude of what
 * was summed.  A sum of L random terms errs by about eps * sqrt(L) in any order, so
 * the rule is factor(dtype) * sqrt(L), with L the longest chain of reductions (extents of
 * reduce axes, added up along producers) and factor 1e-5 for float32, 1e-13 for float64;
 * integers and booleans must be equal. The widest of the outputs counts; never above
 * 1e-2. */
double hn_dag_tolerance(const struct hn_dag *dag);

#endif
