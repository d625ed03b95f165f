/* lower/gpu/c_warp.c -- what a warp does together, as inline assembly of CUDA C. */
#include "lower/device/device_warp.h"
#include "lower/gpu/c_int.h"

static const char *word(struct gpu *g, const struct gpu_at *at, int64_t w)
{
	struct gpu_at x = *at;

	x.c += w * hn_warp_packed((enum hn_dtype)g->d->buffer[at->buffer].dtype);
	return hn_gpu_c_text(g, "*(u32 *)&%s", hn_gpu_c_place(g, &x));
}

void hn_gpu_c_ldmatrix(struct gpu *g, const struct gpu_at *to, const struct gpu_at *from,
		       uint32_t n, bool trans)
{
	static const char *const list[] = { NULL, "%0", "%0, %1", NULL, "%0, %1, %2, %3" };
	struct hn_buf out;

	hn_buf_init(&out);
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_printf(&out, "%s\"=r\"(%s)", i > 0 ? ", " : "", word(g, to, i));
	}
	hn_gpu_c_line(g,
		      "asm volatile(\"ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 {%s}, [%%%u];\" : "
		      "%s : \"r\"((u32)__cvta_generic_to_shared(&%s)) : \"memory\");",
		      n, trans ? ".trans" : "", list[n], n, out.s, hn_gpu_c_place(g, from));
	hn_buf_fini(&out);
}

/* Cut in two parts of 11 bits each, and three times the instruction, the smallest products first. */
static void in_parts(struct gpu *g, const struct gpu_at *sum, const struct gpu_at *left,
		     const struct gpu_at *right)
{
	static const char part[3][2] = { { 's', 'b' }, { 'b', 's' }, { 'b', 'b' } };
	struct hn_buf out;

	hn_buf_init(&out);
	hn_gpu_c_line(g, "{");
	hn_gpu_c_line(g, "u32 b[6], s[6];");
	hn_gpu_c_line(g, "f32 x;");
	for (int64_t i = 0; i < 6; i++) {
		struct gpu_at x = i < 4 ? *left : *right;

		x.c += i % 4;
		hn_gpu_c_line(g, "x = %s;", hn_gpu_c_place(g, &x));
		hn_gpu_c_line(g, "asm(\"cvt.rna.tf32.f32 %%0, %%1;\" : \"=r\"(b[%d]) : \"f\"(x));",
			      (int)i);
		hn_gpu_c_line(g, "x -= __uint_as_float(b[%d]);", (int)i);
		hn_gpu_c_line(g, "asm(\"cvt.rna.tf32.f32 %%0, %%1;\" : \"=r\"(s[%d]) : \"f\"(x));",
			      (int)i);
	}
	for (int64_t i = 0; i < 4; i++) {
		struct gpu_at x = *sum;

		x.c += i;
		hn_buf_printf(&out, "%s\"+f\"(%s)", i > 0 ? ", " : "", hn_gpu_c_place(g, &x));
	}
	for (int k = 0; k < 3; k++) {
		char l = part[k][0], r = part[k][1];

		hn_gpu_c_line(g,
			      "asm volatile(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%%0, "
			      "%%1, %%2, %%3}, {%%4, %%5, %%6, %%7}, {%%8, %%9}, {%%0, %%1, %%2, "
			      "%%3};\" : %s : \"r\"(%c[0]), \"r\"(%c[1]), \"r\"(%c[2]), \"r\"(%c[3]), "
			      "\"r\"(%c[4]), \"r\"(%c[5]));",
			      out.s, l, l, l, l, r, r);
	}
	hn_gpu_c_line(g, "}");
	hn_buf_fini(&out);
}

void hn_gpu_c_mma(struct gpu *g, const struct hn_intrin *in, const struct gpu_at *sum,
		  const struct gpu_at *left, const struct gpu_at *right)
{
	const char *type = in->left == HN_BF16 ? "bf16" : in->left == HN_F16 ? "f16" : "s8";
	bool is_float = hn_dtype_class(in->sum) == HN_CLASS_FLOAT;
	struct hn_buf out, from;

	if (in->asks != NULL) {
		in_parts(g, sum, left, right);
		return;
	}
	hn_buf_init(&out);
	hn_buf_init(&from);
	for (int64_t i = 0; i < 4; i++) {
		struct gpu_at x = *sum;

		x.c += i;
		hn_buf_printf(&out, "%s\"+%s\"(%s)", i > 0 ? ", " : "", is_float ? "f" : "r",
			      hn_gpu_c_place(g, &x));
		hn_buf_printf(&from, "%s\"r\"(%s)", i > 0 ? ", " : "", word(g, left, i));
	}
	for (int64_t i = 0; i < 2; i++) {
		hn_buf_printf(&from, ", \"r\"(%s)", word(g, right, i));
	}
	hn_gpu_c_line(g,
		      "asm volatile(\"mma.sync.aligned.m16n8k%d.row.col.%s.%s.%s.%s {%%0, %%1, %%2, "
		      "%%3}, {%%4, %%5, %%6, %%7}, {%%8, %%9}, {%%0, %%1, %%2, %%3};\" : %s : %s);",
		      (int)hn_intrin_terms(in), is_float ? "f32" : "s32", type, type,
		      is_float ? "f32" : "s32", out.s, from.s);
	hn_buf_fini(&out);
	hn_buf_fini(&from);
}
