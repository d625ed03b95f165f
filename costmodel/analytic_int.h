/* costmodel/analytic_int.h -- one statement of a loop tree as the analytic model sees it:
 * the loops around it, and how each access moves through memory along each of them.
 */
#ifndef HN_COSTMODEL_ANALYTIC_INT_H
#define HN_COSTMODEL_ANALYTIC_INT_H

#include "base/arena.h"
#include "loopstate/nest/looptree.h"
#include "target/target.h"

#define HN_VIEW_MAX_LOOPS 128
#define HN_VIEW_MAX_STREAMS 48

struct hn_stream { /* one access */
	bool store;
	int64_t elem_bytes;
	uint32_t n_dim;
	const struct hn_buffer *buffer;
	int64_t *span;	 /* [n_dim * n_loop] how far index d goes while loop l runs */
	int64_t *stride; /* [n_loop] elements moved by one iteration */
	bool *moves;	 /* [n_loop] whether the loop matters at all */
};

struct hn_view {
	const struct hn_looptree *tree;
	const struct hn_node *stmt;
	uint32_t n_loop; /* outermost first */
	const struct hn_node *loop[HN_VIEW_MAX_LOOPS];
	int32_t vector;	  /* position of the vector loop, or -1 */
	int32_t parallel; /* of the parallel loop, or -1 */
	uint32_t n_stream;
	struct hn_stream stream[HN_VIEW_MAX_STREAMS]; /* loads, then the store */
	double n_arith;	    /* vector instructions per element, without the combiner's */
	double n_expensive; /* calls per element */
	bool multiplies;    /* the source is a product: an FMA takes the combiner's add */
	bool branches;	    /* an if or a select chooses what each lane computes */
	bool skips;	    /* one whose terms are left out where it fails, all lanes alike */
	double share;	    /* of the terms that are not left out for a remainder's sake */
	int32_t group;	    /* position of the loop that one instruction does, or -1: strides of
			     * loads along other loops count its groups then */
	bool border_tiles;  /* rows of its tile meet padding at the ends of a longer axis */
	int32_t guard_loop; /* deepest loop a guard depends on; -1 = no guard */
};

/* Look at stmt inside loops path[0..n). False when it is past the limits above. */
bool hn_view_make(const struct hn_looptree *tree, const struct hn_node *stmt,
		  const struct hn_node *const *path, uint32_t n,
		  const struct hn_target *t, struct hn_arena *a,
		  struct hn_view *ret);

/* How iterations become instructions: some loop runs over lanes, whichever costs least. */
struct hn_lanes {
	int32_t loop;  /* position of that loop, or -1 */
	bool across;   /* it is a reduction loop */
	int64_t width; /* elements an instruction handles; 1 = scalar */
};
struct hn_lanes hn_view_lanes(const struct hn_view *v, const struct hn_target *t);

/* Iterations of loop l: vectors of the one that runs over lanes. */
double hn_view_units(const struct hn_view *v, uint32_t l, const struct hn_lanes *w);

/* What its instructions take, and why.  Where nothing is accumulated in registers (at < 0)
 * all but cycles and lanes are 1. */
struct hn_compute {
	double cycles; /* of one core, all iterations together */
	struct hn_lanes lanes;
	int32_t at;		       /* position of the reduction loop that accumulators stay in
					* registers for, or -1 */
	double trips;		       /* iterations of the reduction loops from there on */
	double rows, vecs;	       /* results of the block inside it: rows of vecs vectors */
	double registers;	       /* to hold all of the block and its operands */
	double block_rows, block_vecs; /* what registers do hold at a time, */
	double blocks;		       /* so often */
};
struct hn_compute hn_view_compute(const struct hn_view *v, const struct hn_target *t);

/* tiles.c, for compute.c: where an instruction on tiles makes the sum, fill in *ret. */
bool hn_view_tiles(const struct hn_view *v, const struct hn_target *t, struct hn_compute *ret);

/* What one cache level must fetch from the one behind it.  Depth d: the loops from position d
 * inwards; n_loop = one vector. */
struct hn_level {
	double bytes;	       /* in all */
	const double *fetched; /* [n_stream] by each access, a store's once */
	uint32_t fits;	       /* the outermost depth whose footprint fits */
	uint32_t from;	       /* the depth whose footprint is fetched again and again: one out */
	double again;	       /* how often */
	double inside, beyond; /* bytes of the footprints of these two */
};

struct hn_traffic {
	struct hn_level level[3]; /* L1, L2, L3 */
	const double *cold; /* [n_stream * (n_loop + 1)] bytes of stream i's footprint at depth d
			     * at i * (n_loop + 1) + d */
};
struct hn_traffic hn_view_traffic(const struct hn_view *v, const struct hn_target *t,
				  const struct hn_compute *c, struct hn_arena *a);

#endif
