/* graph/akg/complex.c -- complex numbers, whose two parts lie side by side in a last dimension. */
#include "graph/akg/rows.h"
#include "graph/op/build.h"

/* A part is HN_NONE where it is 0 for all elements. */
struct number {
	int32_t re, im;
};

static struct number number_of(struct hn_akg_call *c, uint32_t i)
{
	return !c->op->in[i].is_complex
		       ? (struct number){ c->in[i], HN_NONE }
		       : (struct number){ hn_akg_part(c->g, c->in[i], 0), hn_akg_part(c->g, c->in[i], 1) };
}

static int32_t times(struct hn_graph *g, int32_t x, int32_t y)
{
	return x == HN_NONE || y == HN_NONE ? HN_NONE : hn_graph_2(g, "Mul", x, y);
}

static int32_t plus(struct hn_graph *g, int32_t x, int32_t y)
{
	return x == HN_NONE ? y : y == HN_NONE ? x : hn_graph_2(g, "Add", x, y);
}

static int32_t minus(struct hn_graph *g, int32_t x, int32_t y)
{
	return y == HN_NONE   ? x
	       : x == HN_NONE ? hn_graph_1(g, "Neg", y)
			      : hn_graph_2(g, "Sub", x, y);
}

/* Real numbers are complex ones whose other part is 0. */
static int32_t pair(struct hn_graph *g, struct number v)
{
	if (v.im == HN_NONE && v.re >= 0) {
		v.im = hn_akg_filled(g, (enum hn_dtype)g->value[v.re].dtype, g->value[v.re].rank,
				     g->value[v.re].shape, 0);
	}
	return hn_akg_pair(g, v.re, v.im);
}

static bool is_real(const struct hn_akg_call *c)
{
	return !c->op->out[0].is_complex && !c->op->in[0].is_complex && !c->op->in[1].is_complex;
}

void hn_akg_mul(struct hn_akg_call *c)
{
	if (is_real(c)) {
		hn_akg_binary(c);
		return;
	}
	struct number x = number_of(c, 0), y = number_of(c, 1), z;

	z.re = minus(c->g, times(c->g, x.re, y.re), times(c->g, x.im, y.im));
	z.im = plus(c->g, times(c->g, x.re, y.im), times(c->g, x.im, y.re));
	c->out[0] = pair(c->g, z);
}

/* Integers become the float that the file says, and are else divided towards zero. */
static void real_div(struct hn_akg_call *c)
{
	enum hn_dtype to = (enum hn_dtype)c->op->out[0].dtype;
	int32_t in[2] = { c->in[0], c->in[1] };
	struct hn_akg_call as = *c;

	for (uint32_t k = 0; k < 2 && hn_dtype_class(to) == HN_CLASS_FLOAT; k++) {
		in[k] = hn_is_float(hn_akg_in(c, k)) ? in[k] : hn_cast_to(c->g, in[k], to);
	}
	as.in = in;
	if (!c->g->failed) {
		hn_akg_binary(&as);
	}
}

void hn_akg_div(struct hn_akg_call *c)
{
	if (is_real(c)) {
		real_div(c);
		return;
	}
	struct number x = number_of(c, 0), y = number_of(c, 1), z;
	int32_t square = plus(c->g, times(c->g, y.re, y.re), times(c->g, y.im, y.im));

	z.re = plus(c->g, times(c->g, x.re, y.re), times(c->g, x.im, y.im));
	z.im = minus(c->g, times(c->g, x.im, y.re), times(c->g, x.re, y.im));
	z.re = hn_graph_2(c->g, "Div", z.re, square);
	z.im = z.im == HN_NONE ? HN_NONE : hn_graph_2(c->g, "Div", z.im, square);
	c->out[0] = pair(c->g, z);
}

void hn_akg_complex(struct hn_akg_call *c)
{
	if (c->op->in[0].is_complex || c->op->in[1].is_complex) {
		hn_graph_fail(c->g, HONE_E_INVALID, "of complex numbers");
		return;
	}
	c->out[0] = hn_akg_pair(c->g, hn_cast_to(c->g, c->in[0], (enum hn_dtype)c->op->out[0].dtype),
				hn_cast_to(c->g, c->in[1], (enum hn_dtype)c->op->out[0].dtype));
}

void hn_akg_part_of(struct hn_akg_call *c)
{
	if (!c->op->in[0].is_complex) {
		hn_graph_fail(c->g, HONE_E_INVALID, "of real numbers");
		return;
	}
	c->out[0] = hn_akg_part(c->g, c->in[0], *c->row->as != '\0' ? 1 : 0);
}
