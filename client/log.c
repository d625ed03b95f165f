/* client/log.c -- opening logs. */
#include "client/log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

int hn_log_open(const char *path, FILE **ret, struct hn_err *err)
{
	int fd;

	if (strcmp(path, "-") == 0) {
		*ret = stdin;
		return 0;
	}
	fd = hn_file_open(path, err);
	if (fd < 0) {
		return fd;
	}
	*ret = fdopen(fd, "r");
	if (*ret == NULL) {
		close(fd);
		return hn_fail(err, HONE_E_IO, "%s: cannot open: %s", path, strerror(errno));
	}
	return 0;
}

void hn_log_close(FILE *file)
{
	if (file != stdin) {
		fclose(file);
	}
}
