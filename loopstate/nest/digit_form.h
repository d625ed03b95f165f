/* loopstate/nest/digit_form.h -- linear forms over loop digits: what both proofs of legality do
 * without isl (quick.h, lower/prove/poly.h).
 *
 * A form is an interval plus a sum of coefficients times digits (radix.h).  What is not
 * linear widens the interval, so the values of an expression always lie within its form;
 * a form whose interval is one number is exact.
 *
 * Everything here only ever proves: false means "not shown", never "wrong".  A value that is too
 * large or has too many terms is refused, where the ranges of dags (loopstate/dag/range.h) go on
 * with an unknown end: a search asks some ten forms for each statement of each candidate.
 */
#ifndef HN_LOOPSTATE_NEST_DIGIT_FORM_H
#define HN_LOOPSTATE_NEST_DIGIT_FORM_H

#include "loopstate/nest/radix.h"

#define HN_DIGIT_FORM_TERMS 28

/* A digit of a loop, or several of them that a guard bounds together (`of` is then their
 * form, and the digit its value). */
struct hn_digit {
	int64_t range;	/* [0, range) */
	uint32_t depth; /* loops around its loop */
	bool ragged;	/* not every combination of its loop's digits is run */
	const struct hn_digit_form *of; /* NULL for a plain one */
};

struct hn_digit_term {
	uint32_t digit;
	int64_t coef; /* not 0 */
};

struct hn_digit_form {
	int64_t lo, hi;
	uint32_t n;
	struct hn_digit_term term[HN_DIGIT_FORM_TERMS];
};

/* The digits of a tree, or of the loops around one statement. */
struct hn_digit_space {
	const struct hn_radix *radix; /* [n_loop] */
	const int32_t *first;	      /* [n_loop] the loop's first digit, -1 = not in the space */
	struct hn_digit *digit;
	uint32_t n_digit, cap_digit;
};

/* The digits of a loop that is in the space, below `depth` others. */
void hn_digit_set_loop(struct hn_digit_space *s, int32_t loop, uint32_t depth);

static inline void hn_digit_form_zero(struct hn_digit_form *f)
{
	f->lo = f->hi = 0;
	f->n = 0;
}

/* ret += mul * e.  With axis, e is in op space and VAR i stands for axis[i] (NULL: e is
 * refused); without, in loop space.  False when the numbers or the terms grow too large; ret is
 * then of no use. */
bool hn_digit_form_add_expr(const struct hn_digit_space *s, const struct hn_expr *e,
			    const struct hn_digit_form *const *axis, int64_t mul,
			    struct hn_digit_form *ret);

/* ret += mul * f. */
bool hn_digit_form_add(const struct hn_digit_form *f, int64_t mul, struct hn_digit_form *ret);

/* The least and the greatest value. */
bool hn_digit_form_range(const struct hn_digit_space *s, const struct hn_digit_form *f,
			 int64_t *ret_lo, int64_t *ret_hi);

bool hn_digit_form_within(const struct hn_digit_space *s, const struct hn_digit_form *f,
			  int64_t lo, int64_t hi);

/* Marks in told[n_digit] the digits that follow from the value of the exact form f, when those
 * of loops outside depth `first` and the marked ones are known: from the largest coefficient on,
 * as long as each is larger than all smaller ones together can make.  Whether any is new. */
bool hn_digit_form_tell(const struct hn_digit_space *s, const struct hn_digit_form *f,
			uint32_t first, bool *told);

/* *ret = *f, of which no more than its terms need be there (hn_digit_form_keep). */
void hn_digit_form_copy(struct hn_digit_form *ret, const struct hn_digit_form *f);

/* The form in exactly its size, in the arena. */
const struct hn_digit_form *hn_digit_form_keep(const struct hn_digit_form *f, struct hn_arena *a);

#endif
