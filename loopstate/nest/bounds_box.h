/* loopstate/nest/bounds_box.h -- intervals with a symbolic lower end: min + [0, width].
 *
 * The sides of the boxes of bounds.h.  `min` is an expression over loops that stand
 * still; every other loop runs over its whole range.  Sound, never an under-estimate;
 * exact for sums of distinct loops with coefficients of one stride. */
#ifndef HN_LOOPSTATE_NEST_BOUNDS_BOX_H
#define HN_LOOPSTATE_NEST_BOUNDS_BOX_H

#include "loopstate/dag/dag.h"
#include "loopstate/expr/simplify.h"

struct hn_interval {
	const struct hn_expr *min; /* loop space, fixed loops only */
	int64_t width;		   /* >= 0; last value minus first */
};

struct hn_interval_env {
	const struct hn_span *loop; /* [n_loop] values of each loop */
	const bool *fixed;	    /* [n_loop] the loop stands still */
	uint32_t n_loop;
	const struct hn_sizes *sizes; /* NULL = none: a size runs over its range */
};

/* All values of e while the loops that are not fixed run.  False when nothing is known.
 */
bool hn_interval_of(const struct hn_expr *e, const struct hn_interval_env *env,
		    struct hn_arena *a, struct hn_interval *ret);

/* The same for an index of a load: `e` is over the reader's axes, value[k] the k-th axis
 * over loops.  A remainder in the index is taken of the interval of its operand, as TVM
 * does, not of the operand's terms: where that crosses a multiple of the divisor it is
 * everything from 0 to divisor - 1, also if the terms that run were multiples of it. */
bool hn_interval_of_index(const struct hn_expr *e, const struct hn_expr *const *value,
			  uint32_t n_value, const struct hn_interval_env *env,
			  struct hn_arena *a, struct hn_interval *ret);

/* The smallest interval that holds both; false when their lower ends can not be compared.
 */
bool hn_interval_union(struct hn_interval p, struct hn_interval q,
		       const struct hn_interval_env *env, struct hn_arena *a,
		       struct hn_interval *ret);

#endif
