/* lower/vecmath/vecmath.h -- functions as straight-line code over float32, scalar or any vector.
 *
 * The same operations are emitted for every width, none carries a fast-math flag, and none
 * mixes lanes: what a lane gives depends on its argument alone, so results do not depend on
 * how a loop was vectorized.  No branches, no tables, no traps: lanes that do not count may
 * hold anything.  Needs fused multiply-add as an instruction (HN_CAP_FMA).
 *
 * Coefficients come from lower/vecmath/vecmath_fit.py.  Cody and Waite, Software Manual for the
 * Elementary Functions (1980), and Muller, Elementary Functions, for the methods.
 */
#ifndef HN_LOWER_VECMATH_VECMATH_H
#define HN_LOWER_VECMATH_VECMATH_H

#include <llvm-c/Core.h>

#include "loopstate/expr/expr.h"
#include "target/cpu/tile.h"

#define HN_VEC_MAX_LANES HN_TILE_MAX_LANES

/* Where code goes and its shape: lanes 0 = scalar. */
struct hn_vec {
	LLVMContextRef ctx;
	LLVMModuleRef mod;
	LLVMBuilderRef b;
	uint32_t lanes;
	bool scales; /* the machine has vscalefps, of AVX-512 */
};

/* f(x), x and the result float or a vector of floats of v's shape. */
typedef LLVMValueRef (*hn_vecmath_fn)(const struct hn_vec *v, LLVMValueRef x);

/* The row of vecmath.def, NULL when there is none. */
hn_vecmath_fn hn_vecmath_of(enum hn_fn f);

#define VECMATH(name, ulp, how)                                                          \
	LLVMValueRef hn_vecmath_##name(const struct hn_vec *v, LLVMValueRef x);
#include "target/cpu/vecmath.def"
#undef VECMATH

/* exp(x) for x in [-104, 0] or NaN; any other x must have been clamped. */
LLVMValueRef hn_vecmath_exp_nonpositive(const struct hn_vec *v, LLVMValueRef x);

/* -- vecmath_ops.c: operations ------------------------------------------------------------- */

/* Constants in v's shape. */
LLVMValueRef hn_vec_f(const struct hn_vec *v, double c);
LLVMValueRef hn_vec_i(const struct hn_vec *v, uint32_t c);

LLVMValueRef hn_vec_fma(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y,
			LLVMValueRef z);
LLVMValueRef hn_vec_add(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef hn_vec_sub(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef hn_vec_mul(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef hn_vec_div(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef hn_vec_abs(const struct hn_vec *v, LLVMValueRef x);
LLVMValueRef hn_vec_sqrt(const struct hn_vec *v, LLVMValueRef x);

/* |x| with the sign of y. */
LLVMValueRef hn_vec_copysign(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y);

/* c[0] x^(n-1) + .. + c[n-1], by Horner's rule. */
LLVMValueRef hn_vec_poly(const struct hn_vec *v, LLVMValueRef x, const float *c,
			 uint32_t n);

/* x below y ? t : f; a NaN among x and y chooses f. */
LLVMValueRef hn_vec_if_less(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y,
			    LLVMValueRef t, LLVMValueRef f);
LLVMValueRef hn_vec_if_equal(const struct hn_vec *v, LLVMValueRef x, LLVMValueRef y,
			     LLVMValueRef t, LLVMValueRef f);

/* The least and the greatest of x and c; NaN stays NaN. */
LLVMValueRef hn_vec_at_most(const struct hn_vec *v, LLVMValueRef x, double c);
LLVMValueRef hn_vec_at_least(const struct hn_vec *v, LLVMValueRef x, double c);

/* p 2^n rounded once, n a whole number from -512 to 512; NULL where the machine has no
 * instruction for it in v's shape (AVX-512 has: vscalefps). */
LLVMValueRef hn_vec_scale(const struct hn_vec *v, LLVMValueRef p, LLVMValueRef n);

/* The bits of a float, and back. */
LLVMValueRef hn_vec_bits(const struct hn_vec *v, LLVMValueRef x);
LLVMValueRef hn_vec_from_bits(const struct hn_vec *v, LLVMValueRef i);

#endif
