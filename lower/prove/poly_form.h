/* lower/prove/poly_form.h -- linear forms over a statement's digits, in plain C: what needs no
 * isl.
 *
 * Most accesses are sums of loop digits times constants, and intervals tell that they stay
 * inside.  Everything here only ever proves: false means "ask isl", never "wrong".
 */
#ifndef HN_LOWER_PROVE_POLY_FORM_H
#define HN_LOWER_PROVE_POLY_FORM_H

#include "loopstate/nest/radix.h"

#define HN_POLY_FORM_DIMS 128 /* statements with more digits are isl's */

/* c + sum of coef[d] * digit d, digit d in [0, range[d]). */
struct hn_poly_form {
	int64_t c;
	int64_t coef[HN_POLY_FORM_DIMS], range[HN_POLY_FORM_DIMS];
};

/* The instance space of a statement: how loops name its digits. */
struct hn_poly_digits {
	const struct hn_radix *radix; /* [loops of the tree] */
	const int32_t *first_dim;	   /* [loops of the tree] */
};

/* ret += mul * e; axis as for hn_poly_value.  False when e is not such a form, a digit is
 * past HN_POLY_FORM_DIMS, or a number leaves 64 bits; ret is then of no use. */
bool hn_poly_form_add(const struct hn_poly_digits *s, const struct hn_expr *e,
		      const struct hn_expr *const *axis, int64_t mul,
		      struct hn_poly_form *ret);

/* Whether lo <= form <= hi for all digits in their ranges. */
bool hn_poly_form_within(const struct hn_poly_form *f, int64_t lo, int64_t hi);

/* Whether the n forms and the first n_known of n_dim digits tell all digits apart: no two
 * instances have the same values.  A digit's value follows from a form when, among the
 * digits not known yet, each coefficient is larger than all smaller ones together can
 * make. */
bool hn_poly_forms_injective(const struct hn_poly_form *f, uint32_t n, uint32_t n_known,
			     const int64_t *range, uint32_t n_dim);

#endif
