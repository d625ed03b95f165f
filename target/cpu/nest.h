/* target/cpu/nest.h -- the nests of a loop tree: chains of loops of one stage around its statement,
 * of which the code generator makes register tiles (target/cpu/tile.h).
 */
#ifndef HN_TARGET_CPU_NEST_H
#define HN_TARGET_CPU_NEST_H

#include "loopstate/nest/looptree.h"
#include "target/cpu/tile.h"

struct hn_nest {
	const struct hn_node *stmt;
	const struct hn_op *op;
	uint32_t n_loop;
	const struct hn_node **loop; /* outer to inner, those that run once too */
	uint32_t n_load;
	const struct hn_expr **load; /* of the body, or of source and condition; op space */
	bool calls; /* functions that are no instructions are called */
};

/* What the statement computes: f of each expression, in order. */
void hn_nest_exprs(const struct hn_nest *n, void (*f)(const struct hn_expr *, void *), void *ctx);

/* Whether a nest begins at the node, inside a loop that runs in parallel or not. */
bool hn_nest_begins(const struct hn_node *node, bool in_parallel);

/* Read the nest that begins there. */
void hn_nest_read(const struct hn_looptree *t, const struct hn_node *node, struct hn_arena *a,
		  struct hn_nest *ret);

/* What is given of its tile, without strides and by_tiles. */
void hn_nest_tile(const struct hn_looptree *t, const struct hn_nest *n,
		  const struct hn_target *target, struct hn_arena *a, struct hn_tile *ret);

/* The loops of a tree, as indices see them. */
struct hn_nest_loops {
	const int64_t *extent; /* [n_loop] */
	const int64_t *place;  /* [n_loop] what tells apart those around the nest */
};

/* Fill in the strides of the tile: coefficients of its loops in the offsets of its accesses, as
 * the code generator finds them (lower/cpu/emit_access.c). */
void hn_nest_strides(const struct hn_looptree *t, const struct hn_nest *n,
		     const struct hn_nest_loops *loops, struct hn_arena *a, struct hn_tile *ret);

/* x less `less` (NULL = nothing), of loop space, as a form whose values are loops of the nest
 * (their position) or stay while the nest runs (-1; the same number is the same value).  False
 * where it is no such sum. */
bool hn_nest_linear(const struct hn_looptree *t, const struct hn_nest *n,
		    const struct hn_nest_loops *loops, const struct hn_expr *x,
		    const struct hn_expr *less, struct hn_linear *ret);
/* The same of the offset, in elements, of access k: 0 = what is stored, else load k - 1. */
bool hn_nest_offset(const struct hn_looptree *t, const struct hn_nest *n,
		    const struct hn_nest_loops *loops, uint32_t k, struct hn_linear *ret);
int32_t hn_nest_loop_of(const struct hn_nest *n, const struct hn_linear_term *term);

#endif
