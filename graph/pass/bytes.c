/* graph/pass/bytes.c -- values that are 8-bit integers with a scale. */
#include "graph/pass/bytes.h"

#include <math.h>
#include <string.h>

#include "graph/ir/op.h"
#include "graph/op/build.h"
#include "graph/op/quant.h"
#include "graph/pass/pass.h"

bool hn_is_byte(enum hn_dtype t)
{
	return t == HN_U8 || t == HN_I8;
}

double hn_bytes_least(enum hn_dtype t)
{
	return t == HN_I8 ? -128 : 0;
}

double hn_bytes_most(enum hn_dtype t)
{
	return t == HN_I8 ? 127 : 255;
}

bool hn_bytes_of(const struct hn_graph *g, int32_t v, struct hn_bytes *ret)
{
	const struct hn_gnode *n = hn_pass_made_by(g, v, "dequantize");

	if (n == NULL || !hn_is_byte(g->value[n->in[0]].dtype)) {
		return false;
	}
	*ret = (struct hn_bytes){ n->in[0], n->in[1], n->in[2] };
	return g->value[ret->q].rank == g->value[v].rank;
}

bool hn_bytes_uniform(const struct hn_graph *g, int32_t v, struct hn_bytes *ret)
{
	double zero, scale;

	return hn_bytes_of(g, v, ret) && hn_pass_number(g, ret->zero, &zero) &&
	       hn_pass_number(g, ret->scale, &scale) && scale > 0 && isfinite(scale) &&
	       zero >= hn_bytes_least(g->value[ret->q].dtype) &&
	       zero <= hn_bytes_most(g->value[ret->q].dtype);
}

int32_t hn_bytes_value(struct hn_graph *g, const struct hn_bytes *x, int32_t q)
{
	return hn_quant_value(g, q, x->zero, x->scale);
}

static int32_t less_128(struct hn_graph *g, int32_t v)
{
	return hn_plus(g, hn_cast_to(g, v, HN_I32), -128);
}

/* Bytes move as they are, so the sign may be changed in front of a move. */
static int32_t as_signed(struct hn_graph *g, int32_t q)
{
	const struct hn_gnode *cast = hn_pass_made_by(g, q, "cast"), *n, *move;
	double zero;

	n = cast != NULL ? hn_pass_made_by(g, cast->in[0], "quantize") : NULL;
	if (n != NULL && hn_pass_number(g, n->in[1], &zero)) {
		int32_t less = hn_graph_operand(g, hn_graph_scalar(g, HN_I8, zero - 128));

		return hn_cast_to(g, hn_graph_2(g, "quantize", n->in[0], less), HN_I8);
	}
	move = hn_pass_made_by(g, q, "transpose");
	move = move != NULL ? move : hn_pass_made_by(g, q, "reshape");
	if (move != NULL) {
		const struct hn_gnode m = *move; /* nodes move when others are added */
		int32_t from = as_signed(g, m.in[0]);

		return hn_graph_add(g, m.op->name, 1, &from, m.n_attr, m.attr);
	}
	return hn_cast_to(g, less_128(g, q), HN_I8);
}

void hn_bytes_make_signed(struct hn_graph *g, struct hn_bytes *x)
{
	if (g->value[x->q].dtype == HN_U8) {
		x->q = as_signed(g, x->q);
		x->zero = less_128(g, x->zero);
	}
}
