/* base/jw.c -- see jw.h. */
#include "base/jw.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/json.h"

void hn_jw_init(struct hn_jw *w, struct hn_buf *buf)
{
	*w = (struct hn_jw){.buf = buf};
}

/* The comma and the name that go before any value. */
static void before(struct hn_jw *w, const char *name)
{
	bool in_object = w->depth > 0 && w->close[w->depth - 1] == '}';

	hn_assert(in_object == (name != NULL));
	hn_assert(w->depth > 0 || !w->comma);
	if (w->comma) {
		hn_buf_putc(w->buf, ',');
	}
	w->comma = true;
	if (name) {
		hn_buf_json_string(w->buf, name);
		hn_buf_putc(w->buf, ':');
	}
}

static void open_with(struct hn_jw *w, const char *name, char open, char close)
{
	before(w, name);
	hn_assert(w->depth < HN_JW_DEPTH);
	hn_buf_putc(w->buf, open);
	w->close[w->depth++] = close;
	w->comma = false;
}

void hn_jw_object(struct hn_jw *w, const char *name)
{
	open_with(w, name, '{', '}');
}

void hn_jw_list(struct hn_jw *w, const char *name)
{
	open_with(w, name, '[', ']');
}

void hn_jw_end(struct hn_jw *w)
{
	hn_assert(w->depth > 0);
	hn_buf_putc(w->buf, w->close[--w->depth]);
	w->comma = true;
}

void hn_jw_done(struct hn_jw *w)
{
	hn_assert(w->depth == 0 && w->comma);
}

void hn_jw_str(struct hn_jw *w, const char *name, const char *s)
{
	if (!s) {
		hn_jw_null(w, name);
		return;
	}
	before(w, name);
	hn_buf_json_string(w->buf, s);
}

void hn_jw_strf(struct hn_jw *w, const char *name, const char *fmt, ...)
{
	struct hn_buf text;
	va_list ap;

	hn_buf_init(&text);
	va_start(ap, fmt);
	hn_buf_vprintf(&text, fmt, ap);
	va_end(ap);
	hn_jw_str(w, name, text.s);
	w->buf->failed = w->buf->failed || text.failed;
	hn_buf_fini(&text);
}

void hn_jw_int(struct hn_jw *w, const char *name, int64_t v)
{
	before(w, name);
	hn_buf_printf(w->buf, "%lld", (long long)v);
}

void hn_jw_uint(struct hn_jw *w, const char *name, uint64_t v)
{
	before(w, name);
	hn_buf_printf(w->buf, "%llu", (unsigned long long)v);
}

void hn_jw_double(struct hn_jw *w, const char *name, double v)
{
	if (!isfinite(v)) {
		hn_jw_null(w, name);
		return;
	}
	before(w, name);
	hn_buf_double(w->buf, v);
}

void hn_jw_fixed(struct hn_jw *w, const char *name, double v, int digits)
{
	double unit = pow(10, digits);
	double scaled = round(v * unit);

	/* Beyond 2^53 there is nothing behind the point to round. */
	hn_jw_double(w, name, fabs(scaled) < 0x1p53 ? scaled / unit : v);
}

void hn_jw_bool(struct hn_jw *w, const char *name, bool v)
{
	before(w, name);
	hn_buf_puts(w->buf, v ? "true" : "false");
}

void hn_jw_null(struct hn_jw *w, const char *name)
{
	before(w, name);
	hn_buf_puts(w->buf, "null");
}

bool hn_jw_json(struct hn_jw *w, const char *name, const char *text)
{
	static const struct hn_json_limits deep = {.max_depth = UINT32_MAX};

	/* A reader of lines takes each for one message, so there is no newline in it. */
	if (!text || strpbrk(text, "\n\r") ||
	    hn_json_check("", text, strlen(text), &deep, NULL) != 0) {
		hn_jw_null(w, name);
		return false;
	}
	before(w, name);
	hn_buf_puts(w->buf, text);
	return true;
}

void hn_jw_written(struct hn_jw *w, const char *name, const char *text)
{
	before(w, name);
	hn_buf_puts(w->buf, text);
}
