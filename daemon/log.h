/* daemon/log.h -- one line an event, to standard error or a file. */
#ifndef HN_DAEMON_LOG_H
#define HN_DAEMON_LOG_H

#include "base/err.h"

struct hn_log {
	int fd; /* 2 unless a file was given */
};

/* Append to `path`; NULL = standard error. */
int hn_log_open(struct hn_log *log, const char *path, struct hn_err *err) HN_NODISCARD;
void hn_log_close(struct hn_log *log);

/* "2026-11-21T06:52:00.123Z info job j0011aabb: ..."; one write, newlines become blanks.
 */
void hn_log_line(const struct hn_log *log, const char *level, const char *fmt, ...)
	HN_PRINTF(3, 4);

#endif
