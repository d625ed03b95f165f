/* target/npu/npu_run.h -- the machine: it runs a program, says how long it took, and whether
 * another order of its pipes could have given another answer.
 *
 * Pipes take their instructions in order; flags alone order one pipe after another.  So when each
 * instruction begins follows from what is before it, whatever order the machine is simulated in:
 * no clock ticks here, and an instruction costs its own work alone.  What is the same in every
 * order (who waits for whom) is what `judge` looks at: one run finds the races of all orders.
 */
#ifndef HN_TARGET_NPU_NPU_RUN_H
#define HN_TARGET_NPU_NPU_RUN_H

#include "target/npu/npu.h"

enum hn_npu_fault {
	HN_NPU_FINE,
#define FAULT(name, word, text) HN_NPU_F_##name,
#include "target/npu/faults.def"
#undef FAULT
	HN_NPU_N_FAULT
};

const char *hn_npu_fault_word(enum hn_npu_fault f); /* "race" */

struct hn_npu_event { /* an instruction of a pipe */
	const struct hn_npu_insn *insn;
	uint8_t pipe;
	int64_t from, to; /* cycles */
};

struct hn_npu_options {
	/* One for each argument, of its bytes: the program computes.  NULL: it is timed alone. */
	void *const *gm;
	bool judge;   /* races, flags set twice, reads of what is unwritten, by blocks of 32 bytes */
	uint64_t seed; /* not 0: pipes go on in an order drawn from it; the cycles are the same */
	/* instructions at most, and 256 bytes that are judged or computed count as one; 0 = 2^28 */
	uint64_t most;
	/* The first n_event instructions of one core, for a picture; NULL = none. */
	struct hn_npu_event *event;
	uint32_t n_event, event_core;
};

#define HN_NPU_MOST_JUDGED ((int64_t)1 << 30) /* bytes of arguments; each block of 32 has a record */

struct hn_npu_result {
	int64_t cycles;	      /* of the kernel: its launch and its slowest core, or the memory's */
	int64_t core_cycles;  /* of the slowest core */
	uint32_t core;	      /* which that is */
	int64_t busy[HN_NPU_N_PIPE]; /* cycles of its pipes */
	int64_t read_bytes, written_bytes; /* of global memory, by all cores */
	int64_t used[HN_NPU_GM]; /* judge: bytes of each memory up to the last that a core touched */
	bool by_memory;	      /* all cores together ask more than the memory gives */
	uint64_t n_insn;      /* simulated: cores that do the same and are timed alone are one */
	uint32_t n_event;
	enum hn_npu_fault fault;
	uint32_t line;	      /* of the fault */
};

/* HONE_E_INVALID: the program does something that no machine may; ret->fault says of which kind,
 * the message where.  HONE_E_QUOTA: buffers
 * too large to be judged.  Deterministic.  Memory of the run comes from the arena. */
int hn_npu_run(const struct hn_npu_program *p, const struct hn_npu_profile *m,
	       const struct hn_npu_options *o, struct hn_arena *a, struct hn_npu_result *ret,
	       struct hn_err *err) HN_NODISCARD;

#endif
