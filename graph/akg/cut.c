/* graph/akg/cut.c -- slices, and elements around a tensor. */
#include <string.h>

#include "graph/akg/rows.h"
#include "graph/op/build.h"

/* -- StridedSlice ----------------------------------------------------------------------- */

/* Lists of n entries, one for a dimension, for a new one, or for several (the ellipsis). */
struct entries {
	uint32_t n;
	int64_t begin[HN_GRAPH_MAX_INTS], end[HN_GRAPH_MAX_INTS], stride[HN_GRAPH_MAX_INTS];
	int64_t no_begin, no_end, ellipsis, new_axis, shrink; /* a bit for each entry */
};

static bool has(int64_t mask, uint32_t k)
{
	return k < 63 && (mask >> k & 1) != 0;
}

/* A place that is as far outside of any dimension. */
static int64_t within(int64_t at)
{
	return at > HN_GRAPH_MAX_ELEMENTS    ? HN_GRAPH_MAX_ELEMENTS
	       : at < -HN_GRAPH_MAX_ELEMENTS ? -HN_GRAPH_MAX_ELEMENTS
					     : at;
}

static bool read_entries(struct hn_akg_call *c, struct entries *e)
{
	uint32_t n_end, n_stride;

	if (!hn_akg_ints(c, "begin", 1, &e->n, e->begin) ||
	    !hn_akg_ints(c, "end", 2, &n_end, e->end) ||
	    !hn_akg_ints(c, "strides", 3, &n_stride, e->stride) || n_end != e->n ||
	    n_stride != e->n) {
		hn_graph_fail(c->g, HONE_E_INVALID, "begin, end and strides are no lists of one length");
		return false;
	}
	for (uint32_t k = 0; k < e->n; k++) {
		e->begin[k] = within(e->begin[k]);
		e->end[k] = within(e->end[k]);
	}
	e->no_begin = hn_akg_int(c, "begin_mask", 0);
	e->no_end = hn_akg_int(c, "end_mask", 0);
	e->ellipsis = hn_akg_int(c, "ellipsis_mask", 0);
	e->new_axis = hn_akg_int(c, "new_axis_mask", 0);
	e->shrink = hn_akg_int(c, "shrink_axis_mask", 0);
	return !c->g->failed;
}

/* What becomes of each dimension of x. */
struct cut {
	uint32_t n; /* dimensions that are sliced */
	int64_t axis[HN_GRAPH_MAX_RANK], begin[HN_GRAPH_MAX_RANK], end[HN_GRAPH_MAX_RANK];
	int64_t stride[HN_GRAPH_MAX_RANK];
	uint32_t rank; /* of the result */
	int32_t from[HN_GRAPH_MAX_RANK + HN_GRAPH_MAX_INTS]; /* the dimension of x, -1: a new one */
};

static void cut_entry(const struct entries *e, uint32_t k, uint32_t d, struct cut *ret)
{
	uint32_t i = ret->n++;
	bool back = e->stride[k] < 0;

	ret->axis[i] = d;
	ret->stride[i] = e->stride[k];
	ret->begin[i] = !has(e->no_begin, k) ? e->begin[k] : back ? HN_GRAPH_MAX_ELEMENTS : 0;
	ret->end[i] = !has(e->no_end, k) ? e->end[k] : (back ? -1 : 1) * HN_GRAPH_MAX_ELEMENTS;
	if (has(e->shrink, k)) {
		ret->begin[i] = e->begin[k];
		ret->end[i] = e->begin[k] == -1 ? HN_GRAPH_MAX_ELEMENTS : e->begin[k] + 1;
		ret->stride[i] = 1;
	} else {
		ret->from[ret->rank++] = (int32_t)d;
	}
}

/* false: there are more entries than dimensions. */
static bool plan(const struct entries *e, uint32_t rank, struct cut *ret)
{
	uint32_t d = 0, wanted = 0;

	for (uint32_t k = 0; k < e->n; k++) {
		wanted += !has(e->new_axis, k) && !has(e->ellipsis, k);
	}
	for (uint32_t k = 0; k < e->n; k++) {
		if (has(e->ellipsis, k)) {
			for (uint32_t i = wanted; i < rank && d < rank; i++) {
				ret->from[ret->rank++] = (int32_t)d++;
			}
			wanted = rank;
		} else if (has(e->new_axis, k)) {
			ret->from[ret->rank++] = -1;
		} else if (d == rank) {
			return false;
		} else {
			cut_entry(e, k, d++, ret);
		}
	}
	while (d < rank) {
		ret->from[ret->rank++] = (int32_t)d++;
	}
	return ret->rank <= HN_GRAPH_MAX_RANK;
}

void hn_akg_strided_slice(struct hn_akg_call *c)
{
	uint32_t rank = hn_akg_in(c, 0)->rank;
	int64_t to[HN_GRAPH_MAX_RANK];
	struct cut p = { .n = 0 };
	struct entries e;
	int32_t in[5], v;

	if (!read_entries(c, &e)) {
		return;
	}
	if (!plan(&e, rank, &p)) {
		hn_graph_fail(c->g, HONE_E_INVALID, "%u entries for %u dimensions", e.n, rank);
		return;
	}
	in[0] = c->in[0];
	in[1] = hn_graph_ints(c->g, p.n, p.begin);
	in[2] = hn_graph_ints(c->g, p.n, p.end);
	in[3] = hn_graph_ints(c->g, p.n, p.axis);
	in[4] = hn_graph_ints(c->g, p.n, p.stride);
	v = hn_graph_add(c->g, "Slice", 5, in, 0, NULL);
	for (uint32_t k = 0; k < p.rank && v >= 0; k++) {
		to[k] = p.from[k] < 0 ? 1 : c->g->value[v].shape[p.from[k]];
	}
	to[0] = p.rank == 0 ? 1 : to[0];
	c->out[0] = v < 0 ? v : hn_reshaped(c->g, v, p.rank > 0 ? p.rank : 1, to);
}

/* -- pads ------------------------------------------------------------------------------- */

/* A list with a number for each dimension; zeros where it is left out. */
static bool per_dimension(struct hn_akg_call *c, const char *name, int64_t *ret)
{
	uint32_t n, rank = hn_akg_in(c, 0)->rank;

	if (!hn_akg_ints(c, name, UINT32_MAX, &n, ret)) {
		memset(ret, 0, rank * sizeof(*ret));
		return !c->g->failed;
	}
	for (uint32_t k = 0; k < n; k++) {
		if (n != rank || ret[k] < 0 || ret[k] > INT32_MAX) {
			hn_graph_fail(c->g, HONE_E_INVALID,
				      "attribute %s is no list of %u lengths", name, rank);
			return false;
		}
	}
	return n == rank;
}

void hn_akg_pad(struct hn_akg_call *c)
{
	const struct hn_gvalue *x = hn_akg_in(c, 0);
	const struct hn_json *with = hn_akg_attr(c, "pad_val");
	int64_t pads[2 * HN_GRAPH_MAX_INTS], tail[HN_GRAPH_MAX_INTS];
	double number = 0;
	int32_t in[3];

	if (!per_dimension(c, "head", pads) || !per_dimension(c, "tail", tail)) {
		return;
	}
	if (with != NULL && !hn_json_double(with, &number)) {
		hn_graph_fail(c->g, HONE_E_INVALID, "attribute pad_val is %s; a number is wanted",
			      hn_json_kind_name(with));
		return;
	}
	memcpy(pads + x->rank, tail, x->rank * sizeof(*tail));
	in[0] = c->in[0];
	in[1] = hn_graph_ints(c->g, 2 * x->rank, pads);
	in[2] = hn_graph_scalar(c->g, (enum hn_dtype)x->dtype, number);
	c->out[0] = hn_graph_add(c->g, "Pad", 3, in, 0, NULL);
}

void hn_akg_unpad(struct hn_akg_call *c)
{
	int64_t tail[HN_GRAPH_MAX_INTS];
	int32_t v = c->in[0];

	if (!per_dimension(c, "tail", tail)) {
		return;
	}
	for (uint32_t d = 0; d < hn_akg_in(c, 0)->rank && v >= 0; d++) {
		int64_t left = hn_akg_in(c, 0)->shape[d] - tail[d];

		v = left > 0 ? hn_part(c->g, v, d, 0, left)
			     : hn_graph_fail(c->g, HONE_E_INVALID, "tail %lld of %lld elements",
					     (long long)tail[d], (long long)(left + tail[d]));
	}
	c->out[0] = v;
}
