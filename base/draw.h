/* base/draw.h -- numbers that show what a kernel does with narrow types: their ends, the ties of
 * their roundings, their smallest.  Boards and hone-build draw inputs from here.
 */
#ifndef HN_BASE_DRAW_H
#define HN_BASE_DRAW_H

#include "base/dtype.h"
#include "base/rng.h"

/* Of an integer type, all that it holds: one of two is an end of it, zero or -1; of more than 16
 * bits one of four is of any length. */
int64_t hn_draw_integer(struct hn_rng *r, enum hn_dtype t);

/* A float of 2^-20 to 2: times it, a sum of products of bytes lies within the ends of a type of 8
 * bits, and beyond them, on both sides. */
double hn_draw_scale(struct hn_rng *r);

/* A few eighths; or 9 or 12 significant bits, the last one set: half way between two numbers of
 * bfloat16, of float16.  Sums and products of them are exact for a while, and ties as often. */
double hn_draw_tie(struct hn_rng *r);

/* Of a float type: from its least number to 8 times its least normal one.  Not subnormals: from
 * 2^-63 on where the type has smaller ones, so that no product of two is below 2^-126, which some
 * kernels take for zero. */
double hn_draw_tiny(struct hn_rng *r, enum hn_dtype t, bool subnormals);

#endif
