/* tests/lib/open_fds.h -- how many descriptors this process has open. */
#ifndef HN_TESTS_LIB_OPEN_FDS_H
#define HN_TESTS_LIB_OPEN_FDS_H

#include <dirent.h>
#include <stddef.h>

static inline int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d) != NULL) {
		n++;
	}
	closedir(d);
	return n;
}

#endif
