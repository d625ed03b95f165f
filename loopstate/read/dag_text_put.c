/* loopstate/read/dag_text_put.c -- expressions in the text notation, such that they are read back
 * to the same trees: numbers without a type only where what stands beside them gives it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "loopstate/read/dag_text_out.h"

static bool is_number(const struct hn_expr *e)
{
	return (e->op == HN_EXPR_INT && e->dtype != HN_BOOL) || e->op == HN_EXPR_FLOAT;
}

static bool is_real(const struct hn_expr *e)
{
	return hn_dtype_class(e->dtype) == HN_CLASS_FLOAT;
}

/* The shortest decimal that is this value of this type. */
static void put_float(const struct hn_expr *e, struct hn_buf *b)
{
	double v = fabs(e->u.f);
	char text[40];

	if (signbit(e->u.f) && !isnan(v)) {
		hn_buf_putc(b, '-');
	}
	if (!isfinite(v)) {
		hn_buf_puts(b, isnan(v) ? "nan" : "inf");
		return;
	}
	for (int digits = 1; e->dtype != HN_F64 && digits < 10; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (hn_float_round((enum hn_dtype)e->dtype, strtod(text, NULL)) == v) {
			v = strtod(text, NULL);
			break;
		}
	}
	hn_buf_double(b, v);
	if (v == trunc(v) && v < 1e15) {
		hn_buf_puts(b, ".0");
	}
}

static void put_number(struct hn_text_out *w, const struct hn_expr *e, bool typed)
{
	if (!typed) {
		hn_buf_printf(w->buf, "%s(", hn_dtype_name((enum hn_dtype)e->dtype));
	}
	if (e->op == HN_EXPR_FLOAT) {
		put_float(e, w->buf);
	} else {
		hn_buf_printf(w->buf, "%" PRId64, e->u.i);
	}
	if (!typed) {
		hn_buf_putc(w->buf, ')');
	}
}

static const char *name_of(const struct hn_text_out *w, const struct hn_expr *e)
{
	if (hn_expr_is_size(e)) {
		return w->size[e->ref - HN_SLOT_SIZE];
	}
	if (e->ref < HN_SLOT_LHS) {
		return w->index[e->ref];
	}
	if (e->ref < HN_SLOT_LET) {
		return e->ref >= HN_SLOT_RHS ? w->rhs[e->ref - HN_SLOT_RHS]
					     : w->lhs[e->ref - HN_SLOT_LHS];
	}
	const struct hn_text_out_let *l = w->let;

	while (l != NULL && l->slot != e->ref) {
		l = l->up;
	}
	return l != NULL ? l->name : "_";
}

/* Arguments in parentheses; `typed` says of each whether a bare number will do. */
static void put_list(struct hn_text_out *w, const struct hn_expr *e, uint32_t first,
		     const bool *typed)
{
	hn_buf_putc(w->buf, '(');
	for (uint32_t i = first; i < e->n_arg; i++) {
		hn_buf_puts(w->buf, i > first ? ", " : "");
		hn_text_out_expr(w, e->arg[i], 0, typed[i]);
	}
	hn_buf_putc(w->buf, ')');
}

static void put_load(struct hn_text_out *w, const struct hn_expr *e)
{
	bool typed[HN_DAG_MAX_RANK];

	for (uint32_t i = 0; i < e->n_arg; i++) {
		typed[i] = e->arg[i]->dtype == HN_I32;
	}
	hn_buf_puts(w->buf, w->tensor[e->ref][e->out]);
	if (e->n_arg == 0) {
		return;
	}
	put_list(w, e, 0, typed);
}

/* Of two values that must be of one type, each gives it to the other; of two numbers the first
 * says it. */
static void pair_typed(const struct hn_expr *y, bool *ret)
{
	ret[0] = !is_number(y);
	ret[1] = true;
}

static const struct hn_text_binary *binary_of(const struct hn_expr *e)
{
	for (uint32_t i = 0; i < hn_text_n_binary; i++) {
		const struct hn_text_binary *b = &hn_text_binaries[i];

		if (e->op == (is_real(e->arg[0]) ? b->floats : b->ints)) {
			return b;
		}
	}
	return NULL;
}

static void put_two(struct hn_text_out *w, const struct hn_expr *e, int level)
{
	const struct hn_text_binary *b = binary_of(e);
	bool typed[2];

	pair_typed(e->arg[1], typed);
	if (b == NULL) {
		uint32_t i = 0;

		while (hn_text_pairs[i].op != e->op) {
			i++;
		}
		hn_buf_puts(w->buf, hn_text_pairs[i].name);
		put_list(w, e, 0, typed);
		return;
	}
	hn_buf_puts(w->buf, b->level < level ? "(" : "");
	hn_text_out_expr(w, e->arg[0], b->level, typed[0]);
	hn_buf_printf(w->buf, " %s ", b->sign);
	hn_text_out_expr(w, e->arg[1], b->level + 1, typed[1]);
	hn_buf_puts(w->buf, b->level < level ? ")" : "");
}

static void put_choice(struct hn_text_out *w, const struct hn_expr *e, int level)
{
	bool typed[3] = { true };

	pair_typed(e->arg[2], typed + 1);
	if (e->op == HN_EXPR_SELECT) {
		hn_buf_puts(w->buf, "select");
		put_list(w, e, 0, typed);
		return;
	}
	hn_buf_puts(w->buf, level > 0 ? "(" : "");
	hn_text_out_expr(w, e->arg[0], 1, true);
	hn_buf_puts(w->buf, " ? ");
	hn_text_out_expr(w, e->arg[1], 0, typed[1]);
	hn_buf_puts(w->buf, " : ");
	hn_text_out_expr(w, e->arg[2], 0, typed[2]);
	hn_buf_puts(w->buf, level > 0 ? ")" : "");
}

static void put_let(struct hn_text_out *w, const struct hn_expr *e, int level)
{
	uint32_t n_name = w->n_name;
	const struct hn_text_out_let mine = { w->let, e->ref, hn_text_out_name(w, e->u.name) };

	hn_buf_printf(w->buf, "%slet %s = ", level > 0 ? "(" : "", mine.name);
	hn_text_out_expr(w, e->arg[0], 0, false);
	hn_buf_puts(w->buf, " in ");
	w->let = &mine;
	hn_text_out_expr(w, e->arg[1], 0, false);
	w->let = mine.up;
	w->n_name = n_name;
	hn_buf_puts(w->buf, level > 0 ? ")" : "");
}

void hn_text_out_expr(struct hn_text_out *w, const struct hn_expr *e, int level, bool typed)
{
	static const bool none[HN_DAG_MAX_RANK] = { false };
	bool pair[2];

	switch (e->op) {
	case HN_EXPR_VAR:
		hn_buf_puts(w->buf, name_of(w, e));
		return;
	case HN_EXPR_INT:
	case HN_EXPR_FLOAT:
		if (e->dtype == HN_BOOL) {
			hn_buf_puts(w->buf, e->u.i ? "true" : "false");
		} else {
			put_number(w, e, typed);
		}
		return;
	case HN_EXPR_LOAD:
		put_load(w, e);
		return;
	case HN_EXPR_NOT:
		hn_buf_putc(w->buf, '!');
		hn_text_out_expr(w, e->arg[0], 7, true);
		return;
	case HN_EXPR_CAST:
		hn_buf_puts(w->buf, hn_dtype_name((enum hn_dtype)e->dtype));
		put_list(w, e, 0, none);
		return;
	case HN_EXPR_CALL:
		hn_buf_puts(w->buf, hn_fn_name((enum hn_fn)e->ref));
		if (e->n_arg == 2) {
			pair_typed(e->arg[1], pair);
		}
		put_list(w, e, 0, e->n_arg == 2 ? pair : none);
		return;
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		put_choice(w, e, level);
		return;
	case HN_EXPR_LET:
		put_let(w, e, level);
		return;
	default:
		put_two(w, e, level);
	}
}
