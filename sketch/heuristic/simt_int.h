/* sketch/heuristic/simt_int.h -- what the rules for machines with blocks of threads share: the plan
 * of a product's tiles, steps that keep stage numbers right, and what they know of such a machine.
 */
#ifndef HN_SKETCH_HEURISTIC_SIMT_INT_H
#define HN_SKETCH_HEURISTIC_SIMT_INT_H

#include "sketch/heuristic/heuristic_int.h"

#define HN_SIMT_VECTOR 4 /* elements of 4 bytes in the widest access of a thread */

enum hn_simt_role { HN_SIMT_BATCH, HN_SIMT_ROWS, HN_SIMT_COLS };

/* A product's sizes that are chosen: a block's results are rows x cols of at most so many, a
 * thread's of at most reg_rows x reg_cols; terms between two fetches; copies in flight. */
struct hn_simt_shape {
	int64_t rows, cols, reg_rows, reg_cols, depth;
	int64_t stages;
	int64_t split; /* parts of the sum that blocks of their own make */
};

/* A product of two operands, whose plan is per axis of its view. */
struct hn_simt_product {
	const struct hn_heuristic_view *v;
	struct hn_simt_shape shape;
	const struct hn_heuristic_read *read[2]; /* of the rows' operand, and of the columns' */
	uint8_t role[HN_DAG_MAX_ITERS];	     /* enum hn_simt_role of spatial axes */
	int64_t reg[HN_DAG_MAX_ITERS], thread[HN_DAG_MAX_ITERS]; /* of spatial axes */
	int64_t inner[HN_DAG_MAX_ITERS]; /* of reduction axes, between two fetches */
	uint32_t unit[3];		 /* [role] the axis whose results a thread holds side by side */
	uint32_t order[HN_DAG_MAX_ITERS]; /* reduction axes, outermost first */
	int64_t threads, blocks, steps;	 /* of a block; of the kernel; fetches of a block */
	double cycles; /* by the closed form of simt_plan.c */
};

/* Whether v is a product, and whose axes are whose. */
bool hn_simt_product_of(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		       struct hn_simt_product *ret);

/* simt_plan.c: the plan of a shape; false when it does not fit the machine.  The shapes, of those
 * that fit the best first, at most n_max; how many. */
bool hn_simt_plan(const struct hn_heuristic_job *g, struct hn_simt_product *p,
		 const struct hn_simt_shape *shape);
/* The reduction axis whose parts become an axis of their own, where the sum is split. */
uint32_t hn_simt_cut_axis(const struct hn_simt_product *p);
uint32_t hn_simt_shapes(const struct hn_heuristic_job *g, const struct hn_simt_product *p,
		       struct hn_simt_shape *ret, uint32_t n_max);

/* simt_product.c: the nest of v's stage, by shape number `pick`; host as in hn_heuristic_ops. */
bool hn_simt_product(struct hn_heuristic_job *g, const struct hn_heuristic_view *v, int32_t host);

/* simt_rows.c: whether threads share the sum, or it is cut into parts; v's stage and what leads to it row by row as one nest; a reduction alone. */
bool hn_simt_shares_sum(struct hn_heuristic_job *g, const struct hn_heuristic_view *v);
bool hn_simt_rows(struct hn_heuristic_job *g, const struct hn_heuristic_view *v);

/* simt_stream.c: any nest, element by element; a sum inside its one reader `host`, false where
 * threads had better share it. */
void hn_simt_stream(struct hn_heuristic_job *g, const struct hn_heuristic_view *v);
bool hn_simt_stream_in(struct hn_heuristic_job *g, const struct hn_heuristic_view *v, int32_t host);

/* Stages inserted by steps; g->done follows. */
void hn_simt_cache_write(struct hn_heuristic_job *g, int32_t stage, const char *scope);
void hn_simt_cache_read(struct hn_heuristic_job *g, int32_t stage, const char *scope,
		       int32_t reader);

/* n loops of the stage from `at` on as one, bound to that number (NONE: to none); of none,
 * nothing. */
void hn_simt_bind(struct hn_heuristic_job *g, int32_t stage, int32_t at, uint32_t n,
		 enum hn_ann ann);

/* Multiprocessors; 1 where the target does not say. */
int64_t hn_simt_cores(const struct hn_target *t);

#endif
