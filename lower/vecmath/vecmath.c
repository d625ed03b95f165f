/* lower/vecmath/vecmath.c -- the table of the functions of vecmath.h. */
#include "lower/vecmath/vecmath.h"

hn_vecmath_fn hn_vecmath_of(enum hn_fn f)
{
	switch (f) {
#define VECMATH(name, ulp, how)                                                          \
	case HN_FN_##name:                                                               \
		return hn_vecmath_##name;
#include "target/cpu/vecmath.def"
#undef VECMATH
	default:
		return NULL;
	}
}

LLVMValueRef hn_vecmath_sqrt(const struct hn_vec *v, LLVMValueRef x)
{
	return hn_vec_sqrt(v, x);
}

LLVMValueRef hn_vecmath_rsqrt(const struct hn_vec *v, LLVMValueRef x)
{
	return hn_vec_div(v, hn_vec_f(v, 1), hn_vec_sqrt(v, x));
}
