/* loopstate/state/state_int.h -- what step files and state*.c share; nobody outside loopstate/
 * includes it.
 *
 * A step's apply makes one shallow copy of the state, replaces what it changes with
 * private copies, and returns it; hn_state_apply has already put the longer trace in
 * place.
 */
#ifndef HN_LOOPSTATE_STATE_STATE_INT_H
#define HN_LOOPSTATE_STATE_STATE_INT_H

#include "loopstate/state/step.h"

/* Build -HONE_E_INVALID with "SP stage 2 (C) iter 3: <fmt>". */
int hn_step_refuse(const struct hn_state *s, const struct hn_step *step,
		   struct hn_err *err, const char *fmt, ...) HN_PRINTF(4, 5);

/* The step's stage exists and is computed (not a placeholder). */
int hn_step_check_computed(const struct hn_state *s, const struct hn_step *step,
			   struct hn_err *err) HN_NODISCARD;

/* ... and has loops: it is not inlined. */
int hn_step_check_looped(const struct hn_state *s, const struct hn_step *step,
			 struct hn_err *err) HN_NODISCARD;

/* ... and a[0] is one of its iterators. */
int hn_step_check_iter(const struct hn_state *s, const struct hn_step *step,
		       struct hn_err *err) HN_NODISCARD;

/* One op more may be made of the step's stage: enough ops are left, names stay short. */
int hn_step_check_room(const struct hn_state *s, const struct hn_step *step,
		       struct hn_err *err) HN_NODISCARD;

/* ... and the step's text is fit to be a memory scope and a part of names. */
int hn_step_check_scope(const struct hn_state *s, const struct hn_step *step,
			struct hn_err *err) HN_NODISCARD;

/* Nobody has split, fused, reordered or annotated the stage's loops, nor set a pragma or prefetch:
 * cache_write and rfactor replace the loops, and must not lose such a step silently. */
bool hn_stage_untouched(const struct hn_state *s, int32_t stage);

/* Whether the kernel's caller sees this op. */
bool hn_state_is_arg(const struct hn_state *s, int32_t stage);

/* The op of a stage; its name. */
const struct hn_op *hn_state_op(const struct hn_state *s, int32_t stage);

/* A copy of `s` with a stage table of its own, to be changed by who made it. */
struct hn_state *hn_state_dup(const struct hn_state *s, struct hn_arena *a);

/* A private copy of stage i, put in its place in `n`; its iterators and relations are
 * still shared. */
struct hn_stage *hn_state_own_stage(struct hn_state *n, int32_t i, struct hn_arena *a);

/* A private copy of the stage's iterators, in their place, with room for more. */
struct hn_iter *hn_stage_own_iters(struct hn_stage *st, uint32_t n_room,
				   struct hn_arena *a);

/* One more relation of the stage, zeroed; to be filled. */
struct hn_rel *hn_stage_add_rel(struct hn_stage *st, struct hn_arena *a);

/* The stage of an op nobody touched: at root, one loop per axis. */
const struct hn_stage *hn_stage_fresh(const struct hn_op *op, struct hn_arena *a);

/* Forget the extents of all loops (they hold only where the stage was). */
void hn_stage_forget_extents(struct hn_stage *st, struct hn_arena *a);

/* `s` over `dag`, which has one op more, at position `at`: stages and attachments from
 * there on move up by one, the new stage is fresh. */
struct hn_state *hn_state_insert(const struct hn_state *s, const struct hn_dag *dag,
				 int32_t at, struct hn_arena *a);

/* Replace stage i (moved by hn_state_insert) by a fresh one of its new op, attached where
 * the old one was. */
void hn_state_refresh(struct hn_state *n, int32_t i, struct hn_arena *a);

/* For sentences: the iterator's name ("?" when there is none). */
const char *hn_step_iter_name(const struct hn_state *s, const struct hn_step *step);

#endif
