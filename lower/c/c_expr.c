/* lower/c/c_expr.c -- values and indices as C.
 *
 * A choice evaluates one side alone, as C's does.  What needs a name of its own (`let`) becomes a
 * line in front of the statement; where that is inside of a choice, the choice becomes an `if`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "loopstate/expr/linear.h"
#include "lower/c/c_int.h"

const char *hn_c_type(enum hn_dtype t)
{
	return hn_dtype_c_name(hn_dtype_arith(t));
}

const char *hn_c_at(struct c *c, struct c_text x, enum c_level least)
{
	return x.level >= least ? x.s : hn_arena_printf(c->a, "(%s)", x.s);
}

const char *hn_c_value_name(struct c *c)
{
	return hn_arena_printf(c->a, "v%u", ++c->n_value);
}

void hn_c_bind(struct c *c, int32_t slot, struct c_text is)
{
	c->bind = hn_arena_grow(c->a, c->bind, c->n_bind, &c->cap_bind, sizeof(*c->bind));
	c->bind[c->n_bind++] = (struct c_bind){ slot, is };
}

static struct c_text atom(const char *s)
{
	return (struct c_text){ s, C_ATOM };
}

static struct c_text bound(struct c *c, const struct hn_expr *e)
{
	for (uint32_t i = c->n_bind; i-- > 0;) {
		if (c->bind[i].slot == e->ref) {
			return c->bind[i].is;
		}
	}
	hn_c_refuse(c, "a name without a value, slot %d", e->ref);
	return atom("0");
}

static struct c_text infix(struct c *c, enum c_level level, const char *op, struct c_text x,
			   struct c_text y)
{
	return (struct c_text){ hn_arena_printf(c->a, "%s %s %s", hn_c_at(c, x, level), op,
						hn_c_at(c, y, level + 1)),
				level };
}

static struct c_text call_two(struct c *c, const char *name, struct c_text x, struct c_text y)
{
	return atom(hn_arena_printf(c->a, "%s(%s, %s)", name, x.s, y.s));
}

/* -- indices ------------------------------------------------------------------------------- */

static struct c_text whole(struct c *c, int64_t v)
{
	bool wide = v > INT32_MAX || v < -INT32_MAX;

	return (struct c_text){ hn_arena_printf(c->a, wide ? "INT64_C(%" PRId64 ")" : "%" PRId64,
						v),
				v < 0 && !wide ? C_UNARY : C_ATOM };
}

/* A quotient or a remainder of natural numbers is C's. */
static struct c_text index_divide(struct c *c, const struct hn_expr *e)
{
	bool rest = e->op == HN_EXPR_FLOORMOD || e->op == HN_EXPR_TRUNCMOD;
	bool floored = e->op == HN_EXPR_FLOORMOD || e->op == HN_EXPR_FLOORDIV;
	struct c_text x = hn_c_index(c, e->arg[0]), y = hn_c_index(c, e->arg[1]);
	int64_t lo, hi, least, most;
	bool natural = hn_expr_range(e->arg[0], c->span, c->t->n_loop, &lo, &hi) && lo >= 0 &&
		       hn_expr_range(e->arg[1], c->span, c->t->n_loop, &least, &most) &&
		       least > 0;

	if (natural || !floored) {
		return infix(c, C_PRODUCT, rest ? "%" : "/", x, y);
	}
	return call_two(c, hn_c_helper(c, rest ? "floormod" : "floordiv", HN_I64), x, y);
}

static struct c_text index_sum(struct c *c, const struct hn_expr *e)
{
	const struct hn_expr *y = e->arg[1];

	if (e->op == HN_EXPR_ADD && y->op == HN_EXPR_INT && y->u.i < 0 && y->u.i > -INT32_MAX) {
		return infix(c, C_SUM, "-", hn_c_index(c, e->arg[0]), whole(c, -y->u.i));
	}
	return infix(c, C_SUM, e->op == HN_EXPR_ADD ? "+" : "-", hn_c_index(c, e->arg[0]),
		     hn_c_index(c, y));
}

static struct c_text index_variable(struct c *c, const struct hn_expr *e)
{
	if (hn_expr_is_size(e)) {
		return atom(hn_c_use_size(c, (uint32_t)(e->ref - HN_SLOT_SIZE)));
	}
	return e->ref >= HN_SLOT_LHS ? bound(c, e) : atom(hn_c_use_loop(c, e->ref));
}

struct c_text hn_c_index(struct c *c, const struct hn_expr *e)
{
	const struct hn_expr *same = hn_linear_cast(e, UINT32_MAX);

	if (same != NULL) {
		return hn_c_index(c, same);
	}
	switch (e->op) {
	case HN_EXPR_VAR:
		return index_variable(c, e);
	case HN_EXPR_INT:
		return whole(c, e->u.i);
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		return index_sum(c, e);
	case HN_EXPR_MUL:
		return infix(c, C_PRODUCT, "*", hn_c_index(c, e->arg[0]),
			     hn_c_index(c, e->arg[1]));
	case HN_EXPR_MIN:
	case HN_EXPR_MAX:
		return call_two(c, hn_c_helper(c, e->op == HN_EXPR_MIN ? "min" : "max", HN_I64),
				hn_c_index(c, e->arg[0]), hn_c_index(c, e->arg[1]));
	case HN_EXPR_DIV:
	case HN_EXPR_FLOORDIV:
	case HN_EXPR_FLOORMOD:
	case HN_EXPR_TRUNCMOD:
		return index_divide(c, e);
	default:
		return hn_c_value(c, e);
	}
}

/* -- constants ----------------------------------------------------------------------------- */

static struct c_text integer(struct c *c, const struct hn_expr *e)
{
	static const char *const form[] = { "%" PRIu64 "u", "UINT64_C(%" PRIu64 ")" };
	int64_t v = e->u.i;

	if (hn_dtype_class(e->dtype) == HN_CLASS_UNSIGNED && hn_dtype_bytes(e->dtype) >= 4) {
		bool wide = hn_dtype_bytes(e->dtype) == 8;
		uint64_t u = wide ? (uint64_t)v : (uint32_t)v;
		struct hn_buf b;

		hn_buf_init(&b);
		hn_buf_printf(&b, wide ? form[1] : form[0], u);
		const char *s = hn_arena_strndup(c->a, b.s, b.n);

		hn_buf_fini(&b);
		return atom(s);
	}
	return v == INT64_MIN ? atom("INT64_MIN") : v == INT32_MIN ? atom("INT32_MIN")
								  : whole(c, v);
}

/* The fewest digits that mean the same. */
static struct c_text real(struct c *c, double v, bool is_double)
{
	char s[48];

	if (isnan(v) || isinf(v)) {
		const char *name = isnan(v) ? "NAN" : v < 0 ? "-INFINITY" : "INFINITY";

		return (struct c_text){ is_double ? hn_arena_printf(c->a, "(double)%s", name) : name,
					is_double || v < 0 ? C_UNARY : C_ATOM };
	}
	v = is_double ? v : (double)(float)v;
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(s, sizeof(s), "%.*g", digits, v);
		if (is_double ? strtod(s, NULL) == v : strtof(s, NULL) == (float)v) {
			break;
		}
	}
	bool plain = true;

	for (const char *p = s; *p != '\0'; p++) {
		plain = plain && *p != '.' && *p != 'e';
	}
	return (struct c_text){ hn_arena_printf(c->a, "%s%s%s", s, plain ? ".0" : "",
						is_double ? "" : "f"),
				signbit(v) ? C_UNARY : C_ATOM };
}

/* -- arithmetic ---------------------------------------------------------------------------- */

static const struct {
	const char *sign, *helper;
	enum c_level level;
} rows[HN_N_EXPR] = {
	[HN_EXPR_ADD] = { "+", "add", C_SUM },
	[HN_EXPR_SUB] = { "-", "sub", C_SUM },
	[HN_EXPR_MUL] = { "*", "mul", C_PRODUCT },
	[HN_EXPR_DIV] = { "/", NULL, C_PRODUCT },
	[HN_EXPR_TRUNCMOD] = { "%", NULL, C_PRODUCT },
	[HN_EXPR_FLOORDIV] = { "/", "floordiv", C_PRODUCT },
	[HN_EXPR_FLOORMOD] = { "%", "floormod", C_PRODUCT },
	[HN_EXPR_MIN] = { NULL, "min", C_ATOM },
	[HN_EXPR_MAX] = { NULL, "max", C_ATOM },
	[HN_EXPR_EQ] = { "==", NULL, C_EQUAL },
	[HN_EXPR_NE] = { "!=", NULL, C_EQUAL },
	[HN_EXPR_LT] = { "<", NULL, C_LESS },
	[HN_EXPR_LE] = { "<=", NULL, C_LESS },
	[HN_EXPR_GT] = { ">", NULL, C_LESS },
	[HN_EXPR_GE] = { ">=", NULL, C_LESS },
	[HN_EXPR_AND] = { "&&", NULL, C_AND },
	[HN_EXPR_OR] = { "||", NULL, C_OR },
};

static struct c_text compare(struct c *c, const struct hn_expr *e)
{
	bool indices = hn_linear_is_index(e->arg[0], UINT32_MAX) &&
		       hn_linear_is_index(e->arg[1], UINT32_MAX);
	struct c_text x = indices ? hn_c_index(c, e->arg[0]) : hn_c_value(c, e->arg[0]);
	struct c_text y = indices ? hn_c_index(c, e->arg[1]) : hn_c_value(c, e->arg[1]);

	return infix(c, rows[e->op].level, rows[e->op].sign, x, y);
}

/* Operands of && and || in parentheses where gcc would ask for them. */
static struct c_text logic(struct c *c, const struct hn_expr *e)
{
	struct c_text x = hn_c_value(c, e->arg[0]), y = hn_c_value(c, e->arg[1]);
	enum c_level least = e->op == HN_EXPR_OR ? C_EQUAL : C_AND;
	bool chain = e->op == HN_EXPR_OR && x.level == C_OR;

	return (struct c_text){ hn_arena_printf(c->a, "%s %s %s",
						chain ? x.s : hn_c_at(c, x, least),
						rows[e->op].sign, hn_c_at(c, y, C_EQUAL)),
				rows[e->op].level };
}

static struct c_text float_binary(struct c *c, const struct hn_expr *e)
{
	struct c_text x = hn_c_value(c, e->arg[0]), y = hn_c_value(c, e->arg[1]);

	switch (e->op) {
	case HN_EXPR_MIN:
	case HN_EXPR_MAX:
		return call_two(c, hn_c_helper(c, rows[e->op].helper, e->dtype), x, y);
	case HN_EXPR_TRUNCMOD:
		x = call_two(c, hn_dtype_arith(e->dtype) == HN_F64 ? "fmod" : "fmodf", x, y);
		return hn_c_rounded(c, e->dtype, x);
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
	case HN_EXPR_MUL:
	case HN_EXPR_DIV:
		return hn_c_rounded(c, e->dtype,
				    infix(c, rows[e->op].level, rows[e->op].sign, x, y));
	default:
		hn_c_refuse(c, "%s on floating-point values",
			    hn_expr_op_name((enum hn_expr_op)e->op));
		return x;
	}
}

/* C's own arithmetic is that of int and wider: what is narrower or signed wraps by a function. */
static struct c_text int_binary(struct c *c, const struct hn_expr *e)
{
	struct c_text x = hn_c_value(c, e->arg[0]), y = hn_c_value(c, e->arg[1]);
	bool is_signed = hn_dtype_class(e->dtype) == HN_CLASS_SIGNED;
	bool floored = e->op == HN_EXPR_FLOORDIV || e->op == HN_EXPR_FLOORMOD;
	bool by_function = rows[e->op].helper != NULL &&
			   (floored ? is_signed
				    : rows[e->op].sign == NULL || is_signed ||
					      hn_dtype_bytes(e->dtype) < 4);

	if (by_function) {
		return call_two(c, hn_c_helper(c, rows[e->op].helper, e->dtype), x, y);
	}
	x = infix(c, rows[e->op].level, rows[e->op].sign, x, y);
	if (hn_dtype_bytes(e->dtype) < 4) {
		x = (struct c_text){ hn_arena_printf(c->a, "(%s)%s", hn_c_type(e->dtype),
						     hn_c_at(c, x, C_UNARY)),
				     C_UNARY };
	}
	return x;
}

/* -- one side ------------------------------------------------------------------------------ */

/* A value, and in *lines what has to come before it, one step further in. */
static struct c_text apart(struct c *c, const struct hn_expr *e, struct hn_buf *lines)
{
	struct hn_buf *out = c->out;

	c->out = lines;
	c->indent++;
	struct c_text x = hn_c_value(c, e);

	c->indent--;
	c->out = out;
	return x;
}

static struct c_text choose(struct c *c, const struct hn_expr *e)
{
	struct c_text cond = hn_c_value(c, e->arg[0]), x, y;
	struct hn_buf before_x, before_y;
	const char *s;

	hn_buf_init(&before_x);
	hn_buf_init(&before_y);
	x = apart(c, e->arg[1], &before_x);
	y = apart(c, e->arg[2], &before_y);
	if (before_x.n + before_y.n == 0) {
		s = hn_arena_printf(c->a, "%s ? %s : %s", hn_c_at(c, cond, C_OR),
				    hn_c_at(c, x, C_OR), y.s);
		x = (struct c_text){ s, C_CHOICE };
	} else {
		s = hn_c_value_name(c);
		hn_c_line(c, "%s %s;", hn_c_type(e->dtype), s);
		hn_c_line(c, "if (%s) {", cond.s);
		hn_buf_add(c->out, before_x.s, before_x.n);
		hn_c_line(c, "\t%s = %s;", s, x.s);
		hn_c_line(c, "} else {");
		hn_buf_add(c->out, before_y.s, before_y.n);
		hn_c_line(c, "\t%s = %s;", s, y.s);
		hn_c_line(c, "}");
		x = atom(s);
	}
	hn_buf_fini(&before_x);
	hn_buf_fini(&before_y);
	return x;
}

static struct c_text let(struct c *c, const struct hn_expr *e)
{
	if (!hn_expr_uses(e->arg[1], e->ref)) {
		return hn_c_value(c, e->arg[1]);
	}
	struct c_text v = hn_c_value(c, e->arg[0]);
	uint32_t n = c->n_bind;
	const char *name = hn_c_value_name(c);

	hn_c_line(c, "const %s %s = %s;", hn_c_type(e->arg[0]->dtype), name, v.s);
	hn_c_bind(c, e->ref, atom(name));
	v = hn_c_value(c, e->arg[1]);
	c->n_bind = n;
	return v;
}

static struct c_text load(struct c *c, const struct hn_expr *e)
{
	return hn_c_loaded(c, e->dtype, hn_c_element(c, e->ref, e->out, e->arg));
}

struct c_text hn_c_value(struct c *c, const struct hn_expr *e)
{
	if (e->op == HN_EXPR_INT) {
		return integer(c, e);
	}
	if (hn_linear_is_index(e, UINT32_MAX)) {
		return (struct c_text){ hn_arena_printf(c->a, "(%s)%s", hn_c_type(e->dtype),
							hn_c_at(c, hn_c_index(c, e), C_UNARY)),
					C_UNARY };
	}
	switch (e->op) {
	case HN_EXPR_VAR:
		return bound(c, e);
	case HN_EXPR_FLOAT:
		return real(c, e->u.f, hn_dtype_arith(e->dtype) == HN_F64);
	case HN_EXPR_LOAD:
		return load(c, e);
	case HN_EXPR_NOT:
		return (struct c_text){ hn_arena_printf(c->a, "!%s",
							hn_c_at(c, hn_c_value(c, e->arg[0]),
								C_ATOM)),
					C_UNARY };
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		return choose(c, e);
	case HN_EXPR_CAST:
		return hn_c_cast(c, e);
	case HN_EXPR_CALL:
		return hn_c_call(c, e);
	case HN_EXPR_LET:
		return let(c, e);
	case HN_EXPR_AND:
	case HN_EXPR_OR:
		return logic(c, e);
	default:
		break;
	}
	if (e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE) {
		return compare(c, e);
	}
	return hn_dtype_class(e->dtype) == HN_CLASS_FLOAT ? float_binary(c, e)
							   : int_binary(c, e);
}
