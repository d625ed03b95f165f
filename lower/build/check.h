/* lower/build/check.h -- what a kernel must answer: inputs, sizes and elements of the outputs, for
 * whoever runs it (hone-board --check).
 *
 * It is a file of frames, a KERNEL and then each CASE (docs/frames.md).
 *
 * Cases are those that a right kernel cannot fail.  The interpreter computes each element twice,
 * wide and rounded (interp.h): where the two are further apart than an eighth of what a kernel
 * may be, or not finite, or rest on what C leaves undefined, the element is not told.
 */
#ifndef HN_LOWER_BUILD_CHECK_H
#define HN_LOWER_BUILD_CHECK_H

#include "lower/lower.h"

/* Write the file for an artefact of dag.  t: the tree that it was made from, whose arguments may be
 * strided (loopstate/nest/strided.h); they are told as what lies in a row, from the first element
 * to the last, with zeros between the rows.  NULL: none is.  Takes some 30 ms, and more for large
 * arguments.  HONE_E_IO, HONE_E_NOMEM. */
int hn_check_write(const char *path, const struct hn_dag *dag, const struct hn_looptree *t,
		   const char *symbol, const struct hn_artefact *artefact,
		   struct hn_err *err) HN_NODISCARD;

/* Parts, for tests. */

#define HN_CHECK_CASES 6 /* at most */

/* Values for the dag's sizes in case i: the least, the largest, primes, and draws, made smaller
 * until a case is not too long. */
void hn_check_sizes(const struct hn_dag *dag, uint32_t i, int64_t *value);

/* Fill an input of op for case i: floats from -1 to 1 and small integers; all integers there are,
 * floats of many magnitudes, zeros of both signs; floats as large as the arithmetic carries; where
 * an argument is of a type of at most 16 bits, also ties of roundings, and the smallest floats.
 * divides: integers are divided by data, so that none is 0. */
void hn_check_fill(const struct hn_dag *dag, const struct hn_op *op, uint32_t index, uint32_t i,
		   bool divides, void *bytes);

/* The cases of a dag: which is the first, and the one behind the last.  By the dag alone, and by no
 * clock, so that the same kernel is always tried on the same inputs. */
void hn_check_plan(const struct hn_dag *dag, uint32_t *ret_first, uint32_t *ret_end);

/* Points that the dag's nests run over. */
double hn_check_points(const struct hn_dag *dag);

/* How many kinds of inputs there are for the dag: case i has kind i modulo that. */
uint32_t hn_check_kinds(const struct hn_dag *dag);

/* The inputs of case i in words. */
const char *hn_check_inputs(const struct hn_dag *dag, uint32_t i);

#endif
