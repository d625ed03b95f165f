/* loopstate/bitwise.h -- tasks whose numbers must be the naive program's to the last bit.
 *
 * The mark HN_MARK_BITWISE (mark.h) makes a dag such a task.  Then every reduction of
 * floating-point numbers keeps the order it is written in, no step may part one (RF), products
 * and sums are not contracted, and functions are libm's.
 */
#ifndef HN_LOOPSTATE_BITWISE_H
#define HN_LOOPSTATE_BITWISE_H

#include "loopstate/state.h"

bool hn_dag_bitwise(const struct hn_dag *dag);

/* Whether the op's reduction must take its points in the order of its axes: its combiner is
 * not known to be associative, or it rounds and the task is bitwise. */
bool hn_keeps_order(const struct hn_dag *dag, const struct hn_op *op);

/* Whether the history parts a reduction of a bitwise task: its dag is another sum then, and no
 * look at the order of loops tells. */
bool hn_bitwise_broken(const struct hn_state *s);

#endif
