/* graph/op/reduce.c -- reductions over whole dimensions.
 *
 * `reduce` has the attributes axes (ascending), keepdims, and how: the sign of hone's text notation
 * ("+=!", "max=!", ..).
 */
#include <stdio.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"
#include "graph/op/sum.h"

struct hn_reduce_row {
	const char *op;	    /* ONNX's name, behind "Reduce" */
	const char *before; /* of each element first */
	const char *sign;
	const char *after; /* of the result */
};

/* What ONNX's reductions are made of. "Mean" divides by the number of elements, too. */
static const struct hn_reduce_row rows[] = {
	{ "Mean", NULL, "+=!", "mean" },   { "Sum", NULL, "+=!", NULL },
	{ "Max", NULL, "max=!", NULL },	   { "Min", NULL, "min=!", NULL },
	{ "Prod", NULL, "*=!", NULL },	   { "L1", "Abs", "+=!", NULL },
	{ "L2", "square", "+=!", "Sqrt" }, { "SumSquare", "square", "+=!", NULL },
	{ "LogSum", NULL, "+=!", "Log" },  { "LogSumExp", "Exp", "+=!", "Log" },
};

/* Axes in order, each once; all of them where none are named. */
static bool read_axes(const struct hn_gcall *c, const struct hn_gvalue *x, uint32_t n,
		      const int64_t *from, uint32_t *ret_n, int64_t *ret)
{
	bool in[HN_GRAPH_MAX_RANK] = { false };

	for (uint32_t i = 0; i < n; i++) {
		uint32_t d;

		if (!hn_gcall_axis(c, from[i], x->rank, &d)) {
			return false;
		}
		in[d] = true;
	}
	*ret_n = 0;
	for (uint32_t d = 0; d < x->rank; d++) {
		if (n == 0 || in[d]) {
			ret[(*ret_n)++] = d;
		}
	}
	return true;
}

/* Of integers the mean is cut towards zero. */
static int32_t mean_of(struct hn_graph *g, int32_t sum, double count)
{
	return sum < 0 ? sum
	       : hn_is_float(&g->value[sum]) && count > 0
		       ? hn_scaled(g, sum, 1 / count)
		       : hn_graph_2(g, "Div", sum,
				    hn_graph_scalar(g, g->value[sum].dtype, count));
}

static int32_t apply(struct hn_graph *g, const char *op, int32_t v, double count)
{
	if (op == NULL || v < 0) {
		return v;
	}
	if (strcmp(op, "square") == 0) {
		return hn_graph_2(g, "Mul", v, v);
	}
	return strcmp(op, "mean") == 0 ? mean_of(g, v, count) : hn_graph_1(g, op, v);
}

static double count_of(const struct hn_gvalue *x, uint32_t n, const int64_t *axes)
{
	double count = 1;

	for (uint32_t i = 0; i < n; i++) {
		count *= (double)x->shape[axes[i]];
	}
	return count;
}

/* log(sum(exp(x - max))) + max: no power leaves the type. */
static int32_t log_sum_exp(struct hn_graph *g, int32_t v, uint32_t n, const int64_t *axes,
			   bool keep)
{
	int32_t most, power, sum;
	const struct hn_gvalue *x = &g->value[v];
	struct hn_gvalue to;

	most = hn_reduced(g, v, "max=!", n, axes, true);
	if (most < 0 || hn_gvalue_elements(x) == 0) {
		return hn_graph_1(g, "Log", hn_reduced(g, v, "+=!", n, axes, keep));
	}
	power = hn_graph_1(g, "Exp", hn_graph_2(g, "Sub", v, most));
	sum = hn_graph_1(g, "Log", hn_reduced(g, power, "+=!", n, axes, keep));
	if (sum < 0) {
		return sum;
	}
	to = g->value[sum];
	return hn_graph_2(g, "Add", sum, hn_reshaped(g, most, to.rank, to.shape));
}

static int32_t reduce(struct hn_graph *g, const struct hn_reduce_row *row, int32_t v,
		      uint32_t n, const int64_t *axes, bool keep)
{
	double count = v < 0 ? 0 : count_of(&g->value[v], n, axes);

	if (strcmp(row->op, "LogSumExp") == 0 && n > 0 && v >= 0) {
		return log_sum_exp(g, v, n, axes, keep);
	}
	v = apply(g, row->before, v, count);
	v = n > 0 && v >= 0 ? hn_reduced(g, v, row->sign, n, axes, keep) : v;
	return apply(g, row->after, v, count);
}

int32_t hn_reduce_expand(const struct hn_gcall *c)
{
	const char *name = c->node->op->name + strlen("Reduce");
	int64_t since = strcmp(name, "Sum") == 0 ? 13 : 18, axes[HN_GRAPH_MAX_RANK];
	bool keep = hn_gattr_int(c->node, "keepdims", 1) != 0;
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	const struct hn_reduce_row *row = NULL;
	const int64_t *given;
	uint32_t n;
	int32_t v;

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		row = strcmp(rows[i].op, name) == 0 ? &rows[i] : row;
	}
	if (!hn_gcall_list(c, "axes", since, 1, &n, &given)) {
		return HN_BAD;
	}
	if ((n != 0 || hn_gattr_int(c->node, "noop_with_empty_axes", 0) == 0) &&
	    !read_axes(c, x, n, given, &n, axes)) {
		return HN_BAD;
	}
	v = hn_widened(c->g, hn_gcall_arg(c, 0));
	v = x->dtype == HN_BOOL ? hn_cast_to(c->g, v, HN_U8) : v; /* Max: or; Min: and */
	return hn_cast_to(c->g, reduce(c->g, row, v, n, axes, keep), x->dtype);
}

static bool global_axes(const struct hn_gcall *c, uint32_t *ret_n, int64_t *axes)
{
	uint32_t rank = hn_gcall_in(c, 0)->rank;

	if (rank < 3 || !hn_is_float(hn_gcall_in(c, 0))) {
		hn_graph_fail(c->g, HONE_E_INVALID, "%s of %u dimensions, %s",
			      c->node->op->name, rank,
			      hn_dtype_name(hn_gcall_in(c, 0)->dtype));
		return false;
	}
	*ret_n = hn_axes_from(2, rank, axes);
	return true;
}

int32_t hn_globalpool_expand(const struct hn_gcall *c)
{
	bool max = strcmp(c->node->op->name, "GlobalMaxPool") == 0;
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t axes[HN_GRAPH_MAX_RANK];
	uint32_t n;
	int32_t v;

	if (!global_axes(c, &n, axes)) {
		return HN_BAD;
	}
	v = max ? hn_gcall_arg(c, 0) : hn_widened(c->g, hn_gcall_arg(c, 0));
	v = hn_reduced(c->g, v, max ? "max=!" : "+=!", n, axes, true);
	return max ? v
		   : hn_cast_to(c->g, mean_of(c->g, v, count_of(x, n, axes)), x->dtype);
}

int32_t hn_global_lppool_expand(const struct hn_gcall *c)
{
	double p = (double)hn_gattr_int(c->node, "p", 2);
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t axes[HN_GRAPH_MAX_RANK];
	uint32_t n;
	int32_t v;

	if (!global_axes(c, &n, axes)) {
		return HN_BAD;
	}
	v = hn_power(c->g, hn_graph_1(c->g, "Abs", hn_widened(c->g, hn_gcall_arg(c, 0))),
		     p);
	v = hn_power(c->g, hn_reduced(c->g, v, "+=!", n, axes, true), 1 / p);
	return hn_cast_to(c->g, v, x->dtype);
}

static bool is_reduced(const struct hn_gnode *n, uint32_t d)
{
	const struct hn_gattr *axes = hn_gattr_find(n, "axes");

	for (uint32_t i = 0; i < axes->n; i++) {
		if (axes->i[i] == d) {
			return true;
		}
	}
	return false;
}

/* Bytes are added up as int32 (sum.h). */
static enum hn_dtype sum_type(const struct hn_gnode *n, enum hn_dtype t)
{
	return *hn_gattr_string(n, "how", "+=!") == '+' ? hn_sum_result(n, t, t) : t;
}

bool hn_reduce_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	bool keep = hn_gattr_int(c->node, "keepdims", 1) != 0;

	*ret = (struct hn_gshape){ .dtype = (uint8_t)sum_type(c->node, x->dtype) };
	for (uint32_t d = 0; d < x->rank; d++) {
		bool reduced = is_reduced(c->node, d);

		if (!reduced || keep) {
			ret->dim[ret->rank++] = reduced ? 1 : x->shape[d];
		}
	}
	return true;
}

/* The signs of hone's notation begin with the largest finite number; what is all infinite stays so
 * in ONNX. */
static void put_reduction(struct hn_say *s, const struct hn_gnode *n,
			  const hn_say_index *from)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]], *y = &s->g->value[n->out[0]];
	const char *sign = hn_gattr_string(n, "how", "+=!");
	bool extreme = *sign == 'm' && hn_is_float(x), max = sign[1] == 'a';

	hn_say_text(s, extreme ? " reduce=! " : " %s ", sign);
	if (x->dtype != y->dtype) {
		hn_say_text(s, "%s(", hn_dtype_name(y->dtype));
	}
	hn_say_load(s, n->in[0], from);
	if (x->dtype != y->dtype) {
		hn_say_text(s, ")");
	}
	if (extreme) {
		hn_say_text(s, " by (x), (y) -> %s(x, y) from %sinf", max ? "max" : "min",
			    max ? "-" : "");
	}
}

void hn_reduce_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]], *y = &s->g->value[n->out[0]];
	bool keep = hn_gattr_int(n, "keepdims", 1) != 0;
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];
	uint32_t k = 0;

	hn_say_indices(index, y->rank);
	for (uint32_t d = 0; d < x->rank; d++) {
		bool reduced = is_reduced(n, d);

		snprintf(from[d], sizeof(from[d]), reduced ? "r%u" : "i%u",
			 reduced ? d : k);
		k += !reduced || keep;
	}
	hn_say_left(s, n->out[0], index);
	put_reduction(s, n, from);
	hn_say_where(s, n->out[0], index);
	for (uint32_t d = 0; d < x->rank; d++) {
		if (is_reduced(n, d)) {
			hn_say_range(s, from[d], x->shape[d]);
		}
	}
	hn_say_end(s);
}
