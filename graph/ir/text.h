/* graph/ir/text.h -- some nodes of a graph as one computation in hone's text notation: a ComputeDAG.
 *
 * Operands that the nodes do not make are its parameters, in the order of their first use; constants
 * are marked `const`.  Names are numbers of this text, so that equal computations have equal texts.
 */
#ifndef HN_GRAPH_IR_TEXT_H
#define HN_GRAPH_IR_TEXT_H

#include "graph/ir/graph.h"
#include "loopstate/dag/dag.h"

struct hn_gtext {
	const char *text;
	uint32_t n_arg, n_in; /* arguments of the kernel, inputs first; */
	const int32_t *arg;   /* the values that they are */
};

/* node[n_node]: numbers of nodes, in an order in which they may be computed.  out: the values of
 * theirs that are wanted.  All in a. */
int hn_graph_text(const struct hn_graph *g, const char *name, uint32_t n_node,
		  const uint32_t *node, uint32_t n_out, const int32_t *out, struct hn_arena *a,
		  struct hn_gtext *ret, struct hn_err *err) HN_NODISCARD;

/* And its dag. */
int hn_graph_dag(const struct hn_gtext *t, const char *what, struct hn_arena *a,
		 const struct hn_dag **ret, struct hn_err *err) HN_NODISCARD;

#endif
