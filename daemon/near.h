/* daemon/near.h -- a warm start from other workloads of the store. */
#ifndef HN_DAEMON_NEAR_H
#define HN_DAEMON_NEAR_H

#include "daemon/job.h"

#define HN_NEAR_MOST 8 /* programs */

/* Programs for the job's dag, carried over (search/near.h) from the bests of the nearest
 * workloads: those of its structure in other sizes, on its target, that the snapshot in `home`
 * knows; nearest first.  Returns how many; 0 also without a snapshot.  Off the loop: it touches
 * the file and what never changes of the job. */
uint32_t hn_near_find(const char *home, const struct hn_job *j, struct hn_arena *a,
		      const struct hn_trace *ret[HN_NEAR_MOST]);

#endif
