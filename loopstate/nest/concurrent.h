/* loopstate/nest/concurrent.h -- what loops whose iterations run at the same time may do.
 *
 * The quick check, the exact one and its explanation ask here, so that all three mean the same
 * loops (ann.h).  Iterations may not touch what another writes, but for one case: threads of a
 * block may each reduce a part, which they then combine.
 *
 * In the loop tree a stage that is attached inside thread loops is computed in each of their
 * iterations.  On a GPU what lies in memory that these threads share is computed once, by all
 * of them, between two barriers.  Both are the same only under the rules of hn_threads_agree.  The
 * barriers themselves are the emitter's.
 */
#ifndef HN_LOOPSTATE_NEST_CONCURRENT_H
#define HN_LOOPSTATE_NEST_CONCURRENT_H

#include "loopstate/nest/looptree.h"

/* A loop of more than one iteration, which run at the same time. */
static inline bool hn_loop_concurrent(const struct hn_node *n)
{
	return n->kind == HN_NODE_LOOP && n->extent > 1 && hn_ann_concurrent(n->ann);
}

/* Whether iterations of the loop may update one element of the stage: threads, in a
 * reduction loop of the stage itself, of a reduction that may be cut into parts.  Its init may not
 * be inside. */
bool hn_loop_combines(const struct hn_dag *dag, const struct hn_node *loop, int32_t stage);

/* Whether what threads fill together is the same for each of them: no statement of a stage in
 * shared memory names a loop whose iterations share that memory; and no two loops around a
 * statement are one thread number, but for such a fill.  Else one sentence.  Pure. */
bool hn_threads_agree(const struct hn_looptree *t, struct hn_err *err) HN_NODISCARD;

#endif
