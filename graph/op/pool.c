/* graph/op/pool.c -- the maximum and the mean of windows. */
#include <stdio.h>
#include <string.h>

#include "graph/op/rows.h"
#include "graph/op/window.h"

static int32_t pool(const struct hn_gcall *c, const struct hn_window *w, bool max)
{
	struct hn_gattr attr[HN_WINDOW_ATTRS + 1];
	int64_t is_max = max;

	hn_window_put(w, attr);
	attr[HN_WINDOW_ATTRS] = hn_gattr_of_ints("max", 1, &is_max);
	return hn_graph_add(c->g, "pool", 1, c->node->in, HN_WINDOW_ATTRS + 1, attr);
}

int32_t hn_maxpool_expand(const struct hn_gcall *c)
{
	struct hn_window w;

	return hn_window_read(c, hn_gcall_in(c, 0), NULL, &w) ? pool(c, &w, true) : HN_BAD;
}

/* How many elements of dimension d window i covers: of the operand, or with its padding as the
 * attributes say it. */
static int64_t covered(const struct hn_window *w, uint32_t d, int64_t i, int64_t low, int64_t high)
{
	int64_t n = 0;

	for (int64_t k = 0; k < w->kernel[d]; k++) {
		int64_t at = i * w->stride[d] + k * w->dilation[d];

		n += at >= low && at < high;
	}
	return n;
}

/* Sums of windows over how many elements they have: a constant of the spatial shape. */
static int32_t counts(const struct hn_gcall *c, const struct hn_window *w, bool with_padding)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	const struct hn_gattr *pads = hn_gattr_find(c->node, "pads");
	int64_t shape[HN_GRAPH_MAX_RANK], *dims = HN_NEW_ARRAY(c->g->arena, int64_t, w->n);
	int32_t product = hn_graph_scalar(c->g, HN_I64, 1);

	for (uint32_t d = 0; d < w->n; d++) {
		int64_t *n = HN_NEW_ARRAY(c->g->arena, int64_t, (size_t)w->out[d]);
		int64_t end = w->before[d] + x->shape[d + 2];
		int64_t after = pads != NULL ? pads->i[w->n + d] : w->after[d];
		struct hn_gattr attr;
		int32_t factor;

		dims[d] = w->out[d];
		for (int64_t i = 0; i < w->out[d]; i++) {
			n[i] = with_padding ? covered(w, d, i, 0, end + after)
					    : covered(w, d, i, w->before[d], end);
		}
		for (uint32_t e = 0; e < w->n; e++) {
			shape[e] = e == d ? w->out[d] : 1;
		}
		factor = hn_graph_const(c->g, c->g->at, HN_I64, 1, &dims[d], n, false);
		attr = hn_gattr_of_ints("shape", w->n, shape);
		factor = hn_graph_add(c->g, "reshape", 1, &factor, 1, &attr);
		product = hn_graph_2(c->g, "Mul", product, factor);
	}
	return product;
}

int32_t hn_avgpool_expand(const struct hn_gcall *c)
{
	bool with_padding = hn_gattr_int(c->node, "count_include_pad", 0) != 0, same = true;
	struct hn_window w;
	struct hn_gattr to;
	int32_t sum, n;
	int64_t first, other;

	if (!hn_window_read(c, hn_gcall_in(c, 0), NULL, &w)) {
		return HN_BAD;
	}
	sum = pool(c, &w, false);
	n = counts(c, &w, with_padding);
	if (sum < 0 || n < 0) {
		return HN_BAD;
	}
	for (int64_t i = 0; i < hn_gvalue_elements(&c->g->value[n]); i++) {
		same &= hn_gvalue_int(&c->g->value[n], i, &other) &&
			hn_gvalue_int(&c->g->value[n], 0, &first) && first == other;
	}
	if (same) {
		n = hn_graph_scalar(c->g, c->g->value[sum].dtype, 1 / (double)first);
		return hn_graph_2(c->g, "Mul", sum, n);
	}
	to = hn_gattr_of_int(c->g->arena, "to", c->g->value[sum].dtype);
	return hn_graph_2(c->g, "Div", sum, hn_graph_add(c->g, "cast", 1, &n, 1, &to));
}

bool hn_pool_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	struct hn_window w;

	hn_window_get(c->node, &w);
	*ret = (struct hn_gshape){ .dtype = x->dtype, .rank = x->rank };
	ret->dim[0] = x->shape[0];
	ret->dim[1] = x->shape[1];
	for (uint32_t d = 0; d < w.n; d++) {
		ret->dim[d + 2] = w.out[d];
	}
	return true;
}

/* What padding is to a maximum: below all that is. */
static double lowest(enum hn_dtype t)
{
	switch (hn_dtype_class(t)) {
	case HN_CLASS_FLOAT:
		return -hn_dtype_largest(t);
	case HN_CLASS_SIGNED:
		return -(double)((uint64_t)1 << hn_dtype_bits(t));
	default:
		return 0;
	}
}

void hn_pool_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *y = &s->g->value[n->out[0]];
	bool max = hn_gattr_int(n, "max", 0) != 0;
	hn_say_index index[HN_GRAPH_MAX_RANK];
	struct hn_window w;
	uint32_t padded;

	hn_window_get(n, &w);
	padded = hn_window_pad(s, n->in[0], &w, max ? lowest(y->dtype) : 0, y->order);
	hn_say_indices(index, y->rank);
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, hn_window_points(&w) == 1 ? " = " : max ? " max=! " : " +=! ");
	hn_window_load(s, n->in[0], padded, &w, y->order, "i0", "i1");
	hn_say_where(s, n->out[0], index);
	hn_window_ranges(s, &w);
	hn_say_end(s);
}
