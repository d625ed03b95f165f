/* measure/measure.h -- build and time candidates, without knowing what they compute.
 *
 * A measurer owns a pool of builder processes and a process for each board, all children speaking
 * frames (proto/frame.h) on a socketpair, all expendable: a worker that dies or overruns its
 * wall clock is killed and replaced, its request ends in a verdict.  honed is its only user;
 * everything happens on one libuv loop, callbacks included.  Kernels, LLVM and isl are never
 * in this process.
 *
 * docs/frames.md says what is in the frames.  A board that takes histories (board.h) gets the steps
 * as MEASURE's blob and the dag as WORKLOAD's; its builders prove the history and compile nothing.
 */
#ifndef HN_MEASURE_MEASURE_H
#define HN_MEASURE_MEASURE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/verdict.h"

struct uv_loop_s;
struct hn_measurer;

struct hn_measurer_config {
	const char *builder_path; /* hone-build */
	const char *board_path;   /* hone-board */
	const char *target;       /* target line, canonical */
	uint32_t n_builders;      /* 0 = one per core */
	int64_t build_limit_ms;   /* wall clock of one build; 0 = 15,000 */
	int64_t run_limit_ms;     /* wall clock of one measurement of little; 0 = 10,000 */
	uint32_t n_boards;        /* of this target, a hone-board each; 0 = 1 */
	int64_t board_grace_ms;   /* a board that overruns its limit by so much is lost; 0 = 10,000 */
	int64_t back_off_ms;      /* first quarantine of a board (health.h); 0 = 1,000 */
	uint32_t builds_per_process; /* recycle a builder after so many; 0 = 2,000 */
	/* Tests only: faults for hone-build to plant, comma-separated; the first candidates get
	 * them in turn.  NULL: $HONE_TEST_PLANT where $HONE_TEST_HOOKS is 1, else none. */
	const char *plant;
};

/* One tensor argument. */
struct hn_measure_arg {
	const char *name;
	const char *dtype;
	uint32_t n_dim;
	const int64_t *shape;
	bool output;
};

/* What stays the same over a job. Strings and arrays are copied. */
struct hn_workload {
	const char *key;
	const char *dag_json;
	uint32_t n_arg;
	const struct hn_measure_arg *arg;
	double flops;     /* as papers and records count */
	/* That any correct kernel must do, read and write: faster than the machine can is
	 * refused. */
	double needed_flops, read_bytes, written_bytes;
	bool float32; /* all arithmetic is: the measured peak is its own */
	double tolerance; /* relative, on sums: by dtype and reduction length */
	uint64_t seed;
	bool cold; /* each call that is timed finds its data in memory, in no cache */
	/* Every integer among the outputs is the same in all right kernels (loopstate/dag/sway.h). */
	bool settled;
	bool subnormals; /* inputs may be below 2^-126: no right kernel takes them for zero */
	int32_t magnitude; /* inputs up to 2^this stay inside all types; 0 = not known */
	/* Histories of the dag, of the one with wider sums (loopstate/state/widen.h), and of those
	 * that round lower and higher (loopstate/state/bracket.h), all marked as bitwise: where they are proved, their programs make the reference instead of
	 * the naive one, with the same numbers and on all cores.  NULL = the naive program makes
	 * it. */
	const char *refer_steps, *wide_steps, *bracket_steps;
	double naive_ns, naive_share; /* an earlier result's; it is not timed again.  0 = unknown */
};

struct hn_measure_result {
	enum hn_verdict verdict;
	/* One line.  Of a workload's OK the inputs that answers are compared on, by sets, with
	 * those left out and why.  Of a candidate's OK it is "", or begins with NOISY:
	 * other programs disturbed most samples each time.  Such a time is too long, if anything:
	 * it may guide a search, and a final's own duels promote. */
	const char *detail;
	uint32_t n_sample;
	const double *sample_ns;  /* seconds are for records, nanoseconds are here */
	const double *rival_ns;	  /* of a duel: [n_sample], in turn with sample_ns; else NULL */
	bool rivals;		  /* of a duel: the verdict is about the rival */
	double median_ns;         /* OK only */
	int64_t build_ns, prove_ns, run_ns;
	const char *certificate; /* of legality, JSON text from the builder; "" = none */
	/* The emitter and the LLVM that made its code, or failed to; "" = nobody was asked to: it
	 * is illegal, or its board takes the history. */
	const char *codegen;
	int64_t kernel_ns; /* of run_ns, inside the kernel; 0 = not known */
	const char *state; /* of a device, then: "1980 MHz, memory 2619 MHz, 412 W, 54 C"; "" =
			    * not known */
	double naive_share; /* of a workload: how much of the naive program was run for its time;
			     * below 1 the time is an estimate */
	bool elsewhere; /* of a workload: its time is that of this machine's cores, and the board is a
			 * simulated machine that has no naive program of it */
	bool in_part; /* of a workload: some answers are compared in part (detail says which) */
};

/* Results are borrowed for the length of the callback. */
typedef void (*hn_workload_fn)(void *ctx, const struct hn_measure_result *naive);
typedef void (*hn_measure_fn)(void *ctx, const struct hn_measure_result *result);

struct hn_probe_result {
	double fma_gflops_one, fma_gflops_all; /* measured float32 FMA peak: one core, all of them */
	double memory_gb_s;
	double fork_join_ns, timer_ns; /* an empty parallel loop; the clock; 0 = not known */
	uint32_t n_level;
	struct {
		double bytes, gb_s;
	} level[3]; /* caches, nearest first: probed size, one core's reading */
	uint32_t sandbox; /* layers around kernels, sandbox.h */
};
typedef void (*hn_probe_fn)(void *ctx, enum hn_verdict v, const struct hn_probe_result *r);

/* Start the processes. The caller ignores SIGPIPE: workers die while they are written to.
 * HONE_E_NO_BOARD, HONE_E_NOT_FOUND when an executable is missing. */
int hn_measurer_new(struct uv_loop_s *loop, const struct hn_measurer_config *config,
		    struct hn_measurer **ret, struct hn_err *err) HN_NODISCARD;

/* Kill the workers, answer what is open with CANCELLED, call `closed` when the loop holds no
 * handle of ours any more. */
void hn_measurer_close(struct hn_measurer *m, void (*closed)(void *ctx), void *ctx);

/* Make a workload known: builds the naive program, runs it once for the reference outputs and
 * times it.  Must have answered OK before a measurement of that key. The board keeps the
 * references of the 32 latest workloads, as far as its memory goes; measuring one that fell out
 * makes it anew.  It is known until each caller has said hn_measurer_forget. */
void hn_measurer_workload(struct hn_measurer *m, const struct hn_workload *w, hn_workload_fn fn,
			  void *ctx);

/* The caller measures nothing more of a workload that it made known; what is under way is still
 * answered.  What was known of it goes with the last caller: objects, and what equal ones gave. */
void hn_measurer_forget(struct hn_measurer *m, const char *workload_key);

/* Build, prove, run, check and time one candidate.  What constant inputs alone decide is
 * prepared once (hone/kernel.h), outside of the time. steps: record form of the trace. best_ns:
 * give up on it early when it is hopelessly slower (0 = never). Returns a ticket for cancel. */
uint64_t hn_measurer_submit(struct hn_measurer *m, const char *workload_key, const char *steps,
			    double best_ns, hn_measure_fn fn, void *ctx);

/* The same of one that is to be the best: measured whatever is known of it, and compared on every
 * set of inputs and in as many calls as if nobody were faster. */
void hn_measurer_prove(struct hn_measurer *m, const char *workload_key, const char *steps,
		       hn_measure_fn fn, void *ctx);

/* A duel of a final (final.h): both in one fresh process, whatever is known of them, timed in
 * turn: up to HN_PAIRS pairs of samples.  Each is built when its object was not kept: those of the
 * workload's 64 latest submissions near the best, and of duels, are.  Cancelled like a
 * submission. */
void hn_measurer_duel(struct hn_measurer *m, const char *workload_key, const char *steps,
		      const char *rival_steps, hn_measure_fn fn, void *ctx);

/* Forget every open submission of ctx; its callbacks come with CANCELLED, later, from the
 * loop (no callback is ever made from inside a call). */
void hn_measurer_cancel(struct hn_measurer *m, void *ctx);

/* Builds and measurements that may usefully be open at once. */
uint32_t hn_measurer_depth(const struct hn_measurer *m);

/* Candidates' objects that went to a board as part of a frame: the depot (depot.h) had no room
 * for them, or the machine has none. */
uint64_t hn_measurer_n_by_frame(const struct hn_measurer *m);

/* The machine's limits: of the first board that knows its own, once every board has been
 * asked, one after the other; answered from memory after. */
void hn_measurer_probe(struct hn_measurer *m, hn_probe_fn fn, void *ctx);

/* A board as people see it; strings are borrowed until the loop runs again. */
struct hn_board_state {
	const char *state;  /* "busy", "idle", "down" */
	const char *health; /* "good", "suspect", "quarantined" */
	const char *why;    /* of a health that is not good; else "" */
	double canary_ns, reference_ns; /* latest, and what it is held against; 0 = none */
	double canary_allowed;		/* relative: how far the two may be apart */
	uint64_t n_measured;
	uint32_t n_lost, n_quarantine; /* times */
	int64_t retry_ms;              /* quarantined: until it is asked again */
	bool probed;
	struct hn_probe_result probe;
};
uint32_t hn_measurer_n_boards(const struct hn_measurer *m);
struct hn_board_state hn_measurer_board(const struct hn_measurer *m, uint32_t i);

#endif
