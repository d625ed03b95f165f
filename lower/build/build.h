/* lower/build/build.h -- one request of hone-build, from text to object: shared by the worker
 * (build_worker.c) and the command (build_main.c).
 */
#ifndef HN_LOWER_BUILD_BUILD_H
#define HN_LOWER_BUILD_BUILD_H

#include "lower/build/sample.h"
#include "lower/build/selftest.h"
#include "lower/build/slice.h"
#include "lower/lower.h"

/* What is asked for. Strings are borrowed. */
struct hn_build_request {
	const char *dag, *steps, *target, *symbol, *plant;
	const char *wide; /* not "": put the program with its sums in a wider type
			   * (loopstate/state/widen.h) beside the naive one under this name,
			   * when there is such a program */
	/* Not "": put a program that gives the naive one's numbers to the bit, and is fast, beside
	 * it under this name, by the history refer_steps of the bitwise dag, when that is proved.
	 * wide_steps: the same for `wide`. */
	const char *refer, *refer_steps, *wide_steps;
	const char *slices; /* not "": parts of a long naive program, to be timed instead of it,
			     * beside it as <slices>0, <slices>1, ... */
	const char *brackets; /* not "": the programs that round lower and higher
			       * (loopstate/state/bracket.h), where there are such, beside it as
			       * <brackets>0 and <brackets>1; fast, by the history
			       * bracket_steps of either as a bitwise one, when that is proved */
	const char *bracket_steps;
	const char *samples; /* not "": programs that compute some of a long one's outputs,
			      * beside it as <samples>0, <samples>1, ..., as many as there are */
	const char *strides; /* of arguments (loopstate/nest/strided.h); NULL or "": all lie in a row */
	const char *counts; /* not "": the line of a simulated machine, for hn_build_answer's counted_ns */
	size_t dag_bytes, steps_bytes;
	bool naive, prove;
	unsigned long operations; /* of isl for the proof; 0 = any number */
	bool any_form; /* what is no ELF object will do, too (enum hn_artefact_form) */
	bool no_emit; /* replay and prove only: the board takes the history itself */
	struct hn_emit_options options;
};

/* Where the time of one request went, in ns; a phase not reached is 0. */
struct hn_build_times {
	int64_t dag, replay, tree; /* parse the dag; parse and replay the steps; bounds and
				    * loop tree */
	int64_t prove;		   /* legality, in isl */
	int64_t emit;		   /* the tree as LLVM IR */
	int64_t passes, codegen;   /* LLVM: verifier and passes; object file */
};

/* Beside a naive program. */
struct hn_naive_more {
	uint32_t n;
	struct hn_emit_beside program[4 + HN_SLICE_MAX + HN_SAMPLE_MAX];
	bool fast; /* one of them is not scalar */
	uint32_t n_slice; /* 0 = the program is short enough to be timed whole */
	double points[HN_SLICE_MAX], of[HN_SLICE_MAX]; /* as struct hn_slice */
};

struct hn_build_answer {
	enum hn_verdict verdict;
	struct hn_err why; /* "" when OK */
	const struct hn_dag *dag;
	const struct hn_looptree *tree; /* NULL when it could not be built */
	struct hn_artefact artefact;
	const char *certificate; /* JSON (certify.h); NULL unless proved */
	const char *codegen; /* hn_emitter_codegen; NULL: no emitter was asked */
	int64_t build_ns, prove_ns;
	struct hn_build_times ns;
	struct hn_naive_more more; /* of a naive request */
	double counted_ns; /* of one: its time on the machine that `counts` names; 0 = it has no form there */
};

/* The emitter is kept between requests for the same target. */
struct hn_builder {
	struct hn_emitter *emitter;
	char *target;
	bool hooks;
	const struct hn_selftest_place *selftest; /* where; NULL: LLVM is taken as it is */
};

/* Replay, prove, emit.  Never fails: what is wrong is the answer's verdict and reason.
 * Everything the answer points to lives in `a` or is borrowed from the request. */
void hn_build(struct hn_builder *b, const struct hn_build_request *r, struct hn_arena *a,
	      struct hn_build_answer *ans);

/* build_naive.c: what the request wants beside the naive program.  fast: try the proved
 * programs. */
int hn_build_naive_more(const struct hn_build_request *r, const struct hn_dag *dag,
			const struct hn_looptree *naive, bool fast, struct hn_arena *a,
			struct hn_naive_more *ret, struct hn_err *err) HN_NODISCARD;

/* The first half of it: replay and prove; ans has no artefact. */
void hn_build_prove(const struct hn_build_request *r, struct hn_arena *a,
		    struct hn_build_answer *ans);

/* Append a part of the polyhedral view (poly_show.h) of the request's loop tree, which need not
 * be legal.  Fails when the history does not replay, or as hn_poly_show. */
int hn_build_show(const struct hn_build_request *r, const char *part, struct hn_arena *a,
		  struct hn_buf *ret, struct hn_err *err) HN_NODISCARD;

/* Prove the histories of a file, one JSON object a line: {"dag": text (the line before's when
 * left out), "steps": text}.  One answer a line on standard output: {"verdict", "detail",
 * "certificate"}; BUILD_TIMEOUT where a proof takes more than so many operations of isl (0 =
 * any number).  Fails only when the file cannot be read or is no such file. */
int hn_build_verify(const char *path, unsigned long operations, struct hn_err *err) HN_NODISCARD;

/* The computation's program for the NPU as text (docs/npu.md).  words: "PROFILE ORDER SLOTS", ORDER is
 * flags, barriers, or tuned, which chooses the slots itself.  Fails as hn_npu_program. */
int hn_build_npu(const struct hn_build_request *r, const char *words, struct hn_arena *a,
		 struct hn_buf *ret, struct hn_err *err) HN_NODISCARD;

/* How long the naive program takes on the simulated machine that the line means; 0: it has no form
 * there, or the line means none. */
double hn_build_counted(const char *line, const struct hn_dag *dag);

/* Ask isl's scheduler which ops of the computation in the file share loops (fuse.h), and print
 * {"how", "groups": [{"ops", "loops"}]}.  Fails when the file is none. */
int hn_build_fuse(const char *path, struct hn_err *err) HN_NODISCARD;

/* The object of a compiled network. */
struct hn_build_model {
	const char *path;    /* of its text (proto/model.h) */
	const char *target;  /* the line */
	const char *weights; /* NULL, or the file of its weights, to be in it, too */
	const char *modules; /* NULL, or the folder with SYMBOL.module of a GPU's kernels */
	const char *object;  /* what is written */
};

/* Make it.  Fails when the text is none, the weights are not as long as it says, a module does not
 * fit the kernel, or as hn_emit_model. */
int hn_build_model(const struct hn_build_model *x, struct hn_err *err) HN_NODISCARD;

/* Give back what the builder keeps. */
void hn_builder_fini(struct hn_builder *b);

/* Frames on descriptors 0 and 1 until the other side closes; an exit status. */
int hn_build_serve(struct hn_builder *b);

#endif
