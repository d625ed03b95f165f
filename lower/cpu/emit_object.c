/* lower/cpu/emit_object.c -- LLVM itself: target machine, passes, object file.
 *
 * The code is explicit already, so few passes run: common subexpressions, loop-invariant
 * code, clean-up; last, a block of its own before every loop, because without one the first
 * values of two loops that one branch leads to (a tile's full form and its edge) are all
 * set before that branch, and there are not registers for both.  Errors LLVM reports end in the
 * result; its fatal ones end the process with one line (the builder is expendable).
 */
#include "lower/cpu/emit_int.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "lower/llvm_start.h"

#define PASSES                                                                           \
	"function(simplifycfg,early-cse,loop-mssa(licm),early-cse<memssa>,instsimplify," \
	"simplifycfg,loop-simplify)"

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *ctx)
{
	struct hn_llvm *em = ctx;

	if (LLVMGetDiagInfoSeverity(info) == LLVMDSError && !em->diagnostic[0]) {
		char *text = LLVMGetDiagInfoDescription(info);

		snprintf(em->diagnostic, sizeof(em->diagnostic), "%s", text);
		LLVMDisposeMessage(text);
	}
}

/* isa words and what they allow: the processor that code for another machine is made for, and
 * the widest register in bytes. */
static const struct isa {
	const char *isa, *triple, *cpu;
	int64_t vector_bytes;
} isas[] = {
	{ "x86-64-baseline", "x86_64-unknown-linux-gnu", "x86-64", 16 },
	{ "x86-64-avx2", "x86_64-unknown-linux-gnu", "x86-64-v3", 32 },
	{ "x86-64-avx512", "x86_64-unknown-linux-gnu", "x86-64-v4", 64 },
	{ "aarch64-neon", "aarch64-unknown-linux-gnu", "generic", 16 },
};

static const struct isa *find_isa(const char *word)
{
	for (size_t i = 0; i < HN_COUNT_OF(isas); i++) {
		if (strcmp(isas[i].isa, word) == 0) {
			return &isas[i];
		}
	}
	return NULL;
}

/* LLVM 22 splits a masked load that is wider than a register, and loads a half whose mask is
 * all zeros without a mask: it reads past the end of the array.  So no vector is wider than
 * the registers are. */
static int check_width(const struct hn_target *t, struct hn_err *err)
{
	const struct isa *isa = find_isa(t->isa);
	int64_t bytes = t->param[HN_PARAM_VECTOR_UNIT_BYTES];

	if (isa && bytes > isa->vector_bytes) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "target: vector_unit_bytes is %lld, but registers of isa %s "
			       "hold %lld bytes at most",
			       (long long)bytes, t->isa, (long long)isa->vector_bytes);
	}
	return 0;
}

/* LLVM's features: those of `base`, with what the target has beside its isa; or without what it
 * lacks of `all`, when these are this machine's. */
static char *features_of(struct hn_llvm *em, const char *base, uint32_t all)
{
	uint32_t own = em->target.features, differs = all != 0 ? all & ~own : own;
	struct hn_buf b;
	char *ret;

	hn_buf_init(&b);
	hn_buf_puts(&b, base);
	for (uint32_t i = 0; i < HN_N_TARGET_FEATURE; i++) {
		if (differs >> i & 1) {
			hn_buf_printf(&b, "%s%c%s", b.n > 0 ? "," : "",
				      own >> i & 1 ? '+' : '-', hn_target_feature_name(i));
		}
	}
	ret = LLVMCreateMessage(b.s);
	hn_buf_fini(&b);
	return ret;
}

static int choose_cpu(struct hn_llvm *em, struct hn_err *err)
{
	const struct isa *isa = find_isa(em->target.isa);
	struct hn_target host;

	hn_target_host(&em->arena, &host);
	if (strcmp(host.isa, em->target.isa) == 0 && hn_target_runs_on(&em->target, &host)) {
		char *base = LLVMGetHostCPUFeatures();

		em->triple = LLVMGetDefaultTargetTriple();
		em->cpu = LLVMGetHostCPUName();
		em->features = features_of(em, base, host.features);
		LLVMDisposeMessage(base);
		return 0;
	}
	if (isa) {
		em->triple = LLVMCreateMessage(isa->triple);
		em->cpu = LLVMCreateMessage(isa->cpu);
		em->features = features_of(em, "", 0);
		return 0;
	}
	return hn_fail(err, HONE_E_UNSUPPORTED, "target isa %s: no code generator for it",
		       em->target.isa);
}

/* The families of `isas` start when code for another machine than this one is first made.  Each by
 * its name, so that a program that LLVM is linked into has these and no others. */
static void start_families(void)
{
#define FAMILY(name)                          \
	LLVMInitialize##name##TargetInfo(); \
	LLVMInitialize##name##Target();     \
	LLVMInitialize##name##TargetMC();   \
	LLVMInitialize##name##AsmPrinter(); \
	LLVMInitialize##name##AsmParser()
	FAMILY(X86);
	FAMILY(AArch64);
#undef FAMILY
}

static pthread_once_t llvm_families = PTHREAD_ONCE_INIT;

static int make_machine(struct hn_llvm *em, struct hn_err *err)
{
	LLVMTargetRef target;
	char *message = NULL;

	if (LLVMGetTargetFromTriple(em->triple, &target, &message)) {
		LLVMDisposeMessage(message);
		message = NULL;
		pthread_once(&llvm_families, start_families);
	}
	if (LLVMGetTargetFromTriple(em->triple, &target, &message)) {
		int rc = hn_fail(err, HONE_E_UNSUPPORTED, "LLVM: %s",
				 message ? message : "?");

		LLVMDisposeMessage(message);
		return rc;
	}
	em->tm = LLVMCreateTargetMachine(target, em->triple, em->cpu, em->features,
					 LLVMCodeGenLevelDefault, LLVMRelocPIC,
					 LLVMCodeModelSmall);
	if (!em->tm) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "LLVM makes no code for %s",
			       em->cpu);
	}
	LLVMTargetDataRef data = LLVMCreateTargetDataLayout(em->tm);

	em->layout = LLVMCopyStringRepOfTargetData(data);
	LLVMDisposeTargetData(data);
	return 0;
}

static void close_llvm(void *state)
{
	struct hn_llvm *em = state;

	if (em->tm) {
		LLVMDisposeTargetMachine(em->tm);
	}
	LLVMDisposeMessage(em->triple);
	LLVMDisposeMessage(em->layout);
	LLVMDisposeMessage(em->cpu);
	LLVMDisposeMessage(em->features);
	LLVMContextDispose(em->ctx);
	hn_arena_fini(&em->arena);
	free(em);
}

static int open_llvm(const struct hn_target *target, void **ret, struct hn_err *err)
{
	struct hn_llvm *em;

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	LLVMInitializeNativeAsmParser(); /* of the one system call there is (emit_amx_op.c) */
	hn_llvm_start();
	em = calloc(1, sizeof(*em));
	if (!em) {
		return hn_fail(err, HONE_E_NOMEM, "no memory for a code generator");
	}
	hn_arena_init(&em->arena, 0);
	em->target = *target;
	em->target.kind = hn_arena_strdup(&em->arena, target->kind);
	em->target.isa = hn_arena_strdup(&em->arena, target->isa);
	em->ctx = LLVMContextCreate();
	LLVMContextSetDiagnosticHandler(em->ctx, on_diagnostic, em);
	int rc = check_width(target, err);

	rc = rc ? rc : choose_cpu(em, err);
	rc = rc ? rc : make_machine(em, err);
	if (rc) {
		close_llvm(em);
		return rc;
	}
	*ret = em;
	return 0;
}

static struct hn_emitter_facts facts_of_llvm(const void *state, struct hn_arena *a)
{
	const struct hn_llvm *em = state;
	unsigned major, minor, patch;

	LLVMGetVersion(&major, &minor, &patch);
	return (struct hn_emitter_facts){
		.version = hn_arena_printf(a, "LLVM %u.%u.%u", major, minor, patch),
		.triple = em->triple,
		.processor = em->cpu,
		.features = em->features,
	};
}

extern const struct hn_emit_ops hn_emit_cpu;
const struct hn_emit_ops hn_emit_cpu = { "cpu",	 open_llvm,	close_llvm,
					 hn_emit_llvm, facts_of_llvm, hn_emit_llvm_model };

static void set_attribute(struct emit *e, LLVMValueRef f, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
				LLVMCreateEnumAttribute(e->ctx, kind, 0));
}

/* Entry points and trampolines run once a call or a thread: no pass need look at them
 * (1.2 ms of a candidate's 14 in the code generator). */
static bool is_hot(LLVMValueRef f)
{
	size_t n;
	const char *name = LLVMGetValueName2(f, &n);

	return strncmp(name, "hone.main", 9) == 0 || strncmp(name, "hone.body", 9) == 0 ||
	       strncmp(name, "hone.prep", 9) == 0;
}

/* Wide registers where the target says so; LLVM prefers narrow ones on some CPUs. */
static void set_attributes(struct emit *e)
{
	char bits[16];

	snprintf(bits, sizeof(bits), "%d",
		 (int)(8 * e->em->target.param[HN_PARAM_VECTOR_UNIT_BYTES]));
	LLVMAttributeRef width = LLVMCreateStringAttribute(
		e->ctx, "prefer-vector-width", 19, bits, (unsigned)strlen(bits));

	for (LLVMValueRef f = LLVMGetFirstFunction(e->mod); f;
	     f = LLVMGetNextFunction(f)) {
		if (!LLVMIsDeclaration(f)) {
			LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, width);
			set_attribute(e, f, "nounwind");
			if (!is_hot(f)) {
				set_attribute(e, f, "noinline");
				set_attribute(e, f, "optnone");
			}
		}
	}
}

static int run_passes(struct emit *e)
{
	LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
	LLVMErrorRef bad = LLVMRunPasses(e->mod, PASSES, e->em->tm, o);

	LLVMDisposePassBuilderOptions(o);
	if (bad) {
		char *text = LLVMGetErrorMessage(bad);
		int rc = hn_fail(e->err, HONE_E_INTERNAL, "LLVM passes: %s", text);

		LLVMDisposeErrorMessage(text);
		return rc;
	}
	return 0;
}

static int compile(struct emit *e, LLVMModuleRef mod, LLVMCodeGenFileType kind,
		   LLVMMemoryBufferRef *ret)
{
	char *message = NULL;

	if (LLVMTargetMachineEmitToMemoryBuffer(e->em->tm, mod, kind, &message, ret)) {
		int rc = hn_fail(e->err, HONE_E_INTERNAL, "LLVM: %s",
				 message ? message : "?");

		LLVMDisposeMessage(message);
		return rc;
	}
	if (e->em->diagnostic[0]) {
		LLVMDisposeMemoryBuffer(*ret);
		return hn_fail(e->err, HONE_E_INTERNAL, "LLVM: %s", e->em->diagnostic);
	}
	return 0;
}

/* Code generation changes the module: the text is made from a copy. */
static int compile_text(struct emit *e, struct hn_artefact *ret)
{
	LLVMModuleRef copy = LLVMCloneModule(e->mod);
	LLVMMemoryBufferRef text;
	int rc = compile(e, copy, LLVMAssemblyFile, &text);

	LLVMDisposeModule(copy);
	if (rc) {
		return rc;
	}
	ret->assembly =
		hn_arena_strndup(e->a, LLVMGetBufferStart(text), LLVMGetBufferSize(text));
	LLVMDisposeMemoryBuffer(text);
	return 0;
}

int hn_emit_object(struct emit *e, struct hn_artefact *ret)
{
	struct hn_artefact made = { .shared_bytes = e->shared_bytes,
				    .per_worker_bytes = e->worker_bytes,
				    .prepared_bytes = e->prepared_bytes,
				    .tiles = e->tiles };
	LLVMMemoryBufferRef object;
	char *message = NULL;
	int64_t start = hn_clock_ns();
	int rc;

	set_attributes(e);
	if (LLVMVerifyModule(e->mod, LLVMReturnStatusAction, &message)) {
		rc = hn_fail(e->err, HONE_E_INTERNAL, "LLVM's verifier: %.600s", message);
		LLVMDisposeMessage(message);
		return rc;
	}
	LLVMDisposeMessage(message);
	rc = run_passes(e);
	if (rc == 0) {
		hn_emit_mend_masked(e);
		hn_emit_load_constants(e);
	}
	made.passes_ns = hn_clock_ns() - start;
	if (rc == 0 && e->opt->want_ir) {
		char *ir = LLVMPrintModuleToString(e->mod);

		made.ir = hn_arena_strdup(e->a, ir);
		LLVMDisposeMessage(ir);
	}
	if (rc == 0 && e->opt->want_asm) {
		rc = compile_text(e, &made);
	}
	if (rc == 0) {
		start = hn_clock_ns();
		rc = compile(e, e->mod, LLVMObjectFile, &object);
		made.codegen_ns = hn_clock_ns() - start;
	}
	if (rc) {
		return rc;
	}
	made.object_bytes = LLVMGetBufferSize(object);
	void *bytes = hn_arena_alloc(e->a, made.object_bytes);

	memcpy(bytes, LLVMGetBufferStart(object), made.object_bytes);
	made.object = bytes;
	LLVMDisposeMemoryBuffer(object);
	*ret = made;
	return 0;
}
