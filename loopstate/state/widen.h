/* loopstate/state/widen.h -- the same computation with its sums in a wider type.
 *
 * The reference for answers should be near the true value, without the rounding errors of
 * another naive sum. A sum of L float32 numbers, one after the other, has errors as large as
 * those of the kernel under test, and from 2^24 ones on it stops growing.
 *
 * Source: Higham, "Accuracy and Stability of Numerical Algorithms" (2002), chapter 4.
 */
#ifndef HN_LOOPSTATE_STATE_WIDEN_H
#define HN_LOOPSTATE_STATE_WIDEN_H

#include "loopstate/dag/dag.h"

/* The dag in which each sum (and product over axes) of float32 numbers has its terms formed and
 * added in float64, as "<name>.wide", and is rounded once, where the op of the old name and id
 * takes it over.  Loads, calls and conditions are evaluated as before.  Arguments are the same.
 *
 * NULL when there is nothing to gain or to lose:
 *   - no such reduction: float64 has no wider type here, integers are exact, a largest or
 *     least element rounds nothing;
 *   - the task forbids reassociation (liberty.h): the program's own order is wanted, and errs as
 *     it errs;
 *   - something is decided by what depends on such a sum (a comparison, a conversion to an
 *     integer, floor): a nearer value may fall on the other side, where no tolerance helps;
 *   - it would have more than HN_DAG_MAX_OPS ops.
 *
 * In `a`; pure. */
const struct hn_dag *hn_dag_widen(const struct hn_dag *dag, struct hn_arena *a);

#endif
