/* lower/cpu/emit_narrow.c -- values that lie in memory in another form than they are computed in:
 * bools, and floats of 16 bits; and floats that become integers, narrow ones too.
 *
 * A narrow float is carried as the float32 that it is, and what computes it rounds (dtypes.def).
 * So every machine gives the same bits, those without such instructions too.  bfloat16 is rounded
 * by integer operations: vcvtneps2bf16 flushes subnormal numbers, and is taken where sums of
 * products may do that, too.  float16 is converted by the
 * instructions that come with fused multiply-add on every processor (F16C, NEON), and by those
 * of base/half.h where there are none, since LLVM would call a library.
 */
#include "lower/cpu/emit_int.h"

#include <math.h>
#include <string.h>

static LLVMTypeRef shaped(LLVMTypeRef one, LLVMValueRef like)
{
	LLVMTypeRef t = LLVMTypeOf(like);

	return LLVMGetTypeKind(t) == LLVMVectorTypeKind
		       ? LLVMVectorType(one, LLVMGetVectorSize(t))
		       : one;
}

/* c in each lane of a value like v, an integer or a float. */
static LLVMValueRef same(LLVMValueRef c, LLVMValueRef like)
{
	LLVMTypeRef t = LLVMTypeOf(like);
	LLVMValueRef lane[EMIT_MAX_LANES];

	if (LLVMGetTypeKind(t) != LLVMVectorTypeKind) {
		return c;
	}
	for (uint32_t k = 0; k < LLVMGetVectorSize(t); k++) {
		lane[k] = c;
	}
	return LLVMConstVector(lane, LLVMGetVectorSize(t));
}

static LLVMValueRef word(struct emit *e, uint32_t c, LLVMValueRef like)
{
	return same(LLVMConstInt(e->i32, c, 0), like);
}

static LLVMValueRef real(struct emit *e, double c, LLVMValueRef like)
{
	return same(LLVMConstReal(LLVMFloatTypeInContext(e->ctx), c), like);
}

static LLVMTypeRef type_f16(struct emit *e)
{
	return LLVMHalfTypeInContext(e->ctx);
}

static LLVMTypeRef type_i16(struct emit *e)
{
	return LLVMInt16TypeInContext(e->ctx);
}

static LLVMValueRef bits_of(struct emit *e, LLVMValueRef v)
{
	return LLVMBuildBitCast(e->b, v, shaped(e->i32, v), "");
}

static LLVMValueRef float_of(struct emit *e, LLVMValueRef bits)
{
	return LLVMBuildBitCast(e->b, bits, shaped(LLVMFloatTypeInContext(e->ctx), bits),
				"");
}

/* -- bfloat16 ---------------------------------------------------------------------------- */

/* The instruction that rounds a vector like v; NULL where there is none, or it may not be taken. */
static const char *rounds_bfloat(const struct emit *e, LLVMValueRef v)
{
	LLVMTypeRef t = LLVMTypeOf(v);
	unsigned n = LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 1;

	if (!hn_emit_may(e, HN_LIBERTY_subnormals) ||
	    4 * n > hn_target_has(&e->em->target, "avx512bf16")) {
		return NULL;
	}
	return n == 16	? "llvm.x86.avx512bf16.cvtneps2bf16.512"
	       : n == 8 ? "llvm.x86.avx512bf16.cvtneps2bf16.256"
			: NULL;
}

static LLVMValueRef bfloat_load(struct emit *e, LLVMValueRef m)
{
	LLVMValueRef b = LLVMBuildZExt(e->b, m, shaped(e->i32, m), "");

	return float_of(e, LLVMBuildShl(e->b, b, word(e, 16, b), ""));
}

static LLVMValueRef bfloat_round(struct emit *e, LLVMValueRef v)
{
	const char *instruction = rounds_bfloat(e, v);

	if (instruction != NULL) {
		LLVMValueRef r = hn_emit_intrinsic(e, instruction, &v, 1, NULL);

		return bfloat_load(e, LLVMBuildBitCast(e->b, r, shaped(type_i16(e), v), ""));
	}
	LLVMValueRef b = bits_of(e, v);
	LLVMValueRef odd = LLVMBuildAnd(e->b, LLVMBuildLShr(e->b, b, word(e, 16, b), ""),
					word(e, 1, b), "");
	LLVMValueRef up = LLVMBuildAdd(
		e->b, b, LLVMBuildAdd(e->b, odd, word(e, 0x7fff, b), ""), "");
	LLVMValueRef quiet = LLVMBuildOr(e->b, b, word(e, 0x400000, b), "");
	LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, v, v, "");
	LLVMValueRef r = LLVMBuildSelect(e->b, nan, quiet, up, "");

	return float_of(e, LLVMBuildAnd(e->b, r, word(e, 0xffff0000, b), ""));
}

static LLVMValueRef bfloat_store(struct emit *e, LLVMValueRef v)
{
	LLVMValueRef b = bits_of(e, v);

	return LLVMBuildTrunc(e->b, LLVMBuildLShr(e->b, b, word(e, 16, b), ""),
			      shaped(type_i16(e), b), "");
}

/* -- float16 ----------------------------------------------------------------------------- */

static bool converts_halves(const struct emit *e)
{
	return (e->em->target.caps & HN_CAP_FMA) != 0;
}

static LLVMValueRef half_load_bits(struct emit *e, LLVMValueRef m)
{
	LLVMValueRef b = LLVMBuildZExt(e->b, m, shaped(e->i32, m), "");
	LLVMValueRef sign = LLVMBuildShl(
		e->b, LLVMBuildAnd(e->b, b, word(e, 0x8000, b), ""), word(e, 16, b), "");
	LLVMValueRef rest = LLVMBuildAnd(e->b, b, word(e, 0x7fff, b), "");
	LLVMValueRef up = LLVMBuildShl(e->b, rest, word(e, 13, b), "");
	LLVMValueRef v = float_of(e, up);
	LLVMValueRef number = bits_of(e, LLVMBuildFMul(e->b, v, real(e, 0x1p112, v), ""));
	LLVMValueRef special = LLVMBuildOr(e->b, up, word(e, 0x7f800000, b), "");
	LLVMValueRef is_special =
		LLVMBuildICmp(e->b, LLVMIntUGE, rest, word(e, 0x7c00, b), "");

	return float_of(
		e,
		LLVMBuildOr(e->b, sign,
			    LLVMBuildSelect(e->b, is_special, special, number, ""), ""));
}

static LLVMValueRef half_store_bits(struct emit *e, LLVMValueRef v)
{
	LLVMValueRef b = bits_of(e, v);
	LLVMValueRef sign = LLVMBuildAnd(e->b, LLVMBuildLShr(e->b, b, word(e, 16, b), ""),
					 word(e, 0x8000, b), "");
	LLVMValueRef rest = LLVMBuildAnd(e->b, b, word(e, 0x7fffffff, b), "");
	LLVMValueRef shifted = LLVMBuildLShr(e->b, rest, word(e, 13, b), "");
	LLVMValueRef odd = LLVMBuildAnd(e->b, shifted, word(e, 1, b), "");
	LLVMValueRef sum = LLVMBuildAdd(
		e->b, rest, LLVMBuildAdd(e->b, odd, word(e, 0xc8000fff, b), ""), "");
	LLVMValueRef r = LLVMBuildLShr(e->b, sum, word(e, 13, b), "");
	LLVMValueRef low =
		bits_of(e, LLVMBuildFAdd(e->b, float_of(e, rest), real(e, 0.5, v), ""));

	low = LLVMBuildSub(e->b, low, word(e, 0x3f000000, b), "");
	r = LLVMBuildSelect(
		e->b, LLVMBuildICmp(e->b, LLVMIntULT, rest, word(e, 0x38800000, b), ""),
		low, r, "");
	r = LLVMBuildSelect(
		e->b, LLVMBuildICmp(e->b, LLVMIntUGE, rest, word(e, 0x477ff000, b), ""),
		word(e, 0x7c00, b), r, "");
	LLVMValueRef nan =
		LLVMBuildOr(e->b, word(e, 0x7e00, b),
			    LLVMBuildAnd(e->b, shifted, word(e, 0x3ff, b), ""), "");

	r = LLVMBuildSelect(
		e->b, LLVMBuildICmp(e->b, LLVMIntUGT, rest, word(e, 0x7f800000, b), ""),
		nan, r, "");
	return LLVMBuildTrunc(e->b, LLVMBuildOr(e->b, sign, r, ""),
			      shaped(type_i16(e), b), "");
}

static LLVMValueRef half_load(struct emit *e, LLVMValueRef m)
{
	if (!converts_halves(e)) {
		return half_load_bits(e, m);
	}
	LLVMValueRef h = LLVMBuildBitCast(e->b, m, shaped(type_f16(e), m), "");

	return LLVMBuildFPExt(e->b, h, shaped(LLVMFloatTypeInContext(e->ctx), h), "");
}

static LLVMValueRef half_store(struct emit *e, LLVMValueRef v)
{
	if (!converts_halves(e)) {
		return half_store_bits(e, v);
	}
	LLVMValueRef h = LLVMBuildFPTrunc(e->b, v, shaped(type_f16(e), v), "");

	return LLVMBuildBitCast(e->b, h, shaped(type_i16(e), h), "");
}

/* -- by type ----------------------------------------------------------------------------- */

LLVMTypeRef hn_emit_memory_type(struct emit *e, enum hn_dtype t)
{
	return t == HN_BOOL	       ? e->i8
	       : hn_dtype_is_narrow(t) ? type_i16(e)
				       : hn_emit_type(e, t);
}

LLVMValueRef hn_emit_from_memory(struct emit *e, enum hn_dtype t, LLVMValueRef m)
{
	switch (t) {
	case HN_BOOL:
		return LLVMBuildICmp(e->b, LLVMIntNE, m, LLVMConstNull(LLVMTypeOf(m)),
				     "");
	case HN_BF16:
		return bfloat_load(e, m);
	case HN_F16:
		return half_load(e, m);
	default:
		hn_assert(!hn_dtype_is_narrow(t));
		return m;
	}
}

LLVMValueRef hn_emit_to_memory(struct emit *e, enum hn_dtype t, LLVMValueRef v)
{
	switch (t) {
	case HN_BOOL:
		return LLVMBuildZExt(e->b, v, shaped(e->i8, v), "");
	case HN_BF16:
		return bfloat_store(e, v);
	case HN_F16:
		return half_store(e, v);
	default:
		hn_assert(!hn_dtype_is_narrow(t));
		return v;
	}
}

LLVMValueRef hn_emit_rounded(struct emit *e, enum hn_dtype t, LLVMValueRef v)
{
	switch (t) {
	case HN_BF16:
		return bfloat_round(e, v);
	case HN_F16:
		return half_load(e, half_store(e, v));
	default:
		hn_assert(!hn_dtype_is_narrow(t));
		return v;
	}
}

/* -- floats to integers --------------------------------------------------------------------- */

static LLVMValueRef converted(struct emit *e, LLVMValueRef v, LLVMTypeRef type, bool is_signed)
{
	const char *name = is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
	LLVMTypeRef over[2] = { type, LLVMTypeOf(v) };
	unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
	LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->mod, id, over, 2);

	return LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, &v, 1, "");
}

/* The integer towards zero; past the type's end, its end; 0 for a NaN.
 *
 * The conversion of what does not fit raises the flag of an invalid operation, by which boards
 * tell that a program left the range of numbers (measure/drv/cpu_sets.c). An end is none, so the
 * naive program converts only what fits. */
static LLVMValueRef saturated(struct emit *e, LLVMValueRef v, LLVMTypeRef type, bool is_signed)
{
	LLVMTypeRef from = LLVMTypeOf(v);

	if (!e->opt->scalar || LLVMGetTypeKind(type) != LLVMIntegerTypeKind) {
		return converted(e, v, type, is_signed);
	}
	unsigned bits = LLVMGetIntTypeWidth(type);
	double above = ldexp(1, (int)bits - (is_signed ? 1 : 0)), below = is_signed ? -above : -1;
	LLVMValueRef high = LLVMBuildFCmp(e->b, LLVMRealOLT, v, LLVMConstReal(from, above), "");
	LLVMValueRef low = LLVMBuildFCmp(e->b, is_signed ? LLVMRealOGE : LLVMRealOGT, v,
					 LLVMConstReal(from, below), "");
	LLVMValueRef fits = LLVMBuildAnd(e->b, high, low, "");
	LLVMValueRef inside = LLVMBuildFreeze(
		e->b, LLVMBuildSelect(e->b, fits, v, LLVMConstNull(from), ""), "");
	LLVMValueRef most = LLVMConstAllOnes(type), least = LLVMConstNull(type);

	if (is_signed) {
		least = LLVMConstInt(type, (uint64_t)1 << (bits - 1), 0);
		most = LLVMConstNot(least);
	}
	LLVMValueRef end = LLVMBuildSelect(
		e->b, LLVMBuildFCmp(e->b, LLVMRealOGT, v, LLVMConstNull(from), ""), most,
		LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOLT, v, LLVMConstNull(from), ""),
				least, LLVMConstNull(type), ""),
		"");

	return LLVMBuildSelect(e->b, fits, converted(e, inside, type, is_signed), end, "");
}

/* x where it is on that side of the end, else the end: of a NaN, too. */
static LLVMValueRef held(struct emit *e, LLVMValueRef x, LLVMRealPredicate side, double end)
{
	LLVMTypeRef t = LLVMTypeOf(x);
	LLVMValueRef limit = same(LLVMConstReal(LLVMGetElementType(t), end), x);

	return LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, side, x, limit, ""), x, limit, "");
}

static bool is_constant(const struct hn_expr *x, double *ret)
{
	*ret = x->op == HN_EXPR_INT ? (double)x->u.i : x->u.f;
	return x->op == HN_EXPR_INT || (x->op == HN_EXPR_FLOAT && !isnan(x->u.f));
}

/* Whether the program itself holds x between the ends, as min(max(y, 0), 255) does, so that it is
 * no NaN either: max(y, c) is y > c ? y : c. */
static bool is_held(const struct hn_expr *x, double bottom, double top)
{
	bool is_min = x->op == HN_EXPR_MIN;
	double c, d;

	if (!(is_min || x->op == HN_EXPR_MAX) || !is_constant(x->arg[1], &c) || c < bottom ||
	    c > top) {
		return false;
	}
	const struct hn_expr *y = x->arg[0];

	return y->op == (is_min ? HN_EXPR_MAX : HN_EXPR_MIN) && is_constant(y->arg[1], &d) &&
	       d >= bottom && d <= top;
}

/* LLVM 22 converts vectors to bytes and words lane by lane.  The ends of such types are floats:
 * between them a conversion to 32 bits is exact. */
LLVMValueRef hn_emit_saturated(struct emit *e, LLVMValueRef v, const struct hn_expr *from,
			       enum hn_dtype t, LLVMTypeRef type)
{
	bool is_signed = hn_dtype_class(t) == HN_CLASS_SIGNED;
	int bits = 8 * hn_dtype_bytes(t) - is_signed;

	if (LLVMGetTypeKind(type) != LLVMVectorTypeKind || bits > 16) {
		return saturated(e, v, type, is_signed);
	}
	double top = (double)(1 << bits), bottom = is_signed ? -top : 0;
	bool in_range = is_held(from, bottom, top - 1);
	LLVMValueRef x = in_range ? v : held(e, v, LLVMRealOGT, bottom);

	x = in_range ? x : held(e, x, LLVMRealOLT, top - 1);
	x = LLVMBuildFPToSI(e->b, x, shaped(e->i32, v), "");
	if (is_signed && !in_range) {
		LLVMValueRef number = LLVMBuildFCmp(e->b, LLVMRealORD, v, v, "");

		x = LLVMBuildSelect(e->b, number, x, LLVMConstNull(LLVMTypeOf(x)), "");
	}
	return LLVMBuildTrunc(e->b, x, type, "");
}
