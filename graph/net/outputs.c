/* graph/net/outputs.c -- copies for outputs. */
#include "graph/net/outputs.h"

#include <string.h>

#include "graph/ir/op.h"

/* The value whose memory v may turn out to be. */
static int32_t source_of(const struct hn_graph *g, int32_t v)
{
	while (g->value[v].node >= 0) {
		const struct hn_gnode *n = &g->node[g->value[v].node];

		if (n->op->class != HN_GOP_VIEW && strcmp(n->op->name, "transpose") != 0) {
			break;
		}
		v = n->in[0];
	}
	return v;
}

void hn_outputs_settle(struct hn_graph *g)
{
	for (uint32_t i = 0; i < g->n_output && !g->failed; i++) {
		int32_t from = source_of(g, g->output[i]);
		bool own = g->value[from].node >= 0;

		for (uint32_t k = 0; k < i && own; k++) {
			own = source_of(g, g->output[k]) != from;
		}
		if (!own) {
			struct hn_gattr which = hn_gattr_of_int(g->arena, "output", i);

			g->at = g->output_name[i];
			g->output[i] = hn_graph_add(g, "copy", 1, &g->output[i], 1, &which);
		}
	}
}
