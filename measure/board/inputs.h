/* measure/board/inputs.h -- the inputs that answers are compared on.
 *
 * Sets of contents.  The first is what kernels are timed on, too; the others show what it
 * cannot: a faulty kernel that is right on ordinary numbers between -1 and 1, or that remembers
 * an answer.  The last three are for narrow types, whose ends, ties and smallest numbers lie near
 * (hn_inputs_serve).
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
 *   3  whole: integers of all that their type holds, each second one an end or near zero.  Floats are of
 *      2^-20 to 2, so that a sum of products times one of them falls within the ends of a type of
 *      8 bits, and beyond them, on both sides
 *   4  ties: ordinary integers, and floats that are a few eighths or have 9 or 12 significant
 *      bits, the last one set: products and sums of them are exact, and often lie half way between
 *      two numbers of a type of 8 or 16 bits, or between two integers
 *   5  tiny: floats from the least number that a type has, up to 8 times its least normal one, in
 *      every argument but each second one, which is ordinary.  Where a kernel may take subnormal
 *      numbers for zero (loopstate/dag/liberties.def: those below 2^-126), no product of two is
 *      as small
 */
#ifndef HN_MEASURE_BOARD_INPUTS_H
#define HN_MEASURE_BOARD_INPUTS_H

#include "measure/board/tensor.h"

#define HN_INPUT_SETS 6

enum hn_inputs_kind {
	HN_INPUTS_PLAIN,
	HN_INPUTS_ZEROS,
	HN_INPUTS_EXTREMES,
	HN_INPUTS_WHOLE,
	HN_INPUTS_TIES,
	HN_INPUTS_TINY
};

struct hn_inputs {
	enum hn_inputs_kind kind;
	uint64_t seed;
	int32_t magnitude; /* EXTREMES: up to 2^this; 0 = up to 1, integers as PLAIN's */
	bool subnormals; /* TINY: also those below 2^-126 */
};

/* Whether contents of this kind show more of a program with these n arguments than others do. */
bool hn_inputs_serve(enum hn_inputs_kind kind, uint32_t n, const struct hn_tensor *t);

/* Fill bytes[0..t->bytes).  `index` is the argument's place, so that equal shapes differ. The
 * same arguments give the same bytes on every machine. */
void hn_inputs_fill(const struct hn_inputs *in, const struct hn_tensor *t, uint32_t index,
		    void *bytes);

/* "seed 7", "seed 8 with zeros", "extremes to 2^55", "ties", into text. */
void hn_inputs_print(const struct hn_inputs *in, char *text, size_t text_bytes);

#endif
