/* graph/akg/index.c -- elements that other data choose.
 *
 * Sums at places drop what a place outside of the tensor is said for; a place below 0 is outside.
 * Gather and GatherNd count such a place from the end, as numpy does.
 */
#include <string.h>

#include "graph/akg/rows.h"
#include "graph/op/build.h"

void hn_akg_gather(struct hn_akg_call *c)
{
	struct hn_gattr attr;
	uint32_t axis;

	if (hn_akg_axis(c, 2, hn_akg_in(c, 0)->rank, 0, &axis)) {
		attr = hn_gattr_of_int(c->g->arena, "axis", axis);
		c->out[0] = hn_graph_add(c->g, "Gather", 2, c->in, 1, &attr);
	}
}

void hn_akg_gather_nd(struct hn_akg_call *c)
{
	c->out[0] = hn_graph_add(c->g, "GatherND", 2, c->in, 0, NULL);
}

/* -- OneHot ----------------------------------------------------------------------------- */

/* Operands are the places, then the depth where no attribute says it, then two values. */
void hn_akg_one_hot(struct hn_akg_call *c)
{
	uint32_t rank = hn_akg_in(c, 0)->rank, axis, n_depth, on = c->op->n_in - 2;
	int64_t depth[HN_GRAPH_MAX_INTS], shape[HN_GRAPH_MAX_RANK + 1], ones[HN_GRAPH_MAX_RANK + 1];
	int32_t in[3], place, counting;

	if (!hn_akg_axis(c, UINT32_MAX, rank + 1, -1, &axis)) {
		return;
	}
	if (!hn_akg_ints(c, "depth", c->op->n_in > 3 ? 1 : UINT32_MAX, &n_depth, depth) ||
	    n_depth != 1 || depth[0] < 1 || depth[0] > INT32_MAX || rank == HN_GRAPH_MAX_RANK) {
		hn_graph_fail(c->g, HONE_E_INVALID, "OneHot of no depth, or of %u dimensions", rank);
		return;
	}
	for (uint32_t d = 0; d <= rank; d++) {
		shape[d] = d == axis ? 1 : hn_akg_in(c, 0)->shape[d - (d > axis)];
		ones[d] = d == axis ? depth[0] : 1;
	}
	place = hn_reshaped(c->g, hn_cast_to(c->g, c->in[0], HN_I64), rank + 1, shape);
	counting = hn_reshaped(c->g, hn_counting(c->g, depth[0]), rank + 1, ones);
	in[0] = hn_graph_2(c->g, "Equal", place, counting);
	in[1] = hn_cast_to(c->g, c->in[on], (enum hn_dtype)c->op->out[0].dtype);
	in[2] = hn_cast_to(c->g, c->in[on + 1], (enum hn_dtype)c->op->out[0].dtype);
	c->out[0] = hn_graph_add(c->g, "Where", 3, in, 0, NULL);
}

/* -- sums at places --------------------------------------------------------------------- */

/* Tuples of places in the first dimensions of `shape`: one outside becomes one behind all. */
static int32_t inside(struct hn_graph *g, int32_t place, const int64_t *shape)
{
	uint32_t last = g->value[place].rank - 1;
	int64_t axis = last, n = g->value[place].shape[last], all = 1;
	int32_t in[3], below, above;

	for (int64_t k = 0; k < n; k++) {
		all *= shape[k];
	}
	place = hn_cast_to(g, place, HN_I64);
	below = hn_graph_2(g, "Less", place, hn_graph_scalar(g, HN_I64, 0));
	above = hn_graph_2(g, "GreaterOrEqual", place, hn_graph_ints(g, (uint32_t)n, shape));
	in[0] = hn_cast_to(g, hn_graph_2(g, "Or", below, above), HN_U8);
	in[0] = in[0] < 0 ? in[0] : hn_reduced(g, in[0], "max=!", 1, &axis, true);
	in[0] = hn_cast_to(g, in[0], HN_BOOL);
	in[1] = hn_graph_scalar(g, HN_I64, (double)all);
	in[2] = place;
	return hn_graph_add(g, "Where", 3, in, 0, NULL);
}

static void scatter(struct hn_akg_call *c, int32_t data, int32_t place, int32_t update)
{
	struct hn_gattr add = hn_attr_string("reduction", "add");
	int32_t in[3] = { data, place, update };

	if (c->g->failed) {
		return;
	}
	in[1] = inside(c->g, place, c->g->value[data].shape);
	in[2] = hn_cast_to(c->g, update, (enum hn_dtype)c->g->value[data].dtype);
	c->out[0] = hn_graph_add(c->g, "ScatterND", 3, in, 1, &add);
}

/* Places of shape [..] as tuples of one number. */
static int32_t tuples(struct hn_akg_call *c, int32_t place)
{
	const struct hn_gvalue *x = &c->g->value[place];
	int64_t shape[HN_GRAPH_MAX_RANK + 1];

	if (x->rank == HN_GRAPH_MAX_RANK || hn_is_float(x)) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "places of %s with %u dimensions",
				     hn_dtype_name((enum hn_dtype)x->dtype), x->rank);
	}
	memcpy(shape, x->shape, x->rank * sizeof(*shape));
	shape[x->rank] = 1;
	return hn_reshaped(c->g, place, x->rank + 1, shape);
}

void hn_akg_scatter_add(struct hn_akg_call *c)
{
	const struct hn_gvalue *x = hn_akg_in(c, 0), *place = hn_akg_in(c, 1);
	int32_t as = place->rank > 1 ? c->in[1] : tuples(c, c->in[1]);

	if (place->rank > 1 && (place->shape[place->rank - 1] > x->rank || hn_is_float(place))) {
		hn_graph_fail(c->g, HONE_E_INVALID, "tuples of %lld places in %u dimensions",
			      (long long)place->shape[place->rank - 1], x->rank);
	}
	scatter(c, c->in[0], as, c->in[2]);
}

/* The sum of all rows of a number, for each number. */
void hn_akg_segment_sum(struct hn_akg_call *c)
{
	const struct hn_gvalue *x = hn_akg_in(c, 0), *place = hn_akg_in(c, 1);
	int64_t n[HN_GRAPH_MAX_INTS], shape[HN_GRAPH_MAX_RANK + 1];
	uint32_t n_n, rest;
	int32_t zeros;

	if (!hn_akg_ints(c, "num_segments", 2, &n_n, n) || n_n != 1 || n[0] < 1 || n[0] > INT32_MAX ||
	    place->rank > x->rank ||
	    memcmp(place->shape, x->shape, place->rank * sizeof(*place->shape)) != 0) {
		hn_graph_fail(c->g, HONE_E_INVALID, "segments %s of %s",
			      hn_shape_text(c->g->arena, place->rank, place->shape),
			      hn_shape_text(c->g->arena, x->rank, x->shape));
		return;
	}
	rest = x->rank - place->rank;
	shape[0] = n[0];
	memcpy(shape + 1, x->shape + place->rank, rest * sizeof(*shape));
	zeros = hn_akg_filled(c->g, (enum hn_dtype)x->dtype, rest + 1, shape, 0);
	scatter(c, zeros, tuples(c, c->in[1]), c->in[0]);
}
