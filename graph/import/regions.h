/* graph/import/regions.h -- the parts of a model that hone can compile, where it refuses the whole.
 *
 * A region is a set of nodes that hone takes, as large as can be: connected, and such that no path
 * leaves it and comes back.  No two regions wait for each other, so that each can be run at once, as one node of
 * the network.  Nodes that hone refuses are left out, and all that has a graph within (If, Loop).
 */
#ifndef HN_GRAPH_IMPORT_REGIONS_H
#define HN_GRAPH_IMPORT_REGIONS_H

#include "graph/import/import.h"

struct hn_region_value {
	const char *name; /* the model's */
	int32_t value;	  /* of the graph: its type and shape */
};

struct hn_region {
	const uint32_t *node, *initializer; /* numbers in the model's graph, in its order */
	/* Read, written for others, and read but known beforehand. */
	const struct hn_region_value *input, *output, *constant;
	uint32_t n_node, n_initializer, n_input, n_output, n_constant;
};

struct hn_regions {
	struct hn_region *region; /* in the order of their first nodes */
	uint32_t n;
	uint32_t n_left; /* nodes in none of them that compute something */
};

/* Of the model.  The graph is for types and shapes only: what is refused is an input of it, if the model
 * says its shape, and what needs a value of no known shape is left out.  im->refusal tells why.
 * HONE_E_INVALID: no model, or sizes are missing that were not told. */
int hn_graph_regions(struct hn_onnx *o, struct hn_import *im, struct hn_graph *g,
		     struct hn_regions *ret, struct hn_err *err) HN_NODISCARD;

#endif
