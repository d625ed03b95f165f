/* ort/graph.h -- the graph that the runtime shows, as nodes and names; and which of its nodes are a region's.
 *
 * The runtime changes a network before it shows it, so nodes are not those of the file.  Names of values
 * stay: a region's nodes are those between its inputs and its outputs.
 */
#ifndef HN_ORT_GRAPH_H
#define HN_ORT_GRAPH_H

#include "base/arena.h"
#include "hone/model.h"
#include "ort/provider.h"

struct ort_value {
	const char *name; /* "": an optional one that is left out */
	const void *info;
};

struct ort_gnode {
	const void *node;
	struct ort_value *in, *out; /* what a graph within reads is in `in`, too */
	uint32_t n_in, n_own, n_out; /* n_own: without that */
	uint32_t region; /* 0: the runtime's */
};

struct ort_made {
	const char *name;
	uint32_t node;
};

struct ort_graph {
	const struct provider *p;
	struct hn_arena arena;
	struct ort_gnode *node;
	uint32_t n_node;
	struct ort_value *input, *output;
	uint32_t n_input, n_output;
	struct ort_made *made; /* [n_made] by name: who computes it */
	uint32_t n_made;
};

/* ort_graph_close after a failure, too. */
ort_status *ort_graph_open(const struct provider *p, const void *graph, struct ort_graph *ret);
void ort_graph_close(struct ort_graph *g);

/* Whether the value is as the one of `tensors` that has its name: type and shape. */
ort_status *ort_graph_compare(const struct provider *p, const void *info,
			      const struct hone_model_tensor *tensors, uint32_t n, bool *ret_same);

/* Mark the nodes that compute m's outputs from m's inputs as region `number`, 1 or more.  Else *why, a
 * few words, and nothing is marked. */
ort_status *ort_graph_match(struct ort_graph *g, const struct hone_model *m, uint32_t number,
			    const char **why);

/* All nodes of a region to the runtime. */
void ort_graph_drop(struct ort_graph *g, uint32_t number);

#endif
