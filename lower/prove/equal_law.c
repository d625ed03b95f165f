/* lower/prove/equal_law.c -- the laws by which data may have been rewritten.
 *
 * A row is a law of integers of every width and of booleans: they wrap, so that sums and products
 * are those of a ring.  Floating point has none: what is rewritten there is refused.  Both sides
 * of a comparison are put through the same rows, so that what they allow makes no difference.
 */
#include "lower/prove/equal_int.h"

enum result { LEFT, ZERO, ONE };

/* x op c = result. */
static const struct {
	uint8_t op;
	int64_t c;
	enum result result;
} with_constant[] = {
	{ HN_EXPR_ADD, 0, LEFT },      { HN_EXPR_MUL, 0, ZERO },      { HN_EXPR_MUL, 1, LEFT },
	{ HN_EXPR_DIV, 1, LEFT },      { HN_EXPR_FLOORDIV, 1, LEFT }, { HN_EXPR_FLOORMOD, 1, ZERO },
	{ HN_EXPR_TRUNCMOD, 1, ZERO }, { HN_EXPR_AND, 0, ZERO },      { HN_EXPR_AND, 1, LEFT },
	{ HN_EXPR_OR, 0, LEFT },       { HN_EXPR_OR, 1, ONE },
};

/* x op x = result. */
static const struct {
	uint8_t op;
	enum result result;
} with_itself[] = {
	{ HN_EXPR_MIN, LEFT }, { HN_EXPR_MAX, LEFT }, { HN_EXPR_AND, LEFT }, { HN_EXPR_OR, LEFT },
	{ HN_EXPR_SUB, ZERO }, { HN_EXPR_EQ, ONE },   { HN_EXPR_LE, ONE },   { HN_EXPR_GE, ONE },
	{ HN_EXPR_NE, ZERO },  { HN_EXPR_LT, ZERO },  { HN_EXPR_GT, ZERO },
};

/* v in the type's own numbers; an uint64 is kept as its bits. */
static int64_t wrap(enum hn_dtype t, int64_t v)
{
	uint32_t bits = 8 * hn_dtype_bytes(t);
	uint64_t u = (uint64_t)v;

	if (hn_dtype_class(t) == HN_CLASS_BOOL) {
		return v != 0;
	}
	if (bits == 64) {
		return v;
	}
	u &= (UINT64_C(1) << bits) - 1;
	return hn_dtype_class(t) == HN_CLASS_SIGNED && (u >> (bits - 1)) != 0
		       ? (int64_t)(u | ~((UINT64_C(1) << bits) - 1))
		       : (int64_t)u;
}

static bool is_int(const struct hn_expr *e)
{
	return e->op == HN_EXPR_INT;
}

static bool commutes(uint8_t op)
{
	return op == HN_EXPR_ADD || op == HN_EXPR_MUL || op == HN_EXPR_AND || op == HN_EXPR_OR;
}

static const struct hn_expr *node(struct hn_eq *c, uint8_t op, uint8_t dtype,
				  const struct hn_expr *x, const struct hn_expr *y)
{
	const struct hn_expr like = { .op = op, .dtype = dtype };
	const struct hn_expr *arg[2] = { x, y };

	return hn_expr_with_args(&like, arg, 2, c->arena);
}

/* Both constant; NULL where the result is none of the type's rules. */
static const struct hn_expr *fold(struct hn_eq *c, uint8_t op, uint8_t dtype, int64_t x, int64_t y,
				  enum hn_dtype from)
{
	uint64_t ring = op == HN_EXPR_ADD ? (uint64_t)x + (uint64_t)y : (uint64_t)x * (uint64_t)y;
	int64_t v;

	if ((op == HN_EXPR_ADD || op == HN_EXPR_MUL) && hn_dtype_class(from) != HN_CLASS_BOOL) {
		return hn_expr_int(wrap(dtype, (int64_t)ring), dtype, c->arena);
	}
	if (from == HN_U64 || !hn_expr_ints((enum hn_expr_op)op, x, y, &v) ||
	    wrap(dtype, v) != v) {
		return NULL;
	}
	return hn_expr_int(v, dtype, c->arena);
}

static const struct hn_expr *known(struct hn_eq *c, enum result r, const struct hn_expr *left,
				   uint8_t dtype)
{
	return r == LEFT ? left : hn_expr_int(r == ONE, dtype, c->arena);
}

static const struct hn_expr *binary(struct hn_eq *c, uint8_t op, uint8_t dtype,
				    const struct hn_expr *x, const struct hn_expr *y)
{
	if (op == HN_EXPR_SUB && is_int(y)) { /* x - c = x + (-c), in a ring */
		op = HN_EXPR_ADD;
		y = hn_expr_int(wrap(y->dtype, (int64_t)(0 - (uint64_t)y->u.i)), y->dtype,
				c->arena);
	}
	if (is_int(x) && is_int(y)) {
		const struct hn_expr *r = fold(c, op, dtype, x->u.i, y->u.i, x->dtype);

		return r ? r : node(c, op, dtype, x, y);
	}
	if (is_int(x) && commutes(op)) {
		const struct hn_expr *swap = x;

		x = y;
		y = swap;
	}
	/* (x + a) + b = x + (a + b), in a ring */
	if (op == HN_EXPR_ADD && is_int(y) && x->op == HN_EXPR_ADD && is_int(x->arg[1])) {
		y = fold(c, op, dtype, x->arg[1]->u.i, y->u.i, x->dtype);
		x = x->arg[0];
	}
	for (size_t i = 0; i < HN_COUNT_OF(with_constant) && is_int(y); i++) {
		if (with_constant[i].op == op && with_constant[i].c == y->u.i) {
			return known(c, with_constant[i].result, x, dtype);
		}
	}
	for (size_t i = 0; i < HN_COUNT_OF(with_itself); i++) {
		if (with_itself[i].op == op && hn_expr_equal(x, y)) {
			return known(c, with_itself[i].result, x, dtype);
		}
	}
	return node(c, op, dtype, x, y);
}

const struct hn_expr *hn_eq_data(struct hn_eq *c, const struct hn_expr *like,
				 const struct hn_expr *const *arg)
{
	bool is_binary = like->op >= HN_EXPR_ADD && like->op <= HN_EXPR_OR;

	if ((like->op == HN_EXPR_SELECT || like->op == HN_EXPR_IF) && is_int(arg[0])) {
		return arg[arg[0]->u.i != 0 ? 1 : 2];
	}
	if (like->op == HN_EXPR_NOT && is_int(arg[0])) {
		return hn_expr_int(arg[0]->u.i == 0, HN_BOOL, c->arena);
	}
	if (is_binary && hn_dtype_class(arg[0]->dtype) != HN_CLASS_FLOAT) {
		return binary(c, like->op, like->dtype, arg[0], arg[1]);
	}
	return hn_expr_with_args(like, arg, like->n_arg, c->arena);
}
