/* graph/op/reshape.h -- which dimensions of a reshape's operand become which of its result. */
#ifndef HN_GRAPH_OP_RESHAPE_H
#define HN_GRAPH_OP_RESHAPE_H

#include "graph/ir/graph.h"

/* Dimensions x[a0..a1) and y[b0..b1) with equal products, as few as there can be: the elements of
 * the one block become those of the other.  Begin with all 0. */
struct hn_reshape_block {
	uint32_t a0, a1, b0, b1;
};

/* The next block of a reshape from x to y; false: there is none. */
bool hn_reshape_next(const struct hn_gvalue *x, const struct hn_gvalue *y,
		     struct hn_reshape_block *k);

#endif
