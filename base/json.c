/* base/json.c -- see json.h; the only file that knows cJSON.
 *
 * The scan (json_scan.c) has refused everything cJSON 1.7.15 is lax about, so what
 * reaches it here is one well-formed document.  struct hn_json is cJSON's node under
 * another name.
 */
#include "base/json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_int.h"

#define JSON_SAFE_INT 0x1p53 /* from here on a double may stand for two integers */

static const cJSON *node(const struct hn_json *v)
{
	return (const cJSON *)(const void *)v;
}

static const struct hn_json *value(const cJSON *v)
{
	return (const struct hn_json *)(const void *)v;
}

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
	cJSON *root;

	if (rc != 0) {
		return rc;
	}
	root = cJSON_ParseWithLength(text, n);
	if (!root) {
		return hn_fail(err, HONE_E_NOMEM, "%s: out of memory", what);
	}
	*ret = (struct hn_json *)(void *)root;
	return 0;
}

void hn_json_free(struct hn_json *root)
{
	cJSON_Delete((cJSON *)(void *)root);
}

enum hn_json_kind hn_json_kind(const struct hn_json *v)
{
	switch (node(v)->type & 0xff) {
	case cJSON_False:
	case cJSON_True:
		return HN_JSON_BOOL;
	case cJSON_Number:
		return HN_JSON_NUMBER;
	case cJSON_String:
		return HN_JSON_STRING;
	case cJSON_Array:
		return HN_JSON_ARRAY;
	case cJSON_Object:
		return HN_JSON_OBJECT;
	default:
		return HN_JSON_NULL;
	}
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
	return v ? value(node(v)->child) : NULL;
}

const struct hn_json *hn_json_next(const struct hn_json *v)
{
	return value(node(v)->next);
}

uint32_t hn_json_count(const struct hn_json *v)
{
	uint32_t n = 0;

	for (const struct hn_json *c = hn_json_first(v); c; c = hn_json_next(c)) {
		n++;
	}
	return n;
}

const char *hn_json_key(const struct hn_json *member)
{
	return node(member)->string;
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
	*ret = (node(v)->type & cJSON_True) != 0;
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
		return decimal_int(node(v)->valuestring, ret);
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
	*ret = node(v)->valuedouble;
	return true;
}

const char *hn_json_string(const struct hn_json *v)
{
	return v && hn_json_kind(v) == HN_JSON_STRING ? node(v)->valuestring : NULL;
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
		hn_buf_puts(buf, node(v)->type & cJSON_True ? "true" : "false");
		break;
	case HN_JSON_NUMBER:
		hn_buf_double(buf, node(v)->valuedouble);
		break;
	case HN_JSON_STRING:
		hn_buf_json_string(buf, node(v)->valuestring);
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
