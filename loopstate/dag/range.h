/* loopstate/dag/range.h -- what values an integer expression can take, given what is known.
 *
 * Quasi-affine reasoning over op-space expressions: linear forms over atoms (axes,
 * quotients by constants, and opaque terms with an interval), facts of the form `linear
 * >= 0` from guards, interval propagation, and a bounded search that adds multiples of
 * facts (Fourier-Motzkin, cut short).  Sound, not complete: a bound it gives always
 * holds; that it finds none proves nothing.  Work is bounded, so hostile input costs
 * milliseconds.
 *
 * A form's ends may be unknown here, and its terms are made while an expression is read.  A loop
 * nest has all its digits beforehand, and refuses what is not known: loopstate/nest/digit_form.h.
 */
#ifndef HN_LOOPSTATE_DAG_RANGE_H
#define HN_LOOPSTATE_DAG_RANGE_H

#include "base/arith.h"
#include "loopstate/dag/dag.h"

#define HN_RANGE_INF HN_EXTENT_MAX /* +-: unknown */
#define HN_RANGE_TERMS 24

/* sum of coef * atom, plus something in [lo, hi]. */
struct hn_form {
	uint32_t n;
	struct {
		int32_t atom;
		int64_t coef;
	} term[HN_RANGE_TERMS];
	int64_t lo, hi;
};

struct hn_range; /* the prover's knowledge */

/* Knowledge of an op's axes alone.  Heap; what it makes of expressions lies in `a`. */
struct hn_range *hn_range_new(const struct hn_op *op, struct hn_arena *a);
void hn_range_free(struct hn_range *r); /* NULL is fine */

/* Nested knowledge: what is assumed or bound after push is forgotten by pop. */
struct hn_range_mark {
	uint32_t n_atom, n_fact, n_trail, n_let;
	bool empty;
};
struct hn_range_mark hn_range_push(struct hn_range *r);
void hn_range_pop(struct hn_range *r, struct hn_range_mark mark);

/* Take the comparison `e` (or its negation) for true. Only eq, lt, le, gt, ge of
 * integers, and the negations of all but eq, add facts; anything else is ignored. */
void hn_range_assume(struct hn_range *r, const struct hn_expr *e, bool holds);

/* x < y. */
void hn_range_assume_less(struct hn_range *r, const struct hn_expr *x,
			  const struct hn_expr *y);

/* Whether the assumptions contradict each other: nothing can happen here. */
bool hn_range_empty(const struct hn_range *r);

/* Make a let's slot known. */
void hn_range_bind(struct hn_range *r, int32_t slot, const struct hn_expr *value);

/* Bounds of e, at least as good as needed to see that it stays within [want_lo, want_hi]
 * if that can be shown. */
struct hn_bound {
	int64_t lo, hi; /* inclusive; +-HN_RANGE_INF = unknown */
	bool data;	/* e depends on loaded values or floats */
	bool exact;	/* both ends are taken */
};
struct hn_bound hn_range_of(struct hn_range *r, const struct hn_expr *e, int64_t want_lo,
			    int64_t want_hi);

#endif
