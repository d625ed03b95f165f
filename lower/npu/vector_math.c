/* lower/npu/vector_math.c -- functions that the vector unit has no instruction for, as short
 * sequences of those that it has.
 *
 * All are computed in float32.  Each says how far off it may be, beside the instructions' own
 * rounding; arguments past what it says are as wrong as in any library of float32.
 */
#include <math.h>

#include "lower/npu/vector_int.h"

struct seq {
	struct vec *x;
};
typedef struct vec_item item;

static item number(float v)
{
	return (item){ -1, v };
}

static item un(struct seq *s, uint16_t what, item a, float scale)
{
	return vec_unary(s->x, what, a, HN_F32, scale);
}

static item bin(struct seq *s, uint16_t what, item a, item b)
{
	return vec_binary(s->x, what, a, b, HN_F32);
}

static item add(struct seq *s, item a, float c)
{
	return un(s, HN_NPU_I_ADDS, a, c);
}

static item mul(struct seq *s, item a, item b)
{
	return bin(s, HN_NPU_I_MUL, a, b);
}

static item times(struct seq *s, item a, float c)
{
	return un(s, HN_NPU_I_MULS, a, c);
}

static item choose(struct seq *s, uint16_t what, item a, item b, item yes, item no)
{
	return vec_choose(s->x, what, a, b, HN_F32, yes, no, HN_F32);
}

/* c[0] + c[1] x + ... */
static item polynomial(struct seq *s, item x, const float *c, int n)
{
	item sum = add(s, times(s, x, c[n - 1]), c[n - 2]);

	for (int i = n - 3; i >= 0; i--) {
		sum = add(s, mul(s, sum, x), c[i]);
	}
	return sum;
}

/* Without sign, of |x| < 2^23; larger numbers are whole. */
static item nearest(struct seq *s, item x)
{
	item i = vec_as(s->x, vec_unary(s->x, HN_NPU_I_CONV, x, HN_I32, 0), HN_F32);

	return choose(s, HN_NPU_I_CMPLT, un(s, HN_NPU_I_ABS, x, 0), number(8388608), i, x);
}

static item floored(struct seq *s, item x)
{
	item r = nearest(s, x);

	return choose(s, HN_NPU_I_CMPGT, r, x, add(s, r, -1), r);
}

static item raised(struct seq *s, item x)
{
	item r = nearest(s, x);

	return choose(s, HN_NPU_I_CMPLT, r, x, add(s, r, 1), r);
}

/* |x| with the sign of `of`. */
static item signed_as(struct seq *s, item x, item of)
{
	return choose(s, HN_NPU_I_CMPLT, of, number(0), times(s, x, -1), x);
}

static item truncated(struct seq *s, item x)
{
	return signed_as(s, floored(s, un(s, HN_NPU_I_ABS, x, 0)), x);
}

/* Halves away from 0. */
static item rounded(struct seq *s, item x)
{
	item a = un(s, HN_NPU_I_ABS, x, 0), f = floored(s, a);
	item up = choose(s, HN_NPU_I_CMPGE, bin(s, HN_NPU_I_SUB, a, f), number(0.5f), add(s, f, 1), f);

	return signed_as(s, up, x);
}

static item logistic(struct seq *s, item x, float by)
{
	item e = un(s, HN_NPU_I_EXP, times(s, x, -by), 0);

	return bin(s, HN_NPU_I_DIV, number(by), add(s, e, 1));
}

/* What the least and the greatest would lose. */
static item or_nan(struct seq *s, item v, item x)
{
	return choose(s, HN_NPU_I_CMPEQ, x, x, v, x);
}

/* Its series below 1, to x^19: 2e-8; else Abramowitz and Stegun 7.1.26: 1.5e-7. */
static item error_function(struct seq *s, item x)
{
	static const float low[] = { 1.1283791671f, -0.3761263890f, 0.1128379167f, -0.0268661706f,
				     0.0052239776f, -0.0008548327f, 0.0001205533f, -1.4925651e-5f,
				     1.6462114e-6f, -1.6365844e-7f };
	static const float high[] = { 0, 0.254829592f, -0.284496736f, 1.421413741f, -1.453152027f,
				      1.061405429f };
	item a = un(s, HN_NPU_I_MINS, un(s, HN_NPU_I_ABS, x, 0), 10), q = mul(s, a, a);
	item t = bin(s, HN_NPU_I_DIV, number(1), add(s, times(s, a, 0.3275911f), 1));
	item e = un(s, HN_NPU_I_EXP, times(s, q, -1), 0);
	item tail = mul(s, polynomial(s, t, high, 6), e), near, far;

	far = add(s, times(s, tail, -1), 1);
	near = mul(s, polynomial(s, un(s, HN_NPU_I_MINS, q, 1), low, 10), a);
	return or_nan(s, signed_as(s, choose(s, HN_NPU_I_CMPLT, a, number(1), near, far), x), x);
}

/* x - k pi, in three parts of pi, and k: |x| < 10^5. */
static item in_half_turn(struct seq *s, item x, item *ret_k)
{
	item k = nearest(s, times(s, x, 0.318309886f));
	item r = bin(s, HN_NPU_I_SUB, x, times(s, k, 3.140625f));

	r = bin(s, HN_NPU_I_SUB, r, times(s, k, 9.67025756835938e-4f));
	*ret_k = k;
	return bin(s, HN_NPU_I_SUB, r, times(s, k, 6.2771141529e-7f));
}

/* The series to x^13 within a quarter turn: 6e-9. */
static item sine(struct seq *s, item x)
{
	static const float c[] = { 1, -1.6666667e-1f, 8.3333333e-3f, -1.9841270e-4f, 2.7557319e-6f,
				   -2.5052108e-8f, 1.6059044e-10f };
	item k, r = in_half_turn(s, x, &k), half = times(s, k, 0.5f), odd;
	item v = mul(s, polynomial(s, mul(s, r, r), c, 7), r);

	odd = bin(s, HN_NPU_I_SUB, half, floored(s, half));
	return choose(s, HN_NPU_I_CMPGT, odd, number(0.25f), times(s, v, -1), v);
}

/* The same to x^14. */
static item cosine(struct seq *s, item x)
{
	static const float c[] = { 1, -0.5f, 4.1666667e-2f, -1.3888889e-3f, 2.4801587e-5f,
				   -2.7557319e-7f, 2.0876757e-9f, -1.1470746e-11f };
	item k, r = in_half_turn(s, x, &k), half = times(s, k, 0.5f), odd;
	item v = polynomial(s, mul(s, r, r), c, 8);

	odd = bin(s, HN_NPU_I_SUB, half, floored(s, half));
	return choose(s, HN_NPU_I_CMPGT, odd, number(0.25f), times(s, v, -1), v);
}

static item tangent(struct seq *s, item x)
{
	return bin(s, HN_NPU_I_DIV, sine(s, x), cosine(s, x));
}

static item halved(struct seq *s, item x)
{
	item root = un(s, HN_NPU_I_SQRT, add(s, mul(s, x, x), 1), 0);

	return bin(s, HN_NPU_I_DIV, x, add(s, root, 1));
}

/* The angle in quarters, its series to x^17: 2e-9. */
static item arc_tangent(struct seq *s, item x)
{
	static const float c[] = { 1, -0.33333333f, 0.2f, -0.14285714f, 0.11111111f, -0.09090909f,
				   0.07692308f, -0.06666667f, 0.05882353f };
	item y = halved(s, halved(s, un(s, HN_NPU_I_MINS, un(s, HN_NPU_I_MAXS, x, -1e18f), 1e18f)));

	return or_nan(s, times(s, mul(s, polynomial(s, mul(s, y, y), c, 9), y), 4), x);
}

/* Its series below 1, to x^9: 3e-8. */
static item hyperbolic_sine(struct seq *s, item x)
{
	static const float c[] = { 1, 1.6666667e-1f, 8.3333333e-3f, 1.9841270e-4f, 2.7557319e-6f };
	item a = un(s, HN_NPU_I_ABS, x, 0), near, far;

	near = mul(s, polynomial(s, mul(s, a, a), c, 5), a);
	far = bin(s, HN_NPU_I_SUB, times(s, un(s, HN_NPU_I_EXP, a, 0), 0.5f),
		  times(s, un(s, HN_NPU_I_EXP, times(s, a, -1), 0), 0.5f));
	return signed_as(s, choose(s, HN_NPU_I_CMPLT, a, number(1), near, far), x);
}

static item hyperbolic_cosine(struct seq *s, item x)
{
	return times(s, bin(s, HN_NPU_I_ADD, un(s, HN_NPU_I_EXP, x, 0),
			    un(s, HN_NPU_I_EXP, times(s, x, -1), 0)), 0.5f);
}

static item hyperbolic_tangent(struct seq *s, item x)
{
	return add(s, logistic(s, x, 2), -1);
}

static item sigmoid(struct seq *s, item x)
{
	return logistic(s, x, 1);
}

/* ln(1 + x) by how 1 + x is rounded. */
static item log_of_one_more(struct seq *s, item x)
{
	item u = add(s, x, 1), d = add(s, u, -1), l = un(s, HN_NPU_I_LN, u, 0);
	item safe = choose(s, HN_NPU_I_CMPEQ, d, number(0), number(1), d);
	item y = mul(s, l, bin(s, HN_NPU_I_DIV, x, safe));

	/* where 1 + x is infinite so is its logarithm */
	y = choose(s, HN_NPU_I_CMPGT, u, number(3e38f), l, y);
	return choose(s, HN_NPU_I_CMPEQ, d, number(0), x, y);
}

static item two_to_the(struct seq *s, item x)
{
	return un(s, HN_NPU_I_EXP, times(s, x, 0.69314718f), 0);
}

static item log_two(struct seq *s, item x)
{
	return times(s, un(s, HN_NPU_I_LN, x, 0), 1.44269504f);
}

static item log_ten(struct seq *s, item x)
{
	return times(s, un(s, HN_NPU_I_LN, x, 0), 0.43429448f);
}

/* e^(y ln |x|): |y ln x| 2^-23.  Below 0 for whole y alone. */
static item power(struct seq *s, item x, item y)
{
	item p = un(s, HN_NPU_I_EXP, mul(s, un(s, HN_NPU_I_LN, un(s, HN_NPU_I_ABS, x, 0), 0), y), 0);
	item f, half, odd, negative;

	f = floored(s, y);
	half = times(s, f, 0.5f);
	odd = bin(s, HN_NPU_I_SUB, half, floored(s, half));
	negative = choose(s, HN_NPU_I_CMPGT, odd, number(0.25f), times(s, p, -1), p);
	negative = choose(s, HN_NPU_I_CMPEQ, f, y, negative, number(NAN));
	p = choose(s, HN_NPU_I_CMPLT, x, number(0), negative, p);
	return choose(s, HN_NPU_I_CMPEQ, y, number(0), number(1), p);
}

/* Quotients below 2^24. */
static item remainder_of(struct seq *s, item x, item y)
{
	item q = truncated(s, bin(s, HN_NPU_I_DIV, x, y));

	return bin(s, HN_NPU_I_SUB, x, mul(s, q, y));
}

static const struct {
	enum hn_fn fn;
	uint16_t what; /* the instruction; else one of the two */
	item (*one)(struct seq *s, item x);
	item (*two)(struct seq *s, item x, item y);
} rows[] = {
	{ HN_FN_exp, HN_NPU_I_EXP, NULL, NULL },
	{ HN_FN_log, HN_NPU_I_LN, NULL, NULL },
	{ HN_FN_sqrt, HN_NPU_I_SQRT, NULL, NULL },
	{ HN_FN_rsqrt, HN_NPU_I_RSQRT, NULL, NULL },
	{ HN_FN_abs, HN_NPU_I_ABS, NULL, NULL },
	{ HN_FN_fabs, HN_NPU_I_ABS, NULL, NULL },
	{ HN_FN_exp2, 0, two_to_the, NULL },
	{ HN_FN_log2, 0, log_two, NULL },
	{ HN_FN_log10, 0, log_ten, NULL },
	{ HN_FN_log1p, 0, log_of_one_more, NULL },
	{ HN_FN_sin, 0, sine, NULL },
	{ HN_FN_cos, 0, cosine, NULL },
	{ HN_FN_tan, 0, tangent, NULL },
	{ HN_FN_atan, 0, arc_tangent, NULL },
	{ HN_FN_sinh, 0, hyperbolic_sine, NULL },
	{ HN_FN_cosh, 0, hyperbolic_cosine, NULL },
	{ HN_FN_tanh, 0, hyperbolic_tangent, NULL },
	{ HN_FN_erf, 0, error_function, NULL },
	{ HN_FN_sigmoid, 0, sigmoid, NULL },
	{ HN_FN_floor, 0, floored, NULL },
	{ HN_FN_ceil, 0, raised, NULL },
	{ HN_FN_trunc, 0, truncated, NULL },
	{ HN_FN_round, 0, rounded, NULL },
	{ HN_FN_nearbyint, 0, nearest, NULL },
	{ HN_FN_pow, 0, NULL, power },
	{ HN_FN_fmod, 0, NULL, remainder_of },
};

bool vec_call(struct vec *x, enum hn_fn fn, item a, item b, enum hn_dtype t, item *ret)
{
	struct seq s = { x };

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		item r;

		if (rows[i].fn != fn) {
			continue;
		}
		if (rows[i].what != 0) {
			*ret = vec_unary(x, rows[i].what, a, t, 0);
			return true;
		}
		if (a.value < 0) {
			a.value = vec_constant(x, a.number, HN_F32);
		}
		a = vec_as(x, a, HN_F32);
		b = vec_as(x, b, HN_F32);
		r = rows[i].one != NULL ? rows[i].one(&s, a) : rows[i].two(&s, a, b);
		*ret = vec_as(x, r, t);
		return true;
	}
	return false;
}
