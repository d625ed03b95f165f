/* loopstate/state/derive.h -- the dags that cache_write, cache_read, rfactor and pack make.
 *
 * Each has one op more than the old: ops from the new one on move up by one, and loads
 * are rewritten.  Ops that read nothing that moved are shared with the old dag. Arguments
 * are right already (the steps' checks).  Source: TVM Schedule::cache_write, cache_read,
 * rfactor (schedule_dataflow_rewrite.cc), redone on plain expressions.
 */
#ifndef HN_LOOPSTATE_STATE_DERIVE_H
#define HN_LOOPSTATE_STATE_DERIVE_H

#include "loopstate/state/state.h"

/* Op s: the computation as "<name>.<scope>" with spatial axes "<axis>.c"; op s + 1: a
 * copy under the old name and id. */
const struct hn_dag *hn_derive_cache_write(const struct hn_state *state, int32_t s,
					   const char *scope, struct hn_arena *a);

/* Op s + 1: a copy of s's first output, read by reader[0..n) instead of s. */
const struct hn_dag *hn_derive_cache_read(const struct hn_state *state, int32_t s,
					  const char *scope, const int64_t *reader,
					  uint32_t n, struct hn_arena *a);

/* Op s: "<name>.rf", the reduction with iterator `iter` of the stage made spatial axis
 * `position`; op s + 1: "<name>.repl", which reduces that axis, under the old id.
 * Splits that do not divide become a condition; a hole counts as 1 (the provisional
 * length that sketches show). */
const struct hn_dag *hn_derive_rfactor(const struct hn_state *state, int32_t s,
				       int32_t iter, uint32_t position,
				       struct hn_arena *a);

/* Op s + 1: "<name>.pack", op s re-tiled, read by all readers of s instead of s: its
 * dimensions are the blocks ceil(extent / len[d]) of each dimension of s in order, then
 * the insides len[d] of those with len[d] > 1.  Elements beyond s's extent are 0. */
const struct hn_dag *hn_derive_pack(const struct hn_state *state, int32_t s,
				    const int64_t *len, struct hn_arena *a);

/* touched[v] = variable v of the stage is made of, or makes, the factored one. */
void hn_derive_touched(const struct hn_stage *st, int32_t var, bool *touched);

/* Shared by the files that implement the above. */

/* A dag with room for one op more than `dag`: its ops from `at` on moved up by one and,
 * with their loads and those of `reader`s of `at - 1`, redirected.  Slot `at` is for the
 * caller to fill, other slots may be replaced.  *ret_op is the table. */
struct hn_dag *hn_derive_shift(const struct hn_state *state, int32_t at,
			       const int64_t *reader, uint32_t n_reader,
			       const struct hn_op ***ret_op, struct hn_arena *a);

/* The op with `map` done to its bodies, or its reduction's sources and condition. */
const struct hn_op *hn_derive_map(const struct hn_op *op, hn_expr_map_fn map, void *ctx,
				  struct hn_arena *a);

/* An id nobody in `dag` has: `base`, or base$2, base$3, ... */
const char *hn_derive_id(const struct hn_dag *dag, const char *base, struct hn_arena *a);

/* A name nobody in `dag` has: <base><suffix>, <base>.d<suffix>, ... */
const char *hn_derive_name(const struct hn_dag *dag, const char *base, const char *suffix,
			   struct hn_arena *a);

/* "<a><b>" */
const char *hn_derive_join(const char *x, const char *y, struct hn_arena *a);

/* n axes named ax0.. running over `shape`. */
struct hn_axis *hn_derive_axes(const int64_t *shape, uint32_t n, uint32_t n_room,
			       struct hn_arena *a);

/* The load of output `out` of op `op` at index[0..n). */
const struct hn_expr *hn_derive_load(int32_t op, uint32_t out, uint8_t dtype,
				     const struct hn_expr *const *index, uint32_t n,
				     struct hn_arena *a);

#endif
