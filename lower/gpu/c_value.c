/* lower/gpu/c_value.c -- values in the C languages: texts, each in brackets or a name.
 *
 * Signed integers of C do not wrap, those of data do: they are added as unsigned ones.  What would
 * name an operand twice is a function of the prelude.
 */
#include "lower/gpu/c_int.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const infix[HN_N_EXPR] = {
	[HN_EXPR_ADD] = "+", [HN_EXPR_SUB] = "-",  [HN_EXPR_MUL] = "*",  [HN_EXPR_DIV] = "/",
	[HN_EXPR_EQ] = "==", [HN_EXPR_NE] = "!=",  [HN_EXPR_LT] = "<",	 [HN_EXPR_LE] = "<=",
	[HN_EXPR_GT] = ">",  [HN_EXPR_GE] = ">=",  [HN_EXPR_AND] = "&&", [HN_EXPR_OR] = "||",
	[HN_EXPR_TRUNCMOD] = "%",
};

const char *hn_gpu_c_type(struct gpu *g, enum hn_dtype t)
{
	static const char *const name[HN_N_DTYPE] = {
		[HN_BOOL] = "bool", [HN_I8] = "i8",   [HN_I16] = "i16", [HN_I32] = "i32",
		[HN_I64] = "i64",   [HN_U8] = "u8",   [HN_U16] = "u16", [HN_U32] = "u32",
		[HN_U64] = "u64",   [HN_F32] = "f32", [HN_F64] = "f64", [HN_F16] = "f16",
		[HN_BF16] = "bf16",
	};

	((struct gpu_c *)g->own)->has_double |= t == HN_F64;
	if (name[t] == NULL) {
		hn_bug(__FILE__, __LINE__, "a type without a name in C");
	}
	return name[t];
}

const char *hn_gpu_c_stored(struct gpu *g, enum hn_dtype t)
{
	return t == HN_BOOL ? "u8" : hn_dtype_is_narrow(t) ? "u16" : hn_gpu_c_type(g, t);
}

gpu_val hn_gpu_c_number(struct gpu *g, enum hn_dtype t, int64_t v)
{
	switch (t) {
	case HN_BOOL:
		return v != 0 ? "true" : "false";
	case HN_I64:
		return v == INT64_MIN ? "((i64)1 << 63)" : hn_gpu_c_text(g, "((i64)%" PRId64 ")", v);
	case HN_U64:
		return hn_gpu_c_text(g, "((u64)%" PRIu64 "u)", (uint64_t)v);
	case HN_I32:
		return v == INT32_MIN ? "(-2147483647 - 1)"
		       : v < 0	      ? hn_gpu_c_text(g, "(%" PRId64 ")", v)
				      : hn_gpu_c_text(g, "%" PRId64, v);
	case HN_U32:
		return hn_gpu_c_text(g, "%" PRIu64 "u", (uint64_t)v);
	default:
		return hn_gpu_c_text(g, "((%s)%" PRId64 ")", hn_gpu_c_type(g, t), v);
	}
}

gpu_val hn_gpu_c_real(struct gpu *g, enum hn_dtype t, double v)
{
	uint64_t bits64;
	uint32_t bits32;
	float f = (float)v;

	if (isfinite(v)) {
		return hn_gpu_c_text(g, t == HN_F64 ? "(%a)" : "(%af)", v);
	}
	memcpy(&bits64, &v, sizeof(bits64));
	memcpy(&bits32, &f, sizeof(bits32));
	return t == HN_F64 ? hn_gpu_c_text(g, "hn_f64(0x%" PRIx64 ")", bits64)
			   : hn_gpu_c_text(g, "hn_f32(0x%" PRIx32 "u)", bits32);
}

static gpu_val float_binary(struct gpu *g, enum hn_expr_op op, enum hn_dtype t, gpu_val x,
			    gpu_val y)
{
	const struct gpu_c *c = g->own;
	bool may_join = op == HN_EXPR_ADD || op == HN_EXPR_SUB || op == HN_EXPR_MUL;

	if (c->cuda && may_join && !g->options->contracts) {
		return hn_gpu_c_text(g, "__%c%s_rn(%s, %s)", t == HN_F64 ? 'd' : 'f',
				     op == HN_EXPR_ADD	 ? "add"
				     : op == HN_EXPR_SUB ? "sub"
							 : "mul",
				     (const char *)x, (const char *)y);
	}
	if (op == HN_EXPR_MIN || op == HN_EXPR_MAX) {
		return hn_gpu_c_text(g, "hn_%s_%s(%s, %s)", op == HN_EXPR_MIN ? "min" : "max",
				     hn_gpu_c_type(g, t), (const char *)x, (const char *)y);
	}
	return hn_gpu_c_text(g, "(%s %s %s)", (const char *)x, infix[op], (const char *)y);
}

gpu_val hn_gpu_c_binary(struct gpu *g, enum hn_expr_op op, enum hn_dtype t, gpu_val x, gpu_val y,
			bool exact)
{
	enum hn_dtype_class cls = hn_dtype_class(t);
	bool floored = op == HN_EXPR_FLOORDIV || op == HN_EXPR_FLOORMOD;
	const char *u = hn_dtype_bytes(t) > 4 ? "u64" : "u32", *type;

	if (cls == HN_CLASS_FLOAT && (infix[op] == NULL || op == HN_EXPR_TRUNCMOD) &&
	    op != HN_EXPR_MIN && op != HN_EXPR_MAX) {
		hn_gpu_refuse(g, HONE_E_UNSUPPORTED, "%s on floating-point values",
			      hn_expr_op_name(op));
		return x;
	}
	if (cls == HN_CLASS_FLOAT && op <= HN_EXPR_MAX) {
		return float_binary(g, op, t, x, y);
	}
	if (op >= HN_EXPR_EQ) {
		return hn_gpu_c_text(g, "(%s %s %s)", (const char *)x, infix[op], (const char *)y);
	}
	if (exact && infix[op] != NULL) {
		return hn_gpu_c_text(g, "(%s %s %s)", (const char *)x, infix[op], (const char *)y);
	}
	type = hn_gpu_c_type(g, t);
	if (op == HN_EXPR_ADD || op == HN_EXPR_SUB || op == HN_EXPR_MUL) {
		return hn_gpu_c_text(g, "((%s)((%s)%s %s (%s)%s))", type, u, (const char *)x,
				     infix[op], u, (const char *)y);
	}
	if (op == HN_EXPR_MIN || op == HN_EXPR_MAX) {
		return hn_gpu_c_text(g, "hn_%s_%s(%s, %s)", op == HN_EXPR_MIN ? "min" : "max", type,
				     (const char *)x, (const char *)y);
	}
	if (floored && cls == HN_CLASS_SIGNED) {
		return hn_gpu_c_text(g, "((%s)hn_%s(%s, %s))", type,
				     op == HN_EXPR_FLOORDIV ? "floordiv" : "floormod",
				     (const char *)x, (const char *)y);
	}
	return hn_gpu_c_text(g, "((%s)(%s %s %s))", type, (const char *)x,
			     op == HN_EXPR_DIV || op == HN_EXPR_FLOORDIV ? "/" : "%",
			     (const char *)y);
}

gpu_val hn_gpu_c_not(struct gpu *g, gpu_val x)
{
	return hn_gpu_c_text(g, "(!%s)", (const char *)x);
}

gpu_val hn_gpu_c_cast(struct gpu *g, enum hn_dtype to, enum hn_dtype from, gpu_val x)
{
	bool from_float = hn_dtype_class(from) == HN_CLASS_FLOAT;
	bool to_float = hn_dtype_class(to) == HN_CLASS_FLOAT;
	const char *type = hn_gpu_c_type(g, to);

	if (to == HN_BOOL) {
		return hn_gpu_c_text(g, "(%s != 0)", (const char *)x);
	}
	if (from_float && !to_float) {
		return hn_gpu_c_text(g, "hn_%s_of_%s(%s)", type, hn_gpu_c_type(g, from),
				     (const char *)x);
	}
	return hn_gpu_c_text(g, "((%s)%s)", type, (const char *)x);
}

gpu_val hn_gpu_c_round(struct gpu *g, enum hn_dtype to, gpu_val x)
{
	const char *type = hn_gpu_c_type(g, to);

	return hn_gpu_c_text(g, "hn_get_%s(hn_put_%s(%s))", type, type, (const char *)x);
}

gpu_val hn_gpu_c_call(struct gpu *g, enum hn_fn fn, enum hn_dtype t, const gpu_val *x)
{
	const struct gpu_c *c = g->own;
	const char *name = fn == HN_FN_nearbyint ? "rint" : hn_fn_c_name(fn);
	const char *f = c->cuda && t == HN_F32 ? "f" : "", *type = hn_gpu_c_type(g, t);

	if (hn_dtype_class(t) != HN_CLASS_FLOAT) {
		return fn == HN_FN_abs && hn_dtype_class(t) == HN_CLASS_SIGNED
			       ? hn_gpu_c_text(g, "((%s)hn_abs_i64(%s))", type, (const char *)x[0])
			       : x[0];
	}
	if (fn == HN_FN_rsqrt) {
		return hn_gpu_c_text(g, "((%s)1 / sqrt%s(%s))", type, f, (const char *)x[0]);
	}
	if (fn == HN_FN_sigmoid) {
		return hn_gpu_c_text(g, "((%s)1 / ((%s)1 + exp%s(-%s)))", type, type, f,
				     (const char *)x[0]);
	}
	if (x[1] != NULL) {
		return hn_gpu_c_text(g, "%s%s(%s, %s)", name, f, (const char *)x[0],
				     (const char *)x[1]);
	}
	return hn_gpu_c_text(g, "%s%s(%s)", name, f, (const char *)x[0]);
}

gpu_val hn_gpu_c_select(struct gpu *g, enum hn_dtype t, gpu_val c, gpu_val x, gpu_val y)
{
	(void)t;
	return hn_gpu_c_text(g, "(%s ? %s : %s)", (const char *)c, (const char *)x,
			     (const char *)y);
}
