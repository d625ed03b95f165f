/* bench/peer/onednn_low.c -- products and convolutions of low precision, with what follows fused
 * by attributes: bias, ReLU as a post-operation, scales of the weights' channels and the
 * answer's zero point.
 *
 * Weights are in the layout that oneDNN chooses, reordered before the clock starts.  Contenders:
 *   onednn       products: plain operands; convolutions: every layout is oneDNN's
 *   onednn-ip    the product as an inner product, every layout oneDNN's
 *   onednn-nhwc  convolutions: channels last, as hone has them
 */
#include "bench/peer/onednn.h"

static const struct types {
	dnnl_data_type_t left, right, sum, relu, bias;
} types[HN_N_SUITE_TYPE] = {
	[HN_SUITE_BF16] = { dnnl_bf16, dnnl_bf16, dnnl_f32, dnnl_bf16, dnnl_f32 },
	[HN_SUITE_U8S8] = { dnnl_u8, dnnl_s8, dnnl_s32, dnnl_s32, dnnl_s32 },
};

/* The case as one primitive.  dims of the weights: K, N of a product; CO, CI, h, w. */
struct low {
	const struct hn_suite_row *row;
	const struct types *type;
	enum hn_epilogue epilogue;
	int n_dim;
	dnnl_dims_t src, src_stride, dst, dst_stride, weight, weight_stride, pad;
	int64_t channels;
	int channel_dim; /* of the weights */
	bool folded;	 /* the zero point is part of the bias */
};

static dnnl_data_type_t dst_type(const struct low *l)
{
	return l->epilogue == REQUANT ? dnnl_u8
	       : l->epilogue == PLAIN ? l->type->sum
				      : l->type->relu;
}

static void set2(int64_t *to, int64_t x, int64_t y)
{
	to[0] = x;
	to[1] = y;
}

static void set4(int64_t *to, int64_t w, int64_t x, int64_t y, int64_t z)
{
	set2(to, w, x);
	set2(to + 2, y, z);
}

static void describe_product(struct low *l, bool inner)
{
	int64_t m = l->row->p[0], n = l->row->p[1], k = l->row->p[2];

	l->n_dim = 2;
	l->channels = n;
	l->channel_dim = inner ? 0 : 1;
	set2(l->src, m, k);
	set2(l->src_stride, k, 1);
	set2(l->dst, m, n);
	set2(l->dst_stride, n, 1);
	set2(l->weight, inner ? n : k, inner ? k : n);
	set2(l->weight_stride, inner ? 1 : n, inner ? n : 1);
}

static void describe_conv(struct low *l, const struct hn_conv *c)
{
	l->n_dim = 4;
	l->channels = c->co;
	set2(l->pad, c->padding, c->padding);
	set4(l->src, c->n, c->ci, c->in[0], c->in[1]);
	set4(l->src_stride, c->in[0] * c->in[1] * c->ci, 1, c->in[1] * c->ci, c->ci);
	set4(l->dst, c->n, c->co, c->out[0], c->out[1]);
	set4(l->dst_stride, c->out[0] * c->out[1] * c->co, 1, c->out[1] * c->co, c->co);
	set4(l->weight, c->co, c->ci, c->kernel, c->kernel);
	set4(l->weight_stride, 1, c->co, c->kernel * c->ci * c->co, c->ci * c->co);
}

static dnnl_primitive_attr_t attributes(struct hn_dnn *d, const struct low *l)
{
	dnnl_primitive_attr_t attr = NULL;
	dnnl_post_ops_t ops = NULL;

	if (!hn_dnn_ok(d, dnnl_primitive_attr_create(&attr)) ||
	    !hn_dnn_ok(d, dnnl_post_ops_create(&ops))) {
		return attr;
	}
	if (l->epilogue == BIAS_RELU) {
		hn_dnn_ok(d, dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0, 0));
	} else if (l->epilogue == REQUANT) {
		hn_dnn_ok(d, dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_WEIGHTS,
								 1 << l->channel_dim));
		if (!l->folded) {
			hn_dnn_ok(d, dnnl_primitive_attr_set_zero_points_mask(
					     attr, DNNL_ARG_DST, 0));
		}
	}
	hn_dnn_ok(d, dnnl_primitive_attr_set_post_ops(attr, ops));
	dnnl_post_ops_destroy(ops);
	return attr;
}

/* oneDNN adds a bias to what was scaled: hone's, times the scale. */
static void scaled_bias(const struct hn_contest *t, const struct low *l, float *to)
{
	const int32_t *bias = t->arg[2];
	const float *scale = t->arg[3];

	for (int64_t i = 0; i < l->channels; i++) {
		to[i] = (float)bias[i] * scale[i] + (l->folded ? HN_LOW_ZERO_POINT : 0);
	}
}

/* Arguments beside the three tensors. */
static void further_args(struct hn_dnn *d, struct hn_dnn_step *s, const struct low *l,
			 const_dnnl_memory_desc_t bias)
{
	const struct hn_contest *t = d->contest;
	const int64_t one = 1, *channels = &l->channels;
	dnnl_memory_t own;
	void *at;

	if (l->epilogue == BIAS_RELU) {
		hn_dnn_arg(s, DNNL_ARG_BIAS, hn_dnn_memory(d, bias, t->arg[2]));
	}
	if (l->epilogue != REQUANT) {
		return;
	}
	own = hn_dnn_memory(d, bias, NULL);
	if (!d->failed && hn_dnn_ok(d, dnnl_memory_get_data_handle(own, &at))) {
		scaled_bias(t, l, at);
	}
	hn_dnn_arg(s, DNNL_ARG_BIAS, own);
	hn_dnn_arg(s, DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS,
		   hn_dnn_memory(d, hn_dnn_plain(d, 1, channels), t->arg[3]));
	if (l->folded) {
		return;
	}
	own = hn_dnn_memory(d, hn_dnn_plain_of(d, dnnl_s32, 1, &one), NULL);
	if (!d->failed && hn_dnn_ok(d, dnnl_memory_get_data_handle(own, &at))) {
		*(int32_t *)at = HN_LOW_ZERO_POINT;
	}
	hn_dnn_arg(s, DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, own);
}

enum kind { MATMUL, INNER, CONV };

static struct hn_dnn_step *make(struct hn_dnn *d, enum kind kind, const struct low *l,
				const_dnnl_memory_desc_t src,
				const_dnnl_memory_desc_t dst,
				const_dnnl_memory_desc_t bias)
{
	const_dnnl_memory_desc_t weight =
		hn_dnn_any_of(d, l->type->right, l->n_dim, l->weight);
	dnnl_primitive_attr_t attr = attributes(d, l);
	struct hn_dnn_step *s = hn_dnn_step(d);
	dnnl_dims_t one = { 1, 1 }, no = { 0, 0 };
	dnnl_status_t made = dnnl_success;

	switch (kind) {
	case MATMUL:
		made = dnnl_matmul_primitive_desc_create(&s->pd, d->engine, src, weight,
							 bias, dst, attr);
		break;
	case INNER:
		made = dnnl_inner_product_forward_primitive_desc_create(
			&s->pd, d->engine, dnnl_forward_inference, src, weight, bias, dst,
			attr);
		break;
	case CONV:
		made = dnnl_convolution_forward_primitive_desc_create(
			&s->pd, d->engine, dnnl_forward_inference, dnnl_convolution_auto,
			src, weight, bias, dst, one, no, l->pad, l->pad, attr);
		break;
	}
	hn_dnn_made(d, s, made);
	dnnl_primitive_attr_destroy(attr);
	return s;
}

/* any: activations in oneDNN's layout too, reordered outside of the timing. */
static void contender(struct hn_contest *t, const char *name, enum kind kind,
		      const struct low *l, bool any)
{
	struct hn_dnn *d = hn_dnn_begin(t, name);
	dnnl_data_type_t in = l->type->left, out = dst_type(l);
	const_dnnl_memory_desc_t src, dst, weight, bias = NULL;
	dnnl_dims_t bias_dims = { l->channels };
	struct hn_dnn_step *s;

	if (kind == MATMUL) {
		set2(bias_dims, 1, l->channels);
	}
	src = hn_dnn_strided_of(d, in, l->n_dim, l->src, l->src_stride);
	dst = hn_dnn_strided_of(d, out, l->n_dim, l->dst, l->dst_stride);
	weight = hn_dnn_strided_of(d, l->type->right, l->n_dim, l->weight,
				   l->weight_stride);
	if (l->epilogue != PLAIN) {
		bias = hn_dnn_plain_of(d,
				       l->epilogue == REQUANT ? dnnl_f32 : l->type->bias,
				       kind == MATMUL ? 2 : 1, bias_dims);
	}
	s = make(d, kind, l, any ? hn_dnn_any_of(d, in, l->n_dim, l->src) : src,
		 any ? hn_dnn_any_of(d, out, l->n_dim, l->dst) : dst, bias);
	hn_dnn_arg(
		s, DNNL_ARG_SRC,
		hn_dnn_input(d, src, hn_dnn_layout(d, s, dnnl_query_src_md), t->arg[0]));
	hn_dnn_arg(s, DNNL_ARG_WEIGHTS,
		   hn_dnn_input(d, weight, hn_dnn_layout(d, s, dnnl_query_weights_md),
				t->arg[1]));
	hn_dnn_arg(s, DNNL_ARG_DST,
		   hn_dnn_output(d, dst, hn_dnn_layout(d, s, dnnl_query_dst_md)));
	further_args(d, s, l, bias);
	hn_dnn_done(d);
}

void hn_dnn_low(struct hn_contest *t)
{
	struct low l = { .row = t->row,
			 .type = &types[t->row->type],
			 .epilogue = hn_low_epilogue(t->row) };
	struct hn_conv c;

	if (hn_suite_conv(t->row, &c)) {
		describe_conv(&l, &c);
		contender(t, "onednn", CONV, &l, /* any= */ true);
		contender(t, "onednn-nhwc", CONV, &l, false);
		return;
	}
	describe_product(&l, /* inner= */ false);
	contender(t, "onednn", MATMUL, &l, false);
	describe_product(&l, /* inner= */ true);
	l.folded = true;
	contender(t, "onednn-ip", INNER, &l, /* any= */ true);
}
