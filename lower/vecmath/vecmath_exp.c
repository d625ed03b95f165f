/* lower/vecmath/vecmath_exp.c -- exp, exp2, sigmoid, tanh.
 *
 * x = n ln 2 + r with |r| <= ln 2 / 2: n is rounded by adding 1.5 * 2^23, whose sum holds n in
 * its low bits; ln 2 is taken in two parts, so that r is right to its last bit.  The result
 * is put together as (p * 2^(n -+ 64)) * 2^(+- 64): the first product is exact, the second
 * rounds once into subnormals, overflows to infinity, and keeps a NaN.  A machine with an
 * instruction for p * 2^n rounds once too: the same bits.
 */
#include "lower/vecmath/vecmath.h"

#define ROUNDER 0x1.8p23
#define LN2_HI 0x1.62e43p-1 /* float32 nearest ln 2 */
#define LN2_LO (-0x1.05c61p-29)
#define LOG2E 0x1.715476p0

/* exp(r) = 1 + r + r^2 q(r); the second relative to exp(r) - 1 (vecmath_fit.py). */
static const float exp_q[] = { 0x1.6ac74ep-10F, 0x1.123dep-7F, 0x1.555858p-5F,
			       0x1.55548cp-3F, 0x1.fffffcp-2F };
static const float expm1_q[] = { 0x1.6ab16cp-10F, 0x1.122c86p-7F, 0x1.55579ep-5F,
				 0x1.5554aap-3F, 0x1.fffffep-2F };
/* 2^r = 1 + r q(r) */
static const float exp2_q[] = { 0x1.179a44p-13F, 0x1.5ef4dcp-10F, 0x1.3b6816p-7F,
				0x1.c6af9ep-5F,	 0x1.ebfb94p-3F,  0x1.62e43p-1F };

struct reduced {
	LLVMValueRef word; /* float whose low bits are n, modulo 2^9 */
	LLVMValueRef n, r;
};

static struct reduced reduce(const struct hn_vec *v, LLVMValueRef x)
{
	LLVMValueRef word =
		hn_vec_fma(v, x, hn_vec_f(v, LOG2E), hn_vec_f(v, ROUNDER));
	LLVMValueRef n = hn_vec_sub(v, word, hn_vec_f(v, ROUNDER));
	LLVMValueRef r = hn_vec_fma(v, n, hn_vec_f(v, -LN2_HI), x);

	return (struct reduced){ word, n, hn_vec_fma(v, n, hn_vec_f(v, -LN2_LO), r) };
}

/* 2^(n + shift), by the bits; the sum must be a normal exponent. */
static LLVMValueRef power(const struct hn_vec *v, LLVMValueRef word, LLVMValueRef shift)
{
	LLVMValueRef n = LLVMBuildShl(v->b, hn_vec_bits(v, word), hn_vec_i(v, 23), "");

	return hn_vec_from_bits(v, LLVMBuildAdd(v->b, n, shift, ""));
}

static LLVMValueRef exponent(const struct hn_vec *v, int32_t n)
{
	return hn_vec_i(v, (uint32_t)(127 + n) << 23);
}

/* p 2^n, n of x's sign or 0. */
static LLVMValueRef scale(const struct hn_vec *v, LLVMValueRef p,
			  const struct reduced *t, LLVMValueRef x)
{
	LLVMValueRef zero = hn_vec_f(v, 0), once = hn_vec_scale(v, p, t->n);

	if (once) {
		return once;
	}
	LLVMValueRef shift =
		hn_vec_if_less(v, x, zero, exponent(v, 64), exponent(v, -64));
	LLVMValueRef back =
		hn_vec_if_less(v, x, zero, hn_vec_f(v, 0x1p-64), hn_vec_f(v, 0x1p64));

	return hn_vec_mul(v, hn_vec_mul(v, p, power(v, t->word, shift)), back);
}

/* 1 + r + r^2 q(r) */
static LLVMValueRef exp_near_0(const struct hn_vec *v, LLVMValueRef r)
{
	LLVMValueRef one = hn_vec_f(v, 1);
	LLVMValueRef q = hn_vec_poly(v, r, exp_q, HN_COUNT_OF(exp_q));

	return hn_vec_fma(v, hn_vec_fma(v, q, r, one), r, one);
}

LLVMValueRef hn_vecmath_exp(const struct hn_vec *v, LLVMValueRef x)
{
	x = hn_vec_at_least(v, hn_vec_at_most(v, x, 89), -104);
	struct reduced t = reduce(v, x);

	return scale(v, exp_near_0(v, t.r), &t, x);
}

LLVMValueRef hn_vecmath_exp_nonpositive(const struct hn_vec *v, LLVMValueRef x)
{
	struct reduced t = reduce(v, x);
	LLVMValueRef p = exp_near_0(v, t.r), once = hn_vec_scale(v, p, t.n);

	if (once) {
		return once;
	}
	p = hn_vec_mul(v, p, power(v, t.word, exponent(v, 64)));
	return hn_vec_mul(v, p, hn_vec_f(v, 0x1p-64));
}

LLVMValueRef hn_vecmath_exp2(const struct hn_vec *v, LLVMValueRef x)
{
	LLVMValueRef rounder = hn_vec_f(v, ROUNDER);

	x = hn_vec_at_least(v, hn_vec_at_most(v, x, 129), -151);
	struct reduced t = { .word = hn_vec_add(v, x, rounder) };

	t.n = hn_vec_sub(v, t.word, rounder);
	t.r = hn_vec_sub(v, x, t.n);
	LLVMValueRef q = hn_vec_poly(v, t.r, exp2_q, HN_COUNT_OF(exp2_q));

	return scale(v, hn_vec_fma(v, q, t.r, hn_vec_f(v, 1)), &t, x);
}

/* e <= 1, so nothing overflows, and for x << 0 the result is e itself, subnormals included.
 */
LLVMValueRef hn_vecmath_sigmoid(const struct hn_vec *v, LLVMValueRef x)
{
	LLVMValueRef one = hn_vec_f(v, 1);
	LLVMValueRef minus = LLVMBuildFNeg(v->b, hn_vec_abs(v, x), "");
	LLVMValueRef e = hn_vecmath_exp_nonpositive(v, hn_vec_at_least(v, minus, -104));
	LLVMValueRef top = hn_vec_if_less(v, x, hn_vec_f(v, 0), e, one);

	return hn_vec_div(v, top, hn_vec_add(v, one, e));
}

/* t = 2^n (exp(r) - 1) + (2^n - 1) keeps small arguments' relative accuracy; n <= 27. */
LLVMValueRef hn_vecmath_tanh(const struct hn_vec *v, LLVMValueRef x)
{
	LLVMValueRef a = hn_vec_at_most(v, hn_vec_abs(v, x), 9.25);
	struct reduced d = reduce(v, hn_vec_add(v, a, a));
	LLVMValueRef q = hn_vec_poly(v, d.r, expm1_q, HN_COUNT_OF(expm1_q));
	LLVMValueRef p = hn_vec_fma(v, hn_vec_mul(v, d.r, d.r), q, d.r);
	LLVMValueRef s = power(v, d.word, exponent(v, 0));
	LLVMValueRef t = hn_vec_fma(v, p, s, hn_vec_sub(v, s, hn_vec_f(v, 1)));
	LLVMValueRef y = hn_vec_div(v, t, hn_vec_add(v, t, hn_vec_f(v, 2)));

	return hn_vec_copysign(v, y, x);
}
