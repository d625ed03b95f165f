/* lower/device/device.h -- a device program: what a machine with blocks and threads runs.
 *
 * A loop tree is a nest; a grid is not.  On a GPU the loops that are bound to block and thread
 * numbers are gone, threads fill shared memory together and wait for each other, and a sum over
 * threads is combined in steps.  Here all of that is explicit, so that an emitter only prints, and
 * a verifier and an interpreter judge what is printed.  An accelerator without threads is the same
 * program with one thread, more memories and copies between them.
 *
 * A program is a list of kernels, run one after the other.  Each is code that every thread of
 * every block runs: loops of constant length, conditions, scalars, stores, copies, barriers.
 * Programs are immutable, in an arena.
 */
#ifndef HN_LOWER_DEVICE_DEVICE_H
#define HN_LOWER_DEVICE_DEVICE_H

#include "loopstate/nest/looptree.h"
#include "loopstate/nest/memory.h"
#include "loopstate/state/intrin.h"
#include "target/target.h"

/* Elements 0 to n_elem - 1, row-major as the caller likes: indices are flat. */
struct hn_device_buffer {
	const char *name; /* unique in the program: letters, digits, '_', '.' */
	uint8_t dtype;	  /* enum hn_dtype */
	uint8_t memory;	  /* enum hn_memory, one of those that device programs know */
	int64_t n_elem;
	int32_t arg; /* GLOBAL: position among the arguments; -1: workspace */
};

/* Variables of a kernel: slots of its expressions (HN_EXPR_VAR).  Blocks and threads are numbered
 * in three dimensions; loops and scalars have the slots behind, each its own. */
enum { HN_DEVICE_BLOCK = 0, HN_DEVICE_THREAD = 3, HN_DEVICE_FIRST = 6 };

enum hn_device_kind {
	HN_DEVICE_SEQ,	   /* child[0], then child[1], ... */
	HN_DEVICE_LOOP,	   /* for slot in 0 .. extent - 1: the children */
	HN_DEVICE_IF,	   /* where e holds: the children */
	HN_DEVICE_LET,	   /* slot = e, for what follows in the same list, and below */
	HN_DEVICE_STORE,   /* buffer[at] = e */
	HN_DEVICE_COPY,	   /* a box of elements, from a buffer to another */
	HN_DEVICE_BARRIER, /* no thread of the block goes on before all are here */
	HN_DEVICE_COMMIT,  /* a thread's asynchronous copies since its last one are a group */
	HN_DEVICE_WAIT,	   /* a thread goes on when all its groups but the last `extent` are there */
	HN_DEVICE_MMA,	   /* a warp multiplies two matrices and adds to a third: device_warp.h */
	HN_DEVICE_LDMATRIX, /* a warp loads matrices of 8 rows: device_warp.h */
	HN_DEVICE_WGMMA,    /* a warpgroup multiplies matrices in shared memory: device_wgmma.h */
	HN_DEVICE_SETTLE,   /* what open products of a warpgroup add to is there */
	HN_DEVICE_FENCE,    /* what a thread has written to shared memory, products of warpgroups
			     * find there behind the next barrier */
	HN_DEVICE_MBARRIER, /* the words of roles: device_role.h */
	HN_DEVICE_EXPECT,
	HN_DEVICE_BULK,
	HN_DEVICE_ARRIVE,
	HN_DEVICE_AWAIT,
	HN_DEVICE_ROLE,
	HN_DEVICE_N_KIND
};

enum hn_device_how {
	HN_DEVICE_IN_ORDER,
	HN_DEVICE_UNROLLED, /* in order */
	HN_DEVICE_ROLLED,   /* in order, and seldom: not worth much code */
	HN_DEVICE_LANES,    /* all at once, as lanes of one instruction where there is one */
	HN_DEVICE_N_HOW
};

#define HN_DEVICE_MAX_DIM 8 /* of a copy */
#define HN_DEVICE_MOST_GROUPS 64 /* that a wait leaves on their way */

/* Expressions: LOAD's ref is a buffer of the program, its one argument the flat index; a LET's
 * slot is one of the kernel's.  Indices are computed in 64 bits and do not wrap. */
struct hn_device_node {
	uint8_t kind;		  /* enum hn_device_kind */
	uint8_t how;		  /* LOOP: enum hn_device_how; ROLE: enum hn_device_role */
	int32_t slot;		  /* LOOP, LET */
	/* STORE: of an element of global memory into shared memory, which is there when the thread
	 * has waited for it, and for other threads behind a barrier after that */
	bool async;
	/* LOOP: at least 1; WAIT: groups; SETTLE: 1 = but the last product; MBARRIER: arrivals of a
	 * phase; EXPECT: bytes; ROLE: registers of each thread */
	int64_t extent;
	const struct hn_expr *e;  /* IF, ROLE: a bool; LET, STORE: of any type; AWAIT: the parity */
	int32_t buffer;		  /* STORE, COPY, MMA, LDMATRIX, WGMMA, SETTLE, BULK: what is written */
	const struct hn_expr *at; /* and its flat index; MBARRIER, EXPECT, ARRIVE, AWAIT: whose */
	const struct hn_device_copy *copy;
	const struct hn_device_warp *warp; /* MMA, LDMATRIX, WGMMA, SETTLE */
	const struct hn_device_bulk *bulk;
	uint32_t n_child; /* SEQ, LOOP, IF, ROLE */
	const struct hn_device_node *const *child;
};

/* Element i of the box goes from from_at + sum i_d * from_stride_d to at + sum i_d * stride_d. */
struct hn_device_copy {
	int32_t from;
	const struct hn_expr *from_at;
	uint32_t n_dim;
	int64_t extent[HN_DEVICE_MAX_DIM], stride[HN_DEVICE_MAX_DIM],
		from_stride[HN_DEVICE_MAX_DIM];
};

/* How a factor of a warpgroup's product lies in shared memory (device_wgmma.h). */
struct hn_device_matrix {
	int64_t width; /* bytes of its rows: 32, 64 or 128 */
	bool across;   /* a row goes along rows or columns of the result, else along terms */
	int64_t next;  /* across: bytes from where a row's width ends to the next rows or columns */
};

/* What a warp or a warpgroup does together, wherever all of its threads come by: no condition is
 * around it.  Each thread has its own values of the indices. */
struct hn_device_warp {
	const struct hn_intrin *intrin; /* MMA, WGMMA */
	int32_t from[2];		/* MMA, WGMMA: left, right; LDMATRIX: one, in shared memory */
	const struct hn_expr *from_at[2];
	uint32_t n_matrix; /* LDMATRIX: 1, 2 or 4 */
	bool trans;	   /* LDMATRIX: each is transposed */
	/* WGMMA: columns of the product; how often it takes the instruction's terms */
	int64_t columns, steps; /* SETTLE: columns alone */
	bool open; /* WGMMA: nobody waits for it before a SETTLE of the same results */
	struct hn_device_matrix lies[2];
};

#define HN_DEVICE_MAP_DIM 5 /* of a tensor map, at most */
#define HN_DEVICE_MOST_MAPS 64 /* as many as a module has (proto/gpu_module.h) */

/* Where the boxes of a buffer lie that one bulk copy brings: the last dimension side by side. */
struct hn_device_map {
	const char *name; /* unique among the program's maps */
	int32_t buffer;	  /* in global memory */
	uint32_t n_dim;
	int64_t size[HN_DEVICE_MAP_DIM], stride[HN_DEVICE_MAP_DIM], box[HN_DEVICE_MAP_DIM];
	int64_t swizzle; /* bytes of a row in which chunks change places; 0: none do */
};

/* BULK: the box of that map from `from` on; which mbarrier is told. */
struct hn_device_bulk {
	int32_t map;
	const struct hn_expr *from[HN_DEVICE_MAP_DIM];
	int32_t mbarrier;
	const struct hn_expr *mbarrier_at;
};

/* How many buffers it reads. */
static inline int hn_device_n_from(const struct hn_device_node *n)
{
	return n->warp == NULL || n->kind == HN_DEVICE_SETTLE ? 0
	       : n->kind == HN_DEVICE_LDMATRIX		      ? 1
							      : 2;
}

struct hn_device_kernel {
	const char *name;
	int64_t grid[3], block[3]; /* blocks; threads of each: x, y, z; at least 1 */
	uint32_t n_slot;	   /* slots are below this */
	const uint8_t *type;	   /* [n_slot] enum hn_dtype of each */
	const struct hn_device_node *body;
};

struct hn_device {
	uint32_t n_buffer;
	const struct hn_device_buffer *buffer;
	uint32_t n_map;
	const struct hn_device_map *map;
	uint32_t n_kernel;
	const struct hn_device_kernel *kernel;
};

/* The loop tree as a device program; arguments are the dag's, in its order.  HONE_E_UNSUPPORTED
 * names the stage and what of it has no form here (sizes that are parameters, for one).  What it
 * gives is right when the tree is legal and hn_device_verify takes it.  Pure. */
int hn_device_place(const struct hn_looptree *t, struct hn_arena *a,
		    const struct hn_device **ret, struct hn_err *err) HN_NODISCARD;

/* As text, and back: device_text.c has the grammar.  Printing what was read gives the same text.
 * HONE_E_INVALID with "what:line: ..." */
void hn_device_print(const struct hn_device *d, struct hn_buf *buf);
int hn_device_parse(const char *what, const char *text, size_t n, struct hn_arena *a,
		    const struct hn_device **ret, struct hn_err *err) HN_NODISCARD;

#endif
