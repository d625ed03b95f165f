/* measure/drv/cpu_int.h -- the CPU board's two halves: buffers and reference of a
 * workload (parent), and one run of a kernel (child). */
#ifndef HN_MEASURE_DRV_CPU_INT_H
#define HN_MEASURE_DRV_CPU_INT_H

#include "base/rng.h"
#include "measure/board/board.h"
#include "measure/board/fault.h"
#include "measure/board/redzone.h"
#include "measure/board/inputs.h"
#include "measure/board/pairs.h"
#include "measure/board/verify.h"

/* Elements [begin, end) of an output. */
struct cpu_part {
	int64_t begin, end;
};

/* What is known of an output's reference where a set is sampled; ascending, in the workload's
 * arena. */
struct cpu_told {
	uint32_t n;
	int64_t n_elem;
	struct cpu_part *part;
};

/* One argument's memory. A size that is a multiple of 64 needs only one placement. */
struct cpu_buffer {
	struct hn_redzone exact, aligned; /* aligned.region NULL: exact serves for both */
	struct hn_redzone further[HN_INPUT_SETS]; /* inputs: contents of sets from 1 on, sealed */
	struct hn_redzone reference[HN_INPUT_SETS]; /* outputs: what answers are compared with
						   * (cpu_refer.c), sealed */
	/* Outputs: between what answers lie, sealed; no region: by the tolerance of the reference. */
	struct hn_redzone bracket[2][HN_INPUT_SETS];
	double scale[HN_INPUT_SETS];		/* of the reference */
	struct cpu_told told;
};

/* One of the input sets that answers are compared on. */
struct cpu_set {
	bool used;
	bool sampled; /* compared with in part: cpu_sample.c */
	struct hn_inputs inputs;
	const char *why; /* it is left out */
};

struct cpu_workload {
	struct hn_arena arena;
	const char *key;
	uint32_t n_tensor;
	struct hn_tensor *tensor;
	struct cpu_buffer *buffer;
	double tolerance;
	struct hn_need need;
	bool cold;
	bool settled; /* as struct hn_board_workload */
	bool has_sample; /* the naive program's object has programs for one */
	bool has_bracket; /* answers of integers and of 16 bits are held between two */
	bool told; /* of each output it is known what a sample has */
	bool wide; /* the first set's reference has its sums in a wider type */
	double refer_ns; /* what made it took, where the naive program did not; else 0 */
	struct cpu_set set[HN_INPUT_SETS]; /* the first is always used */
	uint64_t origin; /* hash of all that it was made of */
	double naive_ns, naive_share; /* as its answer told */
	int64_t bytes; /* of all buffers */
	bool lost;     /* a run that was to tell of its further sets was, again and again */
	uint64_t used, made; /* when, in requests */
};

#define CPU_STEPS 64

/* How the canary moved lately; all zero at first. */
struct cpu_canary {
	double last_ns;
	double step[CPU_STEPS]; /* ring by n: relative, from one to the next */
	uint32_t n;
};

struct cpu_board {
	struct cpu_workload *workload[HN_BOARD_WORKLOADS];
	struct cpu_report *report; /* shared memory between guard pages */
	struct hn_probe *probe;	   /* shared memory, same page */
	struct hn_probe peak;	   /* best seen; zero until probed */
	struct hn_probe shown;	   /* what one core did in a moment (cpu_probe.c) */
	struct cpu_canary canary;
	int64_t (*stolen_ns)(void); /* hn_cpu_stolen_ns, but in tests */
	uint64_t requests;
	uint32_t sandbox; /* layers that kernels run in */
};

enum cpu_phase { CPU_PHASE_LOAD, CPU_PHASE_FIRST, CPU_PHASE_TIMING, CPU_PHASE_SETS, CPU_PHASE_LAST };

/* What a child tells: fixed size, shared memory, nothing in it is trusted until `seal`
 * fits. */
struct cpu_report {
	struct hn_fault_note note;
	uint32_t phase; /* enum cpu_phase, to say where a hang was */
	uint32_t side;	/* of a duel: whose turn it was; 1 = the rival's */
	struct {
		uint64_t begin, end;
	} storage[2]; /* each one's static storage, which it may not write to */
	struct {
		enum hn_verdict verdict;
		uint32_t n_sample;
		int32_t raised; /* by the naive program on a further set: of HN_FP_RANGE */
		bool wide;	/* of a naive run on the first set: as struct cpu_workload */
		bool has_sample; /* of a naive run: as struct cpu_workload */
		bool has_bracket; /* of a naive run: its object has programs for one */
		bool sampled; /* of a naive run on the first set: its answers take too long, a
			       * sample has to do; the time alone is told */
		double naive_share; /* of a naive run on the first set: as hn_board_answer's */
		double refer_ns; /* of a naive run on the first set: what made the reference took,
				  * where the naive program did not */
		bool thorough;	/* as struct hn_board_answer */
		int64_t kernel_ns; /* of the run's time, what passed inside the kernel */
		char detail[400];
		double sample_ns[HN_STATS_MAX_SAMPLE];
		double rival_ns[HN_PAIRS]; /* of a duel: the other halves of the pairs */
	} body;
	uint64_t seal; /* hash of body by the run's token */
};

/* Which runs of a sample (cpu_sample.c): two alike; or one rounding to nearest, one upwards. */
enum cpu_sample { CPU_SAMPLE_NONE, CPU_SAMPLE_TWICE, CPU_SAMPLE_UPWARDS };

struct cpu_run {
	const struct cpu_workload *w;
	const struct hn_board_kernel *kernel;
	const struct hn_board_kernel *rival; /* NULL, or what it is paired with */
	struct cpu_report *report;
	uint64_t token;
	int32_t n_workers;
	double best_ns;
	bool reference; /* the naive run: nothing to compare with yet */
	uint32_t set;	/* of a naive run; not 0: on this set, and rounding upwards as rival */
	uint32_t sample; /* enum cpu_sample; of a naive run: into the set's reference and the
			  * outputs, rival being the naive program, too */
	uint32_t bracket; /* not 0: run program bracket - 1 of them on the set, once */
	const struct hn_board_workload *made_of; /* of a naive run: its programs */
	double naive_ns; /* of a naive run: what the program takes; 0 = not known yet */
};

extern const struct hn_board_ops hn_board_cpu;

/* A board for references alone, as boards of devices have one: it enters no sandbox, which their
 * drivers may not bear, but its children do. */
int hn_cpu_open(struct cpu_board **ret, struct hn_err *err) HN_NODISCARD;

/* The workload of that key, or NULL. */
struct cpu_workload *hn_cpu_find(struct cpu_board *b, const char *key);

/* In the child: everything from loading to the last run. */
void hn_cpu_run(void *run);

/* In the parent: run in a child and put what it says, or how it ended, into ret. */
void hn_cpu_run_child(struct cpu_board *b, struct cpu_run *run, struct hn_board_answer *ret);

/* Map and fill argument i, and seal it. */
int hn_cpu_map_input(const struct cpu_workload *w, uint32_t i, const struct hn_inputs *in,
		     enum hn_redzone_place place, struct hn_redzone *ret,
		     struct hn_err *err) HN_NODISCARD;

/* cpu_sets.c: fill in w->set from 1 on, as far as they serve.  room: there is memory for them;
 * naive_ns: what one run of the naive program takes. */
void hn_cpu_make_sets(struct cpu_board *b, struct cpu_workload *w,
		      const struct hn_board_workload *from, bool room, double naive_ns);

/* Whether the set shows more of a workload with these arguments than the others do: else it is
 * none of its sets. */
bool hn_cpu_set_serves(uint32_t set, uint32_t n, const struct hn_tensor *t);

/* cpu_sample.c: the set's reference by a sample, and rounding upwards in the outputs where that is
 * a further set; *ret says how it went. */
void hn_cpu_sample(struct cpu_board *b, struct cpu_workload *w, uint32_t set,
		   const struct hn_board_workload *from, struct hn_board_answer *ret);

/* cpu_origin.c: a hash of all that the workload's references depend on. */
uint64_t hn_cpu_origin(const struct hn_board_workload *from);

/* cpu_bracket.c: whether the output is held between two others where there are such. */
bool hn_cpu_is_held(const struct hn_tensor *t);

/* Make the brackets of a set whose inputs are there; false: they cannot be made. */
bool hn_cpu_bracket(struct cpu_board *b, struct cpu_workload *w, uint32_t set,
		    const struct hn_board_workload *from);

/* Whether elements [begin, end) of output i are those of the set's reference, as far as that is
 * known; as hn_verify_part. */
bool hn_cpu_verify(const struct cpu_workload *w, uint32_t i, uint32_t set, const void *got,
		   int64_t begin, int64_t end, struct hn_mismatch *ret);

/* An element of output i whose reference is known. */
int64_t hn_cpu_draw(const struct cpu_workload *w, uint32_t i, uint32_t set, struct hn_rng *r);

/* "seed 1; seed 2 with zeros; left out: the naive program takes long", into text. */
void hn_cpu_print_sets(const struct cpu_workload *w, char *text, size_t text_bytes);

uint64_t hn_cpu_seal(const struct cpu_report *r, uint64_t token);

static inline const struct hn_redzone *cpu_placed(const struct cpu_buffer *b,
						  enum hn_redzone_place place)
{
	return place == HN_REDZONE_ALIGNED && b->aligned.region != NULL ? &b->aligned : &b->exact;
}

/* The next canary, with how far it wanders; the first call takes a fifth of a second. */
struct hn_canary hn_cpu_canary(struct cpu_canary *c);

/* Its parts, for tests: a reading comes in; how far readings may be apart. */
void hn_cpu_canary_note(struct cpu_canary *c, double ns);
double hn_cpu_wander(const struct cpu_canary *c);

/* Time that a hypervisor took from all cores together since the machine began, in ns, in
 * steps of the kernel's tick; 0 where nobody counts it.  The second reads it from the text
 * of /proc/stat in the file at `path`. */
int64_t hn_cpu_stolen_ns(void);
int64_t hn_cpu_stolen_read(const char *path);

/* An OK that took wall_ns becomes NOISY when so much was stolen meanwhile that its time
 * means nothing: a tenth of the wall clock, and more than the tick's rounding.  One that is
 * slower than best_ns (0 = unknown) by far needs no better time (timing.h). */
void hn_cpu_check_stolen(int64_t stolen_ns, int64_t wall_ns, double best_ns,
			 struct hn_board_answer *ret);

/* hn_board_ops.probe: the board's limits, the best of all probes so far. */
int hn_cpu_probe(void *board, struct hn_probe *ret, struct hn_err *err);

/* An OK that is faster than the machine can be (plausible.h) becomes IMPLAUSIBLE.  A board that was
 * not probed yet has the machine show for a moment that it can; before a no it is probed again,
 * twice: the first probe may have been disturbed. */
void hn_cpu_check_plausible(struct cpu_board *b, const struct cpu_workload *w,
			    struct hn_board_answer *ret);

/* Compare the outputs in one placement with the reference of a set; on a difference the line is in
 * text. Returns OK, WRONG_RESULT, or SEGV_GUARD when canary bytes beside a buffer
 * changed. */
enum hn_verdict hn_cpu_check(const struct cpu_workload *w, enum hn_redzone_place place,
			     uint32_t set, char *text, size_t text_bytes);

#endif
