/* base/err.h -- errors: something a person must read.
 *
 * A function that can fail returns 0 or -HONE_E_x and takes an optional last argument
 * `struct hn_err *err`, which then holds one line: the place first, then what is wrong,
 * then what to do.  Rejected candidates are not errors but verdicts (verdict.h).
 */
#ifndef HN_BASE_ERR_H
#define HN_BASE_ERR_H

#include "base/cdefs.h"

enum hn_errno {
#define ERR(name, number, text) HONE_E_##name = number,
#include "base/errs.def"
#undef ERR
};

struct hn_err {
	int code;       /* 0, or HONE_E_x (positive) */
	char msg[1000]; /* one line, no newline, NUL-terminated */
};

/* Write the line into `err` (NULL is fine) and return -code, so that callers can
 * `return hn_fail(err, HONE_E_INVALID, "%s:%d: ...", ...)`.  Newlines become blanks. */
int hn_fail(struct hn_err *err, int code, const char *fmt, ...) HN_PRINTF(3, 4);

/* Put "context: " in front of the line already in `err`; returns -err->code (or
 * -HONE_E_INTERNAL when err is NULL). */
int hn_err_within(struct hn_err *err, const char *fmt, ...) HN_PRINTF(2, 3);

/* "INVALID", "NOT_FOUND", ...; accepts either sign; "?" for an unknown number. */
const char *hn_err_name(int code);

/* The class's plain text, e.g. "disk full". */
const char *hn_err_text(int code);

#endif
