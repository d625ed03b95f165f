/* sketch/sketch.h -- program structures (sketches) and their completion.
 *
 * A sketch is a trace with holes.  Rules derive them stage by stage, from the last to the
 * first, breadth first; the ordered recipe of a target family is a row list in recipes.def,
 * the only place where order lives.  Fills then make a complete program at random, legally.
 * Source: Ansor (OSDI'20) sections 4.1 and 4.2; exact behaviour: ansor.md sections 4 and 5.1.
 */
#ifndef HN_SKETCH_SKETCH_H
#define HN_SKETCH_SKETCH_H

#include "base/rng.h"
#include "base/verdict.h"
#include "loopstate/state.h"
#include "target/target.h"

struct hn_sketch {
	const struct hn_state *state; /* holes open: state->concrete is false unless none is left */
	const char *rules;            /* names of the rules that made it, "tile_fuse,inline,..." */
};

struct hn_sketches {
	uint32_t n;
	const struct hn_sketch *sketch;
};

/* All sketches of dag for the target, in Ansor's order. At least one (the initial state).
 * HONE_E_UNSUPPORTED when no recipe serves the target. */
int hn_sketch_generate(const struct hn_dag *dag, const struct hn_target *target,
		       struct hn_arena *a, struct hn_sketches *ret, struct hn_err *err)
	HN_NODISCARD;

/* Complete a sketch at random: tile sizes, compute locations, parallel, unroll, vector.
 * Returns HN_VERDICT_OK and *ret (concrete, bounds not applied), or the verdict that dropped it.
 * Same rng state, same result. */
enum hn_verdict hn_sketch_fill(const struct hn_sketch *sketch, const struct hn_target *target,
			       struct hn_rng *rng, struct hn_arena *a,
			       const struct hn_state **ret);

/* A rule's answer about (state, stage). */
enum hn_rule_answer { HN_RULE_SKIP, HN_RULE_APPLY, HN_RULE_APPLY_AND_STOP };

struct hn_rule_result { /* a state to go on from, and the stage to look at next */
	const struct hn_state *state;
	int32_t next_stage; /* -1 = finished */
};

struct hn_rule_results {
	uint32_t n;
	struct hn_rule_result item[8];
};

struct hn_rule_ctx {
	const struct hn_target *target;
	struct hn_arena *arena;
};

struct hn_rule_ops {
	const char *name;
	enum hn_rule_answer (*meets)(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				     int32_t stage);
	void (*derive)(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		       struct hn_rule_results *ret);
};

/* One way to decide what a sketch left open. */
struct hn_fill_ops {
	const char *name;
	enum hn_verdict (*fill)(const struct hn_target *target, const struct hn_state *s,
				struct hn_rng *rng, struct hn_arena *a,
				const struct hn_state **ret);
};

#endif
