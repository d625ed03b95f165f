/* bench/history.h -- which schedule of hone's stands for a case: of a log, of the store,
 * tuned now, or made by rule.
 *
 * A log holds records in Ansor's form (docs/records.md); the workload key of a line is
 * `["NAME"]`, the case's name in the suite.  Of several for a case the one with the least cost is
 * taken; a hand-written history without a measurement has the cost 0 and so goes first.
 */
#ifndef HN_BENCH_HISTORY_H
#define HN_BENCH_HISTORY_H

#include "base/arena.h"
#include "base/err.h"

/* Steps of the log's record for the case, in record form. HONE_E_NOT_FOUND. */
int hn_history_of_log(const char *path, const char *name, struct hn_arena *a,
		      const char **ret_steps, struct hn_err *err) HN_NODISCARD;

/* Steps of the store's best for this workload key on this machine. HONE_E_NOT_FOUND. */
int hn_history_of_store(const char *key, struct hn_arena *a, const char **ret_steps,
			struct hn_err *err) HN_NODISCARD;

/* Tune with `hone tune` (the program beside this one) for so many seconds: the store
 * knows more afterwards. */
int hn_history_tune(const char *name, const char *text, double seconds,
		    struct hn_err *err) HN_NODISCARD;

/* The fastest of the guard schedules (sketch/guard.h), raced here on the contest's arguments
 * and pool; its contenders are left alone.  HONE_E_NOT_FOUND when none runs. */
struct hn_contest;
struct hn_emitter;
struct hn_target;
int hn_history_of_guards(const struct hn_contest *t, struct hn_emitter *emitter,
			 const struct hn_target *target, struct hn_arena *a,
			 const char **ret_steps, struct hn_err *err) HN_NODISCARD;

/* Append a record to a log. ns: what a call took here. */
int hn_history_save(const char *path, const char *name, const char *steps, double ns,
		    struct hn_err *err) HN_NODISCARD;

#endif
