/* bench/suite.c -- the table, convolutions, and counts.  See suite.h. */
#include "bench/suite.h"

#include "base/cdefs.h"

const struct hn_suite_row hn_suite[] = {
#define ROW(name, class, ...)                                                            \
	{ name, HN_SUITE_##class, { __VA_ARGS__ }, HN_SUITE_F32 },
#include "bench/suite.def"
#undef ROW
};

const uint32_t hn_suite_n = HN_COUNT_OF(hn_suite);

const struct hn_suite_row hn_low[] = {
#define ROW(name, class, type, ...)                                                      \
	{ name, HN_SUITE_##class, { __VA_ARGS__ }, HN_SUITE_##type },
#include "bench/low.def"
#undef ROW
};

const uint32_t hn_low_n = HN_COUNT_OF(hn_low);

/* Spatial dimensions of each class; 0 = no convolution. */
static const uint32_t conv_dims[HN_N_SUITE_CLASS] = {
	[HN_SUITE_conv1d] = 1,	  [HN_SUITE_conv2d] = 2,     [HN_SUITE_conv3d] = 3,
	[HN_SUITE_depthwise] = 2, [HN_SUITE_transposed] = 2, [HN_SUITE_capsule] = 2,
};

bool hn_suite_conv(const struct hn_suite_row *row, struct hn_conv *ret)
{
	uint32_t d = conv_dims[row->class];
	const int64_t *p = row->p + 1 + d;
	struct hn_conv c = { .n_dim = d, .n = row->p[0], .dilation = 1, .groups = 1 };

	if (d == 0) {
		return false;
	}
	c.depthwise = row->class == HN_SUITE_depthwise;
	c.transposed = row->class == HN_SUITE_transposed;
	c.capsule = row->class == HN_SUITE_capsule;
	c.ci = *p++;
	c.co = c.depthwise ? c.ci : *p++;
	c.kernel = *p++;
	c.stride = *p++;
	c.padding = *p++;
	if (c.depthwise) {
		c.groups = c.ci;
		c.epilogue = (enum hn_epilogue) * p;
	} else if (row->class == HN_SUITE_conv2d) {
		c.dilation = p[0] > 0 ? p[0] : 1;
		c.groups = p[1] > 0 ? p[1] : 1;
		c.epilogue = (enum hn_epilogue)p[2];
	}
	for (uint32_t i = 0; i < d; i++) {
		int64_t reach = (c.kernel - 1) * c.dilation;

		c.in[i] = row->p[1 + i];
		c.out[i] = c.transposed
				   ? (c.in[i] - 1) * c.stride - 2 * c.padding + c.kernel
				   : (c.in[i] + 2 * c.padding - reach - 1) / c.stride + 1;
	}
	*ret = c;
	return true;
}

/* Pairs of output position and tap that meet an input, in one dimension. */
static int64_t meetings(const struct hn_conv *c, uint32_t d)
{
	int64_t n = 0;

	for (int64_t o = 0; o < c->out[d]; o++) {
		for (int64_t k = 0; k < c->kernel; k++) {
			int64_t at = c->transposed ? o + c->padding - k
						   : o * c->stride + k * c->dilation -
							     c->padding;
			int64_t step = c->transposed ? c->stride : 1;

			n += at >= 0 && at % step == 0 && at / step < c->in[d];
		}
	}
	return n;
}

static double conv_flops(const struct hn_conv *c)
{
	double flops = 2.0 * (double)(c->n * c->ci / c->groups * c->co);

	for (uint32_t d = 0; d < c->n_dim; d++) {
		flops *= (double)meetings(c, d);
	}
	return flops * (c->capsule ? 4 * 4 * 4 : 1);
}

double hn_suite_useful_flops(const struct hn_suite_row *row)
{
	const int64_t *p = row->p;
	struct hn_conv c;

	if (hn_suite_conv(row, &c)) {
		return conv_flops(&c);
	}
	switch (row->class) {
	case HN_SUITE_matmul:
		return 2.0 * (double)((p[0] > 0 ? p[0] : 1) * p[1] * p[2] * p[3]);
	case HN_SUITE_dense:
	case HN_SUITE_product:
		return 2.0 * (double)(p[0] * p[1] * p[2]);
	case HN_SUITE_tbg: /* batch, sequence, heads, dim */
		return 2.0 * (double)(p[0] * p[1] * p[1] * p[2] * p[3]);
	case HN_SUITE_scores:
	case HN_SUITE_values:
		return 2.0 * (double)(p[0] * p[1] * p[2] * p[3]);
	default:
		return 0;
	}
}
