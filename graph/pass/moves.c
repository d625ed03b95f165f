/* graph/pass/moves.c -- two transposes are one, or none; so are two reshapes. */
#include "graph/ir/op.h"
#include "graph/op/build.h"
#include "graph/pass/pass.h"

int32_t hn_pass_transpose(struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_gnode *before = hn_pass_made_by(g, n->in[0], "transpose");
	const int64_t *then = hn_gattr_find(n, "perm")->i, *first;
	uint32_t rank = g->value[n->in[0]].rank;
	int64_t perm[HN_GRAPH_MAX_RANK];

	if (before == NULL) {
		return HN_NONE;
	}
	first = hn_gattr_find(before, "perm")->i;
	for (uint32_t d = 0; d < rank; d++) {
		perm[d] = first[then[d]];
	}
	return hn_transposed(g, before->in[0], rank, perm);
}

int32_t hn_pass_reshape(struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_gnode *before = hn_pass_made_by(g, n->in[0], "reshape");
	const struct hn_gattr *shape = hn_gattr_find(n, "shape");

	return before == NULL ? HN_NONE
			      : hn_reshaped(g, before->in[0], shape->n, shape->i);
}
