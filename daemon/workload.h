/* daemon/workload.h -- a dag as the measurer wants it. */
#ifndef HN_DAEMON_WORKLOAD_H
#define HN_DAEMON_WORKLOAD_H

#include "loopstate/dag/dag.h"
#include "measure/measure.h"

/* Strings and arrays live in `a`. */
struct hn_workload hn_workload_of(const struct hn_dag *dag, const char *key,
				  const char *dag_json, struct hn_arena *a);

#endif
