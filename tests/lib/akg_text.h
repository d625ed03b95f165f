/* akg_text.h -- fused operators of AKG in a line, for tests: their JSON, and the numbers of tensors.
 *
 * Tensors stand behind each other with ";" between: a type, a shape, and the elements.  "=" instead
 * of ":" makes a literal, and "@" a format:
 *
 *   float32[2,2]: 1 2 3 4; int64[2]= 0 1; float16[1,1,16,16]@FRACTAL_NZ: ..
 *
 * "N*X" is N times X, and "A~B" counts. */
#ifndef HN_TESTS_AKG_TEXT_H
#define HN_TESTS_AKG_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define AKG_MOST_NUMBERS 4096

struct akg_text {
	char dtype[16], shape[64], format[32];
	bool is_literal;
	double number[AKG_MOST_NUMBERS];
	size_t n;
};

static inline void akg_put(struct akg_text *t, double v, long times)
{
	for (long k = 0; k < times; k++) {
		hn_assert(t->n < AKG_MOST_NUMBERS);
		t->number[t->n++] = v;
	}
}

/* The tensor at s; what is behind it, or NULL. */
static inline const char *akg_tensor(const char *s, struct akg_text *t)
{
	int n = 0;

	memset(t, 0, sizeof *t);
	if (sscanf(s, " %15[a-z0-9][%63[^]]%n", t->dtype, t->shape, &n) < 2) { /* "float32[]" */
		n = 0;
		sscanf(s, " %15[a-z0-9][%n", t->dtype, &n);
		t->shape[0] = '\0';
	}
	hn_assert(n > 0 && s[n] == ']');
	s += n + 1;
	if (*s == '@') {
		n = (int)strcspn(s, ":=");
		snprintf(t->format, sizeof t->format, "%.*s", n - 1, s + 1);
		s += n;
	}
	t->is_literal = *s == '=';
	s += *s == '=' || *s == ':';
	for (;;) {
		char *end;
		double v = strtod(s, &end), last = v;
		long times = 1;

		if (end == s) {
			break;
		}
		if (*end == '*') {
			times = (long)v;
			v = last = strtod(end + 1, &end);
		} else if (*end == '~') {
			last = strtod(end + 1, &end);
		}
		akg_put(t, v, times);
		while (v < last) {
			akg_put(t, ++v, 1);
		}
		s = end;
	}
	s += strspn(s, " ");
	return *s == ';' ? s + 1 : NULL;
}

static inline void put_akg_tensor(struct hn_buf *b, const struct akg_text *t, const char *name,
				  uint32_t k)
{
	hn_buf_printf(b, "{\"tensor_name\":\"%s%u\",\"data_type\":\"%s\",\"shape\":[%s],\"format\":\"%s\"",
		      name, k, t->dtype, t->shape, *t->format != '\0' ? t->format : "DefaultFormat");
	if (t->is_literal) {
		hn_buf_puts(b, ",\"value\":");
		hn_buf_puts(b, t->n == 1 ? "" : "[");
		for (size_t i = 0; i < t->n; i++) {
			hn_buf_printf(b, "%s%.17g", i > 0 ? "," : "", t->number[i]);
		}
		hn_buf_puts(b, t->n == 1 ? "" : "]");
	}
	hn_buf_putc(b, '}');
}

/* A list of those of `s` that are literals or not; `nested`: each in a list of its own. */
static inline void put_akg_tensors(struct hn_buf *b, const char *s, const char *name, bool literals,
				   bool nested)
{
	struct akg_text *t = malloc(sizeof *t);
	bool first = true;

	hn_assert(t != NULL);
	hn_buf_putc(b, '[');
	for (uint32_t k = 0; s != NULL && *s != '\0'; k++) {
		s = akg_tensor(s, t);
		if (literals || !t->is_literal) {
			hn_buf_puts(b, first ? "" : ",");
			hn_buf_puts(b, nested ? "[" : "");
			put_akg_tensor(b, t, name, k);
			hn_buf_puts(b, nested ? "]" : "");
			first = false;
		}
	}
	hn_buf_putc(b, ']');
	free(t);
}

/* The kernel of one operator; `attr` is the inside of a JSON object. */
static inline void put_akg(struct hn_buf *b, const char *op, const char *attr, const char *in,
			   const char *out)
{
	hn_buf_printf(b, "{\"composite\":true,\"op\":\"Fused_%s\",\"platform\":\"AKG\",\"process\":\"cpu\","
			 "\"input_desc\":", op);
	put_akg_tensors(b, in, "in", false, true);
	hn_buf_puts(b, ",\"output_desc\":");
	put_akg_tensors(b, out, "out", true, false);
	hn_buf_printf(b, ",\"op_desc\":[{\"name\":\"%s\",\"attr\":{%s},\"input_desc\":", op, attr);
	put_akg_tensors(b, in, "in", true, true);
	hn_buf_puts(b, ",\"output_desc\":");
	put_akg_tensors(b, out, "out", true, false);
	hn_buf_puts(b, "}]}");
}

#endif
