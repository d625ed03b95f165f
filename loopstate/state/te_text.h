/* loopstate/state/te_text.h -- a history as the Python schedule calls that Ansor prints.
 *
 * What people paste into a TVM script: names of axes first, then a line or more a step.
 * Naming is TE's own (i split: i_o, i_i; fused: i_j_fused), so a small simulation of its
 * stages runs beside the replay.  Each step's lines are in its own file (`te` of step.h).
 */
#ifndef HN_LOOPSTATE_STATE_TE_TEXT_H
#define HN_LOOPSTATE_STATE_TE_TEXT_H

#include "loopstate/state/state.h"

/* Longest text; longer ones are only made by hostile histories. */
#define HN_TE_MAX_BYTES ((size_t)16 << 20)

/* Append the lines of `trace`, replayed from the initial state `s` as
 * hn_state_replay_from would.  Errors are the replay's; HONE_E_UNSUPPORTED for a step
 * that Ansor does not have; HONE_E_QUOTA when names or the text grow out of all
 * proportion, or the arena is over its budget.  Source: TVM auto_scheduler,
 * ComputeDAG::PrintStepsAsPython, whose text it equals. */
int hn_te_print(const struct hn_state *s, const struct hn_trace *trace,
		struct hn_arena *a, struct hn_buf *buf, struct hn_err *err) HN_NODISCARD;

#endif
