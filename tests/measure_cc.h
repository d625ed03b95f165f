/* tests/measure_cc.h -- objects made by the system's C compiler, for tests of measure/.
 */
#ifndef HN_TESTS_MEASURE_CC_H
#define HN_TESTS_MEASURE_CC_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

/* Compile `source` to path_o. False when there is no compiler. */
static inline bool cc_object(const char *source, const char *path_o)
{
	char command[600];
	FILE *cc;

	snprintf(command, sizeof command,
		 "cc -x c -c -O1 -fPIC -fno-stack-protector -fno-builtin -o '%s' - 2>&1",
		 path_o);
	cc = popen(command, "w");
	if (cc == NULL) {
		return false;
	}
	fputs(source, cc);
	return pclose(cc) == 0;
}

/* The same, into memory. */
static inline bool cc_bytes(const char *source, struct hn_buf *ret)
{
	char path[] = "/tmp/hone-test-XXXXXX";
	int fd = mkstemp(path);
	bool good = fd >= 0 && cc_object(source, path) &&
		    hn_file_read(path, 1 << 24, ret, NULL) == 0;

	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	return good;
}

#endif
