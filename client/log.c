/* client/log.c -- opening logs. */
#include "client/log.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

int hn_log_open(const char *path, FILE **ret, struct hn_err *err)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdin : fopen(path, "re");
	struct stat st;

	if (file == NULL) {
		int code = errno == ENOENT   ? HONE_E_NOT_FOUND
			   : errno == EACCES ? HONE_E_PERMISSION
					     : HONE_E_IO;

		return hn_fail(err, code, "%s: %s", path, strerror(errno));
	}
	if (!standard && fstat(fileno(file), &st) == 0 && !S_ISREG(st.st_mode) &&
	    !S_ISFIFO(st.st_mode)) {
		hn_log_close(file);
		return hn_fail(err, HONE_E_INVALID, "%s: %s", path,
			       S_ISDIR(st.st_mode) ? "is a directory"
						   : "is neither a file nor a pipe");
	}
	*ret = file;
	return 0;
}

void hn_log_close(FILE *file)
{
	if (file != stdin) {
		fclose(file);
	}
}
