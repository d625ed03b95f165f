/* graph/pass/channels.c -- an image of three channels gets a fourth, of zeros.
 *
 * Processors multiply bfloat16 by twos, along the channels.  An odd one at the end of few takes as
 * long as several.
 */
#include "graph/ir/op.h"
#include "graph/op/build.h"
#include "graph/pass/pass.h"

#define MOST 8 /* channels: of more, one at the end does not count */

static int32_t with_channel(struct hn_graph *g, int32_t v)
{
	static const int64_t before[HN_GRAPH_MAX_RANK], after[HN_GRAPH_MAX_RANK] = { 0, 1 };
	uint32_t rank = g->value[v].rank;
	struct hn_gattr attr[] = { hn_gattr_of_ints("before", rank, before),
				   hn_gattr_of_ints("after", rank, after),
				   hn_attr_string("mode", "constant") };
	int32_t in[] = { v, hn_graph_scalar(g, (enum hn_dtype)g->value[v].dtype, 0) };

	return hn_graph_add(g, "pad", 2, in, HN_COUNT_OF(attr), attr);
}

int32_t hn_pass_even_channels(struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_gvalue *weights = &g->value[n->in[1]];
	int64_t channels = weights->shape[1];
	int32_t in[2];

	if (weights->dtype != HN_BF16 || g->value[n->in[0]].dtype != HN_BF16 || channels % 2 == 0 ||
	    channels == 1 || channels > MOST || hn_gattr_int(n, "group", 1) != 1) {
		return HN_NONE;
	}
	in[0] = with_channel(g, n->in[0]);
	in[1] = with_channel(g, n->in[1]);
	return hn_graph_add(g, "conv", 2, in, n->n_attr, n->attr);
}
