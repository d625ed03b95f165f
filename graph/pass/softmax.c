/* graph/pass/softmax.c -- exp(x - max) / its sum. */
#include "graph/ir/op.h"
#include "graph/pass/pass.h"

int32_t hn_pass_softmax(struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_gnode *power = hn_pass_made_by(g, n->in[0], "Exp"), *less;
	const struct hn_gattr *axes, *max_axes;
	struct hn_gattr attr[2];
	int32_t of;

	less = power != NULL ? hn_pass_made_by(g, power->in[0], "Sub") : NULL;
	if (less == NULL || !hn_pass_reduced(g, n->in[1], "+=!", &of, &axes) ||
	    of != n->in[0] || !hn_pass_reduced(g, less->in[1], "max=!", &of, &max_axes) ||
	    of != less->in[0] || !hn_pass_same_axes(axes, max_axes)) {
		return HN_NONE;
	}
	attr[0] = *axes;
	attr[1] = hn_gattr_of_int(g->arena, "log", 0);
	return hn_graph_add(g, "softmax", 1, &of, 2, attr);
}
