/* lower/gpu/ptx.c -- kernels as PTX, by way of LLVM.
 *
 * LLVM's target for PTX needs nothing of NVIDIA's; functions that its toolkit has in a library of
 * LLVM code are made here (ptx_math.c).
 */
#include "lower/gpu/ptx_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "lower/device/device_role.h"

/* Of a multiprocessor, since sm_70. */
#define REGISTERS 65536
#define SHARED_BYTES 131072 /* what many have for blocks */
#define MOST_THREADS 1024 /* half of them */
#define WARP 32
#define OTHER_REGISTERS 56 /* of a thread, beside its arrays */

/* Numbers of registers that let one block more fit, for blocks of usual sizes. */
static const int64_t budgets[] = { 128, 168, 255 };

#define KERNEL_CALL 71 /* LLVM's number of the calling convention ptx_kernel */

static void begin(struct gpu *g)
{
	struct gpu_ptx *p = calloc(1, sizeof(*p));

	hn_assert(p != NULL);
	g->own = p;
	p->ctx = LLVMContextCreate();
	p->mod = LLVMModuleCreateWithNameInContext("hone", p->ctx);
	p->b = LLVMCreateBuilderInContext(p->ctx);
	p->i1 = LLVMInt1TypeInContext(p->ctx);
	p->i8 = LLVMInt8TypeInContext(p->ctx);
	p->i16 = LLVMInt16TypeInContext(p->ctx);
	p->i32 = LLVMInt32TypeInContext(p->ctx);
	p->i64 = LLVMInt64TypeInContext(p->ctx);
	p->f32 = LLVMFloatTypeInContext(p->ctx);
	p->f64 = LLVMDoubleTypeInContext(p->ctx);
	hn_gpu_ptx_open(g);
}

static void close_ptx(struct gpu *g)
{
	struct gpu_ptx *p = g->own;

	if (p->tm != NULL) {
		LLVMDisposeTargetMachine(p->tm);
	}
	LLVMDisposeBuilder(p->b);
	LLVMDisposeModule(p->mod);
	LLVMContextDispose(p->ctx);
	free(p);
}

static void add_attribute(struct gpu *g, unsigned at, const char *name, uint64_t value)
{
	const struct gpu_ptx *p = g->own;
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	LLVMAddAttributeAtIndex(p->fn, at, LLVMCreateEnumAttribute(p->ctx, kind, value));
}

static void add_words(struct gpu *g, const char *name, const char *text)
{
	const struct gpu_ptx *p = g->own;

	LLVMAddAttributeAtIndex(p->fn, LLVMAttributeFunctionIndex,
				LLVMCreateStringAttribute(p->ctx, name, (unsigned)strlen(name),
							  text, (unsigned)strlen(text)));
}

/* Blocks that a multiprocessor should have at once: as many as leave a thread registers for its
 * arrays and some more.  Without a word of it ptxas may spill to have more blocks, or take so many
 * registers that there is one less. */
static int64_t blocks_at_once(const struct gpu *g, int64_t threads)
{
	int64_t wanted = OTHER_REGISTERS, ret, most;
	size_t row = 0;

	threads = (threads + 31) / 32 * 32; /* registers are a warp's */

	for (uint32_t i = 0; i < g->d->n_buffer; i++) {
		const struct hn_device_buffer *b = &g->d->buffer[i];
		int64_t bytes = b->n_elem * hn_dtype_bytes((enum hn_dtype)b->dtype);

		wanted += g->kept[i] && g->used[i] ? bytes / 4 : 0;
	}
	while (row + 1 < HN_COUNT_OF(budgets) && budgets[row] < wanted) {
		row++;
	}
	threads = hn_ceildiv(threads, WARP) * WARP; /* registers are given out by warps */
	most = MOST_THREADS / threads;
	if (g->shared_bytes > 0 && most > SHARED_BYTES / g->shared_bytes) {
		most = SHARED_BYTES / g->shared_bytes;
	}
	ret = REGISTERS / (budgets[row] * threads);
	ret = ret < most ? ret : most;
	return ret < 1 ? 1 : ret;
}

static void say_threads(struct gpu *g)
{
	const int64_t *n = g->k->block;
	char text[80];

	snprintf(text, sizeof(text), "%" PRId64 ",%" PRId64 ",%" PRId64, n[0], n[1], n[2]);
	add_words(g, "nvvm.reqntid", text);
	if (hn_gpu_registers(g->k) > 0) { /* roles deal them out */
		snprintf(text, sizeof(text), "%" PRId64, hn_gpu_registers(g->k));
		add_words(g, "nvvm.maxnreg", text);
		return;
	}
	snprintf(text, sizeof(text), "%" PRId64, blocks_at_once(g, n[0] * n[1] * n[2]));
	add_words(g, "nvvm.minctasm", text);
}

/* A map comes by value, and stays where it came: the hardware reads it there. */
static void add_map_attributes(struct gpu *g, unsigned at)
{
	const struct gpu_ptx *p = g->own;
	unsigned kind = LLVMGetEnumAttributeKindForName("byval", strlen("byval"));
	LLVMTypeRef type = LLVMArrayType2(p->i8, HN_MAP_BYTES);

	LLVMAddAttributeAtIndex(p->fn, at, LLVMCreateTypeAttribute(p->ctx, kind, type));
	add_attribute(g, at, "align", HN_MAP_PARAMETER);
	LLVMAddAttributeAtIndex(p->fn, at,
				LLVMCreateStringAttribute(p->ctx, "nvvm.grid_constant",
							  (unsigned)strlen("nvvm.grid_constant"),
							  "", 0));
}

static void make_function(struct gpu *g)
{
	struct gpu_ptx *p = g->own;
	LLVMTypeRef *type = HN_NEW_ARRAY(g->a, LLVMTypeRef, g->d->n_buffer + g->d->n_map);
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->d->n_buffer; i++) {
		if (g->used[i] && g->d->buffer[i].memory == HN_MEMORY_GLOBAL) {
			type[n++] = LLVMPointerTypeInContext(p->ctx, GPU_PTX_GLOBAL);
		}
	}
	for (uint32_t i = 0; i < g->d->n_map; i++) {
		if (g->maps[i]) {
			type[n++] = LLVMPointerTypeInContext(p->ctx, 0);
		}
	}
	p->fn = LLVMAddFunction(
		p->mod, g->k->name,
		LLVMFunctionType(LLVMVoidTypeInContext(p->ctx), type, n, 0));
	LLVMSetFunctionCallConv(p->fn, KERNEL_CALL);
	add_attribute(g, LLVMAttributeFunctionIndex, "nounwind", 0);
	say_threads(g);
	n = 0;
	for (uint32_t i = 0; i < g->d->n_buffer; i++) {
		if (!g->used[i] || g->d->buffer[i].memory != HN_MEMORY_GLOBAL) {
			continue;
		}
		p->base[i] = LLVMGetParam(p->fn, n++);
		add_attribute(g, n, "noalias", 0);
		add_attribute(g, n, "align", HN_GPU_ALIGN);
		if (!g->stored[i]) {
			add_attribute(g, n, "readonly", 0);
		}
	}
	for (uint32_t i = 0; i < g->d->n_map; i++) {
		if (g->maps[i]) {
			p->map[i] = LLVMGetParam(p->fn, n++);
			add_map_attributes(g, n);
		}
	}
}

/* One variable for each buffer, or one for all whose size the launch says. */
static void declare_shared(struct gpu *g)
{
	struct gpu_ptx *p = g->own;
	bool at_launch = g->shared_bytes > HN_GPU_STATIC_SHARED;
	LLVMValueRef all = NULL;

	for (uint32_t i = 0; i < g->d->n_buffer; i++) {
		const struct hn_device_buffer *b = &g->d->buffer[i];
		LLVMTypeRef type;

		if (!g->used[i] || b->memory != HN_MEMORY_SHARED) {
			continue;
		}
		if (at_launch && all == NULL) {
			all = LLVMGetNamedGlobal(p->mod, "hn_shared");
			all = all != NULL ? all
					  : LLVMAddGlobalInAddressSpace(
						    p->mod, LLVMArrayType2(p->i8, 0), "hn_shared",
						    GPU_PTX_SHARED);
			if (LLVMGetAlignment(all) < g->shared_align) {
				LLVMSetAlignment(all, (unsigned)g->shared_align);
			}
		}
		if (at_launch) {
			LLVMValueRef at = LLVMConstInt(p->i64, (uint64_t)g->offset[i], 0);

			p->base[i] = LLVMConstInBoundsGEP2(p->i8, all, &at, 1);
			continue;
		}
		const char *name = hn_arena_printf(g->a, "%s_%u", g->k->name, i);

		type = LLVMArrayType2(hn_gpu_ptx_stored(g, (enum hn_dtype)b->dtype),
				      (uint64_t)b->n_elem);
		p->base[i] = LLVMAddGlobalInAddressSpace(p->mod, type, name, GPU_PTX_SHARED);
		LLVMSetLinkage(p->base[i], LLVMInternalLinkage);
		LLVMSetInitializer(p->base[i], LLVMGetUndef(type));
		LLVMSetAlignment(p->base[i], (unsigned)g->shared_align);
	}
}

/* Arrays of a thread: each element a variable, which becomes a register, or all of it memory. */
static void declare_local(struct gpu *g)
{
	struct gpu_ptx *p = g->own;

	for (uint32_t i = 0; i < g->d->n_buffer; i++) {
		const struct hn_device_buffer *b = &g->d->buffer[i];
		LLVMTypeRef type = hn_gpu_ptx_stored(g, (enum hn_dtype)b->dtype);

		if (!g->used[i] || b->memory != HN_MEMORY_LOCAL) {
			continue;
		}
		if (!g->kept[i]) {
			p->base[i] = LLVMBuildAlloca(
				p->b, LLVMArrayType2(type, (uint64_t)b->n_elem), "");
			LLVMSetAlignment(p->base[i], HN_GPU_ALIGN);
			continue;
		}
		p->element[i] = HN_NEW_ARRAY(g->a, LLVMValueRef, (size_t)b->n_elem);
		for (int64_t j = 0; j < b->n_elem; j++) {
			p->element[i][j] = LLVMBuildAlloca(p->b, type, "");
		}
	}
}

static void read_numbers(struct gpu *g)
{
	static const char *const name[] = {
		"llvm.nvvm.read.ptx.sreg.ctaid.x", "llvm.nvvm.read.ptx.sreg.ctaid.y",
		"llvm.nvvm.read.ptx.sreg.ctaid.z", "llvm.nvvm.read.ptx.sreg.tid.x",
		"llvm.nvvm.read.ptx.sreg.tid.y",   "llvm.nvvm.read.ptx.sreg.tid.z"
	};
	const struct gpu_ptx *p = g->own;

	for (int32_t s = 0; s < HN_DEVICE_FIRST; s++) {
		g->var[s] = g->span[s].hi == 0
				    ? LLVMConstNull(p->i32)
				    : hn_gpu_ptx_intrinsic(g, name[s], NULL, NULL, 0);
	}
}

static void begin_kernel(struct gpu *g)
{
	struct gpu_ptx *p = g->own;

	p->base = HN_NEW_ARRAY(g->a, LLVMValueRef, g->d->n_buffer);
	p->element = HN_NEW_ARRAY(g->a, LLVMValueRef *, g->d->n_buffer);
	p->map = HN_NEW_ARRAY(g->a, LLVMValueRef, g->d->n_map + 1);
	p->loop_top = HN_NEW_ARRAY(g->a, LLVMBasicBlockRef, g->n_slot);
	make_function(g);
	p->entry = LLVMAppendBasicBlockInContext(p->ctx, p->fn, "");
	LLVMPositionBuilderAtEnd(p->b, p->entry);
	declare_shared(g);
	declare_local(g);
	read_numbers(g);
}

static void end_kernel(struct gpu *g)
{
	LLVMBuildRetVoid(gpu_ptx_of(g)->b);
}

const struct gpu_lang hn_gpu_ptx = {
	.unrolls = true,
	.most_written = 12288,
	.most_unrolled = 4096,
	.most_short = 1024,
	.begin = begin,
	.begin_kernel = begin_kernel,
	.end_kernel = end_kernel,
	.end = hn_gpu_ptx_finish,
	.close = close_ptx,
	.number = hn_gpu_ptx_number,
	.real = hn_gpu_ptx_real,
	.binary = hn_gpu_ptx_binary,
	.not = hn_gpu_ptx_not,
	.cast = hn_gpu_ptx_cast,
	.round = hn_gpu_ptx_round,
	.call = hn_gpu_ptx_call,
	.select = hn_gpu_ptx_select,
	.choose = hn_gpu_ptx_choose,
	.otherwise = hn_gpu_ptx_otherwise,
	.chosen = hn_gpu_ptx_chosen,
	.load = hn_gpu_ptx_load,
	.name = hn_gpu_ptx_name,
	.store = hn_gpu_ptx_store,
	.copy = hn_gpu_ptx_copy,
	.commit = hn_gpu_ptx_commit,
	.wait = hn_gpu_ptx_wait,
	.barrier = hn_gpu_ptx_barrier,
	.ldmatrix = hn_gpu_ptx_ldmatrix,
	.mma = hn_gpu_ptx_mma,
	.wgmma = hn_gpu_ptx_wgmma,
	.settle = hn_gpu_ptx_settle,
	.fence = hn_gpu_ptx_fence,
	.mbarrier = hn_gpu_ptx_mbarrier,
	.registers = hn_gpu_ptx_registers,
	.await = hn_gpu_ptx_await,
	.arrive = hn_gpu_ptx_arrive,
	.expect = hn_gpu_ptx_expect,
	.bulk = hn_gpu_ptx_bulk,
	.turns = hn_gpu_ptx_turns,
	.begin_loop = hn_gpu_ptx_begin_loop,
	.end_loop = hn_gpu_ptx_end_loop,
	.begin_if = hn_gpu_ptx_begin_if,
	.end_if = hn_gpu_ptx_end_if,
};
