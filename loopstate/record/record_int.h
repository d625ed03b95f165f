/* loopstate/record/record_int.h -- a line of a log, and where in it one is. */
#ifndef HN_LOOPSTATE_RECORD_RECORD_INT_H
#define HN_LOOPSTATE_RECORD_RECORD_INT_H

#include "loopstate/record/record.h"

struct hn_record_scan {
	const char *what;
	uint64_t line;
	const char *text, *p, *end;
	struct hn_arena *a;
	struct hn_err *err;
};

/* "what:line:column: ...", the column being that of `at`. */
int hn_scan_fail(struct hn_record_scan *s, const char *at, const char *fmt, ...)
	HN_PRINTF(3, 4);

/* The next character that is not blank, or '\0' at the end; not taken. */
char hn_scan_peek(struct hn_record_scan *s);

/* Take that character, which must be next. */
int hn_scan_take(struct hn_record_scan *s, char c, const char *where) HN_NODISCARD;

/* After an item of a list: 1 = another follows (the comma is taken), 0 = `close` was and
 * is taken. */
int hn_scan_more(struct hn_record_scan *s, char close, const char *where) HN_NODISCARD;

int hn_scan_string(struct hn_record_scan *s, const char *where,
		   const char **ret) HN_NODISCARD;
int hn_scan_number(struct hn_record_scan *s, const char *where,
		   struct hn_record_number *ret) HN_NODISCARD;
int hn_scan_int(struct hn_record_scan *s, const char *where, int64_t low, int64_t high,
		int64_t *ret) HN_NODISCARD;

/* Past an array of anything at most `max_depth` deep. */
int hn_scan_array(struct hn_record_scan *s, const char *where, int max_depth,
		  const char **ret, size_t *ret_n) HN_NODISCARD;

#endif
