/* target/npu/npu_sim_int.h -- one core while it runs: what the files of the machine share. */
#ifndef HN_TARGET_NPU_NPU_SIM_INT_H
#define HN_TARGET_NPU_NPU_SIM_INT_H

#include "base/rng.h"
#include "target/npu/npu_op.h"

#define NPU_RING 32 /* the longest queue */
#define NPU_IMAGES (NPU_RING + 2)
_Static_assert((NPU_RING & (NPU_RING - 1)) == 0, "a ring");

/* What a pipe knows of the others: it comes after their first clock[i] instructions.  Of itself the
 * vector pipe knows what its last barrier waited for; the others do one thing after the other. */
struct npu_clock {
	uint32_t done[HN_NPU_N_PIPE];
};

struct npu_flag {
	bool set;
	uint32_t line, waited; /* of the set; number of the wait before, in its pipe */
	int64_t time;
	struct npu_clock clock;
};

struct npu_entry {
	struct npu_op op;
	int64_t given; /* cycle at which S gave it */
};

struct npu_pipe {
	struct npu_entry ring[NPU_RING];
	int64_t begun[NPU_RING]; /* cycle at which it left the queue */
	uint64_t n_given, n_done;
	int64_t free, done, busy; /* when the next one may begin; when all before have ended */
	struct npu_clock clock;
};

/* Who touched a block of 32 bytes. */
struct npu_touch {
	uint32_t read[HN_NPU_N_PIPE]; /* number of the last in each pipe, from 1; 0 = none */
	uint32_t write;
	uint8_t write_pipe;
	bool full;		      /* somebody wrote it, or it is an argument's */
	uint16_t write_core, read_core; /* from 1; 0 = none; READ_MANY: several */
};
#define NPU_READ_MANY UINT16_MAX

struct npu_loop {
	uint32_t at; /* the LOOP or IF */
	int64_t i, n;
};

struct npu_sim {
	bool over; /* it has come to its end */
	const struct hn_npu_program *p;
	const struct hn_npu_profile *m;
	const struct hn_npu_options *o;
	struct hn_npu_result *ret;
	struct npu_fault fault;
	uint32_t fault_line;
	const struct hn_npu_section *section;
	const bool *alike; /* [n_section] its cores do the same (npu_alike.c) */
	uint32_t core; /* of the chip */
	/* S */
	int64_t reg[HN_NPU_REGISTERS];
	uint32_t at, n_loop;
	struct npu_loop loop[HN_NPU_NESTING];
	int64_t now;
	int64_t image[NPU_IMAGES][HN_NPU_NUMBERS];
	uint64_t n_image;
	struct hn_rng rng;
	uint64_t most, work; /* instructions, and NPU_WORK bytes that are looked at, count as one */
	const int64_t *image_now;
	struct npu_pipe pipe[HN_NPU_N_PIPE];
	struct npu_flag flag[HN_NPU_N_PIPE][HN_NPU_N_PIPE][8];
	double *rate; /* [npu_buffers] bytes a cycle of loads */
	struct npu_bases base;
	struct npu_touch *touch[HN_NPU_N_MEMORY]; /* of the core; judge: else NULL */
	struct npu_touch **touch_gm;		  /* [npu_buffers] */
};

enum npu_step { NPU_BLOCKED, NPU_GONE_ON, NPU_MET, NPU_OVER, NPU_WRONG };

#define NPU_WORK 256
static inline uint64_t npu_work(const struct npu_op *op)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < op->n_span; i++) {
		n += (uint64_t)(op->span[i].n0 * op->span[i].n1) *
		     ((uint64_t)op->span[i].bytes / NPU_WORK + 1);
	}
	return n;
}

/* Arguments and scratch. */
static inline uint32_t npu_buffers(const struct npu_sim *s)
{
	return s->p->n_buffer + s->p->n_scratch;
}

/* npu_scalar.c: registers as a core begins with them.  What S does itself; false: s->fault. */
void npu_registers(struct npu_sim *s);
bool npu_scalar(struct npu_sim *s, const struct hn_npu_insn *in);

/* npu_run.c: a core to its end (OVER), or where it waits for the others (MET).  WRONG: s->fault. */
void npu_core_begin(struct npu_sim *s);
enum npu_step npu_core_go(struct npu_sim *s);

/* npu_cores.c: all of them; false: s->fault. */
void npu_cores_alike(struct npu_sim *s, struct hn_arena *a);
bool npu_cores(struct npu_sim *s, struct hn_arena *a);

/* npu_alike.c: one core of the section stands for all where nothing is looked at but time. */
bool npu_is_alike(const struct hn_npu_section *c);

/* npu_traffic.c: bytes that all cores ask for: s->rate, and the cycles that the memory takes. */
int64_t npu_traffic(struct npu_sim *s, struct hn_arena *a);

/* npu_pipe.c: what is at the head of the queue, if it can begin: 1; 0: it waits, or there is
 * nothing; -1: s->fault. */
int npu_pipe_step(struct npu_sim *s, enum hn_npu_pipe p);
/* All pipes have done all: a barrier of them, and before it what V has to finish for one. */
void npu_pipe_drain(struct npu_sim *s);
void npu_pipe_meet(struct npu_sim *s);

/* npu_judge.c: false: s->fault. */
void npu_judge_open(struct npu_sim *s, struct hn_arena *a);
void npu_judge_core(struct npu_sim *s); /* before another core begins */
void npu_judge_alone(struct npu_sim *s, struct hn_arena *a); /* what is a core's becomes its own */
void npu_judge_met(struct npu_sim *s); /* all cores have done all: global memory is anybody's */
bool npu_judge(struct npu_sim *s, enum hn_npu_pipe p, const struct npu_op *op);
bool npu_judge_set(struct npu_sim *s, enum hn_npu_pipe from, enum hn_npu_pipe to,
		   struct npu_flag *f);

#endif
