/* graph/pass/integer.c -- sums of products of dequantized bytes are sums of integers, times both
 * scales.  A sum that may leave int32 stays as it is. */
#include <string.h>

#include "graph/ir/op.h"
#include "graph/op/build.h"
#include "graph/op/quant.h"
#include "graph/pass/bytes.h"
#include "graph/pass/pass.h"

/* Terms of a sum, each a product of two integers less their zero points. */
#define MOST_TERMS (INT32_MAX / (255 * 255))

static int32_t scaled(struct hn_graph *g, int32_t sum, int32_t x, int32_t y)
{
	return hn_graph_2(g, "Mul", hn_cast_to(g, sum, HN_F32), hn_graph_2(g, "Mul", x, y));
}

/* One number, or one for each element of dimension d alone. */
static bool is_along(const struct hn_graph *g, int32_t v, uint32_t d, uint32_t rank)
{
	const struct hn_gvalue *s = &g->value[v];

	return hn_gvalue_elements(s) == 1 ||
	       (s->rank == rank - d && s->shape[0] == hn_gvalue_elements(s));
}

/* Zeros behind the channels, so that there are as many as an instruction multiplies at once: few
 * channels leave most of it idle otherwise (the first convolution has three). */
#define CHANNELS 4

static int32_t with_channels(struct hn_graph *g, int32_t v)
{
	int64_t before[HN_GRAPH_MAX_RANK] = { 0 }, after[HN_GRAPH_MAX_RANK] = { 0 };
	const struct hn_gvalue *x = &g->value[v];
	struct hn_gattr attr[] = { hn_gattr_of_ints("before", x->rank, before),
				   hn_gattr_of_ints("after", x->rank, after),
				   hn_attr_string("mode", "constant") };
	int32_t in[] = { v, hn_graph_scalar(g, (enum hn_dtype)x->dtype, 0) };

	after[1] = CHANNELS - g->value[v].shape[1];
	return hn_graph_add(g, "pad", 2, in, HN_COUNT_OF(attr), attr);
}

int32_t hn_pass_integer_conv(struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_gvalue *weights = &g->value[n->in[1]];
	struct hn_gattr attr[16];
	struct hn_bytes x, w;
	int64_t padding, channels = weights->shape[1];
	uint32_t rank = weights->rank;
	double zero;
	int32_t y;

	if (!hn_bytes_uniform(g, n->in[0], &x) || !hn_bytes_of(g, n->in[1], &w) ||
	    hn_gattr_int(n, "padding", 0) != 0 || n->n_attr > HN_COUNT_OF(attr) ||
	    !is_along(g, w.scale, 0, rank) ||
	    hn_gvalue_elements(weights) / weights->shape[0] > MOST_TERMS) {
		return HN_NONE;
	}
	hn_bytes_make_signed(g, &w);
	if (!hn_quant_is_zero(g, w.zero) || !hn_pass_number(g, x.zero, &zero)) {
		return HN_NONE;
	}
	padding = (int64_t)zero;
	for (uint32_t i = 0; i < n->n_attr; i++) {
		attr[i] = strcmp(n->attr[i].name, "padding") == 0
				  ? hn_gattr_of_ints("padding", 1, &padding)
				  : n->attr[i];
	}
	if (channels > 1 && channels < CHANNELS && hn_gattr_int(n, "group", 1) == 1) {
		x.q = with_channels(g, x.q);
		w.q = with_channels(g, w.q);
	}
	y = hn_graph_add(g, "conv", 2, (int32_t[]){ x.q, w.q }, n->n_attr, attr);
	y = hn_quant_less_zero(g, y, w.q, zero);
	return scaled(g, y, x.scale,
		      hn_gvalue_elements(&g->value[w.scale]) == 1
			      ? w.scale
			      : hn_along(g, w.scale, 1, rank));
}

/* Rows and columns exchanged where the product says so. */
static int32_t turned(struct hn_graph *g, int32_t v, bool exchanged)
{
	uint32_t rank = g->value[v].rank;
	int64_t perm[HN_GRAPH_MAX_RANK];

	for (uint32_t d = 0; d < rank; d++) {
		perm[d] = d;
	}
	perm[rank - 1] = rank - 2;
	perm[rank - 2] = rank - 1;
	return exchanged ? hn_transposed(g, v, rank, perm) : v;
}

int32_t hn_pass_integer_matmul(struct hn_graph *g, const struct hn_gnode *n)
{
	bool trans_a = hn_gattr_int(n, "trans_a", 0), trans_b = hn_gattr_int(n, "trans_b", 0);
	const struct hn_gvalue *left = &g->value[n->in[0]], *right = &g->value[n->in[1]];
	struct hn_bytes a, b;
	int32_t sum;

	if (left->rank < 2 || left->shape[left->rank - (trans_a ? 2 : 1)] > MOST_TERMS ||
	    !hn_bytes_uniform(g, n->in[0], &a) || !hn_bytes_of(g, n->in[1], &b)) {
		return HN_NONE;
	}
	/* columns of b: its last dimension; a number is whatever it is */
	if (!is_along(g, b.scale, right->rank - (trans_b ? 2 : 1), right->rank) ||
	    !is_along(g, b.zero, right->rank - (trans_b ? 2 : 1), right->rank)) {
		return HN_NONE;
	}
	hn_bytes_make_signed(g, &b);
	b.scale = hn_along(g, b.scale, 0, hn_gvalue_elements(&g->value[b.scale]) > 1);
	b.zero = hn_along(g, b.zero, 0, hn_gvalue_elements(&g->value[b.zero]) > 1);
	sum = hn_quant_product(g, turned(g, a.q, trans_a), turned(g, b.q, trans_b), a.zero,
			       b.zero);
	return scaled(g, sum, a.scale, b.scale);
}
