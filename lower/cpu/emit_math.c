/* lower/cpu/emit_math.c -- pure functions: instructions where the machine has them, float32
 * vector code for those of vecmath.def, else libm.
 *
 * libm functions are called lane by lane, for the lanes that count.  The naive program calls
 * libm wherever there is no instruction: it is what vector code is compared with.
 */
#include "lower/cpu/emit_int.h"

#include <stdio.h>
#include <string.h>

#include "lower/vecmath/vecmath.h"
#include "target/cpu/function.h"

/* Whether there is an instruction that rounds to even in any mode: x86-64 has it since SSE4.1. */
static bool rounds_to_even(const struct emit *e)
{
	return strncmp(e->em->triple, "x86_64", 6) != 0 ||
	       e->em->target.param[HN_PARAM_VECTOR_UNIT_BYTES] > 16;
}

/* Functions the machine has, or LLVM expands inline. */
static const char *intrinsic_of(const struct emit *e, enum hn_fn f)
{
	switch (f) {
	case HN_FN_sqrt:
		return "llvm.sqrt";
	case HN_FN_abs:
	case HN_FN_fabs:
		return "llvm.fabs";
	case HN_FN_floor:
		return "llvm.floor";
	case HN_FN_ceil:
		return "llvm.ceil";
	case HN_FN_trunc:
		return "llvm.trunc";
	case HN_FN_round:
		return "llvm.round";
	case HN_FN_nearbyint: /* boards round upwards at times, and nobody means that */
		return rounds_to_even(e) ? "llvm.roundeven" : "llvm.nearbyint";
	default:
		return NULL;
	}
}

static void add_attr(struct emit *e, LLVMValueRef fn, const char *name, uint64_t value)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
				LLVMCreateEnumAttribute(e->ctx, kind, value));
}

/* Declare a libm function as what it is here: pure. */
static LLVMValueRef libm(struct emit *e, const char *base, LLVMTypeRef type,
			 uint32_t arity, bool is_double)
{
	char name[64];
	LLVMTypeRef arg[2] = { type, type };

	snprintf(name, sizeof(name), "%s%s", base, is_double ? "" : "f");
	LLVMValueRef fn = LLVMGetNamedFunction(e->mod, name);

	if (!fn) {
		fn = LLVMAddFunction(e->mod, name, LLVMFunctionType(type, arg, arity, 0));
		add_attr(e, fn, "nounwind", 0);
		add_attr(e, fn, "willreturn", 0);
		add_attr(e, fn, "memory", 0);
	}
	return fn;
}

static struct emit_val call_libm(struct emit *e, const char *base, struct emit_val *arg,
				 uint32_t n, bool is_double)
{
	LLVMTypeRef type = is_double ? LLVMDoubleTypeInContext(e->ctx)
				     : LLVMFloatTypeInContext(e->ctx);
	LLVMValueRef fn = libm(e, base, type, n, is_double), one[2];
	bool vec = arg[0].vec || (n > 1 && arg[1].vec);

	if (!vec) {
		for (uint32_t i = 0; i < n; i++) {
			one[i] = arg[i].v;
		}
		return (struct emit_val){ LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn),
							 fn, one, n, ""),
					  false };
	}
	LLVMValueRef v = LLVMGetPoison(LLVMVectorType(type, e->n_lane));

	for (uint32_t k = 0; k < e->n_active; k++) {
		LLVMValueRef at = LLVMConstInt(e->i32, k, 0);

		for (uint32_t i = 0; i < n; i++) {
			one[i] = arg[i].vec
					 ? LLVMBuildExtractElement(e->b, arg[i].v, at, "")
					 : arg[i].v;
		}
		LLVMValueRef r =
			LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, one, n, "");

		v = LLVMBuildInsertElement(e->b, v, r, at, "");
	}
	return (struct emit_val){ v, true };
}

static LLVMValueRef real(LLVMValueRef like, struct emit *e, double v)
{
	LLVMTypeRef t = LLVMTypeOf(like);

	if (LLVMGetTypeKind(t) != LLVMVectorTypeKind) {
		return LLVMConstReal(t, v);
	}
	return hn_emit_splat(
		e, (struct emit_val){ LLVMConstReal(LLVMGetElementType(t), v), false });
}

bool hn_emit_fn_is_call(const struct emit *e, const struct hn_expr *x)
{
	return hn_function_is_call(x, &e->em->target,
				   !hn_emit_may(e, HN_LIBERTY_functions));
}

static struct emit_val call_float(struct emit *e, const struct hn_expr *x,
				  struct emit_val *arg)
{
	bool is_double =
		hn_dtype_arith(x->dtype) == HN_F64; /* else float32 */
	struct emit_val v = arg[0];
	const char *name = intrinsic_of(e, x->ref);

	if (!is_double && !hn_emit_fn_is_call(e, x) && hn_vecmath_of(x->ref)) {
		struct hn_vec shape = { e->ctx, e->mod, e->b, v.vec ? e->n_lane : 0,
					strcmp(e->em->target.isa, "x86-64-avx512") == 0 };

		v.v = hn_vecmath_of(x->ref)(&shape, v.v);
		return v;
	}
	if (name) {
		v.v = hn_emit_intrinsic(e, name, &v.v, 1, LLVMTypeOf(v.v));
		return v;
	}
	if (x->ref == HN_FN_rsqrt) {
		v.v = hn_emit_intrinsic(e, "llvm.sqrt", &v.v, 1, LLVMTypeOf(v.v));
		v.v = LLVMBuildFDiv(e->b, real(v.v, e, 1), v.v, "");
		return v;
	}
	if (x->ref == HN_FN_sigmoid) {
		v.v = LLVMBuildFNeg(e->b, v.v, "");
		v = call_libm(e, "exp", &v, 1, is_double);
		v.v = LLVMBuildFAdd(e->b, v.v, real(v.v, e, 1), "");
		v.v = LLVMBuildFDiv(e->b, real(v.v, e, 1), v.v, "");
		return v;
	}
	name = hn_fn_c_name(x->ref);
	if (!name || !name[0]) {
		hn_emit_refuse(e, HONE_E_UNSUPPORTED, "function %s", hn_fn_name(x->ref));
		return v;
	}
	return call_libm(e, name, arg, x->n_arg, is_double);
}

struct emit_val hn_emit_call_fn(struct emit *e, const struct hn_expr *x)
{
	struct emit_val arg[2];

	for (uint32_t i = 0; i < x->n_arg && i < 2; i++) {
		arg[i] = hn_emit_value(e, x->arg[i]);
	}
	if (hn_dtype_class(x->dtype) == HN_CLASS_FLOAT) {
		struct emit_val r = call_float(e, x, arg);

		r.v = hn_emit_rounded(e, x->dtype, r.v);
		return r;
	}
	if (x->ref == HN_FN_abs && hn_dtype_class(x->dtype) == HN_CLASS_SIGNED) {
		LLVMValueRef v = arg[0].v, zero = LLVMConstNull(LLVMTypeOf(v));
		LLVMValueRef neg = LLVMBuildICmp(e->b, LLVMIntSLT, v, zero, "");

		arg[0].v = LLVMBuildSelect(e->b, neg, LLVMBuildNeg(e->b, v, ""), v, "");
		return arg[0];
	}
	if (x->ref != HN_FN_abs) {
		hn_emit_refuse(e, HONE_E_UNSUPPORTED, "function %s on %s",
			       hn_fn_name(x->ref), hn_dtype_name(x->dtype));
	}
	return arg[0];
}
