/* lower/gpu/ptx_wide.c -- functions in PTX by way of float64: those of float32 that lower/vecmath/ has
 * no code for, and a few of float64.
 *
 * They are rare in kernels, so they are plain rather than fast: reductions by fused multiply-add,
 * Taylor's series, no branches, no tables.  Sources: Cody and Waite, Software Manual for the
 * Elementary Functions (1980); Payne and Hanek, Radian Reduction for Trigonometric Functions,
 * SIGNUM Newsletter 18 (1983), for arguments past 2^30. */
#include "lower/gpu/ptx_int.h"

#define LN2_HI 0x1.62e42fefa39efp-1
#define LN2_LO 0x1.abc9e3b39803fp-56
#define LOG2E 0x1.71547652b82fep+0
#define LOG10E 0x1.bcb7b1526e50ep-2
#define LOG10_2 0x1.34413509f79ffp-2
#define PI_2_HI 0x1.921fb54442d18p+0
#define PI_2_LO 0x1.1a62633145c07p-54
#define SQRT_HALF_BITS 0x3fe6a09e667f3bcdULL

/* 2 / pi in 256 bits behind the point, lowest word first. */
static const uint64_t two_over_pi[4] = { 0xfe5163abdebbc561ULL, 0xdb6295993c439041ULL,
					 0xfc2757d1f534ddc0ULL, 0xa2f9836e4e441529ULL };

/* 1 / k! from the highest k down. */
static const double exp_c[] = { 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
				1.0 / 362880,	  1.0 / 40320,	   1.0 / 5040,	   1.0 / 720,
				1.0 / 120,	  1.0 / 24,	   1.0 / 6,	   0.5,
				1,		  1 };
/* sin(r) / r and cos(r) in r^2, sinh(x) / x in x^2, log(m) / t in t^2 for t = (m - 1) / (m + 1) */
static const double sin_c[] = { 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040,
				1.0 / 120,	  -1.0 / 6,	   1 };
static const double cos_c[] = { 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720,
				1.0 / 24,	 -0.5,		 1 };
static const double sinh_c[] = { 1.0 / 6227020800, 1.0 / 39916800, 1.0 / 362880, 1.0 / 5040,
				 1.0 / 120,	   1.0 / 6,	   1 };
static const double log_c[] = { 2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
				2.0 / 11, 2.0 / 9,  2.0 / 7,  2.0 / 5,	2.0 / 3,  2 };

typedef LLVMValueRef val;

static val real(struct gpu *g, double c)
{
	return LLVMConstReal(gpu_ptx_of(g)->f64, c);
}

static val whole(struct gpu *g, int64_t c)
{
	return LLVMConstInt(gpu_ptx_of(g)->i64, (uint64_t)c, 1);
}

static val add(struct gpu *g, val x, val y)
{
	return LLVMBuildFAdd(gpu_ptx_of(g)->b, x, y, "");
}

static val sub(struct gpu *g, val x, val y)
{
	return LLVMBuildFSub(gpu_ptx_of(g)->b, x, y, "");
}

static val mul(struct gpu *g, val x, val y)
{
	return LLVMBuildFMul(gpu_ptx_of(g)->b, x, y, "");
}

static val quotient(struct gpu *g, val x, val y)
{
	return LLVMBuildFDiv(gpu_ptx_of(g)->b, x, y, "");
}

static val fma_of(struct gpu *g, val x, val y, val z)
{
	val arg[3] = { x, y, z };

	return hn_gpu_ptx_intrinsic(g, "llvm.fma", gpu_ptx_of(g)->f64, arg, 3);
}

static val call(struct gpu *g, const char *name, val x)
{
	return hn_gpu_ptx_intrinsic(g, name, gpu_ptx_of(g)->f64, &x, 1);
}

static val copysign_of(struct gpu *g, val x, val sign)
{
	val arg[2] = { x, sign };

	return hn_gpu_ptx_intrinsic(g, "llvm.copysign", gpu_ptx_of(g)->f64, arg, 2);
}

static val is(struct gpu *g, LLVMRealPredicate p, val x, val y)
{
	return LLVMBuildFCmp(gpu_ptx_of(g)->b, p, x, y, "");
}

static val pick(struct gpu *g, val c, val x, val y)
{
	return LLVMBuildSelect(gpu_ptx_of(g)->b, c, x, y, "");
}

static val both(struct gpu *g, val x, val y)
{
	return LLVMBuildAnd(gpu_ptx_of(g)->b, x, y, "");
}

/* Saturates; 0 for a NaN. */
static val to_whole(struct gpu *g, val x)
{
	return (val)(uintptr_t)hn_gpu_ptx_cast(g, HN_I64, HN_F64, x);
}

static val poly(struct gpu *g, val x, const double *c, size_t n)
{
	val p = real(g, c[0]);

	for (size_t i = 1; i < n; i++) {
		p = fma_of(g, p, x, real(g, c[i]));
	}
	return p;
}

/* NaN stays. */
static val clamped(struct gpu *g, val x, double lo, double hi)
{
	x = pick(g, is(g, LLVMRealOGT, x, real(g, hi)), real(g, hi), x);
	return pick(g, is(g, LLVMRealOLT, x, real(g, lo)), real(g, lo), x);
}

static val power_of_two(struct gpu *g, val n)
{
	const struct gpu_ptx *p = g->own;
	val bits = LLVMBuildShl(p->b, LLVMBuildAdd(p->b, n, whole(g, 1023), ""), whole(g, 52), "");

	return LLVMBuildBitCast(p->b, bits, p->f64, "");
}

/* exp(r) 2^n, in two steps so that neither leaves the normal numbers. */
static val scaled_exp(struct gpu *g, val r, val n)
{
	const struct gpu_ptx *p = g->own;
	val k = to_whole(g, n), half = LLVMBuildAShr(p->b, k, whole(g, 1), "");
	val e = poly(g, r, exp_c, HN_COUNT_OF(exp_c));

	e = mul(g, e, power_of_two(g, half));
	return mul(g, e, power_of_two(g, LLVMBuildSub(p->b, k, half, "")));
}

static val exp_of(struct gpu *g, val x)
{
	x = clamped(g, x, -746, 710);
	val n = call(g, "llvm.roundeven", mul(g, x, real(g, LOG2E)));
	val r = fma_of(g, n, real(g, -LN2_HI), x);

	return scaled_exp(g, fma_of(g, n, real(g, -LN2_LO), r), n);
}

static val exp2_of(struct gpu *g, val x)
{
	x = clamped(g, x, -1080, 1025);
	val n = call(g, "llvm.roundeven", x);

	return scaled_exp(g, mul(g, sub(g, x, n), real(g, LN2_HI)), n);
}

/* x = 2^n m, m around 1: log(m), and n.  x > 0 and finite. */
static val log_parts(struct gpu *g, val x, val *ret_n)
{
	const struct gpu_ptx *p = g->own;
	val tiny = is(g, LLVMRealOLT, x, real(g, 0x1p-1022));

	x = pick(g, tiny, mul(g, x, real(g, 0x1p54)), x);
	val bits = LLVMBuildBitCast(p->b, x, p->i64, "");
	val field = LLVMBuildAnd(p->b,
				 LLVMBuildSub(p->b, bits, whole(g, (int64_t)SQRT_HALF_BITS), ""),
				 whole(g, (int64_t)0xfff0000000000000ULL), "");
	val m = LLVMBuildBitCast(p->b, LLVMBuildSub(p->b, bits, field, ""), p->f64, "");
	val n = LLVMBuildSIToFP(p->b, LLVMBuildAShr(p->b, field, whole(g, 52), ""), p->f64, "");
	val t = quotient(g, sub(g, m, real(g, 1)), add(g, m, real(g, 1)));

	*ret_n = pick(g, tiny, sub(g, n, real(g, 54)), n);
	return mul(g, t, poly(g, mul(g, t, t), log_c, HN_COUNT_OF(log_c)));
}

static val nan_of(struct gpu *g)
{
	return real(g, __builtin_nan(""));
}

static val infinity_of(struct gpu *g)
{
	return real(g, __builtin_inf());
}

static val log_specials(struct gpu *g, val x, val y)
{
	y = pick(g, is(g, LLVMRealOLT, x, infinity_of(g)), y, x);
	y = pick(g, is(g, LLVMRealOLT, x, real(g, 0)), nan_of(g), y);
	return pick(g, is(g, LLVMRealOEQ, x, real(g, 0)), real(g, -__builtin_inf()), y);
}

/* n per + log(m) scale, and n less where the first has been rounded. */
static val log_of(struct gpu *g, val x, double per, double less, double scale)
{
	val n, s = log_parts(g, x, &n);

	s = fma_of(g, s, real(g, scale), mul(g, n, real(g, less)));
	return log_specials(g, x, fma_of(g, n, real(g, per), s));
}

/* ---- float32 */

static val is_odd(struct gpu *g, val y)
{
	val half = mul(g, y, real(g, 0.5));

	return both(g, is(g, LLVMRealOEQ, call(g, "llvm.trunc", y), y),
		    is(g, LLVMRealUNE, call(g, "llvm.trunc", half), half));
}

/* As C's Annex F has it. */
static val pow_of(struct gpu *g, val x, val y)
{
	const struct gpu_ptx *p = g->own;
	val zero = real(g, 0), one = real(g, 1), n;
	val a = call(g, "llvm.fabs", x), s = log_parts(g, a, &n);
	val r = exp2_of(g, mul(g, y, fma_of(g, s, real(g, LOG2E), n)));
	val up = is(g, LLVMRealOGT, y, zero), infinite = infinity_of(g);

	r = pick(g, is(g, LLVMRealOEQ, a, zero), pick(g, up, zero, infinite), r);
	r = pick(g, is(g, LLVMRealOEQ, a, infinite), pick(g, up, infinite, zero), r);
	r = pick(g, is(g, LLVMRealUNO, x, x), x, r);
	val negative = LLVMBuildICmp(p->b, LLVMIntSLT, LLVMBuildBitCast(p->b, x, p->i64, ""),
				     whole(g, 0), "");

	r = pick(g, both(g, negative, is_odd(g, y)), LLVMBuildFNeg(p->b, r, ""), r);
	val broken = both(g, is(g, LLVMRealUNE, call(g, "llvm.trunc", y), y),
			  both(g, is(g, LLVMRealOLT, x, zero), is(g, LLVMRealOLT, a, infinite)));

	r = pick(g, broken, nan_of(g), r);
	r = pick(g, is(g, LLVMRealUNO, y, y), y, r);
	val endless = is(g, LLVMRealOEQ, call(g, "llvm.fabs", y), infinite);

	r = pick(g, both(g, endless, is(g, LLVMRealOEQ, a, one)), one, r);
	r = pick(g, is(g, LLVMRealOEQ, x, one), one, r);
	return pick(g, is(g, LLVMRealOEQ, y, zero), one, r);
}

/* |x| = r + n pi / 2 for float32 numbers from 2^30 on: a window of 2 / pi times the significand. */
static val reduce_large(struct gpu *g, val x, val *ret_n)
{
	const struct gpu_ptx *p = g->own;
	LLVMTypeRef i128 = LLVMIntTypeInContext(p->ctx, 128), i256 = LLVMIntTypeInContext(p->ctx, 256);
	val bits = LLVMBuildBitCast(p->b, call(g, "llvm.fabs", x), p->i64, "");
	/* |x| = m 2^e with m < 2^24: the float64 has 29 zeros below */
	val m = LLVMBuildOr(p->b,
			    LLVMBuildLShr(p->b,
					  LLVMBuildAnd(p->b, bits, whole(g, 0xfffffffffffffLL), ""),
					  whole(g, 29), ""),
			    whole(g, 1 << 23), "");
	val e = LLVMBuildSub(p->b, LLVMBuildLShr(p->b, bits, whole(g, 52), ""), whole(g, 1046), "");
	val shift = LLVMBuildAnd(p->b, LLVMBuildSub(p->b, e, whole(g, 2), ""), whole(g, 127), "");
	val all = LLVMConstIntOfArbitraryPrecision(i256, 4, two_over_pi);
	val window = LLVMBuildShl(p->b, all, LLVMBuildZExt(p->b, shift, i256, ""), "");

	window = LLVMBuildTrunc(p->b,
				LLVMBuildLShr(p->b, window, LLVMConstInt(i256, 128, 0), ""), i128, "");
	val turns = LLVMBuildMul(p->b, window, LLVMBuildZExt(p->b, m, i128, ""), "");
	val high = LLVMBuildTrunc(p->b, LLVMBuildLShr(p->b, turns, LLVMConstInt(i128, 64, 0), ""),
				  p->i64, "");
	/* two bits of quarters, then the fraction of one; the nearest quarter */
	val n = LLVMBuildLShr(p->b, LLVMBuildAdd(p->b, high, whole(g, 1LL << 61), ""), whole(g, 62),
			      "");
	val rest = LLVMBuildSub(p->b, high, LLVMBuildShl(p->b, n, whole(g, 62), ""), "");
	val r = LLVMBuildSIToFP(p->b, rest, p->f64, "");

	*ret_n = n;
	return mul(g, mul(g, r, real(g, 0x1p-62)), real(g, PI_2_HI));
}

struct turned {
	val sine, cosine, n; /* of the rest; quarters */
};

/* Of |x|. */
static struct turned turn(struct gpu *g, val x)
{
	val a = call(g, "llvm.fabs", x), large_n;
	val n = call(g, "llvm.roundeven", mul(g, a, real(g, 1 / PI_2_HI)));
	val r = fma_of(g, n, real(g, -PI_2_HI), a);
	val large = is(g, LLVMRealOGE, a, real(g, 0x1p30)), far = reduce_large(g, x, &large_n);

	r = fma_of(g, n, real(g, -PI_2_LO), r);
	r = pick(g, large, far, r);
	r = pick(g, is(g, LLVMRealOLT, a, infinity_of(g)), r, nan_of(g));
	val z = mul(g, r, r);

	return (struct turned){ mul(g, r, poly(g, z, sin_c, HN_COUNT_OF(sin_c))),
				poly(g, z, cos_c, HN_COUNT_OF(cos_c)),
				pick(g, large, large_n, to_whole(g, n)) };
}

static val bit(struct gpu *g, val n, int64_t which)
{
	const struct gpu_ptx *p = g->own;

	return LLVMBuildICmp(p->b, LLVMIntNE, LLVMBuildAnd(p->b, n, whole(g, which), ""), whole(g, 0),
			     "");
}

static val sin_of(struct gpu *g, val x)
{
	const struct gpu_ptx *p = g->own;
	struct turned t = turn(g, x);
	val s = pick(g, bit(g, t.n, 1), t.cosine, t.sine);
	val negative = LLVMBuildICmp(p->b, LLVMIntSLT, LLVMBuildBitCast(p->b, x, p->i64, ""),
				     whole(g, 0), "");

	s = pick(g, LLVMBuildXor(p->b, bit(g, t.n, 2), negative, ""), LLVMBuildFNeg(p->b, s, ""), s);
	return s;
}

static val cos_of(struct gpu *g, val x)
{
	const struct gpu_ptx *p = g->own;
	struct turned t = turn(g, x);
	val c = pick(g, bit(g, t.n, 1), t.sine, t.cosine);
	val next = LLVMBuildAdd(p->b, t.n, whole(g, 1), "");

	return pick(g, bit(g, next, 2), LLVMBuildFNeg(p->b, c, ""), c);
}

static val tan_of(struct gpu *g, val x)
{
	const struct gpu_ptx *p = g->own;
	struct turned t = turn(g, x);
	val odd = bit(g, t.n, 1);
	val q = quotient(g, pick(g, odd, LLVMBuildFNeg(p->b, t.cosine, ""), t.sine),
			 pick(g, odd, t.sine, t.cosine));
	val negative = LLVMBuildICmp(p->b, LLVMIntSLT, LLVMBuildBitCast(p->b, x, p->i64, ""),
				     whole(g, 0), "");

	return pick(g, negative, LLVMBuildFNeg(p->b, q, ""), q);
}

static val sinh_of(struct gpu *g, val x)
{
	val a = call(g, "llvm.fabs", x), e = exp_of(g, a);
	val far = mul(g, sub(g, e, quotient(g, real(g, 1), e)), real(g, 0.5));
	val near = mul(g, a, poly(g, mul(g, a, a), sinh_c, HN_COUNT_OF(sinh_c)));

	return copysign_of(g, pick(g, is(g, LLVMRealOLT, a, real(g, 1)), near, far), x);
}

static val cosh_of(struct gpu *g, val x)
{
	val e = exp_of(g, call(g, "llvm.fabs", x));

	return mul(g, add(g, e, quotient(g, real(g, 1), e)), real(g, 0.5));
}

static val of_float32(struct gpu *g, enum hn_fn fn, val x, val y)
{
	switch (fn) {
	case HN_FN_pow:
		return pow_of(g, x, y);
	case HN_FN_sin:
		return sin_of(g, x);
	case HN_FN_cos:
		return cos_of(g, x);
	case HN_FN_tan:
		return tan_of(g, x);
	case HN_FN_sinh:
		return sinh_of(g, x);
	case HN_FN_cosh:
		return cosh_of(g, x);
	default:
		return NULL;
	}
}

static val of_float64(struct gpu *g, enum hn_fn fn, val x)
{
	switch (fn) {
	case HN_FN_exp:
		return exp_of(g, x);
	case HN_FN_exp2:
		return exp2_of(g, x);
	case HN_FN_log:
		return log_of(g, x, LN2_HI, LN2_LO, 1);
	case HN_FN_log2:
		return log_of(g, x, 1, 0, LOG2E);
	case HN_FN_log10:
		return log_of(g, x, LOG10_2, 0, LOG10E);
	case HN_FN_rsqrt:
		return quotient(g, real(g, 1), call(g, "llvm.sqrt", x));
	case HN_FN_sigmoid: {
		val e = exp_of(g, LLVMBuildFNeg(gpu_ptx_of(g)->b, call(g, "llvm.fabs", x), ""));
		val top = pick(g, is(g, LLVMRealOLT, x, real(g, 0)), e, real(g, 1));

		return quotient(g, top, add(g, real(g, 1), e));
	}
	default:
		return NULL;
	}
}

LLVMValueRef hn_gpu_ptx_wide(struct gpu *g, enum hn_fn fn, enum hn_dtype t, LLVMValueRef x,
			     LLVMValueRef y)
{
	const struct gpu_ptx *p = g->own;

	if (t == HN_F64) {
		return of_float64(g, fn, x);
	}
	val v = of_float32(g, fn, LLVMBuildFPExt(p->b, x, p->f64, ""),
			   y != NULL ? LLVMBuildFPExt(p->b, y, p->f64, "") : NULL);

	return v != NULL ? LLVMBuildFPTrunc(p->b, v, p->f32, "") : NULL;
}
