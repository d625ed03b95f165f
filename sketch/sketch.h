/* sketch/sketch.h -- program structures (sketches) and their completion.
 *
 * A sketch is a trace with holes.  Rules derive them stage by stage, from the last to the
 * first, breadth first; the ordered recipe of a target family is a row list in
 * recipes.def, the only place where order lives.  Fills then make a complete program at
 * random, legally.  Source: Ansor (OSDI'20) sections 4.1 and 4.2, and TVM's code of it; where
 * hone does otherwise, docs/ansor-differences.md says so.
 */
#ifndef HN_SKETCH_SKETCH_H
#define HN_SKETCH_SKETCH_H

#include "base/rng.h"
#include "base/verdict.h"
#include "loopstate/state/state.h"
#include "loopstate/state/step.h"
#include "target/target.h"

#define HN_MAX_INNERMOST 64 /* longest innermost tile and vector loop; Ansor's default */

/* What a split with open lengths is for. */
enum hn_hole_role {
	HN_HOLE_SPATIAL, /* a spatial axis of a multi-level tiling */
	HN_HOLE_REDUCE,	 /* a reduction axis of one */
	HN_HOLE_RFACTOR, /* the split whose part becomes a spatial axis */
	HN_HOLE_PACK,	 /* no split: the blocks of a packed operand */
	HN_HOLE_PLAIN	 /* any other split */
};

/* A packed operand, the stage of whose copy is the hole's.  Its lengths in a plan count
 * parts of the tiling of its reader, from the innermost; 0 = blocks of one, more than
 * there are = the whole dimension (sketch/pack.c). */
struct hn_pack {
	bool constant; /* the copy is made once, before the first call */
	int32_t panel;	       /* the dimension that becomes the width of a panel */
	const int64_t *extent; /* [n_len] of the operand */
	const int32_t *tile;   /* [n_len] the hole that tiles it; -1 = not blocked */
	const int64_t *unit;   /* [n_len] what the tiling's parts count: 1, or an instruction's
				* rows, columns or groups */
	const bool *whole;     /* [n_len] kept whole whatever is chosen: a group's terms */
};

struct hn_hole {
	uint32_t step;	/* the SP or PK step in the sketch's trace */
	uint8_t role;	/* enum hn_hole_role */
	bool innermost; /* its last part is the innermost loop of its stage */
	int32_t stage;	/* whose, numbered as in the finished sketch */
	int32_t axis;	/* of that stage's op, though in groups of an instruction's terms; -1 for a
			 * fused loop */
	uint32_t n_len; /* open lengths */
	int64_t extent; /* of what is split, >= 1; 1 for a PK */
	int64_t longest; /* its last part may be */
	const struct hn_pack *pack; /* NULL unless the role is PACK */
};

struct hn_sketch {
	/* Holes open: state->concrete is false unless none is left. */
	const struct hn_state *state;
	const char *rules; /* names of the rules that made it, "tile_fuse,inline,..." */
	uint32_t n_hole;
	const struct hn_hole *hole; /* in step order; those of one stage stand together */
	/* The history up to the first open step: what every program of the sketch begins with. */
	const struct hn_state *start;
};

/* The decisions of one complete program of a sketch, as data: what mutation edits.  What is left
 * open is drawn anew when the program is rebuilt. */
struct hn_plan {
	/* [n_hole] lengths of that hole; NULL = open.  Of a PK, see struct hn_pack. */
	const int64_t *const *len;
	const struct hn_plan_stage *stage; /* [n_stage] */
};

struct hn_sketches {
	uint32_t n;
	const struct hn_sketch *sketch;
};

/* Complete a sketch at random: tile sizes, compute locations, parallel, unroll, vector.
 * Returns HN_VERDICT_OK and *ret (concrete, bounds not applied), or the verdict that
 * dropped it. Same rng state, same result. */
enum hn_verdict hn_sketch_fill(const struct hn_sketch *sketch,
			       const struct hn_target *target, struct hn_rng *rng,
			       struct hn_arena *a, const struct hn_state **ret);

/* Every decision open. */
struct hn_plan *hn_plan_open(const struct hn_sketch *sketch, struct hn_arena *a);

/* A copy whose arrays may be written: *ret_len and *ret_stage are the copy's. */
struct hn_plan *hn_plan_copy(const struct hn_sketch *sketch, const struct hn_plan *plan,
			     const int64_t ***ret_len, struct hn_plan_stage **ret_stage,
			     struct hn_arena *a);

/* Read the decisions back from a complete trace; false when the trace is none of the
 * sketch. */
bool hn_plan_of(const struct hn_sketch *sketch, const struct hn_trace *trace,
		struct hn_arena *a, struct hn_plan **ret);

/* hn_sketch_fill, but decisions that the plan holds are taken from it where they are
 * legal, and only the others are drawn.  plan NULL = all open. */
enum hn_verdict hn_sketch_rebuild(const struct hn_sketch *sketch,
				  const struct hn_plan *plan,
				  const struct hn_target *target, struct hn_rng *rng,
				  struct hn_arena *a, const struct hn_state **ret);

/* What unroll fills and mutations choose from; *ret_n values. */
const int32_t *hn_unroll_choices(uint32_t *ret_n);

/* Lengths that strip fills draw from, ascending, at most HN_STRIPS: one, two, four vectors. */
#define HN_STRIPS 3
uint32_t hn_strip_choices(const struct hn_state *s, int32_t stage,
			  const struct hn_target *target, int32_t ret[HN_STRIPS]);

/* Distances that prefetches are drawn from, ascending; *ret_n values. */
const int32_t *hn_fetch_distances(uint32_t *ret_n);

/* Choose fetch, fetch_iter and fetch_operand at random for a stage of the sketch; false
 * when it reads nothing.  Whether the loop can fetch that is found when it is filled. */
bool hn_fetch_draw(const struct hn_sketch *sketch, int32_t stage, struct hn_rng *rng,
		   struct hn_plan_stage *ret);

/* Draw lengths for one hole by Ansor's rule: uniform over the ordered divisor tuples
 * whose last length is at most 64. */
const int64_t *hn_tile_uniform(int64_t extent, uint32_t n_len, struct hn_rng *rng,
			       struct hn_arena *a);

/* Whether an extent has hardly any divisors to tile it by (primes, for one), so that
 * lengths that do not divide it are worth trying.  Ansor never tries them. */
bool hn_divides_poorly(int64_t extent);

/* A rule's answer about (state, stage). */
enum hn_rule_answer { HN_RULE_SKIP, HN_RULE_APPLY, HN_RULE_APPLY_AND_STOP };

struct hn_rule_result { /* a state to go on from, and the stage to look at next */
	const struct hn_state *state;
	int32_t next_stage; /* of `state`; -1 = finished */
};

#define HN_RULE_MAX_RESULTS 64

struct hn_rule_results {
	uint32_t n; /* may pass HN_RULE_MAX_RESULTS: what did not fit is counted only */
	struct hn_rule_result item[HN_RULE_MAX_RESULTS];
};

/* Note one result. */
void hn_rule_result_add(struct hn_rule_results *ret, const struct hn_state *state,
			int32_t next_stage);

struct hn_rule_ctx {
	const struct hn_target *target;
	struct hn_arena *arena; /* what a rule makes lives here */
	bool own; /* hone's own rules are asked too: Ansor's need not see what Ansor does */
};

struct hn_rule_ops {
	const char *name;
	enum hn_rule_answer (*meets)(const struct hn_rule_ctx *ctx,
				     const struct hn_state *s, int32_t stage);
	void (*derive)(const struct hn_rule_ctx *ctx, const struct hn_state *s,
		       int32_t stage, struct hn_rule_results *ret);
};

/* All sketches of dag for the target, in Ansor's order. At least one (the initial state).
 * What the machine can do decides (target->caps picks the recipe, target->param, of which
 * the first eight are Ansor's hardware parameters, the rules' limits), never its name.
 * HONE_E_UNSUPPORTED when no recipe serves the target. */
int hn_sketch_generate(const struct hn_dag *dag, const struct hn_target *target,
		       struct hn_arena *a, struct hn_sketches *ret,
		       struct hn_err *err) HN_NODISCARD;

/* Those, and what hone's own rules (rows OWN of recipes.def) add to them: what a search
 * begins from.  Errors as above. */
int hn_sketch_generate_own(const struct hn_dag *dag, const struct hn_target *target,
			   struct hn_arena *a, struct hn_sketches *ret,
			   struct hn_err *err) HN_NODISCARD;

/* A rule of the caller's own.  Both callbacks get `user` back, run on the calling thread,
 * and must depend on their arguments alone. */
struct hn_custom_rule {
	const char *name; /* appears in hn_sketch.rules; lives as long as the sketches */
	void *user;
	enum hn_rule_answer (*condition)(void *user, const struct hn_rule_ctx *ctx,
					 const struct hn_state *s, int32_t stage);
	/* Called where the condition did not say SKIP.  Every result is made from `s` by
	 * steps (state.h), allocated in ctx->arena.  No result after APPLY_AND_STOP drops
	 * the state.  Below 0: generation ends with that error. */
	int (*apply)(void *user, const struct hn_rule_ctx *ctx, const struct hn_state *s,
		     int32_t stage, struct hn_rule_results *ret, struct hn_err *err);
};

/* hn_sketch_generate with n rules more for this call alone: each is asked at every stage
 * before the recipe's, in the order given.  Source: TVM auto_scheduler,
 * PreloadCustomSketchRule.  Further errors, all naming the rule:
 *
 *   HONE_E_INVALID  a next stage that the state does not have, a state of another dag, a
 *                   history that does not replay, or no sketch left in the end
 *   HONE_E_QUOTA    more than HN_RULE_MAX_RESULTS results at once, or rules that go round
 *                   in circles */
int hn_sketch_generate_with(const struct hn_dag *dag, const struct hn_target *target,
			    const struct hn_custom_rule *rule, uint32_t n,
			    struct hn_arena *a, struct hn_sketches *ret,
			    struct hn_err *err) HN_NODISCARD;

struct hn_fill_ctx {
	const struct hn_sketch *sketch;
	const struct hn_plan *plan; /* decisions already taken; never NULL */
	const struct hn_target *target;
	struct hn_rng *rng;
	struct hn_arena *arena;
};

/* One way to decide what a sketch left open. */
struct hn_fill_ops {
	const char *name;
	enum hn_verdict (*fill)(const struct hn_fill_ctx *ctx, const struct hn_state *s,
				const struct hn_state **ret);
};

#endif
