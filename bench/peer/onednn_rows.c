/* bench/peer/onednn_rows.c -- what the bandwidth limits: softmax, normalizations, pooling,
 * element-wise. */
#include "bench/peer/onednn.h"

/* The last step's arguments: from the first argument to the output, both as they lie. */
static void simple(struct hn_dnn *d, struct hn_dnn_step *s, const_dnnl_memory_desc_t src,
		   const_dnnl_memory_desc_t dst)
{
	hn_dnn_arg(s, DNNL_ARG_SRC, hn_dnn_memory(d, src, d->contest->arg[0]));
	hn_dnn_arg(s, DNNL_ARG_DST, hn_dnn_output(d, dst, dst));
}

static void softmax(struct hn_contest *t)
{
	struct hn_dnn *d = hn_dnn_begin(t, "onednn");
	const_dnnl_memory_desc_t md = hn_dnn_plain(d, 2, t->row->p);
	struct hn_dnn_step *s = hn_dnn_step(d);

	hn_dnn_made(d, s,
		    dnnl_softmax_forward_primitive_desc_create(
			    &s->pd, d->engine, dnnl_forward_inference,
			    dnnl_softmax_accurate, md, md, 1, NULL));
	simple(d, s, md, md);
	hn_dnn_done(d);
}

static void layernorm(struct hn_contest *t)
{
	struct hn_dnn *d = hn_dnn_begin(t, "onednn");
	const_dnnl_memory_desc_t md = hn_dnn_plain(d, 2, t->row->p);
	const_dnnl_memory_desc_t row = hn_dnn_plain(d, 1, t->row->p + 1);
	struct hn_dnn_step *s = hn_dnn_step(d);

	hn_dnn_made(d, s,
		    dnnl_layer_normalization_forward_primitive_desc_create(
			    &s->pd, d->engine, dnnl_forward_inference, md, md, NULL,
			    1e-5f, dnnl_use_scale | dnnl_use_shift, NULL));
	simple(d, s, md, md);
	hn_dnn_arg(s, DNNL_ARG_SCALE, hn_dnn_memory(d, row, t->arg[1]));
	hn_dnn_arg(s, DNNL_ARG_SHIFT, hn_dnn_memory(d, row, t->arg[2]));
	hn_dnn_done(d);
}

static void norm(struct hn_contest *t)
{
	struct hn_dnn *d = hn_dnn_begin(t, "onednn");
	dnnl_dims_t one = { t->row->p[0], 1, 1 };
	const_dnnl_memory_desc_t src = hn_dnn_plain(d, 3, t->row->p);
	const_dnnl_memory_desc_t dst = hn_dnn_plain(d, 3, one);
	struct hn_dnn_step *s = hn_dnn_step(d);

	hn_dnn_made(d, s,
		    dnnl_reduction_primitive_desc_create(&s->pd, d->engine,
							 dnnl_reduction_norm_lp_sum, src,
							 dst, 2, 0, NULL));
	simple(d, s, src, dst);
	hn_dnn_done(d);
}

static const_dnnl_memory_desc_t channels_last(struct hn_dnn *d, const int64_t *nhwc)
{
	dnnl_dims_t dims = { nhwc[0], nhwc[3], nhwc[1], nhwc[2] };
	dnnl_dims_t strides = { nhwc[1] * nhwc[2] * nhwc[3], 1, nhwc[2] * nhwc[3],
				nhwc[3] };

	return hn_dnn_strided(d, 4, dims, strides);
}

static void pool(struct hn_contest *t)
{
	bool whole = t->row->class == HN_SUITE_avgpool;
	const int64_t *p = t->row->p;
	dnnl_dims_t k = { whole ? p[1] : p[4], whole ? p[2] : p[4] };
	dnnl_dims_t stride = { whole ? 1 : p[5], whole ? 1 : p[5] }, no = { 0 };
	dnnl_dims_t left = { p[6], p[6] }, right = { 0 }, out = { p[0], 0, 0, p[3] };
	struct hn_dnn *d = hn_dnn_begin(t, "onednn-nhwc");
	const_dnnl_memory_desc_t src, dst;
	struct hn_dnn_step *s = hn_dnn_step(d);

	for (int i = 0; i < 2; i++) {
		out[1 + i] = (p[1 + i] + 2 * left[i] - k[i]) / stride[i] + 1;
		right[i] = (out[1 + i] - 1) * stride[i] + k[i] - p[1 + i] - left[i];
	}
	src = channels_last(d, p);
	dst = channels_last(d, out);
	hn_dnn_made(d, s,
		    dnnl_pooling_forward_primitive_desc_create(
			    &s->pd, d->engine, dnnl_forward_inference,
			    whole ? dnnl_pooling_avg_exclude_padding : dnnl_pooling_max,
			    src, dst, stride, k, no, left, right, NULL));
	simple(d, s, src, dst);
	hn_dnn_done(d);
}

static void addrelu(struct hn_contest *t, const char *name, bool fused)
{
	struct hn_dnn *d = hn_dnn_begin(t, name);
	const_dnnl_memory_desc_t md = hn_dnn_plain(d, 1, t->row->p);
	dnnl_memory_t y = hn_dnn_output(d, md, md);
	dnnl_primitive_attr_t attr = NULL;
	dnnl_post_ops_t ops = NULL;
	struct hn_dnn_step *s = hn_dnn_step(d);

	if (fused && hn_dnn_ok(d, dnnl_primitive_attr_create(&attr)) &&
	    hn_dnn_ok(d, dnnl_post_ops_create(&ops))) {
		dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0, 0);
		hn_dnn_ok(d, dnnl_primitive_attr_set_post_ops(attr, ops));
	}
	hn_dnn_made(d, s,
		    dnnl_binary_primitive_desc_create(&s->pd, d->engine, dnnl_binary_add,
						      md, md, md, attr));
	hn_dnn_arg(s, DNNL_ARG_SRC_0, hn_dnn_memory(d, md, t->arg[0]));
	hn_dnn_arg(s, DNNL_ARG_SRC_1, hn_dnn_memory(d, md, t->arg[1]));
	hn_dnn_arg(s, DNNL_ARG_DST, y);
	dnnl_post_ops_destroy(ops);
	dnnl_primitive_attr_destroy(attr);
	if (!fused) {
		hn_dnn_eltwise(d, dnnl_eltwise_relu, 0, 0, y);
	}
	hn_dnn_done(d);
}

void hn_dnn_rows(struct hn_contest *t)
{
	switch (t->row->class) {
	case HN_SUITE_softmax:
		softmax(t);
		break;
	case HN_SUITE_layernorm:
		layernorm(t);
		break;
	case HN_SUITE_norm:
		norm(t);
		break;
	case HN_SUITE_maxpool:
	case HN_SUITE_avgpool:
		pool(t);
		break;
	case HN_SUITE_addrelu:
		addrelu(t, "onednn", false);
		addrelu(t, "onednn-fused", true);
		break;
	default:
		break;
	}
}
