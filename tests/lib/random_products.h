/* random_products.h -- random programs around a sum of products of narrow types, which an
 * instruction may be given (loopstate/state/intrins.def): products of matrices, batches of them,
 * convolutions with borders and strides, odd extents, weights that are constant or not, and what
 * reads the sum: nothing, a bias, a requantization. */
#ifndef HN_TESTS_RANDOM_PRODUCTS_H
#define HN_TESTS_RANDOM_PRODUCTS_H

#include "base/buf.h"
#include "base/rng.h"
#include "loopstate/state/intrin.h"

struct random_product {
	struct hn_rng rng;
	const struct hn_intrin *in;
	bool swapped; /* the right factor is written first */
	bool constant;
};

static inline int product_draw(struct random_product *p, int lo, int hi)
{
	return lo + (int)hn_rng_below(&p->rng, (uint64_t)(hi - lo) + 1);
}

/* x times y, converted, in either order. */
static inline void product_term(const struct random_product *p, const char *x,
				const char *y, struct hn_buf *b)
{
	const char *sum = hn_dtype_name(p->in->sum);

	hn_buf_printf(b, "%s(%s) * %s(%s)", sum, p->swapped ? y : x, sum,
		      p->swapped ? x : y);
}

static inline void product_inputs(const struct random_product *p, const char *left,
				  const char *right, int n, struct hn_buf *b)
{
	bool is_int = p->in->sum == HN_I32;

	hn_buf_printf(b, "f(%s A[%s], %s%s B[%s], %s z[%d], float32 s[%d]) -> Y {\n",
		      hn_dtype_name(p->in->left), left, p->constant ? "const " : "",
		      hn_dtype_name(p->in->right), right, is_int ? "int32" : "bfloat16",
		      n, n);
}

/* Y of C at these indices; the last one is that of z and s. */
static inline void product_reader(struct random_product *p, const char *at,
				  const char *last, struct hn_buf *b)
{
	static const char *const whole[] = {
		"C($) + z(%)",
		"max(C($) + z(%), 0)",
		"int8(min(max(nearbyint(float32(C($) + z(%)) * float32(s(%))) + 3, -128), 127))",
		"uint8(float32(C($)) * float32(s(%)))",
	};
	static const char *const real[] = {
		"C($) + float32(z(%))",
		"bfloat16(max(C($) + float32(z(%)), 0))",
		"float16(C($)) * float16(s(%))",
		"bfloat16(C($) * float32(s(%)))",
	};
	int k = product_draw(p, 0, 3);

	hn_buf_printf(b, "  Y(%s) = ", at);
	for (const char *c = p->in->sum == HN_I32 ? whole[k] : real[k]; *c; c++) {
		if (*c == '$' || *c == '%') {
			hn_buf_puts(b, *c == '$' ? at : last);
		} else {
			hn_buf_putc(b, *c);
		}
	}
	hn_buf_puts(b, " }\n");
}

static inline void product_matrices(struct random_product *p, struct hn_buf *b)
{
	int m = product_draw(p, 1, 9), n = product_draw(p, 1, 24),
	    k = product_draw(p, 4, 19);
	int batch = product_draw(p, 0, 2) == 0 ? product_draw(p, 1, 3) : 0;
	bool across = product_draw(p, 0, 1) == 0;
	char first[12] = "", left[40], right[40], right_at[20];
	const char *of = batch > 0 ? "b," : "", *at = batch > 0 ? "b,i,j" : "i,j";

	if (batch > 0) {
		snprintf(first, sizeof first, "%d,", batch);
	}
	snprintf(left, sizeof left, "%s%d,%d", first, m, k);
	snprintf(right, sizeof right, "%s%d,%d", first, across ? n : k, across ? k : n);
	snprintf(right_at, sizeof right_at, "B(%s%s)", of, across ? "j,k" : "k,j");
	product_inputs(p, left, right, n, b);
	hn_buf_printf(b, "  C(%s) +=! ", at);
	product_term(p, batch > 0 ? "A(b,i,k)" : "A(i,k)", right_at, b);
	hn_buf_puts(b, "\n");
	product_reader(p, at, "j", b);
}

/* With a border of zeros or none, strides, windows of one to three. */
static inline void product_convolution(struct random_product *p, struct hn_buf *b)
{
	int window = product_draw(p, 1, 3), stride = product_draw(p, 1, 2);
	int c = product_draw(p, 4, 9), f = product_draw(p, 1, 18);
	int out = product_draw(p, 1, 3), side = (out - 1) * stride + window;
	bool border = window == 3 && side > 2 && product_draw(p, 0, 1) == 0;
	int inner = border ? side - 2 : side;
	char left[48], right[64], x[48];

	snprintf(left, sizeof left, "%d,%d,%d", inner, inner, c);
	snprintf(right, sizeof right, "%d,%d,%d,%d", window, window, c, f);
	snprintf(x, sizeof x, "%s(y*%d+r,x*%d+q,k)", border ? "P" : "A", stride, stride);
	product_inputs(p, left, right, f, b);
	if (border) {
		hn_buf_printf(b,
			      "  P(y,x,k) = y >= 1 && y < %d && x >= 1 && x < %d ? "
			      "A(y-1,x-1,k) : 0 where y in 0:%d, x in 0:%d\n",
			      inner + 1, inner + 1, side, side);
	}
	hn_buf_puts(b, "  C(y,x,j) +=! ");
	product_term(p, x, "B(r,q,k,j)", b);
	hn_buf_printf(b, " where y in 0:%d, x in 0:%d, r in 0:%d, q in 0:%d\n", out, out,
		      window, window);
	product_reader(p, "y,x,j", "j", b);
}

/* The program of a seed; *ret_in: the instruction that its sum fits. */
static inline void random_product(uint64_t seed, struct hn_buf *ret,
				  const struct hn_intrin **ret_in)
{
	struct random_product p = { .rng = hn_rng_stream(seed, 31, 0, 0) };

	p.in = hn_intrin_at((uint32_t)hn_rng_below(&p.rng, hn_intrin_count()));
	p.swapped = product_draw(&p, 0, 2) == 0;
	p.constant = product_draw(&p, 0, 2) > 0;
	*ret_in = p.in;
	if (product_draw(&p, 0, 1) == 0) {
		product_matrices(&p, ret);
	} else {
		product_convolution(&p, ret);
	}
}

#endif
