/* graph/op/arithmetic.c -- element-wise operators that are written by others. */
#include <math.h>
#include <string.h>

#include "graph/op/build.h"
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
	int64_t training;

	if (hn_gcall_in(c, 2) != NULL &&
	    (!hn_gvalue_int(hn_gcall_in(c, 2), 0, &training) || training != 0)) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "Dropout for training");
	}
	if (c->node->n_out > 1) {
		c->out[1] = hn_graph_const(c->g, c->g->at, HN_BOOL, x->rank, x->shape,
					   &kept, true);
	}
	return hn_gcall_arg(c, 0);
}

int32_t hn_cast_expand(const struct hn_gcall *c)
{
	int64_t to = hn_gattr_int(c->node, "to", 0);
	enum hn_dtype t = hn_dtype_of_onnx(to);

	if (t == HN_N_DTYPE) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "Cast to ONNX's type %lld",
				     (long long)to);
	}
	return hn_cast_to(c->g, hn_gcall_arg(c, 0), t);
}

int32_t hn_castlike_expand(const struct hn_gcall *c)
{
	return hn_cast_to(c->g, hn_gcall_arg(c, 0), hn_gcall_in(c, 1)->dtype);
}

/* Whether no element of a divisor is 0 or -1, for which machines trap. */
static bool is_safe_divisor(const struct hn_gvalue *v)
{
	int64_t i, n = v->fill ? 1 : hn_gvalue_elements(v);

	for (int64_t k = 0; k < n; k++) {
		if (!hn_gvalue_int(v, k, &i) || i == 0 || i == -1) {
			return false;
		}
	}
	return true;
}

/* By 0 ONNX does not say what comes; here it is 0, and nothing stops. */
static const char *by_divisor(const struct hn_gvalue *x, const struct hn_gvalue *y,
			      const char *const names[3])
{
	return is_safe_divisor(y)			     ? names[0]
	       : hn_dtype_class(x->dtype) == HN_CLASS_SIGNED ? names[1]
							     : names[2];
}

int32_t hn_div_expand(const struct hn_gcall *c)
{
	static const char *const names[] = { "div_towards_zero", "div_signed",
					     "div_unsigned" };
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *y = hn_gcall_in(c, 1);

	return hn_graph_2(c->g, hn_is_float(x) ? "div" : by_divisor(x, y, names),
			  hn_gcall_arg(c, 0), hn_gcall_arg(c, 1));
}

/* With the divisor's sign or, with fmod, the dividend's. */
int32_t hn_mod_expand(const struct hn_gcall *c)
{
	static const char *const floor[] = { "mod", "mod_signed", "mod_unsigned" };
	static const char *const trunc[] = { "rest", "rest_signed", "mod_unsigned" };
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *y = hn_gcall_in(c, 1);
	bool is_fmod = hn_gattr_int(c->node, "fmod", 0) != 0;

	return hn_graph_2(c->g,
			  hn_is_float(x) ? (is_fmod ? "fmod" : "mod_float")
					 : by_divisor(x, y, is_fmod ? trunc : floor),
			  hn_gcall_arg(c, 0), hn_gcall_arg(c, 1));
}

/* x * 2^n, or x / 2^n. */
int32_t hn_bitshift_expand(const struct hn_gcall *c)
{
	const char *to = hn_gattr_string(c->node, "direction", "");
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int32_t two = hn_graph_scalar(c->g, HN_F64, 2), power;

	if (hn_dtype_class(x->dtype) != HN_CLASS_UNSIGNED ||
	    (strcmp(to, "LEFT") != 0 && strcmp(to, "RIGHT") != 0)) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "BitShift of %s to %s",
				     hn_dtype_name(x->dtype), to);
	}
	power = hn_graph_2(c->g, "pow", two,
			   hn_cast_to(c->g, hn_gcall_arg(c, 1), HN_F64));
	power = hn_cast_to(c->g, power, x->dtype);
	return hn_graph_2(c->g, *to == 'L' ? "Mul" : "Div", hn_gcall_arg(c, 0), power);
}

/* Of old models a slope for each channel. */
int32_t hn_prelu_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *slope = hn_gcall_in(c, 1);
	int32_t by = hn_gcall_arg(c, 1);

	if (c->g->opset < 7 && slope->rank == 1 && x->rank > 1 &&
	    slope->shape[0] == x->shape[1]) {
		by = hn_along(c->g, by, 1, x->rank);
	}
	return hn_graph_2(c->g, "prelu", hn_gcall_arg(c, 0), by);
}

static int32_t times(struct hn_graph *g, int32_t v, int32_t by)
{
	return v == HN_NONE ? by : hn_graph_2(g, "Mul", v, by);
}

/* Powers that are products, of the base and of roots: whole exponents up to 3 and, of floats,
 * their quarters.  A root takes a few cycles a vector, and pow() a call for each element.  Of 16-bit
 * floats each product would be rounded.  HN_NONE: it is none of these. */
static int32_t simple_power(struct hn_graph *g, int32_t base, const struct hn_gvalue *y)
{
	const struct hn_gvalue *x = &g->value[base];
	int32_t power = HN_NONE, root;
	double e, part;

	if (hn_gvalue_elements(y) != 1 || y->rank > x->rank || !hn_gvalue_number(y, 0, &e) ||
	    !(e > 0 && e <= 3)) {
		return HN_NONE;
	}
	part = e - floor(e);
	if (part * 4 != floor(part * 4) ||
	    (part > 0 && (!hn_is_float(x) || (e != 0.5 && hn_dtype_is_narrow(x->dtype))))) {
		return HN_NONE;
	}
	for (double n = floor(e); n > 0; n--) {
		power = times(g, power, base);
	}
	root = part > 0 ? hn_graph_1(g, "Sqrt", base) : HN_NONE;
	power = part >= 0.5 ? times(g, power, root) : power;
	return part == 0.25 || part == 0.75 ? times(g, power, hn_graph_1(g, "Sqrt", root)) : power;
}

/* Of integers in float64, which is exact up to 2^53.  The result has the base's type. */
int32_t hn_pow_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *y = hn_gcall_in(c, 1);
	int32_t simple = simple_power(c->g, hn_gcall_arg(c, 0), y);
	enum hn_dtype t = x->dtype;

	if (simple != HN_NONE) {
		return simple;
	}
	t = !hn_is_float(x) || y->dtype == HN_F64 ? HN_F64
	    : hn_is_float(y) && !hn_dtype_is_narrow(y->dtype) && hn_dtype_is_narrow(t)
		    ? HN_F32
		    : t;
	return hn_cast_to(c->g,
			  hn_graph_2(c->g, "pow", hn_cast_to(c->g, hn_gcall_arg(c, 0), t),
				     hn_cast_to(c->g, hn_gcall_arg(c, 1), t)),
			  x->dtype);
}

int32_t hn_isinf_expand(const struct hn_gcall *c)
{
	bool positive = hn_gattr_int(c->node, "detect_positive", 1) != 0;
	bool negative = hn_gattr_int(c->node, "detect_negative", 1) != 0;
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int32_t v = hn_gcall_arg(c, 0), inf;
	static const bool no = false;

	if (!hn_is_float(x)) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "IsInf of %s",
				     hn_dtype_name(x->dtype));
	}
	if (!positive && !negative) {
		return hn_graph_const(c->g, c->g->at, HN_BOOL, x->rank, x->shape, &no,
				      true);
	}
	v = positive && negative ? hn_graph_1(c->g, "Abs", v) : v;
	inf = hn_graph_scalar(c->g, x->dtype,
			      positive ? (double)INFINITY : -(double)INFINITY);
	return hn_graph_2(c->g, "Equal", v, inf);
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
	int32_t low = bound(c, 1, "min"), high = bound(c, 2, "max"),
		v = hn_gcall_arg(c, 0);

	v = low == HN_NONE ? v : hn_graph_2(c->g, "maximum", v, low);
	return high == HN_NONE ? v : hn_graph_2(c->g, "minimum", v, high);
}

/* x (1 + erf(x / sqrt 2)) / 2, or with tanh(sqrt(2 / pi) (x + 0.044715 x^3)) in the place of erf. */
int32_t hn_gelu_expand(const struct hn_gcall *c)
{
	const char *how = hn_gattr_string(c->node, "approximate", "none");
	struct hn_graph *g = c->g;
	int32_t x = hn_gcall_arg(c, 0), inner;

	if (strcmp(how, "tanh") == 0) {
		int32_t cube = hn_graph_2(g, "Mul", hn_graph_2(g, "Mul", x, x), x);

		inner = hn_graph_2(g, "Add", x, hn_scaled(g, cube, 0.044715));
		inner = hn_graph_1(g, "Tanh", hn_scaled(g, inner, sqrt(2 / M_PI)));
	} else {
		inner = hn_graph_1(g, "Erf", hn_scaled(g, x, sqrt(0.5)));
	}
	return hn_graph_2(g, "Mul", hn_scaled(g, x, 0.5), hn_plus(g, inner, 1));
}
