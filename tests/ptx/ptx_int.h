/* tests/ptx/ptx_int.h -- the machine's inside: instructions as they are kept, warps, and what a room of
 * instructions gets.  A warp's lanes go together: an instruction runs for the lanes of a mask, whose
 * next instruction it is. */
#ifndef HN_TESTS_PTX_PTX_INT_H
#define HN_TESTS_PTX_PTX_INT_H

#include "base/rng.h"
#include "tests/ptx/ptx.h"

#define PTX_LANES 32
#define PTX_ALL UINT32_MAX
#define PTX_MAX_SHARED (228 * 1024)
/* A GPU of 9.0 keeps the first kilobyte of a block's shared memory to itself. */
#define PTX_SHARED_FROM 1024
/* Generic addresses of shared and local memory; global ones are this process's. */
#define PTX_SHARED_WINDOW ((uint64_t)0x7f01 << 48)
#define PTX_LOCAL_WINDOW ((uint64_t)0x7f02 << 48)

/* A register of all lanes; of 8 and 16 bits, and predicates (0 or 1), lie in u. */
union ptx_reg {
	uint32_t u[PTX_LANES];
	int32_t s[PTX_LANES];
	float f[PTX_LANES];
	uint64_t w[PTX_LANES];
	int64_t x[PTX_LANES];
	double d[PTX_LANES];
};

/* A register's, a constant's or a special register's place among the warp's; in brackets, an address:
 * register + offset.  A constant has two places: the one named has it in u, the next one in w. */
struct ptx_operand {
	uint32_t reg;
	int32_t offset;
	bool address, constant;
	bool wide; /* of 64 bits: in w; else in u */
	uint8_t group; /* which braces it stands in: 1, 2, ...; 0: none */
};

struct ptx_warp;
struct ptx_insn;

/* Does the instruction for the lanes of the mask. */
enum ptx_did {
	PTX_DONE = 0,
	PTX_AGAIN = 1, /* not yet: the same lanes ask again when others have gone on */
	PTX_BRANCH = 2, /* it set the lanes' next instructions itself */
	PTX_FAULT = -1, /* ptx_fault said why */
};
typedef enum ptx_did ptx_do(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask);

struct ptx_insn {
	ptx_do *run;
	const char *name;	 /* "mma.sync.aligned..." */
	const char *const *word; /* its parts between dots: "mma", "sync", ... */
	const struct ptx_operand *op;
	uint32_t n_word, n_op;
	uint32_t guard; /* a predicate's place, behind its 1; 0: none */
	bool guard_not;
	bool together; /* every lane of the warp that has not ended takes part */
	uint8_t from, as, how; /* what a room keeps: types, a comparison, a rounding */
	uint8_t bytes; /* of an element, for memory */
	uint8_t lanes; /* elements of an access: .v2, .v4 */
	int32_t to;    /* a branch's, the first of a table's */
	uint32_t line;
};

struct ptx_kernel {
	const char *name;
	const struct ptx_insn *insn;
	uint32_t n_insn;
	uint32_t n_reg; /* of a warp, constants and special registers with them */
	const union ptx_reg *first; /* what they hold at first */
	uint32_t local;		    /* bytes of each lane */
	uint32_t shared;	    /* of those declared with a size */
	struct ptx_param {
		const char *name;
		uint32_t offset, bytes;
	} *param;
	uint32_t n_param, param_bytes;
	uint32_t ntid[3], maxnreg; /* 0: not said */
};

struct ptx_module {
	struct ptx_kernel *kernel;
	uint32_t n_kernel;
};

/* Places of special registers; constants and registers follow. */
enum ptx_special {
	PTX_NONE, /* `_` */
	PTX_TID_X, PTX_TID_Y, PTX_TID_Z,
	PTX_NTID_X, PTX_NTID_Y, PTX_NTID_Z,
	PTX_CTAID_X, PTX_CTAID_Y, PTX_CTAID_Z,
	PTX_NCTAID_X, PTX_NCTAID_Y, PTX_NCTAID_Z,
	PTX_LANEID, PTX_WARPID,
	PTX_N_SPECIAL
};

/* A thing that is begun and comes later: at once, at random, or when it is waited for. */
struct ptx_late {
	struct ptx_late *next;
	enum ptx_did (*come)(struct ptx_warp *w, struct ptx_late *late);
	const struct ptx_insn *in;
	uint32_t mask;
	uint32_t group; /* of commits, from 1; 0: not committed yet */
	uint64_t value[PTX_LANES][2];
	char data[]; /* of the instruction's own */
};

struct ptx_queue {
	struct ptx_late *first, **end;
	uint32_t groups; /* committed so far */
};

/* A lane's cp.async that have not come. */
struct ptx_copies {
	struct ptx_copy {
		const struct ptx_insn *in;
		uint64_t to, from;
		uint32_t bytes, of; /* to write; of the source, then zeros */
		uint32_t group;	    /* from 1; 0: not committed */
	} *copy;
	uint32_t n, cap, groups;
};

struct ptx_block;

/* What ptx_wgmma.c checks of a warp: what it came to, against the group's other warps; and what its
 * accumulators held after their last product. */
struct ptx_wgmma {
	uint64_t said[64], n_said;
	uint32_t fences, next_sum;
	struct ptx_sum {
		uint32_t reg, fences, mark; /* the first accumulator; wgmma.fences before it */
	} sum[4];
};

struct ptx_warp {
	union ptx_reg *reg;
	struct ptx_block *block;
	uint32_t index;	       /* in the block */
	uint32_t ended;	       /* lanes */
	uint32_t waits;	       /* lanes that wait for the others of the warp */
	uint32_t held;	       /* lanes that wait at a barrier */
	uint32_t asks;	       /* lanes that were told to ask again */
	uint32_t here, at;     /* lanes that go now, and their next instruction */
	uint32_t next;	       /* the least next instruction of the others that could go */
	uint32_t apart;	       /* in this turn these alone go, as long as they can; 0: all */
	uint32_t pc[PTX_LANES]; /* of lanes that do not go now */
	struct ptx_copies copies[PTX_LANES]; /* cp.async */
	struct ptx_queue products;	     /* wgmma, by groups */
	char *local;		   /* [lane][local] */
	uint32_t registers;	   /* of each lane, by setmaxnreg */
	struct ptx_wgmma wgmma;
	int32_t barrier;	   /* the named barrier its lanes wait at; -1: none */
};

struct ptx_block {
	const struct ptx_kernel *kernel;
	const struct ptx_launch *launch;
	struct ptx_counts *counts;
	struct hn_err *err;
	struct hn_rng rng;
	struct ptx_warp *warp;
	uint32_t n_warp, id[3];
	uint32_t shared_end; /* addresses from PTX_SHARED_FROM to here are memory */
	char *shared;	     /* of address 0 */
	/* Who wrote each 16 bytes of shared memory since its last fence.proxy.async: a thread's number
	 * + 1, and its fences then. */
	uint32_t *writer, *written;
	uint32_t *fences;  /* of each thread */
	struct ptx_queue bulk; /* bulk copies that have not come */
	struct ptx_barrier {
		uint32_t arrived, expected, turn;
	} barrier[16];
	const char *param;
	uint32_t pool; /* registers that no warp has */
};

/* A fault's line: the instruction, its place, the block and the lane, behind it the reason. */
enum ptx_did ptx_fault(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t lane,
		       const char *fmt, ...) HN_PRINTF(4, 5);

/* Whether the instruction has the word. */
bool ptx_has(const struct ptx_insn *in, const char *word);

/* A lane's integer of an operand, as wide as it is; of an operand in brackets, the address. */
static inline uint64_t ptx_value(const struct ptx_warp *w, const struct ptx_operand *o,
				 uint32_t lane)
{
	const union ptx_reg *r = &w->reg[o->reg];

	return (o->wide ? r->w[lane] : r->u[lane]) + (uint64_t)(int64_t)o->offset;
}

/* For each lane of the mask, `l`; whole warps are loops that a compiler makes vectors of. */
#define PTX_EACH(mask, ...)                                               \
	do {                                                              \
		if ((mask) == PTX_ALL) {                                  \
			for (uint32_t l = 0; l < PTX_LANES; l++) {        \
				__VA_ARGS__;                              \
			}                                                 \
		} else {                                                  \
			for (uint32_t l = 0; l < PTX_LANES; l++) {        \
				if ((mask) >> l & 1) {                    \
					__VA_ARGS__;                      \
				}                                         \
			}                                                 \
		}                                                         \
	} while (0)

/* The `bytes` bytes at that shared address, which must be a multiple of `align`; NULL: a fault was
 * said. */
void *ptx_shared(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t lane,
		 uint64_t address, uint32_t bytes, uint32_t align);

/* The same of global memory. */
void *ptx_global(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t lane,
		 uint64_t address, uint64_t bytes, uint32_t align, bool store);

/* The bytes of a generic address, which is global, shared or local. */
void *ptx_generic(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t lane, uint64_t address,
		  uint32_t bytes, bool store);

/* That a thread wrote those bytes of shared memory the ordinary way; and whether the asynchronous ways
 * (wgmma, bulk copies) see all that was written there: else a fault is said. */
void ptx_wrote(const struct ptx_warp *w, uint32_t lane, uint64_t address, uint32_t bytes);
bool ptx_visible(const struct ptx_warp *w, const struct ptx_insn *in, uint64_t address,
		 uint32_t bytes);

/* A thing that is late, with `bytes` bytes of its own, at the queue's end; and all come that are of a
 * group up to `group`, in their order. */
struct ptx_late *ptx_begin(struct ptx_queue *q, const struct ptx_insn *in, uint32_t mask,
			   size_t bytes);
enum ptx_did ptx_come(struct ptx_warp *w, struct ptx_queue *q, uint32_t group);
void ptx_commit(struct ptx_queue *q);

/* Lets one of the block's bulk copies come, drawn; PTX_AGAIN: there is none. */
enum ptx_did ptx_bulk_step(struct ptx_warp *w);

/* -- rooms of instructions -------------------------------------------------------------------- */

/* The function of an instruction by its words, NULL: not of this room; it may set `together`, bytes
 * and lanes. */
typedef ptx_do *ptx_find(struct ptx_insn *in);

ptx_find ptx_find_scalar; /* ptx_scalar.c: arithmetic, predicates, conversions */
ptx_find ptx_find_memory; /* ptx_memory.c: loads, stores, cp.async */
ptx_find ptx_find_flow;	  /* ptx_flow.c: branches, barriers, votes, shuffles */
ptx_find ptx_find_mma;	  /* ptx_mma.c: ldmatrix, mma.sync */
ptx_find ptx_find_wgmma;  /* ptx_wgmma.c: products of warpgroups, their fences and groups */
ptx_find ptx_find_bulk;	  /* ptx_bulk.c: mbarriers, bulk copies by tensor maps */

#endif
