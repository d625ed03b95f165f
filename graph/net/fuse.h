/* graph/net/fuse.h -- which nodes become one kernel.
 *
 * Nodes are merged along values that nobody else reads, so a merge can make no circle and computes
 * nothing twice.  Rules, one row each (fuse.c): element-wise nodes join what computes their operand
 * (a convolution's bias and activation, a residual), and what moves elements joins what is
 * element-wise.  A sum of products begins a kernel of its own.  The classes are those of
 * graph/ir/op.h.  Source: the idea of TVM's FuseOps, by classes of operators.
 */
#ifndef HN_GRAPH_NET_FUSE_H
#define HN_GRAPH_NET_FUSE_H

#include "graph/net/place.h"
#include "graph/net/rival.h"

struct hn_ggroup {
	uint32_t n_node;
	const uint32_t *node; /* in an order in which they may be computed */
	uint32_t n_out;
	const int32_t *out; /* values of theirs that others need */
};

struct hn_partition {
	uint32_t n_group;
	struct hn_ggroup *group; /* in an order in which they may run */
	const struct hn_gplace *place; /* [n_value] in whose memory it lies */
	const uint8_t *said;	 /* [n_value] enum hn_net_say: where the choice was not the rule */
};

/* After hn_layout_choose; choice NULL: the rules.  All in g's arena. */
void hn_partition_make(struct hn_graph *g, const struct hn_net_choice *choice,
		       struct hn_partition *ret);

#endif
