/* base/err.c -- see err.h.  A message often quotes what a stranger wrote, and ends on a
 * terminal or in JSON: control characters become blanks, broken UTF-8 becomes '?'. */
#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

struct err_class {
	int number;
	const char *name, *text;
};

static const struct err_class err_classes[] = {
#define ERR(name_, number_, text_) {number_, #name_, text_},
#include "base/errs.def"
#undef ERR
};

static const struct err_class *err_class(int code)
{
	for (size_t i = 0; i < HN_COUNT_OF(err_classes); i++) {
		if (err_classes[i].number == code || err_classes[i].number == -code) {
			return &err_classes[i];
		}
	}
	return NULL;
}

/* One clean line out of `text`. A sequence cut by the end of the room is dropped. */
static void set_message(struct hn_err *err, const char *text)
{
	size_t n = strlen(text), used = 0, i = 0;

	while (i < n) {
		size_t length = hn_utf8_length(text + i, n - i);
		bool plain =
			length > 1 || (length == 1 && (unsigned char)text[i] >= 0x20 &&
				       text[i] != 0x7f);

		if (used + (length > 1 ? length : 1) >= sizeof(err->msg)) {
			break;
		}
		if (plain) {
			memcpy(err->msg + used, text + i, length);
			used += length;
		} else {
			err->msg[used++] = length == 0 ? '?' : ' ';
		}
		i += length > 1 ? length : 1;
	}
	err->msg[used] = '\0';
}

int hn_fail(struct hn_err *err, int code, const char *fmt, ...)
{
	char text[sizeof(err->msg) * 2];
	va_list ap;

	code = code < 0 ? -code : code;
	if (!err) {
		return -code;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	set_message(err, text);
	err->code = code;
	return -code;
}

int hn_err_within(struct hn_err *err, const char *fmt, ...)
{
	char text[sizeof(err->msg) * 2];
	va_list ap;
	int n;

	if (!err) {
		return -HONE_E_INTERNAL;
	}
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(err->msg), fmt, ap);
	va_end(ap);
	n = n < 0 ? 0 : n >= (int)sizeof(err->msg) ? (int)sizeof(err->msg) - 1 : n;
	snprintf(text + n, sizeof(text) - (size_t)n, ": %s", err->msg);
	set_message(err, text);
	return -err->code;
}

const char *hn_err_name(int code)
{
	const struct err_class *c = err_class(code);

	return c ? c->name : "?";
}

const char *hn_err_text(int code)
{
	const struct err_class *c = err_class(code);

	return c ? c->text : "unknown error";
}
