/* graph/pass/bytes.h -- values that are 8-bit integers with a scale, for rules.
 *
 * A model with QuantizeLinear and DequantizeLinear (QDQ) says for each tensor how it is held in
 * bytes, and computes in float32.  Rules move the two together: DequantizeLinear down, behind what
 * only moves elements (moves_bytes.c) and behind sums of products, which become sums of integers
 * (integer.c); QuantizeLinear up, into the factors and bounds in front of it (requantize.c).  So
 * memory holds bytes, and a sum is followed by one scale.
 *
 * Integers are exact.  The scales are multiplied in another order than the model writes, so where
 * a number lies at the edge of two integers, the other one may come.
 */
#ifndef HN_GRAPH_PASS_BYTES_H
#define HN_GRAPH_PASS_BYTES_H

#include "graph/ir/graph.h"

/* (q - zero) * scale: a tensor of bytes, and what is broadcast to it. */
struct hn_bytes {
	int32_t q, zero, scale;
};

/* Whether v is that of bytes. */
bool hn_bytes_of(const struct hn_graph *g, int32_t v, struct hn_bytes *ret);

/* The same where the zero point and the scale are one known number each, and the scale is positive:
 * greater is greater. */
bool hn_bytes_uniform(const struct hn_graph *g, int32_t v, struct hn_bytes *ret);

/* q in x's place. */
int32_t hn_bytes_value(struct hn_graph *g, const struct hn_bytes *x, int32_t q);

/* uint8 as int8: both the integers and the zero point less 128.  Of a quantized value by quantizing
 * to int8 at once. */
void hn_bytes_make_signed(struct hn_graph *g, struct hn_bytes *x);

/* The smallest and the largest integer of 8 bits. */
double hn_bytes_least(enum hn_dtype t);
double hn_bytes_most(enum hn_dtype t);

bool hn_is_byte(enum hn_dtype t);

#endif
