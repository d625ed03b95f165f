/* lower/cpu/emit_div.c -- floating-point lanes divided by one value they share.
 *
 * A vector division occupies the divider for as many cycles as it has lanes (16 for 512
 * bits of float32 on Golden Cove, Agner Fog's tables), so a row divided by its sum or its
 * deviation waits for it and not for memory.  The reciprocal is made once, which loops
 * hoist, and the lanes are multiplied: two roundings instead of one, an error of at most
 * 1.5 units in the last place.
 *
 * 1/d overflows where d is subnormal and is itself subnormal where d is huge; such d is
 * scaled by a power of two first, and the product once more after.  Neither changes a
 * bit: what the division gives for zeros, infinities and NaNs, it gives still.
 */
#include "lower/cpu/emit_int.h"

struct limits {
	double tiny, huge; /* outside of which 1/d is not a normal number */
	double up, down;   /* scales; their product is 1 */
};

static const struct limits single = { 0x1p-126, 0x1p126, 0x1p24, 0x1p-24 };
static const struct limits twice = { 0x1p-1022, 0x1p1022, 0x1p53, 0x1p-53 };

/* The power of two that makes d's reciprocal a normal number. */
static LLVMValueRef scale_of(struct emit *e, const struct limits *m, LLVMValueRef d)
{
	LLVMTypeRef type = LLVMTypeOf(d);
	LLVMValueRef size = hn_emit_intrinsic(e, "llvm.fabs", &d, 1, type);
	LLVMValueRef low =
		LLVMBuildFCmp(e->b, LLVMRealOLT, size, LLVMConstReal(type, m->tiny), "");
	LLVMValueRef high =
		LLVMBuildFCmp(e->b, LLVMRealOGT, size, LLVMConstReal(type, m->huge), "");
	LLVMValueRef s = LLVMBuildSelect(e->b, high, LLVMConstReal(type, m->down),
					 LLVMConstReal(type, 1), "");

	return LLVMBuildSelect(e->b, low, LLVMConstReal(type, m->up), s, "");
}

struct emit_val hn_emit_divide_by_one(struct emit *e, struct emit_val x,
				      struct emit_val d)
{
	LLVMTypeRef type = LLVMTypeOf(d.v);
	const struct limits *m =
		LLVMGetTypeKind(type) == LLVMDoubleTypeKind ? &twice : &single;
	LLVMValueRef s = scale_of(e, m, d.v);
	LLVMValueRef r = LLVMBuildFDiv(e->b, LLVMConstReal(type, 1),
				       LLVMBuildFMul(e->b, d.v, s, ""), "");
	struct emit_val one = { r, false }, scale = { s, false };

	x.v = LLVMBuildFMul(e->b, x.v, hn_emit_splat(e, one), "");
	x.v = LLVMBuildFMul(e->b, x.v, hn_emit_splat(e, scale), "");
	return x;
}
