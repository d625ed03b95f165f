/* loopstate/dag/constant.h -- what never changes from call to call.
 *
 * An input that an op names in its attribute `layout_free_placeholders` (`const` in the text
 * notation) is constant: weights, at inference time.  It is named by its id, or by its name
 * where no op has that id.  What depends on constant inputs alone
 * can be computed once, before the first call (hone/kernel.h: prepared data).  Source of the
 * attribute: Ansor's layout rewrite (Zheng et al., OSDI 2020, section 4.2), which lays out
 * constant weights anew outside of the time that counts.
 */
#ifndef HN_LOOPSTATE_DAG_CONSTANT_H
#define HN_LOOPSTATE_DAG_CONSTANT_H

#include "loopstate/dag/dag.h"

/* Whether argument i is a constant input; i < dag->n_arg. */
bool hn_dag_arg_is_constant(const struct hn_dag *dag, uint32_t i);

enum hn_dependence {
	HN_VARIES,   /* depends on an input that is not constant, or on an output, or is one */
	HN_ON_NOTHING, /* reads nothing, or only such ops: tables of numbers */
	HN_CONSTANT  /* depends on constant inputs alone, or is one */
};

/* ret[op], op < dag->n_op: what the op depends on (enum hn_dependence); all HN_VARIES when
 * `task` has no constant input.  `task` is the dag as it was posed, whose attributes count;
 * `dag` that or one derived from it by steps: it has the same arguments.  Pure. */
void hn_dag_find_constant(const struct hn_dag *dag, const struct hn_dag *task, uint8_t *ret);

#endif
