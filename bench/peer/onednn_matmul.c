/* bench/peer/onednn_matmul.c -- matrix products and what follows them. */
#include "bench/peer/onednn.h"

/* Dims and strides of a product's three tensors; batch dims before rows and columns. */
struct product {
	int n_dim;
	dnnl_dims_t a, b, c, a_stride, b_stride, c_stride;
};

static void set(int64_t *to, int64_t w, int64_t x, int64_t y, int64_t z)
{
	to[0] = w;
	to[1] = x;
	to[2] = y;
	to[3] = z;
}

static void describe(const struct hn_suite_row *row, struct product *p)
{
	const int64_t *q = row->p;
	int64_t n = q[0] > 0 ? q[0] : 1, s = q[1], h = q[2], e = q[3];

	p->n_dim = 3;
	if (row->class == HN_SUITE_dense) { /* M, N, K; weights N x K */
		p->n_dim = 2;
		set(p->a, q[0], q[2], 0, 0);
		set(p->a_stride, q[2], 1, 0, 0);
		set(p->b, q[2], q[1], 0, 0);
		set(p->b_stride, 1, q[2], 0, 0);
		set(p->c, q[0], q[1], 0, 0);
		set(p->c_stride, q[1], 1, 0, 0);
	} else if (row->class == HN_SUITE_tbg) {
		p->n_dim = 4;
		set(p->a, n, h, s, e);
		set(p->a_stride, s * h * e, e, h * e, 1);
		set(p->b, n, h, e, s);
		set(p->b_stride, s * h * e, e, 1, h * e);
		set(p->c, n, h, s, s);
		set(p->c_stride, h * s * s, s * s, s, 1);
	} else { /* batch, M, N, K */
		bool nt = row->class == HN_SUITE_scores;

		set(p->a, n, q[1], q[3], 0);
		set(p->a_stride, q[1] * q[3], q[3], 1, 0);
		set(p->b, n, q[3], q[2], 0);
		set(p->b_stride, q[2] * q[3], nt ? 1 : q[2], nt ? q[3] : 1, 0);
		set(p->c, n, q[1], q[2], 0);
		set(p->c_stride, q[1] * q[2], q[2], 1, 0);
		if (row->class == HN_SUITE_matmul && q[0] == 0) {
			p->n_dim = 2;
			for (int i = 0; i < 3; i++) {
				p->a[i] = p->a[i + 1];
				p->b[i] = p->b[i + 1];
				p->c[i] = p->c[i + 1];
				p->a_stride[i] = p->a_stride[i + 1];
				p->b_stride[i] = p->b_stride[i + 1];
				p->c_stride[i] = p->c_stride[i + 1];
			}
		}
	}
}

/* What follows the product, in place over y. */
static void steps_after(struct hn_dnn *d, dnnl_memory_t y)
{
	const struct hn_suite_row *row = d->contest->row;
	void *const *arg = d->contest->arg;
	enum hn_epilogue e =
		row->class == HN_SUITE_dense ? (enum hn_epilogue)row->p[3] : PLAIN;
	const_dnnl_memory_desc_t md;

	if (d->failed || !hn_dnn_ok(d, dnnl_memory_get_memory_desc(y, &md))) {
		return;
	}
	if (e == BIAS_GELU) {
		hn_dnn_eltwise(d, dnnl_eltwise_gelu_erf, 0, 0, y);
	} else if (e == BIAS_ADD) {
		hn_dnn_binary(d, dnnl_binary_add, y, hn_dnn_memory(d, md, arg[3]));
	} else if (row->class == HN_SUITE_scores) {
		dnnl_dims_t dims = { row->p[0], 1, row->p[2] };
		const_dnnl_memory_desc_t mask = hn_dnn_plain(d, 3, dims);

		hn_dnn_eltwise(d, dnnl_eltwise_linear, 0.125f, 0, y);
		hn_dnn_binary(d, dnnl_binary_add, y, hn_dnn_memory(d, mask, arg[2]));
	}
}

/* The same as post-operations: attributes before, arguments after the step is made. */
static void post_ops(struct hn_dnn *d, const_dnnl_memory_desc_t dst, dnnl_post_ops_t ops)
{
	const struct hn_suite_row *row = d->contest->row;
	dnnl_dims_t dims = { row->p[0], 1, row->p[2] };
	const_dnnl_memory_desc_t mask = hn_dnn_plain(d, 3, dims);

	if (row->class == HN_SUITE_scores) {
		dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_linear, 0.125f, 0);
		dnnl_post_ops_append_binary(ops, dnnl_binary_add, mask);
	} else if (row->p[3] == BIAS_GELU) {
		dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_gelu_erf, 0, 0);
	} else {
		dnnl_post_ops_append_binary(ops, dnnl_binary_add, dst);
	}
}

static void post_args(struct hn_dnn *d, struct hn_dnn_step *s,
		      const_dnnl_memory_desc_t dst)
{
	const struct hn_suite_row *row = d->contest->row;
	dnnl_dims_t dims = { row->p[0], 1, row->p[2] };
	const_dnnl_memory_desc_t mask = hn_dnn_plain(d, 3, dims);

	if (row->class == HN_SUITE_scores) {
		hn_dnn_arg(s, DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1,
			   hn_dnn_memory(d, mask, d->contest->arg[2]));
	} else if (row->p[3] == BIAS_ADD) {
		hn_dnn_arg(s, DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1,
			   hn_dnn_memory(d, dst, d->contest->arg[3]));
	}
}

static struct hn_dnn_step *product_step(struct hn_dnn *d, const struct product *p,
					const_dnnl_memory_desc_t a,
					const_dnnl_memory_desc_t b,
					const_dnnl_memory_desc_t c, bool fused)
{
	bool dense = d->contest->row->class == HN_SUITE_dense;
	dnnl_dims_t n = { 1, p->c[1] };
	const_dnnl_memory_desc_t bias = dense ? hn_dnn_plain(d, 2, n) : NULL;
	dnnl_primitive_attr_t attr = NULL;
	dnnl_post_ops_t ops = NULL;
	struct hn_dnn_step *s = hn_dnn_step(d);

	if (fused && hn_dnn_ok(d, dnnl_primitive_attr_create(&attr)) &&
	    hn_dnn_ok(d, dnnl_post_ops_create(&ops))) {
		post_ops(d, c, ops);
		hn_dnn_ok(d, dnnl_primitive_attr_set_post_ops(attr, ops));
	}
	hn_dnn_made(d, s,
		    dnnl_matmul_primitive_desc_create(&s->pd, d->engine, a, b, bias, c,
						      attr));
	dnnl_post_ops_destroy(ops);
	dnnl_primitive_attr_destroy(attr);
	if (dense) {
		hn_dnn_arg(s, DNNL_ARG_BIAS, hn_dnn_memory(d, bias, d->contest->arg[2]));
	}
	return s;
}

/* any: the weights in oneDNN's layout. */
static void contender(struct hn_contest *t, const struct product *p, const char *name,
		      bool any, bool fused)
{
	struct hn_dnn *d = hn_dnn_begin(t, name);
	const_dnnl_memory_desc_t a = hn_dnn_strided(d, p->n_dim, p->a, p->a_stride);
	const_dnnl_memory_desc_t b = hn_dnn_strided(d, p->n_dim, p->b, p->b_stride);
	const_dnnl_memory_desc_t c = hn_dnn_strided(d, p->n_dim, p->c, p->c_stride);
	const_dnnl_memory_desc_t free_b = hn_dnn_any(d, p->n_dim, p->b), want;
	struct hn_dnn_step *s = product_step(d, p, a, any ? free_b : b, c, fused);
	dnnl_memory_t y;

	want = hn_dnn_layout(d, s, dnnl_query_weights_md);
	hn_dnn_arg(s, DNNL_ARG_SRC, hn_dnn_memory(d, a, t->arg[0]));
	hn_dnn_arg(s, DNNL_ARG_WEIGHTS, hn_dnn_input(d, b, want, t->arg[1]));
	y = hn_dnn_output(d, c, c);
	hn_dnn_arg(s, DNNL_ARG_DST, y);
	if (fused) {
		post_args(d, s, c);
	} else {
		steps_after(d, y);
	}
	hn_dnn_done(d);
}

/* Attention's products with the copies around them as steps: transposed operands first
 * written as rows, heads merged at the end. */
static void copied(struct hn_contest *t, const struct product *p, const char *name)
{
	bool merge = t->row->class == HN_SUITE_values;
	struct hn_dnn *d = hn_dnn_begin(t, name);
	const_dnnl_memory_desc_t a = hn_dnn_strided(d, p->n_dim, p->a, p->a_stride);
	const_dnnl_memory_desc_t b = hn_dnn_strided(d, p->n_dim, p->b, p->b_stride);
	const_dnnl_memory_desc_t plain_a = hn_dnn_plain(d, p->n_dim, p->a);
	const_dnnl_memory_desc_t plain_b = hn_dnn_plain(d, p->n_dim, p->b);
	const_dnnl_memory_desc_t c = hn_dnn_plain(d, p->n_dim, p->c);
	dnnl_memory_t x = hn_dnn_memory(d, a, t->arg[0]);
	dnnl_memory_t w = hn_dnn_memory(d, b, t->arg[1]), y;
	struct hn_dnn_step *s;

	if (!merge) {
		dnnl_memory_t x_plain = hn_dnn_memory(d, plain_a, NULL);
		dnnl_memory_t w_plain = hn_dnn_memory(d, plain_b, NULL);

		hn_dnn_copy(d, x, x_plain);
		hn_dnn_copy(d, w, w_plain);
		x = x_plain;
		w = w_plain;
	}
	s = product_step(d, p, merge ? a : plain_a, merge ? b : plain_b, c, false);
	y = merge ? hn_dnn_memory(d, c, NULL) : hn_dnn_output(d, c, c);
	hn_dnn_arg(s, DNNL_ARG_SRC, x);
	hn_dnn_arg(s, DNNL_ARG_WEIGHTS, w);
	hn_dnn_arg(s, DNNL_ARG_DST, y);
	if (merge) {
		dnnl_dims_t strides = { p->c[2], p->c[0] * p->c[2], 1 };
		const_dnnl_memory_desc_t merged = hn_dnn_strided(d, 3, p->c, strides);

		hn_dnn_copy(d, y, hn_dnn_memory(d, merged, t->arg[2]));
	}
	hn_dnn_done(d);
}

void hn_dnn_products(struct hn_contest *t)
{
	bool dense = t->row->class == HN_SUITE_dense;
	struct product p;

	if (!dense && t->row->class != HN_SUITE_matmul && t->row->class != HN_SUITE_tbg &&
	    t->row->class != HN_SUITE_scores && t->row->class != HN_SUITE_values) {
		return;
	}
	describe(t->row, &p);
	if (t->row->class == HN_SUITE_values || t->row->class == HN_SUITE_tbg) {
		copied(t, &p, "onednn-copied");
	}
	if (t->row->class == HN_SUITE_values) {
		p.c_stride[0] = p.c[2];
		p.c_stride[1] = p.c[0] * p.c[2];
	}
	contender(t, &p, "onednn", dense, false);
	if ((dense && t->row->p[3] > BIAS) || t->row->class == HN_SUITE_scores) {
		contender(t, &p, "onednn-fused", dense, true);
	}
}
