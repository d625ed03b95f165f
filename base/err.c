/* base/err.c -- see err.h.  A message often quotes what a stranger wrote, and ends on a
 * terminal or in JSON: it is one line of shown characters (name.h). */
#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"

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

static void set_message(struct hn_err *err, const char *text)
{
	hn_shown(err->msg, sizeof(err->msg), text, strlen(text));
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
