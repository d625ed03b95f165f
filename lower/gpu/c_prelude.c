/* lower/gpu/c_prelude.c -- what code in the C languages begins with: types, and of the functions that
 * C lacks those that the kernels call. */
#include "lower/gpu/c_int.h"

#include <string.h>

struct prelude {
	struct gpu *g;
	const char *kernels; /* their text */
	struct hn_buf functions;
};

/* result NAME(parameters) body, where the kernels or a function before it call it. */
static void put(struct prelude *p, const char *result, const char *name, const char *parameters,
		const char *body)
{
	const char *call = hn_gpu_c_text(p->g, "%s(", name);

	if (strstr(p->kernels, call) != NULL || strstr(p->functions.s, call) != NULL) {
		const char *text = hn_gpu_c_text(p->g, "%s%s %s(%s)\n%s\n",
						 hn_gpu_c_word(p->g, GPU_C_FUNCTION), result, name,
						 parameters, body);
		struct hn_buf all;

		/* what it calls itself comes later here, and stands before it */
		hn_buf_init(&all);
		hn_buf_puts(&all, text);
		hn_buf_add(&all, p->functions.s, p->functions.n);
		hn_buf_fini(&p->functions);
		p->functions = all;
	}
}

/* As the operators of a device program are: the second operand unless the first is less. */
static void put_picks(struct prelude *p, const char *t)
{
	const char *two = hn_gpu_c_text(p->g, "%s x, %s y", t, t);

	put(p, t, hn_gpu_c_text(p->g, "hn_min_%s", t), two, "{ return x < y ? x : y; }");
	put(p, t, hn_gpu_c_text(p->g, "hn_max_%s", t), two, "{ return x > y ? x : y; }");
}

/* Towards zero; past the type's end, its end; 0 for a NaN. */
static void put_saturating(struct prelude *p, enum hn_dtype to, const char *from)
{
	bool is_signed = hn_dtype_class(to) == HN_CLASS_SIGNED;
	int bits = hn_dtype_bits(to);
	const char *t = hn_gpu_c_type(p->g, to);
	const char *end = hn_gpu_c_text(p->g, "0x1p%d%s", bits, from[1] == '3' ? "f" : "");
	const char *least = is_signed ? hn_gpu_c_text(p->g, "-%s", end) : "0";

	put(p, t, hn_gpu_c_text(p->g, "hn_%s_of_%s", t, from), hn_gpu_c_text(p->g, "%s x", from),
	    hn_gpu_c_text(p->g,
			  "{\n"
			  "	const %s most = (%s)(((u64)-1) >> %d);\n"
			  "\n"
			  "	return x != x ? 0 : x >= %s ? most : x <= %s ? %s : (%s)x;\n"
			  "}",
			  t, t, 64 - bits, end, least, is_signed ? "-most - 1" : "0", t));
}

static void put_all(struct prelude *p, bool doubles)
{
	struct gpu *g = p->g;

	for (int i = 0; i < HN_N_DTYPE; i++) {
		enum hn_dtype t = (enum hn_dtype)i;

		if (t == HN_BOOL || hn_dtype_is_narrow(t) || (t == HN_F64 && !doubles)) {
			continue;
		}
		put_picks(p, hn_gpu_c_type(g, t));
		if (hn_dtype_class(t) != HN_CLASS_FLOAT) {
			put_saturating(p, t, "f32");
			put_saturating(p, t, "f64");
		}
	}
	put(p, "f32", "hn_get_f16", "u16 x", hn_gpu_c_word(g, GPU_C_GET_F16));
	put(p, "u16", "hn_put_f16", "f32 x", hn_gpu_c_word(g, GPU_C_PUT_F16));
	put(p, "f32", "hn_get_bf16", "u16 x", "{ return hn_f32((u32)x << 16); }");
	put(p, "u16", "hn_put_bf16", "f32 x",
	    "{\n"
	    "	const u32 bits = hn_bits(x);\n"
	    "\n"
	    "	return x != x ? (u16)((bits >> 16) | 64) : (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);\n"
	    "}");
	put(p, "i64", "hn_floordiv", "i64 x, i64 y",
	    "{ return x / y - (x % y != 0 && (x ^ y) < 0); }");
	put(p, "i64", "hn_floormod", "i64 x, i64 y",
	    "{ return x % y != 0 && (x ^ y) < 0 ? x % y + y : x % y; }");
	put(p, "i64", "hn_abs_i64", "i64 x", "{ return x < 0 ? (i64)-(u64)x : x; }");
	put(p, "f32", "hn_f32", "u32 x", hn_gpu_c_word(g, GPU_C_OF_BITS));
	put(p, "f64", "hn_f64", "u64 x", hn_gpu_c_word(g, GPU_C_OF_BITS64));
	put(p, "u32", "hn_bits", "f32 x", hn_gpu_c_word(g, GPU_C_BITS));
}

void hn_gpu_c_prelude(struct gpu *g, const char *kernels, struct hn_buf *ret)
{
	const struct gpu_c *c = g->own;
	struct prelude p = { .g = g, .kernels = kernels };

	hn_buf_init(&p.functions);
	put_all(&p, c->has_double);
	hn_buf_puts(ret, hn_gpu_c_word(g, GPU_C_TYPES));
	if (c->has_double) {
		hn_buf_puts(ret, hn_gpu_c_word(g, GPU_C_DOUBLE));
	}
	if (!c->cuda) {
		hn_buf_printf(ret, "#pragma OPENCL FP_CONTRACT %s\n",
			      g->options->contracts ? "ON" : "OFF");
	}
	hn_buf_add(ret, p.functions.s, p.functions.n);
	hn_buf_fini(&p.functions);
}
