/* loopstate/dag/law.h -- the laws that a reduction's combiner obeys.
 *
 * A reduction that is cut into parts (RF) folds each part from the identity and then the
 * parts: f(f(id, part 1), f(id, part 2)).  That is the naive fold only where f is associative
 * and commutative, and where the identity changes nothing: it is neutral, or f is idempotent,
 * so that it counts once however often it is given.
 *
 * Known by law, component by component: sums and products with a neutral identity (integers
 * wrap, which keeps the laws; floating point is reassociated by a liberty, liberty.h),
 * minima, maxima, `and`, `or` with any.  Decided: a combiner that only compares and selects
 * (argmax) treats values by their order alone, so all orders of three arguments are tried.
 * All others are refused.
 */
#ifndef HN_LOOPSTATE_DAG_LAW_H
#define HN_LOOPSTATE_DAG_LAW_H

#include "loopstate/dag/dag.h"

/* Whether a reduction takes its points in any order: f(f(a, x), y) = f(f(a, y), x), whatever the
 * identity.  Sums, products, minima and such are known, and `a - b`; what only compares and
 * selects is decided in the same way, with at most two carried values.  Pure; as fast as
 * parsing an op. */
bool hn_law_any_order(const struct hn_reduce *r);

/* NULL when the reduction of op may be cut into parts; else why not, for a person.  Pure. */
const char *hn_law_against_parts(const struct hn_op *op);

#endif
