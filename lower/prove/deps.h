/* lower/prove/deps.h -- the polyhedral model of a ComputeDAG, and its dependences by class.
 *
 * The model of a dag is the model of its naive loop tree (poly.h): before any step each op is
 * a nest of its own, one loop per axis, so that statements, domains, accesses and guards on
 * reads are the dag's.  An op that reduces has two statements, init and update; statements
 * are S<id> in the order of the text, elements T<op>, loops count from 0 whatever the axis'
 * minimum.  Extents are numbers, so the context has no parameters.
 *
 * Every op writes a tensor of its own and reads earlier ones, hence dependences need no
 * dataflow analysis: who writes an element goes before who reads it.  Flow is between all
 * updates and the reader, not only the last, so that it still orders them when the reduction
 * class is left out (after PPCG and Polly).
 */
#ifndef HN_LOWER_PROVE_DEPS_H
#define HN_LOWER_PROVE_DEPS_H

#include <isl/union_map.h>
#include <isl/union_set.h>

#include "base/err.h"
#include "lower/prove/poly.h"

enum hn_dep_class {
	HN_DEP_FLOW,	  /* what computes an element -> what reads it, between ops */
	HN_DEP_INIT,	  /* init -> each update of the same element */
	HN_DEP_REDUCTION, /* update -> later updates of the same element */
	HN_DEP_IN_PLACE,  /* read -> overwriting by a later op; none while ops write tensors of
			   * their own */
	HN_N_DEP
};

struct hn_deps {
	struct hn_poly poly; /* statements in detail: op and kind of S<i> are
			      * poly.stmt[i].node->stage and ->stmt */
	isl_set *context;	/* { : } */
	isl_union_set *domain;	/* of all statements */
	isl_union_map *read;	/* [S[loops] -> R<k>[]] -> T[index], k counts a statement's
				 * reads; on the instances whose guards hold */
	isl_union_map *write;	/* S[loops] -> T[axes] */
	isl_union_map *live_in; /* S[loops] -> T[index]: reads of inputs */
	isl_union_map *dep[HN_N_DEP];
};

/* Build it in ctx (one thread; the caller's watchdog or quota bounds it; errors must not
 * abort, ISL_ON_ERROR_CONTINUE).  Bookkeeping in `a`; the dag must outlive ret, whose isl
 * objects hn_deps_free gives back, after a failure too.  HONE_E_TIMEOUT when isl was stopped,
 * HONE_E_INTERNAL with its words when it refused, else what building the loop tree says. */
int hn_deps_build(const struct hn_dag *dag, isl_ctx *ctx, struct hn_arena *a,
		  struct hn_deps *ret, struct hn_err *err) HN_NODISCARD;
void hn_deps_free(struct hn_deps *d);

/* The same over the instances of any loop tree: loops are the tree's, values in LOCAL buffers
 * live as poly.h has it.  What a history must keep, whether it does or not. */
int hn_deps_of_tree(const struct hn_looptree *tree, isl_ctx *ctx, struct hn_arena *a,
		    struct hn_deps *ret, struct hn_err *err) HN_NODISCARD;

const char *hn_dep_class_name(enum hn_dep_class c);

/* What every order must keep: all classes, the reduction class only for ops that keep the
 * order they are written in (loopstate/dag/liberty.h).  The caller's; NULL when isl failed. */
isl_union_map *hn_deps_validity(const struct hn_deps *d);

/* What isl's last error in ctx amounts to: 0 when there was none, else as hn_deps_build,
 * with `what` as the subject of the sentence. */
int hn_deps_failure(isl_ctx *ctx, const char *what, struct hn_err *err);

#endif
