/* target/cpu/tile.h -- the register tile of a nest: which loop runs over lanes, how many points of
 * which loops are held in registers, and at which reduction loop their accumulators are loaded
 * and stored.
 *
 * The code generator makes what is chosen here (lower/cpu/emit_plan.c), and a search asks it
 * whether two histories differ in anything that is made (target/cpu/fingerprint.h).  Nothing but
 * the numbers below is looked at.
 */
#ifndef HN_TARGET_CPU_TILE_H
#define HN_TARGET_CPU_TILE_H

#include "loopstate/expr/linear.h"
#include "target/target.h"

#define HN_TILE_NONLINEAR HN_LINEAR_UNEVEN
#define HN_TILE_MAX_LANES 64
#define HN_TILE_MAX_CHAIN 8

/* A loop of the nest. */
struct hn_tile_dim {
	int64_t extent;
	bool reduce;
	bool vectorize; /* the history would have it run over lanes, */
	bool unroll;	/* or a reduction unrolled further than by itself */
	bool init;	/* the reduction's first values are set just before it */
	bool by_tiles;	/* its extent is a size whose guard steps by tiles: it is not held */
	const int64_t *stride; /* [1 + n_load] elements that an iteration moves, output first;
				* HN_TILE_NONLINEAR = not a constant */

	/* chosen */
	int64_t block; /* consecutive iterations that are part of the tile */
	bool chain;    /* its block coordinates are lanes */
	bool fast;     /* its block's points run one after the other */
};

struct hn_tile {
	uint32_t n_dim;
	struct hn_tile_dim *dim; /* outer to inner */
	uint32_t n_load;
	int64_t elem_bytes; /* of the widest number that is loaded or stored */
	bool update;	    /* the statement is a reduction's */
	bool may_cross;	    /* whose terms may be added in any order */
	bool init;	    /* and whose first values are set just before it */
	bool calls;	    /* functions that are no instructions are called, */
	bool may_widen;	    /* none of which is libm's */
	bool terms; /* an instruction makes several terms of the reduction at once */

	/* chosen */
	uint32_t tile; /* first dim of the tile: a reduction loop, or n_dim */
	bool from_identity; /* its accumulators start as the identity, init is not run */
	uint32_t n_chain;
	struct hn_tile_dim *chain[HN_TILE_MAX_CHAIN]; /* innermost (fastest) first */
	uint32_t width;				      /* lanes of a vector */
	struct hn_tile_dim *turn;   /* block of points to transpose with the lanes, or NULL */
	struct hn_tile_dim *across; /* reduction loop that runs across lanes, or NULL */
	uint32_t n_across;	    /* accumulators for it */
	int64_t points;		    /* of a reduction's tile */
};

/* Fill in what is chosen; the rest is given.  Per element of a reduction the order of its
 * iterations stays, unless the tile runs across lanes.  Pure, allocates nothing. */
void hn_tile_choose(struct hn_tile *n, const struct hn_target *target);

/* tile_lanes.c, for tile.c: fill in the chain of lanes, or across, and width; returns the lanes
 * in all.  And the loop whose points make blocks to transpose with the lanes; NULL = none. */
int64_t hn_tile_choose_lanes(struct hn_tile *n, const struct hn_target *target);
struct hn_tile_dim *hn_tile_find_turn(const struct hn_tile *n);

#endif
