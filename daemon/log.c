/* daemon/log.c -- the log sink: no library below honed ever logs. */
#include "daemon/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/name.h"

int hn_log_open(struct hn_log *log, const char *path, struct hn_err *err)
{
	log->fd = STDERR_FILENO;
	if (path == NULL) {
		return 0;
	}
	log->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (log->fd < 0) {
		log->fd = STDERR_FILENO;
		return hn_fail(err, HONE_E_IO, "%s: %s", path, strerror(errno));
	}
	return 0;
}

void hn_log_close(struct hn_log *log)
{
	if (log->fd > STDERR_FILENO) {
		close(log->fd);
	}
	log->fd = STDERR_FILENO;
}

void hn_log_line(const struct hn_log *log, const char *level, const char *fmt, ...)
{
	char line[2000];
	struct timespec now;
	struct tm utc;
	size_t n, room;
	va_list args;
	int k;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	n = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S", &utc);
	n += (size_t)snprintf(line + n, sizeof(line) - n, ".%03dZ %s ",
			      (int)(now.tv_nsec / 1000000), level);
	room = sizeof(line) - n - 1;
	va_start(args, fmt);
	k = vsnprintf(line + n, room, fmt, args);
	va_end(args);
	n += k < 0 ? 0 : (size_t)k < room ? (size_t)k : room - 1;
	n = hn_shown(line, sizeof(line) - 1, line, n);
	line[n++] = '\n';
	if (write(log->fd, line, n) < 0) {
		return; /* nowhere to say it */
	}
}
