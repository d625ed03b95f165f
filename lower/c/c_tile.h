/* lower/c/c_tile.h -- what c_choose.c, which chooses a register tile, c_tile.c, which writes its
 * loops, c_guard.c and c_vector.c, which writes its values, share.
 */
#ifndef HN_LOWER_C_C_TILE_H
#define HN_LOWER_C_C_TILE_H

#include "lower/c/c_int.h"
#include "target/cpu/nest.h"

#define C_TILE_POINTS 64 /* accumulators at most */

/* A loop of the nest, outer to inner. */
struct c_dim {
	const struct hn_node *loop;
	int64_t block; /* iterations that are held at once; of a reduction: unrolled */
	int32_t chain; /* its place among the loops whose iterations are lanes; -1: none */
	bool reduce;

	/* where the text stands */
	int64_t now, base; /* block here (less at the end); where it begins, of a block without a loop */
	bool looped;	   /* its variable is there */
};

/* A load of the statement, or (k = 0) what it stores. */
struct c_reach {
	bool exact;  /* its offset is a sum of the nest's loops: lane is right */
	bool moves;  /* with the lanes */
	int64_t lane; /* elements from lane to lane */
};

/* A guard of points that is not always true. */
struct c_place_guard {
	const struct hn_expr *guard;
	bool *at_end; /* [n_dim] where in a box it fails first: at the loop's end, or its beginning */
};

/* A value that has a name in the tile's innermost body. */
struct c_named {
	const char *text, *name;
};

struct c_tile {
	struct c *c;
	struct hn_nest nest;
	enum hn_dtype t;
	uint32_t n_dim, tile; /* tile: the first loop inside; n_dim: none is */
	struct c_dim *dim;
	uint32_t width;	     /* lanes; 1: scalars */
	bool from_identity;  /* sums begin as 0, their init is not run */
	struct c_reach *reach; /* [1 + n_load] */
	const char *type;    /* of an accumulator */

	/* guards that are not always true: of the point, or of the term alone */
	uint32_t n_place, n_term;
	struct c_place_guard *place;
	const struct hn_expr **term;
	bool by_lane; /* one of the former is another in each lane */

	uint32_t n_acc;
	const char *acc[C_TILE_POINTS];
	const struct hn_expr **axis; /* of the point that the text is at */
	bool inside;		     /* a choice: what is read is read only there */
	uint32_t n_named, cap_named;
	struct c_named *named;
};

/* c_choose.c: the tile of the nest that begins there; false where there is none to be written. */
bool hn_c_tile_choose(struct c *c, const struct hn_node *node, struct c_tile *ret);

/* The loops that run over lanes, innermost first; how many.  Accumulators of a whole box. */
uint32_t hn_c_tile_chain(const struct c_tile *x, struct c_dim **ret);
int64_t hn_c_tile_points(const struct c_tile *x);

/* c_guard.c: sort the statement's guards; false where one is of points and terms at once, or where
 * in a box it fails is not known. */
bool hn_c_guards_read(struct c_tile *x, const struct hn_nest_loops *loops);

/* The condition under which all points of the box count; under which the term at hand does; NULL:
 * always. */
const char *hn_c_guards_of_box(struct c_tile *x);
const char *hn_c_guards_of_term(struct c_tile *x);

/* Whether the sum's terms can be written for `width` lanes at once. */
bool hn_c_vector_fits(const struct c_tile *x, const struct hn_expr *e);

/* A term at the point; what it needs comes in lines before. */
struct c_text hn_c_vector(struct c_tile *x, const struct hn_expr *e);

/* What is stored, as an lvalue of the accumulator's type; of a vector whose lanes lie apart, lane k. */
const char *hn_c_vector_place(struct c_tile *x);

#endif
