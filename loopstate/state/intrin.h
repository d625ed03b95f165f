/* loopstate/state/intrin.h -- instructions that loops can be given to (intrins.def).
 *
 * An instruction is data: what it computes, and how it is called. The step TE names one for
 * loops of a stage; nothing else in hone knows any of them by name.
 */
#ifndef HN_LOOPSTATE_STATE_INTRIN_H
#define HN_LOOPSTATE_STATE_INTRIN_H

#include "loopstate/dag/dag.h"

/* Its loops: rows and columns of the result, groups of terms, the terms of a group.  A vector's
 * instruction has the last one alone: the rest of its loops are the tile's that holds it. */
enum hn_intrin_dim {
	HN_INTRIN_M,
	HN_INTRIN_N,
	HN_INTRIN_K,
	HN_INTRIN_TERMS,
	HN_INTRIN_DIMS
};

/* What LLVM has one of an instruction for. */
enum hn_intrin_of {
	HN_INTRIN_OF_WIDTH, /* each width of vectors: the name ends in ".128", ".256" or ".512" */
	HN_INTRIN_OF_TYPES, /* all: the types of the sum's vector and of a factor's say which */
	HN_INTRIN_OF_ITSELF, /* it: its name is whole */
	HN_INTRIN_OF_WARP, /* the same, and the threads of a warp do it together */
	HN_INTRIN_OF_WARPGROUP /* it is no function of LLVM's; four warps do it together */
};

struct hn_intrin {
	const char *name;	/* in records */
	const char *feature[2]; /* one that a target needs; NULL: no other.  Of a warp's
				 * instructions none: only device programs have them */
	enum hn_dtype sum, left, right;
	int64_t most[HN_INTRIN_DIMS]; /* iterations; 0 = it has no such loop.  All of the terms
				       * are taken, of the others up to so many */
	uint8_t added; /* to each byte of the left factor: 0 or 128 */
	const char *llvm; /* its name there, */
	enum hn_intrin_of of; /* which has an end, or not */
	const char *asks; /* an attribute that the task must have; NULL: none */
};

uint32_t hn_intrin_count(void);
const struct hn_intrin *hn_intrin_at(uint32_t i);
const struct hn_intrin *hn_intrin_of(const char *name); /* NULL: there is none */

static inline int64_t hn_intrin_terms(const struct hn_intrin *in)
{
	return in->most[HN_INTRIN_TERMS];
}

/* It works on whole tiles in registers of their own. */
static inline bool hn_intrin_is_tile(const struct hn_intrin *in)
{
	return in->most[HN_INTRIN_M] > 0;
}

/* Threads do it together (lower/device/device_warp.h): those of a warp, or of a warpgroup. */
static inline bool hn_intrin_is_warpgroup(const struct hn_intrin *in)
{
	return in->of == HN_INTRIN_OF_WARPGROUP;
}

static inline bool hn_intrin_is_warp(const struct hn_intrin *in)
{
	return in->of == HN_INTRIN_OF_WARP || hn_intrin_is_warpgroup(in);
}

/* Tiles that registers hold, and how many of them may be results: one of each factor is needed. */
#define HN_INTRIN_TILES 8
#define HN_INTRIN_MEMORY "tile" /* what these registers are called (loopstate/nest/memories.def) */
#define HN_INTRIN_RESULTS (HN_INTRIN_TILES - 2)

/* The loops it has, in the order of the enum: their number, and the i-th. */
uint32_t hn_intrin_n_dim(const struct hn_intrin *in);
enum hn_intrin_dim hn_intrin_dim(const struct hn_intrin *in, uint32_t i);
const char *hn_intrin_dim_name(enum hn_intrin_dim d);

/* Whether a loop of so many iterations can be its dimension d. */
bool hn_intrin_takes(const struct hn_intrin *in, enum hn_intrin_dim d, int64_t extent);

/* NULL when the op is a sum of products as the instruction makes, else why not: a static sentence.
 * root: the task's dag, which may forbid what the instruction does. */
const char *hn_intrin_why_not(const struct hn_intrin *in, const struct hn_dag *root,
			      const struct hn_op *op);

/* What the op's factors are before they are converted: ret[0] the left one, ret[1] the right one.
 * Each is a load, or a load under a condition whose other side is zero. False where
 * hn_intrin_why_not says why. */
bool hn_intrin_factors(const struct hn_intrin *in, const struct hn_op *op,
		       const struct hn_expr *ret[2]);

/* Whether some instruction could be given a sum of the task in which it takes subnormal numbers for
 * zero.  Then what rounds to bfloat16 may do so, too. */
bool hn_dag_may_flush(const struct hn_dag *dag);

#endif
