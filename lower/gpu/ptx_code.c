/* lower/gpu/ptx_code.c -- memory, branches and loops as LLVM's.
 *
 * Loads and stores are of single elements that say how they are aligned.  LLVM makes instructions on
 * several of neighbours (its load-store vectorizer).
 */
#include "lower/gpu/ptx_int.h"

static LLVMValueRef of(gpu_val v)
{
	return (LLVMValueRef)(uintptr_t)v;
}

LLVMValueRef hn_gpu_ptx_place(struct gpu *g, const struct gpu_at *at)
{
	const struct gpu_ptx *p = g->own;
	enum hn_dtype t = (enum hn_dtype)g->d->buffer[at->buffer].dtype;
	LLVMTypeRef type = hn_gpu_ptx_stored(g, t);
	LLVMValueRef ptr = p->base[at->buffer], i;

	if (g->kept[at->buffer]) {
		hn_assert(at->base == NULL && at->c >= 0 &&
			  at->c < g->d->buffer[at->buffer].n_elem);
		return p->element[at->buffer][at->c];
	}
	if (at->base != NULL) {
		i = of(at->base);
		ptr = LLVMBuildInBoundsGEP2(p->b, type, ptr, &i, 1, "");
	}
	if (at->c != 0) {
		i = LLVMConstInt(p->i64, (uint64_t)at->c, 1);
		ptr = LLVMBuildGEP2(p->b, type, ptr, &i, 1, "");
	}
	return ptr;
}

/* In bytes; buffers begin at a multiple of HN_GPU_ALIGN. */
static uint32_t alignment(struct gpu *g, const struct gpu_at *at)
{
	uint32_t size = hn_dtype_bytes((enum hn_dtype)g->d->buffer[at->buffer].dtype);
	uint32_t bytes = at->aligned * size;

	return g->kept[at->buffer] ? size : bytes < HN_GPU_ALIGN ? bytes : HN_GPU_ALIGN;
}

gpu_val hn_gpu_ptx_load(struct gpu *g, const struct gpu_at *at)
{
	const struct gpu_ptx *p = g->own;
	enum hn_dtype t = (enum hn_dtype)g->d->buffer[at->buffer].dtype;
	LLVMValueRef v = LLVMBuildLoad2(p->b, hn_gpu_ptx_stored(g, t), hn_gpu_ptx_place(g, at), "");

	LLVMSetAlignment(v, alignment(g, at));
	if (t == HN_BOOL) {
		return LLVMBuildICmp(p->b, LLVMIntNE, v, LLVMConstNull(p->i8), "");
	}
	return hn_dtype_is_narrow(t) ? LLVMBuildFPExt(p->b, v, p->f32, "") : v;
}

void hn_gpu_ptx_store(struct gpu *g, const struct gpu_at *at, gpu_val x)
{
	const struct gpu_ptx *p = g->own;
	enum hn_dtype t = (enum hn_dtype)g->d->buffer[at->buffer].dtype;
	LLVMValueRef v = of(x);

	if (t == HN_BOOL) {
		v = LLVMBuildZExt(p->b, v, p->i8, "");
	} else if (hn_dtype_is_narrow(t)) {
		v = LLVMBuildFPTrunc(p->b, v, hn_gpu_ptx_stored(g, t), "");
	}
	v = LLVMBuildStore(p->b, v, hn_gpu_ptx_place(g, at));
	LLVMSetAlignment(v, alignment(g, at));
}

gpu_val hn_gpu_ptx_name(struct gpu *g, enum hn_dtype t, gpu_val v)
{
	(void)g;
	(void)t;
	return v;
}

/* ---- instructions of a block's threads */

void hn_gpu_ptx_copy(struct gpu *g, const struct gpu_at *to, const struct gpu_at *from,
		     uint32_t bytes)
{
	LLVMValueRef arg[2] = { hn_gpu_ptx_place(g, to), hn_gpu_ptx_place(g, from) };

	hn_gpu_ptx_intrinsic(g,
			     bytes == 16  ? "llvm.nvvm.cp.async.cg.shared.global.16"
			     : bytes == 8 ? "llvm.nvvm.cp.async.ca.shared.global.8"
					  : "llvm.nvvm.cp.async.ca.shared.global.4",
			     NULL, arg, 2);
}

void hn_gpu_ptx_commit(struct gpu *g)
{
	if (g->has_async) {
		hn_gpu_ptx_intrinsic(g, "llvm.nvvm.cp.async.commit.group", NULL, NULL, 0);
	}
}

void hn_gpu_ptx_wait(struct gpu *g, int64_t n)
{
	LLVMValueRef arg = LLVMConstInt(gpu_ptx_of(g)->i32, (uint64_t)n, 0);

	if (g->has_async) {
		hn_gpu_ptx_intrinsic(g, "llvm.nvvm.cp.async.wait.group", NULL, &arg, 1);
	}
}

void hn_gpu_ptx_barrier(struct gpu *g)
{
	LLVMValueRef arg = LLVMConstNull(gpu_ptx_of(g)->i32);

	hn_gpu_ptx_intrinsic(g, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL, &arg, 1);
}

/* ---- branches */

static LLVMBasicBlockRef block(struct gpu *g)
{
	const struct gpu_ptx *p = g->own;

	return LLVMAppendBasicBlockInContext(p->ctx, p->fn, "");
}

struct choice {
	LLVMBasicBlockRef otherwise, after, from; /* from: where the first value is known */
	LLVMValueRef first;
};

void *hn_gpu_ptx_choose(struct gpu *g, enum hn_dtype t, gpu_val c)
{
	const struct gpu_ptx *p = g->own;
	struct choice *ret = HN_NEW(g->a, struct choice);
	LLVMBasicBlockRef then = block(g);

	(void)t;
	ret->otherwise = block(g);
	ret->after = block(g);
	LLVMBuildCondBr(p->b, of(c), then, ret->otherwise);
	LLVMPositionBuilderAtEnd(p->b, then);
	return ret;
}

void hn_gpu_ptx_otherwise(struct gpu *g, void *choice, gpu_val x)
{
	const struct gpu_ptx *p = g->own;
	struct choice *c = choice;

	c->first = of(x);
	c->from = LLVMGetInsertBlock(p->b);
	LLVMBuildBr(p->b, c->after);
	LLVMPositionBuilderAtEnd(p->b, c->otherwise);
}

gpu_val hn_gpu_ptx_chosen(struct gpu *g, void *choice, gpu_val y)
{
	const struct gpu_ptx *p = g->own;
	struct choice *c = choice;
	LLVMBasicBlockRef from[2] = { c->from, LLVMGetInsertBlock(p->b) };
	LLVMValueRef value[2] = { c->first, of(y) };

	LLVMBuildBr(p->b, c->after);
	LLVMPositionBuilderAtEnd(p->b, c->after);
	LLVMValueRef phi = LLVMBuildPhi(p->b, LLVMTypeOf(c->first), "");

	LLVMAddIncoming(phi, value, from, 2);
	return phi;
}

void hn_gpu_ptx_begin_if(struct gpu *g, gpu_val c)
{
	struct gpu_ptx *p = g->own;
	LLVMBasicBlockRef then = block(g);

	p->after = hn_arena_grow(g->a, p->after, p->n_after, &p->cap_after, sizeof(*p->after));
	p->after[p->n_after++] = block(g);
	LLVMBuildCondBr(p->b, of(c), then, p->after[p->n_after - 1]);
	LLVMPositionBuilderAtEnd(p->b, then);
}

void hn_gpu_ptx_end_if(struct gpu *g)
{
	struct gpu_ptx *p = g->own;
	LLVMBasicBlockRef after = p->after[--p->n_after];

	LLVMBuildBr(p->b, after);
	LLVMPositionBuilderAtEnd(p->b, after);
}

/* A loop runs at least once: its test is at its end. */
void hn_gpu_ptx_begin_loop(struct gpu *g, int32_t slot, int64_t extent, bool written_out)
{
	struct gpu_ptx *p = g->own;
	LLVMBasicBlockRef top = block(g), before = LLVMGetInsertBlock(p->b);
	LLVMValueRef zero = LLVMConstNull(p->i32);

	(void)extent;
	(void)written_out;
	LLVMBuildBr(p->b, top);
	LLVMPositionBuilderAtEnd(p->b, top);
	LLVMValueRef phi = LLVMBuildPhi(p->b, p->i32, "");

	LLVMAddIncoming(phi, &zero, &before, 1);
	g->var[slot] = phi;
	p->loop_top[slot] = top;
}

void hn_gpu_ptx_end_loop(struct gpu *g, int32_t slot, int64_t extent)
{
	struct gpu_ptx *p = g->own;
	LLVMBasicBlockRef here = LLVMGetInsertBlock(p->b), after = block(g);
	LLVMValueRef phi = of(g->var[slot]);
	LLVMValueRef next = LLVMBuildNSWAdd(p->b, phi, LLVMConstInt(p->i32, 1, 0), "");
	LLVMValueRef more = LLVMBuildICmp(p->b, LLVMIntNE, next,
					  LLVMConstInt(p->i32, (uint64_t)extent, 0), "");

	LLVMBuildCondBr(p->b, more, p->loop_top[slot], after);
	LLVMAddIncoming(phi, &next, &here, 1);
	LLVMPositionBuilderAtEnd(p->b, after);
}
