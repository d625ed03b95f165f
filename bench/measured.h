/* bench/measured.h -- the programs of several stores, each once, with one time.
 *
 * A store (hone.sqlite) is one series of measurements. If it has several records of a program,
 * the fastest round counts.
 *
 * Several stores may hold the same programs, measured on another day or for longer. The machine
 * is not the same every day. So the times of a later store are first scaled, workload by
 * workload: by the median ratio of the programs that earlier stores have too. Then the time from
 * the store with the most rounds counts.
 */
#ifndef HN_BENCH_MEASURED_H
#define HN_BENCH_MEASURED_H

#include "costmodel/features.h"
#include "loopstate/dag/dag.h"
#include "target/target.h"

#define HN_MEASURED_MOST 600	/* programs of a workload, chosen by hash */
#define HN_MEASURED_WORKLOADS 1000

struct hn_measured_program {
	struct hn_features features;
	double ns;
	double first_ns, last_ns; /* of its first record, and of its last */
	uint32_t n_record, n_round;
	uint64_t hash; /* of its steps */
	uint32_t workload;
};

struct hn_measured {
	struct hn_arena keep;
	struct hn_target target;
	uint32_t n, cap;
	struct hn_measured_program *program; /* workload by workload, in each by hash */
	uint32_t n_workload;
	struct {
		const char *key, *name;
		const struct hn_dag *dag;
	} workload[HN_MEASURED_WORKLOADS];
	uint32_t first[HN_MEASURED_WORKLOADS + 1]; /* of a workload's programs */
};

/* Read these stores, in this order; programs that failed, or that this version cannot replay, are
 * left out. */
int hn_measured_load(struct hn_measured *m, char *const *home, int n_home,
		     struct hn_err *err) HN_NODISCARD;

/* Also after a failure. */
void hn_measured_fini(struct hn_measured *m);

#endif
