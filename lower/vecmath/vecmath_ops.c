/* lower/vecmath/vecmath_ops.c -- the operations that functions of lower/vecmath/vecmath.h are made of. */
#include <string.h>

#include "lower/vecmath/vecmath.h"

static LLVMValueRef splat(const struct hn_vec *v, LLVMValueRef c)
{
	LLVMValueRef lane[HN_VEC_MAX_LANES];

	if (!v->lanes) {
		return c;
	}
	for (uint32_t k = 0; k < v->lanes; k++) {
		lane[k] = c;
	}
	return LLVMConstVector(lane, v->lanes);
}

static LLVMValueRef joined(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y,
			   uint32_t n)
{
	LLVMValueRef at[HN_VEC_MAX_LANES];

	for (uint32_t k = 0; k < 2 * n; k++) {
		at[k] = LLVMConstInt(LLVMInt32TypeInContext(v->ctx), k, 0);
	}
	return LLVMBuildShuffleVector(v->b, x, y, LLVMConstVector(at, 2 * n), "");
}

static LLVMValueRef scale_register(const struct hn_vec *v, LLVMValueRef p, LLVMValueRef n)
{
	static const char *const names[] = { "llvm.x86.avx512.mask.scalef.ps.128",
					     "llvm.x86.avx512.mask.scalef.ps.256",
					     "llvm.x86.avx512.mask.scalef.ps.512" };
	const char *name = names[v->lanes / 8];
	unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
	LLVMTypeRef mask = v->lanes > 8 ? LLVMInt16TypeInContext(v->ctx) : LLVMInt8TypeInContext(v->ctx);
	LLVMValueRef arg[] = { p, n, p, LLVMConstAllOnes(mask),
			       LLVMConstInt(LLVMInt32TypeInContext(v->ctx), 4, 0) /* rounding as set */ };
	LLVMValueRef fn = LLVMGetIntrinsicDeclaration(v->mod, id, NULL, 0);

	return LLVMBuildCall2(v->b, LLVMGlobalGetValueType(fn), fn, arg,
			      v->lanes > 8 ? 5 : 4, "");
}

/* Lanes from..from + n of x. */
static LLVMValueRef some_lanes(const struct hn_vec *v, LLVMValueRef x, uint32_t from,
			       uint32_t n)
{
	LLVMValueRef at[HN_VEC_MAX_LANES];

	for (uint32_t k = 0; k < n; k++) {
		at[k] = LLVMConstInt(LLVMInt32TypeInContext(v->ctx), from + k, 0);
	}
	return LLVMBuildShuffleVector(v->b, x, x, LLVMConstVector(at, n), "");
}

static LLVMValueRef intrinsic(const struct hn_vec *v, const char *name, LLVMValueRef *arg,
			      uint32_t n, LLVMTypeRef over)
{
	unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
	LLVMValueRef fn = LLVMGetIntrinsicDeclaration(v->mod, id, &over, 1);

	return LLVMBuildCall2(v->b, LLVMGlobalGetValueType(fn), fn, arg, n, "");
}

static LLVMTypeRef shaped(const struct hn_vec *v, LLVMTypeRef one)
{
	return v->lanes ? LLVMVectorType(one, v->lanes) : one;
}

static LLVMTypeRef type_f(const struct hn_vec *v)
{
	return shaped(v, LLVMFloatTypeInContext(v->ctx));
}

static LLVMTypeRef type_i(const struct hn_vec *v)
{
	return shaped(v, LLVMInt32TypeInContext(v->ctx));
}

LLVMValueRef hn_vec_f(const struct hn_vec *v, double c)
{
	return splat(v, LLVMConstReal(LLVMFloatTypeInContext(v->ctx), c));
}

LLVMValueRef hn_vec_i(const struct hn_vec *v, uint32_t c)
{
	return splat(v, LLVMConstInt(LLVMInt32TypeInContext(v->ctx), c, 0));
}

LLVMValueRef hn_vec_add(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y)
{
	return LLVMBuildFAdd(v->b, x, y, "");
}

LLVMValueRef hn_vec_sub(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y)
{
	return LLVMBuildFSub(v->b, x, y, "");
}

LLVMValueRef hn_vec_mul(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y)
{
	return LLVMBuildFMul(v->b, x, y, "");
}

LLVMValueRef hn_vec_div(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y)
{
	return LLVMBuildFDiv(v->b, x, y, "");
}

LLVMValueRef hn_vec_fma(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y,
			LLVMValueRef z)
{
	LLVMValueRef arg[3] = { x, y, z };

	return intrinsic(v, "llvm.fma", arg, 3, type_f(v));
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

LLVMValueRef hn_vec_abs(const struct hn_vec *v, LLVMValueRef x)
{
	return intrinsic(v, "llvm.fabs", &x, 1, type_f(v));
}

LLVMValueRef hn_vec_sqrt(const struct hn_vec *v, LLVMValueRef x)
{
	return intrinsic(v, "llvm.sqrt", &x, 1, type_f(v));
}

LLVMValueRef hn_vec_copysign(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y)
{
	LLVMValueRef arg[2] = { x, y };

	return intrinsic(v, "llvm.copysign", arg, 2, type_f(v));
}

LLVMValueRef hn_vec_bits(const struct hn_vec *v, LLVMValueRef x)
{
	return LLVMBuildBitCast(v->b, x, type_i(v), "");
}

LLVMValueRef hn_vec_from_bits(const struct hn_vec *v, LLVMValueRef i)
{
	return LLVMBuildBitCast(v->b, i, type_f(v), "");
}

LLVMValueRef hn_vec_if_less(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y,
			    LLVMValueRef t, LLVMValueRef f)
{
	LLVMValueRef c = LLVMBuildFCmp(v->b, LLVMRealOLT, x, y, "");

	return LLVMBuildSelect(v->b, c, t, f, "");
}

LLVMValueRef hn_vec_if_equal(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y,
			     LLVMValueRef t, LLVMValueRef f)
{
	LLVMValueRef c = LLVMBuildFCmp(v->b, LLVMRealOEQ, x, y, "");

	return LLVMBuildSelect(v->b, c, t, f, "");
}

LLVMValueRef hn_vec_scale(const struct hn_vec *v, LLVMValueRef p, LLVMValueRef n)
{
	if (v->lanes < 4 || !v->scales) {
		return NULL;
	}
	if (v->lanes > 16) { /* more than a register: in halves */
		struct hn_vec half = *v;
		LLVMValueRef part[2];

		half.lanes /= 2;
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t from = k * half.lanes;

			part[k] = hn_vec_scale(&half, some_lanes(v, p, from, half.lanes),
					       some_lanes(v, n, from, half.lanes));
		}
		return joined(v, part[0], part[1], half.lanes);
	}
	return scale_register(v, p, n);
}
