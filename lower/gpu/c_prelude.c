/* lower/gpu/c_prelude.c -- what code in the C languages begins with. */
#include "lower/gpu/c_int.h"

#include <string.h>

static const char common[] =
	"HN_FN f32 hn_get_bf16(u16 x) { return HN_F32((u32)x << 16); }\n"
	"HN_FN u16 hn_put_bf16(f32 x)\n"
	"{\n"
	"	u32 bits = HN_BITS(x);\n"
	"\n"
	"	return x != x ? (u16)((bits >> 16) | 64) : (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);\n"
	"}\n"
	"HN_FN i64 hn_floordiv(i64 x, i64 y) { return x / y - (x % y != 0 && (x ^ y) < 0); }\n"
	"HN_FN i64 hn_floormod(i64 x, i64 y)\n"
	"{\n"
	"	i64 rest = x % y;\n"
	"\n"
	"	return rest != 0 && (rest ^ y) < 0 ? rest + y : rest;\n"
	"}\n"
	"HN_FN i64 hn_abs_i64(i64 x) { return x < 0 ? (i64)-(u64)x : x; }\n";

/* As the operators of a device program are: the second operand unless the first is less. */
static void put_picks(struct gpu *g, const char *t)
{
	struct gpu_c *c = g->own;

	hn_buf_printf(&c->code, "HN_FN %s hn_min_%s(%s x, %s y) { return x < y ? x : y; }\n", t, t,
		      t, t);
	hn_buf_printf(&c->code, "HN_FN %s hn_max_%s(%s x, %s y) { return x > y ? x : y; }\n", t, t,
		      t, t);
}

/* Towards zero; past the type's end, its end; 0 for a NaN. */
static void put_saturating(struct gpu *g, enum hn_dtype to, const char *from)
{
	struct gpu_c *c = g->own;
	bool is_signed = hn_dtype_class(to) == HN_CLASS_SIGNED;
	int bits = hn_dtype_bits(to);
	const char *t = hn_gpu_c_type(g, to);

	hn_buf_printf(&c->code,
		      "HN_FN %s hn_%s_of_%s(%s x)\n"
		      "{\n"
		      "	%s most = (%s)(((u64)-1) >> %d);\n"
		      "\n"
		      "	return x != x ? 0 : x >= (%s)0x1p%d ? most : x <= %s ? %s : (%s)x;\n"
		      "}\n",
		      t, t, from, from, t, t, 64 - bits, from, bits,
		      is_signed ? hn_arena_printf(g->a, "-(%s)0x1p%d", from, bits) : "0",
		      is_signed ? "-most - 1" : "0", t);
}

void hn_gpu_c_prelude(struct gpu *g)
{
	struct gpu_c *c = g->own;

	for (uint32_t i = 0; i < g->d->n_buffer; i++) {
		(void)hn_gpu_c_type(g, (enum hn_dtype)g->d->buffer[i].dtype);
	}
	for (uint32_t i = 0; i < g->d->n_kernel; i++) {
		for (uint32_t s = 0; s < g->d->kernel[i].n_slot; s++) {
			(void)hn_gpu_c_type(g, (enum hn_dtype)g->d->kernel[i].type[s]);
		}
	}
	hn_buf_puts(&c->code, hn_gpu_c_word(g, GPU_C_PRELUDE));
	if (c->has_double) {
		hn_buf_puts(&c->code, hn_gpu_c_word(g, GPU_C_DOUBLE));
	}
	hn_buf_puts(&c->code, common);
	for (int t = 0; t < HN_N_DTYPE; t++) {
		enum hn_dtype_class cls = hn_dtype_class((enum hn_dtype)t);

		if (t == HN_BOOL || hn_dtype_is_narrow((enum hn_dtype)t) ||
		    (t == HN_F64 && !c->has_double)) {
			continue;
		}
		put_picks(g, hn_gpu_c_type(g, (enum hn_dtype)t));
		if (cls != HN_CLASS_FLOAT) {
			put_saturating(g, (enum hn_dtype)t, "f32");
			if (c->has_double) {
				put_saturating(g, (enum hn_dtype)t, "f64");
			}
		}
	}
}
