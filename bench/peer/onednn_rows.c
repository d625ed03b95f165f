/* bench/peer/onednn_rows.c -- what the bandwidth limits: softmax, normalizations, pooling,
 * element-wise. */
#include "bench/peer/onednn.h"

/* A primitive from the first argument to the output, both as they lie. */
static struct hn_dnn_step *simple(struct hn_dnn *d, const_dnnl_op_desc_t desc,
				  const dnnl_memory_desc_t *src,
				  const dnnl_memory_desc_t *dst)
{
	struct hn_dnn_step *s = hn_dnn_step(d, desc, NULL);

	hn_dnn_arg(s, DNNL_ARG_SRC, hn_dnn_memory(d, src, d->contest->arg[0]));
	hn_dnn_arg(s, DNNL_ARG_DST, hn_dnn_output(d, dst, dst));
	return s;
}

static void softmax(struct hn_contest *t)
{
	struct hn_dnn *d = hn_dnn_begin(t, "onednn");
	dnnl_memory_desc_t md = hn_dnn_plain(2, t->row->p);
	dnnl_softmax_desc_t desc;

	hn_dnn_ok(d,
		  dnnl_softmax_forward_desc_init(&desc, dnnl_forward_inference, &md, 1));
	simple(d, &desc, &md, &md);
	hn_dnn_done(d);
}

static void layernorm(struct hn_contest *t)
{
	struct hn_dnn *d = hn_dnn_begin(t, "onednn");
	dnnl_memory_desc_t md = hn_dnn_plain(2, t->row->p);
	dnnl_memory_desc_t row = hn_dnn_plain(1, t->row->p + 1);
	dnnl_layer_normalization_desc_t desc;
	struct hn_dnn_step *s;

	hn_dnn_ok(d, dnnl_layer_normalization_forward_desc_init(
			     &desc, dnnl_forward_inference, &md, NULL, 1e-5f,
			     dnnl_use_scale | dnnl_use_shift));
	s = simple(d, &desc, &md, &md);
	hn_dnn_arg(s, DNNL_ARG_SCALE, hn_dnn_memory(d, &row, t->arg[1]));
	hn_dnn_arg(s, DNNL_ARG_SHIFT, hn_dnn_memory(d, &row, t->arg[2]));
	hn_dnn_done(d);
}

static void norm(struct hn_contest *t)
{
	struct hn_dnn *d = hn_dnn_begin(t, "onednn");
	dnnl_dims_t one = { t->row->p[0], 1, 1 };
	dnnl_memory_desc_t src = hn_dnn_plain(3, t->row->p);
	dnnl_memory_desc_t dst = hn_dnn_plain(3, one);
	dnnl_reduction_desc_t desc;

	hn_dnn_ok(d, dnnl_reduction_desc_init(&desc, dnnl_reduction_norm_lp_sum, &src,
					      &dst, 2, 0));
	simple(d, &desc, &src, &dst);
	hn_dnn_done(d);
}

static void channels_last(const int64_t *nhwc, dnnl_memory_desc_t *ret)
{
	dnnl_dims_t dims = { nhwc[0], nhwc[3], nhwc[1], nhwc[2] };
	dnnl_dims_t strides = { nhwc[1] * nhwc[2] * nhwc[3], 1, nhwc[2] * nhwc[3],
				nhwc[3] };

	*ret = hn_dnn_strided(4, dims, strides);
}

static void pool(struct hn_contest *t)
{
	bool whole = t->row->class == HN_SUITE_avgpool;
	const int64_t *p = t->row->p;
	dnnl_dims_t k = { whole ? p[1] : p[4], whole ? p[2] : p[4] };
	dnnl_dims_t stride = { whole ? 1 : p[5], whole ? 1 : p[5] }, no = { 0 };
	dnnl_dims_t left = { p[6], p[6] }, right = { 0 }, out = { p[0], 0, 0, p[3] };
	struct hn_dnn *d = hn_dnn_begin(t, "onednn-nhwc");
	dnnl_memory_desc_t src, dst;
	dnnl_pooling_v2_desc_t desc;

	for (int i = 0; i < 2; i++) {
		out[1 + i] = (p[1 + i] + 2 * left[i] - k[i]) / stride[i] + 1;
		right[i] = (out[1 + i] - 1) * stride[i] + k[i] - p[1 + i] - left[i];
	}
	channels_last(p, &src);
	channels_last(out, &dst);
	hn_dnn_ok(d, dnnl_pooling_v2_forward_desc_init(
			     &desc, dnnl_forward_inference,
			     whole ? dnnl_pooling_avg_exclude_padding : dnnl_pooling_max,
			     &src, &dst, stride, k, no, left, right));
	simple(d, &desc, &src, &dst);
	hn_dnn_done(d);
}

static void addrelu(struct hn_contest *t, const char *name, bool fused)
{
	struct hn_dnn *d = hn_dnn_begin(t, name);
	dnnl_memory_desc_t md = hn_dnn_plain(1, t->row->p);
	dnnl_memory_t y = hn_dnn_output(d, &md, &md);
	dnnl_primitive_attr_t attr = NULL;
	dnnl_post_ops_t ops = NULL;
	dnnl_binary_desc_t desc;
	struct hn_dnn_step *s;

	if (fused && hn_dnn_ok(d, dnnl_primitive_attr_create(&attr)) &&
	    hn_dnn_ok(d, dnnl_post_ops_create(&ops))) {
		dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_relu, 0, 0);
		hn_dnn_ok(d, dnnl_primitive_attr_set_post_ops(attr, ops));
	}
	hn_dnn_ok(d, dnnl_binary_desc_init(&desc, dnnl_binary_add, &md, &md, &md));
	s = hn_dnn_step(d, &desc, attr);
	hn_dnn_arg(s, DNNL_ARG_SRC_0, hn_dnn_memory(d, &md, t->arg[0]));
	hn_dnn_arg(s, DNNL_ARG_SRC_1, hn_dnn_memory(d, &md, t->arg[1]));
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
