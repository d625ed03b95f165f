/* daemon/workload.h -- a dag as the measurer wants it. */
#ifndef HN_DAEMON_WORKLOAD_H
#define HN_DAEMON_WORKLOAD_H

#include "loopstate/dag.h"
#include "measure/measure.h"

/* How far an output may be from the reference, relative to the magnitude of what
 * was summed.  A sum of L random terms errs by about eps * sqrt(L) in any order, so
 * the rule is factor(dtype) * sqrt(L), with L the longest chain of reductions (extents of
 * reduce axes, added up along producers) and factor 1e-5 for float32, 1e-13 for float64;
 * integers and booleans must be equal. The widest of the outputs counts; never above
 * 1e-2. */
double hn_workload_tolerance(const struct hn_dag *dag);

/* Strings and arrays live in `a`. */
struct hn_workload hn_workload_of(const struct hn_dag *dag, const char *key,
				  const char *dag_json, struct hn_arena *a);

#endif
