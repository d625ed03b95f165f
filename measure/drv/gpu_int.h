/* measure/drv/gpu_int.h -- the two halves of a board with a device: the board (gpu_board.c), and the
 * child that has the device (gpu_child.c, gpu_run.c, gpu_time.c). */
#ifndef HN_MEASURE_DRV_GPU_INT_H
#define HN_MEASURE_DRV_GPU_INT_H

#include <sys/types.h>

#include "measure/drv/gpu.h"

enum gpu_phase {
	GPU_PHASE_OPEN,
	GPU_PHASE_IDLE,
	GPU_PHASE_CANARY,
	GPU_PHASE_LOAD,
	GPU_PHASE_FIRST,
	GPU_PHASE_TIMING,
	GPU_PHASE_SETS,
	GPU_PHASE_AGAIN,
	GPU_PHASE_LAST
};

/* What the child tells, in shared memory: nothing in it is trusted until `seal` fits. */
struct gpu_report {
	struct hn_fault_note note;
	uint32_t phase; /* enum gpu_phase */
	uint32_t side;	/* of a duel: whose turn it was; 1 = the rival's */
	struct {
		enum hn_verdict verdict;
		bool ends; /* the child ends: the device may be in a bad state */
		bool thorough;
		uint32_t n_sample;
		int64_t kernel_ns;
		double canary_ns;
		char detail[400], state[GPU_TEXT];
		double sample_ns[HN_STATS_MAX_SAMPLE];
		double rival_ns[HN_PAIRS];
		struct gpu_facts facts; /* of the first answer */
	} body;
	uint64_t seal; /* hash of body by the request's token */
};

enum gpu_what { GPU_WHAT_CANARY, GPU_WHAT_MEASURE };

/* What the child is asked; the modules follow. */
struct gpu_ask {
	uint32_t what; /* enum gpu_what */
	const struct cpu_workload *w; /* that it has since its fork */
	double best_ns;
	int64_t limit_ns;
	uint64_t token;
	size_t bytes[2]; /* of the kernel and of its rival; 0 = there is none */
};

/* The child, as the board sees it. */
struct gpu_child {
	pid_t pid; /* 0 = there is none */
	int pidfd, fd;
	bool lazy; /* as its driver's */
	uint64_t since; /* it knows workloads made up to then (struct cpu_workload's made) */
	struct gpu_report *report; /* shared memory, of all children in turn */
};

/* Start it; *facts is what its device says.  RUN_LOST or BOARD_LOST with a line in text. */
enum hn_verdict gpu_child_start(struct gpu_child *c, const struct gpu_ops *ops,
				const struct hn_board_place *at, uint64_t since,
				struct gpu_facts *facts, char *text, size_t n);
void gpu_child_stop(struct gpu_child *c);

/* Ask and wait.  False: it gave no answer and is gone, and ret has the verdict. */
bool gpu_child_ask(struct gpu_child *c, const struct gpu_ask *ask, const void *const module[2],
		   struct hn_board_answer *ret);

/* -- in the child ------------------------------------------------------------------------- */

/* One candidate, or two in turn. */
struct gpu_side {
	const struct hn_gpu_module *module;
	struct gpu_memory **buffer; /* by the module's numbers; arguments are the workload's */
	void *program;
	double first_ns;
};

struct gpu_held; /* arguments of the workload that was asked about last, on the device */

struct gpu_run {
	const struct gpu_ops *ops;
	void *dev;
	const struct gpu_facts *facts;
	const struct cpu_workload *w;
	struct gpu_held *held;
	struct gpu_report *report;
	struct hn_arena arena;
	struct gpu_side side[2];
	int n_side;
	double best_ns;
	int64_t begin_ns, limit_ns;
	struct hn_err err;
};

/* gpu_held.c: the arguments of a workload on the device. */
struct gpu_held *gpu_held_new(const struct gpu_ops *ops, void *dev);
enum hn_verdict gpu_held_take(struct gpu_held *h, const struct cpu_workload *w,
			      struct hn_err *err); /* with the first set's inputs */
enum hn_verdict gpu_held_inputs(struct gpu_held *h, uint32_t set, struct hn_err *err);
struct gpu_memory *gpu_held_memory(const struct gpu_held *h, uint32_t arg);
/* Fill all outputs: with the byte, or where that is negative with what looks like the set's
 * answer and is wrong everywhere. */
enum hn_verdict gpu_held_poison(struct gpu_held *h, int byte, uint32_t set, struct hn_rng *r,
				struct hn_err *err);
/* Outputs are the set's, and nothing beside them is written to; same: to the bit what they were
 * when they were compared last is enough. */
enum hn_verdict gpu_held_compare(struct gpu_held *h, uint32_t set, bool same, char *text,
				 size_t n);
/* Inputs are still what was put there last. */
enum hn_verdict gpu_held_unharmed(struct gpu_held *h, char *text, size_t n);
void gpu_held_forget(struct gpu_held *h); /* contents are no more what they were */

/* gpu_run.c: all that a candidate goes through; the answer into the report's body. */
void gpu_run_all(struct gpu_run *run, const void *const module[2], const size_t bytes[2]);

/* gpu_time.c: how long a call takes, or two in turn; into the report's body.  *noisy: nothing may
 * be decided by it. */
enum hn_verdict gpu_time(struct gpu_run *run, double budget_ns, bool *noisy);

#endif
