/* record_scan.c -- the words a record's line is made of, each with its column.
 *
 * Not base/json.h: a cost must be written again as it was spelled, and a bad value is
 * reported at its column.  Nothing here recurses.
 */
#include "loopstate/record/record_int.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NUMBER 64

int hn_scan_fail(struct hn_record_scan *s, const char *at, const char *fmt, ...)
{
	char why[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return hn_fail(s->err, HONE_E_INVALID, "%s:%llu:%zu: %s", s->what,
		       (unsigned long long)s->line, (size_t)(at - s->text) + 1, why);
}

char hn_scan_peek(struct hn_record_scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\r')) {
		s->p++;
	}
	return s->p < s->end ? *s->p : '\0';
}

/* What is next, for a message. */
static const char *found(struct hn_record_scan *s, char text[24])
{
	char c = hn_scan_peek(s);

	if (s->p == s->end) {
		return "the end of the line";
	}
	if (c < ' ' || c > '~') {
		snprintf(text, 24, "byte 0x%02x", (unsigned char)c);
	} else {
		snprintf(text, 24, "`%c`", c);
	}
	return text;
}

int hn_scan_take(struct hn_record_scan *s, char c, const char *where)
{
	char text[24];

	if (hn_scan_peek(s) != c || s->p == s->end) {
		const char *got = found(s, text);

		return hn_scan_fail(s, s->p, "%s: `%c` expected, not %s", where, c, got);
	}
	s->p++;
	return 0;
}

int hn_scan_more(struct hn_record_scan *s, char close, const char *where)
{
	char text[24], c = hn_scan_peek(s);

	if (s->p == s->end || (c != ',' && c != close)) {
		const char *got = found(s, text);

		return hn_scan_fail(s, s->p, "%s: `,` or `%c` expected, not %s", where,
				    close, got);
	}
	s->p++;
	return c == ',';
}

static int hex4(const char *p, const char *end)
{
	int v = 0;

	for (int i = 0; i < 4; i++, p++) {
		const char *digits = "0123456789abcdef", *at;
		char c = p < end ? *p : '\0';

		if (c >= 'A' && c <= 'F') {
			c = (char)(c - 'A' + 'a');
		}
		at = c != '\0' ? strchr(digits, c) : NULL;
		if (at == NULL) {
			return -1;
		}
		v = v * 16 + (int)(at - digits);
	}
	return v;
}

/* The character behind a backslash at s->p; -1 = none that is known.  \u is taken below
 * 0x80 only: Ansor writes bytes as they are. */
static int escaped(struct hn_record_scan *s)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char c = s->p < s->end ? *s->p++ : '\0';
	const char *at = c != '\0' ? strchr(from, c) : NULL;

	if (at != NULL) {
		return to[at - from];
	}
	if (c != 'u') {
		return -1;
	}
	int v = hex4(s->p, s->end);

	s->p += v > 0 && v < 0x80 ? 4 : 0;
	return v > 0 && v < 0x80 ? v : -1;
}

int hn_scan_string(struct hn_record_scan *s, const char *where, const char **ret)
{
	const char *start;
	char *text, *to;
	int rc = hn_scan_take(s, '"', where);

	if (rc != 0) {
		return rc;
	}
	start = s->p - 1;
	const char *close = s->p;

	while (close < s->end && *close != '"') {
		close += *close == '\\' && close + 1 < s->end ? 2 : 1;
	}
	if (close >= s->end) {
		return hn_scan_fail(s, start, "%s: the string does not end", where);
	}
	text = to = hn_arena_alloc(s->a, (size_t)(close - s->p) + 1);
	while (*s->p != '"') {
		const char *at = s->p;
		int c = (unsigned char)*s->p++;

		c = c == '\\' ? escaped(s) : c;
		if (c <= 0) {
			return hn_scan_fail(s, at,
					    c == 0 ? "%s: a NUL in a string"
						   : "%s: unknown escape in a string",
					    where);
		}
		*to++ = (char)c;
	}
	s->p++;
	*ret = text;
	return 0;
}

static const char *digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9') {
		p++;
	}
	return p;
}

/* Past a number of JSON's grammar; NULL where there is none. */
static const char *number_end(const char *p, const char *end)
{
	const char *q;

	p += p < end && *p == '-';
	q = digits(p, end);
	if (q == p || (*p == '0' && q > p + 1)) {
		return NULL;
	}
	p = q;
	if (p < end && *p == '.') {
		q = digits(p + 1, end);
		if (q == p + 1) {
			return NULL;
		}
		p = q;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		p += p < end && (*p == '+' || *p == '-');
		q = digits(p, end);
		return q == p ? NULL : q;
	}
	return p;
}

int hn_scan_number(struct hn_record_scan *s, const char *where,
		   struct hn_record_number *ret)
{
	(void)hn_scan_peek(s);

	const char *start = s->p, *stop = number_end(start, s->end);

	if (stop == NULL) {
		return hn_scan_fail(s, start, "%s: a number expected, not \"%.*s\"",
				    where, (int)strcspn(start, ",]} \n\""), start);
	}
	if (stop - start > MAX_NUMBER) {
		return hn_scan_fail(s, start, "%s: a number of %zu characters", where,
				    (size_t)(stop - start));
	}
	char *text = hn_arena_strndup(s->a, start, (size_t)(stop - start));
	double value = strtod(text, NULL);

	if (!isfinite(value)) {
		return hn_scan_fail(s, start, "%s: %s is past the greatest number", where,
				    text);
	}
	*ret = (struct hn_record_number){ value, text };
	s->p = stop;
	return 0;
}

int hn_scan_int(struct hn_record_scan *s, const char *where, int64_t low, int64_t high,
		int64_t *ret)
{
	struct hn_record_number number;
	const char *start;
	char *end = NULL;

	(void)hn_scan_peek(s);
	start = s->p;
	int rc = hn_scan_number(s, where, &number);

	if (rc != 0) {
		return rc;
	}
	errno = 0;
	long long v = strtoll(number.text, &end, 10);

	if (*end != '\0' || errno != 0) {
		return hn_scan_fail(s, start, "%s: %s is not a whole number of 64 bits",
				    where, number.text);
	}
	if (v < low || v > high) {
		return hn_scan_fail(s, start, "%s: %lld must lie in %lld..%lld", where, v,
				    (long long)low, (long long)high);
	}
	*ret = v;
	return 0;
}

int hn_scan_array(struct hn_record_scan *s, const char *where, int max_depth,
		  const char **ret, size_t *ret_n)
{
	char c = hn_scan_peek(s);
	const char *start = s->p;
	bool quoted = false;
	int depth = 0;

	if (c != '[') {
		return hn_scan_take(s, '[', where);
	}
	for (; s->p < s->end; s->p++) {
		c = *s->p;
		if (quoted) {
			s->p += c == '\\' && s->p + 1 < s->end;
			quoted = c != '"';
			continue;
		}
		quoted = c == '"';
		depth += (c == '[' || c == '{') - (c == ']' || c == '}');
		if (depth > max_depth) {
			return hn_scan_fail(s, s->p, "%s: nested too deep", where);
		}
		if (depth == 0) {
			*ret = start;
			*ret_n = (size_t)(++s->p - start);
			return 0;
		}
	}
	return hn_scan_fail(s, start, "%s: the array does not end", where);
}
