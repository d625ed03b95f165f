/* loopstate/read/dag_text_lex.c -- tokens of the text notation, with line and column. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loopstate/read/dag_text_priv.h"

#define MAX_NUMBER 64

/* Longer ones before their beginnings. */
static const char *const signs[] = {
	"+=!", "*=!", "=!", "->", "&&", "||", "==", "!=", "<=", ">=", "+=",
	"*=",  "(",   ")",  "[",  "]",	"{",  "}",  ",",  ";",	":",  "?",
	"+",   "-",   "*",  "/",  "%",	"<",  ">",  "=",  "!",	"@",
};

void hn_text_fail(struct hn_text *t, const struct hn_token *at, const char *fmt, ...)
{
	char msg[600];
	va_list ap;

	if (t->rc != 0) {
		return;
	}
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	t->rc = hn_fail(t->err, HONE_E_INVALID, "%s:%" PRIu32 ":%" PRIu32 ": %s", t->what,
			at->line, at->col, msg);
}

static void step(struct hn_text *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool line = t->s[i] == '\n';

		t->line += line;
		t->col = line ? 1 : t->col + 1;
	}
	t->s += n;
}

/* Blanks and comments: # or // to the end of the line. */
static void skip_blanks(struct hn_text *t)
{
	while (t->s < t->end) {
		bool comment = *t->s == '#' ||
			       (*t->s == '/' && t->s + 1 < t->end && t->s[1] == '/');

		if (comment) {
			const char *nl = memchr(t->s, '\n', (size_t)(t->end - t->s));

			step(t, (size_t)((nl != NULL ? nl : t->end) - t->s));
		} else if (strchr(" \t\r\n", *t->s) != NULL && *t->s != '\0') {
			step(t, 1);
		} else {
			return;
		}
	}
}

static size_t name_length(const struct hn_text *t)
{
	size_t n = 0;

	while (t->s + n < t->end && (isalnum((unsigned char)t->s[n]) || t->s[n] == '_')) {
		n++;
	}
	return n;
}

/* Digits, a point, an exponent; *ret_real when it is not an integer. */
static size_t number_length(const struct hn_text *t, bool *ret_real)
{
	size_t n = 0, max = (size_t)(t->end - t->s);

	*ret_real = false;
	while (n < max && (isdigit((unsigned char)t->s[n]) || t->s[n] == '.')) {
		*ret_real = *ret_real || t->s[n] == '.';
		n++;
	}
	if (n < max && (t->s[n] == 'e' || t->s[n] == 'E')) {
		size_t m = n + 1;

		m += m < max && (t->s[m] == '+' || t->s[m] == '-');
		if (m < max && isdigit((unsigned char)t->s[m])) {
			*ret_real = true;
			for (n = m; n < max && isdigit((unsigned char)t->s[n]);) {
				n++;
			}
		}
	}
	return n;
}

static void lex_number(struct hn_text *t)
{
	bool real;
	size_t n = number_length(t, &real);
	char *end;

	if (n >= MAX_NUMBER) {
		hn_text_fail(t, &t->tok, "a number of %zu characters", n);
		return;
	}
	t->tok.text = hn_arena_strndup(t->a, t->s, n);
	t->tok.kind = real ? HN_TOKEN_FLOAT : HN_TOKEN_INT;
	errno = 0;
	if (real) {
		t->tok.f = strtod(t->tok.text, &end);
	} else {
		/* 2^63 is the least int64 behind a minus; dag_text_expr.c refuses it elsewhere */
		t->tok.i = (int64_t)strtoull(t->tok.text, &end, 10);
		if (t->tok.i < 0 && t->tok.i != INT64_MIN) {
			errno = ERANGE;
		}
	}
	if (*end != '\0' || (!real && errno == ERANGE) || (real && isinf(t->tok.f)) ||
	    (t->s + n < t->end && (isalpha((unsigned char)t->s[n]) || t->s[n] == '_'))) {
		hn_text_fail(t, &t->tok, "not a number: '%s'", t->tok.text);
	}
	step(t, n);
}

static void lex_sign(struct hn_text *t)
{
	for (size_t i = 0; i < HN_COUNT_OF(signs); i++) {
		size_t n = strlen(signs[i]);

		if ((size_t)(t->end - t->s) >= n && memcmp(t->s, signs[i], n) == 0) {
			t->tok.kind = HN_TOKEN_SIGN;
			t->tok.text = signs[i];
			step(t, n);
			return;
		}
	}
	if (isprint((unsigned char)*t->s)) {
		hn_text_fail(t, &t->tok, "unexpected '%c'", *t->s);
	} else {
		hn_text_fail(t, &t->tok, "unexpected byte 0x%02x",
			     (unsigned)(unsigned char)*t->s);
	}
}

void hn_text_next(struct hn_text *t)
{
	skip_blanks(t);
	t->tok = (struct hn_token){ .text = "the end", .line = t->line, .col = t->col };
	if (t->s == t->end || t->rc != 0) {
		return;
	}
	bool point = *t->s == '.' && t->s + 1 < t->end && isdigit((unsigned char)t->s[1]);

	if (isdigit((unsigned char)*t->s) || point) {
		lex_number(t);
	} else if (isalpha((unsigned char)*t->s) || *t->s == '_') {
		size_t n = name_length(t);

		t->tok.kind = HN_TOKEN_NAME;
		t->tok.text = hn_arena_strndup(t->a, t->s, n);
		step(t, n);
		if (n > HN_DAG_MAX_NAME) {
			hn_text_fail(t, &t->tok, "a name of more than %d bytes",
				     HN_DAG_MAX_NAME);
		}
	} else {
		lex_sign(t);
	}
}

struct hn_token hn_text_peek(struct hn_text *t)
{
	const char *at = t->s;
	uint32_t line = t->line, col = t->col;
	struct hn_token now = t->tok, ret;
	struct hn_err *err = t->err;
	int rc = t->rc;

	t->err = NULL; /* what is wrong there is said when it is reached */
	hn_text_next(t);
	ret = t->tok;
	t->s = at;
	t->line = line;
	t->col = col;
	t->tok = now;
	t->err = err;
	t->rc = rc;
	return ret;
}

bool hn_text_is(const struct hn_text *t, const char *text)
{
	return t->rc == 0 && t->tok.kind != HN_TOKEN_END &&
	       strcmp(t->tok.text, text) == 0;
}

bool hn_text_take(struct hn_text *t, const char *sign)
{
	if (!hn_text_is(t, sign)) {
		return false;
	}
	hn_text_next(t);
	return true;
}

bool hn_text_want(struct hn_text *t, const char *sign)
{
	if (hn_text_take(t, sign)) {
		return true;
	}
	hn_text_fail(t, &t->tok, "expected '%s', found '%s'", sign, t->tok.text);
	return false;
}

const char *hn_text_want_name(struct hn_text *t, const char *noun)
{
	const char *s = t->tok.text;

	if (t->rc != 0 || t->tok.kind != HN_TOKEN_NAME) {
		hn_text_fail(t, &t->tok, "expected the name of %s, found '%s'", noun, s);
		return NULL;
	}
	hn_text_next(t);
	return s;
}
