/* bench/history.h -- which schedule of hone's stands for a case: of a log, of the store,
 * tuned now, or made by rule.
 *
 * A log holds records in Ansor's form (docs/records.md); the workload key of a line is
 * `["NAME"]`, the case's name in the suite.  Costs written at different hours do not compare on
 * a shared machine, so of several schedules for a case the one that wins a short race here and
 * now is taken.
 */
#ifndef HN_BENCH_HISTORY_H
#define HN_BENCH_HISTORY_H

#include "base/arena.h"
#include "base/err.h"

#define HN_HISTORY_MAX 12

/* Steps in record form, in the caller's arena. */
struct hn_histories {
	uint32_t n;
	const char *steps[HN_HISTORY_MAX];
};

/* The log's distinct records for the case, the latest HN_HISTORY_MAX of them.
 * HONE_E_NOT_FOUND when there is none. */
int hn_history_of_log(const char *path, const char *name, struct hn_arena *a,
		      struct hn_histories *ret, struct hn_err *err) HN_NODISCARD;

/* Steps of the store's best for this workload key on this machine. HONE_E_NOT_FOUND. */
int hn_history_of_store(const char *key, struct hn_arena *a, const char **ret_steps,
			struct hn_err *err) HN_NODISCARD;

/* Tune with `hone tune` (the program beside this one), with that option as the budget
 * ("--seconds", "--trials"), and take the store's best. */
int hn_history_tuned(const char *name, const char *text, const char *key, const char *option,
		     double budget, struct hn_arena *a, const char **ret_steps,
		     struct hn_err *err) HN_NODISCARD;

/* The heuristic schedules (sketch/heuristic.h); or the automatic one alone (search/auto.h). */
struct hn_dag;
struct hn_target;
void hn_history_of_heuristics(const struct hn_dag *dag, const struct hn_target *target,
			      struct hn_arena *a, struct hn_histories *ret);
void hn_history_of_auto(const struct hn_dag *dag, const struct hn_target *target,
			struct hn_arena *a, struct hn_histories *ret);

/* The fastest of them, raced here on the contest's arguments and pool; its contenders are left
 * alone.  One that does not run is named on standard error; HONE_E_NOT_FOUND when none does. */
struct hn_contest;
struct hn_emitter;
int hn_history_fastest(const struct hn_contest *t, struct hn_emitter *emitter,
		       const struct hn_histories *of, const char **ret_steps,
		       struct hn_err *err) HN_NODISCARD;

/* Append a record to a log. ns: what a call took here. */
int hn_history_save(const char *path, const char *name, const char *steps, double ns,
		    struct hn_err *err) HN_NODISCARD;

#endif
