/* graph/net/lift.c -- see lift.h. */
#include "graph/net/lift.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define MOST_DIGITS 17 /* of a number that is understood */
#define MOST_LITERAL 32

static bool of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* The number that begins at p, a place behind `before`: its digits; 0: none does. */
static size_t number_at(char before, const char *p)
{
	size_t n = strspn(p, "0123456789");

	return n > 0 && n <= MOST_DIGITS && !of_word(before) && !of_word(p[n]) ? n : 0;
}

static struct hn_lift_piece *add(struct hn_lift *l, struct hn_arena *a)
{
	l->piece = hn_arena_grow(a, l->piece, l->n_piece, &l->cap_piece, sizeof(*l->piece));
	l->piece[l->n_piece] = (struct hn_lift_piece){ 0 };
	return &l->piece[l->n_piece++];
}

/* -- numbers that count, and numbers by which a mean multiplies ----------------------------- */

/* The literal at p, behind "float32(": its characters; 0: none is. */
static size_t literal_at(const char *begin, const char *p)
{
	static const char type[] = "float32(";
	size_t n = strspn(p, "0123456789.e+-"), before = sizeof(type) - 1;

	return p - begin >= (ptrdiff_t)before && memcmp(p - before, type, before) == 0 &&
			       n > 0 && n < MOST_LITERAL && p[n] == ')' &&
			       (memchr(p, '.', n) != NULL || memchr(p, 'e', n) != NULL)
		       ? n
		       : 0;
}

/* The number of this form at a value of it, in text. */
static size_t print(enum hn_lift_kind kind, int64_t v, char text[MOST_LITERAL])
{
	double x = 1 / (double)v;
	struct hn_buf b;
	size_t n;

	if (kind == HN_LIFT_INTEGER) {
		return (size_t)snprintf(text, MOST_LITERAL, "%" PRId64, v);
	}
	hn_buf_init(&b);
	hn_buf_double(&b, kind == HN_LIFT_RECIPROCAL_F32 ? (double)(float)x : x);
	n = b.n < MOST_LITERAL ? b.n : 0;
	memcpy(text, b.s, n);
	hn_buf_fini(&b);
	return n;
}

/* The count of which the literal [n] is the reciprocal, as `kind` writes it; 0: of none. */
static int64_t count_of(const char *literal, size_t n, enum hn_lift_kind kind)
{
	double count = 1 / strtod(literal, NULL);
	char text[MOST_LITERAL];
	int64_t v = count >= 1 && count < 0x1p53 ? (int64_t)(count + 0.5) : 0;

	return v > 0 && print(kind, v, text) == n && memcmp(text, literal, n) == 0 ? v : 0;
}

/* The literal [n] at text[i] as the reciprocal of a form. */
static bool add_reciprocal(struct hn_lift *l, enum hn_lift_kind kind, const char *text, size_t i,
			   size_t n, const char **at, const int64_t *most, uint32_t n_size,
			   struct hn_arena *a)
{
	int64_t value[HN_LIFT_BELOW], count = count_of(text + i, n, kind);
	const int64_t *below[HN_LIFT_BELOW] = { NULL };
	size_t other[HN_LIFT_BELOW] = { 0 };
	bool all = count > 0;
	struct hn_lift_piece *p;

	for (uint32_t k = 0; k < HN_LIFT_BELOW && all; k++) {
		if (at[k] != NULL) {
			other[k] = strspn(at[k], "0123456789.e+-");
			value[k] = count_of(at[k], other[k], kind);
			below[k] = &value[k];
			all = value[k] > 0 && at[k][other[k]] == ')';
		}
	}
	if (!all) {
		return false;
	}
	for (uint32_t k = 0; k < HN_LIFT_BELOW; k++) {
		at[k] = at[k] != NULL ? at[k] + other[k] : NULL;
	}
	p = add(l, a);
	p->kind = kind;
	p->form = hn_lift_form_of(most, n_size, count, below);
	l->sized = true;
	return true;
}

/* A literal that is not the same in all texts; false: it is, or it is no reciprocal. */
static bool add_literal(struct hn_lift *l, const char *text, size_t i, size_t n, const char **at,
			const int64_t *most, uint32_t n_size, struct hn_arena *a)
{
	bool same = true;

	for (uint32_t k = 0; k < HN_LIFT_BELOW; k++) {
		same = same && (at[k] == NULL || strncmp(at[k], text + i, n + 1) == 0);
	}
	return !same &&
	       (add_reciprocal(l, HN_LIFT_RECIPROCAL, text, i, n, at, most, n_size, a) ||
		add_reciprocal(l, HN_LIFT_RECIPROCAL_F32, text, i, n, at, most, n_size, a));
}

static bool depends(const struct hn_lift_form *f)
{
	bool does = false;

	for (uint32_t k = 0; k < HN_NET_MAX_SIZES; k++) {
		does = does || f->a[k] != 0;
	}
	for (uint32_t k = 0; k < HN_LIFT_PAIRS; k++) {
		does = does || f->pair[k] != 0;
	}
	return does;
}

/* A number at text[i], and where the others have got to; false: others have none there. */
static bool add_number(struct hn_lift *l, const char *text, size_t i, size_t n, uint32_t depth,
		       const char **at, const int64_t *most, uint32_t n_size, struct hn_arena *a)
{
	int64_t value[HN_LIFT_BELOW];
	const int64_t *below[HN_LIFT_BELOW] = { NULL };
	struct hn_lift_piece *p;

	for (uint32_t k = 0; k < HN_LIFT_BELOW; k++) {
		size_t other = at[k] != NULL ? number_at(i > 0 ? text[i - 1] : ' ', at[k]) : 0;

		if (at[k] == NULL) {
			continue;
		}
		if (other == 0) {
			return false;
		}
		value[k] = strtoll(at[k], NULL, 10);
		below[k] = &value[k];
		at[k] += other;
	}
	p = add(l, a);
	p->form = hn_lift_form_of(most, n_size, strtoll(text + i, NULL, 10), below);
	if (depends(&p->form)) {
		p->extent = depth > 0 || (i > 0 && text[i - 1] == ':');
		l->sized = true;
	} else {
		p->text = text + i;
		p->n = n;
	}
	return true;
}

static bool begins_number(const char *text, size_t i)
{
	return number_at(i > 0 ? text[i - 1] : ' ', text + i) > 0 || literal_at(text, text + i) > 0;
}

bool hn_lift_texts(const char *text, const char *const *below, const int64_t *most,
		   uint32_t n_size, struct hn_arena *a, struct hn_lift *ret)
{
	const char *at[HN_LIFT_BELOW] = { NULL };
	uint32_t depth = 0; /* of brackets */

	*ret = (struct hn_lift){ 0 };
	for (uint32_t k = 0; k < HN_LIFT_BELOW; k++) {
		at[k] = below[k];
	}
	for (size_t i = 0; text[i] != '\0';) {
		size_t n = literal_at(text, text + i);

		if (n > 0 && add_literal(ret, text, i, n, at, most, n_size, a)) {
			i += n;
			continue;
		}
		n = number_at(i > 0 ? text[i - 1] : ' ', text + i);
		if (n > 0) {
			if (!add_number(ret, text, i, n, depth, at, most, n_size, a)) {
				return false;
			}
			i += n;
			continue;
		}
		struct hn_lift_piece *p = add(ret, a);

		p->text = text + i;
		while (text[i] != '\0' && (p->n == 0 || !begins_number(text, i))) {
			depth += text[i] == '[' ? 1u : text[i] == ']' ? -1u : 0u;
			for (uint32_t k = 0; k < HN_LIFT_BELOW; k++) {
				if (at[k] != NULL && *at[k]++ != text[i]) {
					return false;
				}
			}
			i++;
			p->n++;
		}
	}
	for (uint32_t k = 0; k < HN_LIFT_BELOW; k++) {
		if (at[k] != NULL && *at[k] != '\0') {
			return false;
		}
	}
	return true;
}

/* "..float32 NAME[" */
static bool declares(const struct hn_lift_piece *p, const char *name)
{
	size_t n = strlen(name);

	return p->text != NULL && p->n > n + 2 && p->text[p->n - 1] == '[' &&
	       p->text[p->n - n - 2] == ' ' && strncmp(p->text + p->n - n - 1, name, n) == 0;
}

void hn_lift_fix(struct hn_lift *l, const char *name, const int64_t *most, uint32_t n_size)
{
	uint32_t i = 0;

	while (i < l->n_piece && !declares(&l->piece[i], name)) {
		i++;
	}
	for (i++; i < l->n_piece && (l->piece[i].text == NULL || l->piece[i].text[0] != ']'); i++) {
		if (l->piece[i].text == NULL) {
			l->piece[i].fixed = hn_lift_value(&l->piece[i].form, most, n_size);
		}
	}
}

bool hn_lift_is(const struct hn_lift *l, const char *text, const int64_t *size, uint32_t n_size)
{
	for (uint32_t i = 0; i < l->n_piece; i++) {
		const struct hn_lift_piece *p = &l->piece[i];
		char number[MOST_LITERAL];
		const char *s = p->text;
		size_t n = p->n;

		if (s == NULL) {
			n = print(p->kind, hn_lift_value(&p->form, size, n_size), number);
			s = number;
		}
		if (strncmp(text, s, n) != 0) {
			return false;
		}
		text += n;
	}
	return *text == '\0';
}

/* Behind "float32(".  The count may leave int32. */
static void write_reciprocal(const struct hn_lift_form *f, const char *const *name,
			     uint32_t n_size, struct hn_buf *b)
{
	char wide[HN_NET_MAX_SIZES][MOST_LITERAL];
	const char *of[HN_NET_MAX_SIZES];

	for (uint32_t k = 0; k < n_size; k++) {
		snprintf(wide[k], sizeof(wide[k]), "int64(%.16s)", name[k]);
		of[k] = wide[k];
	}
	hn_buf_puts(b, "1 / float32(");
	hn_lift_write_form(f, of, NULL, n_size, b);
	hn_buf_puts(b, ")");
}

void hn_lift_write(const struct hn_lift *l, const char *const *name, uint32_t n_size,
		   const char *type, struct hn_buf *b)
{
	for (uint32_t i = 0; i < l->n_piece; i++) {
		const struct hn_lift_piece *p = &l->piece[i];

		if (p->text != NULL) {
			hn_buf_printf(b, "%.*s", (int)p->n, p->text);
			continue;
		}
		if (p->fixed > 0) {
			hn_buf_printf(b, "%" PRId64, p->fixed);
			continue;
		}
		if (p->kind != HN_LIFT_INTEGER) {
			write_reciprocal(&p->form, name, n_size, b);
			continue;
		}
		hn_buf_printf(b, "%s%s", p->extent || type == NULL ? "" : type,
			      p->extent ? "" : "(");
		hn_lift_write_form(&p->form, name, NULL, n_size, b);
		hn_buf_puts(b, p->extent ? "" : ")");
	}
}
