/* proto/lines.c -- bytes in, lines out, never more memory than one line and one read. */
#include "proto/msg.h"

#include <stdlib.h>
#include <string.h>

void hn_lines_init(struct hn_lines *l, size_t max_bytes)
{
	*l = (struct hn_lines){ .max_bytes = max_bytes };
	hn_buf_init(&l->buf);
}

void hn_lines_fini(struct hn_lines *l)
{
	hn_buf_fini(&l->buf);
}

/* Drop what was given out, so that the buffer holds at most one unfinished line. */
static void compact(struct hn_lines *l)
{
	if (l->taken == 0) {
		return;
	}
	memmove(l->buf.s, l->buf.s + l->taken, l->buf.n - l->taken);
	l->buf.n -= l->taken;
	l->buf.s[l->buf.n] = '\0';
	l->taken = 0;
}

char *hn_lines_room(struct hn_lines *l, size_t n)
{
	struct hn_buf *b = &l->buf;

	compact(l);
	hn_assert(hn_buf_reserve(b, n));
	return b->s + b->n;
}

void hn_lines_commit(struct hn_lines *l, size_t n)
{
	l->buf.n += n;
	hn_assert(l->buf.n < l->buf.cap);
	l->buf.s[l->buf.n] = '\0';
}

int hn_lines_next(struct hn_lines *l, const char **ret, size_t *ret_n, struct hn_err *err)
{
	const char *start = l->buf.s + l->taken;
	size_t left = l->buf.n - l->taken;
	const char *end = left > l->scanned
				  ? memchr(start + l->scanned, '\n', left - l->scanned)
				  : NULL;
	size_t n = end != NULL ? (size_t)(end - start) : left;

	if (n >= l->max_bytes) {
		return hn_fail(err, HONE_E_QUOTA, "line longer than %zu bytes",
			       l->max_bytes);
	}
	if (left == 0) { /* who says nothing holds nothing */
		hn_buf_fini(&l->buf);
		l->taken = l->scanned = 0;
		return 0;
	}
	if (end == NULL) {
		l->scanned = left;
		return 0;
	}
	l->taken += n + 1;
	l->scanned = 0;
	*ret = start;
	*ret_n = n > 0 && start[n - 1] == '\r' ? n - 1 : n;
	return 1;
}
