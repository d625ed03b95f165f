/* loopstate/read/dag_text_expr.c -- expressions of the text notation, by recursive descent.
 *
 * / and % on integers round down.  `c ? a : b` is lazy (`if`).  Values: dag_text_value.h. */
#include "loopstate/read/dag_text_value.h"

static struct hn_text_val parse_unary(struct hn_text *t);

static const struct hn_text_binary *binary_here(const struct hn_text *t, int level)
{
	for (uint32_t i = 0; i < hn_text_n_binary; i++) {
		if (hn_text_binaries[i].level >= level && t->tok.kind == HN_TOKEN_SIGN &&
		    hn_text_is(t, hn_text_binaries[i].sign)) {
			return &hn_text_binaries[i];
		}
	}
	return NULL;
}

/* Operators of at least `level`, left to right. */
static struct hn_text_val parse_binary(struct hn_text *t, int level)
{
	struct hn_text_val x = parse_unary(t);
	const struct hn_text_binary *row;

	while (x.e != NULL && (row = binary_here(t, level)) != NULL) {
		struct hn_token at = t->tok;

		hn_text_next(t);
		struct hn_text_val y = parse_binary(t, row->level + 1);

		x = y.e != NULL ? hn_text_join(t, row, x, y, &at) : hn_text_failed;
	}
	return x;
}

/* cond `?` e [ `:` e ].  Without the other side, where *ret_condition may take it, cond goes there
 * and what follows in the statement stays under it. */
static struct hn_text_val parse_choice_or(struct hn_text *t, const struct hn_expr **ret_condition)
{
	if (++t->depth > HN_TEXT_MAX_DEPTH) {
		hn_text_fail(t, &t->tok, "nested deeper than %d", HN_DAG_MAX_DEPTH);
		return hn_text_failed;
	}
	struct hn_text_val arg[3] = { parse_binary(t, 1), hn_text_failed, hn_text_failed };
	struct hn_token at = t->tok;

	if (arg[0].e != NULL && hn_text_take(t, "?")) {
		t->guard_depth++;
		arg[1] = hn_text_choice(t);
		if (arg[1].e != NULL && ret_condition != NULL && !hn_text_is(t, ":")) {
			*ret_condition = arg[0].e;
			t->depth--;
			return arg[1];
		}
		if (arg[1].e != NULL && hn_text_want(t, ":")) {
			arg[2] = hn_text_choice(t);
		}
		t->guard_depth--;
		arg[0] = arg[2].e != NULL ? hn_text_choose(t, HN_EXPR_IF, arg, &at) : hn_text_failed;
	}
	t->depth--;
	return arg[0];
}

struct hn_text_val hn_text_choice(struct hn_text *t)
{
	return parse_choice_or(t, NULL);
}

static struct hn_text_val parse_primary(struct hn_text *t)
{
	struct hn_token at = t->tok;
	struct hn_text_val v = { .loose = true, .at = at, .height = 1 };

	if (t->rc != 0) {
		return hn_text_failed;
	}
	switch (at.kind) {
	case HN_TOKEN_NAME:
		return hn_text_named(t);
	case HN_TOKEN_INT:
		if (at.i < 0) {
			hn_text_fail(t, &at, "not a number: '%s'", at.text);
			return hn_text_failed;
		}
		v.e = hn_expr_int(at.i, HN_I32, t->a);
		hn_text_next(t);
		return v;
	case HN_TOKEN_FLOAT:
		v.e = hn_expr_float(at.f, HN_F32, t->a);
		hn_text_next(t);
		return v;
	default:
		break;
	}
	if (!hn_text_take(t, "(")) {
		hn_text_fail(t, &at, "expected an expression, found '%s'", at.text);
		return hn_text_failed;
	}
	v = hn_text_choice(t);
	return v.e != NULL && hn_text_want(t, ")") ? v : hn_text_failed;
}

static struct hn_text_val parse_unary(struct hn_text *t)
{
	static const struct hn_expr not_like = { .op = HN_EXPR_NOT, .dtype = HN_BOOL };
	struct hn_token at = t->tok;
	bool minus = hn_text_is(t, "-");

	if (!minus && !hn_text_is(t, "!")) {
		return parse_primary(t);
	}
	if (++t->depth > HN_TEXT_MAX_DEPTH) {
		hn_text_fail(t, &at, "nested deeper than %d", HN_DAG_MAX_DEPTH);
		return hn_text_failed;
	}
	hn_text_next(t);
	if (minus && t->tok.kind == HN_TOKEN_INT && t->tok.i < 0) { /* the least int64 */
		struct hn_text_val least = { hn_expr_int(t->tok.i, HN_I32, t->a), true, at, 1 };

		t->depth--;
		hn_text_next(t);
		return least;
	}
	struct hn_text_val v = parse_unary(t);

	t->depth--;
	if (v.e == NULL) {
		return hn_text_failed;
	}
	return minus ? hn_text_negate(t, v, &at) : hn_text_make(t, &not_like, &v, 1, &at);
}

static const struct hn_expr *settled(struct hn_text *t, struct hn_text_val v, enum hn_dtype want)
{
	if (v.e == NULL) {
		return NULL;
	}
	bool is = want != HN_N_DTYPE ? hn_text_settle(t, &v, want) : hn_text_settle_open(t, &v);

	return is ? v.e : NULL;
}

const struct hn_expr *hn_text_expr(struct hn_text *t, enum hn_dtype want)
{
	return settled(t, hn_text_choice(t), want);
}

const struct hn_expr *hn_text_source(struct hn_text *t, const struct hn_expr **ret_condition)
{
	const struct hn_expr *e = settled(t, parse_choice_or(t, ret_condition), HN_N_DTYPE);
	const struct hn_expr *c = *ret_condition;

	if (c != NULL && c->op == HN_EXPR_INT && c->dtype == HN_BOOL && c->u.i != 0) {
		*ret_condition = NULL; /* always */
	}
	return e;
}
