/* loopstate/state/attach.h -- edits of the attach map: which stage runs inside which loop.
 *
 * The map has two directions that these functions keep in step: stage -> (stage,
 * iterator) in the stage itself, and (stage, iterator) -> ordered list of stages in
 * state->attached.  All take a state that hn_state_dup made.  Invariants: hn_state_check
 * 4 and 5.
 */
#ifndef HN_LOOPSTATE_STATE_ATTACH_H
#define HN_LOOPSTATE_STATE_ATTACH_H

#include "loopstate/state/state.h"

/* Take `stage` out of the map and put it at root (no-op when it is not attached). */
void hn_attach_remove(struct hn_state *n, int32_t stage, struct hn_arena *a);

/* Attach `stage` at (target, iter), behind those already there. */
void hn_attach_set(struct hn_state *n, int32_t stage, int32_t target, int32_t iter,
		   struct hn_arena *a);

/* Iterator i of `target` is now iterator to[i]: its attachments follow. */
void hn_attach_renumber(struct hn_state *n, int32_t target, const int32_t *to,
			struct hn_arena *a);

/* The same for the attached stages alone: the map names the old places, which is what
 * Ansor prints after a reordering (HN_REPLAY_ANSOR only). */
void hn_attach_follow(struct hn_state *n, int32_t target, const int32_t *to,
		      struct hn_arena *a);

/* Stage ids >= at are one higher now, keys and attached stages both.  n->stage already
 * has the new numbering. */
void hn_attach_shift(struct hn_state *n, int32_t at, struct hn_arena *a);

/* Whether any stage is attached at `stage` with iterator >= first. */
bool hn_attach_any(const struct hn_state *s, int32_t stage, int32_t first);

#endif
