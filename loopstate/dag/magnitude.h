/* loopstate/dag/magnitude.h -- how large may inputs be before the arithmetic of a dag leaves its
 * types?
 *
 * A check with extreme inputs (measure/board/inputs.h) must not make a right kernel fail: if the
 * naive program overflows, a program that sums in another order may overflow elsewhere. So
 * magnitudes are bounded by interval arithmetic. The largest absolute value of an op follows
 * from those of the ops that it reads, and that of a sum from its length.
 *
 * Source: forward error analysis as in Higham, "Accuracy and Stability of Numerical Algorithms"
 * (2002), magnitudes only.
 */
#ifndef HN_LOOPSTATE_DAG_MAGNITUDE_H
#define HN_LOOPSTATE_DAG_MAGNITUDE_H

#include "loopstate/dag/dag.h"

#define HN_MAGNITUDE_MAX 1000 /* 2^1000: float64, some way below its end */

/* The largest k <= HN_MAGNITUDE_MAX for which no value of the dag, intermediate results
 * included, passes its type's range when every input element is at most 2^k in absolute value
 * (and within its own type); integers may, as they wrap, or saturate when they are made from a
 * float, alike in every kernel; float32 counts as ending at 2^120, float64 at 2^1000, so that
 * rounding cannot pass the end.  Arguments of exp and exp2 are held to 16: an error in them
 * grows by as much.  0 when nothing can be said: division by data, functions whose slope grows
 * with their argument (sin, pow), products over an axis, combiners of no known kind.  Pure;
 * O(expression nodes). */
int32_t hn_dag_magnitude(const struct hn_dag *dag);

#endif
