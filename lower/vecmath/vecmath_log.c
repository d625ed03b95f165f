/* lower/vecmath/vecmath_log.c -- log, log2, log10, log1p.
 *
 * x = 2^n (1 + f) with 1 + f in [2/3, 4/3): subtracting the bits of 2/3 leaves n in the
 * exponent field.  Subnormals are scaled by 2^23 first.  For n = 0 the result is f plus small
 * terms, so nothing is lost near 1.
 */
#include "lower/vecmath/vecmath.h"

#define BITS_2_3 0x3f2aaaabu /* float32 2/3 */
#define LN2 0x1.62e43p-1
#define LOG10_2_HI 0x1.344136p-2
#define LOG10_2_LO (-0x1.ec10cp-27)
#define INV_LN2_HI 0x1.715476p0
#define INV_LN2_LO 0x1.4ae0cp-26
#define INV_LN10_HI 0x1.bcb7b2p-2
#define INV_LN10_LO (-0x1.5b235ep-27)

/* log(1+f) = f - f^2/2 + f^3 q(f); log2 and log10: f/ln B + f^2 q(f) (vecmath_fit.py). */
static const float log_q[] = { 0x1.0d2f94p-3F, -0x1.ff5826p-4F, 0x1.b30130p-4F,
			       -0x1.f691f4p-4F, 0x1.24f7c4p-3F, -0x1.5581c6p-3F,
			       0x1.99982ap-3F,	-0x1.ffff76p-3F, 0x1.555556p-2F };
static const float log2_q[] = { -0x1.3fe630p-3F, 0x1.982d6ep-3F, -0x1.72b742p-3F,
				0x1.9eb2bap-3F,	 -0x1.ec532ap-3F, 0x1.27998ap-2F,
				-0x1.7154c8p-2F, 0x1.ec7032p-2F, -0x1.715476p-1F };
static const float log10_q[] = { -0x1.cb4808p-5F, 0x1.f21bfep-5F, -0x1.b12afcp-5F,
				 0x1.f2262cp-5F,  -0x1.28bf66p-4F, 0x1.63f6e8p-4F,
				 -0x1.bcb672p-4F, 0x1.287a2ep-3F, -0x1.bcb7b2p-3F };

struct split {
	LLVMValueRef n; /* float, whole */
	LLVMValueRef f;
};

/* 2^23 n of a normal x, as an integer. */
static LLVMValueRef exponent_field(const struct hn_vec *v, LLVMValueRef x)
{
	LLVMBuilderRef b = v->b;
	LLVMValueRef up = LLVMBuildSub(b, hn_vec_bits(v, x), hn_vec_i(v, BITS_2_3), "");

	return LLVMBuildAnd(b, up, hn_vec_i(v, 0xff800000u), "");
}

static LLVMValueRef whole(const struct hn_vec *v, LLVMValueRef field)
{
	LLVMBuilderRef b = v->b;
	LLVMValueRef n = LLVMBuildAShr(b, field, hn_vec_i(v, 23), "");

	return LLVMBuildSIToFP(b, n, LLVMTypeOf(hn_vec_f(v, 0)), "");
}

static struct split split(const struct hn_vec *v, LLVMValueRef x)
{
	LLVMValueRef least = hn_vec_f(v, 0x1p-126);
	LLVMValueRef bias = hn_vec_if_less(v, x, least, hn_vec_f(v, -23), hn_vec_f(v, 0));

	x = hn_vec_if_less(v, x, least, hn_vec_mul(v, x, hn_vec_f(v, 0x1p23)), x);
	LLVMValueRef field = exponent_field(v, x);
	LLVMValueRef m = hn_vec_from_bits(
		v, LLVMBuildSub(v->b, hn_vec_bits(v, x), field, ""));

	return (struct split){ hn_vec_add(v, whole(v, field), bias),
			       hn_vec_sub(v, m, hn_vec_f(v, 1)) };
}

/* y, but for x (or 1 + x) zero, negative, infinite or NaN. */
static LLVMValueRef specials(const struct hn_vec *v, LLVMValueRef x, double zero,
			     LLVMValueRef y)
{
	LLVMValueRef inf = hn_vec_f(v, (double)__builtin_inff()), at = hn_vec_f(v, zero);
	LLVMValueRef infinite_or_nan = hn_vec_if_less(v, x, inf, y, x);

	y = hn_vec_if_less(v, x, at, hn_vec_f(v, (double)__builtin_nanf("")),
			   infinite_or_nan);
	return hn_vec_if_equal(v, x, at, LLVMBuildFNeg(v->b, inf, ""), y);
}

/* n ln 2 + log(1 + f) */
static LLVMValueRef log_of(const struct hn_vec *v, LLVMValueRef n, LLVMValueRef f)
{
	LLVMValueRef q = hn_vec_poly(v, f, log_q, HN_COUNT_OF(log_q));
	LLVMValueRef t = hn_vec_mul(v, f, f);

	t = hn_vec_mul(v, hn_vec_fma(v, q, f, hn_vec_f(v, -0.5)), t);
	return hn_vec_fma(v, n, hn_vec_f(v, LN2), hn_vec_add(v, t, f));
}

LLVMValueRef hn_vecmath_log(const struct hn_vec *v, LLVMValueRef x)
{
	struct split s = split(v, x);

	return specials(v, x, 0, log_of(v, s.n, s.f));
}

/* f hi + (f lo + f^2 q(f)) */
static LLVMValueRef log_scaled(const struct hn_vec *v, LLVMValueRef f, const float *q,
			       uint32_t n, double hi, double lo)
{
	LLVMValueRef p = hn_vec_poly(v, f, q, n);

	p = hn_vec_mul(v, hn_vec_fma(v, p, f, hn_vec_f(v, lo)), f);
	return hn_vec_fma(v, f, hn_vec_f(v, hi), p);
}

LLVMValueRef hn_vecmath_log2(const struct hn_vec *v, LLVMValueRef x)
{
	struct split s = split(v, x);
	LLVMValueRef y = log_scaled(v, s.f, log2_q, HN_COUNT_OF(log2_q), INV_LN2_HI,
				    INV_LN2_LO);

	return specials(v, x, 0, hn_vec_add(v, s.n, y));
}

LLVMValueRef hn_vecmath_log10(const struct hn_vec *v, LLVMValueRef x)
{
	struct split s = split(v, x);
	LLVMValueRef y = log_scaled(v, s.f, log10_q, HN_COUNT_OF(log10_q), INV_LN10_HI,
				    INV_LN10_LO);

	y = hn_vec_fma(v, s.n, hn_vec_f(v, LOG10_2_LO), y);
	return specials(v, x, 0, hn_vec_fma(v, s.n, hn_vec_f(v, LOG10_2_HI), y));
}

/* 2^-n can be subnormal, so it is made four times as large and taken in quarters. */
LLVMValueRef hn_vecmath_log1p(const struct hn_vec *v, LLVMValueRef x)
{
	LLVMValueRef quarter = hn_vec_f(v, 0.25), minus_1 = hn_vec_f(v, -1);
	LLVMValueRef field = exponent_field(v, hn_vec_add(v, x, hn_vec_f(v, 1)));
	LLVMValueRef four = hn_vec_from_bits(
		v, LLVMBuildSub(v->b, hn_vec_i(v, 129u << 23), field, ""));
	LLVMValueRef f = hn_vec_fma(v, hn_vec_mul(v, four, quarter), x,
				    hn_vec_fma(v, four, quarter, minus_1));
	LLVMValueRef y = specials(v, x, -1, log_of(v, whole(v, field), f));

	return hn_vec_if_equal(v, x, hn_vec_f(v, 0), x, y);
}
