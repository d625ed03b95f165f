/* base/json_int.h -- the strict scan, and the tree that is made after it; for
 * base/json*.c only. */
#ifndef HN_BASE_JSON_INT_H
#define HN_BASE_JSON_INT_H

#include "base/json.h"

/* Numbers are read in a buffer of 64 bytes; values within values by recursion. */
#define HN_JSON_NUMBER_MAX 63
#define HN_JSON_DEPTH_MAX 500

struct hn_json {
	enum hn_json_kind kind;
	bool truth;
	uint32_t n_child;
	const char *key; /* of a member */
	union {
		double number;
		const char *string;
		struct hn_json *child;
	};
	struct hn_json *next;
};

struct hn_json_doc {
	struct hn_json root;
	struct hn_arena arena;
};

/* The tree of a document that the scan let pass; NULL without memory. */
struct hn_json *hn_json_tree(const char *text, size_t n);

/* Whether text[0..n) is one RFC 8259 document within `limits` (no zeros in it). */
int hn_json_scan(const char *what, const char *text, size_t n,
		 const struct hn_json_limits *limits, struct hn_err *err) HN_NODISCARD;

#endif
