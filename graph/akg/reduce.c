/* graph/akg/reduce.c -- operators that make one element of many. */
#include "graph/akg/rows.h"
#include "graph/op/build.h"

/* Over attribute axis, or literal operand 1; over all dimensions where none are said. */
static int32_t reduced(struct hn_akg_call *c, int32_t v)
{
	int64_t axis[HN_GRAPH_MAX_INTS], keep = hn_akg_int(c, "keep_dims", 0) != 0;
	uint32_t n;
	bool some = hn_akg_ints(c, "axis", 1, &n, axis);
	struct hn_gattr attr[] = { hn_gattr_of_ints("keepdims", 1, &keep),
				   hn_gattr_of_ints("axes", n, axis) };

	return c->g->failed ? HN_BAD
			    : hn_graph_add(c->g, c->row->as, 1, &v, some && n > 0 ? 2 : 1, attr);
}

void hn_akg_reduce(struct hn_akg_call *c)
{
	c->out[0] = reduced(c, c->in[0]);
}

/* Whether all are true, or any is. */
void hn_akg_reduce_truth(struct hn_akg_call *c)
{
	c->out[0] = reduced(c, hn_cast_to(c->g, c->in[0], HN_BOOL));
}

/* The first of several. */
void hn_akg_arg(struct hn_akg_call *c)
{
	int64_t keep = hn_akg_int(c, "keep_dims", 0) != 0;
	struct hn_gattr attr[2];
	uint32_t axis;

	if (hn_akg_axis(c, 1, hn_akg_in(c, 0)->rank, -1, &axis)) {
		attr[0] = hn_gattr_of_int(c->g->arena, "axis", axis);
		attr[1] = hn_gattr_of_ints("keepdims", 1, &keep);
		c->out[0] = hn_graph_add(c->g, c->row->as, 1, c->in, 2, attr);
	}
}

void hn_akg_cumulate(struct hn_akg_call *c)
{
	int64_t exclusive = hn_akg_int(c, "exclusive", 0), reverse = hn_akg_int(c, "reverse", 0);
	struct hn_gattr attr[] = { hn_gattr_of_ints("exclusive", 1, &exclusive),
				   hn_gattr_of_ints("reverse", 1, &reverse) };
	int32_t in[2] = { c->in[0] };
	uint32_t axis;

	if (hn_akg_axis(c, 1, hn_akg_in(c, 0)->rank, 0, &axis)) {
		in[1] = hn_graph_scalar(c->g, HN_I64, axis);
		c->out[0] = hn_graph_add(c->g, c->row->as, 2, in, 2, attr);
	}
}
