/* lower/lower.h -- from a loop tree to machine code, with a proof of what is lowered.
 *
 * isl and LLVM live in this folder and in the hone-build executable, nowhere else.
 */
#ifndef HN_LOWER_LOWER_H
#define HN_LOWER_LOWER_H

#include "base/verdict.h"
#include "loopstate/nest/looptree.h"
#include "proto/model.h"
#include "target/target.h"

/* Exact legality of the tree against the dag, by isl (tier T1):
 *   - coverage: every instance of every statement that somebody needs is run, reduction
 *     updates exactly once per lifetime of the element;
 *   - order: every flow dependence (init before update before consumer, producer before
 *     consumer) goes strictly forward in time, with the value still in the buffer;
 *   - parallel and vector loops carry no dependence (reductions relaxed only in order, never
 *     to run at the same time);
 *   - accesses stay within the buffers that hold them;
 *   - where steps made a dag of their own, it computes what the task's dag does (equal.h).
 *
 * Returns HN_VERDICT_OK, HN_VERDICT_ILLEGAL with one sentence in err->msg that names stage,
 * loop and reason, or HN_VERDICT_BUILD_FAIL / BUILD_TIMEOUT when isl gave up.  One isl context
 * per call; thread-safe.  Wall clock is bounded by limit_ms (0 = none).
 */
enum hn_verdict hn_legal_check(const struct hn_looptree *t, int64_t limit_ms,
			       struct hn_err *err);

struct hn_legal_limits {
	int64_t ms;		  /* wall clock; 0 = none */
	unsigned long operations; /* of isl, for an answer that is the same anywhere; 0 = any number */
};

/* The same, and what was proved as one JSON object (certify.h) appended to *certificate when
 * the answer is OK; NULL = none is wanted. */
enum hn_verdict hn_legal_certify(const struct hn_looptree *t, const struct hn_legal_limits *limits,
				 struct hn_buf *certificate, struct hn_err *err);

struct hn_equal;

/* hn_legal_check, and how the stages that steps made were shown to be the task's (equal.h); rows in
 * the arena. */
enum hn_verdict hn_legal_show(const struct hn_looptree *t, int64_t limit_ms, struct hn_arena *a,
			      struct hn_equal *ret, struct hn_err *err);

/* The polyhedral model as isl text (domains, schedule, accesses, dependences), one a line with
 * its name; each can be read back by isl. For `hone poly` and debugging. */
int hn_poly_print(const struct hn_looptree *t, struct hn_buf *buf, struct hn_err *err);

/* Faults planted on purpose by tests, to prove that measuring survives them. Never reachable
 * unless the builder was started with HONE_TEST_HOOKS=1. */
enum hn_plant { HN_PLANT_NONE, HN_PLANT_HANG, HN_PLANT_OUT_OF_BOUNDS, HN_PLANT_DIVIDE_BY_ZERO,
		HN_PLANT_WRONG_RESULT, HN_PLANT_NO_BARRIER };

struct hn_emit_beside {
	const char *symbol;
	const struct hn_looptree *tree;
	bool scalar; /* as below */
};

struct hn_emit_options {
	const char *symbol;    /* the kernel's C name */
	bool scalar;           /* the naive program: no vectors, no unrolling, no threads; no
				* product and sum are contracted: its numbers are those that
				* the dag writes, as a bitwise task's (loopstate/dag/liberty.h) */
	enum hn_plant plant;
	bool read_soon;	/* another kernel reads the results, as in a network: caches that hold them
			 * are not bypassed (lower/cpu/emit_past.c) */
	bool describe;	/* the object says what it is: SYMBOL_info (lower/cpu/emit_info.c), and
			 * TVM's FFI may call it (lower/cpu/emit_tvm_ffi.c) */
	bool want_ir, want_asm; /* fill these texts of the result */
	/* of a GPU's program: "device", or a word of proto/gpu_forms.def; of the NPU's, "npu"; NULL:
	 * what the target's boards take */
	const char *form;
	bool model_tiles;	/* for tests: instructions on tiles are calls of functions that do
				 * the same, whatever the machine has (lower/cpu/emit_amx_op.c) */
	/* More programs of the same arguments into the same object, each with a name of its own
	 * and nothing planted; they are never prepared ahead. */
	uint32_t n_beside;
	const struct hn_emit_beside *beside;
};

enum hn_artefact_form {
	HN_ARTEFACT_ELF,    /* relocatable object: include/hone/kernel.h */
	HN_ARTEFACT_DEVICE, /* text of a device program: lower/device/device.h */
	HN_ARTEFACT_MODULE, /* program for a GPU: proto/gpu_module.h */
	HN_ARTEFACT_NPU     /* text of a program for the NPU: docs/npu.md */
};

struct hn_artefact {
	const void *object; /* in the arena */
	size_t object_bytes;
	enum hn_artefact_form form;
	uint64_t shared_bytes;     /* ELF: workspace, once per call */
	uint64_t per_worker_bytes; /* ELF: workspace, for each worker */
	uint64_t prepared_bytes;   /* ELF: what SYMBOL_prepare makes; 0 = there is none */
	bool chosen; /* ELF: of several targets: SYMBOL_why says why none fits */
	bool tiles;		   /* ELF: it uses tile registers, which SYMBOL_init asks for */
	const char *ir, *assembly; /* NULL unless wanted */
	int64_t passes_ns, codegen_ns; /* what LLVM took: verifier and passes; object file */
};

/* What decides the code beside the loop tree; words of no emitter's are "". */
struct hn_emitter_facts {
	const char *version;   /* "LLVM 22.1.5" */
	const char *triple;    /* LLVM's */
	const char *processor; /* "znver3" */
	const char *features;  /* of it */
};

/* A row of emits.def: who makes code for a kind of target.  A state is used by one thread at a
 * time, and kept from kernel to kernel. */
struct hn_emit_ops {
	const char *name; /* "cpu" */
	int (*open)(const struct hn_target *target, void **ret, struct hn_err *err);
	void (*close)(void *state);
	int (*emit)(void *state, const struct hn_looptree *t, const struct hn_emit_options *options,
		    struct hn_arena *a, struct hn_artefact *ret, struct hn_err *err);
	struct hn_emitter_facts (*facts)(const void *state, struct hn_arena *a);
	/* NULL where kernels are no objects */
	int (*model)(void *state, const struct hn_model *m, const char *weights,
		     struct hn_arena *a, struct hn_artefact *ret, struct hn_err *err);
};

struct hn_emitter; /* an opened row */

/* The emitter of the target's kind.  HONE_E_UNSUPPORTED when there is none, or it makes no code for
 * this target. */
int hn_emitter_new(const struct hn_target *target, struct hn_emitter **ret, struct hn_err *err)
	HN_NODISCARD;
void hn_emitter_free(struct hn_emitter *e); /* NULL is fine */

struct hn_emitter_facts hn_emitter_facts(const struct hn_emitter *e, struct hn_arena *a);

/* Which emitter, and what it calls: "cpu/LLVM 22.1.5", as records' stamps say it. */
#define HN_CODEGEN_BYTES 48
const char *hn_emitter_codegen(const struct hn_emitter *e, char text[HN_CODEGEN_BYTES]);

/* Emit and compile. 0, HONE_E_UNSUPPORTED (a construct this emitter lacks, named), or
 * HONE_E_INTERNAL (LLVM's verifier or code generator refused, with its words). */
int hn_emit(struct hn_emitter *e, const struct hn_looptree *t,
	    const struct hn_emit_options *options, struct hn_arena *a, struct hn_artefact *ret,
	    struct hn_err *err) HN_NODISCARD;

/* The object of a compiled network that hn_model_check lets pass: its table (include/hone/model.h)
 * and the functions of proto/model_entries.def, which want kernels and run time linked to them.
 * weights: NULL, or the file of its weights, m->weights_bytes long, which becomes NAME_weights; no
 * quotes are in its name.
 * HONE_E_UNSUPPORTED when the target's kernels are no objects. */
int hn_emit_model(struct hn_emitter *e, const struct hn_model *m, const char *weights,
		  struct hn_arena *a, struct hn_artefact *ret, struct hn_err *err) HN_NODISCARD;

/* The C header that declares the kernel (arguments by name and shape, workspace macro). */
void hn_emit_header(const struct hn_dag *dag, const char *symbol,
		    const struct hn_artefact *artefact, struct hn_buf *buf);

/* Evaluate the dag as written, scalar, wide accumulation: the reference interpreter. arg[] are
 * the dag's arguments; outputs are written. Slow; for tests and small shapes. Intermediates
 * come from malloc; HONE_E_NOMEM. */
int hn_interpret(const struct hn_dag *dag, void *const *arg, struct hn_err *err) HN_NODISCARD;

#endif
