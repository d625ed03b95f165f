/* graph/net/layout.h -- in which order the dimensions of each value lie in memory.
 *
 * Inputs, outputs and constants are row-major, as the model says.  Of what lies between:
 *   - images are channels-last where convolutions and windows make them, and what is computed of
 *     them element by element stays so: channels are what vectors run over;
 *   - a transposition moves nothing: its result is the operand's memory with another order;
 *   - a reshape keeps blocks of dimensions where they lie: channels that are split into groups stay
 *     last, and no image is turned for it;
 *   - a product of matrices is written in the order that a reshape behind it needs, so that heads of
 *     attention are split and merged without a copy.
 * A template writes indices by these orders (graph/ir/say.h).
 */
#ifndef HN_GRAPH_NET_LAYOUT_H
#define HN_GRAPH_NET_LAYOUT_H

#include "graph/ir/graph.h"

/* Sets hn_gvalue.order of every value that a node computes.  row_major: images are, too; `plain`,
 * [n_value] or NULL: those that are 1 are. */
void hn_layout_choose(struct hn_graph *g, bool row_major, const uint8_t *plain);

/* Whether the node's result is its operand's memory: nothing has to be done. */
bool hn_layout_is_alias(const struct hn_graph *g, const struct hn_gnode *n);

#endif
