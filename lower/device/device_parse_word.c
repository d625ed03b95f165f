/* lower/device/device_parse_word.c -- the device program's text in words: signs, numbers, types,
 * and the names of variables and buffers. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/device/device_parse_int.h"

#define MOST_SLOTS 65536

_Noreturn HN_PRINTF(2, 3) void hn_parse_refuse(struct parse *p, const char *fmt, ...)
{
	char why[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	(void)hn_fail(p->err, HONE_E_INVALID, "%s:%u: %s", p->what, p->line, why);
	longjmp(p->out, 1);
}

static void blanks(struct parse *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t')) {
		p->at++;
	}
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* The next word: of letters, digits, '_' and '.'; or one sign (==, <= and >= are one). */
const char *hn_parse_peek(struct parse *p, size_t *ret_n)
{
	const char *s;

	blanks(p);
	s = p->at;
	while (s < p->end && is_word(*s)) {
		/* 1.5e-07 is one word */
		bool number = *p->at >= '0' && *p->at <= '9';

		s++;
		if (number && s < p->end && (*s == '-' || *s == '+') && s[-1] == 'e') {
			s++;
		}
	}
	if (s == p->at && s < p->end && *s != '\n') {
		bool two = s + 1 < p->end && s[1] == '=' && strchr("<>=!", *s) != NULL;

		s += two ? 2 : 1;
	}
	*ret_n = (size_t)(s - p->at);
	return p->at;
}

const char *hn_parse_take(struct parse *p)
{
	size_t n;
	const char *s = hn_parse_peek(p, &n);

	if (n == 0) {
		hn_parse_refuse(p, "the line ends too early");
	}
	if (n >= sizeof(p->word)) {
		hn_parse_refuse(p, "a word of %zu bytes", n);
	}
	memcpy(p->word, s, n);
	p->word[n] = '\0';
	p->at += n;
	return p->word;
}

static bool next_is(struct parse *p, const char *word)
{
	size_t n;
	const char *s = hn_parse_peek(p, &n);

	return n == strlen(word) && memcmp(s, word, n) == 0;
}

bool hn_parse_accept(struct parse *p, const char *word)
{
	if (!next_is(p, word)) {
		return false;
	}
	p->at += strlen(word);
	return true;
}

void hn_parse_expect(struct parse *p, const char *word)
{
	if (!hn_parse_accept(p, word)) {
		size_t n;
		const char *s = hn_parse_peek(p, &n);

		hn_parse_refuse(p, "expected '%s', not '%.*s'", word,
				n > 40 ? 40 : (int)n, s);
	}
}

void hn_parse_end_line(struct parse *p)
{
	size_t n;

	(void)hn_parse_peek(p, &n);
	if (n > 0) {
		hn_parse_refuse(p, "'%s' stands behind what the line says",
				hn_parse_take(p));
	}
	while (p->at < p->end && (*p->at == '\n' || *p->at == ' ' || *p->at == '\t')) {
		p->line += *p->at++ == '\n';
	}
}

int64_t hn_parse_int_of(struct parse *p, const char *word)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(word, &end, 10);
	if (end == word || *end != '\0' || errno != 0) {
		hn_parse_refuse(p, "'%s' is no integer", word);
	}
	return v;
}

int64_t hn_parse_take_int(struct parse *p)
{
	char text[HN_PARSE_WORD + 1] = "-";
	bool minus = hn_parse_accept(p, "-");

	snprintf(text + 1, sizeof(text) - 1, "%s", hn_parse_take(p));
	return hn_parse_int_of(p, minus ? text : text + 1);
}

enum hn_dtype hn_parse_take_type(struct parse *p)
{
	enum hn_dtype t;

	hn_parse_take(p);
	t = hn_dtype_of(p->word);
	if (t >= HN_N_DTYPE) {
		hn_parse_refuse(p, "'%s' is no type", p->word);
	}
	return t;
}

int32_t hn_parse_slot_of(struct parse *p, const char *word)
{
	int64_t slot;

	for (int32_t i = 0; i < HN_DEVICE_FIRST; i++) {
		if (strcmp(word, hn_device_number[i]) == 0) {
			return i;
		}
	}
	if (word[0] != 'v' || word[1] < '0' || word[1] > '9' ||
	    word[1 + strspn(word + 1, "0123456789")] != '\0') {
		return -1;
	}
	slot = hn_parse_int_of(p, word + 1);
	if (slot < HN_DEVICE_FIRST || slot >= MOST_SLOTS) {
		hn_parse_refuse(p, "%s: variables are v%d to v%d", word, HN_DEVICE_FIRST,
				MOST_SLOTS - 1);
	}
	return (int32_t)slot;
}

void hn_parse_grow_slots(struct parse *p, uint32_t n)
{
	while (p->n_slot < n) {
		if (p->n_slot == p->cap_slot) {
			p->type =
				hn_arena_grow(p->a, p->type, p->n_slot, &p->cap_slot, 1);
		}
		p->type[p->n_slot++] = HN_I32;
	}
}

int32_t hn_parse_take_name(struct parse *p, enum hn_dtype type)
{
	int32_t slot = hn_parse_slot_of(p, hn_parse_take(p));

	if (slot < HN_DEVICE_FIRST) {
		hn_parse_refuse(p, "'%s' is no name for a variable", p->word);
	}
	hn_parse_grow_slots(p, (uint32_t)slot + 1);
	p->type[slot] = (uint8_t)type;
	return slot;
}

bool hn_parse_is_name(const struct parse *p)
{
	char c = p->word[0];

	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

int32_t hn_parse_find_buffer(const struct parse *p, const char *name)
{
	for (uint32_t i = 0; i < p->d.n_buffer; i++) {
		if (strcmp(p->buffer[i].name, name) == 0) {
			return (int32_t)i;
		}
	}
	return -1;
}

int32_t hn_parse_take_buffer(struct parse *p)
{
	int32_t b = hn_parse_find_buffer(p, hn_parse_take(p));

	if (b < 0) {
		hn_parse_refuse(p, "there is no buffer '%s'", p->word);
	}
	return b;
}
