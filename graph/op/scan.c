/* graph/op/scan.c -- what goes along one dimension: the place of the largest, sums of all before.
 */
#include <stdio.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"

#define LL(x) ((long long)(x))

/* -- arg: axis, keepdims, max, last ----------------------------------------------------- */

int32_t hn_arg_expand(const struct hn_gcall *c)
{
	int64_t max = strcmp(c->node->op->name, "ArgMax") == 0;
	int64_t keep = hn_gattr_int(c->node, "keepdims", 1) != 0;
	int64_t last = hn_gattr_int(c->node, "select_last_index", 0) != 0, at;
	uint32_t axis;
	struct hn_gattr attr[] = { hn_gattr_of_ints("max", 1, &max),
				   hn_gattr_of_ints("keepdims", 1, &keep),
				   hn_gattr_of_ints("last", 1, &last),
				   { .name = NULL } };

	if (!hn_gcall_axis(c, hn_gattr_int(c->node, "axis", 0), hn_gcall_in(c, 0)->rank,
			   &axis)) {
		return HN_BAD;
	}
	at = axis;
	attr[3] = hn_gattr_of_ints("axis", 1, &at);
	return hn_graph_add(c->g, "arg", 1, c->node->in, 4, attr);
}

/* One where the largest is, the first of equal ones.  Before version 13 all dimensions from `axis` on
 * are one. */
int32_t hn_hardmax_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	bool old = c->g->opset < 13;
	int64_t rows[2] = { 1, 1 }, at;
	struct hn_graph *g = c->g;
	struct hn_gattr attr;
	int32_t v = hn_gcall_arg(c, 0), best;
	uint32_t axis;

	if (!hn_gcall_axis(c, hn_gattr_int(c->node, "axis", old ? 1 : -1), x->rank,
			   &axis)) {
		return HN_BAD;
	}
	for (uint32_t d = 0; d < x->rank && old; d++) {
		rows[d >= axis] *= x->shape[d];
	}
	v = old ? hn_reshaped(g, v, 2, rows) : v;
	at = old ? 1 : axis;
	attr = hn_gattr_of_ints("axis", 1, &at);
	best = hn_graph_add(g, "ArgMax", 1, &v, 1, &attr);
	if (best < 0) {
		return best;
	}
	v = hn_counting(g, g->value[v].shape[at]);
	v = hn_along(g, v, (uint32_t)at, g->value[best].rank);
	v = hn_cast_to(g, hn_graph_2(g, "Equal", best, v), x->dtype);
	return hn_reshaped(g, v, x->rank, x->shape);
}

bool hn_arg_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	bool keep = hn_gattr_int(c->node, "keepdims", 1) != 0;
	uint32_t axis = (uint32_t)hn_gattr_int(c->node, "axis", 0);
	const struct hn_gvalue *x = hn_gcall_in(c, 0);

	*ret = (struct hn_gshape){ .dtype = HN_I64 };
	for (uint32_t d = 0; d < x->rank; d++) {
		if (d != axis || keep) {
			ret->dim[ret->rank++] = d == axis ? 1 : x->shape[d];
		}
	}
	return true;
}

/* Of equal ones hone keeps the first; the last one is the first from behind. */
void hn_arg_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]], *y = &s->g->value[n->out[0]];
	uint32_t axis = (uint32_t)hn_gattr_int(n, "axis", 0), k = 0;
	uint32_t best = hn_say_temp(s), at = hn_say_temp(s);
	bool keep = hn_gattr_int(n, "keepdims", 1) != 0;
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];
	hn_say_index place = "k";

	hn_say_indices(index, y->rank);
	if (hn_gattr_int(n, "last", 0) != 0) {
		snprintf(place, sizeof(place), "%lld - k", LL(x->shape[axis] - 1));
	}
	for (uint32_t d = 0; d < x->rank; d++) {
		if (d == axis) {
			memcpy(from[d], place, sizeof(place));
		} else {
			snprintf(from[d], sizeof(from[d]), "i%u", k);
		}
		k += d != axis || keep;
	}
	hn_say_text(s, "\t");
	hn_say_at(s, best, y->rank, y->order, index);
	hn_say_text(s, ", ");
	hn_say_at(s, at, y->rank, y->order, index);
	hn_say_text(s, " arg%s=! ", hn_gattr_int(n, "max", 1) != 0 ? "max" : "min");
	hn_say_load(s, n->in[0], from);
	hn_say_text(s, ", int64(%s)", place);
	hn_say_where(s, n->out[0], index);
	hn_say_range(s, "k", x->shape[axis]);
	hn_say_end(s);
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = ");
	hn_say_at(s, at, y->rank, y->order, index);
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}

/* -- cumulate: axis, exclusive, reverse, product ---------------------------------------- */

/* hone has no scan: each element is a sum of its own.  So the work grows with the square of the
 * dimension, and a long one is refused. */
#define LONGEST 16384

int32_t hn_cumulate_expand(const struct hn_gcall *c)
{
	int64_t product = strcmp(c->node->op->name, "CumProd") == 0;
	int64_t exclusive = hn_gattr_int(c->node, "exclusive", 0) != 0;
	int64_t reverse = hn_gattr_int(c->node, "reverse", 0) != 0, at;
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	struct hn_gattr attr[4];
	uint32_t axis;
	int32_t v;

	if (!hn_gvalue_int(hn_gcall_in(c, 1), 0, &at)) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED,
				     "%s: the axis is not constant", c->node->op->name);
	}
	if (!hn_gcall_axis(c, at, x->rank, &axis)) {
		return HN_BAD;
	}
	if (x->shape[axis] > LONGEST) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "%s along %lld elements",
				     c->node->op->name, LL(x->shape[axis]));
	}
	at = axis;
	attr[0] = hn_gattr_of_ints("axis", 1, &at);
	attr[1] = hn_gattr_of_ints("exclusive", 1, &exclusive);
	attr[2] = hn_gattr_of_ints("reverse", 1, &reverse);
	attr[3] = hn_gattr_of_ints("product", 1, &product);
	v = hn_widened(c->g, hn_gcall_arg(c, 0));
	return hn_cast_to(c->g, hn_graph_add(c->g, "cumulate", 1, &v, 4, attr), x->dtype);
}

void hn_cumulate_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]];
	uint32_t axis = (uint32_t)hn_gattr_int(n, "axis", 0);
	bool reverse = hn_gattr_int(n, "reverse", 0),
	     exclusive = hn_gattr_int(n, "exclusive", 0);
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, x->rank);
	memcpy(from, index, sizeof(index));
	snprintf(from[axis], sizeof(from[axis]), "k");
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " %s k %s%s i%u ? ",
		    hn_gattr_int(n, "product", 0) != 0 ? "*=!" : "+=!",
		    reverse ? ">" : "<", exclusive ? "" : "=", axis);
	hn_say_load(s, n->in[0], from);
	hn_say_where(s, n->out[0], index);
	hn_say_range(s, "k", x->shape[axis]);
	hn_say_end(s);
}
