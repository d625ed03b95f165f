/* loopstate/nest/bounds.h -- how much of each tensor a loop nest needs, and so how far each loop
 * runs.
 *
 * Regions are boxes: per axis [min, min + extent), min an expression over the loops outside
 * the attach point, extent a constant.  Exact for affine accesses with unit strides; an
 * over-estimate otherwise, never under, and never more than the op's own domain's extent.  A
 * box may stick out of the domain at an edge: the loop tree then carries a guard.  Where size
 * parameters decide extents (size.h), boxes are those of the largest sizes, and guarded.
 *
 * Loop ids (the slots of loop space): iterator i of stage s is first_loop[s] + i.
 * Source: TVM ComputeDAG::InferBound, redone on boxes.
 */
#ifndef HN_LOOPSTATE_NEST_BOUNDS_H
#define HN_LOOPSTATE_NEST_BOUNDS_H

#include "loopstate/state/state.h"

struct hn_region {
	const struct hn_expr *min; /* loop space */
	int64_t extent;
};

struct hn_stage_bounds {
	const struct hn_region *axis; /* [axes of the op]: spatial as needed, reduction in full */
	const int64_t *iter_extent;   /* [n_iter] */
	const struct hn_expr *const *axis_value; /* [axes]: the axis in loop space, min included */
	uint32_t n_guard;             /* conjuncts, loop space booleans: false = nothing to do */
	const struct hn_expr *const *guard; /* splits that do not divide; boxes past the domain */
};

struct hn_bounds {
	uint32_t n_stage;
	const struct hn_dag *dag;	      /* the state's, inlined (loopstate/state/inline.h) */
	const int32_t *first_loop;            /* [n_stage] */
	const struct hn_stage_bounds *stage;  /* inlined stages and placeholders: zeroed */
};

/* Infer all of it, consumers first.
 *
 *   s   a concrete state (HONE_E_INVALID otherwise, also when a stage is attached where its
 *       consumers are not all inside)
 *
 * Cost O(stages * iters * accesses).  Pure: same state, same bytes.
 */
int hn_bounds_infer(const struct hn_state *s, struct hn_arena *a, const struct hn_bounds **ret,
		    struct hn_err *err) HN_NODISCARD;

/* The state with every iterator's extent (and min) filled in: what Ansor prints after bound
 * inference. */
const struct hn_state *hn_bounds_apply(const struct hn_state *s, const struct hn_bounds *b,
				       struct hn_arena *a);

/* Both at once, for who needs no more than extents: axis values and guards are made only where
 * a region depends on them.  Errors as of hn_bounds_infer; what is wrong with a stage whose values
 * nobody needs is left to that. */
int hn_bounds_extents(const struct hn_state *s, struct hn_arena *a, const struct hn_state **ret,
		      struct hn_err *err) HN_NODISCARD;

#endif
