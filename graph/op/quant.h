/* graph/op/quant.h -- numbers as small integers, for rows and for rules (graph/pass).
 *
 * A value is (integer - zero point) * scale.  Sums of products are those of the integers as they
 * are; zero points are taken away behind the sum.
 */
#ifndef HN_GRAPH_OP_QUANT_H
#define HN_GRAPH_OP_QUANT_H

#include "graph/ir/graph.h"

/* Whether v is left out, or a constant of zeros. */
bool hn_quant_is_zero(const struct hn_graph *g, int32_t v);

/* (q - zero) * scale as float32; zero and scale are broadcast to q. */
int32_t hn_quant_value(struct hn_graph *g, int32_t q, int32_t zero, int32_t scale);

/* (a - za)(b - zb) of matrices of bytes, as int32; zero points are broadcast to them, of a's rows
 * and b's columns, or HN_NONE. */
int32_t hn_quant_product(struct hn_graph *g, int32_t a, int32_t b, int32_t za, int32_t zb);

/* y less zero times the sums of w over all but its first dimension: what `y`, a convolution of
 * bytes by w, has too much where the operand's zero point is `zero`. */
int32_t hn_quant_less_zero(struct hn_graph *g, int32_t y, int32_t w, double zero);

#endif
