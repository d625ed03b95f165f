/* graph/net/widen.c -- values that are made where they are read. */
#include "graph/net/widen.h"

#include <string.h>

#include "graph/ir/op.h"

bool hn_widens(const struct hn_graph *g, const struct hn_gnode *n)
{
	uint64_t reads = 0;

	if (n->op->class != HN_GOP_ELEMENTWISE) {
		return false;
	}
	for (uint32_t i = 0; i < n->n_in; i++) {
		const struct hn_gvalue *v = n->in[i] >= 0 ? &g->value[n->in[i]] : NULL;

		reads += v != NULL && v->data == NULL ? hn_gvalue_bytes(v) : 0;
	}
	return reads > 0 && reads < hn_gvalue_bytes(&g->value[n->out[0]]);
}

/* How many nodes read each value, and outputs. */
static uint32_t *count_readers(const struct hn_graph *g)
{
	uint32_t *n = HN_NEW_ARRAY(g->arena, uint32_t, g->n_value);

	for (uint32_t i = 0; i < g->n_node; i++) {
		for (uint32_t k = 0; k < g->node[i].n_in; k++) {
			n[g->node[i].in[k] >= 0 ? g->node[i].in[k] : 0] += g->node[i].in[k] >= 0;
		}
	}
	for (uint32_t i = 0; i < g->n_output; i++) {
		n[g->output[i]]++;
	}
	return n;
}

/* A node like the one that makes v, at the end of the list; returns its result. */
static int32_t again(struct hn_graph *g, int32_t v, struct hn_gnode *node, uint32_t *n_node)
{
	struct hn_gvalue like = g->value[v];
	int32_t *out = HN_NEW(g->arena, int32_t);

	*out = hn_graph_input(g, like.name, (enum hn_dtype)like.dtype, like.rank, like.shape);
	node[*n_node] = node[like.node];
	node[*n_node].out = out;
	g->value[*out].node = (int32_t)(*n_node)++;
	return *out;
}

static bool takes(const struct hn_gnode *n)
{
	return n->op->class == HN_GOP_ELEMENTWISE || n->op->class == HN_GOP_NORMALIZE;
}

void hn_widen_in_readers(struct hn_graph *g)
{
	uint32_t *left = count_readers(g), n_old = g->n_value, operands = 0, n_node = 0;
	struct hn_gnode *node;

	for (uint32_t i = 0; i < g->n_node; i++) {
		operands += g->node[i].n_in;
	}
	node = HN_NEW_ARRAY(g->arena, struct hn_gnode, g->n_node + operands);
	for (uint32_t i = 0; i < g->n_node; i++) {
		struct hn_gnode n = g->node[i];
		int32_t *in = HN_NEW_ARRAY(g->arena, int32_t, n.n_in);

		for (uint32_t k = 0; k < n.n_in; k++) {
			int32_t v = in[k] = n.in[k], maker = v < 0 ? -1 : g->value[v].node;

			if (maker >= 0 && (uint32_t)v < n_old && left[v] > 1 && takes(&n) &&
			    hn_widens(g, &node[maker])) {
				left[v]--;
				in[k] = again(g, v, node, &n_node);
			}
		}
		n.in = in;
		for (uint32_t k = 0; k < n.n_out; k++) {
			g->value[n.out[k]].node = (int32_t)n_node;
		}
		node[n_node++] = n;
	}
	g->node = node;
	g->n_node = n_node;
	g->cap_node = g->n_node;
}
