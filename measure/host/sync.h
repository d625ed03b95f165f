/* measure/host/sync.h -- a measurer for programs that have no event loop and wait for each answer:
 * benchmarks. */
#ifndef HN_MEASURE_HOST_SYNC_H
#define HN_MEASURE_HOST_SYNC_H

#include "measure/measure.h"

struct hn_sync;

/* What is left of an answer after its callback. */
struct hn_sync_result {
	enum hn_verdict verdict;
	double median_ns; /* of the samples; OK only */
	double rival_median_ns, log_ratio; /* a duel: the rival's; the median of log(rival / own) */
	int64_t run_ns, kernel_ns;
	char detail[400]; /* as struct hn_measure_result */
};

/* As hn_measurer_new; the caller ignores SIGPIPE. */
int hn_sync_open(const struct hn_measurer_config *config, struct hn_sync **ret,
		 struct hn_err *err) HN_NODISCARD;

/* Each returns when the answer is there. */
struct hn_sync_result hn_sync_workload(struct hn_sync *s, const struct hn_workload *w);
struct hn_sync_result hn_sync_submit(struct hn_sync *s, const char *workload_key,
				     const char *steps, double best_ns);
struct hn_sync_result hn_sync_duel(struct hn_sync *s, const char *workload_key,
				   const char *steps, const char *rival_steps);

/* End the processes and free all. NULL is fine. */
void hn_sync_close(struct hn_sync *s);

#endif
