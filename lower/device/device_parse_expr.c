/* lower/device/device_parse_expr.c -- expressions of a device program from its text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/device/device_parse_int.h"

static const struct hn_expr *node(struct parse *p, enum hn_expr_op op, enum hn_dtype type,
				  int32_t ref, const struct hn_expr *const *arg,
				  uint32_t n)
{
	const struct hn_expr like = { .op = (uint8_t)op,
				      .dtype = (uint8_t)type,
				      .ref = ref };

	return hn_expr_with_args(&like, arg, n, p->a);
}

static enum hn_dtype result_of(enum hn_expr_op op, const struct hn_expr *const *arg,
			       uint32_t n)
{
	bool flag = (op >= HN_EXPR_EQ && op <= HN_EXPR_GE) || op == HN_EXPR_AND ||
		    op == HN_EXPR_OR || op == HN_EXPR_NOT;

	return flag ? HN_BOOL : (enum hn_dtype)arg[n - 1]->dtype;
}

static const struct hn_expr *binary(struct parse *p)
{
	const struct hn_expr *arg[2];
	enum hn_expr_op op = HN_EXPR_VAR;

	arg[0] = hn_parse_expr(p);
	hn_parse_take(p);
	while (op < HN_N_EXPR && (hn_device_infix[op] == NULL ||
				  strcmp(hn_device_infix[op], p->word) != 0)) {
		op++;
	}
	if (op == HN_N_EXPR) {
		hn_parse_refuse(p, "'%s' is no operator", p->word);
	}
	arg[1] = hn_parse_expr(p);
	hn_parse_expect(p, ")");
	return node(p, op, result_of(op, arg, 2), 0, arg, 2);
}

#define MOST_ARGS 3

static uint32_t arguments(struct parse *p, const struct hn_expr **arg)
{
	uint32_t n = 0;

	do {
		if (n == MOST_ARGS) {
			hn_parse_refuse(p, "more than %d arguments", MOST_ARGS);
		}
		arg[n++] = hn_parse_expr(p);
	} while (hn_parse_accept(p, ","));
	hn_parse_expect(p, ")");
	return n;
}

static const struct hn_expr *let(struct parse *p)
{
	const struct hn_expr *arg[2], *like;
	int32_t slot = hn_parse_take_name(p, HN_I32);

	hn_parse_expect(p, ",");
	arg[0] = hn_parse_expr(p);
	p->type[slot] = arg[0]->dtype;
	hn_parse_expect(p, ",");
	arg[1] = hn_parse_expr(p);
	hn_parse_expect(p, ")");
	like = node(p, HN_EXPR_LET, (enum hn_dtype)arg[1]->dtype, slot, arg, 2);
	return like;
}

/* NAME( is taken. */
static const struct hn_expr *call(struct parse *p, const char *name)
{
	const struct hn_expr *arg[MOST_ARGS];
	enum hn_dtype type = hn_dtype_of(name);
	enum hn_fn fn = hn_fn_of(name);
	enum hn_expr_op op = HN_EXPR_VAR;
	uint32_t n;

	if (strcmp(name, "let") == 0) {
		return let(p);
	}
	while (op < HN_N_EXPR && strcmp(hn_expr_op_name(op), name) != 0) {
		op++;
	}
	if (type >= HN_N_DTYPE && fn >= HN_N_FN &&
	    (op == HN_N_EXPR || op < HN_EXPR_ADD || op >= HN_EXPR_CAST)) {
		hn_parse_refuse(p, "'%s' is no function", name);
	}
	char said[HN_PARSE_WORD];

	snprintf(said, sizeof(said), "%s", name); /* p->word goes on */
	n = arguments(p, arg);
	if (type < HN_N_DTYPE) {
		if (n != 1) {
			hn_parse_refuse(p, "%s(...) takes one argument", said);
		}
		return node(p, HN_EXPR_CAST, type, 0, arg, n);
	}
	if (op < HN_N_EXPR) {
		return node(p, op, result_of(op, arg, n), 0, arg, n);
	}
	return node(p, HN_EXPR_CALL, (enum hn_dtype)arg[n - 1]->dtype, (int32_t)fn, arg,
		    n);
}

/* A number; `minus` has been taken. */
static const struct hn_expr *constant(struct parse *p, const char *word, bool minus)
{
	bool whole = word[strspn(word, "0123456789")] == '\0';
	enum hn_dtype type = whole ? HN_I32 : HN_F32;
	char text[HN_PARSE_WORD + 1], *end;
	double v;

	snprintf(text, sizeof(text), "%s%s", minus ? "-" : "", word);
	if (hn_parse_accept(p, ":")) {
		type = hn_parse_take_type(p);
	}
	if (whole != (hn_dtype_class(type) != HN_CLASS_FLOAT)) {
		hn_parse_refuse(p, "%s is no %s", text, hn_dtype_name(type));
	}
	if (whole) {
		return hn_expr_int(hn_parse_int_of(p, text), type, p->a);
	}
	v = strtod(text, &end);
	if (*end != '\0') {
		hn_parse_refuse(p, "'%s' is no number", text);
	}
	return hn_expr_float(v, type, p->a);
}

static const struct hn_expr *element(struct parse *p, int32_t buffer)
{
	const struct hn_expr *at = hn_parse_expr(p);

	hn_parse_expect(p, "]");
	return node(p, HN_EXPR_LOAD, (enum hn_dtype)p->buffer[buffer].dtype, buffer, &at,
		    1);
}

static const struct hn_expr *primary(struct parse *p)
{
	char word[HN_PARSE_WORD];
	bool minus;
	int32_t slot;

	if (hn_parse_accept(p, "(")) {
		return binary(p);
	}
	minus = hn_parse_accept(p, "-");
	snprintf(word, sizeof(word), "%s", hn_parse_take(p));
	if ((word[0] >= '0' && word[0] <= '9') || strcmp(word, "inf") == 0 ||
	    strcmp(word, "nan") == 0) {
		return constant(p, word, minus);
	}
	if (minus) {
		hn_parse_refuse(p, "'-' stands before '%s', which is no number", word);
	}
	if (hn_parse_accept(p, "[")) {
		if (hn_parse_find_buffer(p, word) < 0) {
			hn_parse_refuse(p, "there is no buffer '%s'", word);
		}
		return element(p, hn_parse_find_buffer(p, word));
	}
	if (hn_parse_accept(p, "(")) {
		return call(p, word);
	}
	slot = hn_parse_slot_of(p, word);
	if (slot < 0 || slot >= (int32_t)p->n_slot) {
		hn_parse_refuse(p, "'%s' has no value here", word);
	}
	return hn_expr_var(slot, (enum hn_dtype)p->type[slot], NULL, p->a);
}

const struct hn_expr *hn_parse_expr(struct parse *p)
{
	const struct hn_expr *e;

	if (++p->depth > HN_PARSE_NESTING) {
		hn_parse_refuse(p, "nested more than %d deep", HN_PARSE_NESTING);
	}
	e = primary(p);
	p->depth--;
	return e;
}
