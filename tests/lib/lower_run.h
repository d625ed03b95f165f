/* Build a kernel from a dag and a history, load it with LLVM's JIT linker, run it on
 * random arguments: what the emitter's tests share. */
#ifndef HN_TESTS_LOWER_RUN_H
#define HN_TESTS_LOWER_RUN_H

#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "hone/kernel.h"
#include "lower/lower.h"

typedef int32_t (*run_fn)(void *const *args, const struct hone_env *env);

struct run_kernel {
	LLVMOrcLLJITRef jit;
	run_fn fn;
	struct hn_artefact artefact;
	int64_t build_ns;
};

static inline void run_must(LLVMErrorRef e)
{
	if (e) {
		fprintf(stderr, "jit: %s\n", LLVMGetErrorMessage(e));
		abort();
	}
}

/* A test's own: instructions on tiles become calls (lower.h), which this defines. */
static bool run_model_tiles;
static void (*run_define)(LLVMOrcLLJITRef jit);

static inline void run_load(struct run_kernel *k, const char *symbol)
{
	LLVMOrcExecutorAddress at;
	LLVMOrcDefinitionGeneratorRef process;
	char name[128];

	run_must(LLVMOrcCreateLLJIT(&k->jit, NULL));
	LLVMOrcJITDylibRef lib = LLVMOrcLLJITGetMainJITDylib(k->jit);

	run_must(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
		&process, LLVMOrcLLJITGetGlobalPrefix(k->jit), NULL, NULL));
	LLVMOrcJITDylibAddGenerator(lib, process);
	if (run_define) {
		run_define(k->jit);
	}
	LLVMMemoryBufferRef object = LLVMCreateMemoryBufferWithMemoryRangeCopy(
		k->artefact.object, k->artefact.object_bytes, "kernel");

	run_must(LLVMOrcLLJITAddObjectFile(k->jit, lib, object));
	snprintf(name, sizeof(name), "%s_packed", symbol);
	run_must(LLVMOrcLLJITLookup(k->jit, &at, name));
	k->fn = (run_fn)(uintptr_t)at;
}

static inline void run_unload(struct run_kernel *k)
{
	if (k->jit) {
		run_must(LLVMOrcDisposeLLJIT(k->jit));
	}
	k->jit = NULL;
}

/* trace NULL: the naive program. 0 or an error. */
static inline int run_build(struct hn_emitter *em, const struct hn_dag *dag,
			    const struct hn_trace *trace, bool scalar, struct hn_arena *a,
			    struct run_kernel *ret, struct hn_err *err)
{
	const struct hn_state *s = hn_state_init(dag, a);
	struct hn_emit_options o = { .symbol = "k",
				     .scalar = scalar,
				     .model_tiles = run_model_tiles };
	const struct hn_looptree *t;
	int64_t start = hn_clock_ns();

	memset(ret, 0, sizeof(*ret));
	if (trace) {
		int rc = hn_state_replay(dag, trace, a, &s, err);

		if (rc) {
			return rc;
		}
	}
	int rc = hn_looptree_build(s, a, &t, err);

	if (rc) {
		return rc;
	}
	if (getenv("RUN_PRINT")) {
		struct hn_buf b;

		hn_buf_init(&b);
		hn_looptree_print(t, &b);
		fputs(b.s, stderr);
		hn_buf_fini(&b);
	}
	rc = hn_emit(em, t, &o, a, &ret->artefact, err);
	ret->build_ns = hn_clock_ns() - start;
	if (rc == 0) {
		run_load(ret, "k");
	}
	return rc;
}

#define RUN_MAX_ARGS 64
#define RUN_REDZONE 256

/* Argument buffers, with a redzone behind each that must stay as it was. */
struct run_args {
	uint32_t n;
	void *at[RUN_MAX_ARGS];
	size_t bytes[RUN_MAX_ARGS];
	void *region[RUN_MAX_ARGS]; /* mapped: the redzone, the argument, a page not to touch */
	size_t region_bytes[RUN_MAX_ARGS];
	uint8_t dtype[RUN_MAX_ARGS];
	bool output[RUN_MAX_ARGS];
};

static inline void run_fill(void *p, size_t bytes, enum hn_dtype t, struct hn_rng *r)
{
	size_t n = bytes / hn_dtype_bytes(t);

	for (size_t i = 0; i < n; i++) {
		double u = hn_rng_unit(r);

		switch (t) {
		case HN_F32:
			((float *)p)[i] = (float)(u * 2 - 1);
			break;
		case HN_F64:
			((double *)p)[i] = u * 2 - 1;
			break;
		case HN_F16:
		case HN_BF16:
			hn_float_put(t, p, (int64_t)i, u * 2 - 1);
			break;
		case HN_BOOL:
			((uint8_t *)p)[i] = u < 0.5;
			break;
		case HN_I8:
		case HN_U8: /* all there are, the ends often: data, never indices */
			((uint8_t *)p)[i] = u < 0.1   ? 0x80
					    : u < 0.2 ? 0x7f
					    : u < 0.3 ? 0xff
						      : (uint8_t)(u * 1024);
			break;
		default:
			/* small values, positive ones mostly: they are indices at times
			 */
			memset((char *)p + i * hn_dtype_bytes(t), 0, hn_dtype_bytes(t));
			*((uint8_t *)p + i * hn_dtype_bytes(t)) = (uint8_t)(u * 4);
		}
	}
}

/* Arguments end where their pages do: reading on, masked or not, ends the test.  Before
 * them lie bytes that must stay. */
static inline void run_arg_map(struct run_args *x, uint32_t i)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t inside = (x->bytes[i] + RUN_REDZONE + page - 1) / page * page;

	x->region_bytes[i] = inside + page;
	x->region[i] = mmap(NULL, inside + page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (x->region[i] == MAP_FAILED ||
	    mprotect((char *)x->region[i] + inside, page, PROT_NONE) != 0) {
		abort();
	}
	x->at[i] = (char *)x->region[i] + inside - x->bytes[i];
	memset((char *)x->at[i] - RUN_REDZONE, 0xa5, RUN_REDZONE);
}

static inline void run_args_make(const struct hn_dag *dag, uint64_t seed,
				 struct run_args *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (uint32_t i = 0; i < dag->n_arg && i < RUN_MAX_ARGS; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];
		struct hn_rng r = hn_rng_stream(seed, 1, i, 0);
		uint32_t out = 0;

		for (uint32_t j = 0; j < i; j++) {
			out += dag->arg[j] == dag->arg[i];
		}
		ret->n++;
		ret->bytes[i] = (size_t)hn_op_bytes(op, out);
		ret->dtype[i] = op->dtype[out];
		ret->output[i] = i >= dag->n_input;
		run_arg_map(ret, i);
		if (ret->output[i]) {
			memset(ret->at[i], 0xff, ret->bytes[i]);
		} else {
			run_fill(ret->at[i], ret->bytes[i], op->dtype[out], &r);
		}
	}
}

static inline void run_args_free(struct run_args *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		munmap(x->region[i], x->region_bytes[i]);
	}
	x->n = 0;
}

static inline bool run_redzones_hold(const struct run_args *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		for (size_t k = 0; k < RUN_REDZONE; k++) {
			if (((unsigned char *)x->at[i])[-1 - (ptrdiff_t)k] != 0xa5) {
				return false;
			}
		}
	}
	return true;
}

static inline double run_element(const void *p, enum hn_dtype t, size_t i)
{
	switch (t) {
	case HN_F32:
		return ((const float *)p)[i];
	case HN_F64:
		return ((const double *)p)[i];
	case HN_F16:
	case HN_BF16:
		return hn_float_get(t, p, (int64_t)i);
	case HN_I64:
	case HN_U64:
		return (double)((const int64_t *)p)[i];
	case HN_I32:
		return ((const int32_t *)p)[i];
	case HN_U32:
		return ((const uint32_t *)p)[i];
	case HN_I16:
		return ((const int16_t *)p)[i];
	case HN_U16:
		return ((const uint16_t *)p)[i];
	case HN_I8:
		return ((const int8_t *)p)[i];
	default:
		return ((const uint8_t *)p)[i];
	}
}

/* Largest difference of outputs, relative to the largest value of each; infinite when one
 * has a NaN the other lacks. */
static inline double run_difference(const struct run_args *x, const struct run_args *y)
{
	double worst = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		size_t n = x->bytes[i] / hn_dtype_bytes(x->dtype[i]);
		double top = 1e-30, diff = 0;

		for (size_t k = 0; x->output[i] && k < n; k++) {
			double u = run_element(x->at[i], x->dtype[i], k);
			double v = run_element(y->at[i], y->dtype[i], k);

			if (u == v || (isnan(u) && isnan(v))) {
				top = fabs(u) > top ? fabs(u) : top;
				continue;
			}
			if (!isfinite(u) || !isfinite(v)) {
				return INFINITY;
			}
			top = fabs(u) > top ? fabs(u) : top;
			diff = fabs(u - v) > diff ? fabs(u - v) : diff;
		}
		worst = diff / top > worst ? diff / top : worst;
	}
	return worst;
}

/* A parallel_for that runs the chunks backwards on different worker ids. */
static inline void run_backwards(void *ctx, hone_body_fn body, void *closure, int64_t n)
{
	int32_t workers = *(int32_t *)ctx, w = 0;

	for (int64_t i = n; i > 0; i--) {
		body(closure, i - 1, i, w);
		w = (w + 1) % workers;
	}
	body(closure, 0, 0, 0);
}

#endif
