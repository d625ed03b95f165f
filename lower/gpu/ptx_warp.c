/* lower/gpu/ptx_warp.c -- what a warp does together, as LLVM's.
 *
 * The instructions take words of 4 bytes; the elements of an array that is held in registers are
 * variables of their own.  LLVM takes the putting together and apart away again.
 */
#include "lower/device/device_warp.h"
#include "lower/gpu/ptx_int.h"

#include <stdio.h>

static enum hn_dtype type_of(const struct gpu *g, const struct gpu_at *at)
{
	return (enum hn_dtype)g->d->buffer[at->buffer].dtype;
}

static LLVMValueRef pointer(struct gpu *g, const struct gpu_at *at, int64_t i)
{
	struct gpu_at x = *at;

	x.c += i;
	return hn_gpu_ptx_place(g, &x);
}

static LLVMTypeRef word_type(struct gpu *g, const struct gpu_at *at)
{
	return LLVMVectorType(hn_gpu_ptx_stored(g, type_of(g, at)),
			      (unsigned)hn_warp_packed(type_of(g, at)));
}

/* Word w of those from at on, as `to`. */
static LLVMValueRef get_word(struct gpu *g, const struct gpu_at *at, int64_t w, LLVMTypeRef to)
{
	const struct gpu_ptx *p = g->own;
	int64_t n = hn_warp_packed(type_of(g, at));
	LLVMTypeRef element = hn_gpu_ptx_stored(g, type_of(g, at));
	LLVMValueRef v = LLVMGetUndef(word_type(g, at));

	for (int64_t i = 0; i < n; i++) {
		LLVMValueRef x = LLVMBuildLoad2(p->b, element, pointer(g, at, w * n + i), "");

		v = LLVMBuildInsertElement(p->b, v, x, LLVMConstInt(p->i32, (uint64_t)i, 0), "");
	}
	return LLVMBuildBitCast(p->b, v, to, "");
}

static void put_word(struct gpu *g, const struct gpu_at *at, int64_t w, LLVMValueRef v)
{
	const struct gpu_ptx *p = g->own;
	int64_t n = hn_warp_packed(type_of(g, at));

	v = LLVMBuildBitCast(p->b, v, word_type(g, at), "");
	for (int64_t i = 0; i < n; i++) {
		LLVMValueRef x = LLVMBuildExtractElement(
			p->b, v, LLVMConstInt(p->i32, (uint64_t)i, 0), "");

		LLVMBuildStore(p->b, x, pointer(g, at, w * n + i));
	}
}

void hn_gpu_ptx_ldmatrix(struct gpu *g, const struct gpu_at *to, const struct gpu_at *from,
			 uint32_t n, bool trans)
{
	const struct gpu_ptx *p = g->own;
	LLVMValueRef at = hn_gpu_ptx_place(g, from), v;
	char name[80];

	snprintf(name, sizeof(name), "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x%u%s.b16", n,
		 trans ? ".trans" : "");
	v = hn_gpu_ptx_intrinsic(g, name, LLVMTypeOf(at), &at, 1);
	for (uint32_t i = 0; i < n; i++) {
		put_word(g, to, i, n == 1 ? v : LLVMBuildExtractValue(p->b, v, i, ""));
	}
}

struct word {
	LLVMValueRef big, small;
};

/* The element cut in two parts of 11 bits each. */
static struct word cut(struct gpu *g, const struct gpu_at *at, int64_t i)
{
	const struct gpu_ptx *p = g->own;
	LLVMValueRef x = LLVMBuildLoad2(p->b, p->f32, pointer(g, at, i), ""), rest;
	struct word w;

	w.big = hn_gpu_ptx_intrinsic(g, "llvm.nvvm.f2tf32.rna", NULL, &x, 1);
	rest = LLVMBuildFSub(p->b, x, LLVMBuildBitCast(p->b, w.big, p->f32, ""), "");
	w.small = hn_gpu_ptx_intrinsic(g, "llvm.nvvm.f2tf32.rna", NULL, &rest, 1);
	return w;
}

/* Three times the instruction, the smallest products first. */
static void in_parts(struct gpu *g, const struct hn_intrin *in, const struct gpu_at *sum,
		     const struct gpu_at *left, const struct gpu_at *right)
{
	const struct gpu_ptx *p = g->own;
	LLVMValueRef arg[10];
	struct word w[6];

	for (int64_t i = 0; i < 6; i++) {
		w[i] = i < 4 ? cut(g, left, i) : cut(g, right, i - 4);
	}
	for (int64_t i = 0; i < 4; i++) {
		arg[6 + i] = LLVMBuildLoad2(p->b, p->f32, pointer(g, sum, i), "");
	}
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 6; i++) {
			bool is_small = k == 0 ? i < 4 : k == 1 && i >= 4;

			arg[i] = is_small ? w[i].small : w[i].big;
		}
		LLVMValueRef v = hn_gpu_ptx_intrinsic(g, in->llvm, NULL, arg, 10);

		for (uint32_t i = 0; i < 4; i++) {
			arg[6 + i] = LLVMBuildExtractValue(p->b, v, i, "");
		}
	}
	for (int64_t i = 0; i < 4; i++) {
		LLVMBuildStore(p->b, arg[6 + i], pointer(g, sum, i));
	}
}

void hn_gpu_ptx_mma(struct gpu *g, const struct hn_intrin *in, const struct gpu_at *sum,
		    const struct gpu_at *left, const struct gpu_at *right)
{
	const struct gpu_ptx *p = g->own;
	LLVMTypeRef half2 = LLVMVectorType(LLVMHalfTypeInContext(p->ctx), 2);
	LLVMTypeRef word = in->left == HN_F16 ? half2 : p->i32;
	LLVMTypeRef element = hn_gpu_ptx_stored(g, in->sum);
	LLVMValueRef arg[10], v;
	uint32_t n = 0;

	if (in->asks != NULL) {
		in_parts(g, in, sum, left, right);
		return;
	}
	for (int64_t i = 0; i < 4; i++) {
		arg[n++] = get_word(g, left, i, word);
	}
	for (int64_t i = 0; i < 2; i++) {
		arg[n++] = get_word(g, right, i, word);
	}
	for (int64_t i = 0; i < 4; i++) {
		arg[n++] = LLVMBuildLoad2(p->b, element, pointer(g, sum, i), "");
	}
	v = hn_gpu_ptx_intrinsic(g, in->llvm, NULL, arg, n);
	for (uint32_t i = 0; i < 4; i++) {
		LLVMBuildStore(p->b, LLVMBuildExtractValue(p->b, v, i, ""), pointer(g, sum, i));
	}
}
