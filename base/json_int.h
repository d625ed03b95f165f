/* base/json_int.h -- the strict scan that runs before cJSON; for base/json*.c only. */
#ifndef HN_BASE_JSON_INT_H
#define HN_BASE_JSON_INT_H

#include "base/json.h"

/* cJSON copies a number into a buffer of 64 bytes and nests at most 1000 deep. */
#define HN_JSON_NUMBER_MAX 63
#define HN_JSON_DEPTH_MAX 500

/* Whether text[0..n) is one RFC 8259 document within `limits` (no zeros in it). */
int hn_json_scan(const char *what, const char *text, size_t n,
		 const struct hn_json_limits *limits, struct hn_err *err) HN_NODISCARD;

#endif
