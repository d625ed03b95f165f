/* bench/low_text.c -- a row of low precision in hone's text notation: both factors are widened
 * to the sum's type where they are multiplied, and what follows is as low.def says. */
#include <stdio.h>

#include "base/cdefs.h"
#include "bench/suite.h"

#define LL(x) ((long long)(x))

static const struct words {
	const char *left, *right, *sum;
	const char *relu; /* the answer with a bias and no number below 0, of B(%s) */
} words[HN_N_SUITE_TYPE] = {
	[HN_SUITE_BF16] = { "bfloat16", "bfloat16", "float32", "bfloat16(max(%s, 0))" },
	[HN_SUITE_U8S8] = { "uint8", "int8", "int32", "max(%s, 0)" },
};

enum hn_epilogue hn_low_epilogue(const struct hn_suite_row *row)
{
	return (enum hn_epilogue)row->p[row->class == HN_SUITE_product ? 3 : 10];
}

/* Parameters behind the weights, and the program's output. */
static void params(struct hn_buf *b, const struct hn_suite_row *row, int64_t channels)
{
	enum hn_epilogue e = hn_low_epilogue(row);

	if (e != PLAIN) {
		hn_buf_printf(b, ", const %s bias[%lld]", words[row->type].sum,
			      LL(channels));
	}
	if (e == REQUANT) {
		hn_buf_printf(b, ", const float32 scale[%lld]", LL(channels));
	}
	hn_buf_printf(b, ") -> %s {\n", e == PLAIN ? "C" : "Y");
}

/* The statement from C(at) to Y(at), with the channel f. */
static void epilogue(struct hn_buf *b, const struct hn_suite_row *row, const char *at)
{
	enum hn_epilogue e = hn_low_epilogue(row);
	char sum[60];

	snprintf(sum, sizeof(sum), "C(%s) + bias(f)", at);
	if (e == BIAS_RELU) {
		hn_buf_printf(b, "\tY(%s) = ", at);
		hn_buf_printf(b, words[row->type].relu, sum);
		hn_buf_puts(b, "\n");
	} else if (e == REQUANT) {
		hn_buf_printf(b,
			      "\tY(%s) = uint8(nearbyint(float32(%s) * scale(f)) + %d)\n",
			      at, sum, HN_LOW_ZERO_POINT);
	}
}

static void product_text(const struct hn_suite_row *row, struct hn_buf *b)
{
	const struct words *w = &words[row->type];
	const int64_t *p = row->p;

	hn_buf_printf(b, "product(%s A[%lld,%lld], const %s B[%lld,%lld]", w->left,
		      LL(p[0]), LL(p[2]), w->right, LL(p[2]), LL(p[1]));
	params(b, row, p[1]);
	hn_buf_printf(b, "\tC(i, f) +=! %s(A(i, k)) * %s(B(k, f))\n", w->sum, w->sum);
	epilogue(b, row, "i, f");
	hn_buf_puts(b, "}\n");
}

static void conv_text(const struct hn_suite_row *row, struct hn_buf *b)
{
	const struct words *w = &words[row->type];
	const char *in = "x";
	struct hn_conv c;

	hn_assert(hn_suite_conv(row, &c) && c.n_dim == 2 && c.stride == 1 &&
		  c.dilation == 1 && c.groups == 1);
	hn_buf_printf(b,
		      "conv(%s x[%lld,%lld,%lld,%lld], const %s w[%lld,%lld,%lld,%lld]",
		      w->left, LL(c.n), LL(c.in[0]), LL(c.in[1]), LL(c.ci), w->right,
		      LL(c.kernel), LL(c.kernel), LL(c.ci), LL(c.co));
	params(b, row, c.co);
	if (c.padding > 0) {
		long long pad = LL(c.padding), h = LL(c.in[0]), v = LL(c.in[1]);

		in = "P";
		hn_buf_printf(
			b,
			"\tP(n, a0, a1, c) = a0 >= %lld && a0 < %lld && a1 >= %lld && "
			"a1 < %lld ? x(n, a0 - %lld, a1 - %lld, c) : 0 "
			"where a0 in 0:%lld, a1 in 0:%lld\n",
			pad, pad + h, pad, pad + v, pad, pad, h + 2 * pad, v + 2 * pad);
	}
	hn_buf_printf(b,
		      "\tC(n, o0, o1, f) +=! %s(%s(n, o0 + r0, o1 + r1, c)) * "
		      "%s(w(r0, r1, c, f))\n",
		      w->sum, in, w->sum);
	epilogue(b, row, "n, o0, o1, f");
	hn_buf_puts(b, "}\n");
}

void hn_low_text(const struct hn_suite_row *row, struct hn_buf *buf)
{
	if (row->class == HN_SUITE_product) {
		product_text(row, buf);
	} else {
		conv_text(row, buf);
	}
}
