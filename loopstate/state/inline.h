/* loopstate/state/inline.h -- the dag of a state with its inlined stages substituted away. */
#ifndef HN_LOOPSTATE_STATE_INLINE_H
#define HN_LOOPSTATE_STATE_INLINE_H

#include "loopstate/state/state.h"

/* Nodes one substituted body may have: x*x inlined forty times would need 2^40. */
#define HN_INLINE_MAX_NODES 200000

/* The state's dag, every load of an inlined stage replaced by that stage's body at those
 * indices, transitively; op i is stage i still, inlined ones stay but are read by nobody.
 * Ops that read no inlined stage are shared with the state's dag, and so is the whole dag
 * when nothing is inlined.
 *
 * HONE_E_INVALID when a stage that can not be inlined is (a placeholder, a reduction, an
 * argument of the kernel), HONE_E_UNSUPPORTED when a body outgrows HN_INLINE_MAX_NODES.
 * Pure. */
int hn_inline_dag(const struct hn_state *s, struct hn_arena *a, const struct hn_dag **ret,
		  struct hn_err *err) HN_NODISCARD;

/* The same an op at a time, for who looks at some of them or inlines one after the other: what was
 * found out stays.  Lives in the arena, as do its answers. */
struct hn_inlined;
struct hn_inlined *hn_inlined_new(const struct hn_state *s, struct hn_arena *a);

/* Op `stage` of that dag; NULL when a body outgrew HN_INLINE_MAX_NODES. */
const struct hn_op *hn_inlined_op(struct hn_inlined *x, int32_t stage);

/* The stages that are not inlined and read `stage`, themselves or through inlined ones, ascending;
 * by the loads in the state's own dag, where the substitution may leave fewer. */
struct hn_reader {
	int32_t stage;
	int64_t loads; /* of the one read, in the body with all inlined ones substituted */
};
uint32_t hn_inlined_readers(struct hn_inlined *x, int32_t stage, const struct hn_reader **ret);

/* From now on of `after`: x's state with one stage more inlined, when until now x was asked for
 * nothing but readers of this stage and later ones.  For who inlines last stages first. */
void hn_inlined_follow(struct hn_inlined *x, const struct hn_state *after);

/* An answer and what it depends on: whoever has the same `from`, with the same stages inlined, has
 * the same dag.  Looked up, never invalidated. */
struct hn_inline_answer {
	const struct hn_dag *from; /* before, whose access was the state's */
	const bool *stage;	   /* [from->n_op] which are inlined */
	const struct hn_dag *dag;  /* after */
};

/* `s` with the answer for `like`, a state of the same dag that inlines what `s` will: all that is
 * made of `s` from here on gets it for a comparison of flags.  Both outlive what is made; `s`
 * itself when it has it or there is none. */
const struct hn_state *hn_inline_ahead(const struct hn_state *s, const struct hn_state *like,
				       struct hn_arena *a);

/* Position of op among the dag's arguments, or -1. */
int32_t hn_dag_arg_of(const struct hn_dag *dag, int32_t op);

#endif
