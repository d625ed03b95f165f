/* lower/vecmath.c -- the operations of vecmath.h, and the table of functions. */
#include "lower/vecmath.h"

hn_vecmath_fn hn_vecmath_of(enum hn_fn f)
{
	switch (f) {
#define VECMATH(name, ulp, how)                                                          \
	case HN_FN_##name:                                                               \
		return hn_vecmath_##name;
#include "lower/vecmath.def"
#undef VECMATH
	default:
		return NULL;
	}
}

static LLVMTypeRef shaped(const struct hn_vec *v, LLVMTypeRef one)
{
	return v->lanes ? LLVMVectorType(one, v->lanes) : one;
}

static LLVMTypeRef type_f(const struct hn_vec *v)
{
	return shaped(v, LLVMFloatTypeInContext(v->e->ctx));
}

static LLVMTypeRef type_i(const struct hn_vec *v)
{
	return shaped(v, v->e->i32);
}

static LLVMValueRef splat(const struct hn_vec *v, LLVMValueRef c)
{
	LLVMValueRef lane[EMIT_MAX_LANES];

	if (!v->lanes) {
		return c;
	}
	for (uint32_t k = 0; k < v->lanes; k++) {
		lane[k] = c;
	}
	return LLVMConstVector(lane, v->lanes);
}

LLVMValueRef hn_vec_f(const struct hn_vec *v, double c)
{
	return splat(v, LLVMConstReal(LLVMFloatTypeInContext(v->e->ctx), c));
}

LLVMValueRef hn_vec_i(const struct hn_vec *v, uint32_t c)
{
	return splat(v, LLVMConstInt(v->e->i32, c, 0));
}

LLVMValueRef hn_vec_fma(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y,
			LLVMValueRef z)
{
	LLVMValueRef arg[3] = { x, y, z };

	return hn_emit_intrinsic(v->e, "llvm.fma", arg, 3, type_f(v));
}

LLVMValueRef hn_vec_add(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y)
{
	return LLVMBuildFAdd(v->e->b, x, y, "");
}

LLVMValueRef hn_vec_sub(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y)
{
	return LLVMBuildFSub(v->e->b, x, y, "");
}

LLVMValueRef hn_vec_mul(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y)
{
	return LLVMBuildFMul(v->e->b, x, y, "");
}

LLVMValueRef hn_vec_div(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y)
{
	return LLVMBuildFDiv(v->e->b, x, y, "");
}

LLVMValueRef hn_vec_abs(const struct hn_vec *v, LLVMValueRef x)
{
	return hn_emit_intrinsic(v->e, "llvm.fabs", &x, 1, type_f(v));
}

LLVMValueRef hn_vec_sqrt(const struct hn_vec *v, LLVMValueRef x)
{
	return hn_emit_intrinsic(v->e, "llvm.sqrt", &x, 1, type_f(v));
}

LLVMValueRef hn_vec_copysign(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y)
{
	LLVMValueRef arg[2] = { x, y };

	return hn_emit_intrinsic(v->e, "llvm.copysign", arg, 2, type_f(v));
}

LLVMValueRef hn_vec_poly(const struct hn_vec *v, LLVMValueRef x, const float *c,
			 uint32_t n)
{
	LLVMValueRef p = hn_vec_f(v, (double)c[0]);

	for (uint32_t i = 1; i < n; i++) {
		p = hn_vec_fma(v, p, x, hn_vec_f(v, (double)c[i]));
	}
	return p;
}

LLVMValueRef hn_vec_if_less(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y,
			    LLVMValueRef t, LLVMValueRef f)
{
	LLVMValueRef c = LLVMBuildFCmp(v->e->b, LLVMRealOLT, x, y, "");

	return LLVMBuildSelect(v->e->b, c, t, f, "");
}

LLVMValueRef hn_vec_if_equal(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y,
			     LLVMValueRef t, LLVMValueRef f)
{
	LLVMValueRef c = LLVMBuildFCmp(v->e->b, LLVMRealOEQ, x, y, "");

	return LLVMBuildSelect(v->e->b, c, t, f, "");
}

LLVMValueRef hn_vec_at_most(const struct hn_vec *v, LLVMValueRef x, double c)
{
	LLVMValueRef limit = hn_vec_f(v, c);

	return hn_vec_if_less(v, limit, x, limit, x);
}

LLVMValueRef hn_vec_at_least(const struct hn_vec *v, LLVMValueRef x, double c)
{
	LLVMValueRef limit = hn_vec_f(v, c);

	return hn_vec_if_less(v, x, limit, limit, x);
}

LLVMValueRef hn_vec_bits(const struct hn_vec *v, LLVMValueRef x)
{
	return LLVMBuildBitCast(v->e->b, x, type_i(v), "");
}

LLVMValueRef hn_vec_from_bits(const struct hn_vec *v, LLVMValueRef i)
{
	return LLVMBuildBitCast(v->e->b, i, type_f(v), "");
}

LLVMValueRef hn_vecmath_sqrt(const struct hn_vec *v, LLVMValueRef x)
{
	return hn_vec_sqrt(v, x);
}

LLVMValueRef hn_vecmath_rsqrt(const struct hn_vec *v, LLVMValueRef x)
{
	return hn_vec_div(v, hn_vec_f(v, 1), hn_vec_sqrt(v, x));
}
