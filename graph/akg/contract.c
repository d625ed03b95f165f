/* graph/akg/contract.c -- products of matrices, and convolutions.
 *
 * A product of which both operands and the result lie in fractals is one sum over two dimensions, as
 * they lie; nothing is laid out anew.  Products of 16-bit floats are summed in float32, and rounded to
 * the type that the file says of the result.
 */
#include <string.h>

#include "graph/akg/rows.h"
#include "graph/op/build.h"

struct product {
	bool trans_a, trans_b;
	bool fractal[2], to_fractal;
	enum hn_dtype sum; /* the result's type before a bias */
};

/* A flag that has two names. */
static bool flag(struct hn_akg_call *c, const char *name, const char *twin)
{
	return hn_akg_int(c, hn_akg_attr(c, name) != NULL ? name : twin, 0) != 0;
}

static bool lies_in_fractals(struct hn_akg_call *c, const char *attr, uint32_t i)
{
	const char *said = c->op->in[i].format;

	said = hn_akg_text(c, "pri_format", said);
	said = hn_akg_text(c, attr, said);
	return hn_akg_is_fractal(*c->op->in[i].format != '\0' ? c->op->in[i].format : said);
}

static bool is_narrow_float(const struct hn_gvalue *v)
{
	return hn_is_float(v) && hn_dtype_is_narrow((enum hn_dtype)v->dtype);
}

static void read_product(struct hn_akg_call *c, struct product *p)
{
	enum hn_dtype to = (enum hn_dtype)c->op->out[0].dtype;

	p->trans_a = flag(c, "transpose_a", "transpose_x1");
	p->trans_b = flag(c, "transpose_b", "transpose_x2");
	p->fractal[0] = lies_in_fractals(c, "left_format", 0);
	p->fractal[1] = lies_in_fractals(c, "right_format", 1);
	p->to_fractal = hn_akg_is_fractal(c->op->out[0].format);
	p->sum = is_narrow_float(hn_akg_in(c, 0)) && to == HN_F32
			 ? HN_F32
			 : (enum hn_dtype)hn_akg_in(c, 0)->dtype;
}

/* Digits for the dimensions in front of `last`, which the widest operand has the most of. */
static void put_term(char *equation, uint32_t rank, uint32_t front, const char *last)
{
	size_t n = strlen(equation);

	for (uint32_t d = rank - 4; d > 0; d--) {
		equation[n++] = (char)('0' + (front - d));
	}
	strcpy(equation + n, last);
}

/* Rows a b, columns c d, and what is summed: p q. */
static int32_t fractal_product(struct hn_akg_call *c, const struct product *p, const int32_t *in)
{
	uint32_t rank[2] = { c->g->value[in[0]].rank, c->g->value[in[1]].rank };
	uint32_t front = (rank[0] > rank[1] ? rank[0] : rank[1]) - 4;
	char equation[4 * HN_GRAPH_MAX_RANK] = "";
	struct hn_gattr attr[2];

	put_term(equation, rank[0], front, p->trans_a ? "apqb," : "pabq,");
	put_term(equation, rank[1], front, p->trans_b ? "pcdq->" : "cpqd->");
	put_term(equation, front + 4, front, "cabd");
	attr[0] = hn_attr_string("equation", equation);
	attr[1] = hn_gattr_of_int(c->g->arena, "sum", p->sum);
	return hn_graph_add(c->g, "einsum", 2, in, 2, attr);
}

static int32_t plain_product(struct hn_akg_call *c, const struct product *p, const int32_t *in)
{
	struct hn_gattr attr[] = { hn_gattr_of_int(c->g->arena, "trans_a", p->trans_a),
				   hn_gattr_of_int(c->g->arena, "trans_b", p->trans_b),
				   hn_gattr_of_int(c->g->arena, "sum", p->sum) };
	int32_t as[2] = { in[0], in[1] };

	for (uint32_t k = 0; k < 2; k++) {
		as[k] = p->fractal[k] ? hn_akg_from_fractals(c->g, as[k], 0, 0) : as[k];
	}
	return c->g->failed ? HN_BAD : hn_graph_add(c->g, "matmul", 2, as, 3, attr);
}

/* Whether what is summed is cut into the same blocks on both sides. */
static bool blocks_fit(const struct hn_akg_call *c, const struct product *p)
{
	const struct hn_gvalue *a = hn_akg_in(c, 0), *b = hn_akg_in(c, 1);
	const int64_t *x, *y;

	if (a->rank < 4 || b->rank < 4) {
		return false;
	}
	x = a->shape + a->rank - 4;
	y = b->shape + b->rank - 4;
	return (p->trans_a ? x[1] : x[0]) == (p->trans_b ? y[0] : y[1]) &&
	       (p->trans_a ? x[2] : x[3]) == (p->trans_b ? y[3] : y[2]);
}

/* A bias is one number for each column. */
static int32_t with_bias(struct hn_akg_call *c, int32_t v, bool is_fractal)
{
	int32_t bias = hn_cast_to(c->g, c->in[2], (enum hn_dtype)c->op->out[0].dtype);
	const struct hn_gvalue *x = v < 0 ? NULL : &c->g->value[v];

	v = hn_cast_to(c->g, v, (enum hn_dtype)c->op->out[0].dtype);
	if (x != NULL && is_fractal && bias >= 0) {
		const int64_t shape[] = { x->shape[x->rank - 4], 1, 1, x->shape[x->rank - 1] };

		bias = hn_reshaped(c->g, bias, 4, shape);
	}
	return hn_graph_2(c->g, "Add", v, bias);
}

void hn_akg_matmul(struct hn_akg_call *c)
{
	bool as_they_lie;
	struct product p;
	int32_t v;

	read_product(c, &p);
	as_they_lie = p.fractal[0] && p.fractal[1] && p.to_fractal && blocks_fit(c, &p);
	v = c->g->failed  ? HN_BAD
	    : as_they_lie ? fractal_product(c, &p, c->in)
			  : plain_product(c, &p, c->in);
	v = c->op->n_in > 2 ? with_bias(c, v, as_they_lie) : v;
	c->out[0] = p.to_fractal && !as_they_lie ? hn_akg_to_fractals(c->g, v) : v;
}

/* -- convolutions ----------------------------------------------------------------------- */

/* The last two of a list, which has two numbers or, with those of batch and channels, four. */
static bool last_two(struct hn_akg_call *c, const char *name, int64_t *ret)
{
	int64_t list[HN_GRAPH_MAX_INTS];
	uint32_t n;

	ret[0] = ret[1] = 1;
	if (!hn_akg_ints(c, name, UINT32_MAX, &n, list)) {
		return !c->g->failed;
	}
	if (n != 2 && n != 4) {
		hn_graph_fail(c->g, HONE_E_INVALID, "attribute %s has %u numbers", name, n);
		return false;
	}
	ret[0] = list[n - 2];
	ret[1] = list[n - 1];
	return true;
}

/* [N, C1, H, W, C0] as [N, C, H, W]. */
static int32_t joined_channels(struct hn_graph *g, int32_t v)
{
	const struct hn_gvalue *x = v < 0 ? NULL : &g->value[v];

	if (x == NULL || x->rank != 5) {
		return x == NULL ? v : hn_graph_fail(g, HONE_E_INVALID, "NC1HWC0 of %u dimensions", x->rank);
	}
	const int64_t shape[] = { x->shape[0], x->shape[1] * x->shape[4], x->shape[2], x->shape[3] };

	return hn_reshaped(g, hn_transposed(g, v, 5, (const int64_t[]){ 0, 1, 4, 2, 3 }), 4, shape);
}

/* [O1, I1, H, W, I0, O0] as [O, I, H, W]. */
static int32_t joined_weights(struct hn_graph *g, int32_t v)
{
	const struct hn_gvalue *x = v < 0 ? NULL : &g->value[v];

	if (x == NULL || x->rank != 6) {
		return x == NULL ? v : hn_graph_fail(g, HONE_E_INVALID, "weights of %u dimensions", x->rank);
	}
	const int64_t shape[] = { x->shape[0] * x->shape[5], x->shape[1] * x->shape[4], x->shape[2],
				  x->shape[3] };

	return hn_reshaped(g, hn_transposed(g, v, 6, (const int64_t[]){ 0, 5, 1, 4, 2, 3 }), 4, shape);
}

/* [N, C, H, W] as [N, C / block, H, W, block]. */
static int32_t split_channels(struct hn_graph *g, int32_t v, int64_t block)
{
	const struct hn_gvalue *x = v < 0 ? NULL : &g->value[v];

	if (x == NULL || block < 1 || x->shape[1] % block != 0) {
		return x == NULL ? v : hn_graph_fail(g, HONE_E_INVALID, "%lld channels in blocks of %lld",
						     (long long)x->shape[1], (long long)block);
	}
	const int64_t shape[] = { x->shape[0], x->shape[1] / block, block, x->shape[2], x->shape[3] };

	return hn_transposed(g, hn_reshaped(g, v, 5, shape), 5, (const int64_t[]){ 0, 1, 3, 4, 2 });
}

/* [N, H, W, C] as [N, C, H, W]. */
static int32_t channels_second(struct hn_graph *g, int32_t v)
{
	return v < 0 || g->value[v].rank != 4
		       ? hn_graph_fail(g, HONE_E_INVALID, "a tensor that is not [N, H, W, C]")
		       : hn_transposed(g, v, 4, (const int64_t[]){ 0, 3, 1, 2 });
}

/* Of 16-bit floats whose result is float32, as float32. */
static int32_t factor(struct hn_akg_call *c, uint32_t i)
{
	return is_narrow_float(hn_akg_in(c, i)) && c->op->out[0].dtype == HN_F32
		       ? hn_cast_to(c->g, c->in[i], HN_F32)
		       : c->in[i];
}

void hn_akg_conv(struct hn_akg_call *c)
{
	bool blocks = strcmp(hn_akg_text(c, "data_format", ""), "NC1HWC0") == 0;
	int64_t stride[2], dilation[2], pad[HN_GRAPH_MAX_INTS] = { 0 }, pads[4], group;
	int32_t in[2] = { factor(c, 0), factor(c, 1) }, v;
	struct hn_gattr attr[4];
	uint32_t n_pad;

	if (!last_two(c, "stride", stride) || !last_two(c, "dilation", dilation)) {
		return;
	}
	if (hn_akg_ints(c, "pad_list", UINT32_MAX, &n_pad, pad) && n_pad != 4) {
		hn_graph_fail(c->g, HONE_E_INVALID, "attribute pad_list has %u numbers", n_pad);
	}
	in[0] = blocks ? joined_channels(c->g, in[0]) : channels_second(c->g, in[0]);
	in[1] = blocks ? joined_weights(c->g, in[1]) : channels_second(c->g, in[1]);
	group = hn_akg_int(c, "group", 1);
	if (c->g->failed) {
		return;
	}
	group = hn_akg_int(c, "is_depth_wise", 0) != 0 ? c->g->value[in[0]].shape[1] : group;
	pads[0] = pad[0]; /* top, bottom, left, right: ONNX has what is before first */
	pads[1] = pad[2];
	pads[2] = pad[1];
	pads[3] = pad[3];
	attr[0] = hn_gattr_of_ints("strides", 2, stride);
	attr[1] = hn_gattr_of_ints("dilations", 2, dilation);
	attr[2] = hn_gattr_of_ints("pads", 4, pads);
	attr[3] = hn_gattr_of_ints("group", 1, &group);
	v = hn_graph_add(c->g, "Conv", 2, in, 4, attr);
	if (v >= 0) {
		c->out[0] = blocks ? split_channels(c->g, v, c->op->out[0].shape[c->op->out[0].rank - 1])
				   : hn_transposed(c->g, v, 4, (const int64_t[]){ 0, 2, 3, 1 });
	}
}
