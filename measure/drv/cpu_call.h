/* measure/drv/cpu_call.h -- calling a kernel in the child: what its first and last run and the
 * further input sets (cpu_sets.c) share.  All of it is cpu_run.c's. */
#ifndef HN_MEASURE_DRV_CPU_CALL_H
#define HN_MEASURE_DRV_CPU_CALL_H

#include "hone/kernel.h"
#include "base/rng.h"
#include "measure/drv/cpu_int.h"
#include "measure/board/timing.h"

#define CPU_NAIVE_SLOW_NS 1e9 /* a naive program that takes longer is timed once only */

typedef int32_t (*packed_fn)(void *const *args, const struct hone_env *env);
typedef int32_t (*prepare_fn)(void *const *args, void *prepared,
			      const struct hone_env *env);

#define CPU_PLANTED 32

/* cpu_watch.c: what is watched while one kernel is timed, or two. */
struct cpu_watch {
	struct cpu_run *run;
	struct hn_rng rng;
	uint32_t n_output, output[HN_FRAME_ARGS]; /* their places among the arguments */
	int64_t n_elem; /* of all outputs */
	uint32_t n;	/* planted before this sample */
	struct {
		uint32_t tensor;
		int64_t at;
	} planted[CPU_PLANTED];
};

struct calling {
	const struct cpu_workload *w;
	const struct hn_board_kernel *kernel;
	packed_fn fn;
	/* Of a naive program, NULL = none: with its sums in a wider type; its numbers, fast; the
	 * parts that it is timed by; those that compute a sample, or a bracket (board.h). */
	packed_fn wide, refer, part[HN_PARTS], sample[HN_SAMPLES], bracket[2];
	prepare_fn prepare; /* NULL = there is nothing to prepare */
	void *const *args;
	struct hone_env env;
	int32_t returned;
	int raised; /* of HN_FP_RANGE, by a naive program */
	double first_ns;
	uint32_t *turn, index; /* *turn = index: whose turn it is */
	struct cpu_watch *watch; /* NULL: a naive program, whose answers are the reference */
};

/* Write the report and end the process. */
_Noreturn void cpu_finish(struct cpu_run *run, enum hn_verdict v, const char *detail);

/* Fill all outputs of a placement with the byte, their slack made good again. */
void cpu_poison(const struct cpu_workload *w, enum hn_redzone_place place, int pattern);

/* Fill them with what is wrong everywhere and looks like the set's answer (poison.h). */
void cpu_disguise(const struct cpu_workload *w, enum hn_redzone_place place, uint32_t set,
		  struct hn_rng *r);

/* cpu_watch.c: poison the aligned outputs and the workspaces of n kernels that are to be timed;
 * hn_timed's plant and look (ctx is a struct calling); compare all when it is over.  Each ends the
 * process when an answer is wrong. */
void cpu_watch_begin(struct cpu_run *run, struct calling *c, int n, struct cpu_watch *watch);
void cpu_watch_plant(void *ctx);
void cpu_watch_look(void *ctx);
void cpu_watch_end(struct cpu_watch *watch);

/* cpu_watch.c: of one that may be the best: more calls, in turn on all sets, for at most
 * spare_ns; and, right before the last run, one with inputs that changed in place. */
void cpu_watch_change(struct cpu_run *run, const struct calling *timed, struct hn_arena *a);

/* How often the latter is done: each time is three calls at most. */
uint32_t cpu_watch_changes(const struct calling *timed);
void cpu_watch_prove(struct cpu_run *run, const struct calling *timed, double spare_ns,
		     struct hn_arena *a);

/* The arguments of a call, in `a`: inputs of a set (from 1 on there is one placement), outputs of
 * a placement; their pages are brought in. */
void **cpu_pointers(const struct cpu_workload *w, enum hn_redzone_place place, uint32_t set,
		    struct hn_arena *a);

/* What the kernel need not compute in each call with c->args: made once, then read-only. */
void cpu_prepare(struct cpu_run *run, struct calling *c);

/* End the process unless the kernel said that it did its work. */
void cpu_must_have_returned(struct cpu_run *run, const struct calling *c);

/* The last run, whose outputs the parent looks at. */
void cpu_last_run(struct cpu_run *run, struct calling *c);

/* One call, in the time that the report counts as spent inside of kernels. */
void cpu_compute(struct cpu_run *run, struct calling *c);

/* cpu_sets.c: one run on each further set, for one that may be the best: what is slower by far
 * than another, which was compared on all of them, will not be anybody's answer.  exact: the
 * arguments of the first run.  Ends the process when an answer is wrong. */
void hn_cpu_run_sets(struct cpu_run *run, const struct calling *timed, void *const *exact,
		     struct hn_arena *a);

/* cpu_refer.c: what the first set's answers are compared with, into its outputs, after the naive
 * program ran on it.  spare_ns: what is left of the time for another run. */
void hn_cpu_refer_first(struct cpu_run *run, struct calling *c, double spare_ns);

/* One call by itself, as cold as the workload wants it: nanoseconds. */
double cpu_one_call(struct calling *c);

/* The naive program may be slow: a few runs, or the first is all. */
void cpu_time_naive(struct calling *c, double first_ns, struct hn_timing *t);

/* cpu_refer_fast.c: as hn_cpu_refer, on any set, by programs that give the naive one's numbers on
 * all cores; the first set's reference is written in place, and the naive program timed.  Returns
 * where there are no such programs, and the naive one is not so long that a sample has to do. */
struct hone_pool;
void hn_cpu_refer_fast(struct cpu_run *run, struct calling c[2],
				 struct hone_pool *pool, struct hn_arena *a);

/* cpu_sample.c: run->sample. */
_Noreturn void hn_cpu_refer_sample(struct cpu_run *run, struct calling c[2],
				   struct hone_pool *pool, struct hn_arena *a);

/* cpu_bracket.c: run->bracket. */
_Noreturn void hn_cpu_run_bracket(struct cpu_run *run, struct calling *c, struct hn_arena *a);

/* cpu_refer.c: set run->set by two programs at once: into the reference what answers are compared
 * with, into the outputs the naive program's, rounding upwards.  pool: NULL where there is one
 * thread. */
_Noreturn void hn_cpu_refer(struct cpu_run *run, struct calling c[2],
			    struct hone_pool *pool, struct hn_arena *a);

#endif
