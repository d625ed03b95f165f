/* loopstate/nest/quick_form.h -- sparse linear forms over loop digits, for the quick check.
 *
 * A form is an interval plus a sum of coefficients times digits (radix.h).  What is not
 * linear widens the interval, so the values of an expression always lie within its form;
 * a form whose interval is one number is exact.
 */
#ifndef HN_LOOPSTATE_NEST_QUICK_FORM_H
#define HN_LOOPSTATE_NEST_QUICK_FORM_H

#include "loopstate/nest/radix.h"

#define HN_QUICK_MAX_TERMS 28

/* A digit of a loop, or several of them that a guard bounds together (`of` is then their
 * form, and the digit its value). */
struct hn_quick_digit {
	int64_t range; /* [0, range) */
	uint32_t depth; /* loops around its loop */
	bool ragged; /* not every combination of its loop's digits is run */
	const struct hn_quick_form *of; /* NULL for a plain one */
};

struct hn_quick_term {
	uint32_t digit;
	int64_t coef; /* not 0 */
};

struct hn_quick_form {
	int64_t lo, hi;
	uint32_t n;
	struct hn_quick_term term[HN_QUICK_MAX_TERMS];
};

struct hn_quick_space {
	const struct hn_looptree *tree;
	const struct hn_radix *radix;  /* [n_loop] */
	const uint32_t *first_digit;   /* [n_loop] */
	struct hn_quick_digit *digit;
	uint32_t n_digit, cap_digit;
};

/* ret += mul * e.  With axis, e is in op space and VAR i stands for axis[i] (NULL: e is
 * refused); without, in loop space.  False when the numbers or the terms grow too large. */
bool hn_quick_add(const struct hn_quick_space *s, const struct hn_expr *e,
		  const struct hn_quick_form *const *axis, int64_t mul,
		  struct hn_quick_form *ret);

/* ret += mul * f. */
bool hn_quick_add_form(const struct hn_quick_form *f, int64_t mul,
		       struct hn_quick_form *ret);

/* The least and the greatest value. */
bool hn_quick_range(const struct hn_quick_space *s, const struct hn_quick_form *f,
		    int64_t *ret_lo, int64_t *ret_hi);

bool hn_quick_within(const struct hn_quick_space *s, const struct hn_quick_form *f,
		     int64_t lo, int64_t hi);

/* *ret = *f, of which no more than its terms need be there (hn_quick_keep). */
void hn_quick_copy(struct hn_quick_form *ret, const struct hn_quick_form *f);

/* The form in exactly its size, in the arena. */
const struct hn_quick_form *hn_quick_keep(const struct hn_quick_form *f,
					  struct hn_arena *a);

#endif
