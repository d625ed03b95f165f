/* graph/op/scatter.c -- elements that are put where data choose.
 *
 * hone writes no element in a place that data choose.  So each element looks for the updates that are
 * meant for it.  All of these operators become one on three dimensions [A,P,S]: update u of [A,U,S]
 * goes to place index[a,u,s] of P, the index being the same for all s or not.
 *
 *   last_update   of each place: the number of the last update for it, or -1; attribute places
 *   scatter_last  data, that, updates: the update, or the datum
 *   scatter_all   index, updates: of all updates of a place one value; attributes places, how
 */
#include <stdio.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"

#define MOST_PAIRS ((int64_t)1 << 32) /* of places and updates that are compared */

static int32_t not_fit(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *index = hn_gcall_in(c, 1);
	const struct hn_gvalue *update = hn_gcall_in(c, 2);

	return hn_graph_fail(c->g, HONE_E_INVALID, "%s: updates %s at indices %s of a tensor %s",
			     c->node->op->name,
			     hn_shape_text(c->g->arena, update->rank, update->shape),
			     hn_shape_text(c->g->arena, index->rank, index->shape),
			     hn_shape_text(c->g->arena, x->rank, x->shape));
}

/* The product of dimensions first..end - 1. */
static int64_t product(const struct hn_gvalue *x, uint32_t first, uint32_t end)
{
	int64_t n = 1;

	for (uint32_t d = first; d < end; d++) {
		n *= x->shape[d];
	}
	return n;
}

/* -- what goes where -------------------------------------------------------------------- */

static int32_t last(struct hn_graph *g, int32_t data, int32_t index, int32_t update)
{
	struct hn_gattr places = hn_gattr_of_int(g->arena, "places", g->value[data].shape[1]);
	const int32_t in[] = { data, hn_graph_add(g, "last_update", 1, &index, 1, &places), update };

	return hn_graph_add(g, "scatter_last", 3, in, 0, NULL);
}

static const struct {
	const char *reduction, *how, *op;
} ways[] = {
	{ "add", "+=!", "Add" },
	{ "mul", "*=!", "Mul" },
	{ "max", "max=!", "maximum" },
	{ "min", "min=!", "minimum" },
};

static int32_t all(struct hn_graph *g, uint32_t way, int32_t data, int32_t index, int32_t update)
{
	enum hn_dtype type = (enum hn_dtype)g->value[data].dtype;
	struct hn_gattr attr[] = {
		hn_gattr_of_int(g->arena, "places", g->value[data].shape[1]),
		hn_attr_string("how", ways[way].how),
	};
	const int32_t in[] = { index, hn_widened(g, update) };
	int32_t v = hn_graph_add(g, "scatter_all", 2, in, 2, attr);

	return hn_cast_to(g, hn_graph_2(g, ways[way].op, hn_widened(g, data), v), type);
}

/* data [A,P,S], index [A,U,1] or [A,U,S], update [A,U,S]. */
static int32_t scatter(const struct hn_gcall *c, int32_t data, int32_t index, int32_t update)
{
	const char *reduction = hn_gattr_string(c->node, "reduction", "none");
	struct hn_graph *g = c->g;
	uint32_t way = 0;
	int32_t y;

	if (data < 0 || index < 0 || update < 0) {
		return HN_BAD;
	}
	if (hn_gvalue_elements(&g->value[index]) > MOST_PAIRS / g->value[data].shape[1]) {
		return hn_graph_fail(g, HONE_E_UNSUPPORTED,
				     "%s: %lld updates, each for one of %lld places",
				     c->node->op->name,
				     (long long)hn_gvalue_elements(&g->value[index]),
				     (long long)g->value[data].shape[1]);
	}
	while (way < HN_COUNT_OF(ways) && strcmp(ways[way].reduction, reduction) != 0) {
		way++;
	}
	if (way == HN_COUNT_OF(ways) && strcmp(reduction, "none") != 0) {
		return hn_graph_fail(g, HONE_E_INVALID, "%s: reduction %.40s", c->node->op->name,
				     reduction);
	}
	y = way == HN_COUNT_OF(ways) ? last(g, data, index, update)
				     : all(g, way, data, index, update);
	return hn_reshaped(g, y, hn_gcall_in(c, 0)->rank, hn_gcall_in(c, 0)->shape);
}

/* Indices as int64, negative ones from the end of `ends`. */
static int32_t from_front(struct hn_graph *g, int32_t index, int32_t ends)
{
	int32_t in[3];

	index = hn_cast_to(g, index, HN_I64);
	in[0] = hn_graph_2(g, "Less", index, hn_graph_scalar(g, HN_I64, 0));
	in[1] = hn_graph_2(g, "Add", index, ends);
	in[2] = index;
	return hn_graph_add(g, "Where", 3, in, 0, NULL);
}

static bool check_types(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *index = hn_gcall_in(c, 1);

	if (hn_is_float(index) || index->dtype == HN_BOOL || hn_gcall_in(c, 2)->dtype != x->dtype) {
		hn_graph_fail(c->g, HONE_E_INVALID, "%s: %s at indices of %s in a tensor of %s",
			      c->node->op->name, hn_dtype_name(hn_gcall_in(c, 2)->dtype),
			      hn_dtype_name(index->dtype), hn_dtype_name(x->dtype));
		return false;
	}
	return true;
}

/* -- ScatterND: tuples of indices ------------------------------------------------------- */

/* The place that each tuple means, [1,U,1]. */
static int32_t places_of(const struct hn_gcall *c, int64_t n_update, int64_t n_index)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t stride[HN_GRAPH_MAX_RANK], axis = 1, shape[3] = { n_update, n_index, 1 };
	struct hn_graph *g = c->g;
	int32_t v = hn_reshaped(g, hn_gcall_arg(c, 1), 2, shape);

	for (int64_t d = n_index, n = 1; d-- > 0; n *= x->shape[d]) {
		stride[d] = n;
	}
	v = from_front(g, v, hn_graph_ints(g, (uint32_t)n_index, x->shape));
	v = hn_graph_2(g, "Mul", v, hn_graph_ints(g, (uint32_t)n_index, stride));
	v = hn_reduced(g, v, "+=!", 1, &axis, true);
	shape[0] = 1;
	shape[1] = n_update;
	return hn_reshaped(g, v, 3, shape);
}

int32_t hn_scatternd_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *index = hn_gcall_in(c, 1);
	const struct hn_gvalue *update = hn_gcall_in(c, 2);
	uint32_t front = index->rank - 1, k;

	if (index->rank < 1 || index->shape[front] < 1 || index->shape[front] > x->rank ||
	    !check_types(c)) {
		return c->g->failed ? HN_BAD : not_fit(c);
	}
	k = (uint32_t)index->shape[front];
	if (update->rank != front + x->rank - k) {
		return not_fit(c);
	}
	for (uint32_t d = 0; d < update->rank; d++) {
		if (update->shape[d] != (d < front ? index->shape[d] : x->shape[d - front + k])) {
			return not_fit(c);
		}
	}
	const int64_t n = product(index, 0, front), slice = product(x, k, x->rank);
	const int64_t all_places[] = { 1, product(x, 0, k), slice }, updates[] = { 1, n, slice };

	if (n == 0 || hn_gvalue_elements(x) == 0) {
		return hn_gcall_arg(c, 0);
	}
	return scatter(c, hn_reshaped(c->g, hn_gcall_arg(c, 0), 3, all_places),
		       places_of(c, n, k), hn_reshaped(c->g, hn_gcall_arg(c, 2), 3, updates));
}

/* -- ScatterElements: indices along one dimension --------------------------------------- */

/* v in the front corner of a tensor like x but along `axis`; elsewhere -1, an index of nothing. */
static int32_t in_corner(const struct hn_gcall *c, int32_t v, uint32_t axis)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *y = v < 0 ? NULL : &c->g->value[v];
	int64_t before[HN_GRAPH_MAX_RANK] = { 0 }, after[HN_GRAPH_MAX_RANK] = { 0 };
	bool any = false;

	for (uint32_t d = 0; d < x->rank && y != NULL; d++) {
		after[d] = d == axis ? 0 : x->shape[d] - y->shape[d];
		any = any || after[d] != 0;
	}
	if (!any) {
		return v;
	}
	struct hn_gattr attr[] = { hn_gattr_of_ints("before", x->rank, before),
				   hn_gattr_of_ints("after", x->rank, after),
				   hn_attr_string("mode", "constant") };
	bool is_signed = hn_dtype_class(y->dtype) == HN_CLASS_SIGNED || hn_is_float(y);
	const int32_t in[] = { v, hn_graph_scalar(c->g, (enum hn_dtype)y->dtype, is_signed ? -1 : 0) };

	return hn_graph_add(c->g, "pad", 2, in, 3, attr);
}

int32_t hn_scatterelements_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *index = hn_gcall_in(c, 1);
	const struct hn_gvalue *update = hn_gcall_in(c, 2);
	bool fits = x->rank == index->rank && x->rank == update->rank;
	uint32_t axis;

	if (!check_types(c) ||
	    !hn_gcall_axis(c, hn_gattr_int(c->node, "axis", 0), x->rank, &axis)) {
		return HN_BAD;
	}
	for (uint32_t d = 0; fits && d < x->rank; d++) {
		fits = index->shape[d] == update->shape[d] &&
		       (d == axis || index->shape[d] <= x->shape[d]);
	}
	if (!fits) {
		return not_fit(c);
	}
	if (hn_gvalue_elements(index) == 0 || hn_gvalue_elements(x) == 0) {
		return hn_gcall_arg(c, 0);
	}
	const int64_t a = product(x, 0, axis), s = product(x, axis + 1, x->rank);
	const int64_t places[] = { a, x->shape[axis], s }, updates[] = { a, index->shape[axis], s };
	int32_t end = hn_graph_scalar(c->g, HN_I64, (double)x->shape[axis]);
	int32_t at = in_corner(c, from_front(c->g, hn_gcall_arg(c, 1), end), axis);
	int32_t what = in_corner(c, hn_gcall_arg(c, 2), axis);

	return scatter(c, hn_reshaped(c->g, hn_gcall_arg(c, 0), 3, places),
		       hn_reshaped(c->g, at, 3, updates), hn_reshaped(c->g, what, 3, updates));
}

/* -- templates -------------------------------------------------------------------------- */

/* The element of v, of 3 dimensions, the last of which may be 1. */
static void put(struct hn_say *s, int32_t v, const char *middle)
{
	hn_say_index index[3] = { "i0", "", "i2" };

	snprintf(index[1], sizeof(index[1]), "%s", middle);
	if (s->g->value[v].shape[2] == 1) {
		snprintf(index[2], sizeof(index[2]), "0");
	}
	hn_say_load(s, v, index);
}

bool hn_lastupdate_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);

	*ret = (struct hn_gshape){ .dtype = HN_I64, .rank = 3 };
	memcpy(ret->dim, x->shape, 3 * sizeof(*x->shape));
	ret->dim[1] = hn_gattr_int(c->node, "places", 1);
	return true;
}

void hn_lastupdate_say(struct hn_say *s, const struct hn_gnode *n)
{
	hn_say_index index[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, 3);
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " max=! select(");
	put(s, n->in[0], "u");
	hn_say_text(s, " == int64(i1), int64(u), -1)");
	hn_say_where(s, n->out[0], index);
	hn_say_range(s, "u", s->g->value[n->in[0]].shape[1]);
	hn_say_end(s);
}

void hn_scatterlast_say(struct hn_say *s, const struct hn_gnode *n)
{
	hn_say_index index[HN_GRAPH_MAX_RANK], at;

	hn_say_indices(index, 3);
	snprintf(at, sizeof(at), "min(max(t, 0), %lld)",
		 (long long)s->g->value[n->in[2]].shape[1] - 1);
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = let t = ");
	put(s, n->in[1], "i1");
	hn_say_text(s, " in t < 0 ? ");
	put(s, n->in[0], "i1");
	hn_say_text(s, " : ");
	put(s, n->in[2], at);
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}

bool hn_scatterall_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 1);

	*ret = (struct hn_gshape){ .dtype = x->dtype, .rank = 3 };
	memcpy(ret->dim, x->shape, 3 * sizeof(*x->shape));
	ret->dim[1] = hn_gattr_int(c->node, "places", 1);
	return true;
}

/* Signs of the notation begin with the largest finite number, and data may be infinite. */
void hn_scatterall_say(struct hn_say *s, const struct hn_gnode *n)
{
	const char *sign = hn_gattr_string(n, "how", "+=!");
	bool extreme = *sign == 'm' && hn_is_float(&s->g->value[n->in[1]]), max = sign[1] == 'a';
	hn_say_index index[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, 3);
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " %s ", extreme ? "reduce=!" : sign);
	put(s, n->in[0], "u");
	hn_say_text(s, " == int64(i1) ? ");
	put(s, n->in[1], "u");
	if (extreme) {
		hn_say_text(s, " by (x), (y) -> %s(x, y) from %sinf", max ? "max" : "min",
			    max ? "-" : "");
	}
	hn_say_where(s, n->out[0], index);
	hn_say_range(s, "u", s->g->value[n->in[0]].shape[1]);
	hn_say_end(s);
}
