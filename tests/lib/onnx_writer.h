/* onnx_writer.h -- protocol buffers, written: models that tests are made of.
 *
 * Fields are appended one after the other; a message is what stands between put_begin and
 * put_end.  Its length takes five bytes always, which the format allows. */
#ifndef HN_TESTS_ONNX_WRITER_H
#define HN_TESTS_ONNX_WRITER_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define ONNX_LENGTH_BYTES 5

static inline void put_varint(struct hn_buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7) {
		hn_buf_putc(b, (char)(v | 0x80));
	}
	hn_buf_putc(b, (char)v);
}

static inline void put_tag(struct hn_buf *b, uint32_t number, unsigned wire_type)
{
	put_varint(b, (uint64_t)number << 3 | wire_type);
}

static inline void put_int(struct hn_buf *b, uint32_t number, int64_t v)
{
	put_tag(b, number, 0);
	put_varint(b, (uint64_t)v);
}

/* n bytes, the lowest first. */
static inline void put_little(struct hn_buf *b, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		hn_buf_putc(b, (char)(v >> (8 * i)));
	}
}

static inline void put_float(struct hn_buf *b, uint32_t number, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof bits);
	put_tag(b, number, 5);
	put_little(b, bits, 4);
}

static inline void put_bytes(struct hn_buf *b, uint32_t number, const void *bytes, size_t n)
{
	put_tag(b, number, 2);
	put_varint(b, n);
	hn_buf_add(b, bytes, n);
}

static inline void put_text(struct hn_buf *b, uint32_t number, const char *s)
{
	put_bytes(b, number, s, strlen(s));
}

/* Returns where the message begins, for put_end. */
static inline size_t put_begin(struct hn_buf *b, uint32_t number)
{
	put_tag(b, number, 2);
	hn_buf_add(b, "\x80\x80\x80\x80\x00", ONNX_LENGTH_BYTES);
	return b->n;
}

static inline void put_end(struct hn_buf *b, size_t begin)
{
	size_t n = b->n - begin;

	for (unsigned i = 0; i < ONNX_LENGTH_BYTES; i++, n >>= 7) {
		b->s[begin - ONNX_LENGTH_BYTES + i] =
			(char)((n & 0x7f) | (i + 1 < ONNX_LENGTH_BYTES ? 0x80 : 0));
	}
}

/* ---- a notation for tables of small messages ----
 *
 * Items with blanks between: a field's number, then its value:
 *
 *   3:-5        a number            4'text'     bytes
 *   2=1.5       a float             4#00ff      bytes in hex digits
 *   7{ ... }    a message
 *   8[1 2 -3]   packed numbers      7(1 2.5)    packed floats       10<1 2>   packed doubles
 */
static inline void put_items(struct hn_buf *b, const char **at);

static inline void put_hex(struct hn_buf *b, uint32_t number, const char **at)
{
	struct hn_buf inside;
	unsigned byte;

	hn_buf_init(&inside);
	for (; isxdigit((unsigned char)**at) && sscanf(*at, "%2x", &byte) == 1; *at += 2) {
		hn_buf_putc(&inside, (char)byte);
	}
	put_bytes(b, number, inside.s, inside.n);
	hn_buf_fini(&inside);
}

static inline void put_quoted(struct hn_buf *b, uint32_t number, const char **at)
{
	size_t n = strcspn(*at, "'");

	put_bytes(b, number, *at, n);
	*at += n + 1;
}

static inline void put_packed(struct hn_buf *b, uint32_t number, char kind, const char **at)
{
	size_t begin = put_begin(b, number);

	while (strchr(" ])>", **at) == NULL || *(*at)++ == ' ') {
		char *end;
		double d = kind == '[' ? 0 : strtod(*at, &end);
		int64_t i = kind == '[' ? strtoll(*at, &end, 0) : 0;
		float f = (float)d;
		uint32_t low;
		uint64_t bits;

		memcpy(&low, &f, sizeof low);
		memcpy(&bits, &d, sizeof bits);
		if (end == *at) {
			continue;
		}
		*at = end;
		if (kind == '[') {
			put_varint(b, (uint64_t)i);
		} else {
			put_little(b, kind == '(' ? low : bits, kind == '(' ? 4 : 8);
		}
	}
	put_end(b, begin);
}

static inline void put_value(struct hn_buf *b, uint32_t number, char kind, const char **at)
{
	char *end = NULL;
	size_t begin;

	switch (kind) {
	case ':':
		put_int(b, number, strtoll(*at, &end, 0));
		break;
	case '=':
		put_float(b, number, strtof(*at, &end));
		break;
	case '\'':
		put_quoted(b, number, at);
		break;
	case '#':
		put_hex(b, number, at);
		break;
	case '{':
		begin = put_begin(b, number);
		put_items(b, at);
		put_end(b, begin);
		break;
	default:
		put_packed(b, number, kind, at);
	}
	*at = end ? end : *at;
}

/* Up to the end, or behind the closing brace. */
static inline void put_items(struct hn_buf *b, const char **at)
{
	for (*at += strspn(*at, " "); **at != '\0' && **at != '}'; *at += strspn(*at, " ")) {
		char *end;
		uint32_t number = (uint32_t)strtoul(*at, &end, 10);

		hn_assert(end > *at); /* the notation is wrong */
		*at = end + 1;
		put_value(b, number, *end, at);
	}
	*at += **at == '}';
}

/* What the notation says, appended. */
static inline void put_notation(struct hn_buf *b, const char *text)
{
	put_items(b, &text);
	hn_assert(*text == '\0');
}

#endif
