/* graph/op/gather.c -- elements that other data choose.
 *
 * `gather` and `gather_each` have the attribute axis, `gather_nd` has batch.  A negative index counts
 * from the end.  One that leaves the dimension is undefined in ONNX; here it is cut, so that no
 * kernel reads outside of its operand.
 */
#include <stdio.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"

/* Whether operand 1 holds integers. */
static bool check_indices(const struct hn_gcall *c)
{
	const struct hn_gvalue *index = hn_gcall_in(c, 1);

	if (hn_is_float(index) || index->dtype == HN_BOOL) {
		hn_graph_fail(c->g, HONE_E_INVALID, "%s: indices of %s",
			      c->node->op->name, hn_dtype_name(index->dtype));
		return false;
	}
	return true;
}

static int32_t with_axis(const struct hn_gcall *c, const char *op)
{
	struct hn_gattr attr;
	uint32_t axis;

	if (!hn_gcall_axis(c, hn_gattr_int(c->node, "axis", 0), hn_gcall_in(c, 0)->rank,
			   &axis) ||
	    !check_indices(c)) {
		return HN_BAD;
	}
	attr = hn_gattr_of_int(c->g->arena, "axis", axis);
	return hn_graph_add(c->g, op, 2, c->node->in, 1, &attr);
}

/* The index in variable t, as it is read in a dimension of `extent`. */
static void put_cut(hn_say_index *ret, const char *t, int64_t extent)
{
	snprintf(*ret, sizeof(*ret), "min(max(select(%s < 0, %s + %lld, %s), 0), %lld)",
		 t, t, (long long)extent, t, (long long)extent - 1);
}

/* -- gather: whole slices --------------------------------------------------------------- */

int32_t hn_gather_expand(const struct hn_gcall *c)
{
	return with_axis(c, "gather");
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
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];
	int64_t known;

	hn_say_indices(index, y->rank);
	for (uint32_t d = 0; d < x->rank; d++) {
		snprintf(from[d], sizeof(from[d]), "i%u",
			 d < axis ? d : d + at->rank - 1);
	}
	hn_say_left(s, n->out[0], index);
	if (hn_gvalue_elements(at) == 1 && hn_gvalue_int(at, 0, &known)) {
		known += known < 0 ? x->shape[axis] : 0;
		known = known < 0 ? 0 : known >= x->shape[axis] ? x->shape[axis] - 1 : known;
		snprintf(from[axis], sizeof(from[axis]), "%lld", (long long)known);
		hn_say_text(s, " = ");
	} else {
		hn_say_text(s, " = let t = int64(");
		hn_say_load(s, n->in[1], index + axis);
		hn_say_text(s, ") in ");
		put_cut(&from[axis], "t", x->shape[axis]);
	}
	hn_say_load(s, n->in[0], from);
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}

/* -- gather_each: GatherElements -------------------------------------------------------- */

int32_t hn_gatherelements_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *index = hn_gcall_in(c, 1);
	int64_t axis = hn_gattr_int(c->node, "axis", 0);
	bool fits = x->rank == index->rank;

	axis = axis < 0 ? axis + x->rank : axis;
	for (uint32_t d = 0; fits && d < x->rank; d++) {
		fits = (int64_t)d == axis || index->shape[d] <= x->shape[d];
	}
	if (!fits) {
		return hn_graph_fail(
			c->g, HONE_E_INVALID, "GatherElements: indices %s of a tensor %s",
			hn_shape_text(c->g->arena, index->rank, index->shape),
			hn_shape_text(c->g->arena, x->rank, x->shape));
	}
	return with_axis(c, "gather_each");
}

bool hn_gathereach_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *index = hn_gcall_in(c, 1);

	*ret = (struct hn_gshape){ .dtype = hn_gcall_in(c, 0)->dtype,
				   .rank = index->rank };
	memcpy(ret->dim, index->shape, index->rank * sizeof(*index->shape));
	return true;
}

void hn_gathereach_say(struct hn_say *s, const struct hn_gnode *n)
{
	uint32_t axis = (uint32_t)hn_gattr_int(n, "axis", 0);
	const struct hn_gvalue *x = &s->g->value[n->in[0]];
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, x->rank);
	memcpy(from, index, sizeof(index));
	put_cut(&from[axis], "t", x->shape[axis]);
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = let t = int64(");
	hn_say_load(s, n->in[1], index);
	hn_say_text(s, ") in ");
	hn_say_load(s, n->in[0], from);
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}

/* -- gather_nd: batch, of indices [.., k] ------------------------------------------------ */

int32_t hn_gathernd_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *index = hn_gcall_in(c, 1);
	int64_t batch = hn_gattr_int(c->node, "batch_dims", 0);
	int64_t k = index->rank > 0 ? index->shape[index->rank - 1] : 0;
	bool fits = batch >= 0 && batch < (int64_t)index->rank && k >= 1 &&
		    batch + k <= x->rank;
	struct hn_gattr attr = hn_gattr_of_ints("batch", 1, &batch);

	for (int64_t d = 0; fits && d < batch; d++) {
		fits = x->shape[d] == index->shape[d];
	}
	if (!fits) {
		return hn_graph_fail(
			c->g, HONE_E_INVALID, "GatherND: indices %s of a tensor %s",
			hn_shape_text(c->g->arena, index->rank, index->shape),
			hn_shape_text(c->g->arena, x->rank, x->shape));
	}
	return check_indices(c)
		       ? hn_graph_add(c->g, "gather_nd", 2, c->node->in, 1, &attr)
		       : HN_BAD;
}

bool hn_gathernd_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *index = hn_gcall_in(c, 1);
	uint32_t first = (uint32_t)(hn_gattr_int(c->node, "batch", 0) +
				    index->shape[index->rank - 1]);

	*ret = (struct hn_gshape){ .dtype = x->dtype };
	if (index->rank - 1 + x->rank - first > HN_GRAPH_MAX_RANK) {
		hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "GatherND to %u dimensions",
			      index->rank - 1 + x->rank - first);
		return false;
	}
	for (uint32_t d = 0; d + 1 < index->rank; d++) {
		ret->dim[ret->rank++] = index->shape[d];
	}
	for (uint32_t d = first; d < x->rank; d++) {
		ret->dim[ret->rank++] = x->shape[d];
	}
	return true;
}

void hn_gathernd_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]], *at = &s->g->value[n->in[1]];
	uint32_t batch = (uint32_t)hn_gattr_int(n, "batch", 0), front = at->rank - 1;
	uint32_t first = batch + (uint32_t)at->shape[front];
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK],
		where[HN_GRAPH_MAX_RANK];
	char name[16];

	hn_say_indices(index, s->g->value[n->out[0]].rank);
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = ");
	memcpy(where, index, front * sizeof(*index));
	for (uint32_t d = 0; d < x->rank; d++) {
		if (d < batch || d >= first) {
			snprintf(from[d], sizeof(from[d]), "i%u",
				 d < batch ? d : front + d - first);
			continue;
		}
		snprintf(name, sizeof(name), "t%u", d);
		snprintf(where[front], sizeof(where[0]), "%u", d - batch);
		hn_say_text(s, "let %s = int64(", name);
		hn_say_load(s, n->in[1], where);
		hn_say_text(s, ") in ");
		put_cut(&from[d], name, x->shape[d]);
	}
	hn_say_load(s, n->in[0], from);
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}

/* -- one_hot: axis, depth, of indices and [off, on] -------------------------------------- */

int32_t hn_onehot_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *index = hn_gcall_in(c, 0), *values = hn_gcall_in(c, 2);
	int32_t in[] = { hn_gcall_arg(c, 0), hn_gcall_arg(c, 2) };
	struct hn_gattr attr[2];
	double depth;
	uint32_t axis;

	if (!hn_gvalue_number(hn_gcall_in(c, 1), 0, &depth)) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED,
				     "OneHot: the depth is not constant");
	}
	if (!(depth >= 1 && depth <= INT32_MAX) || hn_gvalue_elements(values) != 2 ||
	    values->rank != 1 || index->rank >= HN_GRAPH_MAX_RANK) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "OneHot of depth %g", depth);
	}
	if (!hn_gcall_axis(c, hn_gattr_int(c->node, "axis", -1), index->rank + 1,
			   &axis)) {
		return HN_BAD;
	}
	attr[0] = hn_gattr_of_int(c->g->arena, "axis", axis);
	attr[1] = hn_gattr_of_int(c->g->arena, "depth", (int64_t)depth);
	return hn_graph_add(c->g, "one_hot", 2, in, 2, attr);
}

bool hn_onehot_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	uint32_t axis = (uint32_t)hn_gattr_int(c->node, "axis", 0);
	const struct hn_gvalue *index = hn_gcall_in(c, 0);

	*ret = (struct hn_gshape){ .dtype = hn_gcall_in(c, 1)->dtype,
				   .rank = index->rank + 1 };
	for (uint32_t d = 0; d < ret->rank; d++) {
		ret->dim[d] = d == axis ? hn_gattr_int(c->node, "depth", 1)
					: index->shape[d < axis ? d : d - 1];
	}
	return true;
}

void hn_onehot_say(struct hn_say *s, const struct hn_gnode *n)
{
	uint32_t axis = (uint32_t)hn_gattr_int(n, "axis", 0),
		 rank = s->g->value[n->out[0]].rank;
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, rank);
	for (uint32_t d = 0, k = 0; d < rank; d++) {
		if (d != axis) {
			memcpy(from[k++], index[d], sizeof(index[d]));
		}
	}
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = let t = int64(");
	hn_say_load(s, n->in[0], from);
	hn_say_text(s, ") in select(t == int64(i%u) || t == int64(i%u - %lld), ", axis,
		    axis, (long long)hn_gattr_int(n, "depth", 1));
	hn_say_load(s, n->in[1], (const hn_say_index[]){ "1" });
	hn_say_text(s, ", ");
	hn_say_load(s, n->in[1], (const hn_say_index[]){ "0" });
	hn_say_text(s, ")");
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}
