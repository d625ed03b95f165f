/* measure/board/board.h -- what a driver brings so that hone can measure on a kind of device.
 *
 * A driver is one file under drv/ and one row of boards.def.  It lives in a hone-board
 * process of its own, is called by one thread, blocks, and may be killed at any moment:
 * whatever it holds outside the process must survive that.  It says what happened by
 * verdicts; an answer of HN_VERDICT_BOARD_LOST makes hone-board end, to be started
 * afresh.
 *
 * A driver is given objects in memory of its own process, however they came there: through
 * shared memory where honed and its boards have some (depot.h), in the frame where not.
 */
#ifndef HN_MEASURE_BOARD_BOARD_H
#define HN_MEASURE_BOARD_BOARD_H

#include "base/buf.h"
#include "base/verdict.h"
#include "measure/board/pairs.h"
#include "measure/board/parts.h"
#include "measure/board/plausible.h"
#include "measure/board/tensor.h"
#include "measure/health.h"
#include "measure/stats.h"
#include "proto/frames.h"

/* Where a module is compiled by the board, that may take so many times the limit of a measurement,
 * and the first run with it as long again. */
#define HN_GPU_COMPILE_TIMES 3
#define HN_GPU_CROWDED_TIMES 3 /* ... and each so many times as long while others have the processors */
/* A simulated machine takes longer than what it simulates: so many times the limit at most, by the
 * bytes of the arguments. */
#define HN_PROGRAM_TIMES 10
#define HN_PROGRAM_BYTES ((int64_t)128 << 20)
#define HN_SAMPLES 8 /* programs for a sample, at most */
#define HN_BOARD_WORKLOADS 32 /* references kept, least recently used goes first */

/* What a board takes as a candidate: its row of boards.def says it, so that honed knows
 * before it has anything built.  A kind that is missing (features, bitstreams) is a word
 * here and a line where the measurer makes artefacts (builders.c). */
enum hn_board_takes {
	HN_BOARD_TAKES_OBJECT, /* relocatable machine code; a workload brings its naive
				* program */
	HN_BOARD_TAKES_MODULE, /* a program for a GPU (proto/gpu_module.h); a workload brings its
				* naive program, as machine code of this machine */
	HN_BOARD_TAKES_PROGRAM, /* text of a program for a machine that the board simulates
				 * (docs/npu.md); a workload brings its naive program, as MODULE */
	HN_BOARD_TAKES_STEPS,  /* the history in record form, proved; a workload brings its
				* dag as compute-dag/1 */
};

/* A candidate, or a workload's naive program: the bytes and what calling them takes. */
struct hn_board_kernel {
	const void *object; /* or module, steps, dag: see enum hn_board_takes */
	size_t object_bytes;
	const char *symbol; /* SYMBOL_packed is called (hone/kernel.h) */
	uint64_t shared_bytes, per_worker_bytes;
	uint64_t prepared_bytes; /* not 0: SYMBOL_prepare_packed is called first, untimed */
	int64_t limit_ms; /* wall clock for everything done with it */
};

struct hn_board_workload {
	const char *key;
	uint32_t n_tensor;
	const struct hn_tensor *tensor; /* arguments in order */
	uint64_t seed;
	int32_t magnitude; /* of extreme inputs, as struct hn_workload */
	uint32_t n_set;	   /* compare on the first so many input sets (inputs.h); 0 = all */
	double tolerance; /* as struct hn_workload */
	struct hn_need need; /* what it takes at least, against impossible times */
	/* Whatever is timed of it finds its data (arguments, workspace, what was prepared) in
	 * memory and in no cache at each call; else as the call before left it. */
	bool cold;
	bool settled, subnormals; /* as struct hn_workload */
	struct hn_board_kernel naive;
	/* WIDE_packed of naive's object, where it has that: the same computation with its sums
	 * in a wider type and rounded at the end.  It makes the reference that answers are
	 * compared with; the naive program, whose arithmetic is that of kernels, shows what
	 * their rounding comes to.  NULL = there is none. */
	const char *wide;
	/* REFER_packed of naive's object, where it has that: the naive program's numbers to the
	 * bit, by a schedule for all cores and lanes.  Then the naive program itself need not run,
	 * and `wide` is such a program too.  NULL = there is none. */
	const char *refer;
	const char *part;      /* PART0_packed, ...: `parts`, which the naive program is timed by */
	struct hn_parts parts; /* none: whole */
	const char *sample;    /* SAMPLE0_packed, ... of naive's object, as many as it has: each
				* computes some elements of all outputs as the naive program does,
				* for a reference of these alone.  NULL = there is none */
	/* BRACKET0_packed and BRACKET1_packed of naive's object, where it has them: what outputs of
	 * integers and of 16 bits are where what they are made of is as much lower, or higher, as it
	 * may be. Right answers lie between the two.  NULL = there are none. */
	const char *bracket;
	double naive_ns;       /* its time, where that is known and need not be taken; else 0 */
};

struct hn_board_request {
	const char *key;
	double best_ns;	   /* 0 = unknown */
	int32_t n_workers; /* 0 = all cores */
	struct hn_board_kernel kernel;
	/* A duel of a final: both in one fresh process, timed in turn (pairs.h); object NULL =
	 * none.  Its limit_ms is not looked at: the kernel's is for both. */
	struct hn_board_kernel rival;
};

struct hn_board_answer {
	enum hn_verdict verdict; /* NONE: the workload is not known here (any more) */
	char detail[400]; /* of a workload's OK: the inputs that answers are compared on */
	uint32_t n_sample; /* OK: at least one; NOISY: what there is; else none */
	double sample_ns[HN_STATS_MAX_SAMPLE];
	double rival_ns[HN_PAIRS]; /* a duel: rival_ns[i] beside sample_ns[i], n_sample of them */
	/* Compared on every set of inputs, and in more calls than others are: as whoever is to be
	 * the best has to be, and whoever was better than best_ns (0 = any) is. */
	bool thorough;
	bool rivals; /* a verdict that blames the kernel is the rival's */
	int64_t run_ns; /* wall clock of all of it */
	int64_t kernel_ns; /* what of it passed inside the kernel; 0 = not known */
	char state[HN_FRAME_STATE + 1]; /* of a device: clocks, power, temperature; "" = not known */
	bool in_part; /* of a workload: some answers are compared in part (detail says which) */
	double naive_share; /* of a workload: how much of the naive program was run for its time,
			     * which is an estimate where this is below 1; 0 = not said */
};

/* Which board this process is. */
struct hn_board_place {
	const char *target;   /* the whole line */
	uint32_t index;	      /* among the boards of this honed, from 0 */
	uint64_t incarnation; /* how many processes this board has had, this one included */
};

/* A device as its driver tells of it; texts are printable. */
struct hn_board_device {
	char name[128], driver[128];
	char target[400]; /* the words of a target line that fits it */
	int64_t cores, threads, shared_bytes, memory_bytes, cache_bytes, clock_mhz; /* 0 = not told */
};

struct hn_board_ops {
	const char *name; /* target kinds it serves: "cpu" */
	bool cold;	  /* it can measure with cold caches; else such workloads are refused */
	int (*open)(const struct hn_board_place *at, void **ret_board,
		    struct hn_err *err);
	void (*close)(void *board);
	/* Make the reference outputs from the naive kernel and time it. Nothing of w is
	 * kept by pointer. */
	void (*workload)(void *board, const struct hn_board_workload *w,
			 struct hn_board_answer *ret);
	/* Check and time one candidate. */
	void (*measure)(void *board, const struct hn_board_request *r,
			struct hn_board_answer *ret);
	int (*probe)(void *board, struct hn_probe *ret, struct hn_err *err);
	/* The index-th device there is, in a process that is for this alone; HONE_E_NO_BOARD when
	 * there is none, with the reason.  NULL: this kind has none that could be told of. */
	int (*find)(uint32_t index, struct hn_board_device *ret, struct hn_err *err);
	/* Time of a piece of work that never changes, steady to well under the 2 % by which a
	 * board is judged, or with how far it wanders (health.h); a few milliseconds, as it
	 * comes before and after every batch, though the first may take longer.  What was
	 * measured since the last one counts only when the next one is the same.  NULL: the
	 * board is judged by getting lost alone, and its results count at once. */
	int (*canary)(void *board, struct hn_canary *ret, struct hn_err *err);
};

/* What boards of a target line take; OBJECT when no driver serves it. Reads boards.def
 * only: honed asks, and no driver is linked into it. */
enum hn_board_takes hn_board_takes(const char *target);

/* Whether they are another machine than this one's cores: naive programs, which run on these, are made
 * for another target, and the line need not stand in a file to be served. */
bool hn_board_is_apart(const char *target);

/* Whether boards.def has a driver for that line. */
bool hn_board_is_driven(const char *target);

/* The driver for a target line's first word, or NULL. */
const struct hn_board_ops *hn_board_of(const char *target);

/* The i-th row of boards.def; NULL behind the last. */
const struct hn_board_ops *hn_board_at(size_t i);

/* All devices of all drivers, or of the kind that `kind` names ("" = all), as one JSON object
 * appended to json: devices, and of each kind without one the reason.  HONE_E_INVALID: there is no
 * such kind. */
int hn_board_devices(const char *kind, struct hn_buf *json, struct hn_err *err) HN_NODISCARD;

/* Answer one frame of honed's: the reply's JSON onto `json`, its type into *ret_type.
 * HONE_E_CORRUPT when the frame makes no sense (the peer is broken: end), HONE_E_NO_BOARD
 * when the device is gone. */
int hn_board_serve(const struct hn_board_ops *ops, void *board, const struct hn_frame *f,
		   uint16_t *ret_type, struct hn_buf *json,
		   struct hn_err *err) HN_NODISCARD;

#endif
