/* loopstate/nest/bounds_scope.h -- which loops stand still for a stage: attach point and
 * memory.
 *
 * Of bounds inference, and of what checks its result.  A loop of a CPU stands still for
 * what is attached in it and runs for everything else.  A loop that is bound to a GPU's thread
 * numbers is judged by the memory that holds the stage instead, wherever it is attached: what lies
 * in shared memory must serve all threads of the block, so thread loops run, and what lies
 * in local memory serves one thread, so they stand still.  Source: TVM's InferBound
 * (NeedRelax). */
#ifndef HN_LOOPSTATE_NEST_BOUNDS_SCOPE_H
#define HN_LOOPSTATE_NEST_BOUNDS_SCOPE_H

#include "loopstate/state/state.h"

/* Whether what lies in the stage's memory serves all iterations of a loop that is so bound: they
 * share it. */
bool hn_scope_serves(const struct hn_state *s, int32_t i, uint8_t ann);

/* fixed[first_loop[s] + k]: loop k of stage s stands still for stage i. */
void hn_scope_fix_loops(const struct hn_state *s, int32_t i, const int32_t *first_loop,
			bool *fixed);

#endif
