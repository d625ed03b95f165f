/* graph/op/gather.c -- elements that other data choose.
 *
 * `gather` has the attribute axis.  An index that leaves the dimension is undefined in ONNX; here it
 * is cut, so that no kernel reads outside of its operand.
 */
#include <stdio.h>
#include <string.h>

#include "graph/op/rows.h"

int32_t hn_gather_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *index = hn_gcall_in(c, 1);
	struct hn_gattr attr;
	uint32_t axis;

	if (!hn_gcall_axis(c, hn_gattr_int(c->node, "axis", 0), x->rank, &axis)) {
		return HN_BAD;
	}
	if (hn_dtype_class(index->dtype) == HN_CLASS_FLOAT || index->dtype == HN_BOOL) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "Gather: indices of %s",
				     hn_dtype_name(index->dtype));
	}
	attr = hn_gattr_of_int(c->g->arena, "axis", axis);
	return hn_graph_add(c->g, "gather", 2, c->node->in, 1, &attr);
}

bool hn_gather_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	uint32_t axis = (uint32_t)hn_gattr_int(c->node, "axis", 0);
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *index = hn_gcall_in(c, 1);

	*ret = (struct hn_gshape){ .dtype = x->dtype };
	if (x->rank + index->rank > HN_GRAPH_MAX_RANK + 1) {
		hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "Gather to %u dimensions",
			      x->rank + index->rank - 1);
		return false;
	}
	for (uint32_t d = 0; d < axis; d++) {
		ret->dim[ret->rank++] = x->shape[d];
	}
	for (uint32_t d = 0; d < index->rank; d++) {
		ret->dim[ret->rank++] = index->shape[d];
	}
	for (uint32_t d = axis + 1; d < x->rank; d++) {
		ret->dim[ret->rank++] = x->shape[d];
	}
	return true;
}

void hn_gather_say(struct hn_say *s, const struct hn_gnode *n)
{
	uint32_t axis = (uint32_t)hn_gattr_int(n, "axis", 0);
	const struct hn_gvalue *x = &s->g->value[n->in[0]], *at = &s->g->value[n->in[1]],
			       *y = &s->g->value[n->out[0]];
	long long extent = (long long)x->shape[axis];
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, y->rank);
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = let t = int64(");
	hn_say_load(s, n->in[1], index + axis);
	hn_say_text(s, ") in ");
	for (uint32_t d = 0; d < x->rank; d++) {
		snprintf(from[d], sizeof(from[d]), "i%u", d < axis ? d : d + at->rank - 1);
	}
	snprintf(from[axis], sizeof(from[axis]),
		 "min(max(select(t < 0, t + %lld, t), 0), %lld)", extent, extent - 1);
	hn_say_load(s, n->in[0], from);
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}
