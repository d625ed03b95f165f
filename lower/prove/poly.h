/* lower/prove/poly.h -- the polyhedral model of a loop tree: domains, accesses, order, as isl
 * objects.
 *
 * One statement per STMT node.  Its instances are the iterations of the loops around it,
 * so a statement that is run again (a halo) has more instances than the op has points;
 * the map `point` says which point of the op an instance computes.  Values in a LOCAL
 * buffer live for one iteration of the loop that holds it: its elements carry the loops
 * outside as leading coordinates (array expansion), and with that every rule below is the
 * same for all scopes.
 *
 * Sizes that are given at run time (loopstate/dag/size.h) are parameters of every set and map,
 * and domains lie within the context: what is shown is shown for all of them.
 *
 * Accesses that are not quasi-affine are over-approximated: the whole dimension is read.
 * Model and checks: Feautrier, "Dataflow analysis of array and scalar references" (1991);
 * Verdoolaege's isl manual.
 */
#ifndef HN_LOWER_PROVE_POLY_H
#define HN_LOWER_PROVE_POLY_H

#include <isl/map.h>
#include <isl/set.h>

#include "base/buf.h"
#include "loopstate/nest/radix.h"

/* One step down the tree: into `node`, the child at `position` of the node above.  A
 * child's init runs just before it: position 2 i for the init of child i, 2 i + 1 for
 * child i. */
struct hn_poly_level {
	const struct hn_node *node;
	uint32_t position;
};

struct hn_poly_read {
	int32_t op;
	isl_map *element; /* S[loops] -> T[lifetime, indices], on the instances that read
			   */
	isl_map *slot;	  /* S[loops] -> [indices - buffer mins]; NULL when intervals
			   * show that all of it lies in the buffer */
};

struct hn_poly_stmt {
	const struct hn_node *node;
	uint32_t id; /* tuple S<id> */
	uint32_t n_level;
	const struct hn_poly_level
		*level; /* from the root down to the statement itself */
	uint32_t n_loop;
	const struct hn_node *const *loop; /* the LOOPs among them, outermost first */
	isl_map *write;			   /* S[loops] -> T[lifetime, axes] */
	isl_map *slot;			   /* S[loops] -> [axes - buffer mins]; NULL as above */
	bool in_shape;			   /* intervals show the axes within the op's shape */
	bool injective;			   /* UPDATE: forms show that no point comes twice */
	isl_map *
		point; /* UPDATE: S[loops] -> T[lifetime, spatial axes, reduction axes] */
	uint32_t n_read;
	struct hn_poly_read *read; /* a reduction's read of itself is not listed */
};

struct hn_poly {
	isl_ctx *ctx;
	const struct hn_looptree *tree;
	const struct hn_radix *radix; /* [tree->n_loop] */
	uint32_t n_stmt;
	struct hn_poly_stmt *stmt;
	uint32_t n_error;   /* isl refused something: isl_ctx_last_error says what */
	uint32_t n_inexact; /* statements whose writes are not quasi-affine: not modelled */
};

/* Build the model in ctx; bookkeeping in `a`, isl objects freed by hn_poly_free.  A
 * failed isl call leaves NULL in its place and counts in n_error. */
void hn_poly_build(const struct hn_looptree *t, isl_ctx *ctx, struct hn_arena *a,
		   struct hn_poly *ret);
void hn_poly_free(struct hn_poly *p);

/* A set space of n coordinates over the dag's sizes as parameters p0, p1, ... */
isl_space *hn_poly_set_space(const struct hn_poly *p, uint32_t n);

/* The values the parameters may have, as a set of no coordinates but them. */
isl_set *hn_poly_context(const struct hn_poly *p);

/* Loops around both statements (a prefix of each one's loops); *ret_before says whether
 * x's branch comes first where the paths part. x != y. */
uint32_t hn_poly_common(const struct hn_poly_stmt *x, const struct hn_poly_stmt *y,
			bool *ret_before);

/* How many iterations of its loop i the statement is ahead (looptree.h): it runs in turn value -
 * ahead. */
int32_t hn_poly_ahead(const struct hn_poly_stmt *s, uint32_t i);

/* Instance coordinates of the statement's first n_loop loops. */
uint32_t hn_poly_dims(const struct hn_poly *p, const struct hn_poly_stmt *s,
		      uint32_t n_loop);

/* Loops that are leading coordinates of op's elements: those down to the loop that holds
 * its buffer; 0 when it is not LOCAL. `s` is any statement inside that loop. */
uint32_t hn_poly_lifetime(const struct hn_looptree *t, int32_t op,
			  const struct hn_poly_stmt *s);

/* Append S<id>[digits], as its sets and maps name them. */
void hn_poly_put_instance(const struct hn_poly *p, const struct hn_poly_stmt *s,
			  struct hn_buf *ret);

/* Append the statements: domains, order, accesses, one isl object a line. */
void hn_poly_print_model(const struct hn_poly *p, struct hn_buf *ret);

/* "compute", "init" or "update". */
const char *hn_poly_kind(const struct hn_poly_stmt *s);

#endif
