/* base/json_scan.c -- RFC 8259 to the letter, before cJSON sees a byte.
 *
 * Relies on nothing but the text: recursion is bounded by max_depth, memory by max_tokens
 * (16 bytes for each key of the objects open at one time).  Refusals are placed by
 * line:column, both from 1, columns in characters.
 */
#include "base/json_int.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

struct scan_key {
	const char *s; /* decoded; into the text or the arena */
	size_t n;
	size_t at; /* offset of its first byte */
};

struct scan {
	const char *what, *text;
	size_t n, at;
	struct hn_json_limits limits;
	uint32_t n_token, depth;
	size_t open_at;	      /* offset of the innermost open bracket */
	struct hn_arena keys; /* decoded keys that had escapes */
	struct scan_key *key; /* of the objects that are open, outermost first */
	size_t n_key, cap_key;
	struct hn_err *err;
};

static int scan_value(struct scan *s);

static void place(const struct scan *s, size_t at, size_t *ret_line, size_t *ret_column)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < at; i++) {
		if (s->text[i] == '\n') {
			line++;
			column = 1;
		} else if (((unsigned char)s->text[i] & 0xc0) != 0x80) {
			column++;
		}
	}
	*ret_line = line;
	*ret_column = column;
}

HN_PRINTF(4, 5)
static int refuse(const struct scan *s, int code, size_t at, const char *fmt, ...)
{
	char why[300];
	size_t line, column;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	place(s, at, &line, &column);
	return hn_fail(s->err, code, "%s:%zu:%zu: %s", s->what, line, column, why);
}

static int refuse_end(const struct scan *s)
{
	size_t line, column;

	if (s->depth == 0) {
		return refuse(s, HONE_E_INVALID, s->n, "the text ends before a value");
	}
	place(s, s->open_at, &line, &column);
	return refuse(s, HONE_E_INVALID, s->n,
		      "the text ends here, but the '%c' of %zu:%zu is still open (is the "
		      "file cut short?)",
		      s->text[s->open_at], line, column);
}

static int refuse_byte(const struct scan *s, const char *expected)
{
	unsigned char c;
	size_t length;

	if (s->at >= s->n) {
		return refuse_end(s);
	}
	c = (unsigned char)s->text[s->at];
	length = hn_utf8_length(s->text + s->at, s->n - s->at);
	if (c == 0xef && length == 3 && memcmp(s->text + s->at, "\xef\xbb\xbf", 3) == 0) {
		return refuse(s, HONE_E_INVALID, s->at,
			      "a byte order mark; save the file as plain UTF-8");
	}
	if (c <= 0x20 || c == 0x7f || length == 0) {
		return refuse(s, HONE_E_INVALID, s->at,
			      "expected %s, not the byte 0x%02x", expected, c);
	}
	return refuse(s, HONE_E_INVALID, s->at, "expected %s, not '%.*s'", expected,
		      (int)length, s->text + s->at);
}

static char peek(const struct scan *s)
{
	return s->at < s->n ? s->text[s->at] : '\0';
}

static void skip_blank(struct scan *s)
{
	while (s->at < s->n && memchr(" \t\n\r", s->text[s->at], 4)) {
		s->at++;
	}
}

static int scan_word(struct scan *s, const char *word)
{
	for (const char *w = word; *w; w++, s->at++) {
		if (peek(s) != *w) {
			char expected[16];

			snprintf(expected, sizeof(expected), "'%s'", word);
			return refuse_byte(s, expected);
		}
	}
	return 0;
}

static size_t scan_digits(struct scan *s)
{
	size_t from = s->at;

	while (peek(s) >= '0' && peek(s) <= '9') {
		s->at++;
	}
	return s->at - from;
}

static int check_range(const struct scan *s, size_t from)
{
	char text[HN_JSON_NUMBER_MAX + 1];
	size_t length = s->at - from;

	if (length > HN_JSON_NUMBER_MAX) {
		return refuse(s, HONE_E_INVALID, from,
			      "a number of %zu characters; at most %d are accepted",
			      length, HN_JSON_NUMBER_MAX);
	}
	memcpy(text, s->text + from, length);
	text[length] = '\0';
	if (isinf(strtod(text, NULL))) {
		return refuse(s, HONE_E_INVALID, from,
			      "the number %s is beyond what a double holds", text);
	}
	return 0;
}

static int scan_number(struct scan *s)
{
	size_t from = s->at;
	size_t whole;

	if (peek(s) == '-') {
		s->at++;
	}
	whole = s->at;
	if (scan_digits(s) == 0) {
		return refuse_byte(s, "a digit");
	}
	if (s->text[whole] == '0' && s->at > whole + 1) {
		return refuse(s, HONE_E_INVALID, from, "a number with leading zeros");
	}
	if (peek(s) == '.') {
		s->at++;
		if (scan_digits(s) == 0) {
			return refuse_byte(s, "a digit after the decimal point");
		}
	}
	if (peek(s) == 'e' || peek(s) == 'E') {
		s->at++;
		if (peek(s) == '+' || peek(s) == '-') {
			s->at++;
		}
		if (scan_digits(s) == 0) {
			return refuse_byte(s, "a digit of the exponent");
		}
	}
	return check_range(s, from);
}

/* The four hex digits at `at`, or -1. */
static int hex4(const struct scan *s, size_t at)
{
	int value = 0;

	if (s->n - at < 4) {
		return -1;
	}
	for (size_t i = at; i < at + 4; i++) {
		char c = s->text[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : c >= 'A' && c <= 'F' ? c - 'A' + 10
						   : -1;

		if (digit < 0) {
			return -1;
		}
		value = value * 16 + digit;
	}
	return value;
}

/* A \uXXXX whose backslash is at `at`, with its second half where it is a surrogate.
 * Writes the code point; moves past it. */
static int scan_unicode(struct scan *s, unsigned *ret_point)
{
	size_t from = s->at;
	int high = hex4(s, from + 2), low = -1;

	if (high < 0) {
		return refuse(s, HONE_E_INVALID, from, "\\u needs four hex digits");
	}
	if (high == 0) {
		return refuse(s, HONE_E_INVALID, from, "\\u0000 is not accepted");
	}
	s->at = from + 6;
	*ret_point = (unsigned)high;
	if (high < 0xd800 || high > 0xdfff) {
		return 0;
	}
	if (high < 0xdc00 && s->n - s->at >= 6 &&
	    memcmp(s->text + s->at, "\\u", 2) == 0) {
		low = hex4(s, s->at + 2);
	}
	if (low < 0xdc00 || low > 0xdfff) {
		return refuse(s, HONE_E_INVALID, from, "half of a surrogate pair");
	}
	s->at += 6;
	*ret_point =
		0x10000 + (((unsigned)high - 0xd800) << 10) + ((unsigned)low - 0xdc00);
	return 0;
}

/* One character of a string; *ret_n bytes of it into out. */
static int scan_character(struct scan *s, char out[4], size_t *ret_n)
{
	static const char escapes[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	size_t length = hn_utf8_length(s->text + s->at, s->n - s->at);
	unsigned char c = (unsigned char)s->text[s->at];
	const char *escape;
	unsigned point = 0;
	int rc;

	if (length == 0) {
		return refuse(s, HONE_E_INVALID, s->at, "the byte 0x%02x is not UTF-8",
			      c);
	}
	if (c < 0x20) {
		return refuse(s, HONE_E_INVALID, s->at,
			      "the raw control character 0x%02x in a string%s", c,
			      c == '\n' ? " (is a closing quote missing?)" : "");
	}
	if (c != '\\') {
		memcpy(out, s->text + s->at, length);
		s->at += length;
		*ret_n = length;
		return 0;
	}
	if (s->at + 1 < s->n && s->text[s->at + 1] == 'u') {
		rc = scan_unicode(s, &point);
		*ret_n = rc == 0 ? hn_utf8_put(point, out) : 0;
		return rc;
	}
	escape = s->at + 1 < s->n && s->text[s->at + 1] != '\0'
			 ? strchr(escapes, s->text[s->at + 1])
			 : NULL;
	if (!escape) {
		return refuse(
			s, HONE_E_INVALID, s->at,
			"unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t "
			"\\uXXXX");
	}
	out[0] = values[escape - escapes];
	*ret_n = 1;
	s->at += 2;
	return 0;
}

/* A string; *ret_escaped tells whether it holds a backslash. */
static int scan_string(struct scan *s, bool *ret_escaped)
{
	size_t from = s->at, length, line, column;
	char out[4];

	*ret_escaped = false;
	for (s->at = from + 1; s->at < s->n && s->text[s->at] != '"';) {
		bool last = s->text[s->at] == '\\' && s->at + 1 == s->n;
		int rc;

		if (last) {
			s->at = s->n;
			break;
		}
		*ret_escaped |= s->text[s->at] == '\\';
		rc = scan_character(s, out, &length);
		if (rc != 0) {
			return rc;
		}
	}
	if (s->at >= s->n) {
		place(s, from, &line, &column);
		return refuse(s, HONE_E_INVALID, s->n,
			      "the text ends here, inside the string of %zu:%zu (is the "
			      "file cut short?)",
			      line, column);
	}
	s->at++;
	return 0;
}

static void push_key(struct scan *s, struct scan_key key)
{
	if (s->n_key == s->cap_key) {
		s->cap_key = s->cap_key ? s->cap_key * 2 : 32;
		s->key = realloc(s->key, s->cap_key * sizeof(*s->key));
		if (!s->key) {
			hn_bug(__FILE__, __LINE__, "out of memory");
		}
	}
	s->key[s->n_key++] = key;
}

/* A member's name, remembered with its escapes undone, so that "a" and "\u0061" are seen
 * to be one. */
static int scan_key(struct scan *s)
{
	size_t from = s->at, end, length = 0;
	struct scan_key key = {.at = from, .s = s->text + from + 1};
	bool escaped;
	char *decoded;
	int rc;

	if (peek(s) != '"') {
		return refuse_byte(s, "a member's name in quotes");
	}
	rc = scan_string(s, &escaped);
	if (rc != 0) {
		return rc;
	}
	end = s->at;
	key.n = end - from - 2;
	if (escaped) {
		decoded = hn_arena_alloc(&s->keys, key.n + 4);
		key.s = decoded;
		key.n = 0;
		for (s->at = from + 1; s->at < end - 1; key.n += length) {
			rc = scan_character(s, decoded + key.n, &length);
			hn_assert(rc == 0);
		}
		s->at = end;
	}
	push_key(s, key);
	return 0;
}

static int key_order(const void *a, const void *b)
{
	const struct scan_key *x = a, *y = b;
	int order = memcmp(x->s, y->s, x->n < y->n ? x->n : y->n);

	if (order == 0 && x->n != y->n) {
		order = x->n < y->n ? -1 : 1;
	}
	return order;
}

/* Sorted, so that a hostile object of many names costs n log n. */
static int check_keys(struct scan *s, size_t first)
{
	size_t n = s->n_key - first;

	s->n_key = first;
	if (n < 2) {
		return 0;
	}
	struct scan_key *key = s->key + first;

	qsort(key, n, sizeof(*key), key_order);
	for (size_t i = 1; i < n; i++) {
		if (key_order(&key[i - 1], &key[i]) == 0) {
			size_t at = key[i - 1].at > key[i].at ? key[i - 1].at : key[i].at;
			int shown = key[i].n < 60 ? (int)key[i].n : 60;

			return refuse(s, HONE_E_INVALID, at,
				      "the name \"%.*s\" is given twice", shown,
				      key[i].s);
		}
	}
	return 0;
}

static int scan_member(struct scan *s)
{
	int rc = scan_key(s);

	if (rc != 0) {
		return rc;
	}
	skip_blank(s);
	if (peek(s) != ':') {
		return refuse_byte(s, "':'");
	}
	s->at++;
	return scan_value(s);
}

/* An array or object, from its bracket on. */
static int scan_nest(struct scan *s, char close)
{
	const char *more = close == '}' ? "',' or '}'" : "',' or ']'";
	size_t outer = s->open_at, first = s->n_key;
	int rc = 0;

	if (s->depth >= s->limits.max_depth) {
		return refuse(s, HONE_E_QUOTA, s->at, "nested more than %u deep",
			      s->limits.max_depth);
	}
	s->depth++;
	s->open_at = s->at++;
	skip_blank(s);
	if (peek(s) != close) {
		for (;;) {
			skip_blank(s);
			rc = close == '}' ? scan_member(s) : scan_value(s);
			if (rc != 0) {
				return rc;
			}
			skip_blank(s);
			if (peek(s) != ',') {
				break;
			}
			s->at++;
		}
	}
	if (peek(s) != close) {
		return refuse_byte(s, more);
	}
	s->at++;
	s->depth--;
	s->open_at = outer;
	return check_keys(s, first);
}

static int scan_value(struct scan *s)
{
	bool escaped;

	skip_blank(s);
	if (++s->n_token > s->limits.max_tokens) {
		return refuse(s, HONE_E_QUOTA, s->at, "more than %u values",
			      s->limits.max_tokens);
	}
	switch (peek(s)) {
	case '{':
		return scan_nest(s, '}');
	case '[':
		return scan_nest(s, ']');
	case '"':
		return scan_string(s, &escaped);
	case 't':
		return scan_word(s, "true");
	case 'f':
		return scan_word(s, "false");
	case 'n':
		return scan_word(s, "null");
	default:
		if (peek(s) == '-' || (peek(s) >= '0' && peek(s) <= '9')) {
			return scan_number(s);
		}
		return refuse_byte(s, "a value");
	}
}

int hn_json_scan(const char *what, const char *text, size_t n,
		 const struct hn_json_limits *limits, struct hn_err *err)
{
	struct scan s = {
		.what = what, .text = text, .n = n, .limits = *limits, .err = err};
	int rc;

	if (s.limits.max_depth > HN_JSON_DEPTH_MAX) {
		s.limits.max_depth = HN_JSON_DEPTH_MAX;
	}
	hn_arena_init(&s.keys, 0);
	rc = scan_value(&s);
	skip_blank(&s);
	if (rc == 0 && s.at < n) {
		rc = refuse_byte(&s, "the end of the text");
	}
	hn_arena_fini(&s.keys);
	free(s.key);
	return rc;
}
