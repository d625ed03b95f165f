/* bench/bench.h -- the contract of one benchmark: a row of benches.def and a file.
 *
 * Each prints one JSON object a line: {"name": ..., "value": ..., "unit": ...,
 * ...context}. Times on a shared machine mean little; ratios taken in one run mean
 * something.
 */
#ifndef HN_BENCH_BENCH_H
#define HN_BENCH_BENCH_H

#include <stdint.h>

struct hn_bench_args {
	int argc; /* words after the benchmark's name */
	char **argv;
	const char *examples; /* folder of the example workloads */
	const char *cases;    /* folder of the shared cases; may be missing */
	const char *nests;    /* folder of the compiled loop nests (bench/polybench/) */
};

/* Print one row: context is further JSON members (`"case": "x"`), or "". */
void hn_bench_row(const char *name, double value, const char *unit, const char *context);

/* 0, or an exit status. */
typedef int (*hn_bench_fn)(const struct hn_bench_args *args);

#endif
