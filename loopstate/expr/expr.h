/* loopstate/expr/expr.h -- scalar expressions: bodies of operators, indices, loop-level guards.
 *
 * Trees of immutable nodes in an arena.  One node type serves two spaces, told apart by the
 * owner, never mixed in one tree:
 *   - op space: VAR slots are the op's axes (spatial 0..n_spatial-1, then reduction), or the
 *     combiner's arguments (HN_SLOT_LHS + k, HN_SLOT_RHS + k), or let names (HN_SLOT_LET + k);
 *   - loop space (bounds.h, looptree.h): VAR slots are loop ids of one hn_looptree.
 * Indices and axis variables are int32 in compute-dag/1; arithmetic on them is done in 64
 * bits everywhere in hone.
 */
#ifndef HN_LOOPSTATE_EXPR_EXPR_H
#define HN_LOOPSTATE_EXPR_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/dtype.h"

enum hn_expr_op {
#define EXPR(name, text, arity, result) HN_EXPR_##name,
#include "loopstate/expr/exprops.def"
#undef EXPR
	HN_N_EXPR
};

const char *hn_expr_op_name(enum hn_expr_op op); /* compute-dag/1 spelling */

enum hn_fn {
#define FN(name, arity, c) HN_FN_##name,
#include "loopstate/expr/calls.def"
#undef FN
	HN_N_FN
};

const char *hn_fn_name(enum hn_fn f);
const char *hn_fn_c_name(enum hn_fn f); /* "" when there is no libm function */
uint32_t hn_fn_arity(enum hn_fn f);
enum hn_fn hn_fn_of(const char *name); /* HN_N_FN when unknown */

/* Far above any axis or loop id. */
#define HN_SLOT_LHS 1000000
#define HN_SLOT_RHS 2000000
#define HN_SLOT_LET 3000000
#define HN_SLOT_SIZE 4000000 /* size parameters (loopstate/dag/size.h), in both spaces */

struct hn_expr {
	uint8_t op;    /* enum hn_expr_op */
	uint8_t dtype; /* enum hn_dtype of the value */
	uint16_t n_arg;
	int32_t ref; /* VAR, LET: slot.  LOAD: op index in the dag.  CALL: enum hn_fn */
	int32_t out; /* LOAD: which output of that op */
	union {
		int64_t i;        /* INT (bool constants too) */
		double f;         /* FLOAT; may be inf or nan */
		const char *name; /* VAR, LET: for printing; may be NULL */
	} u;
	const struct hn_expr *arg[]; /* LOAD: one index per dimension. LET: value, body.
				      * SELECT, IF: condition, then, else. */
};

/* Whether e is a size parameter. */
static inline bool hn_expr_is_size(const struct hn_expr *e)
{
	return e->op == HN_EXPR_VAR && e->ref >= HN_SLOT_SIZE;
}

const struct hn_expr *hn_expr_var(int32_t slot, enum hn_dtype t, const char *name,
				  struct hn_arena *a);
const struct hn_expr *hn_expr_int(int64_t v, enum hn_dtype t, struct hn_arena *a);
const struct hn_expr *hn_expr_float(double v, enum hn_dtype t, struct hn_arena *a);

/* x op y over 64-bit integers; false when it overflows, divides by zero, or is no such op. */
bool hn_expr_ints(enum hn_expr_op op, int64_t x, int64_t y, int64_t *ret);

/* Binary arithmetic and comparison of equal types, folding constants (where the result is one
 * of the type) and the identities
 * x+0, x*1, x*0 (integers only), x floordiv 1, x floormod 1, min/max/eq of equal trees. */
const struct hn_expr *hn_expr_binary(enum hn_expr_op op, const struct hn_expr *x,
				     const struct hn_expr *y, struct hn_arena *a);

/* Any node, not folded: args are copied, the rest comes from `like` (op, dtype, ref, out, u).
 * The building block for rewriting a tree. */
const struct hn_expr *hn_expr_with_args(const struct hn_expr *like,
					const struct hn_expr *const *arg, uint32_t n_arg,
					struct hn_arena *a);

bool hn_expr_equal(const struct hn_expr *x, const struct hn_expr *y);

/* Rewrite bottom-up: `map` gets each node with already rewritten arguments and returns it or
 * a replacement. */
typedef const struct hn_expr *(*hn_expr_map_fn)(const struct hn_expr *e, void *ctx,
						struct hn_arena *a);
const struct hn_expr *hn_expr_map(const struct hn_expr *e, hn_expr_map_fn map, void *ctx,
				  struct hn_arena *a);

/* Replace VAR slot i by value[i] for i < n_value (NULL = keep); other slots stay. Let-bound
 * names are slots of their own and never captured. Folds as hn_expr_binary does. */
const struct hn_expr *hn_expr_substitute(const struct hn_expr *e,
					 const struct hn_expr *const *value, uint32_t n_value,
					 struct hn_arena *a);

/* Visit every node, parents before children, left to right. */
typedef void (*hn_expr_visit_fn)(const struct hn_expr *e, void *ctx);
void hn_expr_visit(const struct hn_expr *e, hn_expr_visit_fn visit, void *ctx);

/* C-like text with names (loads as T2[..] when names is NULL, else by names[ref]). */
void hn_expr_print(const struct hn_expr *e, const char *const *op_names, struct hn_buf *buf);

#endif
