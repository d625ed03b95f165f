/* tests/fuzz/replay.c -- a corpus as an ordinary test: every file below the folders
 * named, given to the fuzz target this is linked with.  Needs no clang. */
#include <dirent.h>
#include <stdio.h>

#include "base/file.h"
#include "fuzz.h"

static unsigned run_file(const char *path)
{
	struct hn_err err = { 0 };
	struct hn_buf b;
	unsigned n = 0;

	hn_buf_init(&b);
	if (hn_file_read(path, (size_t)64 << 20, &b, &err) == 0) {
		printf("%s\n", path);
		fflush(stdout);
		LLVMFuzzerTestOneInput((const uint8_t *)b.s, b.n);
		n = 1;
	}
	hn_buf_fini(&b);
	return n;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);
		unsigned n = 0;

		for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
			char path[4096];

			snprintf(path, sizeof(path), "%s/%s", argv[i], e->d_name);
			n += e->d_name[0] != '.' ? run_file(path) : 0;
		}
		if (dir != NULL) {
			closedir(dir);
		}
		if (n == 0) {
			fprintf(stderr, "%s: no corpus\n", argv[i]);
			return 1;
		}
	}
	return 0;
}
