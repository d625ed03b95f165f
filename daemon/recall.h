/* daemon/recall.h -- what the store knows of a workload on a target, read by the store's thread
 * into memory of its own: the loop takes from it what it wants. */
#ifndef HN_DAEMON_RECALL_H
#define HN_DAEMON_RECALL_H

#include "db/db.h"

struct hn_recall {
	struct hn_arena arena;
	struct hn_promotion promotion; /* record_id 0 = none */
	uint32_t n, cap;
	struct hn_record *record; /* oldest first; without samples, keys, stamp and descent */
	struct hn_naive naive;
	double best_ns; /* 0 = none */
	const char *best_steps;
	const char *model; /* what a cost model has learned of the target; NULL */
};

void hn_recall_init(struct hn_recall *r);
void hn_recall_fini(struct hn_recall *r);

/* Once.  model: its name in the store, or NULL. */
int hn_recall_read(struct hn_recall *r, struct hn_db *db, const char *workload,
		   const char *target, const char *model, struct hn_err *err) HN_NODISCARD;

#endif
