/* lower/gpu/ptx_value.c -- values as LLVM's. */
#include "lower/gpu/ptx_int.h"

#include <string.h>

static LLVMValueRef of(gpu_val v)
{
	return (LLVMValueRef)(uintptr_t)v;
}

LLVMTypeRef hn_gpu_ptx_type(struct gpu *g, enum hn_dtype t)
{
	const struct gpu_ptx *p = g->own;

	if (hn_dtype_class(t) == HN_CLASS_FLOAT) {
		return hn_dtype_arith(t) == HN_F64 ? p->f64 : p->f32;
	}
	if (t == HN_BOOL) {
		return p->i1;
	}
	return LLVMIntTypeInContext(p->ctx, 8 * hn_dtype_bytes(t));
}

LLVMTypeRef hn_gpu_ptx_stored(struct gpu *g, enum hn_dtype t)
{
	const struct gpu_ptx *p = g->own;

	return t == HN_BOOL  ? p->i8
	       : t == HN_F16 ? LLVMHalfTypeInContext(p->ctx)
	       : t == HN_BF16 ? LLVMBFloatTypeInContext(p->ctx)
			      : hn_gpu_ptx_type(g, t);
}

LLVMValueRef hn_gpu_ptx_intrinsic(struct gpu *g, const char *name, LLVMTypeRef over,
				  LLVMValueRef *arg, uint32_t n)
{
	const struct gpu_ptx *p = g->own;
	unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
	LLVMValueRef fn;

	if (id == 0) {
		hn_bug(__FILE__, __LINE__, name);
	}
	fn = LLVMGetIntrinsicDeclaration(p->mod, id, &over, over != NULL);
	return LLVMBuildCall2(p->b, LLVMGlobalGetValueType(fn), fn, arg, n, "");
}

gpu_val hn_gpu_ptx_number(struct gpu *g, enum hn_dtype t, int64_t v)
{
	return LLVMConstInt(hn_gpu_ptx_type(g, t), (uint64_t)v, 1);
}

gpu_val hn_gpu_ptx_real(struct gpu *g, enum hn_dtype t, double v)
{
	return LLVMConstReal(hn_gpu_ptx_type(g, t), v);
}

static LLVMValueRef float_binary(struct gpu *g, enum hn_expr_op op, LLVMValueRef x,
				 LLVMValueRef y)
{
	const struct gpu_ptx *p = g->own;
	LLVMValueRef v;

	switch (op) {
	case HN_EXPR_ADD:
		v = LLVMBuildFAdd(p->b, x, y, "");
		break;
	case HN_EXPR_SUB:
		v = LLVMBuildFSub(p->b, x, y, "");
		break;
	case HN_EXPR_MUL:
		v = LLVMBuildFMul(p->b, x, y, "");
		break;
	case HN_EXPR_DIV:
		return LLVMBuildFDiv(p->b, x, y, "");
	case HN_EXPR_MIN:
		return LLVMBuildSelect(p->b, LLVMBuildFCmp(p->b, LLVMRealOLT, x, y, ""), x, y, "");
	case HN_EXPR_MAX:
		return LLVMBuildSelect(p->b, LLVMBuildFCmp(p->b, LLVMRealOGT, x, y, ""), x, y, "");
	default:
		hn_gpu_refuse(g, HONE_E_UNSUPPORTED, "%s on floating-point values",
			      hn_expr_op_name(op));
		return x;
	}
	if (g->options->contracts && LLVMCanValueUseFastMathFlags(v)) {
		LLVMSetFastMathFlags(v, LLVMFastMathAllowContract);
	}
	return v;
}

/* Remainders and quotients that round down. */
static LLVMValueRef floored(struct gpu *g, bool mod, LLVMValueRef x, LLVMValueRef y)
{
	const struct gpu_ptx *p = g->own;
	LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x)), r = LLVMBuildSRem(p->b, x, y, "");
	LLVMValueRef apart = LLVMBuildAnd(
		p->b, LLVMBuildICmp(p->b, LLVMIntNE, r, zero, ""),
		LLVMBuildICmp(p->b, LLVMIntSLT, LLVMBuildXor(p->b, r, y, ""), zero, ""), "");

	if (mod) {
		return LLVMBuildSelect(p->b, apart, LLVMBuildAdd(p->b, r, y, ""), r, "");
	}
	LLVMValueRef q = LLVMBuildSDiv(p->b, x, y, "");

	return LLVMBuildAdd(p->b, q, LLVMBuildSExt(p->b, apart, LLVMTypeOf(q), ""), "");
}

static LLVMValueRef int_binary(struct gpu *g, enum hn_expr_op op, bool is_signed, LLVMValueRef x,
			       LLVMValueRef y, bool exact)
{
	const struct gpu_ptx *p = g->own;
	bool mod = op == HN_EXPR_FLOORMOD || op == HN_EXPR_TRUNCMOD;
	LLVMIntPredicate less = is_signed ? LLVMIntSLT : LLVMIntULT;

	switch (op) {
	case HN_EXPR_ADD:
		return exact ? LLVMBuildNSWAdd(p->b, x, y, "") : LLVMBuildAdd(p->b, x, y, "");
	case HN_EXPR_SUB:
		return exact ? LLVMBuildNSWSub(p->b, x, y, "") : LLVMBuildSub(p->b, x, y, "");
	case HN_EXPR_MUL:
		return exact ? LLVMBuildNSWMul(p->b, x, y, "") : LLVMBuildMul(p->b, x, y, "");
	case HN_EXPR_MIN:
		return LLVMBuildSelect(p->b, LLVMBuildICmp(p->b, less, x, y, ""), x, y, "");
	case HN_EXPR_MAX:
		return LLVMBuildSelect(p->b, LLVMBuildICmp(p->b, less, y, x, ""), x, y, "");
	case HN_EXPR_AND:
		return LLVMBuildAnd(p->b, x, y, "");
	case HN_EXPR_OR:
		return LLVMBuildOr(p->b, x, y, "");
	default:
		break;
	}
	if (!is_signed) {
		return mod ? LLVMBuildURem(p->b, x, y, "") : LLVMBuildUDiv(p->b, x, y, "");
	}
	if (op == HN_EXPR_FLOORDIV || op == HN_EXPR_FLOORMOD) {
		return floored(g, mod, x, y);
	}
	return mod ? LLVMBuildSRem(p->b, x, y, "") : LLVMBuildSDiv(p->b, x, y, "");
}

static LLVMValueRef compare(struct gpu *g, enum hn_expr_op op, enum hn_dtype_class cls,
			    LLVMValueRef x, LLVMValueRef y)
{
	static const struct {
		LLVMRealPredicate real;
		LLVMIntPredicate with_sign, without;
	} row[] = {
		[HN_EXPR_EQ - HN_EXPR_EQ] = { LLVMRealOEQ, LLVMIntEQ, LLVMIntEQ },
		[HN_EXPR_NE - HN_EXPR_EQ] = { LLVMRealUNE, LLVMIntNE, LLVMIntNE },
		[HN_EXPR_LT - HN_EXPR_EQ] = { LLVMRealOLT, LLVMIntSLT, LLVMIntULT },
		[HN_EXPR_LE - HN_EXPR_EQ] = { LLVMRealOLE, LLVMIntSLE, LLVMIntULE },
		[HN_EXPR_GT - HN_EXPR_EQ] = { LLVMRealOGT, LLVMIntSGT, LLVMIntUGT },
		[HN_EXPR_GE - HN_EXPR_EQ] = { LLVMRealOGE, LLVMIntSGE, LLVMIntUGE },
	};
	const struct gpu_ptx *p = g->own;

	op -= HN_EXPR_EQ;
	return cls == HN_CLASS_FLOAT
		       ? LLVMBuildFCmp(p->b, row[op].real, x, y, "")
		       : LLVMBuildICmp(p->b,
				       cls == HN_CLASS_SIGNED ? row[op].with_sign : row[op].without,
				       x, y, "");
}

gpu_val hn_gpu_ptx_binary(struct gpu *g, enum hn_expr_op op, enum hn_dtype t, gpu_val x, gpu_val y,
			  bool exact)
{
	enum hn_dtype_class cls = hn_dtype_class(t);

	if (op >= HN_EXPR_EQ && op <= HN_EXPR_GE) {
		return compare(g, op, cls, of(x), of(y));
	}
	return cls == HN_CLASS_FLOAT
		       ? float_binary(g, op, of(x), of(y))
		       : int_binary(g, op, cls == HN_CLASS_SIGNED, of(x), of(y), exact);
}

gpu_val hn_gpu_ptx_not(struct gpu *g, gpu_val x)
{
	return LLVMBuildNot(gpu_ptx_of(g)->b, of(x), "");
}

/* Towards zero; past the type's end, its end; 0 for a NaN. */
static LLVMValueRef saturated(struct gpu *g, enum hn_dtype to, LLVMValueRef x)
{
	const struct gpu_ptx *p = g->own;
	const char *name =
		hn_dtype_class(to) == HN_CLASS_SIGNED ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
	LLVMTypeRef over[2] = { hn_gpu_ptx_type(g, to), LLVMTypeOf(x) };
	unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
	LLVMValueRef fn = LLVMGetIntrinsicDeclaration(p->mod, id, over, 2);

	return LLVMBuildCall2(p->b, LLVMGlobalGetValueType(fn), fn, &x, 1, "");
}

gpu_val hn_gpu_ptx_cast(struct gpu *g, enum hn_dtype to, enum hn_dtype from, gpu_val v)
{
	const struct gpu_ptx *p = g->own;
	enum hn_dtype_class a = hn_dtype_class(from), b = hn_dtype_class(to);
	LLVMTypeRef type = hn_gpu_ptx_type(g, to);
	LLVMValueRef x = of(v);

	if (b == HN_CLASS_BOOL) {
		LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x));

		return a == HN_CLASS_FLOAT ? LLVMBuildFCmp(p->b, LLVMRealUNE, x, zero, "")
					   : LLVMBuildICmp(p->b, LLVMIntNE, x, zero, "");
	}
	if (a == HN_CLASS_FLOAT && b == HN_CLASS_FLOAT) {
		return LLVMBuildFPCast(p->b, x, type, "");
	}
	if (a == HN_CLASS_FLOAT) {
		return saturated(g, to, x);
	}
	if (b == HN_CLASS_FLOAT) {
		return a == HN_CLASS_SIGNED ? LLVMBuildSIToFP(p->b, x, type, "")
					    : LLVMBuildUIToFP(p->b, x, type, "");
	}
	return LLVMBuildIntCast2(p->b, x, type, a == HN_CLASS_SIGNED, "");
}

gpu_val hn_gpu_ptx_round(struct gpu *g, enum hn_dtype to, gpu_val x)
{
	const struct gpu_ptx *p = g->own;
	LLVMValueRef v = LLVMBuildFPTrunc(p->b, of(x), hn_gpu_ptx_stored(g, to), "");

	return LLVMBuildFPExt(p->b, v, p->f32, "");
}

gpu_val hn_gpu_ptx_select(struct gpu *g, enum hn_dtype t, gpu_val c, gpu_val x, gpu_val y)
{
	(void)t;
	return LLVMBuildSelect(gpu_ptx_of(g)->b, of(c), of(x), of(y), "");
}
