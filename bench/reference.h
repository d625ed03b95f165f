/* bench/reference.h -- single elements of a computation, in double.
 *
 * The whole of a large convolution in float64 would take minutes; elements drawn at random
 * judge it as well, together with the comparison of all elements between contenders.
 */
#ifndef HN_BENCH_REFERENCE_H
#define HN_BENCH_REFERENCE_H

#include "loopstate/dag/dag.h"

struct hn_reference;

/* arg[]: the dag's arguments, float32; only inputs are read, and must stay. */
struct hn_reference *hn_reference_new(const struct hn_dag *dag, float *const *arg);
void hn_reference_free(struct hn_reference *r);

/* Element `at` (row-major) of argument `arg`: evaluated from the definitions, all values
 * between in double.  Sums are kept, so that a softmax costs a row once. */
double hn_reference_at(struct hn_reference *r, uint32_t arg, int64_t at);

#endif
