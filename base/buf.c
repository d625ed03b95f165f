/* base/buf.c -- see buf.h. */
#include "base/buf.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "base/utf8.h"

void hn_buf_init(struct hn_buf *b)
{
	/* Never written to: cap is 0. */
	*b = (struct hn_buf){.s = (char *)""};
}

void hn_buf_fini(struct hn_buf *b)
{
	if (b->cap > 0) {
		free(b->s);
	}
	hn_buf_init(b);
}

void hn_buf_reset(struct hn_buf *b)
{
	b->n = 0;
	b->failed = false;
	if (b->cap > 0) {
		b->s[0] = '\0';
	}
}

bool hn_buf_reserve(struct hn_buf *b, size_t n)
{
	size_t want, cap;
	char *s;

	if (b->failed) {
		return false;
	}
	if (__builtin_add_overflow(b->n, n, &want) || want >= PTRDIFF_MAX / 2 ||
	    (b->max_bytes > 0 && want > b->max_bytes)) {
		b->failed = true;
		return false;
	}
	if (want < b->cap) {
		return true;
	}
	cap = b->cap < 64 ? 64 : b->cap;
	while (cap <= want) {
		cap *= 2;
	}
	s = realloc(b->cap > 0 ? b->s : NULL, cap);
	if (!s) {
		b->failed = true;
		return false;
	}
	b->s = s;
	b->cap = cap;
	b->s[b->n] = '\0';
	return true;
}

void hn_buf_add(struct hn_buf *b, const void *bytes, size_t n)
{
	if (n == 0 || !hn_buf_reserve(b, n)) {
		return;
	}
	memcpy(b->s + b->n, bytes, n);
	b->n += n;
	b->s[b->n] = '\0';
}

void hn_buf_puts(struct hn_buf *b, const char *s)
{
	hn_buf_add(b, s, strlen(s));
}

void hn_buf_putc(struct hn_buf *b, char c)
{
	hn_buf_add(b, &c, 1);
}

void hn_buf_vprintf(struct hn_buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0) {
		b->failed = true;
	} else if (hn_buf_reserve(b, (size_t)n)) {
		vsnprintf(b->s + b->n, (size_t)n + 1, fmt, again);
		b->n += (size_t)n;
	}
	va_end(again);
}

void hn_buf_printf(struct hn_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hn_buf_vprintf(b, fmt, ap);
	va_end(ap);
}

/* The character s[0..n) begins with, which may not stand in a JSON string as it is, or acts where
 * it is shown (name.h). Returns its length. */
static size_t escape(struct hn_buf *b, const char *s, size_t n)
{
	size_t length = hn_utf8_length(s, n);
	unsigned c = length > 0 ? hn_utf8_get(s, length) : 0;

	if (length == 0) {
		hn_buf_puts(b, "\xef\xbf\xbd"); /* U+FFFD */
		return 1;
	}
	if (c == '"' || c == '\\') {
		hn_buf_putc(b, '\\');
		hn_buf_putc(b, (char)c);
	} else if (c < 0x10000) {
		hn_buf_printf(b, "\\u%04x", c);
	} else {
		hn_buf_printf(b, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
	}
	return length;
}

void hn_buf_json_string(struct hn_buf *b, const char *s)
{
	const char *plain = s, *end = s + strlen(s);

	hn_buf_putc(b, '"');
	while (s < end) {
		size_t n = *s == '"' || *s == '\\' ? 0
			   : *s >= ' ' && *s < 0x7f  ? 1
						     : hn_shown_length(s, (size_t)(end - s));

		if (n > 0) {
			s += n;
			continue;
		}
		hn_buf_add(b, plain, (size_t)(s - plain));
		s += escape(b, s, (size_t)(end - s));
		plain = s;
	}
	hn_buf_add(b, plain, (size_t)(s - plain));
	hn_buf_putc(b, '"');
}

/* A decimal of up to 15 digits survives being a normal double (DBL_DIG), so where 15
 * digits read back, "%g" without its trailing zeros is the shortest; below, search
 * from 1. */
static void shortest(double v, char text[40])
{
	int digits = fabs(v) < DBL_MIN ? 1 : DBL_DIG;

	do {
		snprintf(text, 40, "%.*g", digits, v);
	} while (strtod(text, NULL) != v && ++digits <= 17);
}

void hn_buf_double(struct hn_buf *b, double v)
{
	char text[40];

	if (!isfinite(v)) {
		hn_buf_puts(b, isnan(v) ? "\"nan\"" : v > 0 ? "\"inf\"" : "\"-inf\"");
		return;
	}
	if (v == trunc(v) && fabs(v) < 1e15 && (v != 0 || !signbit(v))) {
		hn_buf_printf(b, "%lld", (long long)v);
		return;
	}
	shortest(v, text);
	/* What is neither digit, sign nor exponent is the locale's decimal point. */
	for (char *p = text; *p;) {
		size_t point = strcspn(p, "0123456789+-e");

		hn_buf_puts(b, point > 0 ? "." : "");
		p += point;
		point = strspn(p, "0123456789+-e");
		hn_buf_add(b, p, point);
		p += point;
	}
}

char *hn_buf_steal(struct hn_buf *b)
{
	char *s = b->cap > 0 ? b->s : strdup("");
	size_t max_bytes = b->max_bytes;

	hn_assert(s != NULL);
	hn_buf_init(b);
	b->max_bytes = max_bytes;
	return s;
}
