/* graph/net/widen.h -- values that are made where they are read.
 *
 * A node that reads bytes and makes floats of them (DequantizeLinear) is little work, and what it
 * makes is four times as large as what it reads.  So memory holds what it reads: each of its
 * readers gets a node of its own, and fusion puts that into the reader's kernel (fuse.c).
 */
#ifndef HN_GRAPH_NET_WIDEN_H
#define HN_GRAPH_NET_WIDEN_H

#include "graph/ir/graph.h"

/* Whether the node is element-wise and makes more bytes than it reads, of what is computed. */
bool hn_widens(const struct hn_graph *g, const struct hn_gnode *n);

/* Give each reader of such a node its own one.  After hn_graph_sweep. */
void hn_widen_in_readers(struct hn_graph *g);

#endif
