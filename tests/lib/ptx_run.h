/* Runs what PTX is made of on this machine: LLVM's text of a module, in which the few instructions of
 * a GPU are calls of functions here.  Threads of a block are coroutines that change at barriers, and
 * blocks run one after the other.  What LLVM makes of that text for a GPU is not tried, but all that
 * the printer did.  Neighbours are made vectors as for a GPU, so that a wrong alignment is a fault. */
#ifndef HN_TESTS_PTX_RUN_H
#define HN_TESTS_PTX_RUN_H

#include <llvm-c/IRReader.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <ucontext.h>

#include "proto/gpu_module.h"
#include "tests/lib/lower_run.h"

#define PTX_RUN_STACK 65536
#define PTX_RUN_ARGS 16 /* of a kernel */

/* One block at a time: what its functions know is this file's. */
static struct ptx_run {
	ucontext_t scheduler, *thread; /* [HN_GPU_MAX_THREADS] */
	bool *done;
	char *stack;
	int32_t at, block[3], tid[3];
	int64_t n[3]; /* threads */
	void (*kernel)(void *, void *, void *, void *, void *, void *, void *, void *, void *,
		       void *, void *, void *, void *, void *, void *, void *);
	void *arg[PTX_RUN_ARGS];
} ptx_run;

static char ptx_run_shared[HN_GPU_MAX_SHARED] __attribute__((aligned(128)));

static void ptx_run_barrier(int32_t which)
{
	(void)which;
	swapcontext(&ptx_run.thread[ptx_run.at], &ptx_run.scheduler);
}

static void ptx_run_copy16(void *to, const void *from)
{
	memcpy(__builtin_assume_aligned(to, 16), from, 16);
	assert_int_equal((uintptr_t)to % 16 + (uintptr_t)from % 16, 0);
}

static void ptx_run_copy8(void *to, const void *from)
{
	assert_int_equal((uintptr_t)to % 8 + (uintptr_t)from % 8, 0);
	memcpy(to, from, 8);
}

static void ptx_run_copy4(void *to, const void *from)
{
	assert_int_equal((uintptr_t)to % 4 + (uintptr_t)from % 4, 0);
	memcpy(to, from, 4);
}

static void ptx_run_commit(void)
{
}

static void ptx_run_wait(int32_t n)
{
	(void)n;
}

#define PTX_RUN_NUMBER(name, value)                                                              \
	static int32_t ptx_run_##name(void)                                                      \
	{                                                                                        \
		return ptx_run.value;                                                            \
	}
PTX_RUN_NUMBER(ctaid_x, block[0])
PTX_RUN_NUMBER(ctaid_y, block[1])
PTX_RUN_NUMBER(ctaid_z, block[2])
PTX_RUN_NUMBER(tid_x, tid[0])
PTX_RUN_NUMBER(tid_y, tid[1])
PTX_RUN_NUMBER(tid_z, tid[2])

static const struct {
	const char *intrinsic, *name;
	const void *at;
} ptx_run_table[] = {
	{ "llvm.nvvm.read.ptx.sreg.ctaid.x", "ptx_run_ctaid_x", ptx_run_ctaid_x },
	{ "llvm.nvvm.read.ptx.sreg.ctaid.y", "ptx_run_ctaid_y", ptx_run_ctaid_y },
	{ "llvm.nvvm.read.ptx.sreg.ctaid.z", "ptx_run_ctaid_z", ptx_run_ctaid_z },
	{ "llvm.nvvm.read.ptx.sreg.tid.x", "ptx_run_tid_x", ptx_run_tid_x },
	{ "llvm.nvvm.read.ptx.sreg.tid.y", "ptx_run_tid_y", ptx_run_tid_y },
	{ "llvm.nvvm.read.ptx.sreg.tid.z", "ptx_run_tid_z", ptx_run_tid_z },
	{ "llvm.nvvm.barrier.cta.sync.aligned.all", "ptx_run_barrier", ptx_run_barrier },
	{ "llvm.nvvm.cp.async.cg.shared.global.16", "ptx_run_copy16", ptx_run_copy16 },
	{ "llvm.nvvm.cp.async.ca.shared.global.8", "ptx_run_copy8", ptx_run_copy8 },
	{ "llvm.nvvm.cp.async.ca.shared.global.4", "ptx_run_copy4", ptx_run_copy4 },
	{ "llvm.nvvm.cp.async.commit.group", "ptx_run_commit", ptx_run_commit },
	{ "llvm.nvvm.cp.async.wait.group", "ptx_run_wait", ptx_run_wait },
	{ "hn_shared", "ptx_run_shared", ptx_run_shared },
	{ " immarg", "", NULL },
	{ "define ptx_kernel", "define", NULL },
};

/* What this machine's LLVM takes. */
static void ptx_run_translate(const char *ir, struct hn_buf *text)
{
	for (const char *p = ir; *p != '\0';) {
		size_t i = 0;

		if ((p == ir || p[-1] == '\n') && strncmp(p, "target ", 7) == 0) {
			p += strcspn(p, "\n");
			continue;
		}
		while (i < HN_COUNT_OF(ptx_run_table) &&
		       strncmp(p, ptx_run_table[i].intrinsic,
			       strlen(ptx_run_table[i].intrinsic)) != 0) {
			i++;
		}
		if (i == HN_COUNT_OF(ptx_run_table)) {
			hn_buf_putc(text, *p++);
		} else {
			hn_buf_puts(text, ptx_run_table[i].name);
			p += strlen(ptx_run_table[i].intrinsic);
		}
	}
}

static void ptx_run_thread(void)
{
	void **a = ptx_run.arg;

	/* functions of this machine ignore arguments that they do not have */
	ptx_run.kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
		       a[12], a[13], a[14], a[15]);
	ptx_run.done[ptx_run.at] = true;
	swapcontext(&ptx_run.thread[ptx_run.at], &ptx_run.scheduler);
}

static void ptx_run_block(void)
{
	int32_t n = (int32_t)(ptx_run.n[0] * ptx_run.n[1] * ptx_run.n[2]);
	bool more = true;

	/* volatile: getcontext may return twice, for all that the compiler knows */
	for (volatile int32_t i = 0; i < n; i++) {
		ptx_run.done[i] = false;
		getcontext(&ptx_run.thread[i]);
		ptx_run.thread[i].uc_stack.ss_sp = ptx_run.stack + (size_t)i * PTX_RUN_STACK;
		ptx_run.thread[i].uc_stack.ss_size = PTX_RUN_STACK;
		ptx_run.thread[i].uc_link = NULL;
		makecontext(&ptx_run.thread[i], ptx_run_thread, 0);
	}
	while (more) {
		more = false;
		for (int32_t i = 0; i < n; i++) {
			if (ptx_run.done[i]) {
				continue;
			}
			ptx_run.at = i;
			ptx_run.tid[0] = (int32_t)(i % ptx_run.n[0]);
			ptx_run.tid[1] = (int32_t)(i / ptx_run.n[0] % ptx_run.n[1]);
			ptx_run.tid[2] = (int32_t)(i / ptx_run.n[0] / ptx_run.n[1]);
			swapcontext(&ptx_run.scheduler, &ptx_run.thread[i]);
			more = more || !ptx_run.done[i];
		}
	}
}

static void ptx_run_kernel(const struct hn_gpu_kernel *k, void *const *buffer)
{
	assert_true(k->n_arg <= PTX_RUN_ARGS);
	for (uint32_t i = 0; i < k->n_arg; i++) {
		ptx_run.arg[i] = buffer[k->arg[i]];
	}
	memcpy(ptx_run.n, k->block, sizeof(ptx_run.n));
	for (int64_t b = 0; b < k->grid[0] * k->grid[1] * k->grid[2]; b++) {
		ptx_run.block[0] = (int32_t)(b % k->grid[0]);
		ptx_run.block[1] = (int32_t)(b / k->grid[0] % k->grid[1]);
		ptx_run.block[2] = (int32_t)(b / k->grid[0] / k->grid[1]);
		memset(ptx_run_shared, 0x7f, sizeof(ptx_run_shared));
		ptx_run_block();
	}
}

static inline LLVMOrcLLJITRef ptx_run_load(const char *ir)
{
	LLVMContextRef ctx = LLVMContextCreate();
	LLVMOrcThreadSafeContextRef safe = LLVMOrcCreateNewThreadSafeContextFromLLVMContext(ctx);
	LLVMOrcCSymbolMapPair pair[HN_COUNT_OF(ptx_run_table)];
	LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
	LLVMOrcLLJITRef jit;
	LLVMModuleRef mod;
	struct hn_buf text;
	char *message = NULL;
	size_t n = 0;

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	hn_buf_init(&text);
	ptx_run_translate(ir, &text);
	LLVMMemoryBufferRef bytes = LLVMCreateMemoryBufferWithMemoryRangeCopy(text.s, text.n, "ir");

	if (LLVMParseIRInContext(ctx, bytes, &mod, &message)) {
		fail_msg("%s", message);
	}
	hn_buf_fini(&text);
	run_must(LLVMOrcCreateLLJIT(&jit, NULL));
	LLVMSetDataLayout(mod, LLVMOrcLLJITGetDataLayoutStr(jit));
	run_must(LLVMRunPasses(mod, "function(load-store-vectorizer)", NULL, o));
	LLVMDisposePassBuilderOptions(o);
	for (size_t i = 0; i < HN_COUNT_OF(ptx_run_table); i++) {
		if (ptx_run_table[i].at != NULL) {
			pair[n].Name = LLVMOrcLLJITMangleAndIntern(jit, ptx_run_table[i].name);
			pair[n].Sym.Address = (uintptr_t)ptx_run_table[i].at;
			pair[n++].Sym.Flags = (LLVMJITSymbolFlags){
				LLVMJITSymbolGenericFlagsExported |
					LLVMJITSymbolGenericFlagsCallable,
				0
			};
		}
	}
	LLVMOrcJITDylibRef lib = LLVMOrcLLJITGetMainJITDylib(jit);
	LLVMOrcDefinitionGeneratorRef process;

	run_must(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
		&process, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL));
	LLVMOrcJITDylibAddGenerator(lib, process);
	run_must(LLVMOrcJITDylibDefine(lib, LLVMOrcAbsoluteSymbols(pair, n)));
	run_must(LLVMOrcLLJITAddLLVMIRModule(jit, lib,
					     LLVMOrcCreateNewThreadSafeModule(mod, safe)));
	LLVMOrcDisposeThreadSafeContext(safe);
	return jit;
}

/* arg[i] are the elements of argument i; workspace holds large numbers before. */
static inline void ptx_run_module(const struct hn_gpu_module *m, const char *ir, void *const *arg)
{
	LLVMOrcLLJITRef jit = ptx_run_load(ir);
	void **buffer = calloc(m->n_buffer + 1, sizeof(*buffer));

	if (ptx_run.stack == NULL) {
		ptx_run.stack = malloc((size_t)HN_GPU_MAX_THREADS * PTX_RUN_STACK);
		ptx_run.thread = calloc(HN_GPU_MAX_THREADS, sizeof(ucontext_t));
		ptx_run.done = calloc(HN_GPU_MAX_THREADS, sizeof(bool));
	}
	for (uint32_t i = 0; i < m->n_buffer; i++) {
		size_t n = (size_t)m->buffer[i].bytes;

		/* arguments are copied: a buffer is aligned as a driver's is */
		buffer[i] = aligned_alloc(128, (n + 127) / 128 * 128);
		memset(buffer[i], 0x7f, n);
		if (m->buffer[i].arg >= 0) {
			memcpy(buffer[i], arg[m->buffer[i].arg], n);
		}
	}
	for (uint32_t i = 0; i < m->n_kernel; i++) {
		LLVMOrcExecutorAddress at;

		run_must(LLVMOrcLLJITLookup(jit, &at, m->kernel[i].name));
		memcpy(&ptx_run.kernel, &at, sizeof(ptx_run.kernel));
		ptx_run_kernel(&m->kernel[i], buffer);
	}
	for (uint32_t i = 0; i < m->n_buffer; i++) {
		if (m->buffer[i].arg >= 0) {
			memcpy(arg[m->buffer[i].arg], buffer[i], (size_t)m->buffer[i].bytes);
		}
		free(buffer[i]);
	}
	free(buffer);
	run_must(LLVMOrcDisposeLLJIT(jit));
}

#endif
