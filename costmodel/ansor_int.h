/* costmodel/ansor_int.h -- one store as Ansor's extraction sees it: the loops around it, the
 * operations of its value, and where its accesses go.
 */
#ifndef HN_COSTMODEL_ANSOR_INT_H
#define HN_COSTMODEL_ANSOR_INT_H

#include "costmodel/ansor.h"
#include "loopstate/expr/simplify.h"

#define HN_ANSOR_N_COUNT (HN_ANSOR_select_op + 1) /* the operations, first in a row */
#define HN_ANSOR_N_SLOT 5
#define HN_ANSOR_SLOT (HN_ANSOR_B1_bytes - HN_ANSOR_B0_bytes) /* columns of one */

enum hn_ansor_access_kind { HN_ANSOR_READ, HN_ANSOR_WRITE, HN_ANSOR_READ_WRITE };

struct hn_ansor_access { /* all accesses of a statement to one buffer */
	int32_t op, out;
	enum hn_ansor_access_kind kind;
	int64_t elem_bytes;
	uint32_t n_dim;
	const int64_t *shape; /* [n_dim] of the whole tensor */
	uint32_t n_index, cap;
	const struct hn_expr *const **index; /* [n_index][n_dim], in loop space */
	const bool *moves; /* [nest->n] whether an index names that loop */
	double *region; /* [n_dim] elements touched along each dimension, by all loops so far */
	double touched; /* product of them */
};

struct hn_ansor_store {
	double count[HN_ANSOR_N_COUNT]; /* operations of one iteration */
	uint32_t n, cap;
	struct hn_ansor_access *access; /* the stored buffer, then the others as they are read */
};

struct hn_ansor_touch { /* what stores in a loop touch of a buffer, one iteration outside */
	int32_t op, out;
	uint32_t n_store;
	double first, least; /* elements, by the first store and by the one with fewest */
	struct hn_ansor_touch *next;
};

struct hn_ansor_loop { /* of all stores in a loop so far */
	struct hn_ansor_touch *touch;
	double bytes;	   /* touched, accesses of different stores counted twice */
	double elem_bytes; /* of one element of each */
};

struct hn_ansor_nest {
	const struct hn_looptree *tree;
	const struct hn_dag *dag; /* the tree's, constant matrices inlined as 1 */
	struct hn_arena *a;
	enum hn_ansor_defects defects;
	double line_bytes; /* of the cache */
	uint32_t n;
	const struct hn_node *loop[HN_ANSOR_MAX_LOOPS]; /* around the statement, outermost
							 * first; without those that run once */
	double points;	     /* product of their extents */
	struct hn_span *span; /* [tree's loops] values of the loops around; others 0 */
	struct hn_ansor_loop *of; /* [tree's loops] by loop id */
	int32_t unroll_max_step; /* of the innermost stage around that has one */
	bool is_gpu;
};

/* Operations and accesses of what stmt stores to output `out` of its stage. */
void hn_ansor_store_read(const struct hn_ansor_nest *nest, const struct hn_node *stmt,
			 uint32_t out, struct hn_ansor_store *ret);

/* Fill the slots and the intensity curve of row x, and remember in nest->of what is touched. */
void hn_ansor_store_measure(struct hn_ansor_nest *nest, struct hn_ansor_store *s, double *x);

#endif
