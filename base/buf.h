/* base/buf.h -- a growing byte string that writers append to.
 *
 * Always NUL-terminated at s[n].  The error is sticky: after a failed or over-limit append
 * further appends do nothing and `failed` is set, so writers check once, at the end.
 */
#ifndef HN_BASE_BUF_H
#define HN_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cdefs.h"

struct hn_buf {
	char *s;          /* heap; owned by the buf; "" after init */
	size_t n;         /* bytes used, without the NUL */
	size_t cap;       /* bytes allocated */
	size_t max_bytes; /* 0 = no limit */
	bool failed;
};

void hn_buf_init(struct hn_buf *b);
void hn_buf_fini(struct hn_buf *b);
void hn_buf_reset(struct hn_buf *b); /* n = 0, keeps the memory, clears failed */

/* Room for n more bytes at s + n: false, and failed, when there is none. */
bool hn_buf_reserve(struct hn_buf *b, size_t n);

void hn_buf_add(struct hn_buf *b, const void *bytes, size_t n);
void hn_buf_puts(struct hn_buf *b, const char *s);
void hn_buf_putc(struct hn_buf *b, char c);
void hn_buf_printf(struct hn_buf *b, const char *fmt, ...) HN_PRINTF(2, 3);
void hn_buf_vprintf(struct hn_buf *b, const char *fmt, va_list ap) HN_PRINTF(2, 0);

/* A JSON string literal, quotes included; characters that are not shown but act (name.h)
 * as \uXXXX, bytes that are no UTF-8 as U+FFFD each. */
void hn_buf_json_string(struct hn_buf *b, const char *s);

/* The shortest decimal that reads back as the same double; never by locale.  A non-finite
 * value is written as the JSON strings "inf", "-inf", "nan". */
void hn_buf_double(struct hn_buf *b, double v);

/* Hand the string over (caller frees with free()); the buf is empty after. */
char *hn_buf_steal(struct hn_buf *b);

#endif
