/* loopstate/expr/linear.h -- index arithmetic on linear forms: a constant, plus values times
 * constants.
 *
 * The caller decides what a value is. For the code generator (lower/cpu/emit_lin.c) it is an
 * instruction. For code that only asks how an index moves (target/cpu/nest.c) it is a hash. Both
 * use the same rules, so they cannot come to different answers.
 *
 * A term carries its range and the depth where it is known, because an offset is put together
 * from the outermost loop on.  Forms that end as expressions are simplify.h's; those of proofs
 * about loops have digits for terms (loopstate/nest/digit_form.h).
 */
#ifndef HN_LOOPSTATE_EXPR_LINEAR_H
#define HN_LOOPSTATE_EXPR_LINEAR_H

#include "loopstate/expr/expr.h"

#define HN_LINEAR_TERMS 16
#define HN_LINEAR_KNOWN 2
#define HN_LINEAR_HERE INT32_MAX /* depth of a value that cannot move out of its place */
#define HN_LINEAR_RANGE ((int64_t)1 << 61)

struct hn_linear_term {
	void *v; /* in [lo, hi] */
	int64_t coef, lo, hi;
	int32_t depth; /* of loops around the place where it is known */
};

struct hn_linear {
	uint32_t n;
	int64_t c;
	struct hn_linear_term t[HN_LINEAR_TERMS]; /* each value once, no coef 0 */
};

/* Operations on values; HN_LINEAR_DIV: of a natural number; HN_LINEAR_XOR: of natural numbers, bit
 * by bit; HN_LINEAR_EXPR + an operator of loopstate/expr/expr.h. */
enum { HN_LINEAR_ADD = 1, HN_LINEAR_MUL, HN_LINEAR_DIV, HN_LINEAR_XOR, HN_LINEAR_EXPR = 100 };

struct hn_linear_maker_ops {
	void *(*number)(void *ctx, int64_t v);
	/* x op y, which is known at `depth`; equal for equal arguments there */
	void *(*place)(void *ctx, uint32_t op, void *x, void *y, int32_t depth);
	/* of a variable, of any kind; and of what is no arithmetic: casts, memory, functions */
	void (*variable)(void *ctx, const struct hn_expr *x, struct hn_linear *ret);
	void (*data)(void *ctx, const struct hn_expr *x, struct hn_linear *ret);
};

/* A value that is a constant where forms are asked for. */
struct hn_linear_known {
	void *v; /* NULL = none */
	int64_t value;
};

struct hn_linear_maker {
	const struct hn_linear_maker_ops *ops;
	void *ctx;
	uint32_t n_known;
	struct hn_linear_known known[HN_LINEAR_KNOWN];
};

/* x as a form. */
void hn_linear_of(const struct hn_linear_maker *f, const struct hn_expr *x,
		  struct hn_linear *ret);

/* x += y * coef.  Past HN_LINEAR_TERMS terms the sum of them is made a value. */
void hn_linear_add(const struct hn_linear_maker *f, struct hn_linear *x,
		   const struct hn_linear *y, int64_t coef);
void hn_linear_add_term(const struct hn_linear_maker *f, struct hn_linear *x,
			struct hn_linear_term t);

/* ret = floordiv(x, c), c > 0.  ret != x. */
void hn_linear_floordiv(const struct hn_linear_maker *f, const struct hn_linear *x, int64_t c,
			struct hn_linear *ret);

/* ret = x XOR y, both in [0, 2^bits). */
void hn_linear_xor(const struct hn_linear_maker *f, const struct hn_linear *x,
		   const struct hn_linear *y, uint32_t bits, struct hn_linear *ret);

/* x as a value, its terms added in the order they become known; and where it is. */
void *hn_linear_value(const struct hn_linear_maker *f, const struct hn_linear *x,
		      int32_t *ret_depth);

/* -- pure ------------------------------------------------------------------------------- */

bool hn_linear_same_terms(const struct hn_linear *x, const struct hn_linear *y);

/* All that x may be, at most HN_LINEAR_RANGE from 0. */
void hn_linear_range(const struct hn_linear *x, int64_t *lo, int64_t *hi);

/* Terms in the order they become known. */
void hn_linear_sort(struct hn_linear *x);

/* The argument of a cast that changes no index: x of op space with n_axis axes, or of loop space
 * (UINT32_MAX); NULL = it is none. */
const struct hn_expr *hn_linear_cast(const struct hn_expr *x, uint32_t n_axis);

/* Whether x is index arithmetic: integers over axes alone, done in 64 bits. */
bool hn_linear_is_index(const struct hn_expr *x, uint32_t n_axis);

/* How much more the form is in each iteration of a loop than in the one before, judged by its
 * first ones (at(ctx, i, ...), of `count`): terms stay, and constants grow evenly; else
 * HN_LINEAR_UNEVEN. */
#define HN_LINEAR_UNEVEN INT64_MIN
int64_t hn_linear_step(int64_t count,
		       void (*at)(void *ctx, int64_t i, struct hn_linear *ret),
		       void *ctx);

#endif
