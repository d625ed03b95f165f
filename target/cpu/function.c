/* target/cpu/function.c -- see function.h. */
#include "target/cpu/function.h"

bool hn_function_is_cheap(enum hn_fn f)
{
	return f >= HN_FN_abs && f <= HN_FN_nearbyint;
}

/* One instruction or a few: LLVM has it. */
static bool is_instruction(enum hn_fn f)
{
	return f == HN_FN_sqrt || f == HN_FN_rsqrt || hn_function_is_cheap(f);
}

/* In vecmath.def. */
static bool has_vector_code(enum hn_fn f)
{
	switch (f) {
#define VECMATH(name, ulp, how) case HN_FN_##name:
#include "target/cpu/vecmath.def"
#undef VECMATH
		return true;
	default:
		return false;
	}
}

bool hn_function_is_call(const struct hn_expr *call, const struct hn_target *t, bool exact)
{
	bool fused = (t->caps & HN_CAP_FMA) != 0;
	bool vector = !exact && hn_dtype_arith(call->dtype) == HN_F32 && fused;

	return !is_instruction((enum hn_fn)call->ref) &&
	       !(vector && has_vector_code((enum hn_fn)call->ref));
}
