/* base/jw.h -- the one writer of JSON.
 *
 * Text put together by printf is JSON only while every name and value behaves; a name with a
 * quote in it forges members.  This writer escapes strings, puts the commas, closes what was
 * opened in the right order, and takes JSON of others only after the strict scan of
 * base/json.h.  What it writes always parses.  No blanks, one line.
 *
 *	hn_jw_init(&w, &buf);
 *	hn_jw_object(&w, NULL);
 *	hn_jw_str(&w, "name", name);
 *	hn_jw_list(&w, "samples");
 *	hn_jw_double(&w, NULL, ns);
 *	hn_jw_end(&w);
 *	hn_jw_end(&w);
 *	hn_jw_done(&w);
 *
 * `name` is the member's name inside an object and NULL inside a list or at the top; anything
 * else is a bug and aborts.  Memory, limits and failure are the buf's (its sticky error).
 */
#ifndef HN_BASE_JW_H
#define HN_BASE_JW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define HN_JW_DEPTH 300 /* an expression nests 250 deep (loopstate/dag/dag.h) */

struct hn_jw {
	struct hn_buf *buf;     /* borrowed */
	bool comma;             /* a value of the innermost container went before */
	uint32_t depth;         /* containers that are open */
	char close[HN_JW_DEPTH]; /* what closes each of them: } or ] */
};

/* Goes on at the end of what buf holds. */
void hn_jw_init(struct hn_jw *w, struct hn_buf *buf);

void hn_jw_object(struct hn_jw *w, const char *name);
void hn_jw_list(struct hn_jw *w, const char *name);
void hn_jw_end(struct hn_jw *w);  /* closes the innermost container */
void hn_jw_done(struct hn_jw *w); /* nothing may be open any more */

/* s is text; NULL is written as null, bytes that are no UTF-8 as U+FFFD. */
void hn_jw_str(struct hn_jw *w, const char *name, const char *s);
void hn_jw_strf(struct hn_jw *w, const char *name, const char *fmt, ...) HN_PRINTF(3, 4);
void hn_jw_int(struct hn_jw *w, const char *name, int64_t v);
void hn_jw_uint(struct hn_jw *w, const char *name, uint64_t v);
/* The shortest decimal that reads back; null unless v is finite, so NAN says "not measured". */
void hn_jw_double(struct hn_jw *w, const char *name, double v);
/* A double rounded to `digits` places behind the point, for figures that people read. */
void hn_jw_fixed(struct hn_jw *w, const char *name, double v, int digits);
void hn_jw_bool(struct hn_jw *w, const char *name, bool v);
void hn_jw_null(struct hn_jw *w, const char *name);

/* JSON that somebody else wrote: one document, copied as it is when it passes the strict scan.
 * Otherwise null is written and the result is false. */
bool hn_jw_json(struct hn_jw *w, const char *name, const char *text);

/* JSON that this process has just written by this writer, copied without a scan. */
void hn_jw_written(struct hn_jw *w, const char *name, const char *text);

#endif
