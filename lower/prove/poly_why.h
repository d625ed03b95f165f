/* lower/prove/poly_why.h -- which dependences the order of a loop tree breaks, in words. */
#ifndef HN_LOWER_PROVE_POLY_WHY_H
#define HN_LOWER_PROVE_POLY_WHY_H

#include "lower/prove/deps.h"

/* Append a line for each dependence that does not go forward in time, or that a parallel or
 * vector loop carries: its class, the two statements, the loop that carries it, and a pair of
 * instances.  `d` is hn_deps_of_tree's.  Reductions that may be reordered are only held
 * against concurrent loops.  Returns the number of lines; isl's errors stay in its ctx. */
uint32_t hn_poly_why(const struct hn_deps *d, struct hn_buf *ret);

#endif
