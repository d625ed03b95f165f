/* lower/prove/poly_aff.h -- expressions of a statement as isl affine functions, conditions as
 * sets.
 *
 * Objects are made by isl's constructors, not by printing and reading text back: reading
 * took four fifths of a legality check.
 */
#ifndef HN_LOWER_PROVE_POLY_AFF_H
#define HN_LOWER_PROVE_POLY_AFF_H

#include <isl/aff.h>
#include <isl/set.h>

#include "loopstate/nest/radix.h"

/* The instance space of one statement and how loop ids name its coordinates. */
struct hn_poly_space {
	isl_space *space;		   /* set space S<id>[digits...] */
	const struct hn_radix *radix; /* [loops of the tree] */
	const int32_t
		*first_dim; /* [loops of the tree] first coordinate, -1 = not around it */
};

/* Whether e is quasi-affine over its variables and sizes, piece by piece: + - * by constants,
 * floordiv and floormod by positive constants, min, max, select between such under conditions on
 * such. axis maps op-space slots to loop space; NULL = e is in loop space. */
bool hn_poly_is_affine(const struct hn_expr *e, const struct hn_expr *const *axis);

/* e as a function of the instance (hn_poly_is_affine holds). */
isl_pw_aff *hn_poly_value(const struct hn_poly_space *s, const struct hn_expr *e,
			  const struct hn_expr *const *axis);

/* Instances where e holds (or does not, when !positive); parts that are not affine are
 * taken to hold where that can only enlarge the set. */
isl_set *hn_poly_condition(const struct hn_poly_space *s, const struct hn_expr *e,
			   bool positive, const struct hn_expr *const *axis);

/* { S : every digit of loop l in its range }. */
isl_set *hn_poly_loop_range(const struct hn_poly_space *s, int32_t l);

/* The set where coordinate `dim` < min + form, a form over sizes (loopstate/dag/size.h). */
isl_set *hn_poly_below(isl_set *set, uint32_t dim, int64_t min,
		       const struct hn_expr *form);

#endif
