/* measure/board/inputs.h -- the inputs that answers are compared on.
 *
 * Three sets of contents.  The first is what kernels are timed on, too; the others show what it
 * cannot: a faulty kernel that is right on ordinary numbers between -1 and 1, or that remembers
 * an answer.
 *
 *   0  ordinary: random, floats in [-1, 1), integers in [-4, 4] (unsigned [0, 8]), bools
 *   1  another seed, with zeros of both signs strewn in
 *   2  extremes, for types and sums as long as this workload's: the largest magnitudes
 *      that its arithmetic carries (loopstate/dag/magnitude.h), exactly and in the binade below,
 *      or the type's own limits where those are nearer.  They have one sign over wide regions,
 *      so that a row's maximum may be far below zero: negative, and positive in the corner
 *      where every index is beyond its first quarter; the other way round in every second
 *      argument.  Strewn into the corner are zeros of both signs and magnitudes as small as
 *      the large ones are large; no subnormal numbers, whose products are slow and below any
 *      tolerance.
 */
#ifndef HN_MEASURE_BOARD_INPUTS_H
#define HN_MEASURE_BOARD_INPUTS_H

#include "measure/board/tensor.h"

#define HN_INPUT_SETS 3

enum hn_inputs_kind { HN_INPUTS_PLAIN, HN_INPUTS_ZEROS, HN_INPUTS_EXTREMES };

struct hn_inputs {
	enum hn_inputs_kind kind;
	uint64_t seed;
	int32_t magnitude; /* EXTREMES: up to 2^this; 0 = up to 1, integers as PLAIN's */
};

/* Fill bytes[0..t->bytes).  `index` is the argument's place, so that equal shapes differ. The
 * same arguments give the same bytes on every machine. */
void hn_inputs_fill(const struct hn_inputs *in, const struct hn_tensor *t, uint32_t index,
		    void *bytes);

/* "seed 7", "seed 8 with zeros", "extremes to 2^55", into text. */
void hn_inputs_print(const struct hn_inputs *in, char *text, size_t text_bytes);

#endif
