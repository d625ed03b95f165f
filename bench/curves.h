/* bench/curves.h -- how good a search's best program is after so many trials, on a machine that
 * is arithmetic (bench/machine.h): the same bits at every run, so that a test can tell when
 * the search has become worse (tests/full/bench_curves.c, tests/data/curves.jsonl).
 */
#ifndef HN_BENCH_CURVES_H
#define HN_BENCH_CURVES_H

#include <stdint.h>

#define HN_CURVE_POINTS 3
#define HN_CURVE_SEEDS 10 /* 1 to 10 */

extern const uint32_t hn_curve_trials[HN_CURVE_POINTS]; /* 64, 200, 1000 */

struct hn_curve {
	const char *workload, *policy;
	uint64_t seed;
	double best_ns[HN_CURVE_POINTS]; /* after hn_curve_trials of them */
};

/* All curves, by workload, then policy (evolve, random), then seed; *ret_n of them.  So many
 * threads, one curve at a time each.  Free with free(). */
struct hn_curve *hn_curves_run(uint32_t n_thread, uint32_t *ret_n);

#endif
