/* graph/op/rank.c -- TopK: the largest elements along a dimension, in their order.
 *
 * hone has no sorting.  An element's rank is how many are before it: the larger ones, and equal ones
 * at lower indices.  `top` gives the index of the element of each rank (attributes axis, k, largest).
 * So the work grows with the square of the dimension, and a long one is refused.
 */
#include <stdio.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"

#define LONGEST 16384

/* Operand 1, or, before version 10, an attribute. */
static bool read_k(const struct hn_gcall *c, int64_t *ret)
{
	*ret = hn_gattr_int(c->node, "k", 0);
	if (hn_gcall_in(c, 1) != NULL && !hn_gvalue_int(hn_gcall_in(c, 1), 0, ret)) {
		hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "TopK: k is not constant");
		return false;
	}
	return true;
}

int32_t hn_topk_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t largest = hn_gattr_int(c->node, "largest", 1) != 0, at, k;
	int32_t in[] = { hn_gcall_arg(c, 0), HN_BAD };
	struct hn_gattr attr[3];
	uint32_t axis;

	if (!read_k(c, &k) ||
	    !hn_gcall_axis(c, hn_gattr_int(c->node, "axis", -1), x->rank, &axis)) {
		return HN_BAD;
	}
	if (k < 1 || k > x->shape[axis] || x->dtype == HN_BOOL) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "TopK: %lld of %lld elements of %s",
				     (long long)k, (long long)x->shape[axis],
				     hn_dtype_name(x->dtype));
	}
	if (x->shape[axis] > LONGEST) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "TopK along %lld elements",
				     (long long)x->shape[axis]);
	}
	at = axis;
	attr[0] = hn_gattr_of_ints("axis", 1, &at);
	attr[1] = hn_gattr_of_ints("k", 1, &k);
	attr[2] = hn_gattr_of_ints("largest", 1, &largest);
	in[1] = hn_graph_add(c->g, "top", 1, in, 3, attr);
	if (c->node->n_out > 1) {
		c->out[1] = in[1];
	}
	return hn_graph_add(c->g, "GatherElements", 2, in, 1, attr);
}

bool hn_top_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);

	*ret = (struct hn_gshape){ .dtype = HN_I64, .rank = x->rank };
	memcpy(ret->dim, x->shape, x->rank * sizeof(*x->shape));
	ret->dim[hn_gattr_int(c->node, "axis", 0)] = hn_gattr_int(c->node, "k", 1);
	return true;
}

void hn_top_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]];
	uint32_t axis = (uint32_t)hn_gattr_int(n, "axis", 0), rank = hn_say_temp(s);
	const char *before = hn_gattr_int(n, "largest", 1) != 0 ? ">" : "<";
	hn_say_index index[HN_GRAPH_MAX_RANK], other[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, x->rank);
	memcpy(other, index, sizeof(other));
	snprintf(other[axis], sizeof(other[axis]), "k");

	hn_say_text(s, "\t");
	hn_say_at(s, rank, x->rank, x->order, index);
	hn_say_text(s, " +=! select(");
	hn_say_load(s, n->in[0], other);
	hn_say_text(s, " %s ", before);
	hn_say_load(s, n->in[0], index);
	hn_say_text(s, " || (");
	hn_say_load(s, n->in[0], other);
	hn_say_text(s, " == ");
	hn_say_load(s, n->in[0], index);
	hn_say_text(s, " && k < %s), 1, 0)", index[axis]);
	hn_say_where(s, n->in[0], index);
	hn_say_range(s, "k", x->shape[axis]);
	hn_say_end(s);

	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " +=! select(");
	hn_say_at(s, rank, x->rank, x->order, other);
	hn_say_text(s, " == %s, int64(k), 0)", index[axis]);
	hn_say_where(s, n->out[0], index);
	hn_say_range(s, "k", x->shape[axis]);
	hn_say_end(s);
}
