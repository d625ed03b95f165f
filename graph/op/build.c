/* graph/op/build.c -- small operators that others are written with. */
#include "graph/op/build.h"
#include "graph/op/sum.h"

#include <math.h>
#include <string.h>

bool hn_is_float(const struct hn_gvalue *v)
{
	return hn_dtype_class(v->dtype) == HN_CLASS_FLOAT;
}

struct hn_gattr hn_attr_float(const char *name, const double *v)
{
	return (struct hn_gattr){ .name = name, .kind = HN_GATTR_FLOATS, .n = 1, .f = v };
}

struct hn_gattr hn_attr_string(const char *name, const char *s)
{
	return (struct hn_gattr){ .name = name, .kind = HN_GATTR_STRING, .s = s };
}

int32_t hn_cast_to(struct hn_graph *g, int32_t v, enum hn_dtype t)
{
	int64_t to = t;
	struct hn_gattr attr = hn_gattr_of_ints("to", 1, &to);

	return v < 0 || g->value[v].dtype == t ? v
					       : hn_graph_add(g, "cast", 1, &v, 1, &attr);
}

int32_t hn_widened(struct hn_graph *g, int32_t v)
{
	return v < 0 || !hn_dtype_is_narrow(g->value[v].dtype) ? v
							       : hn_cast_to(g, v, HN_F32);
}

int32_t hn_reshaped(struct hn_graph *g, int32_t v, uint32_t rank, const int64_t *shape)
{
	struct hn_gattr attr = hn_gattr_of_ints("shape", rank, shape);
	const struct hn_gvalue *x = v < 0 ? NULL : &g->value[v];
	struct hn_gvalue to = { .rank = rank, .shape = shape };

	if (x == NULL ||
	    (rank == x->rank &&
	     (rank == 0 || memcmp(shape, x->shape, rank * sizeof(*shape)) == 0))) {
		return v;
	}
	if (rank > HN_GRAPH_MAX_RANK ||
	    hn_gvalue_elements(x) != hn_gvalue_elements(&to)) {
		return hn_graph_fail(g, HONE_E_INVALID, "shape %s does not become %s",
				     hn_shape_text(g->arena, x->rank, x->shape),
				     hn_shape_text(g->arena, rank, shape));
	}
	return hn_graph_add(g, "reshape", 1, &v, 1, &attr);
}

int32_t hn_along(struct hn_graph *g, int32_t v, uint32_t axis, uint32_t rank)
{
	int64_t shape[HN_GRAPH_MAX_RANK];

	for (uint32_t d = axis; d < rank && v >= 0; d++) {
		shape[d - axis] = d == axis ? hn_gvalue_elements(&g->value[v]) : 1;
	}
	return v < 0 ? v : hn_reshaped(g, v, rank - axis, shape);
}

int32_t hn_transposed(struct hn_graph *g, int32_t v, uint32_t rank, const int64_t *perm)
{
	struct hn_gattr attr = hn_gattr_of_ints("perm", rank, perm);

	return hn_graph_add(g, "Transpose", 1, &v, 1, &attr);
}

int32_t hn_part(struct hn_graph *g, int32_t v, uint32_t axis, int64_t first, int64_t count)
{
	int64_t start[HN_GRAPH_MAX_RANK], step[HN_GRAPH_MAX_RANK], n[HN_GRAPH_MAX_RANK];
	uint32_t rank = v < 0 ? 0 : g->value[v].rank;

	for (uint32_t d = 0; d < rank; d++) {
		start[d] = d == axis ? first : 0;
		step[d] = 1;
		n[d] = d == axis ? count : g->value[v].shape[d];
	}
	struct hn_gattr attr[] = { hn_gattr_of_ints("start", rank, start),
				   hn_gattr_of_ints("step", rank, step),
				   hn_gattr_of_ints("count", rank, n) };

	return v < 0 || count == g->value[v].shape[axis] ? v
							 : hn_graph_add(g, "slice", 1, &v, 3, attr);
}

int32_t hn_scaled(struct hn_graph *g, int32_t v, double by)
{
	return v < 0 || by == 1 ? v
				: hn_graph_2(g, "Mul", v,
					     hn_graph_scalar(g, g->value[v].dtype, by));
}

int32_t hn_plus(struct hn_graph *g, int32_t v, double more)
{
	return v < 0 || more == 0
		       ? v
		       : hn_graph_2(g, "Add", v,
				    hn_graph_scalar(g, g->value[v].dtype, more));
}

int32_t hn_power(struct hn_graph *g, int32_t v, double e)
{
	return v < 0 || e == 1 ? v
			       : hn_graph_2(g, "Pow", v,
					    hn_graph_scalar(g, g->value[v].dtype, e));
}

/* What a reduction of nothing gives; ends of integers, infinities of floats. */
static double start_of(const char *sign, enum hn_dtype t)
{
	bool unsigned_zero = hn_dtype_class(t) == HN_CLASS_UNSIGNED || t == HN_BOOL;

	switch (*sign) {
	case '+':
		return 0;
	case '*':
		return 1;
	default:
		return sign[1] == 'i'  ? (double)INFINITY
		       : unsigned_zero ? 0
				       : -(double)INFINITY;
	}
}

/* The shape that is left of x; whether there is one element to each of its own. */
static bool reduced_shape(const struct hn_gvalue *x, uint32_t n, const int64_t *axes, bool keep,
			  uint32_t *ret_rank, int64_t *ret)
{
	uint32_t next = 0;
	bool ones = true;

	*ret_rank = 0;
	for (uint32_t d = 0; d < x->rank; d++) {
		bool reduced = next < n && axes[next] == d;

		next += reduced;
		ones &= !reduced || x->shape[d] == 1;
		if (!reduced || keep) {
			ret[(*ret_rank)++] = reduced ? 1 : x->shape[d];
		}
	}
	return ones;
}

int32_t hn_reduced(struct hn_graph *g, int32_t v, const char *sign, uint32_t n,
		   const int64_t *axes, bool keep)
{
	struct hn_gattr attr[] = { hn_gattr_of_ints("axes", n, axes),
				   hn_gattr_of_ints("keepdims", 1, &(int64_t){ keep }),
				   hn_attr_string("how", sign) };

	const struct hn_gvalue *x = v < 0 ? NULL : &g->value[v];
	int64_t *shape = HN_NEW_ARRAY(g->arena, int64_t, HN_GRAPH_MAX_RANK);
	uint32_t rank;
	int32_t start;
	bool ones;

	if (x == NULL) {
		return v;
	}
	ones = reduced_shape(x, n, axes, keep, &rank, shape);
	if (hn_gvalue_elements(x) == 0) {
		start = hn_graph_scalar(g, x->dtype, start_of(sign, x->dtype));
		return hn_graph_const(g, g->at, x->dtype, rank, shape, g->value[start].data, true);
	}
	if (ones) { /* of one element each */
		enum hn_dtype t = *sign == '+' ? hn_sum_type(x->dtype, x->dtype) : x->dtype;

		return hn_reshaped(g, hn_cast_to(g, v, t), rank, shape);
	}
	return hn_graph_add(g, "reduce", 1, &v, 3, attr);
}

int32_t hn_standardized(struct hn_graph *g, int32_t v, uint32_t n, const int64_t *axes,
			double epsilon, bool centred)
{
	struct hn_gattr attr[] = {
		hn_gattr_of_ints("axes", n, axes), hn_attr_float("epsilon", &epsilon),
		hn_gattr_of_ints("centred", 1, &(int64_t){ centred })
	};

	return hn_graph_add(g, "standardize", 1, &v, 3, attr);
}

int32_t hn_counting(struct hn_graph *g, int64_t n)
{
	int64_t *data, *shape = HN_NEW(g->arena, int64_t);

	if (n < 0 || !hn_graph_afford(g, n * (int64_t)sizeof(*data))) {
		return hn_graph_fail(g, HONE_E_QUOTA, "a list of %lld numbers",
				     (long long)n);
	}
	data = HN_NEW_ARRAY(g->arena, int64_t, (size_t)n);
	for (int64_t i = 0; i < n; i++) {
		data[i] = i;
	}
	*shape = n;
	return hn_graph_const(g, g->at, HN_I64, 1, shape, data, false);
}

uint32_t hn_axes_from(uint32_t first, uint32_t end, int64_t ret[HN_GRAPH_MAX_RANK])
{
	for (uint32_t d = first; d < end; d++) {
		ret[d - first] = d;
	}
	return end - first;
}
