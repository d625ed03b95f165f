/* loopstate/nest/strided.h -- arguments of a kernel that are parts of larger tensors.
 *
 * What a kernel computes does not depend on where its arguments' elements lie; the code does.  A
 * strided argument has its elements in the usual order, but rows further apart than they are long:
 * a slice of a concatenation's memory.  BLAS calls the distance a leading dimension.
 *
 * In text it is "ARG:STRIDE,..": the argument's number and a stride in elements for each dimension,
 * outermost first; several are divided by ';'.
 */
#ifndef HN_LOOPSTATE_NEST_STRIDED_H
#define HN_LOOPSTATE_NEST_STRIDED_H

#include "loopstate/nest/looptree.h"

/* The tree with arguments that are strided as the text says; the rest is t's.  All in a.
 * HONE_E_INVALID with one line: no such argument, not a stride for each dimension, elements that
 * would share a place; HONE_E_UNSUPPORTED where sizes are parameters. */
int hn_looptree_stride(const struct hn_looptree *t, const char *text, struct hn_arena *a,
		       const struct hn_looptree **ret, struct hn_err *err) HN_NODISCARD;

/* From the first element of an argument's buffer to its last, both counted. */
int64_t hn_strided_span(const struct hn_buffer *b);

/* Where the element of flat row-major index `at` lies in it. */
int64_t hn_strided_place(const struct hn_buffer *b, int64_t at);

#endif
