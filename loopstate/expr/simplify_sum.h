/* loopstate/expr/simplify_sum.h -- the sums that simplify.c is made of; nobody else includes
 * it.
 *
 * Invariants of a struct hn_lin: terms in the order of hn_expr_order, no atom twice, no
 * zero coefficient, atoms already simplified. */
#ifndef HN_LOOPSTATE_EXPR_SIMPLIFY_SUM_H
#define HN_LOOPSTATE_EXPR_SIMPLIFY_SUM_H

#include "loopstate/expr/simplify.h"

struct hn_lin {
	int64_t c;
	uint32_t n;
	struct hn_term *term;
};

struct hn_lin_ctx {
	const struct hn_span *loop;
	uint32_t n_loop;
	struct hn_arena *a;
	uint32_t steps; /* left */
	bool bad;
	bool given_simple; /* only sums of simple terms will come: look at nothing else */
};

/* A total order of trees: < 0, 0 (equal), > 0. */
int hn_expr_order(const struct hn_expr *p, const struct hn_expr *q);

/* 64-bit arithmetic that sets x->bad when it overflows. */
int64_t hn_lin_mul64(struct hn_lin_ctx *x, int64_t p, int64_t q);
int64_t hn_lin_add64(struct hn_lin_ctx *x, int64_t p, int64_t q);

struct hn_lin hn_lin_const(int64_t c);
struct hn_lin hn_lin_atom(struct hn_lin_ctx *x, const struct hn_expr *atom);
struct hn_lin hn_lin_scale(struct hn_lin_ctx *x, struct hn_lin v, int64_t k);
struct hn_lin hn_lin_plus(struct hn_lin_ctx *x, struct hn_lin p, struct hn_lin q);

/* v += coef * atom in place.  v is the caller's own: it began as a constant and got its
 * terms here only.  coef is not 0. */
void hn_lin_add_term(struct hn_lin_ctx *x, struct hn_lin *v, int64_t coef,
		     const struct hn_expr *atom);

/* The sum as a tree of type t. */
const struct hn_expr *hn_lin_build(struct hn_lin_ctx *x, struct hn_lin v,
				   enum hn_dtype t);

/* Bounds of a sum; false when not known. */
bool hn_lin_range(struct hn_lin_ctx *x, struct hn_lin v, int64_t *lo, int64_t *hi);

/* The largest divisor g > 1 of d at which v is g * high + low, 0 <= low < g (then high is
 * v floordiv g and low is v floormod g); 1 when there is none. */
int64_t hn_lin_split(struct hn_lin_ctx *x, struct hn_lin v, int64_t d,
		     struct hn_lin *high, struct hn_lin *low);

#endif
