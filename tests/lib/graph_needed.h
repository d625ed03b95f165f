/* graph_needed.h -- what passes leave of a graph, as words to compare. */
#ifndef HN_TESTS_GRAPH_NEEDED_H
#define HN_TESTS_GRAPH_NEEDED_H

#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/op.h"

/* The names of the operators that value `out` of a sound graph needs, in order; until the next
 * call. */
static const char *names_needed(struct hn_graph *g, int32_t out)
{
	static char text[400];
	int32_t *output = HN_NEW(g->arena, int32_t);

	assert_false(g->failed);
	*output = out;
	g->output = output;
	g->n_output = 1;
	hn_graph_sweep(g);
	*text = '\0';
	for (uint32_t i = 0; i < g->n_node; i++) {
		strcat(strcat(text, i > 0 ? " " : ""), g->node[i].op->name);
	}
	return text;
}

#endif
