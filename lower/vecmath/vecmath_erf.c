/* lower/vecmath/vecmath_erf.c -- erf and atan: odd functions, a polynomial below 1 and something
 * else above, both computed and one chosen. */
#include "lower/vecmath/vecmath.h"

/* erf(x) = x + x q(x^2) for |x| < 1; 1 - exp(-q(x)) for x in [1, 3.93] (vecmath_fit.py).
 * Above 3.92 the nearest float32 is 1. */
static const float erf_small[] = { 0x1.4771fep-14F, -0x1.a3515ep-11F, 0x1.53f224p-8F,
				   -0x1.b7f71ap-6F, 0x1.ce2ce6p-4F,   -0x1.81273ep-2F,
				   0x1.06eba8p-3F };
static const float erf_large[] = { 0x1.6c08f6p-16F, -0x1.ceeabcp-12F, 0x1.13987ep-8F,
				   -0x1.9d0b58p-6F, 0x1.bc189ap-4F,   0x1.4434f6p-1F,
				   0x1.212c2cp+0F,  -0x1.8b3e66p-13F };
/* atan(x) = x + x z q(z), z = x^2 */
static const float atan_q[] = { 0x1.7eaaa2p-9F,	 -0x1.0c18ccp-6F, 0x1.61ef18p-5F,
				-0x1.3550f2p-4F, 0x1.b4deb4p-4F,  -0x1.230a94p-3F,
				0x1.9978ecp-3F,	 -0x1.5554dcp-2F };

#define PI_2_HI 0x1.921fb6p0
#define PI_2_LO (-0x1.777a5cp-25)

LLVMValueRef hn_vecmath_erf(const struct hn_vec *v, LLVMValueRef x)
{
	LLVMValueRef one = hn_vec_f(v, 1);
	LLVMValueRef a = hn_vec_at_most(v, hn_vec_abs(v, x), 3.93);
	LLVMValueRef q = hn_vec_poly(v, hn_vec_mul(v, a, a), erf_small,
				     HN_COUNT_OF(erf_small));
	LLVMValueRef near = hn_vec_fma(v, q, a, a);
	LLVMValueRef l = hn_vec_poly(v, a, erf_large, HN_COUNT_OF(erf_large));
	LLVMValueRef far = hn_vec_sub(
		v, one, hn_vecmath_exp_nonpositive(v, LLVMBuildFNeg(v->b, l, "")));

	return hn_vec_copysign(v, hn_vec_if_less(v, a, one, near, far), x);
}

/* Above 1, pi/2 - atan(1/x). */
LLVMValueRef hn_vecmath_atan(const struct hn_vec *v, LLVMValueRef x)
{
	LLVMValueRef one = hn_vec_f(v, 1), a = hn_vec_abs(v, x);
	LLVMValueRef t = hn_vec_if_less(v, one, a, hn_vec_div(v, one, a), a);
	LLVMValueRef z = hn_vec_mul(v, t, t);
	LLVMValueRef q = hn_vec_poly(v, z, atan_q, HN_COUNT_OF(atan_q));
	LLVMValueRef tail = hn_vec_mul(v, hn_vec_mul(v, q, z), t);
	LLVMValueRef far = hn_vec_sub(v, hn_vec_f(v, PI_2_LO), tail);

	far = hn_vec_add(v, hn_vec_sub(v, hn_vec_f(v, PI_2_HI), t), far);
	LLVMValueRef near = hn_vec_add(v, t, tail);

	return hn_vec_copysign(v, hn_vec_if_less(v, one, a, far, near), x);
}
