/* lower/gpu/ptx_math.c -- functions in PTX: instructions, the straight-line code of lower/vecmath/,
 * which is the same on a CPU, and for what is left that of ptx_wide.c. */
#include "lower/gpu/ptx_int.h"
#include "lower/vecmath/vecmath.h"

/* Exact functions, which are instructions or a few. */
static const char *const intrinsic[HN_N_FN] = {
	[HN_FN_sqrt] = "llvm.sqrt",	    [HN_FN_abs] = "llvm.fabs",
	[HN_FN_fabs] = "llvm.fabs",	    [HN_FN_floor] = "llvm.floor",
	[HN_FN_ceil] = "llvm.ceil",	    [HN_FN_trunc] = "llvm.trunc",
	[HN_FN_round] = "llvm.round",	    [HN_FN_nearbyint] = "llvm.roundeven",
};

gpu_val hn_gpu_ptx_call(struct gpu *g, enum hn_fn fn, enum hn_dtype t, const gpu_val *arg)
{
	const struct gpu_ptx *p = g->own;
	LLVMValueRef x = (LLVMValueRef)(uintptr_t)arg[0];

	if (hn_dtype_class(t) == HN_CLASS_FLOAT && intrinsic[fn] != NULL) {
		return hn_gpu_ptx_intrinsic(g, intrinsic[fn], LLVMTypeOf(x), &x, 1);
	}
	if (t == HN_F32 && hn_vecmath_of(fn) != NULL) {
		const struct hn_vec scalar = { .ctx = p->ctx, .mod = p->mod, .b = p->b };

		return hn_vecmath_of(fn)(&scalar, x);
	}
	if (fn == HN_FN_abs && hn_dtype_class(t) == HN_CLASS_SIGNED) {
		LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x));
		LLVMValueRef negative = LLVMBuildICmp(p->b, LLVMIntSLT, x, zero, "");

		return LLVMBuildSelect(p->b, negative, LLVMBuildNeg(p->b, x, ""), x, "");
	}
	if (fn == HN_FN_abs) {
		return x;
	}
	if (t == HN_F32 && fn == HN_FN_fmod) {
		return hn_gpu_ptx_fmod(g, x, (LLVMValueRef)(uintptr_t)arg[1]);
	}
	if (t == HN_F32 || t == HN_F64) {
		LLVMValueRef v = hn_gpu_ptx_wide(g, fn, t, x, (LLVMValueRef)(uintptr_t)arg[1]);

		if (v != NULL) {
			return v;
		}
	}
	hn_gpu_refuse(g, HONE_E_UNSUPPORTED, "function %s on %s has no code for PTX",
		      hn_fn_name(fn), hn_dtype_name(t));
	return x;
}
