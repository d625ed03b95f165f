/* loopstate/expr/expr.c -- nodes: tables, construction, comparison, rewriting.
 *
 * Nodes are immutable, so trees share what they do not change.  Folding is for integers
 * and booleans only: a float expression keeps the shape its author gave it, because
 * reassociation and constant folding there would change answers and operation counts.
 */
#include "loopstate/expr/expr.h"

#include <math.h>
#include <string.h>

#include "base/arith.h"

struct fn_row {
	const char *name, *c_name;
	uint32_t arity;
};

static const struct fn_row fns[HN_N_FN] = {
#define FN(name, arity, c) [HN_FN_##name] = { #name, c, arity },
#include "loopstate/expr/calls.def"
#undef FN
};

static const char *const op_names[HN_N_EXPR] = {
#define EXPR(name, text, arity, result) [HN_EXPR_##name] = text,
#include "loopstate/expr/exprops.def"
#undef EXPR
};

const char *hn_expr_op_name(enum hn_expr_op op)
{
	return op < HN_N_EXPR ? op_names[op] : "?";
}

const char *hn_fn_name(enum hn_fn f)
{
	return f < HN_N_FN ? fns[f].name : "?";
}

const char *hn_fn_c_name(enum hn_fn f)
{
	return f < HN_N_FN ? fns[f].c_name : "";
}

uint32_t hn_fn_arity(enum hn_fn f)
{
	hn_assert(f < HN_N_FN);
	return fns[f].arity;
}

enum hn_fn hn_fn_of(const char *name)
{
	for (int f = 0; f < HN_N_FN; f++) {
		if (strcmp(fns[f].name, name) == 0) {
			return (enum hn_fn)f;
		}
	}
	return HN_N_FN;
}

static struct hn_expr *node(enum hn_expr_op op, enum hn_dtype t, uint32_t n_arg,
			    struct hn_arena *a)
{
	struct hn_expr *e =
		hn_arena_alloc(a, sizeof(*e) + (size_t)n_arg * sizeof(e->arg[0]));

	e->op = (uint8_t)op;
	e->dtype = (uint8_t)t;
	e->n_arg = (uint16_t)n_arg;
	return e;
}

const struct hn_expr *hn_expr_var(int32_t slot, enum hn_dtype t, const char *name,
				  struct hn_arena *a)
{
	struct hn_expr *e = node(HN_EXPR_VAR, t, 0, a);

	e->ref = slot;
	e->u.name = name;
	return e;
}

const struct hn_expr *hn_expr_int(int64_t v, enum hn_dtype t, struct hn_arena *a)
{
	struct hn_expr *e = node(HN_EXPR_INT, t, 0, a);

	e->u.i = v;
	return e;
}

const struct hn_expr *hn_expr_float(double v, enum hn_dtype t, struct hn_arena *a)
{
	struct hn_expr *e = node(HN_EXPR_FLOAT, t, 0, a);

	e->u.f = isnan(v) ? NAN : v; /* one of them, as both notations have one word */
	return e;
}

const struct hn_expr *hn_expr_with_args(const struct hn_expr *like,
					const struct hn_expr *const *arg, uint32_t n_arg,
					struct hn_arena *a)
{
	struct hn_expr *e = node(like->op, like->dtype, n_arg, a);

	e->ref = like->ref;
	e->out = like->out;
	e->u = like->u;
	for (uint32_t i = 0; i < n_arg; i++) {
		e->arg[i] = arg[i];
	}
	return e;
}

static bool is_compare(enum hn_expr_op op)
{
	return op >= HN_EXPR_EQ && op <= HN_EXPR_GE;
}

bool hn_expr_ints(enum hn_expr_op op, int64_t x, int64_t y, int64_t *ret)
{
	bool divides = op == HN_EXPR_DIV || op == HN_EXPR_FLOORDIV ||
		       op == HN_EXPR_FLOORMOD || op == HN_EXPR_TRUNCMOD;

	if (divides && (y == 0 || (x == INT64_MIN && y == -1))) {
		return false;
	}
	switch (op) {
	case HN_EXPR_ADD:
		return !__builtin_add_overflow(x, y, ret);
	case HN_EXPR_SUB:
		return !__builtin_sub_overflow(x, y, ret);
	case HN_EXPR_MUL:
		return !__builtin_mul_overflow(x, y, ret);
	case HN_EXPR_DIV:
		*ret = x / y;
		return true;
	case HN_EXPR_FLOORDIV:
		*ret = hn_floordiv(x, y);
		return true;
	case HN_EXPR_FLOORMOD:
		*ret = hn_floormod(x, y);
		return true;
	case HN_EXPR_TRUNCMOD:
		*ret = x % y;
		return true;
	case HN_EXPR_MIN:
		*ret = x < y ? x : y;
		return true;
	case HN_EXPR_MAX:
		*ret = x > y ? x : y;
		return true;
	case HN_EXPR_EQ:
		*ret = x == y;
		return true;
	case HN_EXPR_NE:
		*ret = x != y;
		return true;
	case HN_EXPR_LT:
		*ret = x < y;
		return true;
	case HN_EXPR_LE:
		*ret = x <= y;
		return true;
	case HN_EXPR_GT:
		*ret = x > y;
		return true;
	case HN_EXPR_GE:
		*ret = x >= y;
		return true;
	case HN_EXPR_AND:
		*ret = x && y;
		return true;
	case HN_EXPR_OR:
		*ret = x || y;
		return true;
	default:
		return false;
	}
}

/* Whether type t holds v.  Data wraps to its type where an index does not, so a constant is
 * folded only where the two agree. */
static bool holds(enum hn_dtype t, int64_t v)
{
	uint32_t bits = 8 * hn_dtype_bytes(t);

	switch (hn_dtype_class(t)) {
	case HN_CLASS_BOOL:
		return v == 0 || v == 1;
	case HN_CLASS_SIGNED:
		return bits == 64 || (v >= -(INT64_C(1) << (bits - 1)) &&
				      v < INT64_C(1) << (bits - 1));
	case HN_CLASS_UNSIGNED:
		return v >= 0 && (bits == 64 || v < INT64_C(1) << bits);
	default:
		return false;
	}
}

static bool int_const(const struct hn_expr *e, int64_t v)
{
	return e->op == HN_EXPR_INT && e->u.i == v;
}

/* Identities with a constant on one side; NULL when none applies.  Integers and booleans.
 */
static const struct hn_expr *fold_identity(enum hn_expr_op op, const struct hn_expr *x,
					   const struct hn_expr *y, struct hn_arena *a)
{
	switch (op) {
	case HN_EXPR_ADD:
		return int_const(y, 0) ? x : int_const(x, 0) ? y : NULL;
	case HN_EXPR_SUB:
		return int_const(y, 0) ? x : NULL;
	case HN_EXPR_MUL:
		if (int_const(x, 0) || int_const(y, 0)) {
			return hn_expr_int(0, x->dtype, a);
		}
		return int_const(y, 1) ? x : int_const(x, 1) ? y : NULL;
	case HN_EXPR_DIV:
	case HN_EXPR_FLOORDIV:
		return int_const(y, 1) ? x : NULL;
	case HN_EXPR_FLOORMOD:
	case HN_EXPR_TRUNCMOD:
		return int_const(y, 1) ? hn_expr_int(0, x->dtype, a) : NULL;
	case HN_EXPR_AND:
		if (int_const(x, 0) || int_const(y, 0)) {
			return hn_expr_int(0, HN_BOOL, a);
		}
		return int_const(y, 1) ? x : int_const(x, 1) ? y : NULL;
	case HN_EXPR_OR:
		if (int_const(x, 1) || int_const(y, 1)) {
			return hn_expr_int(1, HN_BOOL, a);
		}
		return int_const(y, 0) ? x : int_const(x, 0) ? y : NULL;
	default:
		return NULL;
	}
}

/* Results known because both sides are the same tree. */
static const struct hn_expr *fold_equal(enum hn_expr_op op, const struct hn_expr *x,
					struct hn_arena *a)
{
	switch (op) {
	case HN_EXPR_MIN:
	case HN_EXPR_MAX:
	case HN_EXPR_AND:
	case HN_EXPR_OR:
		return x;
	case HN_EXPR_SUB:
		return hn_expr_int(0, x->dtype, a);
	case HN_EXPR_EQ:
	case HN_EXPR_LE:
	case HN_EXPR_GE:
		return hn_expr_int(1, HN_BOOL, a);
	case HN_EXPR_NE:
	case HN_EXPR_LT:
	case HN_EXPR_GT:
		return hn_expr_int(0, HN_BOOL, a);
	default:
		return NULL;
	}
}

/* (t +- c1) +- c2 = t + c; NULL when it is not of that form. */
static const struct hn_expr *fold_shift(enum hn_expr_op op, const struct hn_expr *x,
					const struct hn_expr *y, struct hn_arena *a)
{
	if ((op != HN_EXPR_ADD && op != HN_EXPR_SUB) || y->op != HN_EXPR_INT ||
	    (x->op != HN_EXPR_ADD && x->op != HN_EXPR_SUB) ||
	    x->arg[1]->op != HN_EXPR_INT) {
		return NULL;
	}
	int64_t inner = x->arg[1]->u.i, outer = y->u.i, sum;

	if (inner == INT64_MIN || outer == INT64_MIN ||
	    __builtin_add_overflow(x->op == HN_EXPR_SUB ? -inner : inner,
				   op == HN_EXPR_SUB ? -outer : outer, &sum) ||
	    sum == INT64_MIN || !holds((enum hn_dtype)y->dtype, sum < 0 ? -sum : sum)) {
		return NULL;
	}
	enum hn_expr_op sign = sum < 0 ? HN_EXPR_SUB : HN_EXPR_ADD;

	return hn_expr_binary(sign, x->arg[0],
			      hn_expr_int(sum < 0 ? -sum : sum, y->dtype, a), a);
}

const struct hn_expr *hn_expr_binary(enum hn_expr_op op, const struct hn_expr *x,
				     const struct hn_expr *y, struct hn_arena *a)
{
	bool logic = op == HN_EXPR_AND || op == HN_EXPR_OR;
	enum hn_dtype t = logic || is_compare(op) ? HN_BOOL : (enum hn_dtype)x->dtype;
	int64_t v;

	if (hn_dtype_class(x->dtype) != HN_CLASS_FLOAT) {
		if (x->op == HN_EXPR_INT && y->op == HN_EXPR_INT && x->dtype != HN_U64 &&
		    hn_expr_ints(op, x->u.i, y->u.i, &v) && holds(t, v)) {
			return hn_expr_int(v, t, a);
		}
		const struct hn_expr *folded = fold_identity(op, x, y, a);

		if (folded == NULL && hn_expr_equal(x, y)) {
			folded = fold_equal(op, x, a);
		}
		if (folded == NULL) {
			folded = fold_shift(op, x, y, a);
		}
		if (folded != NULL) {
			return folded;
		}
	}
	struct hn_expr *e = node(op, t, 2, a);

	e->arg[0] = x;
	e->arg[1] = y;
	return e;
}

static bool same_payload(const struct hn_expr *x, const struct hn_expr *y)
{
	switch (x->op) {
	case HN_EXPR_INT:
		return x->u.i == y->u.i;
	case HN_EXPR_FLOAT: /* by bits: -0 is not 0, nan is nan */
		return memcmp(&x->u.f, &y->u.f, sizeof(x->u.f)) == 0;
	default:
		return x->ref == y->ref && x->out == y->out;
	}
}

bool hn_expr_equal(const struct hn_expr *x, const struct hn_expr *y)
{
	if (x == y) {
		return true;
	}
	if (x->op != y->op || x->dtype != y->dtype || x->n_arg != y->n_arg ||
	    !same_payload(x, y)) {
		return false;
	}
	for (uint32_t i = 0; i < x->n_arg; i++) {
		if (!hn_expr_equal(x->arg[i], y->arg[i])) {
			return false;
		}
	}
	return true;
}

/* Arguments rewritten; `e` itself when none changed. */
static const struct hn_expr *map_args(const struct hn_expr *e, hn_expr_map_fn map,
				      void *ctx, struct hn_arena *a)
{
	struct hn_expr *copy = NULL;

	for (uint32_t i = 0; i < e->n_arg; i++) {
		const struct hn_expr *arg = hn_expr_map(e->arg[i], map, ctx, a);

		if (arg == e->arg[i]) {
			continue;
		}
		if (copy == NULL) {
			copy = (struct hn_expr *)hn_expr_with_args(e, e->arg, e->n_arg,
								   a);
		}
		copy->arg[i] = arg;
	}
	return copy != NULL ? copy : e;
}

const struct hn_expr *hn_expr_map(const struct hn_expr *e, hn_expr_map_fn map, void *ctx,
				  struct hn_arena *a)
{
	return map(map_args(e, map, ctx, a), ctx, a);
}

struct substitution {
	const struct hn_expr *const *value;
	uint32_t n_value;
};

static const struct hn_expr *substitute(const struct hn_expr *e,
					const struct substitution *s, struct hn_arena *a)
{
	if (e->op == HN_EXPR_VAR) {
		bool mine = e->ref >= 0 && (uint32_t)e->ref < s->n_value;

		return mine && s->value[e->ref] != NULL ? s->value[e->ref] : e;
	}
	struct hn_expr *copy = NULL;

	for (uint32_t i = 0; i < e->n_arg; i++) {
		const struct hn_expr *arg = substitute(e->arg[i], s, a);

		if (arg != e->arg[i] && copy == NULL) {
			copy = (struct hn_expr *)hn_expr_with_args(e, e->arg, e->n_arg,
								   a);
		}
		if (copy != NULL) {
			copy->arg[i] = arg;
		}
	}
	if (copy == NULL) {
		return e;
	}
	if (e->op >= HN_EXPR_ADD && e->op <= HN_EXPR_OR) {
		return hn_expr_binary(e->op, copy->arg[0], copy->arg[1], a);
	}
	return copy;
}

const struct hn_expr *hn_expr_substitute(const struct hn_expr *e,
					 const struct hn_expr *const *value,
					 uint32_t n_value, struct hn_arena *a)
{
	const struct substitution s = { value, n_value };

	return substitute(e, &s, a);
}

void hn_expr_visit(const struct hn_expr *e, hn_expr_visit_fn visit, void *ctx)
{
	visit(e, ctx);
	for (uint32_t i = 0; i < e->n_arg; i++) {
		hn_expr_visit(e->arg[i], visit, ctx);
	}
}
