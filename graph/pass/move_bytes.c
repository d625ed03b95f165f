/* graph/pass/move_bytes.c -- what moves elements, or picks the greatest, does so with bytes. */
#include <string.h>

#include "graph/ir/op.h"
#include "graph/op/build.h"
#include "graph/op/window.h"
#include "graph/pass/bytes.h"
#include "graph/pass/pass.h"

/* The node on q in the place of its operand 0. */
static int32_t again(struct hn_graph *g, const struct hn_gnode *n, int32_t q)
{
	int32_t *in = HN_NEW_ARRAY(g->arena, int32_t, n->n_in);

	memcpy(in, n->in, n->n_in * sizeof(*in));
	in[0] = q;
	return hn_graph_add(g, n->op->name, n->n_in, in, n->n_attr, n->attr);
}

int32_t hn_pass_move_bytes(struct hn_graph *g, const struct hn_gnode *n)
{
	struct hn_bytes x;

	return hn_bytes_uniform(g, n->in[0], &x)
		       ? hn_bytes_value(g, &x, again(g, n, x.q))
		       : HN_NONE;
}

static bool same_number(const struct hn_graph *g, int32_t x, int32_t y)
{
	double p, q;

	return hn_pass_number(g, x, &p) && hn_pass_number(g, y, &q) && p == q;
}

/* All operands with one scale and one zero point. */
int32_t hn_pass_join_bytes(struct hn_graph *g, const struct hn_gnode *n)
{
	int32_t *in = HN_NEW_ARRAY(g->arena, int32_t, n->n_in);
	struct hn_bytes first, x;

	for (uint32_t i = 0; i < n->n_in; i++) {
		if (!hn_bytes_uniform(g, n->in[i], &x)) {
			return HN_NONE;
		}
		first = i == 0 ? x : first;
		if (g->value[x.q].dtype != g->value[first.q].dtype ||
		    !same_number(g, x.zero, first.zero) ||
		    !same_number(g, x.scale, first.scale)) {
			return HN_NONE;
		}
		in[i] = x.q;
	}
	return hn_bytes_value(
		g, &first,
		hn_graph_add(g, n->op->name, n->n_in, in, n->n_attr, n->attr));
}

/* Zero is the zero point. */
int32_t hn_pass_relu_bytes(struct hn_graph *g, const struct hn_gnode *n)
{
	struct hn_bytes x;
	double zero;

	if (!hn_bytes_uniform(g, n->in[0], &x) || !hn_pass_number(g, x.zero, &zero)) {
		return HN_NONE;
	}
	if (zero == hn_bytes_least(g->value[x.q].dtype)) {
		return n->in[0];
	}
	return hn_bytes_value(g, &x,
			      hn_graph_2(g, "maximum", x.q,
					 hn_graph_scalar(g, g->value[x.q].dtype, zero)));
}

/* The greatest of each window.  One that may lie in the padding alone has none. */
int32_t hn_pass_pool_bytes(struct hn_graph *g, const struct hn_gnode *n)
{
	struct hn_window w;

	hn_window_get(n, &w);
	for (uint32_t d = 0; d < w.n; d++) {
		if (w.dilation[d] != 1 || w.before[d] >= w.kernel[d] ||
		    w.after[d] >= w.kernel[d]) {
			return HN_NONE;
		}
	}
	return hn_gattr_int(n, "max", 0) != 0 ? hn_pass_move_bytes(g, n) : HN_NONE;
}

/* A sum is one of integers, less the zero points of its terms. */
static int32_t summed(struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_gattr *axes = hn_gattr_find(n, "axes");
	struct hn_bytes x;
	double count = 1, zero;
	int32_t sum;

	if (!hn_bytes_uniform(g, n->in[0], &x) || !hn_pass_number(g, x.zero, &zero)) {
		return HN_NONE;
	}
	for (uint32_t i = 0; i < axes->n; i++) {
		count *= (double)g->value[x.q].shape[axes->i[i]];
	}
	if (count > INT32_MAX / 255) {
		return HN_NONE;
	}
	sum = hn_plus(g, again(g, n, x.q), -zero * count);
	return hn_graph_2(g, "Mul", hn_cast_to(g, sum, HN_F32), x.scale);
}

int32_t hn_pass_reduce_bytes(struct hn_graph *g, const struct hn_gnode *n)
{
	const char *how = hn_gattr_string(n, "how", "+=!");

	return *how == '+' ? summed(g, n) : *how == 'm' ? hn_pass_move_bytes(g, n) : HN_NONE;
}
