/* graph/op/norms.c -- ONNX's normalizations, written with `standardize` and reductions. */
#include <math.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"

/* -- over rows -------------------------------------------------------------------------- */

static int32_t mean_over(struct hn_graph *g, int32_t x, uint32_t n, const int64_t *axes)
{
	int32_t sum = hn_reduced(g, x, "+=!", n, axes, true);

	return sum < 0 ? sum
		       : hn_scaled(g, sum,
				   (double)hn_gvalue_elements(&g->value[sum]) /
					   (double)hn_gvalue_elements(&g->value[x]));
}

/* A mean, and 1 / sqrt(variance + epsilon): the results of LayerNormalization that training needs.
 */
static void put_statistics(const struct hn_gcall *c, int32_t x, uint32_t n,
			   const int64_t *axes, double epsilon)
{
	int32_t mean, centred, variance;
	struct hn_graph *g = c->g;

	if (c->node->n_out < 2 || x < 0) {
		return;
	}
	mean = mean_over(g, x, n, axes);
	c->out[1] = mean;
	if (c->node->n_out > 2) {
		centred = hn_graph_2(g, "Sub", x, mean);
		centred = hn_graph_2(g, "Mul", centred, centred);
		variance = centred < 0 ? centred : mean_over(g, centred, n, axes);
		c->out[2] =
			hn_graph_1(g, "Reciprocal",
				   hn_graph_1(g, "Sqrt", hn_plus(g, variance, epsilon)));
	}
}

/* LayerNormalization, and RMSNormalization, which leaves the mean and the bias out. */
int32_t hn_layernorm_expand(const struct hn_gcall *c)
{
	bool centred = strcmp(c->node->op->name, "LayerNormalization") == 0;
	double epsilon = hn_gattr_float(c->node, "epsilon", 1e-5);
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t axes[HN_GRAPH_MAX_RANK];
	uint32_t axis, n;
	int32_t wide, y;

	if (!hn_gcall_axis(c, hn_gattr_int(c->node, "axis", -1), x->rank, &axis)) {
		return HN_BAD;
	}
	n = hn_axes_from(axis, x->rank, axes);
	wide = hn_widened(c->g, hn_gcall_arg(c, 0));
	put_statistics(c, wide, n, axes, epsilon);
	y = hn_standardized(c->g, wide, n, axes, epsilon, centred);
	y = hn_graph_2(c->g, "Mul", y, hn_widened(c->g, hn_gcall_arg(c, 1)));
	y = hn_gcall_in(c, 2) == NULL
		    ? y
		    : hn_graph_2(c->g, "Add", y, hn_widened(c->g, hn_gcall_arg(c, 2)));
	return hn_cast_to(c->g, y, hn_gcall_in(c, 1)->dtype);
}

/* Over the spatial dimensions of each channel. */
int32_t hn_instancenorm_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t axes[HN_GRAPH_MAX_RANK];
	int32_t y;

	if (x->rank < 3) {
		return hn_graph_fail(c->g, HONE_E_INVALID,
				     "InstanceNormalization of %u dimensions", x->rank);
	}
	y = hn_standardized(c->g, hn_widened(c->g, hn_gcall_arg(c, 0)),
			    hn_axes_from(2, x->rank, axes), axes,
			    hn_gattr_float(c->node, "epsilon", 1e-5), true);
	y = hn_cast_to(c->g, y, x->dtype);
	y = hn_graph_2(c->g, "Mul", y, hn_along(c->g, hn_gcall_arg(c, 1), 1, x->rank));
	return hn_graph_2(c->g, "Add", y, hn_along(c->g, hn_gcall_arg(c, 2), 1, x->rank));
}

/* y * scale + bias, which are for each group before version 21, and for each channel since. */
static int32_t scale_groups(const struct hn_gcall *c, int32_t y, int64_t groups)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	bool channels = hn_gvalue_elements(hn_gcall_in(c, 1)) == x->shape[1];
	int32_t scale = hn_widened(c->g, hn_gcall_arg(c, 1));
	int32_t bias = hn_widened(c->g, hn_gcall_arg(c, 2));

	if (!channels) {
		int64_t grouped[] = { x->shape[0], groups, -1 };

		grouped[2] = hn_gvalue_elements(x) / (x->shape[0] * groups);
		y = hn_reshaped(c->g, y, 3, grouped);
		y = hn_graph_2(c->g, "Mul", y, hn_along(c->g, scale, 1, 3));
		y = hn_graph_2(c->g, "Add", y, hn_along(c->g, bias, 1, 3));
		return hn_reshaped(c->g, y, x->rank, x->shape);
	}
	y = hn_reshaped(c->g, y, x->rank, x->shape);
	y = hn_graph_2(c->g, "Mul", y, hn_along(c->g, scale, 1, x->rank));
	return hn_graph_2(c->g, "Add", y, hn_along(c->g, bias, 1, x->rank));
}

int32_t hn_groupnorm_expand(const struct hn_gcall *c)
{
	int64_t groups = hn_gattr_int(c->node, "num_groups", 0), axis = 2, grouped[3];
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int32_t y;

	if (x->rank < 3 || groups < 1 || x->shape[1] % groups != 0 ||
	    hn_gvalue_elements(x) == 0) {
		return hn_graph_fail(c->g, HONE_E_INVALID,
				     "GroupNormalization of shape %s with %lld groups",
				     hn_shape_text(c->g->arena, x->rank, x->shape),
				     (long long)groups);
	}
	grouped[0] = x->shape[0];
	grouped[1] = groups;
	grouped[2] = hn_gvalue_elements(x) / (x->shape[0] * groups);
	y = hn_reshaped(c->g, hn_widened(c->g, hn_gcall_arg(c, 0)), 3, grouped);
	y = hn_standardized(c->g, y, 1, &axis, hn_gattr_float(c->node, "epsilon", 1e-5),
			    true);
	return hn_cast_to(c->g, scale_groups(c, y, groups), x->dtype);
}

/* (x - mean) / deviation over axes that are named, which count each once. */
int32_t hn_meanvariance_expand(const struct hn_gcall *c)
{
	static const int64_t otherwise[] = { 0, 2, 3 };
	const struct hn_gattr *given = hn_gattr_find(c->node, "axes");
	const int64_t *from = given != NULL ? given->i : otherwise;
	uint32_t n = given != NULL ? given->n : 3, axis, kept = 0;
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	bool in[HN_GRAPH_MAX_RANK] = { false };
	int64_t axes[HN_GRAPH_MAX_RANK];

	for (uint32_t i = 0; i < n; i++) {
		if (!hn_gcall_axis(c, from[i], x->rank, &axis)) {
			return HN_BAD;
		}
		in[axis] = true;
	}
	for (uint32_t d = 0; d < x->rank; d++) {
		if (in[d]) {
			axes[kept++] = d;
		}
	}
	/* ONNX adds 1e-9 to the deviation */
	return hn_cast_to(c->g,
			  hn_standardized(c->g, hn_widened(c->g, hn_gcall_arg(c, 0)),
					  kept, axes, 1e-18, true),
			  x->dtype);
}

/* x / norm; zeros stay zeros. */
int32_t hn_lpnorm_expand(const struct hn_gcall *c)
{
	int64_t p = hn_gattr_int(c->node, "p", 2), axes[1];
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	struct hn_graph *g = c->g;
	int32_t v, norm, zero;
	uint32_t axis;

	if ((p != 1 && p != 2) || !hn_is_float(x)) {
		return hn_graph_fail(g, HONE_E_INVALID, "LpNormalization: p %lld of %s",
				     (long long)p, hn_dtype_name(x->dtype));
	}
	if (!hn_gcall_axis(c, hn_gattr_int(c->node, "axis", -1), x->rank, &axis)) {
		return HN_BAD;
	}
	axes[0] = axis;
	v = hn_widened(g, hn_gcall_arg(c, 0));
	norm = p == 1 ? hn_graph_1(g, "Abs", v) : hn_graph_2(g, "Mul", v, v);
	norm = hn_reduced(g, norm, "+=!", 1, axes, true);
	norm = p == 2 ? hn_graph_1(g, "Sqrt", norm) : norm;
	if (norm < 0) {
		return norm;
	}
	zero = hn_graph_2(g, "Equal", norm, hn_graph_scalar(g, g->value[norm].dtype, 0));
	norm = hn_graph_add(
		g, "Where", 3,
		(int32_t[]){ zero, hn_graph_scalar(g, g->value[norm].dtype, 1), norm }, 0,
		NULL);
	return hn_cast_to(g, hn_graph_2(g, "div", v, norm), x->dtype);
}

/* -- over channels ---------------------------------------------------------------------- */

/* y = x * k + (bias - mean * k), k = scale / sqrt(variance + epsilon): of constants, so what is
 * left is one product and one sum. */
int32_t hn_batchnorm_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	struct hn_graph *g = c->g;
	int32_t k, offset, v[4];
	uint32_t rank = x->rank;
	enum hn_dtype t;

	if (hn_gattr_int(c->node, "training_mode", 0) != 0 || c->node->n_out > 1) {
		return hn_graph_fail(g, HONE_E_UNSUPPORTED,
				     "BatchNormalization for training");
	}
	if (rank < 2 || hn_gattr_int(c->node, "spatial", 1) == 0) {
		return hn_graph_fail(g, HONE_E_UNSUPPORTED,
				     "BatchNormalization of no channels");
	}
	for (uint32_t i = 1; i < 5; i++) {
		const struct hn_gvalue *p = hn_gcall_in(c, i);

		if (p->rank != 1 || p->shape[0] != x->shape[1]) {
			return hn_graph_fail(
				g, HONE_E_INVALID,
				"BatchNormalization: operand %u has shape %s", i,
				hn_shape_text(g->arena, p->rank, p->shape));
		}
	}
	t = hn_dtype_is_narrow(x->dtype) ? HN_F32 : (enum hn_dtype)x->dtype;
	for (uint32_t i = 0; i < 4; i++) {
		v[i] = hn_cast_to(g, c->node->in[i + 1], t);
	}
	k = hn_plus(g, v[3], hn_gattr_float(c->node, "epsilon", 1e-5));
	k = hn_graph_2(g, "div", v[0], hn_graph_1(g, "Sqrt", k));
	offset = hn_graph_2(g, "Sub", v[1], hn_graph_2(g, "Mul", v[2], k));
	k = hn_cast_to(g, k, x->dtype);
	offset = hn_cast_to(g, offset, x->dtype);
	return hn_graph_2(g, "Add",
			  hn_graph_2(g, "Mul", c->node->in[0], hn_along(g, k, 1, rank)),
			  hn_along(g, offset, 1, rank));
}

/* The sum of squares of `size` channels around each one; v is [N, 1, C, all else]. */
static int32_t squares_around(const struct hn_gcall *c, int32_t v, int64_t size)
{
	int64_t front = (size - 1) / 2;
	struct hn_gattr attr[] = {
		hn_gattr_of_ints("kernel_shape", 2, (int64_t[]){ size, 1 }),
		hn_gattr_of_ints("pads", 4, (int64_t[]){ front, 0, size - 1 - front, 0 }),
		hn_gattr_of_ints("count_include_pad", 1, (int64_t[]){ 1 }),
	};

	v = hn_graph_2(c->g, "Mul", v, v);
	return hn_graph_add(c->g, "AveragePool", 1, &v, 3, attr);
}

/* All of it in the window's shape, so that no reshape keeps two of its nodes apart. */
int32_t hn_lrn_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t size = hn_gattr_int(c->node, "size", 0);
	struct hn_graph *g = c->g;
	int64_t shape[4] = { x->shape[0], 1, x->rank > 1 ? x->shape[1] : 1, 1 };
	int32_t v, wide;

	if (x->rank < 2 || !hn_is_float(x) || size < 1 || size > 2 * x->shape[1] + 1) {
		return hn_graph_fail(g, HONE_E_INVALID, "LRN of size %lld of shape %s",
				     (long long)size,
				     hn_shape_text(g->arena, x->rank, x->shape));
	}
	for (uint32_t d = 2; d < x->rank; d++) {
		shape[3] *= x->shape[d];
	}
	wide = hn_reshaped(g, hn_widened(g, hn_gcall_arg(c, 0)), 4, shape);
	v = hn_scaled(g, squares_around(c, wide, size), hn_gattr_float(c->node, "alpha", 1e-4));
	v = hn_plus(g, v, hn_gattr_float(c->node, "bias", 1));
	v = hn_power(g, v, hn_gattr_float(c->node, "beta", 0.75));
	v = hn_reshaped(g, hn_graph_2(g, "div", wide, v), x->rank, x->shape);
	return hn_cast_to(g, v, x->dtype);
}
