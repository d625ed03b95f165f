/* measure/drv/npu_int.h -- the two halves of the NPU's board: the board (npu.c), and the run of one
 * candidate on the simulator, in a child (npu_run.c). */
#ifndef HN_MEASURE_DRV_NPU_INT_H
#define HN_MEASURE_DRV_NPU_INT_H

#include "measure/drv/cpu_int.h"
#include "target/npu/npu_run.h"

enum npu_phase { NPU_PHASE_READ, NPU_PHASE_RUN, NPU_PHASE_SETS };

/* What a child tells, in shared memory: nothing in it is trusted until `seal` fits. */
struct npu_report {
	struct hn_fault_note note;
	uint32_t phase; /* enum npu_phase */
	uint32_t side;	/* of a duel: whose turn it was; 1 = the rival's */
	struct {
		enum hn_verdict verdict;
		bool thorough;
		int64_t cycles[2]; /* of the kernel, of its rival */
		char detail[400];
	} body;
	uint64_t seal; /* hash of body by the run's token */
};

struct npu_run {
	const struct hn_npu_profile *m;
	const struct cpu_workload *w;
	const struct hn_board_kernel *kernel;
	const struct hn_board_kernel *rival; /* NULL: there is none */
	struct npu_report *report;
	uint64_t token;
	double best_ns;
};

uint64_t npu_seal(const struct npu_report *r, uint64_t token);

/* Nanoseconds that so many cycles are. */
double npu_ns(const struct hn_npu_profile *m, int64_t cycles);

/* In the child: everything; `run` is a struct npu_run. */
void npu_run_all(void *run);

#endif
