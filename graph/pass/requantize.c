/* graph/pass/requantize.c -- quantizing takes what is in front of it in: the division by its scale
 * goes into factors that are known, bounds that cutting to bytes implies are dropped, and what
 * moves elements moves bytes.  Bytes that are quantized as they were are themselves. */
#include <math.h>
#include <string.h>

#include "graph/ir/op.h"
#include "graph/op/build.h"
#include "graph/pass/bytes.h"
#include "graph/pass/pass.h"

#define DEEPEST 8 /* operators that a division is moved over */

/* -- the division ------------------------------------------------------------------------- */

/* What becomes of y / s, s a positive number. */
enum way {
	STAYS,
	INTO_FIRST,  /* operand 0 is divided */
	INTO_SCALE,  /* operand 2 */
	INTO_KNOWN,  /* the one operand that is constant */
	INTO_ALL,
	MOVES,	     /* all are, if need be by nodes of their own */
};

static const struct {
	const char *op;
	enum way way;
} ways[] = {
	{ "dequantize", INTO_SCALE }, { "Mul", INTO_KNOWN },   { "div", INTO_FIRST },
	{ "Relu", INTO_FIRST },	      { "LeakyRelu", INTO_FIRST }, { "Add", INTO_ALL },
	{ "Sub", INTO_ALL },	      { "minimum", INTO_ALL }, { "maximum", INTO_ALL },
	{ "reshape", MOVES },	      { "transpose", MOVES },  { "concat", MOVES },
	{ "slice", MOVES },
};

static enum way way_of(const struct hn_gnode *n)
{
	for (size_t i = 0; i < HN_COUNT_OF(ways); i++) {
		if (strcmp(ways[i].op, n->op->name) == 0) {
			return ways[i].way;
		}
	}
	return STAYS;
}

static bool is_known(const struct hn_graph *g, int32_t v)
{
	return g->value[v].data != NULL;
}

/* Whether operand i of a node is divided, so that its result is. */
static bool is_divided(const struct hn_graph *g, const struct hn_gnode *n, enum way way,
		       uint32_t i)
{
	switch (way) {
	case INTO_FIRST:
		return i == 0;
	case INTO_SCALE:
		return i == 2;
	case INTO_KNOWN:
		return is_known(g, n->in[i]) && (i == 0 || !is_known(g, n->in[0]));
	case MOVES:
	case INTO_ALL:
		return true;
	default:
		return false;
	}
}

/* v / s without a division at run time; HN_NONE: there is no such thing. */
static int32_t over(struct hn_graph *g, int32_t v, int32_t s, uint32_t depth)
{
	int32_t *in, node = v >= 0 ? g->value[v].node : -1;
	struct hn_gnode n;
	bool any = false;
	enum way way;

	if (v >= 0 && is_known(g, v)) {
		return hn_graph_2(g, "div", v, s);
	}
	if (node < 0 || depth == 0) {
		return HN_NONE;
	}
	n = g->node[node]; /* nodes move when others are added */
	way = way_of(&n);
	in = HN_NEW_ARRAY(g->arena, int32_t, n.n_in);
	for (uint32_t i = 0; i < n.n_in; i++) {
		in[i] = n.in[i];
		if (!is_divided(g, &n, way, i)) {
			continue;
		}
		any = true;
		in[i] = over(g, n.in[i], s, depth - 1);
		if (in[i] == HN_NONE && way == MOVES) {
			in[i] = hn_graph_2(g, "div", n.in[i], s);
		}
		if (in[i] < 0) {
			return in[i];
		}
	}
	return any ? hn_graph_add(g, n.op->name, n.n_in, in, n.n_attr, n.attr) : HN_NONE;
}

int32_t hn_pass_rescale(struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_gnode *div = hn_pass_made_by(g, n->in[0], "div");
	int32_t v;
	double s;

	if (div == NULL || !hn_pass_number(g, div->in[1], &s) || !(s > 0) || !isfinite(s)) {
		return HN_NONE;
	}
	v = over(g, div->in[0], div->in[1], DEEPEST);
	return v < 0 ? v : hn_graph_2(g, "quantize", v, n->in[1]);
}

/* -- what is cut to bytes ----------------------------------------------------------------- */

/* round(value) + zero, cut to the type. */
struct cut {
	int32_t value, zero_value;
	double zero;
	enum hn_dtype t;
};

static int32_t bytes_of(struct hn_graph *g, const struct cut *c, int32_t value)
{
	return hn_cast_to(g, hn_graph_2(g, "quantize", value, c->zero_value), c->t);
}

/* What is there without bounds outside of what bytes hold; HN_NONE: there are none. */
static int32_t unbounded(const struct hn_graph *g, const struct cut *c)
{
	static const struct {
		const char *op;
		bool low;
	} bounds[] = { { "Relu", true }, { "maximum", true }, { "minimum", false } };
	double least = hn_bytes_least(c->t) - c->zero, most = hn_bytes_most(c->t) - c->zero;

	for (size_t i = 0; i < HN_COUNT_OF(bounds); i++) {
		const struct hn_gnode *n = hn_pass_made_by(g, c->value, bounds[i].op);

		for (uint32_t k = 0; n != NULL && k < n->n_in; k++) {
			double by = 0;

			if ((n->n_in == 1 || hn_pass_number(g, n->in[1 - k], &by)) &&
			    g->value[n->in[k]].rank == g->value[c->value].rank &&
			    (bounds[i].low ? by <= least : by >= most)) {
				return n->in[k];
			}
		}
	}
	return HN_NONE;
}

/* Bytes of the same type, scale and zero point. */
static int32_t as_they_were(const struct hn_graph *g, const struct cut *c)
{
	struct hn_bytes x;
	double zero, scale;

	return hn_bytes_uniform(g, c->value, &x) && g->value[x.q].dtype == c->t &&
			       hn_pass_number(g, x.zero, &zero) && zero == c->zero &&
			       hn_pass_number(g, x.scale, &scale) && scale == 1
		       ? x.q
		       : HN_NONE;
}

/* What only moves elements moves bytes. */
static int32_t behind_move(struct hn_graph *g, const struct cut *c)
{
	int32_t *in, node = g->value[c->value].node;
	struct hn_gnode n;

	if (node < 0 || way_of(&g->node[node]) != MOVES) {
		return HN_NONE;
	}
	n = g->node[node];
	in = HN_NEW_ARRAY(g->arena, int32_t, n.n_in);
	for (uint32_t i = 0; i < n.n_in; i++) {
		in[i] = bytes_of(g, c, n.in[i]);
	}
	return hn_graph_add(g, n.op->name, n.n_in, in, n.n_attr, n.attr);
}

int32_t hn_pass_requantize(struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_gnode *quantize = hn_pass_made_by(g, n->in[0], "quantize");
	struct cut c = { .t = (enum hn_dtype)hn_gattr_int(n, "to", 0) };
	int32_t v;

	if (quantize == NULL || !hn_is_byte(c.t) ||
	    !hn_pass_number(g, quantize->in[1], &c.zero) ||
	    g->value[quantize->in[0]].rank != g->value[n->in[0]].rank) {
		return HN_NONE;
	}
	c.value = quantize->in[0];
	c.zero_value = quantize->in[1];
	v = as_they_were(g, &c);
	if (v == HN_NONE && (v = unbounded(g, &c)) != HN_NONE) {
		return bytes_of(g, &c, v);
	}
	return v != HN_NONE ? v : behind_move(g, &c);
}
