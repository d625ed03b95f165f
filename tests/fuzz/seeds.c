/* tests/fuzz/seeds.c -- writes the models that the fuzz target onnx begins with into a folder, so
 * that no binary file is kept of what a line of text says. */
#include <stdio.h>

#include "base/file.h"
#include "tests/lib/onnx_seeds.h"
#include "tests/lib/onnx_writer.h"

static int write_seed(const char *folder, size_t i, struct hn_err *err)
{
	char path[4096];
	struct hn_buf b;
	int rc;

	hn_buf_init(&b);
	put_notation(&b, onnx_seeds[i]);
	snprintf(path, sizeof path, "%s/%zu", folder, i);
	rc = hn_file_replace(path, b.s, b.n, err);
	hn_buf_fini(&b);
	return rc;
}

int main(int argc, char **argv)
{
	struct hn_err err = { 0 };
	int rc = argc == 2 ? hn_file_mkdirs(argv[1], 0700, &err) : 64;

	for (size_t i = 0; i < HN_COUNT_OF(onnx_seeds) && rc == 0; i++) {
		rc = write_seed(argv[1], i, &err);
	}
	if (rc != 0) {
		fprintf(stderr, "%s\n", argc == 2 ? err.msg : "usage: fuzz_seeds FOLDER");
	}
	return rc != 0;
}
