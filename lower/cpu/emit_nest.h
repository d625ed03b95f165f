/* lower/cpu/emit_nest.h -- the register tile: what the files share that plan and emit a nest.
 *
 * A nest is a chain of loops of one stage around its statement.  The plan says which loops'
 * points are lanes, how many points of which loops are held in registers, and at which
 * reduction loop the accumulators are loaded (emit_plan.c); the rest walks the blocks and emits
 * the tile in the forms that its borders ask for.  It relies on emit_int.h for values and
 * index arithmetic, which know nothing of it.
 */
#ifndef HN_LOWER_CPU_EMIT_NEST_H
#define HN_LOWER_CPU_EMIT_NEST_H

#include "lower/cpu/emit_int.h"
#include "target/cpu/nest.h"

/* -- emit_access.c, emit_plan.c, emit_point.c: the register tile ----------
 */

struct emit_dim {
	const struct hn_node *node;
	int32_t loop;
	int64_t extent;
	bool reduce;
	bool chain;	 /* its block coordinates are lanes */
	bool fast;	 /* its block's points run one after the other */
	bool settled;	 /* what pads its points meet is known in the copies of a loop */
	int64_t block;	 /* consecutive iterations that are part of the tile */
	int64_t now;	 /* block of the variant being emitted (remainders are smaller) */
	int64_t base;	 /* constant part of the block's first iteration */
	int64_t *stride; /* [1 + n_load] elements along this loop, output first;
			  * HN_TILE_NONLINEAR = not a constant */
};

struct emit_nest {
	const struct hn_node *stmt;
	const struct hn_op *op;
	const struct hn_node
		*init; /* to be run, unless the tile starts from the identity */
	uint32_t n_dim;
	struct emit_dim *dim; /* outer to inner */
	uint32_t tile;	      /* first dim of the tile: a reduction loop, or n_dim */
	bool from_identity;
	bool past; /* whole vectors of its results are stored past the caches */
	uint32_t n_chain;
	struct emit_dim *chain[HN_TILE_MAX_CHAIN]; /* innermost (fastest) first */
	uint32_t width;				   /* lanes of a vector */
	uint32_t w; /* width of the variant being emitted */
	int64_t lane[HN_TILE_MAX_CHAIN][EMIT_MAX_LANES];
	struct emit_dim
		*turn; /* block of points to transpose with the lanes; NULL = none */
	const struct hn_intrin *intrin; /* does the loop `group`; NULL = none */
	struct emit_dim *group;
	const struct hn_expr *factor[2]; /* of its terms, op space: left, right */
	struct emit_dim *across; /* reduction loop that runs across lanes; NULL = none */
	uint32_t n_across;	 /* accumulators for it */
	uint32_t n_load;
	const struct hn_expr **load; /* loads of the body or source, op space */
	bool peeled;		     /* a loop around has its border apart already */
	bool in_tail;		     /* a loop around is in a block that a size leaves a part of */
	bool calls; /* the body calls functions that are not instructions */
	uint32_t n_zero;
	const struct hn_expr **zero; /* op space: without one of them a term is nothing */
	uint32_t n_within; /* the first of them: parts of the reduction's condition */
	uint64_t zero_true;	     /* those known to hold where code is being emitted */
	uint64_t zero_seen;	     /* those that were looked at further out */
	uint32_t zero_copies;	     /* tests around this place that made two forms */
};

/* -- emit_guard.c: conditions that hold all over a tile ---------------------------------
 */

/* Every comparison of indices in the nest's statement, in the arena. */
struct emit_facts {
	uint32_t n;
	struct emit_fact *fact;
};

void hn_emit_find_comparisons(struct emit *e, const struct emit_nest *n,
			      struct emit_facts *ret);

/* i1: the comparison holds at each point and reduction iteration of the tile that dims' now
 * and base describe.  Constant 1 or 0 = always, or never; NULL = cannot be told.
 * *ret_edge: the one value of the one term that it depends on at which it does not. */
LLVMValueRef hn_emit_holds_everywhere(struct emit *e, const struct emit_nest *n,
				      const struct emit_fact *f,
				      struct hn_linear_known *ret_edge);

/* The iterations of dim i at which every comparison that depends on it (and on reductions in
 * the tile) alone holds. False = all, or too few to be worth a tile of their own. */
bool hn_emit_find_interior(struct emit *e, const struct emit_nest *n, uint32_t i,
			   int64_t *begin, int64_t *end);

/* Whether x, of the current space, is known to be true. */
bool hn_emit_is_fact(const struct emit *e, const struct hn_expr *x);

/* -- emit_uses.c --------------------------------------------------------------------------- */

/* Whether the guard depends on a reduction loop of the tile. */
bool hn_emit_on_reduction(const struct emit *e, const struct emit_nest *n,
			  const struct hn_expr *g);

/* -- emit_trips.c
 * ----------------------------------------------------------------------- */

/* Of the `trips` iterations of reduction dim i (each `block` of the dim's), given where the
 * loops around stand: guards on reductions all hold in the first *ret_full, and from
 * *ret_dead on one of them always fails. */
void hn_emit_find_trips(struct emit *e, const struct emit_nest *n, uint32_t i,
			int64_t trips, int64_t *ret_full, int64_t *ret_dead);

/* Whether guard g compares index forms of the tile's reduction loops and of loops around. */
bool hn_emit_trips_plain(struct emit *e, const struct emit_nest *n,
			 const struct hn_expr *g);

static inline bool hn_emit_is_update(const struct emit_nest *n)
{
	return n->stmt->stmt == HN_STMT_UPDATE;
}

/* emit_access.c: fill in every dim's strides. */
void hn_emit_find_strides(struct emit *e, struct emit_nest *n);

/* Choose the tile (target/cpu/tile.h): fill in what hn_emit_nest has not read. */
void hn_emit_plan(struct emit *e, struct emit_nest *n, const struct hn_nest *read);

/* emit_border.c: unroll reduction loops whose iterations each leave out other ones of the
 * tile's `points`. */
void hn_emit_unroll_borders(struct emit *e, struct emit_nest *n, int64_t points);

/* Points of the tile as it is now (n->w is set to the width they have). */
uint32_t hn_emit_count_points(struct emit_nest *n);

/* Make point p the one that values are for; then none. */
void hn_emit_set_point(struct emit *e, struct emit_nest *n, uint32_t p);
void hn_emit_no_point(struct emit *e, struct emit_nest *n);

/* -- emit_cond.c: comparisons over a tile ------------------------------------------------ */

enum emit_truth {
	EMIT_UNKNOWN, /* each point for itself */
	EMIT_NEVER,
	EMIT_ALWAYS,
	EMIT_SAME, /* at every point what *ret says */
	EMIT_MIXED /* at every point when *ret says so, else at some */
};

/* g (of the current space) at those points whose terms from reduction dim i inwards are not
 * known to be nothing (every: at all of them, because points past the end become one of
 * them); leaves no point set.  *ret: i1. */
enum emit_truth hn_emit_over_tile(struct emit *e, struct emit_nest *n,
				  const struct hn_expr *g, uint32_t i, bool every,
				  LLVMValueRef *ret);

/* -- emit_zero.c: terms that are nothing ----------------------------------------------- */

/* Fill in n->zero. */
void hn_emit_zero_find(struct emit *e, struct emit_nest *n);

#define EMIT_THE_TERM UINT32_MAX /* for i: the term where the loops now stand */

/* Whether the term at the current point is known to change nothing, or all its terms from
 * reduction dim i inwards are. */
bool hn_emit_adds_nothing(struct emit *e, const struct emit_nest *n, uint32_t i);

/* Whether comparison x has been tested further out and holds. */
bool hn_emit_is_assumed(const struct emit *e, const struct hn_expr *x);

/* What is known, or can be tested, of all terms from reduction dim i inwards. */
struct emit_zero {
	bool never;	  /* all are nothing */
	LLVMValueRef any; /* i1: else all are nothing; NULL = not to be tested */
	LLVMValueRef all; /* i1: the conditions in if_all hold at every point; or NULL */
	uint64_t if_all, old_true, old_seen;
};

/* Test at the place of emission; zero_true and zero_seen grow by what holds under `any`,
 * and are the caller's to put back.  every: as above. */
void hn_emit_zero_test(struct emit *e, struct emit_nest *n, uint32_t i, bool every,
		       struct emit_zero *ret);

/* -- emit_tile.c, emit_reduce.c: one tile ------------------------------------------------ */

struct emit_tile {
	struct emit_nest *n;
	uint32_t n_point, n_out;
	struct emit_val *guard; /* [n_point]; v NULL = always */
	bool sure;		/* guards on reductions hold in what is being emitted */
	bool grouped;		/* the terms of n->group are done at once there */
	uint32_t n_acc;		/* n_point * n_across * n_out */
	uint32_t n_clamp;	/* loops whose points past the end are the last one */
	struct emit_clamp *clamp;
	struct emit_val *loose; /* [n_point] guard, less what clamps see to */
	bool *spare;		/* [n_point] guard keeps from nothing but spare elements */
	LLVMValueRef *acc;	/* [n_acc] */
};

/* One form of it, under the facts and known values of e. */
void hn_emit_tile_form(struct emit *e, struct emit_tile *t);

/* No lane of point p counts. */
bool hn_emit_is_dead(const struct emit_tile *t, uint32_t p);

/* The term where the reduction loops now stand, at all points; m: which accumulator across lanes. */
void hn_emit_all_points(struct emit *e, struct emit_tile *t, uint32_t m);

/* What is emitted between the two runs only when the condition holds. */
struct emit_some {
	LLVMBasicBlockRef before, join;
	LLVMValueRef *kept;
};
struct emit_some hn_emit_begin_some(struct emit *e, struct emit_tile *t, LLVMValueRef condition);
void hn_emit_end_some(struct emit *e, struct emit_tile *t, const struct emit_some *s);

LLVMValueRef hn_emit_is_less(struct emit *e, LLVMValueRef x, LLVMValueRef y);

/* emit_across.c: the loop n->across. */
void hn_emit_across(struct emit *e, struct emit_tile *t);

/* emit_edge.c: emit the tile that the nest's dims now describe. */
void hn_emit_one_tile(struct emit *e, struct emit_nest *n);

/* acc[0..n_out) = combine(acc, source) at the current point, where mask and guards hold. */
void hn_emit_update(struct emit *e, struct emit_tile *t, LLVMValueRef *acc);

/* The reduction loops from dim i inwards; terms that are nothing are left out. */
void hn_emit_reduction(struct emit *e, struct emit_tile *t, uint32_t i);

/* What dim i's loop is to fetch ahead, at the head of an iteration (emit_prefetch.c). */
void hn_emit_fetch_ahead(struct emit *e, const struct emit_nest *n, uint32_t i);

/* -- emit_group.c: several terms of a sum by one instruction ----------------------------- */

/* Fill in n->intrin and what belongs to it, and make the strides of its factors those of groups:
 * before the tile is chosen. */
void hn_emit_group_find(struct emit *e, struct emit_nest *n);

/* Whether dim i, which the reduction comes to, is to be done at once: all its terms are there. */
bool hn_emit_group_here(struct emit *e, const struct emit_tile *t, uint32_t i);

/* acc = acc + the terms of the group at the current point, where the mask holds. */
void hn_emit_group(struct emit *e, struct emit_tile *t, LLVMValueRef *acc);

/* -- emit_past.c ------------------------------------------------------------------------ */

/* Whether the nest's results should be; its plan is made. */
bool hn_emit_goes_past(const struct emit *e, const struct emit_nest *n);

/* -- emit_nest.c ------------------------------------------------------------------------ */

/* Its loops, statement and loads, with nothing planned. */
void hn_emit_nest_read(struct emit *e, const struct hn_node *node, struct emit_nest *ret);

/* Emit a pure nest: node is a chain of loops of one stage that ends in a statement. */
void hn_emit_nest(struct emit *e, const struct hn_node *node);

/* -- emit_live.c: how far loops run whose extents are size parameters ------------------- */

/* A guard `form of loops < form of sizes`. */
bool hn_emit_is_size_guard(const struct emit *e, const struct hn_expr *g);

/* The first so many iterations of `loop` are all in which anything inside it runs; NULL = all
 * of them may.  Inner loops' variables are 0.  A loop that is dim i of nest n (NULL: of none)
 * has inside of it, too, the points of the tile that lie along dims further out, and the
 * reduction loops that the tile is summed over. */
LLVMValueRef hn_emit_live(struct emit *e, const struct hn_node *loop,
			  const struct emit_nest *n, uint32_t i);

/* Whether guard g would hold at the current point if sizes were the largest (emit_room.c). */
bool hn_emit_is_spare(struct emit *e, const struct hn_expr *g);

/* Whether it keeps nothing else from being stored than elements that are spare: it is of a spatial
 * axis.  What ends a sum keeps what was summed up before. */
bool hn_emit_keeps_spare(struct emit *e, const struct emit_nest *n, const struct hn_expr *g);

/* Of reduction dim i in a tile: in the first `full` iterations guards on reductions hold at
 * all points of the dims inside, in those from `live` on at none; exact: they are one number,
 * and no dim inside is asked.  False: cannot be told. */
struct emit_live {
	LLVMValueRef full, live;
	int32_t depth;
	bool exact;
};
bool hn_emit_live_trips(struct emit *e, const struct emit_nest *n, uint32_t i,
			struct emit_live *ret);

/* -- emit_ragged.c: reduction loops that a condition ends --------------------------------- */

/* Of reduction dim i: the parts `holds` of the condition (bits of n->zero) hold in the first
 * `full` iterations at all points of the tile and of the dims inside, in those from `live` on at
 * none.  exact: they are one number.  full NULL: a form for each part is too much code.  False: no
 * part ends the loop. */
struct emit_ragged {
	LLVMValueRef full, live; /* i64, at most the extent */
	int32_t depth;
	bool exact;
	uint64_t holds;
};
bool hn_emit_ragged_trips(struct emit *e, struct emit_nest *n, uint32_t i,
			  struct emit_ragged *ret);

/* Whether a guard of sizes moves by more than one iteration with d: it has a loop inside that
 * belongs to the tile rather. */
bool hn_emit_steps_by_tiles(const struct emit_nest *n, const struct emit_dim *d);

/* A loop of points some of which are past the end that a size gives: while a reduction is
 * computed, these are the last one. */
struct emit_clamp {
	const struct hn_expr *guard;
	struct emit_dim *dim;
	LLVMValueRef last; /* i64 */
	int32_t depth;
	struct emit_var saved;
};

/* Fill in t->clamp, for what is no fact; the tile has a live point. */
void hn_emit_find_clamps(struct emit *e, struct emit_tile *t);
bool hn_emit_is_clamped(const struct emit_tile *t, const struct hn_expr *g);

/* Move the current point inside, and back. */
void hn_emit_clamp(struct emit *e, struct emit_tile *t);
void hn_emit_unclamp(struct emit *e, struct emit_tile *t);

#endif
