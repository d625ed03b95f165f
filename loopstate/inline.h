/* loopstate/inline.h -- the dag of a state with its inlined stages substituted away. */
#ifndef HN_LOOPSTATE_INLINE_H
#define HN_LOOPSTATE_INLINE_H

#include "loopstate/state.h"

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

/* The same dag with one op more inlined, which reads none that is: in its readers, by `access`, the
 * analysis of `before`.  For who inlines step by step, last ops first: the whole anew each time
 * is cubic in a chain's length.  NULL when a body outgrows HN_INLINE_MAX_NODES.  Pure. */
const struct hn_dag *hn_inline_more(const struct hn_dag *before, const struct hn_access *access,
				    int32_t stage, struct hn_arena *a);

/* Position of op among the dag's arguments, or -1. */
int32_t hn_dag_arg_of(const struct hn_dag *dag, int32_t op);

#endif
