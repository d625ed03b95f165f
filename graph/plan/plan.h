/* graph/plan/plan.h -- where each tensor of a program lies in one block of memory.
 *
 * A program is a list of steps.  A tensor is written by one step and read up to a later one; two
 * that are alive at the same step may not share bytes.  The plan gives each an offset, once and
 * for all, so that a run asks nobody for memory.
 *
 * Some tensors are others' bytes.  A slice (a part of a concatenation, a reshape) always is; it
 * lives as long as what it is a part of, and the other way round.  A tensor in place of another
 * takes the bytes of one that dies at the step that writes it, where that is possible and pays.
 *
 * Method: tensors that share bytes become a block; blocks are put one by one at the lowest, or
 * the tightest, gap among those placed before that are alive with them.  This is tried in
 * several orders, the largest first among them, and the smallest answer taken.  The idea is that
 * of XNNPACK and TensorFlow Lite (Pisarchyk and Lee, arXiv 2001.03288).
 */
#ifndef HN_GRAPH_PLAN_PLAN_H
#define HN_GRAPH_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

#define HN_PLAN_ALIGN 64
#define HN_PLAN_MAX_TENSORS (1u << 20)

enum hn_plan_alias {
	HN_PLAN_OWN,	  /* bytes of its own */
	HN_PLAN_IN_PLACE, /* may take the place of `of`: the step that writes it reads each
			   * element of `of` no later than it writes the one that lies there */
	HN_PLAN_SLICE	  /* the bytes of `of` from `at` on */
};

struct hn_plan_tensor {
	uint64_t bytes;
	uint32_t first, last; /* steps: it is written in `first`, and read up to `last` */
	enum hn_plan_alias alias;
	uint32_t of; /* another tensor's number, unless OWN */
	uint64_t at; /* of a slice, in bytes */
};

struct hn_plan {
	uint64_t *
		offset; /* [n] in the block of memory; multiples of HN_PLAN_ALIGN but for slices */
	bool *in_place;	     /* [n] it has taken the place of `of` */
	uint64_t peak_bytes; /* of the memory */
	uint64_t
		bound_bytes; /* no plan of such blocks needs less: the most that is alive at one
			       * step, what shares bytes counted once */
	const char *order; /* the winner's, for people: "largest first, lowest gap" */
};

/* Plan n tensors; the result lives in the arena.  HONE_E_INVALID names the tensor: it dies
 * before it is written, a slice goes past its tensor, aliases go in a circle.  HONE_E_QUOTA: too
 * many of them, or more than 2^62 bytes.  Equal input, equal plan. */
int hn_plan_make(const struct hn_plan_tensor *tensor, uint32_t n, struct hn_arena *a,
		 struct hn_plan *ret, struct hn_err *err) HN_NODISCARD;

#endif
