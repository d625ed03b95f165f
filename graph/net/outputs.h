/* graph/net/outputs.h -- every output of a network is written by a step of its own.
 *
 * A caller gives a buffer for each.  So what is an input, a constant, or another output's memory is
 * copied.
 */
#ifndef HN_GRAPH_NET_OUTPUTS_H
#define HN_GRAPH_NET_OUTPUTS_H

#include "graph/ir/graph.h"

/* g->failed where it cannot be. */
void hn_outputs_settle(struct hn_graph *g);

#endif
