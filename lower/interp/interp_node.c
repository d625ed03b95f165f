/* lower/interp/interp_node.c -- what each arithmetic node and function does, once per operand
 * class.
 *
 * Integer division by zero, which a kernel traps on, gives 0 here: the reference must
 * survive what it is asked to judge.
 */
#include <math.h>

#include "base/arith.h"
#include "lower/interp/interp_priv.h"

#define EVAL(k) (c->arg[k]->eval(c->arg[k], frame))

/* `out` of the value named by expr over x and y, read as type T from member `in`. */
#define BINARY(name, T, in, out, expr)                                                   \
	static union hn_value name(const struct hn_cell *c, union hn_value *frame)       \
	{                                                                                \
		T x = (T)EVAL(0).in, y = (T)EVAL(1).in;                                  \
                                                                                         \
		return (union hn_value){ .out = (expr) };                                \
	}

/* Count what has no quotient in its type. */
static void divide(const struct hn_cell *c, union hn_value *frame, int64_t x, int64_t y)
{
	int64_t less = (int64_t)(0 - (uint64_t)x);

	frame[-1].i += y == 0 || (y == -1 && x < 0 && hn_dtype_class(c->type) == HN_CLASS_SIGNED &&
				  hn_interp_wrap(less, c->type) == x);
}

static int64_t trunc_quotient(int64_t x, int64_t y)
{
	return y == 0 ? 0 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static int64_t trunc_rest(int64_t x, int64_t y)
{
	return y == 0 || y == -1 ? 0 : x % y;
}

static int64_t floor_quotient(int64_t x, int64_t y)
{
	return y == 0 ? 0 : y == -1 ? (int64_t)(0 - (uint64_t)x) : hn_floordiv(x, y);
}

static int64_t floor_rest(int64_t x, int64_t y)
{
	return y == 0 || y == -1 ? 0 : hn_floormod(x, y);
}

BINARY(add_f, double, f, f, x + y)
BINARY(sub_f, double, f, f, x - y)
BINARY(mul_f, double, f, f, x *y)
BINARY(div_f, double, f, f, x / y)
BINARY(min_f, double, f, f, x < y ? x : y)
BINARY(max_f, double, f, f, x > y ? x : y)
BINARY(eq_f, double, f, i, x == y)
BINARY(ne_f, double, f, i, x != y)
BINARY(lt_f, double, f, i, x < y)
BINARY(le_f, double, f, i, x <= y)
BINARY(gt_f, double, f, i, x > y)
BINARY(ge_f, double, f, i, x >= y)
BINARY(add_i, uint64_t, i, i, (int64_t)(x + y))
BINARY(sub_i, uint64_t, i, i, (int64_t)(x - y))
BINARY(mul_i, uint64_t, i, i, (int64_t)(x *y))
BINARY(div_s, int64_t, i, i, (divide(c, frame, x, y), trunc_quotient(x, y)))
BINARY(div_u, uint64_t, i, i,
       (divide(c, frame, 0, (int64_t)y), y == 0 ? 0 : (int64_t)(x / y)))
BINARY(mod_s, int64_t, i, i, (divide(c, frame, x, y), trunc_rest(x, y)))
BINARY(mod_u, uint64_t, i, i,
       (divide(c, frame, 0, (int64_t)y), y == 0 ? 0 : (int64_t)(x % y)))
BINARY(floordiv_s, int64_t, i, i, (divide(c, frame, x, y), floor_quotient(x, y)))
BINARY(floormod_s, int64_t, i, i, (divide(c, frame, x, y), floor_rest(x, y)))
BINARY(min_s, int64_t, i, i, x < y ? x : y)
BINARY(max_s, int64_t, i, i, x > y ? x : y)
BINARY(min_u, uint64_t, i, i, (int64_t)(x < y ? x : y))
BINARY(max_u, uint64_t, i, i, (int64_t)(x > y ? x : y))
BINARY(eq_i, int64_t, i, i, x == y)
BINARY(ne_i, int64_t, i, i, x != y)
BINARY(lt_s, int64_t, i, i, x < y)
BINARY(le_s, int64_t, i, i, x <= y)
BINARY(gt_s, int64_t, i, i, x > y)
BINARY(ge_s, int64_t, i, i, x >= y)
BINARY(lt_u, uint64_t, i, i, x < y)
BINARY(le_u, uint64_t, i, i, x <= y)
BINARY(gt_u, uint64_t, i, i, x > y)
BINARY(ge_u, uint64_t, i, i, x >= y)
BINARY(and_b, int64_t, i, i, (x != 0) & (y != 0))
BINARY(or_b, int64_t, i, i, (x != 0) | (y != 0))

static union hn_value not_b(const struct hn_cell *c, union hn_value *frame)
{
	return (union hn_value){ .i = !EVAL(0).i };
}

/* Lazy in both kinds: what a select's other side would give is not asked for. */
static union hn_value choose(const struct hn_cell *c, union hn_value *frame)
{
	return EVAL(0).i ? EVAL(1) : EVAL(2);
}

struct node_row {
	hn_eval_fn floats, ints, unsigneds;
};

static const struct node_row nodes[HN_N_EXPR] = {
	[HN_EXPR_ADD] = { add_f, add_i, add_i },
	[HN_EXPR_SUB] = { sub_f, sub_i, sub_i },
	[HN_EXPR_MUL] = { mul_f, mul_i, mul_i },
	[HN_EXPR_DIV] = { div_f, div_s, div_u },
	[HN_EXPR_MIN] = { min_f, min_s, min_u },
	[HN_EXPR_MAX] = { max_f, max_s, max_u },
	[HN_EXPR_FLOORDIV] = { NULL, floordiv_s, div_u },
	[HN_EXPR_FLOORMOD] = { NULL, floormod_s, mod_u },
	[HN_EXPR_TRUNCMOD] = { NULL, mod_s, mod_u },
	[HN_EXPR_EQ] = { eq_f, eq_i, eq_i },
	[HN_EXPR_NE] = { ne_f, ne_i, ne_i },
	[HN_EXPR_LT] = { lt_f, lt_s, lt_u },
	[HN_EXPR_LE] = { le_f, le_s, le_u },
	[HN_EXPR_GT] = { gt_f, gt_s, gt_u },
	[HN_EXPR_GE] = { ge_f, ge_s, ge_u },
	[HN_EXPR_AND] = { NULL, and_b, and_b },
	[HN_EXPR_OR] = { NULL, or_b, or_b },
	[HN_EXPR_NOT] = { NULL, not_b, not_b },
	[HN_EXPR_SELECT] = { choose, choose, choose },
	[HN_EXPR_IF] = { choose, choose, choose },
};

hn_eval_fn hn_interp_node_fn(enum hn_expr_op op, enum hn_dtype operand)
{
	const struct node_row *row = &nodes[op];

	switch (hn_dtype_class(operand)) {
	case HN_CLASS_FLOAT:
		return row->floats;
	case HN_CLASS_SIGNED:
		return row->ints;
	default:
		return row->unsigneds;
	}
}

static double rsqrt(double x)
{
	return 1 / sqrt(x);
}

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

/* Functions that calls.def gives no C name are defined above under their own. */
static double (*const unary[HN_N_FN])(double) = {
	[HN_FN_exp] = exp,     [HN_FN_exp2] = exp2,	  [HN_FN_log] = log,
	[HN_FN_log2] = log2,   [HN_FN_log10] = log10,	  [HN_FN_log1p] = log1p,
	[HN_FN_sqrt] = sqrt,   [HN_FN_rsqrt] = rsqrt,	  [HN_FN_sin] = sin,
	[HN_FN_cos] = cos,     [HN_FN_tan] = tan,	  [HN_FN_atan] = atan,
	[HN_FN_sinh] = sinh,   [HN_FN_cosh] = cosh,	  [HN_FN_tanh] = tanh,
	[HN_FN_erf] = erf,     [HN_FN_sigmoid] = sigmoid, [HN_FN_abs] = fabs,
	[HN_FN_fabs] = fabs,   [HN_FN_floor] = floor,	  [HN_FN_ceil] = ceil,
	[HN_FN_trunc] = trunc, [HN_FN_round] = round,	  [HN_FN_nearbyint] = nearbyint,
};

static double (*const binary[HN_N_FN])(double, double) = {
	[HN_FN_pow] = pow,
	[HN_FN_fmod] = fmod,
};

union hn_value hn_interp_call(const struct hn_cell *c, union hn_value *frame)
{
	union hn_value x = EVAL(0);

	if (hn_dtype_class(c->type) !=
	    HN_CLASS_FLOAT) { /* abs is the only one for integers */
		bool negative = hn_dtype_class(c->type) == HN_CLASS_SIGNED && x.i < 0;
		int64_t v = negative ? (int64_t)(0 - (uint64_t)x.i) : x.i;

		return (union hn_value){ .i = hn_interp_wrap(v, c->type) };
	}
	if (unary[c->slot] != NULL) {
		return (union hn_value){ .f = unary[c->slot](x.f) };
	}
	hn_assert(binary[c->slot] != NULL);
	return (union hn_value){ .f = binary[c->slot](x.f, EVAL(1).f) };
}

int64_t hn_interp_wrap(int64_t v, enum hn_dtype t)
{
	uint32_t bits = 8 * hn_dtype_bytes(t);

	if (t == HN_BOOL) {
		return v != 0;
	}
	if (bits == 64) {
		return v;
	}
	uint64_t low = (uint64_t)v & (((uint64_t)1 << bits) - 1);
	bool negative = hn_dtype_class(t) == HN_CLASS_SIGNED && (low >> (bits - 1)) != 0;

	return negative ? (int64_t)low - ((int64_t)1 << bits) : (int64_t)low;
}

/* Towards zero; past the type's end, its end; 0 for a NaN. */
static int64_t to_int(double f, enum hn_dtype t)
{
	bool is_signed = hn_dtype_class(t) == HN_CLASS_SIGNED;
	int bits = 8 * (int)hn_dtype_bytes(t) - is_signed;
	double end = ldexp(1, bits); /* the first past it */
	uint64_t most = UINT64_MAX >> (64 - bits);

	if (isnan(f)) {
		return 0;
	}
	if (f >= end) {
		return (int64_t)most;
	}
	if (f <= (is_signed ? -end : 0)) {
		return is_signed ? -(int64_t)most - 1 : 0;
	}
	return is_signed ? (int64_t)f : (int64_t)(uint64_t)f;
}

union hn_value hn_interp_cast(const struct hn_cell *c, union hn_value *frame)
{
	bool from_float = hn_dtype_class(c->from) == HN_CLASS_FLOAT;
	bool to_float = hn_dtype_class(c->type) == HN_CLASS_FLOAT;
	union hn_value v = EVAL(0);

	if (to_float) {
		double f = from_float ? v.f
			   : hn_dtype_class(c->from) == HN_CLASS_UNSIGNED
				   ? (double)(uint64_t)v.i
				   : (double)v.i;

		return (union hn_value){ .f = hn_float_round(c->type, f) };
	}
	if (c->type == HN_BOOL) {
		return (union hn_value){ .i = from_float ? v.f != 0 : v.i != 0 };
	}
	return (union hn_value){
		.i = hn_interp_wrap(from_float ? to_int(v.f, c->type) : v.i, c->type)
	};
}
