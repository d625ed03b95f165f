/* base/json.c -- see json.h: the scan, then the tree, and what may be asked of it. */
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_int.h"

#define JSON_SAFE_INT 0x1p53 /* from here on a double may stand for two integers */

int hn_json_check(const char *what, const char *text, size_t n,
		  const struct hn_json_limits *limits, struct hn_err *err)
{
	struct hn_json_limits l = limits ? *limits : (struct hn_json_limits){0};

	l.max_bytes = l.max_bytes ? l.max_bytes : (size_t)64 << 20;
	l.max_depth = l.max_depth ? l.max_depth : 64;
	l.max_tokens = l.max_tokens ? l.max_tokens : 4000000;
	if (n > l.max_bytes) {
		return hn_fail(err, HONE_E_QUOTA, "%s: %zu bytes of JSON; at most %zu",
			       what, n, l.max_bytes);
	}
	return hn_json_scan(what, text, n, &l, err);
}

int hn_json_parse(const char *what, const char *text, size_t n,
		  const struct hn_json_limits *limits, struct hn_json **ret,
		  struct hn_err *err)
{
	int rc = hn_json_check(what, text, n, limits, err);

	if (rc != 0) {
		return rc;
	}
	*ret = hn_json_tree(text, n);
	return *ret ? 0 : hn_fail(err, HONE_E_NOMEM, "%s: out of memory", what);
}

void hn_json_free(struct hn_json *root)
{
	struct hn_json_doc *doc = (struct hn_json_doc *)(void *)root; /* its first member */

	if (doc) {
		hn_arena_fini(&doc->arena);
		free(doc);
	}
}

enum hn_json_kind hn_json_kind(const struct hn_json *v)
{
	return v->kind;
}

const char *hn_json_kind_name(const struct hn_json *v)
{
	static const char *const names[] = {
		[HN_JSON_NULL] = "null",       [HN_JSON_BOOL] = "a boolean",
		[HN_JSON_NUMBER] = "a number", [HN_JSON_STRING] = "a string",
		[HN_JSON_ARRAY] = "an array",  [HN_JSON_OBJECT] = "an object",
	};

	return v ? names[hn_json_kind(v)] : "nothing";
}

const struct hn_json *hn_json_first(const struct hn_json *v)
{
	return v && v->n_child > 0 ? v->child : NULL;
}

const struct hn_json *hn_json_next(const struct hn_json *v)
{
	return v->next;
}

uint32_t hn_json_count(const struct hn_json *v)
{
	return v ? v->n_child : 0;
}

const char *hn_json_key(const struct hn_json *member)
{
	return member->key;
}

const struct hn_json *hn_json_get(const struct hn_json *object, const char *key)
{
	if (!object || hn_json_kind(object) != HN_JSON_OBJECT) {
		return NULL;
	}
	for (const struct hn_json *c = hn_json_first(object); c; c = hn_json_next(c)) {
		if (strcmp(hn_json_key(c), key) == 0) {
			return c;
		}
	}
	return NULL;
}

bool hn_json_bool(const struct hn_json *v, bool *ret)
{
	if (!v || hn_json_kind(v) != HN_JSON_BOOL) {
		return false;
	}
	*ret = v->truth;
	return true;
}

/* Canonical decimal only: no blanks, no plus, no leading zeros. */
static bool decimal_int(const char *s, int64_t *ret)
{
	const char *digits = s + (*s == '-');
	size_t n = strspn(digits, "0123456789");
	long long parsed;

	if (n == 0 || digits[n] != '\0' || (digits[0] == '0' && (n > 1 || digits > s))) {
		return false;
	}
	errno = 0;
	parsed = strtoll(s, NULL, 10);
	if (errno != 0) {
		return false;
	}
	*ret = parsed;
	return true;
}

bool hn_json_int(const struct hn_json *v, int64_t *ret)
{
	double d;

	if (v && hn_json_kind(v) == HN_JSON_STRING) {
		return decimal_int(v->string, ret);
	}
	if (!hn_json_double(v, &d) || d != trunc(d) || fabs(d) >= JSON_SAFE_INT) {
		return false;
	}
	*ret = (int64_t)d;
	return true;
}

bool hn_json_double(const struct hn_json *v, double *ret)
{
	if (!v || hn_json_kind(v) != HN_JSON_NUMBER) {
		return false;
	}
	*ret = v->number;
	return true;
}

const char *hn_json_string(const struct hn_json *v)
{
	return v && hn_json_kind(v) == HN_JSON_STRING ? v->string : NULL;
}

static void write_children(const struct hn_json *v, char open, char close,
			   struct hn_buf *buf)
{
	hn_buf_putc(buf, open);
	for (const struct hn_json *c = hn_json_first(v); c; c = hn_json_next(c)) {
		if (c != hn_json_first(v)) {
			hn_buf_putc(buf, ',');
		}
		if (open == '{') {
			hn_buf_json_string(buf, hn_json_key(c));
			hn_buf_putc(buf, ':');
		}
		hn_json_write(c, buf);
	}
	hn_buf_putc(buf, close);
}

void hn_json_write(const struct hn_json *v, struct hn_buf *buf)
{
	switch (hn_json_kind(v)) {
	case HN_JSON_BOOL:
		hn_buf_puts(buf, v->truth ? "true" : "false");
		break;
	case HN_JSON_NUMBER:
		hn_buf_double(buf, v->number);
		break;
	case HN_JSON_STRING:
		hn_buf_json_string(buf, v->string);
		break;
	case HN_JSON_ARRAY:
		write_children(v, '[', ']', buf);
		break;
	case HN_JSON_OBJECT:
		write_children(v, '{', '}', buf);
		break;
	default:
		hn_buf_puts(buf, "null");
	}
}
