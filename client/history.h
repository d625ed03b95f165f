/* client/history.h -- programs out of files: one that was written down, and the best of a log
 * (what TVM calls ApplyHistoryBest). */
#ifndef HN_CLIENT_HISTORY_H
#define HN_CLIENT_HISTORY_H

#include "loopstate/dag/dag.h"
#include "loopstate/state/trace.h"
#include "target/target.h"

/* The program in a file: transform steps, or one line of a log.  HONE_E_INVALID for a log of
 * several records: which one is not ours to guess. */
int hn_history_read(const char *path, struct hn_arena *a, const struct hn_trace **ret,
		    struct hn_err *err) HN_NODISCARD;

struct hn_history {
	const char *steps; /* transform steps, JSON */
	uint64_t line;	   /* of the log */
	double cost_ns;	   /* the mean of the record's costs */
	uint64_t n_fit;	   /* records that could have been it */
};

/* Of the log's records (- = standard input) of this computation that were measured without an
 * error on a target that fits, the one of the lowest cost.  A record is of this computation when
 * its key says so, or, where the key is not hone's, when it replays on it.  Bad lines are passed
 * over.  HONE_E_NOT_FOUND says what else is in the log. */
int hn_history_best(const char *log, const struct hn_dag *dag, const struct hn_target *target,
		    struct hn_arena *a, struct hn_history *ret,
		    struct hn_err *err) HN_NODISCARD;

/* That a record of the log replays on this computation, measured or not: else as above. */
int hn_history_check(const char *log, const struct hn_dag *dag,
		     struct hn_err *err) HN_NODISCARD;

#endif
