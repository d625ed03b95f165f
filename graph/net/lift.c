/* graph/net/lift.c -- see lift.h. */
#include "graph/net/lift.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define MOST_DIGITS 17 /* of a number that is understood */

struct hn_lift_form hn_lift_form_of(const int64_t *most, uint32_t n_size, int64_t at_most,
				    const int64_t *const *below)
{
	struct hn_lift_form f = { .b = at_most };

	for (uint32_t k = 0; k < n_size; k++) {
		f.a[k] = below[k] != NULL ? at_most - *below[k] : 0;
		f.b -= f.a[k] * most[k];
	}
	return f;
}

int64_t hn_lift_value(const struct hn_lift_form *f, const int64_t *size, uint32_t n_size)
{
	int64_t v = f->b;

	for (uint32_t k = 0; k < n_size; k++) {
		v += f->a[k] * size[k];
	}
	return v;
}

void hn_lift_write_form(const struct hn_lift_form *f, const char *const *name, uint32_t n_size,
			struct hn_buf *b)
{
	const char *sign = "";

	for (uint32_t k = 0; k < n_size; k++) {
		if (f->a[k] == 0) {
			continue;
		}
		hn_buf_puts(b, sign);
		if (f->a[k] != 1) {
			hn_buf_printf(b, "%" PRId64 " * ", f->a[k]);
		}
		hn_buf_puts(b, name[k]);
		sign = " + ";
	}
	if (f->b != 0 || *sign == '\0') {
		hn_buf_printf(b, "%s%" PRId64, *sign == '\0' ? "" : f->b < 0 ? " - " : sign,
			      *sign != '\0' && f->b < 0 ? -f->b : f->b);
	}
}

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

/* A number at text[i], and where the others have got to; false: others have none there. */
static bool add_number(struct hn_lift *l, const char *text, size_t i, size_t n, uint32_t depth,
		       const char **at, const int64_t *most, uint32_t n_size, struct hn_arena *a)
{
	int64_t value[HN_NET_MAX_SIZES];
	const int64_t *below[HN_NET_MAX_SIZES] = { NULL };
	struct hn_lift_piece *p;
	bool differs = false;

	for (uint32_t k = 0; k < n_size; k++) {
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
	for (uint32_t k = 0; k < n_size; k++) {
		differs |= p->form.a[k] != 0;
	}
	if (differs) {
		p->extent = depth > 0 || (i > 0 && text[i - 1] == ':');
		l->sized = true;
	} else {
		p->text = text + i;
		p->n = n;
	}
	return true;
}

bool hn_lift_texts(const char *text, const char *const *below, const int64_t *most,
		   uint32_t n_size, struct hn_arena *a, struct hn_lift *ret)
{
	const char *at[HN_NET_MAX_SIZES] = { NULL };
	uint32_t depth = 0; /* of brackets */

	*ret = (struct hn_lift){ 0 };
	for (uint32_t k = 0; k < n_size; k++) {
		at[k] = below[k];
	}
	for (size_t i = 0; text[i] != '\0';) {
		size_t n = number_at(i > 0 ? text[i - 1] : ' ', text + i);

		if (n > 0) {
			if (!add_number(ret, text, i, n, depth, at, most, n_size, a)) {
				return false;
			}
			i += n;
			continue;
		}
		struct hn_lift_piece *p = add(ret, a);

		p->text = text + i;
		while (text[i] != '\0' && (p->n == 0 || number_at(text[i - 1], text + i) == 0)) {
			depth += text[i] == '[' ? 1u : text[i] == ']' ? -1u : 0u;
			for (uint32_t k = 0; k < n_size; k++) {
				if (at[k] != NULL && *at[k]++ != text[i]) {
					return false;
				}
			}
			i++;
			p->n++;
		}
	}
	for (uint32_t k = 0; k < n_size; k++) {
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
		char number[24];
		const char *s = p->text;
		size_t n = p->n;

		if (s == NULL) {
			n = (size_t)snprintf(number, sizeof(number), "%" PRId64,
					     hn_lift_value(&p->form, size, n_size));
			s = number;
		}
		if (strncmp(text, s, n) != 0) {
			return false;
		}
		text += n;
	}
	return *text == '\0';
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
		hn_buf_printf(b, "%s%s", p->extent || type == NULL ? "" : type,
			      p->extent ? "" : "(");
		hn_lift_write_form(&p->form, name, n_size, b);
		hn_buf_puts(b, p->extent ? "" : ")");
	}
}
