/* loopstate/expr/simplify.h -- index expressions kept small: an affine normal form with
 * ranges.
 *
 * An integer expression becomes  c + sum of coef * atom,  an atom being a variable or a
 * term that is not affine (floordiv, floormod, min, a load ...).  Known ranges of the
 * variables decide floor divisions, remainders and comparisons: with 0 <= i1 < 4,
 * floordiv(i0*4 + i1, 4) is i0 and floormod(i0*4 + i1, 4) is i1.
 * Works on int32 and int64 nodes, in 64 bits; anything else is only rebuilt around its
 * integer parts.  Sums that would overflow 64 bits are left as they were. Source of the
 * rules: TVM's canonical simplifier, the part that split and fuse need.
 *
 * Terms are as many as come, and in one order, because the form ends as an expression that is
 * compared node by node: hence it is not linear.h's, which has room for sixteen in any order.
 */
#ifndef HN_LOOPSTATE_EXPR_SIMPLIFY_H
#define HN_LOOPSTATE_EXPR_SIMPLIFY_H

#include "loopstate/expr/expr.h"

/* Values a variable takes: lo..hi, both included.  Bounds at or past +-HN_SPAN_MAX mean
 * "not known". */
struct hn_span {
	int64_t lo, hi;
};

#define HN_SPAN_MAX ((int64_t)1 << 62)

/* An equal index expression, usually smaller; `loop[i]` is the range of slot i, other slots
 * are not known.  Its integers are without end: data is not, see below.  Pure; equal inputs
 * give equal trees. */
const struct hn_expr *hn_simplify(const struct hn_expr *e, const struct hn_span *loop,
				  uint32_t n_loop, struct hn_arena *a);

/* The same of a value: bit for bit what it was, whatever its loads bring.  Indices inside of
 * loads, and integer parts that read nothing and stay within their type, are simplified as
 * above; a condition that is always true goes. */
const struct hn_expr *hn_simplify_data(const struct hn_expr *e, const struct hn_span *loop,
				       uint32_t n_loop, struct hn_arena *a);

/* Whether e means the same as an index and as data: it reads no data, and each node is known
 * to stay within its type. */
bool hn_expr_is_exact(const struct hn_expr *e, const struct hn_span *loop, uint32_t n_loop);

/* Bounds of an integer or bool expression by interval arithmetic: sound, and exact when
 * each variable occurs once (so simplify first).  False when no finite bounds are known.
 */
bool hn_expr_range(const struct hn_expr *e, const struct hn_span *loop, uint32_t n_loop,
		   int64_t *ret_lo, int64_t *ret_hi);

/* e == coef * slot + (something without slot)?  A slot that does not occur has coef 0;
 * one inside a floordiv, a load or the like makes this false. */
bool hn_expr_linear(const struct hn_expr *e, int32_t slot, int64_t *ret_coef);

/* Whether variable `slot` occurs in e. */
bool hn_expr_uses(const struct hn_expr *e, int32_t slot);

/* The affine normal form itself, for callers that reason about terms: e simplified first.
 * Non-integers have the single atom e. */
struct hn_term {
	int64_t coef; /* not 0 */
	const struct hn_expr *atom;
};

struct hn_affine {
	int64_t c;
	uint32_t n;
	const struct hn_term
		*term; /* in a fixed order: variables by slot, then the others */
};

/* hn_simplify of c + sum of coef * atom, the atoms being index expressions of type t that
 * hn_simplify made (for these ranges), in any order, sums too. */
const struct hn_expr *hn_simplify_sum(struct hn_affine sum, enum hn_dtype t,
				      const struct hn_span *loop, uint32_t n_loop,
				      struct hn_arena *a);

struct hn_affine hn_affine_of(const struct hn_expr *e, const struct hn_span *loop,
			      uint32_t n_loop, struct hn_arena *a);

#endif
