/* bench/peer/onednn_conv.c -- convolutions and what follows them.
 *
 * A capsule convolution is a 3-d one: its rows of 4 are a third spatial dimension, its
 * columns of 4 and channels are channels; only the weights have to be written anew.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/peer/onednn.h"

/* The case as oneDNN sees it: logical dims N, C, spatial..; strides of hone's layouts. */
struct shapes {
	int n_dim; /* of tensors: 2 + spatial */
	int n_weight_dim;
	dnnl_dims_t src, src_stride, dst, dst_stride, weight, weight_stride;
	dnnl_dims_t stride, dilate, pad_l, pad_r;
	int64_t channels; /* of dst */
	float *weights;	  /* capsules: written anew; to be freed */
};

static void channels_last(int n_dim, const int64_t *dims, int64_t *strides)
{
	int64_t s = dims[1];

	strides[1] = 1;
	for (int i = n_dim - 1; i >= 2; i--) {
		strides[i] = s;
		s *= dims[i];
	}
	strides[0] = s;
}

static void spatial(const struct hn_conv *c, struct shapes *s)
{
	uint32_t n = c->n_dim + c->capsule;

	for (uint32_t d = 0; d < n; d++) {
		bool real =
			d < c->n_dim; /* else a capsule's rows: nothing happens there */

		s->src[2 + d] = real ? c->in[d] : 4;
		s->dst[2 + d] = real ? c->out[d] : 4;
		s->stride[d] = real ? c->stride : 1;
		s->dilate[d] = real ? c->dilation - 1 : 0;
		s->pad_l[d] = real ? c->padding : 0;
		s->pad_r[d] = real ? (c->out[d] - 1) * c->stride +
					      (c->kernel - 1) * c->dilation + 1 -
					      c->in[d] - c->padding
				   : 0;
		if (c->transposed) {
			s->pad_r[d] = c->padding;
		}
	}
	s->n_dim = 2 + (int)n;
}

/* w[k.., CI / groups, CO] as [groups,] CO, CI, k.. */
static void weights(const struct hn_conv *c, struct shapes *s)
{
	int64_t ci = s->src[1] / c->groups, co = s->dst[1], step = co * ci;
	int g = c->groups > 1, n = s->n_dim - 2;

	s->weight[0] = c->groups;
	s->weight_stride[0] = co / c->groups;
	s->weight[g] = co / c->groups;
	s->weight_stride[g] = 1;
	s->weight[g + 1] = ci;
	s->weight_stride[g + 1] = co;
	for (int d = n - 1; d >= 0; d--) {
		s->weight[g + 2 + d] = d < (int)c->n_dim ? c->kernel : 1;
		s->weight_stride[g + 2 + d] = step;
		step *= s->weight[g + 2 + d];
	}
	s->n_weight_dim = g + 2 + n;
}

/* w[r, s, k, j, c, co] to w[r, s, (k, c), (j, co)]. */
static float *capsule_weights(const struct hn_conv *c, const float *w)
{
	int64_t n = c->kernel * c->kernel;
	float *to = malloc((size_t)(n * 16 * c->ci * c->co) * sizeof(float)), *at = to;

	hn_assert(to != NULL);
	for (int64_t r = 0; r < n; r++) {
		for (int64_t kc = 0; kc < 4 * c->ci; kc++) {
			int64_t k = kc / c->ci, i = kc % c->ci;

			for (int64_t j = 0; j < 4; j++, at += c->co) {
				memcpy(at,
				       w + (((r * 4 + k) * 4 + j) * c->ci + i) * c->co,
				       (size_t)c->co * sizeof(float));
			}
		}
	}
	return to;
}

static void make_shapes(const struct hn_contest *t, const struct hn_conv *c,
			struct shapes *s)
{
	memset(s, 0, sizeof(*s));
	s->src[0] = s->dst[0] = c->n;
	s->src[1] = c->ci * (c->capsule ? 4 : 1);
	s->dst[1] = c->co * (c->capsule ? 4 : 1);
	spatial(c, s);
	channels_last(s->n_dim, s->src, s->src_stride);
	channels_last(s->n_dim, s->dst, s->dst_stride);
	weights(c, s);
	s->weights = c->capsule ? capsule_weights(c, t->arg[1]) : NULL;
}

/* What follows, as post-operations of the convolution. Extra arguments go to the step after it
 * is made: their indices follow the order here. */
static void add_post_ops(struct hn_dnn *d, enum hn_epilogue e, const struct shapes *s,
			 const_dnnl_memory_desc_t dst, dnnl_post_ops_t ops)
{
	dnnl_dims_t dims = { 1, s->dst[1], 1, 1, 1 };
	const_dnnl_memory_desc_t channel = hn_dnn_plain(d, s->n_dim, dims);

	if (e == BN_RELU) {
		dnnl_post_ops_append_binary(ops, dnnl_binary_mul, channel);
		dnnl_post_ops_append_binary(ops, dnnl_binary_add, channel);
	}
	if (e == BIAS_ADD || e == BIAS_ADD_RELU) {
		dnnl_post_ops_append_binary(ops, dnnl_binary_add, dst);
	}
	if (e == BN_RELU || e == BIAS_RELU || e == BIAS_ADD_RELU) {
		dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0, 0);
	}
}

static void fused_args(struct hn_dnn *d, struct hn_dnn_step *conv, enum hn_epilogue e,
		       const struct shapes *s, const_dnnl_memory_desc_t plain)
{
	dnnl_dims_t dims = { 1, s->dst[1], 1, 1, 1 };
	const_dnnl_memory_desc_t channel = hn_dnn_plain(d, s->n_dim, dims);
	int first = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;
	int second = DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1;
	void *const *arg = d->contest->arg;

	if (e == BN_RELU) {
		hn_dnn_arg(conv, first, hn_dnn_memory(d, channel, arg[3]));
		hn_dnn_arg(conv, second, hn_dnn_memory(d, channel, arg[4]));
	} else if (e == BIAS_ADD || e == BIAS_ADD_RELU) {
		hn_dnn_arg(conv, first, hn_dnn_memory(d, plain, arg[3]));
	}
}

/* Batch normalization of an inference: mean 0, variance 1, then scale and offset. */
static void batch_norm(struct hn_dnn *d, dnnl_memory_t y, int64_t channels)
{
	const_dnnl_memory_desc_t md = hn_dnn_plain(d, 1, &channels), y_md;
	dnnl_memory_t mean = hn_dnn_memory(d, md, NULL);
	dnnl_memory_t variance = hn_dnn_memory(d, md, NULL);
	struct hn_dnn_step *s = hn_dnn_step(d);
	void *ones;

	if (d->failed || !hn_dnn_ok(d, dnnl_memory_get_data_handle(variance, &ones)) ||
	    !hn_dnn_ok(d, dnnl_memory_get_memory_desc(y, &y_md))) {
		return;
	}
	for (int64_t i = 0; i < channels; i++) {
		((float *)ones)[i] = 1;
	}
	hn_dnn_made(d, s,
		    dnnl_batch_normalization_forward_primitive_desc_create(
			    &s->pd, d->engine, dnnl_forward_inference, y_md, y_md, 0,
			    dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift,
			    NULL));
	hn_dnn_arg(s, DNNL_ARG_SRC, y);
	hn_dnn_arg(s, DNNL_ARG_MEAN, mean);
	hn_dnn_arg(s, DNNL_ARG_VARIANCE, variance);
	hn_dnn_arg(s, DNNL_ARG_SCALE, hn_dnn_memory(d, md, d->contest->arg[3]));
	hn_dnn_arg(s, DNNL_ARG_SHIFT, hn_dnn_memory(d, md, d->contest->arg[4]));
	hn_dnn_arg(s, DNNL_ARG_DST, y);
}

static void unfused_steps(struct hn_dnn *d, enum hn_epilogue e, const struct shapes *s,
			  const_dnnl_memory_desc_t plain, dnnl_memory_t y)
{
	const_dnnl_memory_desc_t md;

	if (e == BN_RELU) {
		batch_norm(d, y, s->dst[1]);
	} else if ((e == BIAS_ADD || e == BIAS_ADD_RELU) && !d->failed &&
		   hn_dnn_ok(d, dnnl_memory_get_memory_desc(y, &md))) {
		hn_dnn_binary(d, dnnl_binary_add, y,
			      hn_dnn_input(d, plain, md, d->contest->arg[3]));
	}
	if (e == BN_RELU || e == BIAS_RELU || e == BIAS_ADD_RELU) {
		hn_dnn_eltwise(d, dnnl_eltwise_relu, 0, 0, y);
	}
}

static struct hn_dnn_step *conv_step(struct hn_dnn *d, const struct hn_conv *c,
				     const struct shapes *s, bool any,
				     dnnl_primitive_attr_t attr)
{
	const_dnnl_memory_desc_t src =
		any ? hn_dnn_any(d, s->n_dim, s->src)
		    : hn_dnn_strided(d, s->n_dim, s->src, s->src_stride);
	const_dnnl_memory_desc_t dst =
		any ? hn_dnn_any(d, s->n_dim, s->dst)
		    : hn_dnn_strided(d, s->n_dim, s->dst, s->dst_stride);
	const_dnnl_memory_desc_t weight = hn_dnn_any(d, s->n_weight_dim, s->weight);
	const_dnnl_memory_desc_t bias =
		c->epilogue != PLAIN ? hn_dnn_plain(d, 1, &s->dst[1]) : NULL;
	struct hn_dnn_step *step = hn_dnn_step(d);

	hn_dnn_made(d, step,
		    c->transposed
			    ? dnnl_deconvolution_forward_primitive_desc_create(
				      &step->pd, d->engine, dnnl_forward_inference,
				      dnnl_deconvolution_direct, src, weight, bias, dst,
				      s->stride, s->dilate, s->pad_l, s->pad_r, attr)
			    : dnnl_convolution_forward_primitive_desc_create(
				      &step->pd, d->engine, dnnl_forward_inference,
				      dnnl_convolution_auto, src, weight, bias, dst,
				      s->stride, s->dilate, s->pad_l, s->pad_r, attr));
	return step;
}

static void contender(struct hn_contest *t, const struct hn_conv *c, const char *name,
		      bool any, bool fused)
{
	struct hn_dnn *d = hn_dnn_begin(t, name);
	struct shapes s;
	dnnl_primitive_attr_t attr = NULL;
	dnnl_post_ops_t ops = NULL;
	const_dnnl_memory_desc_t src, dst, weight, bias, want;
	struct hn_dnn_step *step;
	dnnl_memory_t y;

	make_shapes(t, c, &s);
	src = hn_dnn_strided(d, s.n_dim, s.src, s.src_stride);
	dst = hn_dnn_strided(d, s.n_dim, s.dst, s.dst_stride);
	weight = hn_dnn_strided(d, s.n_weight_dim, s.weight, s.weight_stride);
	bias = hn_dnn_plain(d, 1, &s.dst[1]);
	if (fused && hn_dnn_ok(d, dnnl_primitive_attr_create(&attr)) &&
	    hn_dnn_ok(d, dnnl_post_ops_create(&ops))) {
		add_post_ops(d, c->epilogue, &s, dst, ops);
		hn_dnn_ok(d, dnnl_primitive_attr_set_post_ops(attr, ops));
	}
	step = conv_step(d, c, &s, any, attr);
	want = hn_dnn_layout(d, step, dnnl_query_src_md);
	hn_dnn_arg(step, DNNL_ARG_SRC, hn_dnn_input(d, src, want, t->arg[0]));
	want = hn_dnn_layout(d, step, dnnl_query_weights_md);
	hn_dnn_arg(
		step, DNNL_ARG_WEIGHTS,
		hn_dnn_input(d, weight, want, s.weights != NULL ? s.weights : t->arg[1]));
	if (c->epilogue != PLAIN) {
		hn_dnn_arg(step, DNNL_ARG_BIAS, hn_dnn_memory(d, bias, t->arg[2]));
	}
	want = hn_dnn_layout(d, step, dnnl_query_dst_md);
	y = hn_dnn_output(d, dst, want);
	hn_dnn_arg(step, DNNL_ARG_DST, y);
	if (fused) {
		fused_args(d, step, c->epilogue, &s, dst);
	} else {
		unfused_steps(d, c->epilogue, &s, dst, y);
	}
	dnnl_post_ops_destroy(ops);
	dnnl_primitive_attr_destroy(attr);
	hn_dnn_done(d);
	free(s.weights);
}

void hn_dnn_conv(struct hn_contest *t, const struct hn_conv *c)
{
	contender(t, c, "onednn", /* any: */ true, false);
	contender(t, c, "onednn-nhwc", false, false);
	if (c->epilogue > BIAS) {
		contender(t, c, "onednn-fused", true, true);
		contender(t, c, "onednn-nhwc-fused", false, true);
	}
}
