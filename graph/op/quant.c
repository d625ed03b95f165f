/* graph/op/quant.c -- numbers as small integers: value = (integer - zero point) * scale. */
#include <stdio.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/dtype.h"
#include "graph/op/quant.h"
#include "graph/op/rows.h"
#include "graph/op/window.h"

/* -- scales ----------------------------------------------------------------------------- */

/* Blocks of `size` elements of dimension `axis` share a number: each as often as it counts. */
static int32_t spread(struct hn_graph *g, int32_t v, uint32_t axis, int64_t size,
		      const struct hn_gvalue *x)
{
	const struct hn_gvalue *s = &g->value[v];
	int64_t shape[HN_GRAPH_MAX_RANK + 1], end[] = { x->shape[axis] }, at[] = { axis };
	int64_t zero[] = { 0 };
	int32_t in[4];

	for (uint32_t d = 0; d < s->rank; d++) {
		shape[d + (d > axis)] = s->shape[d];
	}
	shape[axis + 1] = 1;
	v = hn_reshaped(g, v, s->rank + 1, shape);
	shape[axis + 1] = size;
	v = hn_graph_2(g, "Expand", v, hn_graph_ints(g, s->rank + 1, shape));
	shape[axis] = s->shape[axis] * size;
	for (uint32_t d = axis + 1; d < s->rank; d++) {
		shape[d] = s->shape[d];
	}
	in[0] = hn_reshaped(g, v, s->rank, shape);
	in[1] = hn_graph_ints(g, 1, zero);
	in[2] = hn_graph_ints(g, 1, end);
	in[3] = hn_graph_ints(g, 1, at);
	return hn_graph_add(g, "Slice", 4, in, 0, NULL);
}

/* A scale or a zero point as it is broadcast to x: one number, one for each element of `axis`, or
 * one for each block of it. */
static int32_t shaped(const struct hn_gcall *c, int32_t v)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0),
			       *s = v < 0 ? NULL : &c->g->value[v];
	int64_t size = hn_gattr_int(c->node, "block_size", 0), blocks;
	uint32_t axis;

	if (s == NULL || hn_gvalue_elements(s) == 1) { /* layers differ in them alone */
		return v < 0 ? v : hn_graph_operand(c->g, hn_reshaped(c->g, v, 0, NULL));
	}
	if (!hn_gcall_axis(c, hn_gattr_int(c->node, "axis", 1), x->rank, &axis)) {
		return HN_BAD;
	}
	if (size == 0 && s->rank == 1 && s->shape[0] == x->shape[axis]) {
		return hn_along(c->g, v, axis, x->rank);
	}
	blocks = size > 0 ? x->shape[axis] / size + (x->shape[axis] % size != 0) : 0;
	if (size < 1 || s->rank != x->rank || s->rank >= HN_GRAPH_MAX_RANK ||
	    size > x->shape[axis] || s->shape[axis] != blocks ||
	    hn_gvalue_elements(s) == 0) {
		return hn_graph_fail(c->g, HONE_E_INVALID,
				     "%s: scales of shape %s for %s", c->node->op->name,
				     hn_shape_text(c->g->arena, s->rank, s->shape),
				     hn_shape_text(c->g->arena, x->rank, x->shape));
	}
	return spread(c->g, v, axis, size, x);
}

bool hn_quant_is_zero(const struct hn_graph *g, int32_t v)
{
	const struct hn_gvalue *z = v < 0 ? NULL : &g->value[v];
	int64_t i, n = z == NULL ? 0 : z->fill ? 1 : hn_gvalue_elements(z);

	for (int64_t k = 0; k < n; k++) {
		if (!hn_gvalue_int(z, k, &i) || i != 0) {
			return false;
		}
	}
	return true;
}

/* -- quantize, dequantize ---------------------------------------------------------------- */

/* round(x / scale) + zero, cut to the zero point's type. */
static int32_t quantized(struct hn_graph *g, int32_t x, int32_t scale, int32_t zero,
			 enum hn_dtype t)
{
	x = hn_graph_2(g, "div", hn_cast_to(g, x, HN_F32), hn_cast_to(g, scale, HN_F32));
	zero = zero == HN_NONE ? hn_graph_scalar(g, t, 0) : zero;
	return hn_cast_to(g, hn_graph_2(g, "quantize", x, zero), t);
}

int32_t hn_quant_value(struct hn_graph *g, int32_t x, int32_t zero, int32_t scale)
{
	zero = zero == HN_NONE ? hn_graph_scalar(g, HN_I32, 0) : zero;
	return hn_graph_add(g, "dequantize", 3,
			    (int32_t[]){ x, zero, hn_cast_to(g, scale, HN_F32) }, 0,
			    NULL);
}

/* The type that results have: the attribute's, the zero point's, or uint8. */
static enum hn_dtype result_type(const struct hn_gcall *c)
{
	int64_t said = hn_gattr_int(c->node, "output_dtype", 0);
	const struct hn_gvalue *zero = hn_gcall_in(c, 2);

	return said != 0      ? hn_dtype_of_onnx(said)
	       : zero != NULL ? (enum hn_dtype)zero->dtype
			      : HN_U8;
}

int32_t hn_quantizelinear_expand(const struct hn_gcall *c)
{
	enum hn_dtype t = result_type(c);

	if (t == HN_N_DTYPE || hn_dtype_class(t) == HN_CLASS_FLOAT || t == HN_BOOL) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED,
				     "QuantizeLinear to ONNX's type %lld",
				     (long long)hn_gattr_int(c->node, "output_dtype", 0));
	}
	return quantized(c->g, hn_gcall_arg(c, 0), shaped(c, hn_gcall_arg(c, 1)),
			 shaped(c, hn_gcall_arg(c, 2)), t);
}

int32_t hn_dequantizelinear_expand(const struct hn_gcall *c)
{
	int64_t said = hn_gattr_int(c->node, "output_dtype", 0);
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *scale = hn_gcall_in(c, 1);
	enum hn_dtype t =
		said != 0 ? hn_dtype_of_onnx(said) : (enum hn_dtype)scale->dtype;

	if (hn_is_float(x) || t == HN_N_DTYPE || hn_dtype_class(t) != HN_CLASS_FLOAT) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "DequantizeLinear of %s",
				     hn_dtype_name(x->dtype));
	}
	return hn_cast_to(c->g,
			  hn_quant_value(c->g, hn_gcall_arg(c, 0),
					 shaped(c, hn_gcall_arg(c, 2)),
					 shaped(c, hn_gcall_arg(c, 1))),
			  t);
}

/* uint8 from the smallest to the largest number, and 0 among them. */
int32_t hn_dynamicquantize_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int32_t v = hn_gcall_arg(c, 0), low, high, scale, zero, nought;
	int64_t axes[HN_GRAPH_MAX_RANK];
	struct hn_graph *g = c->g;
	uint32_t n = hn_axes_from(0, x->rank, axes);

	if (x->dtype != HN_F32) {
		return hn_graph_fail(g, HONE_E_INVALID, "DynamicQuantizeLinear of %s",
				     hn_dtype_name(x->dtype));
	}
	nought = hn_graph_scalar(g, HN_F32, 0);
	high = n == 0 ? v : hn_reduced(g, v, "max=!", n, axes, false);
	low = n == 0 ? v : hn_reduced(g, v, "min=!", n, axes, false);
	high = hn_graph_2(g, "maximum", high, nought);
	low = hn_graph_2(g, "minimum", low, nought);
	scale = hn_graph_2(g, "div", hn_graph_2(g, "Sub", high, low),
			   hn_graph_scalar(g, HN_F32, 255));
	zero = hn_graph_2(g, "div", hn_graph_2(g, "Sub", nought, low), scale);
	zero = hn_cast_to(g, hn_graph_1(g, "Round", zero), HN_U8);
	if (c->node->n_out > 1) {
		c->out[1] = scale;
	}
	if (c->node->n_out > 2) {
		c->out[2] = zero;
	}
	return quantized(g, v, scale, zero, HN_U8);
}

/* Rows that mix types: operand `real` is float32, and the others are integers. */
static bool infer(const struct hn_gcall *c, struct hn_gshape *ret, uint32_t real)
{
	*ret = (struct hn_gshape){ .dtype = HN_F32 };
	for (uint32_t i = 0; i < c->node->n_in; i++) {
		const struct hn_gvalue *v = hn_gcall_in(c, i);

		if (i == real ? v->dtype != HN_F32
			      : (hn_is_float(v) || v->dtype == HN_BOOL)) {
			hn_graph_fail(c->g, HONE_E_INVALID, "%s: operand %u of %s",
				      c->node->op->name, i, hn_dtype_name(v->dtype));
			return false;
		}
		if (!hn_gcall_broadcast(c, ret, v)) {
			return false;
		}
	}
	return true;
}

bool hn_quantize_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	return infer(c, ret, 0);
}

bool hn_dequantize_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	return infer(c, ret, 2);
}

/* -- products of matrices ----------------------------------------------------------------- */

static int32_t summed(struct hn_graph *g, int32_t v, int64_t axis)
{
	return hn_reduced(g, v, "+=!", 1, &axis, true);
}

/* Zero points of rows as a column. */
static int32_t as_column(struct hn_graph *g, int32_t v)
{
	return v < 0 || g->value[v].rank != 1 ? v : hn_along(g, v, 0, 2);
}

/* (a - za)(b - zb) = ab - za * sums of b's columns - sums of a's rows * zb + k * za * zb: the zero
 * points cost a sum of their own, and weights' sums are constants. */
int32_t hn_quant_product(struct hn_graph *g, int32_t a, int32_t b, int32_t za, int32_t zb)
{
	uint32_t a_rank = g->value[a].rank, b_rank = g->value[b].rank;
	int64_t k = g->value[a].shape[a_rank - 1];
	int32_t y = hn_graph_2(g, "matmul", a, b), both;
	bool has_za = !hn_quant_is_zero(g, za), has_zb = !hn_quant_is_zero(g, zb);

	za = has_za ? as_column(g, hn_cast_to(g, za, HN_I32)) : za;
	zb = has_zb ? hn_cast_to(g, zb, HN_I32) : zb;
	if (has_za) {
		y = hn_graph_2(
			g, "Sub", y,
			hn_graph_2(g, "Mul", za, summed(g, b, (int64_t)b_rank - 2)));
	}
	if (has_zb) {
		y = hn_graph_2(
			g, "Sub", y,
			hn_graph_2(g, "Mul", summed(g, a, (int64_t)a_rank - 1), zb));
	}
	if (has_za && has_zb) {
		both = hn_graph_2(g, "Mul", za, zb);
		y = hn_graph_2(g, "Add", y,
			       hn_graph_2(g, "Mul", both,
					  hn_graph_scalar(g, HN_I32, (double)k)));
	}
	return y;
}

static bool check_bytes(const struct hn_gcall *c, uint32_t i, uint32_t j)
{
	const struct hn_gvalue *a = hn_gcall_in(c, i), *b = hn_gcall_in(c, j);

	if ((a->dtype != HN_U8 && a->dtype != HN_I8) ||
	    (b->dtype != HN_U8 && b->dtype != HN_I8) || a->rank < 2 || b->rank < 2) {
		hn_graph_fail(c->g, HONE_E_UNSUPPORTED,
			      "%s of %s and %s with %u and %u dimensions",
			      c->node->op->name, hn_dtype_name(a->dtype),
			      hn_dtype_name(b->dtype), a->rank, b->rank);
		return false;
	}
	return true;
}

int32_t hn_matmulinteger_expand(const struct hn_gcall *c)
{
	return check_bytes(c, 0, 1)
		       ? hn_quant_product(c->g, hn_gcall_arg(c, 0), hn_gcall_arg(c, 1),
				 hn_gcall_arg(c, 2), hn_gcall_arg(c, 3))
		       : HN_BAD;
}

/* A sum of products as an integer again: its scale, and the result's. */
static int32_t requantized(const struct hn_gcall *c, int32_t y, int32_t sx, int32_t sw,
			   int32_t scale, int32_t zero)
{
	struct hn_graph *g = c->g;
	int32_t by = hn_graph_2(g, "Mul", hn_cast_to(g, sx, HN_F32),
				hn_cast_to(g, sw, HN_F32));

	y = hn_graph_2(g, "Mul", hn_cast_to(g, y, HN_F32), by);
	return quantized(g, y, hn_reshaped(g, scale, 0, NULL),
			 hn_reshaped(g, zero, 0, NULL),
			 zero < 0 ? HN_U8 : (enum hn_dtype)g->value[zero].dtype);
}

/* a, its scale, its zero point, b, .., the result's scale and zero point. */
int32_t hn_qlinearmatmul_expand(const struct hn_gcall *c)
{
	const int32_t *in = c->node->in;

	if (!check_bytes(c, 0, 3)) {
		return HN_BAD;
	}
	return requantized(c, hn_quant_product(c->g, in[0], in[3], in[2], in[5]),
			   as_column(c->g, in[1]), in[4], in[6], in[7]);
}

/* -- convolutions ------------------------------------------------------------------------- */

int32_t hn_quant_less_zero(struct hn_graph *g, int32_t y, int32_t w, double zero)
{
	int64_t axes[HN_GRAPH_MAX_RANK];
	uint32_t rank;
	int32_t sum;

	if (zero == 0 || y < 0) {
		return y;
	}
	rank = g->value[w].rank;
	sum = hn_reduced(g, w, "+=!", hn_axes_from(1, rank, axes), axes, false);
	return hn_graph_2(g, "Sub", y, hn_along(g, hn_scaled(g, sum, zero), 1, rank));
}

/* A convolution of (x - zx) and (w - zw).  Padding is zx, which counts as nothing; without zw the
 * sums of weights are constants. */
static int32_t convolution(const struct hn_gcall *c, int32_t x, int32_t w, int32_t zx,
			   int32_t zw)
{
	const struct hn_gvalue *weights = &c->g->value[w];
	int32_t in[] = { x, w };
	int64_t zero = 0;
	struct hn_gattr attr[16], *pad;
	struct hn_graph *g = c->g;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->node->n_attr && n < 15; i++) {
		attr[n++] = c->node->attr[i];
	}
	if (hn_quant_is_zero(g, zw) && (zx == HN_NONE || hn_gvalue_int(&g->value[zx], 0, &zero))) {
		pad = &attr[n++];
		*pad = hn_gattr_of_ints("padding", 1, &zero);
		return hn_quant_less_zero(g, hn_graph_add(g, "Conv", 2, in, n, attr), w,
					  (double)zero);
	}
	in[0] = hn_cast_to(g, x, HN_I32);
	in[1] = hn_cast_to(g, w, HN_I32);
	if (zx != HN_NONE) {
		in[0] = hn_graph_2(g, "Sub", in[0], hn_cast_to(g, zx, HN_I32));
	}
	if (zw != HN_NONE) {
		zw = hn_along(g, hn_cast_to(g, zw, HN_I32), 0, weights->rank);
		in[1] = hn_graph_2(g, "Sub", in[1], zw);
	}
	return hn_graph_add(g, "Conv", 2, in, n, attr);
}

int32_t hn_convinteger_expand(const struct hn_gcall *c)
{
	return check_bytes(c, 0, 1)
		       ? convolution(c, hn_gcall_arg(c, 0), hn_gcall_arg(c, 1),
				     hn_gcall_arg(c, 2), hn_gcall_arg(c, 3))
		       : HN_BAD;
}

/* x, its scale, its zero point, w, .., the result's scale and zero point, a bias of int32. */
int32_t hn_qlinearconv_expand(const struct hn_gcall *c)
{
	const int32_t *in = c->node->in;
	struct hn_graph *g = c->g;
	uint32_t rank;
	int32_t y;

	if (!check_bytes(c, 0, 3)) {
		return HN_BAD;
	}
	rank = hn_gcall_in(c, 0)->rank;
	y = convolution(c, in[0], in[3], in[2], in[5]);
	if (hn_gcall_in(c, 8) != NULL) {
		y = hn_graph_2(g, "Add", y, hn_along(g, in[8], 1, rank));
	}
	return requantized(c, y, hn_reshaped(g, in[1], 0, NULL),
			   hn_along(g, in[4], 1, rank), in[6], in[7]);
}
