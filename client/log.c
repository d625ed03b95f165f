/* client/log.c -- opening logs. */
#include "client/log.h"

#include <string.h>

#include "base/file.h"

int hn_log_open(const char *path, FILE **ret, struct hn_err *err)
{
	if (strcmp(path, "-") == 0) {
		*ret = stdin;
		return 0;
	}
	return hn_file_stream(path, ret, err);
}

void hn_log_close(FILE *file)
{
	if (file != stdin) {
		fclose(file);
	}
}
