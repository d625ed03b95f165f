/* search/logline.h -- what a line of a log says of one computation and target: whether it is of
 * them, what it cost where it was measured, and which program it is.
 *
 * The client that names a log and the policy that replays it ask the same questions here, so both
 * leave out the same lines.
 */
#ifndef HN_SEARCH_LOGLINE_H
#define HN_SEARCH_LOGLINE_H

#include "loopstate/dag/dag.h"
#include "loopstate/record/record.h"
#include "target/target.h"

/* The mean of its costs, as TVM compares them; below 0: it was not measured, or failed. */
double hn_logline_cost_ns(const struct hn_log_record *r);

/* Whether a record made for the target `line` is worth a try on `target`: code is made anew, so the
 * kind is what counts; a line of hone's says for which instructions, too. */
bool hn_logline_target(const char *line, const struct hn_target *target);

/* Its steps replay on the computation, and every loop that they split is as long as it was where
 * the record was made: sizes are no part of what replay checks.  HONE_E_INVALID with the reason.
 * hash, where it is not NULL, becomes that of the program (target/cpu/fingerprint.h). */
int hn_logline_replays(const struct hn_dag *dag, const struct hn_trace *trace, uint64_t *hash,
		       struct hn_err *err) HN_NODISCARD;

/* Whether the record is to be imported as one of that workload key: it has the key, was measured
 * without an error on a fitting target, and replays.  HONE_E_NOT_FOUND: another key;
 * HONE_E_INVALID with the reason. */
int hn_logline_imports(const struct hn_log_record *r, const char *key, const struct hn_dag *dag,
		       const struct hn_target *target, uint64_t *hash,
		       struct hn_err *err) HN_NODISCARD;

#endif
