/* graph/op/arithmetic.c -- element-wise operators that are written by others. */
#include <math.h>
#include <string.h>

#include "graph/op/dtype.h"
#include "graph/op/rows.h"

int32_t hn_identity_expand(const struct hn_gcall *c)
{
	return hn_gcall_arg(c, 0);
}

/* At inference nothing is dropped; the mask is all true. */
int32_t hn_dropout_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	static const bool kept = true;

	if (c->node->n_out > 1) {
		c->out[1] = hn_graph_const(c->g, c->g->at, HN_BOOL, x->rank, x->shape, &kept, true);
	}
	return hn_gcall_arg(c, 0);
}

int32_t hn_cast_expand(const struct hn_gcall *c)
{
	int64_t to = hn_gattr_int(c->node, "to", 0);
	enum hn_dtype t = hn_dtype_of_onnx(to);
	struct hn_gattr attr = hn_gattr_of_int(c->g->arena, "to", t);

	if (t == HN_N_DTYPE) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "Cast to ONNX's type %lld",
				     (long long)to);
	}
	return t == hn_gcall_in(c, 0)->dtype
		       ? hn_gcall_arg(c, 0)
		       : hn_graph_add(c->g, "cast", 1, c->node->in, 1, &attr);
}

static bool is_float(const struct hn_gvalue *v)
{
	return hn_dtype_class(v->dtype) == HN_CLASS_FLOAT;
}

int32_t hn_div_expand(const struct hn_gcall *c)
{
	return hn_graph_2(c->g, is_float(hn_gcall_in(c, 0)) ? "div" : "div_towards_zero",
			  hn_gcall_arg(c, 0), hn_gcall_arg(c, 1));
}

/* Powers that exporters write for something simpler. */
int32_t hn_pow_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *y = hn_gcall_in(c, 1);
	int32_t base = hn_gcall_arg(c, 0), exponent = hn_gcall_arg(c, 1);
	double e;

	if (hn_gvalue_elements(y) == 1 && y->rank <= x->rank && hn_gvalue_number(y, 0, &e)) {
		if (e == 1) {
			return base;
		}
		if (e == 2 || e == 3) {
			int32_t square = hn_graph_2(c->g, "Mul", base, base);

			return e == 2 ? square : hn_graph_2(c->g, "Mul", square, base);
		}
		if (e == 0.5 && is_float(x)) {
			return hn_graph_1(c->g, "Sqrt", base);
		}
	}
	if (!is_float(x)) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "Pow of %s",
				     hn_dtype_name(x->dtype));
	}
	if (y->dtype != x->dtype) {
		struct hn_gattr to = hn_gattr_of_int(c->g->arena, "to", x->dtype);

		exponent = hn_graph_add(c->g, "cast", 1, &exponent, 1, &to);
	}
	return hn_graph_2(c->g, "pow", base, exponent);
}

/* Min, Max and Sum of any number of operands. */
int32_t hn_variadic_expand(const struct hn_gcall *c)
{
	static const char *const binary[][2] = { { "Min", "minimum" },
						 { "Max", "maximum" },
						 { "Sum", "Add" } };
	const char *op = "";
	int32_t v = hn_gcall_arg(c, 0);

	for (size_t i = 0; i < HN_COUNT_OF(binary); i++) {
		op = strcmp(binary[i][0], c->node->op->name) == 0 ? binary[i][1] : op;
	}
	for (uint32_t i = 1; i < c->node->n_in; i++) {
		v = hn_graph_2(c->g, op, v, c->node->in[i]);
	}
	return v;
}

int32_t hn_mean_expand(const struct hn_gcall *c)
{
	int32_t sum = hn_graph_add(c->g, "Sum", c->node->n_in, c->node->in, 0, NULL);
	int32_t n = hn_graph_scalar(c->g, hn_gcall_in(c, 0)->dtype, c->node->n_in);

	return c->node->n_in == 1 ? sum : hn_graph_2(c->g, "Div", sum, n);
}

/* A bound is an operand since version 11, and an attribute before. */
static int32_t bound(const struct hn_gcall *c, uint32_t i, const char *name)
{
	const struct hn_gattr *a = hn_gattr_find(c->node, name);

	return c->g->opset >= 11 ? hn_gcall_arg(c, i)
	       : a != NULL	 ? hn_graph_scalar(c->g, hn_gcall_in(c, 0)->dtype,
						   hn_gattr_float(c->node, name, 0))
				 : HN_NONE;
}

int32_t hn_clip_expand(const struct hn_gcall *c)
{
	int32_t low = bound(c, 1, "min"), high = bound(c, 2, "max"), v = hn_gcall_arg(c, 0);

	v = low == HN_NONE ? v : hn_graph_2(c->g, "maximum", v, low);
	return high == HN_NONE ? v : hn_graph_2(c->g, "minimum", v, high);
}

static int32_t scaled(struct hn_graph *g, int32_t v, double by)
{
	return v < 0 ? v
		     : hn_graph_2(g, "Mul", v, hn_graph_scalar(g, g->value[v].dtype, by));
}

static int32_t plus(struct hn_graph *g, int32_t v, double more)
{
	return v < 0 ? v
		     : hn_graph_2(g, "Add", v, hn_graph_scalar(g, g->value[v].dtype, more));
}

/* x (1 + erf(x / sqrt 2)) / 2, or with tanh(sqrt(2 / pi) (x + 0.044715 x^3)) in the place of erf. */
int32_t hn_gelu_expand(const struct hn_gcall *c)
{
	const char *how = hn_gattr_string(c->node, "approximate", "none");
	struct hn_graph *g = c->g;
	int32_t x = hn_gcall_arg(c, 0), inner;

	if (strcmp(how, "tanh") == 0) {
		int32_t cube = hn_graph_2(g, "Mul", hn_graph_2(g, "Mul", x, x), x);

		inner = hn_graph_2(g, "Add", x, scaled(g, cube, 0.044715));
		inner = hn_graph_1(g, "Tanh", scaled(g, inner, sqrt(2 / M_PI)));
	} else {
		inner = hn_graph_1(g, "Erf", scaled(g, x, sqrt(0.5)));
	}
	return hn_graph_2(g, "Mul", scaled(g, x, 0.5), plus(g, inner, 1));
}
