/* client/task_times.h -- how long the kernels of a network take, as it would be compiled now. */
#ifndef HN_CLIENT_TASK_TIMES_H
#define HN_CLIENT_TASK_TIMES_H

#include "client/network.h"

struct hn_task_time {
	const struct hn_gtask *task;
	const char *key;
	double ns;     /* of one run; 0 = nobody knows */
	const char *refused; /* why there is no kernel for the target; NULL: there is, or nobody looked */
	bool measured; /* by the best record, or the automatic schedule in the network where its final
			* took that; else predicted of the automatic schedule, by the analytic model */
};

/* Of all tasks, [n_task], in n's arena.  made: kernels that are not measured are made, where there may
 * be none for the target; one that is refused has no time. */
int hn_task_times(const struct hn_opts *o, struct hn_network *n, bool made, const struct hn_task_time **ret,
		  struct hn_err *err) HN_NODISCARD;

/* Of all runs of all of them. */
double hn_task_times_sum(const struct hn_task_time *t, uint32_t n);

#endif
