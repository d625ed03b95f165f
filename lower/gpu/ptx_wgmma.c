/* lower/gpu/ptx_wgmma.c -- products of warpgroups (lower/device/device_wgmma.h), as inline assembly.
 *
 * LLVM has no function for them.  A node is one piece of assembly from the first instruction to the
 * wait, or, where it is open, to the end of the last instruction; the wait is another piece.  Each
 * element of the result is an operand that goes in and out of both.  LLVM might move such a register
 * between two pieces, while the hardware still adds to it.  ptxas sees that, makes the products one
 * by one, and says so; a board then refuses the candidate.
 */
#include "lower/device/device_wgmma.h"
#include "lower/gpu/ptx_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_SUMS (HN_WGMMA_COLUMNS / 2)
#define MOST_FROM 6 /* operands beside sums */

/* Where the matrix begins, and how it lies. */
LLVMValueRef hn_gpu_ptx_descriptor(struct gpu *g, const struct gpu_at *at,
			       const struct hn_device_matrix *m)
{
	const struct gpu_ptx *p = g->own;
	LLVMValueRef v = LLVMBuildPtrToInt(p->b, hn_gpu_ptx_place(g, at), p->i64, "");

	v = LLVMBuildLShr(p->b, v, LLVMConstInt(p->i64, 4, 0), "");
	v = LLVMBuildAnd(p->b, v, LLVMConstInt(p->i64, 0x3fff, 0), "");
	return LLVMBuildOr(p->b, v, LLVMConstInt(p->i64, hn_wgmma_descriptor(m), 0), "");
}

void hn_gpu_ptx_put_step(const struct hn_device_warp *w, int64_t step, const char *left,
			 const char *right, struct hn_buf *out)
{
	bool bytes = hn_dtype_bytes(w->intrin->left) == 1;
	int64_t n = w->columns / 2;

	hn_buf_printf(out, "add.s64 a, %s, %" PRId64 ";\nadd.s64 b, %s, %" PRId64 ";\n", left,
		      step * hn_wgmma_step(&w->lies[0], w->intrin) / 16, right,
		      step * hn_wgmma_step(&w->lies[1], w->intrin) / 16);
	hn_buf_printf(out, "wgmma.mma_async.sync.aligned.m64n%" PRId64 "k%" PRId64 ".%s {", w->columns,
		      hn_intrin_terms(w->intrin), w->intrin->llvm);
	for (int64_t i = 0; i < n; i++) {
		hn_buf_printf(out, "%s$%" PRId64, i > 0 ? ", " : "", i);
	}
	hn_buf_puts(out, "}, a, b, p");
	if (!bytes) {
		hn_buf_printf(out, ", 1, 1, %d, %d", w->lies[0].across, w->lies[1].across);
	}
	hn_buf_puts(out, ";\n");
}

static void put_code(const struct hn_device_warp *w, int64_t n, struct hn_buf *out)
{
	char left[32], right[32];

	snprintf(left, sizeof(left), "$%" PRId64, n);
	snprintf(right, sizeof(right), "$%" PRId64, n + 1);
	hn_buf_puts(out, "{\n.reg .b64 a, b;\n.reg .pred p;\nsetp.eq.u32 p, 0, 0;\n"
			 "wgmma.fence.sync.aligned;\n");
	for (int64_t i = 0; i < w->steps; i++) {
		hn_gpu_ptx_put_step(w, i, left, right, out);
	}
	hn_buf_printf(out, "wgmma.commit_group.sync.aligned;\n%s}",
		      w->open ? "" : "wgmma.wait_group.sync.aligned 0;\n");
}

/* Results, then what is read (a descriptor, or an address), then what the results were. */
static void put_operands(int64_t n, bool is_float, const char *from, struct hn_buf *out)
{
	for (int64_t i = 0; i < n; i++) {
		hn_buf_printf(out, "%s%s", i > 0 ? "," : "", is_float ? "=f" : "=r");
	}
	hn_buf_puts(out, from);
	for (int64_t i = 0; i < n; i++) {
		hn_buf_printf(out, ",%" PRId64, i);
	}
	hn_buf_puts(out, ",~{memory}");
}

LLVMValueRef hn_gpu_ptx_run(struct gpu *g, const struct hn_buf *code, const struct hn_buf *operands,
			    LLVMTypeRef result, LLVMTypeRef *type, LLVMValueRef *arg, unsigned n)
{
	const struct gpu_ptx *p = g->own;
	LLVMTypeRef f = LLVMFunctionType(result, type, n, 0);
	LLVMValueRef as = LLVMGetInlineAsm(f, code->s, code->n, operands->s, operands->n, 1, 0,
					   LLVMInlineAsmDialectATT, 0);
	LLVMValueRef v = LLVMBuildCall2(p->b, f, as, arg, n, "");
	unsigned kind = LLVMGetEnumAttributeKindForName("convergent", strlen("convergent"));

	LLVMAddCallSiteAttribute(v, LLVMAttributeFunctionIndex,
				 LLVMCreateEnumAttribute(p->ctx, kind, 0));
	return v;
}

void hn_gpu_ptx_with_sums(struct gpu *g, const struct hn_device_warp *w, const struct gpu_at *sum,
			  const LLVMValueRef *from, unsigned n_from, const char *constraints,
			  const struct hn_buf *code)
{
	const struct gpu_ptx *p = g->own;
	bool is_float = hn_dtype_class(w->intrin->sum) == HN_CLASS_FLOAT;
	LLVMTypeRef element = is_float ? p->f32 : p->i32, type[MOST_SUMS + MOST_FROM], result[MOST_SUMS];
	LLVMValueRef arg[MOST_SUMS + MOST_FROM], at[MOST_SUMS];
	uint32_t n = (uint32_t)w->columns / 2;
	struct hn_buf operands;

	for (unsigned i = 0; i < n_from; i++) {
		type[i] = LLVMTypeOf(from[i]);
		arg[i] = from[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		struct gpu_at x = *sum;

		x.c += i;
		at[i] = hn_gpu_ptx_place(g, &x);
		type[n_from + i] = result[i] = element;
		arg[n_from + i] = LLVMBuildLoad2(p->b, element, at[i], "");
	}
	hn_buf_init(&operands);
	put_operands(n, is_float, constraints, &operands);
	LLVMValueRef v = hn_gpu_ptx_run(g, code, &operands,
				  LLVMStructTypeInContext(p->ctx, result, n, 0), type, arg,
				  n_from + n);

	for (uint32_t i = 0; i < n; i++) {
		LLVMBuildStore(p->b, LLVMBuildExtractValue(p->b, v, i, ""), at[i]);
	}
	hn_buf_fini(&operands);
}

void hn_gpu_ptx_wgmma(struct gpu *g, const struct hn_device_warp *w, const struct gpu_at *sum,
		      const struct gpu_at from[2])
{
	LLVMValueRef of[2] = { hn_gpu_ptx_descriptor(g, &from[0], &w->lies[0]),
			       hn_gpu_ptx_descriptor(g, &from[1], &w->lies[1]) };
	struct hn_buf code;

	hn_buf_init(&code);
	put_code(w, w->columns / 2, &code);
	hn_gpu_ptx_with_sums(g, w, sum, of, 2, ",l,l", &code);
	hn_buf_fini(&code);
}

void hn_gpu_ptx_settle(struct gpu *g, const struct hn_device_warp *w, const struct gpu_at *sum,
		       int64_t but)
{
	struct hn_buf code;

	hn_buf_init(&code);
	hn_buf_printf(&code, "wgmma.wait_group.sync.aligned %" PRId64 ";", but);
	hn_gpu_ptx_with_sums(g, w, sum, NULL, 0, "", &code);
	hn_buf_fini(&code);
}

void hn_gpu_ptx_fence(struct gpu *g)
{
	static const char code[] = "fence.proxy.async.shared::cta;", clobber[] = "~{memory}";
	struct hn_buf text, operands;

	hn_buf_init(&text);
	hn_buf_init(&operands);
	hn_buf_puts(&text, code);
	hn_buf_puts(&operands, clobber);
	hn_gpu_ptx_run(g, &text, &operands, LLVMVoidTypeInContext(gpu_ptx_of(g)->ctx), NULL, NULL, 0);
	hn_buf_fini(&text);
	hn_buf_fini(&operands);
}
