/* loopstate/dag/decided.h -- which ops are computed as they are written, to the last bit.
 *
 * A float that becomes an integer is decided at a tie by its last bit (`int8(nearbyint(x * s))`).
 * Integer answers must be equal, so nothing on the way from the last sum to such a cast may be
 * rounded otherwise than in the program: the interpreter rounds each operation to its type there,
 * and a kernel takes no liberty with products and quotients.  Sums are not on the way: their order
 * is free where the task leaves it free.
 */
#ifndef HN_LOOPSTATE_DAG_DECIDED_H
#define HN_LOOPSTATE_DAG_DECIDED_H

#include "loopstate/dag/dag.h"

/* ret[n_op]: the op casts a float to an integer, or is read by such an op, by way of ops that do
 * not reduce. Linear in the size of the dag. */
void hn_dag_decided(const struct hn_dag *dag, bool *ret);

#endif
