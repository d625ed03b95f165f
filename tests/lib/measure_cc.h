/* tests/lib/measure_cc.h -- objects for tests of measure/, made by the compiler of this build: there
 * always is one, so a source that it refuses is a fault of the test, and ends it.
 */
#ifndef HN_TESTS_LIB_MEASURE_CC_H
#define HN_TESTS_LIB_MEASURE_CC_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

/* C source for kernels that remember from call to call: kept() is 1,024 ints, zero at first, of a
 * page that they map themselves, at one address; static storage may not be written to. */
#define CC_KEPT                                                                              \
	"static int *kept(void) { register long r10 __asm__(\"r10\") = 0x100022; register long " \
	"r8 __asm__(\"r8\") = -1; register long r9 __asm__(\"r9\") = 0; long r; "                \
	"__asm__ volatile(\"syscall\" : \"=a\"(r) : \"a\"(9), \"D\"(0x700000000000), "         \
	"\"S\"(4096), \"d\"(3), \"r\"(r10), \"r\"(r8), \"r\"(r9) : \"rcx\", \"r11\", "         \
	"\"memory\"); return (int *)0x700000000000; }\n"

/* Compile `source` to path_o. */
static inline void cc_object(const char *source, const char *path_o)
{
	char command[600];
	FILE *cc;

	snprintf(command, sizeof command,
		 "'" HONE_CC "' -x c -c -O1 -fPIC -fno-stack-protector -fno-builtin -o '%s' - 2>&1",
		 path_o);
	cc = popen(command, "w");
	if (cc == NULL || fputs(source, cc) < 0 || pclose(cc) != 0) {
		fprintf(stderr, HONE_CC ": no object of\n%s\n", source);
		exit(1);
	}
}

/* The same, into memory. */
static inline void cc_bytes(const char *source, struct hn_buf *ret)
{
	char path[] = "/tmp/hone-test-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	cc_object(source, path);
	if (hn_file_read(path, 1 << 24, ret, NULL) != 0) {
		perror(path);
		exit(1);
	}
	close(fd);
	unlink(path);
}

#endif
