/* lower/build/sample.h -- a sample of a program's outputs, computed as the program computes
 * them.
 *
 * The naive program takes minutes for all answers of a large computation. A few small boxes of
 * each output, with the intermediates that they need, take a moment. What is needed follows
 * backwards from the outputs, by the ranges of the indices (bounds inference as in Halide,
 * Ragan-Kelley et al. 2013). Each nest runs over its box.
 */
#ifndef HN_LOWER_BUILD_SAMPLE_H
#define HN_LOWER_BUILD_SAMPLE_H

#include "loopstate/nest/looptree.h"

#define HN_SAMPLE_MAX 8 /* places */

/* Trees that each compute a box of every output: the first at all dimensions' beginnings, the
 * second at their ends, the others anywhere.  t: a dag's as it is written, no step taken.  Each
 * runs statements about `most` times, and uses that for boxes as large as they may be.  Returns
 * how many; 0 where even one element takes more, or sizes are parameters.  In `a`; pure. */
uint32_t hn_sample(const struct hn_looptree *t, double most, struct hn_arena *a,
		   const struct hn_looptree *ret[HN_SAMPLE_MAX]);

#endif
