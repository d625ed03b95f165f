/* sketch/sketch_int.h -- what rules and fills share: questions about a stage, and a chain
 * of steps that remembers its first failure, so that a rule reads as the list of its
 * steps.
 */
#ifndef HN_SKETCH_SKETCH_INT_H
#define HN_SKETCH_SKETCH_INT_H

#include "loopstate/state/intrin.h"
#include "sketch/sketch.h"

struct hn_structure { /* a row STRUCTURE of recipes.def */
	const char *name;
	int id;
	uint32_t caps;
	const char *tiling;
	const char *follow;
	int64_t innermost;
};

/* The recipe that serves the target, or NULL; its next rule (hone's own or Ansor's) and fill, in
 * their order, NULL past the last.  *at is where to look from: 0 at first, and behind the one found
 * afterwards.
 */
const struct hn_structure *hn_structure_of(const struct hn_target *target);
const struct hn_rule_ops *hn_structure_rule(const struct hn_structure *st, bool own,
					    uint32_t *at);
const struct hn_fill_ops *hn_structure_fill(const struct hn_structure *st, uint32_t *at);

/* Nodes and loads that no op may have with what is inlined into it: a chain of stencils would
 * triple each time, and of what loads more the analytic model knows no time
 * (costmodel/analytic_int.h). */
#define HN_LARGE_BODY 1024
#define HN_MANY_LOADS 47

/* Steps applied one after another; after a failure nothing more happens. */
struct hn_chain {
	const struct hn_state *s;
	struct hn_arena *a;
	bool failed;
};

void hn_chain_split(struct hn_chain *c, int32_t stage, int32_t iter, const int64_t *len,
		    uint32_t n_len);
void hn_chain_follow_split(struct hn_chain *c, int32_t stage, int32_t iter,
			   int32_t src_step, int32_t n_split);
void hn_chain_follow_fused_split(struct hn_chain *c, int32_t stage, int32_t iter,
				 const int64_t *src_step, uint32_t n_src, int32_t level);
void hn_chain_fuse(struct hn_chain *c, int32_t stage, int32_t first, uint32_t n);
void hn_chain_reorder(struct hn_chain *c, int32_t stage, const int64_t *order,
		      uint32_t n);
void hn_chain_annotate(struct hn_chain *c, int32_t stage, int32_t iter, enum hn_ann ann);
void hn_chain_pragma(struct hn_chain *c, int32_t stage, int32_t iter, const char *text);
void hn_chain_compute_at(struct hn_chain *c, int32_t stage, int32_t target, int32_t iter);
void hn_chain_inline(struct hn_chain *c, int32_t stage);
void hn_chain_root(struct hn_chain *c, int32_t stage);
void hn_chain_cache_write(struct hn_chain *c, int32_t stage, const char *scope);
void hn_chain_cache_read(struct hn_chain *c, int32_t stage, const char *scope,
			 int32_t reader);
void hn_chain_rfactor(struct hn_chain *c, int32_t stage, int32_t iter,
		      int32_t factor_iter);

void hn_chain_swizzle(struct hn_chain *c, int32_t stage, uint32_t row_dim, int64_t unit,
		      int64_t bits, int64_t shift);
void hn_chain_pipeline(struct hn_chain *c, int32_t stage, int32_t iter, int64_t stages,
		       enum hn_pipeline_kind kind);
void hn_chain_pack(struct hn_chain *c, int32_t stage, const int64_t *len);
void hn_chain_fragment(struct hn_chain *c, int32_t stage, const char *memory);
void hn_chain_tensorize(struct hn_chain *c, int32_t stage, const int64_t *iter, uint32_t n,
			const char *intrin);

/* Add (state of c, next) to the results unless c failed. */
void hn_chain_result(const struct hn_chain *c, int32_t next, struct hn_rule_results *ret);

const struct hn_op *hn_stage_op(const struct hn_state *s, int32_t stage);
bool hn_stage_has_reduce_iter(const struct hn_state *s, int32_t stage);
bool hn_stage_needs_tiling(const struct hn_state *s, int32_t stage);
bool hn_stage_has_cache_write(const struct hn_state *s, int32_t stage);

/* The SP steps that split loops of the stage, newest first; returns their count, at most
 * n_max written. */
uint32_t hn_stage_split_steps(const struct hn_state *s, int32_t stage, int32_t *ret,
			      uint32_t n_max);

/* Whether threads share a reduction of the stage, or of one attached to its loops. */
bool hn_stage_cross_thread_reduced(const struct hn_state *s, int32_t stage);
bool hn_stage_has_ann(const struct hn_state *s, int32_t stage, enum hn_ann ann);
bool hn_stage_name_ends(const struct hn_state *s, int32_t stage, const char *end);
bool hn_stage_inlineable(const struct hn_rule_ctx *ctx, const struct hn_state *s,
			 int32_t stage);

/* The one consumer that takes this stage's value element by element. */
bool hn_stage_matched_consumer(const struct hn_state *s, int32_t stage,
			       int32_t *ret_consumer);

/* Products of the loops' extents, unknown ones as 1. */
void hn_stage_work(const struct hn_state *s, int32_t stage, int64_t *ret_spatial,
		   int64_t *ret_reduce);

/* The same as a rule sees it: Ansor's do not know ragged extents (loopstate/dag/ragged.h). */
void hn_rule_work(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		  int64_t *ret_spatial, int64_t *ret_reduce);

/* Whether the list attribute `key` of the stage's op names that axis.  The copy out of a
 * cache write heeds no attributes: they belong to the computation. */
bool hn_stage_attr_names(const struct hn_state *s, int32_t stage, const char *key,
			 const char *axis);

/* Where step i's stage stands in the finished state. */
int32_t hn_stage_final_id(const struct hn_trace *t, uint32_t step, int32_t stage);

/* The multi-level tiling of rules tile and tile_fuse: c->s tiled at `stage`.  Writes the
 * step numbers of the spatial splits, in axis order, to ret_step[0..*ret_n). */
void hn_tile_stage(const struct hn_rule_ctx *ctx, struct hn_chain *c, int32_t stage,
		   int32_t ret_step[HN_DAG_MAX_ITERS], uint32_t *ret_n);

/* Fill in sk->hole from its trace. */
int hn_sketch_find_holes(struct hn_sketch *sk, const struct hn_dag *dag, int64_t longest,
			 struct hn_arena *a, struct hn_err *err) HN_NODISCARD;

/* fill/block_limits.c: whether a block of the target has room for what the state says of it, always so
 * where there are no blocks; whether one is a thread that has a core to itself. */
enum hn_verdict hn_block_verdict(const struct hn_fill_ctx *ctx, const struct hn_state *s);
bool hn_block_is_core(const struct hn_target *target);

/* The sketch's history with lengths len[n_hole] in its holes, replayed. */
enum hn_verdict hn_sketch_close(const struct hn_sketch *sk, const int64_t *const *len,
				struct hn_arena *a, const struct hn_state **ret);

/* The dimension of the stage's value that panels would be cut along, and *ret_reader the
 * one stage that reads it, tiled; -1 where packing it has no sense: no reuse, not along the
 * reader's lanes, too large. */
int32_t hn_pack_panel(const struct hn_state *s, int32_t stage, int32_t *ret_reader);

/* Whether a copy of the stage, of which `load` is what op reads, pays for being made. */
bool hn_pack_pays(const struct hn_state *s, int32_t stage, const struct hn_op *op,
		  const struct hn_expr *load);

/* The last spatial axis that iterates: the tiles of a sketch end in it; -1 = none does. */
int32_t hn_lane_axis(const struct hn_op *op);

/* Whether the stage is the copy that a PK made. */
bool hn_stage_is_packed(const struct hn_state *s, int32_t stage);

/* Block lengths that stand for open ones, for a stage that has a panel. */
const int64_t *hn_pack_provisional(const struct hn_state *s, int32_t stage,
				   struct hn_arena *a);

/* The hole of PK step i of t; s the state before it, before[] the holes before it. */
struct hn_hole hn_pack_hole(const struct hn_state *s, const struct hn_trace *t,
			    uint32_t i, const struct hn_hole *before, uint32_t n_before,
			    struct hn_arena *a);

/* Draw what a plan holds for it (struct hn_pack); all = the holes of the sketch. */
void hn_pack_draw(const struct hn_hole *hole, const struct hn_hole *all,
		  struct hn_rng *rng, int64_t *ret);

/* The block lengths of hole h by len[n_hole], as a plan holds them; and back, NULL when the
 * blocks are not made of the tiles' parts. */
const int64_t *hn_pack_blocks(const struct hn_sketch *sk, uint32_t h,
			      const int64_t *const *len, struct hn_arena *a);
const int64_t *hn_pack_parts(const struct hn_sketch *sk, uint32_t h,
			     const int64_t *blocks, const int64_t *const *len,
			     struct hn_arena *a);

/* Divisors of n that are at most `most`, ascending, into ret[0..cap); their count. */
uint32_t hn_divisors(int64_t n, int64_t most, int64_t *ret, uint32_t cap);

/* n as an ordered product of n_part factors, uniform over all of them. */
void hn_factor_uniform(int64_t n, uint32_t n_part, struct hn_rng *rng, int64_t *ret);

/* The loop of the stage that vector instructions would run: its innermost one that
 * iterates, when that is spatial, free and has nobody attached; -1 otherwise. */
int32_t hn_vector_iter(const struct hn_state *s, int32_t stage);

/* The op's axis that the loop is a part of; -1 = several, fused. */
int32_t hn_iter_axis(const struct hn_stage *st, int32_t iter);

/* The op's axis that dimension d of the stage's instruction was cut from; -1 = none. */
int32_t hn_intrin_axis(const struct hn_stage *st, enum hn_intrin_dim d);

/* The splits that come before an instruction on tiles: of terms, columns and rows. */
#define HN_INTRIN_TILE_SPLITS 3

/* How many splits, the stage's first, made the loops of its instruction; and the step of the one
 * that cut the axis, -1 = none did. */
uint32_t hn_intrin_splits(const struct hn_stage *st);
int32_t hn_intrin_split_step(const struct hn_state *s, int32_t stage, int32_t axis);

/* Vector lanes of the stage's element type, at least 1. */
int64_t hn_stage_lanes(const struct hn_state *s, int32_t stage,
		       const struct hn_target *t);

/* The most parallel iterations worth having, and whether a loop shares out well. */
int64_t hn_parallel_limit(const struct hn_target *t);

#endif
