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

/* TYPE:MxNxK, as bfloat16:4096x4096x4096: a row-major product of row-major matrices, whose sums are
 * float32, of int8 int32. NULL, and err says why: it is no such word. */
const struct hn_dag *hn_bench_product(const char *word, struct hn_arena *a, struct hn_err *err);

#endif
