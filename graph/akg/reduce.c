/* graph/akg/reduce.c -- operators that make one element of many.
 *
 * Sums of 16-bit floats are float32 while they are summed, and the extremes of any type are exact: so
 * no copy of the operand in another type is made before.
 */
#include <string.h>

#include "graph/akg/rows.h"
#include "graph/op/build.h"

/* Which dimensions: attribute axis, or literal operand 1; all where none are said.  Returns how many,
 * ascending. */
static uint32_t axes_of(struct hn_akg_call *c, int64_t ret[HN_GRAPH_MAX_RANK])
{
	int64_t axis[HN_GRAPH_MAX_INTS], rank = hn_akg_in(c, 0)->rank;
	bool in[HN_GRAPH_MAX_RANK] = { false };
	uint32_t n, count = 0;
	bool some = hn_akg_ints(c, "axis", 1, &n, axis) && n > 0;

	for (uint32_t k = 0; k < n; k++) {
		if (axis[k] < -rank || axis[k] >= rank) {
			hn_graph_fail(c->g, HONE_E_INVALID, "axis %lld of a tensor with %lld dimensions",
				      (long long)axis[k], (long long)rank);
			return 0;
		}
		in[axis[k] < 0 ? axis[k] + rank : axis[k]] = true;
	}
	for (int64_t d = 0; d < rank; d++) {
		if (!some || in[d]) {
			ret[count++] = d;
		}
	}
	return count;
}

static int32_t reduced(struct hn_akg_call *c, int32_t v)
{
	int64_t axes[HN_GRAPH_MAX_RANK], keep = hn_akg_int(c, "keep_dims", 0) != 0;
	uint32_t n = axes_of(c, axes);
	struct hn_gattr attr[] = { hn_gattr_of_ints("keepdims", 1, &keep),
				   hn_gattr_of_ints("axes", n, axes) };

	return c->g->failed ? HN_BAD : hn_graph_add(c->g, c->row->as, 1, &v, 2, attr);
}

static int32_t narrow_sum(struct hn_akg_call *c)
{
	int64_t axes[HN_GRAPH_MAX_RANK], keep = hn_akg_int(c, "keep_dims", 0) != 0;
	uint32_t n = axes_of(c, axes);
	struct hn_gattr attr[] = { hn_gattr_of_ints("keepdims", 1, &keep),
				   hn_gattr_of_ints("axes", n, axes), hn_attr_string("how", "+=!"),
				   hn_gattr_of_int(c->g->arena, "sum", HN_F32) };

	return c->g->failed ? HN_BAD : hn_graph_add(c->g, "reduce", 1, c->in, 4, attr);
}

static int32_t extreme(struct hn_akg_call *c, const char *sign)
{
	int64_t axes[HN_GRAPH_MAX_RANK];
	bool keep = hn_akg_int(c, "keep_dims", 0) != 0;
	uint32_t n = axes_of(c, axes);

	return c->g->failed ? HN_BAD : hn_reduced(c->g, c->in[0], sign, n, axes, keep);
}

void hn_akg_reduce(struct hn_akg_call *c)
{
	const struct hn_gvalue *x = hn_akg_in(c, 0);
	bool narrow = hn_is_float(x) && hn_dtype_is_narrow((enum hn_dtype)x->dtype);

	c->out[0] = narrow && strcmp(c->row->as, "ReduceSum") == 0 ? narrow_sum(c)
		    : narrow && strcmp(c->row->as, "ReduceMax") == 0 ? extreme(c, "max=!")
		    : narrow && strcmp(c->row->as, "ReduceMin") == 0 ? extreme(c, "min=!")
								     : reduced(c, c->in[0]);
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
