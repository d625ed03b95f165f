/* lower/prove/poly_isolate.h -- iterations of a loop by its place in the tree: which of them are
 * full, that is cut short by no guard. */
#ifndef HN_LOWER_PROVE_POLY_ISOLATE_H
#define HN_LOWER_PROVE_POLY_ISOLATE_H

#include "lower/prove/poly.h"

/* Append the loop's value as a sum of its digits. */
void hn_poly_put_loop(const struct hn_poly *p, int32_t loop, struct hn_buf *ret);

/* Append the turn of its loop i in which the statement runs: the value, less what it is ahead. */
void hn_poly_put_turn(const struct hn_poly *p, const struct hn_poly_stmt *s, uint32_t i,
		      struct hn_buf *ret);

/* { S[digits] -> [turns of the statement's first n loops] }, on its domain. */
isl_map *hn_poly_prefix(const struct hn_poly *p, const struct hn_poly_stmt *s, uint32_t n);

/* { [outer loops, v] : v in [0, extent) and at `outer` every v runs, for all statements
 * [first, end) }, v being the loop at `depth`.  NULL when that is everywhere or nowhere, and
 * after a failure, which sets *failed. */
isl_set *hn_poly_full_iterations(const struct hn_poly *p, uint32_t first, uint32_t end,
				 uint32_t depth, int64_t extent, bool *failed);

/* That set as the option of a band: { isolate[[outer] -> [v]] }; consumes it. */
isl_set *hn_poly_isolate_option(isl_set *full);

#endif
