/* loopstate/nest/bounds_loops.h -- from the extents of a stage's axes to its loops, and back.
 *
 * Internal to bounds inference.  Forward: relations make loop extents out of axis
 * extents, by TVM's rules.  Back: axis values out of loop variables. */
#ifndef HN_LOOPSTATE_NEST_BOUNDS_LOOPS_H
#define HN_LOOPSTATE_NEST_BOUNDS_LOOPS_H

#include "loopstate/expr/simplify.h"
#include "loopstate/state/state.h"

struct hn_stage_loops {
	int64_t *extent;	      /* [variables of the stage] */
	const int64_t *iter_extent;   /* [n_iter] */
	const struct hn_expr **value; /* [n_axis] 0-based value of the axis, loop space; NULL =
				       * not asked for yet */
	uint32_t n_guard;
	const struct hn_expr **guard; /* conjuncts; room for 2 * n_axis more */
};

/* Extents of the loops of a stage whose axes have these extents.  Writes the range of each
 * loop to loop[first_loop ..].  HONE_E_INVALID when the relations do not make sense. */
int hn_stage_extents(const struct hn_state *state, uint32_t i_stage,
		     const int64_t *axis_extent, uint32_t n_axis, int32_t first_loop,
		     struct hn_span *loop, struct hn_arena *a, struct hn_stage_loops *ret,
		     struct hn_err *err) HN_NODISCARD;

/* Then the values of its axes and the guards.  `loop` has n_loop slots.  Errors as above. */
int hn_stage_values(const struct hn_state *state, uint32_t i_stage, uint32_t n_axis,
		    int32_t first_loop, const struct hn_span *loop, uint32_t n_loop,
		    struct hn_arena *a, struct hn_stage_loops *s,
		    struct hn_err *err) HN_NODISCARD;

#endif
