/* lower/prove/equal_int.h -- what the parts of the comparison of dags share.
 *
 * All expressions that are compared are over one stage's points: slots 0.. are its spatial axes,
 * then its reduction axes.  They are expanded (equal_expand.c): their loads name ops of the task's
 * dag, or, as op n_op + d, a stage d that is no such op.
 */
#ifndef HN_LOWER_PROVE_EQUAL_INT_H
#define HN_LOWER_PROVE_EQUAL_INT_H

#include <isl/set.h>

#include "lower/prove/equal.h"
#include "lower/prove/poly_aff.h"

#define HN_EQ_MAX_SLOTS 192
#define HN_EQ_MAX_STEPS 4000000 /* nodes looked at, in all stages */
#define HN_EQ_MAX_NESTING 6000
#define HN_EQ_MAX_TERMS 48	/* of one linear form */

/* Values of a slot: min <= value < min + extent; form, when not NULL, is the extent. */
struct hn_eq_axis {
	int64_t min, extent;
	const struct hn_expr *form;
};

/* Points under conditions, each within the one above. */
struct hn_eq_dom {
	const struct hn_eq_dom *up; /* NULL: all points */
	const struct hn_expr *cond; /* holds, or does not when !positive */
	bool positive;
	isl_set *set; /* made when it is asked for; no smaller than the points */
	struct hn_eq_dom *next; /* all that were made */
};

struct hn_eq {
	const struct hn_dag *given, *derived;
	isl_ctx *ctx;
	struct hn_arena *arena;
	struct hn_err *err;
	int32_t *is;		  /* [derived->n_op] the op that a stage was shown to be; -1 */
	const char **why_not;	  /* [derived->n_op] NULL or why it was not */
	bool *live;		  /* [derived->n_op] somebody needs it */
	bool *known;		  /* [given->n_op] a live stage was shown to be it */
	uint64_t steps;
	bool gave_up;
	uint32_t nesting; /* of what is being expanded */

	/* The stage at hand. */
	uint32_t n_slot;
	struct hn_eq_axis slot[HN_EQ_MAX_SLOTS];
	struct hn_eq_dom *doms;
	bool asked_isl;
	bool *unfolded; /* [given->n_op + derived->n_op] loads that were replaced */
	const char *why; /* the first thing that is not shown */
};

/* Slots as values of a body's axes, and its lets. */
struct hn_eq_let {
	const struct hn_eq_let *up;
	int32_t from, to;
	const struct hn_expr *value; /* what takes its place; NULL: its new name does */
};

struct hn_eq_env {
	bool derived; /* whose body it is */
	const struct hn_expr *const *value; /* [axes of the op] */
	uint32_t n_value;
	const struct hn_eq_let *let;
	int32_t depth; /* lets around it, those of what it is unfolded into too: they are named by
			* their depth, so that equal bodies have equal names and none is captured */
};

/* Notes why the stage at hand is not shown, unless something was noted; returns false. */
bool hn_eq_fail(struct hn_eq *c, const char *fmt, ...) HN_PRINTF(2, 3);

/* Counts n steps; false when there were too many, or the time that isl has is up. */
bool hn_eq_spend(struct hn_eq *c, uint64_t n);

/* -- equal_expand.c -- */

/* e with its axes replaced, and the loads of what both dags do not have unfolded.  `index`: e is
 * an index, an integer without end; otherwise data.  NULL when it cannot be (why says it). */
const struct hn_expr *hn_eq_expand(struct hn_eq *c, const struct hn_eq_env *env,
				   const struct hn_expr *e, bool index);

/* Data read as an index keeps its own arithmetic: a node around it says so where the two may
 * differ. */
bool hn_eq_is_data(const struct hn_expr *e);

/* Slot k as an expression; a number when it has one value. */
const struct hn_expr *hn_eq_slot(struct hn_eq *c, uint32_t k);

/* e with conditions that are decided on all of the points replaced by what they are. */
const struct hn_expr *hn_eq_decide(struct hn_eq *c, const struct hn_eq_dom *dom,
				   const struct hn_expr *e);

/* -- equal_law.c -- */

/* A node of data, by the laws of its type. */
const struct hn_expr *hn_eq_data(struct hn_eq *c, const struct hn_expr *like,
				 const struct hn_expr *const *arg);

/* -- equal_range.c -- */

/* The values an index expression takes over all points; false when not known. */
bool hn_eq_span(const struct hn_eq *c, const struct hn_expr *e, int64_t *lo, int64_t *hi);

/* Whether e means the same as data and as an index: it loads nothing, and no node of it leaves
 * its type. Of integers and conditions. */
bool hn_eq_exact(const struct hn_eq *c, const struct hn_expr *e);

/* e, or what the ranges of its axes tell: that it is a number, that a remainder is its dividend,
 * that a comparison holds.  `index`: e is one; otherwise data, of which only what is exact is
 * looked at. */
const struct hn_expr *hn_eq_ranged(struct hn_eq *c, const struct hn_expr *e, bool index);

/* -- equal_index.c -- */

/* A linear form over expressions.  It shares nothing with the simplifier's
 * (loopstate/expr/simplify.h): that one made what is compared here. */
struct hn_eq_lin {
	int64_t c;
	uint32_t n;
	bool bad; /* a number left 64 bits, or there are too many terms */
	struct {
		int64_t coef;
		const struct hn_expr *atom;
	} term[HN_EQ_MAX_TERMS];
};

/* l += k * e, as a linear form over terms that are not sums. */
void hn_eq_add(struct hn_eq *c, struct hn_eq_lin *l, const struct hn_expr *e, int64_t k);

/* The form as an expression. */
const struct hn_expr *hn_eq_of_lin(struct hn_eq *c, const struct hn_eq_lin *l);

/* Whether two conditions on integers that are no data compare the same sums of the same terms. */
bool hn_eq_alike(struct hn_eq *c, const struct hn_expr *x, const struct hn_expr *y);

/* Whether two indices are equal at all points. */
bool hn_eq_index(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *x,
		 const struct hn_expr *y);

/* The part of dom where cond holds (or does not). */
const struct hn_eq_dom *hn_eq_where(struct hn_eq *c, const struct hn_eq_dom *dom,
				    const struct hn_expr *cond, bool positive);

/* Whether no point is in dom. */
bool hn_eq_nowhere(struct hn_eq *c, const struct hn_eq_dom *dom);

/* Whether isl knows exactly where the condition holds. */
bool hn_eq_is_affine_condition(const struct hn_eq *c, const struct hn_expr *e);

/* A space of the slots named by dim (slot -> coordinate, -1 = none), n coordinates. */
isl_space *hn_eq_space(const struct hn_eq *c, uint32_t n);

/* { coordinates : slots in their ranges, sizes in theirs }. */
isl_set *hn_eq_box(const struct hn_eq *c, uint32_t n, const int32_t *dim);

/* set where cond holds, slots at coordinates dim. */
isl_set *hn_eq_cut(struct hn_eq *c, isl_set *set, const int32_t *dim, const struct hn_expr *cond,
		   bool positive);

/* -- equal_value.c -- */

/* Whether the value x (of the task's dag) is the value y at all points of dom. */
bool hn_eq_value(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *x,
		 const struct hn_expr *y);

/* -- equal.c -- */

/* The same, also with conditions gone that are decided at all points of dom. */
bool hn_eq_decided(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *x,
		   const struct hn_expr *y);

/* -- equal_match.c -- */

/* value[k] = what slot first + k of x must be, for x to be y; what is found, unproved. */
void hn_eq_match(struct hn_eq *c, const struct hn_expr *x, const struct hn_expr *y,
		 uint32_t first, const struct hn_expr **value, uint32_t n, bool below);

/* -- equal_reduce.c -- */

/* A reduction of the derived dag, with those it reduces in turn, as one. */
struct hn_eq_flat {
	uint32_t n_spatial, n_reduce; /* slots: spatial, then reduction axes of all */
	uint32_t n_nested;
	const struct hn_expr *source[HN_DAG_MAX_OUT];
	const struct hn_expr *condition; /* NULL = always */
};

/* Slots for the op's reduction axes; false when there are too many. */
bool hn_eq_add_slots(struct hn_eq *c, const struct hn_op *op);

/* The reduction's sources and condition (NULL when there is none), its axes being value[]. */
bool hn_eq_expand_reduce(struct hn_eq *c, bool derived, const struct hn_op *op,
			 const struct hn_expr *const *value, const struct hn_expr **source,
			 const struct hn_expr **condition);

/* x and y; NULL = always. */
const struct hn_expr *hn_eq_both(struct hn_eq *c, const struct hn_expr *x,
				 const struct hn_expr *y);

/* `x ? y : false`: both hold. */
bool hn_eq_is_guard(const struct hn_expr *e);

/* -- equal_parts.c -- */

struct hn_eq_parts {
	const struct hn_op *op; /* of the task's dag */
	const struct hn_eq_flat *flat;
	const struct hn_expr *value[HN_DAG_MAX_ITERS]; /* of its reduction axes, over flat's */
	const struct hn_expr *in; /* where the map leads into op's box, within flat's guards;
				   * NULL = everywhere */
};

/* Guesses the map, p->value; below: also by what lies below quotients and remainders of indices.
 * False when none can be (why says it). */
bool hn_eq_find_map(struct hn_eq *c, struct hn_eq_parts *p, bool below);

/* Whether the map gives each point of op's box to exactly one of flat's; condition is op's, over
 * flat's axes.  Sets p->in. */
bool hn_eq_is_partition(struct hn_eq *c, struct hn_eq_parts *p, const struct hn_expr *condition);

/* -- equal_rest.c -- */

/* Guesses p->value where it is NULL: axes that nothing in the reduction's source tells of. */
void hn_eq_match_rest(struct hn_eq *c, struct hn_eq_parts *p);

/* Whether the reduction of stage d is that of op o, spatial axes being slots already.  *ret_by:
 * what allows it, when it is in parts. */
bool hn_eq_reduction(struct hn_eq *c, int32_t d, int32_t o, const char **ret_by);

#endif
