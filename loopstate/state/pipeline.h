/* loopstate/state/pipeline.h -- whether what is computed in a loop can run ahead of it.
 *
 * Asked as prefetch.h is: by the step PL, and when the loop tree is built.  Where later steps have
 * left nothing to run ahead, the loop is as it was.
 */
#ifndef HN_LOOPSTATE_STATE_PIPELINE_H
#define HN_LOOPSTATE_STATE_PIPELINE_H

#include "loopstate/state/state.h"

/* NULL when what is computed in loop `iter` of `stage` (both must exist) can run ahead, else why
 * not: a static sentence. */
const char *hn_pipeline_why_not(const struct hn_state *s, int32_t stage, uint32_t iter);

#endif
