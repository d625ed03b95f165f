/* sketch/heuristic/warp_int.h -- products of matrices for a GPU's tensor cores: which tiles, and the
 * steps. */
#ifndef HN_SKETCH_HEURISTIC_WARP_INT_H
#define HN_SKETCH_HEURISTIC_WARP_INT_H

#include "loopstate/state/intrin.h"
#include "sketch/heuristic/heuristic_int.h"

/* A block makes rows x columns results, each of its warps (or warpgroups) warp_rows x warp_columns of
 * them; terms between two fetches, and how many of these are on their way. */
struct hn_warp_shape {
	int64_t rows, columns, terms, warp_rows, warp_columns, stages;
	bool open; /* products end in the next step (HN_PIPELINE_OPEN) */
	bool bulk; /* a warpgroup of its own begins the fetches (HN_PIPELINE_BULK) */
	int64_t blocks; /* that make all tiles, in rounds; 0: each makes one */
};

/* A sum of products that an instruction of a warp or warpgroup makes. */
struct hn_warp_product {
	const struct hn_intrin *in;
	const struct hn_heuristic_view *v;
	uint32_t rows, columns, terms;		 /* the axes */
	const struct hn_heuristic_read *read[2]; /* left: of rows and terms; right */
	int64_t batch;				 /* products of matrices, one like the other */
	bool boxes; /* both are tensors of which bulk copies take boxes: their rows are whole 16 bytes */
	struct hn_warp_shape shape;
};

/* Whether v is one. */
bool hn_warp_product_of(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			struct hn_warp_product *ret);

/* warp_plan.c: the shapes that fit the machine and the sizes, the best first; how many, at most
 * n_max. */
uint32_t hn_warp_shapes(const struct hn_target *t, const struct hn_warp_product *p,
			struct hn_warp_shape *ret, uint32_t n_max);

/* wgmma_plan.c: the same of a warpgroup's, and the cycles that the closed form tells of one. */
uint32_t hn_wgmma_shapes(const struct hn_target *t, const struct hn_warp_product *p,
			 struct hn_warp_shape *ret, uint32_t n_max);
double hn_wgmma_cycles(const struct hn_target *t, const struct hn_warp_product *p,
		       const struct hn_warp_shape *s);

/* warp.c: the nest of v's stage, by shape number g->v.tile; host: the stage, or its one reader that
 * takes it element by element.  False: it is no such product, or no shape fits. */
bool hn_warp_product(struct hn_heuristic_job *g, const struct hn_heuristic_view *v, int32_t host);

#endif
