/* base/json.h -- reading JSON that a stranger wrote.
 *
 * A strict pre-scan (RFC 8259: UTF-8, number grammar, no duplicate keys, no NUL, no
 * trailing bytes, bounded depth, tokens and size) runs before cJSON sees a byte, because
 * cJSON alone accepts all of these.  json.c is the only file that knows cJSON.
 * Syntax errors are placed by line:column; errors of meaning are the caller's, who names
 * the place by a path such as ops[3].shape.
 */
#ifndef HN_BASE_JSON_H
#define HN_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct hn_json; /* a value inside a document; borrowed, dies with the document */

enum hn_json_kind {
	HN_JSON_NULL,
	HN_JSON_BOOL,
	HN_JSON_NUMBER,
	HN_JSON_STRING,
	HN_JSON_ARRAY,
	HN_JSON_OBJECT
};

struct hn_json_limits {
	size_t max_bytes;    /* 0 = 64 MiB */
	uint32_t max_depth;  /* 0 = 64 */
	uint32_t max_tokens; /* 0 = 4,000,000; cJSON spends about 64 bytes on each */
};

/* Parse one document of n bytes.  *ret is to be freed with hn_json_free.  `what` names the
 * source in messages ("conv.json", "request").  HONE_E_INVALID with "what:line:col: ...",
 * HONE_E_QUOTA over a limit. `limits` may be NULL. */
int hn_json_parse(const char *what, const char *text, size_t n,
		  const struct hn_json_limits *limits, struct hn_json **ret,
		  struct hn_err *err) HN_NODISCARD;
void hn_json_free(struct hn_json *root); /* NULL is fine */

/* Whether text[0..n) is one document within `limits`; the same answer and messages as
 * hn_json_parse, without a tree. */
int hn_json_check(const char *what, const char *text, size_t n,
		  const struct hn_json_limits *limits, struct hn_err *err) HN_NODISCARD;

enum hn_json_kind hn_json_kind(const struct hn_json *v);
const char *hn_json_kind_name(const struct hn_json *v); /* "an array", "a string", ... */

/* Children in order, O(1) each: for (c = first(v); c; c = next(c)). NULL on scalars. */
const struct hn_json *hn_json_first(const struct hn_json *v);
const struct hn_json *hn_json_next(const struct hn_json *v);
uint32_t hn_json_count(const struct hn_json *v);

const char *hn_json_key(const struct hn_json *member);     /* NULL outside an object */
const struct hn_json *hn_json_get(const struct hn_json *object, const char *key);

/* True and *ret written only when v is of that kind (and, for int, whole and
 * inside +-2^53, exclusive: 2^53 itself could be a rounded 2^53 + 1; a string of decimal
 * digits is accepted as a 64-bit int too). v may be NULL. */
bool hn_json_bool(const struct hn_json *v, bool *ret);
bool hn_json_int(const struct hn_json *v, int64_t *ret);
bool hn_json_double(const struct hn_json *v, double *ret);
const char *hn_json_string(const struct hn_json *v); /* NULL when not a string */

/* Write v compactly (no blanks) onto buf; doubles shortest round-trip. */
struct hn_buf;
void hn_json_write(const struct hn_json *v, struct hn_buf *buf);

#endif
