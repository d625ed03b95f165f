/* graph/op/reduce.c -- reductions over whole dimensions.
 *
 * `reduce` has the attributes axes (ascending), keepdims, and how: the sign of hone's text notation
 * ("+=!", "max=!", ..).
 */
#include <stdio.h>
#include <string.h>

#include "graph/op/rows.h"

struct hn_reduce_row {
	const char *op;	    /* ONNX's name, behind "Reduce" */
	const char *before; /* of each element first */
	const char *sign;
	const char *after; /* of the result */
};

/* What ONNX's reductions are made of. "Mean" divides by the number of elements, too. */
static const struct hn_reduce_row rows[] = {
	{ "Mean", NULL, "+=!", "mean" }, { "Sum", NULL, "+=!", NULL },
	{ "Max", NULL, "max=!", NULL },	 { "Min", NULL, "min=!", NULL },
	{ "Prod", NULL, "*=!", NULL },	 { "L1", "Abs", "+=!", NULL },
	{ "L2", "square", "+=!", "Sqrt" }, { "SumSquare", "square", "+=!", NULL },
	{ "LogSum", NULL, "+=!", "Log" },  { "LogSumExp", "Exp", "+=!", "Log" },
};

static int32_t reduce(struct hn_graph *g, int32_t v, const char *sign, uint32_t n,
		      const int64_t *axes, bool keep)
{
	struct hn_gattr attr[] = { hn_gattr_of_ints("axes", n, axes),
				   hn_gattr_of_int(g->arena, "keepdims", keep),
				   { .name = "how", .kind = HN_GATTR_STRING, .s = sign } };

	return hn_graph_add(g, "reduce", 1, &v, 3, attr);
}

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

static int32_t apply(struct hn_graph *g, const char *op, int32_t v, double count)
{
	if (op == NULL || v < 0) {
		return v;
	}
	if (strcmp(op, "square") == 0) {
		return hn_graph_2(g, "Mul", v, v);
	}
	if (strcmp(op, "mean") == 0) {
		return hn_graph_2(g, "Mul", v, hn_graph_scalar(g, g->value[v].dtype, 1 / count));
	}
	return hn_graph_1(g, op, v);
}

int32_t hn_reduce_expand(const struct hn_gcall *c)
{
	const char *name = c->node->op->name + strlen("Reduce");
	int64_t since = strcmp(name, "Sum") == 0 ? 13 : 18;
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t axes[HN_GRAPH_MAX_RANK];
	const struct hn_reduce_row *row = NULL;
	const int64_t *given;
	uint32_t n;
	double count = 1;
	int32_t v = hn_gcall_arg(c, 0);

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		row = strcmp(rows[i].op, name) == 0 ? &rows[i] : row;
	}
	if (!hn_gcall_list(c, "axes", since, 1, &n, &given)) {
		return HN_BAD;
	}
	if (n == 0 && hn_gattr_int(c->node, "noop_with_empty_axes", 0) != 0) {
		n = 0;
	} else if (!read_axes(c, x, n, given, &n, axes)) {
		return HN_BAD;
	}
	for (uint32_t i = 0; i < n; i++) {
		count *= (double)x->shape[axes[i]];
	}
	v = apply(c->g, row->before, v, count);
	if (n > 0) {
		v = reduce(c->g, v, row->sign, n, axes,
			   hn_gattr_int(c->node, "keepdims", 1) != 0);
	}
	return apply(c->g, row->after, v, count);
}

int32_t hn_globalpool_expand(const struct hn_gcall *c)
{
	bool max = strcmp(c->node->op->name, "GlobalMaxPool") == 0;
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t axes[HN_GRAPH_MAX_RANK];
	double count = 1;
	int32_t v;

	if (x->rank < 3) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "%s of %u dimensions",
				     c->node->op->name, x->rank);
	}
	for (uint32_t d = 2; d < x->rank; d++) {
		axes[d - 2] = d;
		count *= (double)x->shape[d];
	}
	v = reduce(c->g, hn_gcall_arg(c, 0), max ? "max=!" : "+=!", x->rank - 2, axes, true);
	return max ? v : apply(c->g, "mean", v, count);
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

bool hn_reduce_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	bool keep = hn_gattr_int(c->node, "keepdims", 1) != 0;

	*ret = (struct hn_gshape){ .dtype = x->dtype };
	for (uint32_t d = 0; d < x->rank; d++) {
		bool reduced = is_reduced(c->node, d);

		if (!reduced || keep) {
			ret->dim[ret->rank++] = reduced ? 1 : x->shape[d];
		}
	}
	return true;
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

		snprintf(from[d], sizeof(from[d]), reduced ? "r%u" : "i%u", reduced ? d : k);
		k += !reduced || keep;
	}
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " %s ", hn_gattr_string(n, "how", "+=!"));
	hn_say_load(s, n->in[0], from);
	hn_say_where(s, n->out[0], index);
	for (uint32_t d = 0; d < x->rank; d++) {
		if (is_reduced(n, d)) {
			hn_say_range(s, from[d], x->shape[d]);
		}
	}
	hn_say_end(s);
}
