/* graph/plan/plan_int.h -- what the planner's files share: blocks, which are tensors that share
 * bytes, seen from outside. */
#ifndef HN_GRAPH_PLAN_PLAN_INT_H
#define HN_GRAPH_PLAN_PLAN_INT_H

#include "graph/plan/plan.h"

struct plan_block {
	uint64_t bytes;	      /* a multiple of HN_PLAN_ALIGN */
	uint32_t first, last; /* steps */
	uint32_t id;
	uint64_t busy; /* the most bytes that are alive at a step of its life */
};

/* Who may take another's place. */
enum plan_sharing {
	PLAN_WHOLE, /* who fills its whole block: no byte waits for it */
	PLAN_ANY,   /* who fits */
	PLAN_NEVER,
	PLAN_N_SHARING
};

struct plan_blocks {
	uint32_t n;
	struct plan_block *block; /* [n], by id */
	uint32_t *of;		  /* [tensors] */
	uint64_t *at;		  /* [tensors] offset in the block */
	bool *in_place;		  /* [tensors] */
	uint64_t bound_bytes;
};

/* plan_alias.c: the blocks of these tensors. */
int plan_alias(const struct hn_plan_tensor *tensor, uint32_t n, enum plan_sharing sharing,
	       struct hn_arena *a, struct plan_blocks *ret,
	       struct hn_err *err) HN_NODISCARD;

/* plan_busy.c: fill each block's `busy`, and the bound. */
void plan_busy(struct plan_blocks *b, struct hn_arena *a);

/* plan_pack.c: orders of placing, and one run of it. */
uint32_t plan_n_order(void);
const char *plan_order_name(uint32_t order);

/* Place the blocks: offset[n] by id.  Returns the bytes that they take; *work grows by the
 * neighbours looked at. */
uint64_t plan_pack(const struct plan_blocks *b, uint32_t order, struct hn_arena *a,
		   uint64_t *offset, uint64_t *work);

#endif
