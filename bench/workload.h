/* bench/workload.h -- the workloads that benchmarks run on: the project's own examples.
 */
#ifndef HN_BENCH_WORKLOAD_H
#define HN_BENCH_WORKLOAD_H

#include "bench/bench.h"
#include "loopstate/dag/dag.h"
#include "target/target.h"

struct hn_bench_case {
	const char *name;
	const struct hn_dag *dag; /* in the arena */
};

/* The files named by args, or all examples. Prints and returns -1 on a bad file. */
int hn_bench_cases(const struct hn_bench_args *args, struct hn_arena *a, uint32_t *ret_n,
		   struct hn_bench_case **ret);

/* The same; without arguments all examples and the shared cases, as far as they are there. */
int hn_bench_suite(const struct hn_bench_args *args, struct hn_arena *a, uint32_t *ret_n,
		   struct hn_bench_case **ret);

#endif
