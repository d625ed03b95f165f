/* lower/gpu/ptx_fmod.c -- the remainder of two float32 in PTX, exact: LLVM's own for this target is not, and
 * no library of functions is on users' machines. */
#include <math.h>

#include "lower/gpu/ptx_int.h"

typedef LLVMValueRef val;

static val whole(struct gpu *g, int64_t c)
{
	return LLVMConstInt(gpu_ptx_of(g)->i64, (uint64_t)c, 1);
}

static val pick(struct gpu *g, val c, val x, val y)
{
	return LLVMBuildSelect(gpu_ptx_of(g)->b, c, x, y, "");
}

/* x = mx 2^ex and y = my 2^ey: mx 2^(ex - ey) mod my, 32 bits of the power at a time.  Nine steps are
 * enough for all exponents. */
LLVMValueRef hn_gpu_ptx_fmod(struct gpu *g, LLVMValueRef x, LLVMValueRef y)
{
	const struct gpu_ptx *p = g->own;
	val bits[2], m[2], e[2];

	for (int i = 0; i < 2; i++) {
		val magnitude = LLVMBuildAnd(p->b, LLVMBuildBitCast(p->b, i ? y : x, p->i32, ""),
					     LLVMConstInt(p->i32, 0x7fffffff, 0), "");

		bits[i] = LLVMBuildZExt(p->b, magnitude, p->i64, "");
		e[i] = LLVMBuildLShr(p->b, bits[i], whole(g, 23), "");
		m[i] = LLVMBuildAnd(p->b, bits[i], whole(g, 0x7fffff), "");
		val normal = LLVMBuildICmp(p->b, LLVMIntNE, e[i], whole(g, 0), "");

		m[i] = pick(g, normal, LLVMBuildOr(p->b, m[i], whole(g, 0x800000), ""), m[i]);
		e[i] = pick(g, normal, e[i], whole(g, 1));
	}
	/* what has no remainder is answered below; here it only must not divide by zero */
	val divisor = pick(g, LLVMBuildICmp(p->b, LLVMIntEQ, m[1], whole(g, 0), ""), whole(g, 1), m[1]);
	val rest = LLVMBuildURem(p->b, m[0], divisor, "");
	val left = LLVMBuildSub(p->b, e[0], e[1], "");

	for (int step = 0; step < 9; step++) {
		val some = LLVMBuildICmp(p->b, LLVMIntSLT, left, whole(g, 0), "");
		val n = pick(g, LLVMBuildICmp(p->b, LLVMIntSLT, left, whole(g, 32), ""), left,
			     whole(g, 32));

		n = pick(g, some, whole(g, 0), n);
		rest = LLVMBuildURem(p->b, LLVMBuildShl(p->b, rest, n, ""), divisor, "");
		left = LLVMBuildSub(p->b, left, n, "");
	}
	/* rest 2^(ey - 150) in float64, which has the power */
	val biased = LLVMBuildAdd(p->b, e[1], whole(g, 1023 - 150), "");
	val bits_of_power = LLVMBuildShl(p->b, biased, whole(g, 52), "");
	val r = LLVMBuildFMul(p->b, LLVMBuildUIToFP(p->b, rest, p->f64, ""),
			      LLVMBuildBitCast(p->b, bits_of_power, p->f64, ""), "");
	val wide = LLVMBuildFPExt(p->b, x, p->f64, "");
	val none = LLVMBuildOr(p->b, LLVMBuildICmp(p->b, LLVMIntUGE, bits[0], whole(g, 0x7f800000), ""),
			       LLVMBuildICmp(p->b, LLVMIntEQ, bits[1], whole(g, 0), ""), "");

	none = LLVMBuildOr(p->b, none,
			   LLVMBuildICmp(p->b, LLVMIntUGT, bits[1], whole(g, 0x7f800000), ""), "");
	r = pick(g, LLVMBuildICmp(p->b, LLVMIntULT, bits[0], bits[1], ""),
		 hn_gpu_ptx_intrinsic(g, "llvm.fabs", p->f64, &wide, 1), r);
	r = pick(g, none, LLVMConstReal(p->f64, NAN), r);
	val signed_r[2] = { r, wide };

	return LLVMBuildFPTrunc(p->b, hn_gpu_ptx_intrinsic(g, "llvm.copysign", p->f64, signed_r, 2),
				p->f32, "");
}
