/* graph/op/shape.c -- operators that make constants of shapes. */
#include <math.h>
#include <string.h>

#include "graph/op/rows.h"

static int64_t clamped(int64_t v, int64_t rank)
{
	v = v < 0 ? v + rank : v;
	return v < 0 ? 0 : v > rank ? rank : v;
}

int32_t hn_shape_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t begin = clamped(hn_gattr_int(c->node, "start", 0), x->rank);
	int64_t end = clamped(hn_gattr_int(c->node, "end", x->rank), x->rank);

	return hn_graph_ints(c->g, (uint32_t)(end > begin ? end - begin : 0),
			     x->shape + begin);
}

int32_t hn_size_expand(const struct hn_gcall *c)
{
	return hn_graph_scalar(c->g, HN_I64,
			       (double)hn_gvalue_elements(hn_gcall_in(c, 0)));
}

/* The attribute `value` is imported as numbers (import.c), with `value_type`. */
int32_t hn_constantofshape_expand(const struct hn_gcall *c)
{
	enum hn_dtype t = (enum hn_dtype)hn_gattr_int(c->node, "value_type", HN_F32);
	const int64_t *shape;
	int32_t one;
	uint32_t n;

	if (!hn_gcall_ints(c, 0, &n, &shape)) {
		return HN_BAD;
	}
	if (n > HN_GRAPH_MAX_RANK) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED,
				     "ConstantOfShape of %u dimensions", n);
	}
	for (uint32_t d = 0; d < n; d++) {
		if (shape[d] < 0 || shape[d] > INT32_MAX) {
			return hn_graph_fail(c->g, HONE_E_INVALID,
					     "ConstantOfShape of %s",
					     hn_shape_text(c->g->arena, n, shape));
		}
	}
	one = hn_graph_scalar(c->g, t, hn_gattr_float(c->node, "value", 0));
	return hn_graph_const(c->g, c->g->at, t, n, shape, c->g->value[one].data, true);
}

int32_t hn_range_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *from = hn_gcall_in(c, 0);
	uint32_t bytes = hn_dtype_bytes(from->dtype);
	double first, limit, step, n;
	int64_t *shape = HN_NEW(c->g->arena, int64_t);
	char *data;

	if (!hn_gvalue_number(from, 0, &first) ||
	    !hn_gvalue_number(hn_gcall_in(c, 1), 0, &limit) ||
	    !hn_gvalue_number(hn_gcall_in(c, 2), 0, &step)) {
		return hn_graph_fail(
			c->g, HONE_E_UNSUPPORTED,
			"Range of what is not constant: shapes have to be known");
	}
	n = ceil((limit - first) / step);
	if (!(n <= (double)(1 << 27))) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "Range of %g numbers", n);
	}
	*shape = n > 0 ? (int64_t)n : 0;
	data = hn_arena_alloc(c->g->arena, (size_t)*shape * bytes + 1);
	for (int64_t i = 0; i < *shape; i++) {
		double v = first + (double)i * step;
		int64_t whole = (int64_t)v;

		if (hn_dtype_class(from->dtype) == HN_CLASS_FLOAT) {
			hn_float_put(from->dtype, data, i, v);
		} else { /* little endian */
			memcpy(data + (size_t)i * bytes, &whole, bytes);
		}
	}
	return hn_graph_const(c->g, c->g->at, from->dtype, 1, shape, data, false);
}
