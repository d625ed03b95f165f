/* lower/gpu/ptx_target.c -- LLVM itself: the machine, the passes, PTX as text.
 *
 * The walk has written loops out already, so the passes only turn variables into registers, take
 * out what is computed twice and move what does not change out of loops.
 */
#include "base/clock.h"
#include "lower/gpu/ptx_int.h"
#include "lower/llvm_start.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <string.h>

#define TRIPLE "nvptx64-nvidia-cuda"
/* instcombine may leave something for another time, which LLVM otherwise calls fatal. */
#define COMBINE "instcombine<no-verify-fixpoint>"
#define PASSES                                                                                   \
	"function(sroa,early-cse<memssa>," COMBINE ",simplifycfg,loop-mssa(licm),"               \
	"early-cse<memssa>," COMBINE ",simplifycfg,loop-simplify)"

static const struct ptx_target {
	const char *isa, *features;
	bool async, wgmma;
} targets[] = {
#define PTX_TARGET(isa, features, async, wgmma) { isa, features, async, wgmma },
#include "lower/gpu/ptx_targets.def"
#undef PTX_TARGET
};

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *ctx)
{
	struct gpu_ptx *p = ctx;

	if (LLVMGetDiagInfoSeverity(info) == LLVMDSError && p->diagnostic[0] == '\0') {
		char *text = LLVMGetDiagInfoDescription(info);

		snprintf(p->diagnostic, sizeof(p->diagnostic), "%s", text);
		LLVMDisposeMessage(text);
	}
}

void hn_gpu_ptx_open(struct gpu *g)
{
	struct gpu_ptx *p = g->own;
	const struct ptx_target *t = NULL;
	LLVMTargetRef target;
	char *message = NULL;

	for (size_t i = 0; i < HN_COUNT_OF(targets); i++) {
		t = strcmp(targets[i].isa, g->target->isa) == 0 ? &targets[i] : t;
	}
	if (t == NULL) {
		hn_gpu_refuse(g, HONE_E_UNSUPPORTED, "target isa %s: no PTX is made for it",
			      g->target->isa);
		return;
	}
	hn_llvm_start();
	LLVMContextSetDiagnosticHandler(p->ctx, on_diagnostic, p);
	LLVMInitializeNVPTXTargetInfo();
	LLVMInitializeNVPTXTarget();
	LLVMInitializeNVPTXTargetMC();
	LLVMInitializeNVPTXAsmPrinter();
	if (LLVMGetTargetFromTriple(TRIPLE, &target, &message)) {
		hn_gpu_refuse(g, HONE_E_UNSUPPORTED, "LLVM: %.150s", message);
		LLVMDisposeMessage(message);
		return;
	}
	p->tm = LLVMCreateTargetMachine(target, TRIPLE, t->isa, t->features,
					LLVMCodeGenLevelDefault, LLVMRelocDefault,
					LLVMCodeModelDefault);
	LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(p->tm);

	LLVMSetModuleDataLayout(p->mod, layout);
	LLVMDisposeTargetData(layout);
	LLVMSetTarget(p->mod, TRIPLE);
	g->has_async = t->async;
	g->has_wgmma = t->wgmma;
}

static bool run_passes(struct gpu *g)
{
	struct gpu_ptx *p = g->own;
	LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
	LLVMErrorRef bad = LLVMRunPasses(p->mod, PASSES, p->tm, o);

	LLVMDisposePassBuilderOptions(o);
	if (bad != NULL) {
		char *text = LLVMGetErrorMessage(bad);

		hn_gpu_refuse(g, HONE_E_INTERNAL, "LLVM's passes: %.150s", text);
		LLVMDisposeErrorMessage(text);
	}
	return bad == NULL;
}

void hn_gpu_ptx_finish(struct gpu *g, struct hn_gpu_module *ret)
{
	struct gpu_ptx *p = g->own;
	struct hn_gpu_times times = { .passes = -hn_clock_cpu_ns() };
	LLVMMemoryBufferRef text;
	char *message = NULL;

	if (LLVMVerifyModule(p->mod, LLVMReturnStatusAction, &message)) {
		hn_gpu_refuse(g, HONE_E_INTERNAL, "LLVM's verifier: %.150s", message);
		LLVMDisposeMessage(message);
		return;
	}
	LLVMDisposeMessage(message);
	if (!run_passes(g)) {
		return;
	}
	times.passes += hn_clock_cpu_ns();
	if (g->options->ir != NULL) {
		char *ir = LLVMPrintModuleToString(p->mod);

		*g->options->ir = hn_arena_strdup(g->a, ir);
		LLVMDisposeMessage(ir);
	}
	message = NULL;
	times.codegen = -hn_clock_cpu_ns();
	if (LLVMTargetMachineEmitToMemoryBuffer(p->tm, p->mod, LLVMAssemblyFile, &message, &text)) {
		hn_gpu_refuse(g, HONE_E_INTERNAL, "LLVM: %.150s", message);
		LLVMDisposeMessage(message);
		return;
	}
	times.codegen += hn_clock_cpu_ns();
	if (g->options->times != NULL) {
		*g->options->times = times;
	}
	if (p->diagnostic[0] != '\0') {
		hn_gpu_refuse(g, HONE_E_INTERNAL, "LLVM: %.150s", p->diagnostic);
	}
	ret->code_bytes = LLVMGetBufferSize(text);
	ret->code = hn_arena_strndup(g->a, LLVMGetBufferStart(text), ret->code_bytes);
	LLVMDisposeMemoryBuffer(text);
}
