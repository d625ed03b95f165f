/* graph/op/pool.c -- the maximum and the mean of windows. */
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "graph/op/build.h"
#include "graph/op/rows.h"
#include "graph/op/window.h"

static int32_t pool(const struct hn_gcall *c, int32_t x, const struct hn_window *w,
		    bool max)
{
	struct hn_gattr attr[HN_WINDOW_ATTRS + 1];
	int64_t is_max = max;

	hn_window_put(w, attr);
	attr[HN_WINDOW_ATTRS] = hn_gattr_of_ints("max", 1, &is_max);
	return hn_graph_add(c->g, "pool", 1, &x, HN_WINDOW_ATTRS + 1, attr);
}

int32_t hn_maxpool_expand(const struct hn_gcall *c)
{
	struct hn_window w;

	return hn_window_read(c, hn_gcall_in(c, 0), NULL, &w)
		       ? pool(c, hn_gcall_arg(c, 0), &w, true)
		       : HN_BAD;
}

/* How many elements of dimension d from `low` to before `high` window i covers. */
static int64_t covered(const struct hn_window *w, uint32_t d, int64_t i, int64_t low,
		       int64_t high)
{
	int64_t at = i * w->stride[d], by = w->dilation[d];
	int64_t first = low > at ? (low - at + by - 1) / by : 0;
	int64_t end = high > at ? (high - at + by - 1) / by : 0;

	end = end < w->kernel[d] ? end : w->kernel[d];
	return end > first ? end - first : 0;
}

/* How many elements the windows along dimension d have: of the operand, or with the padding that
 * attributes ask for.  One number where all have as many. */
static int32_t counts_along(const struct hn_gcall *c, const struct hn_window *w,
			    uint32_t d, bool with_padding)
{
	int64_t end = w->before[d] + hn_gcall_in(c, 0)->shape[d + 2];
	int64_t *n, *shape = HN_NEW(c->g->arena, int64_t);
	bool same = true;

	if (!hn_graph_afford(c->g, hn_mul_sat(w->out[d], sizeof(*n)))) {
		return hn_graph_fail(c->g, HONE_E_QUOTA, "%s with %lld windows",
				     c->node->op->name, (long long)w->out[d]);
	}
	n = HN_NEW_ARRAY(c->g->arena, int64_t, (size_t)w->out[d]);
	for (int64_t i = 0; i < w->out[d]; i++) {
		n[i] = with_padding ? covered(w, d, i, 0, end + w->said[d])
				    : covered(w, d, i, w->before[d], end);
		same &= n[i] == n[0];
	}
	*shape = w->out[d];
	return same ? hn_graph_scalar(c->g, HN_I64, (double)n[0])
		    : hn_along(c->g,
			       hn_graph_const(c->g, c->g->at, HN_I64, 1, shape, n, false),
			       d, w->n);
}

/* By how much sums of windows are divided: a constant of the spatial shape, or one number. */
static int32_t counts(const struct hn_gcall *c, const struct hn_window *w,
		      bool with_padding)
{
	int32_t product = hn_graph_scalar(c->g, HN_I64, 1);

	for (uint32_t d = 0; d < w->n; d++) {
		product = hn_graph_2(c->g, "Mul", product,
				     counts_along(c, w, d, with_padding));
	}
	return product;
}

int32_t hn_avgpool_expand(const struct hn_gcall *c)
{
	bool with_padding = hn_gattr_int(c->node, "count_include_pad", 0) != 0;
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int32_t sum, n;
	struct hn_window w;
	double one;

	if (!hn_window_read(c, x, NULL, &w)) {
		return HN_BAD;
	}
	sum = pool(c, hn_widened(c->g, hn_gcall_arg(c, 0)), &w, false);
	n = counts(c, &w, with_padding);
	if (sum < 0 || n < 0) {
		return HN_BAD;
	}
	if (hn_gvalue_elements(&c->g->value[n]) == 1 &&
	    hn_gvalue_number(&c->g->value[n], 0, &one)) {
		sum = hn_scaled(c->g, sum, 1 / one);
	} else {
		sum = hn_graph_2(c->g, "div", sum,
				 hn_cast_to(c->g, n, c->g->value[sum].dtype));
	}
	return hn_cast_to(c->g, sum, x->dtype);
}

/* (sum of |x|^p)^(1/p) */
int32_t hn_lppool_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	double p = (double)hn_gattr_int(c->node, "p", 2);
	struct hn_window w;
	int32_t v;

	if (p < 1 || !hn_is_float(x)) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "LpPool: p %g of %s", p,
				     hn_dtype_name(x->dtype));
	}
	if (!hn_window_read(c, x, NULL, &w)) {
		return HN_BAD;
	}
	v = hn_power(c->g, hn_graph_1(c->g, "Abs", hn_widened(c->g, hn_gcall_arg(c, 0))),
		     p);
	v = hn_power(c->g, pool(c, v, &w, false), 1 / p);
	return hn_cast_to(c->g, v, x->dtype);
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
