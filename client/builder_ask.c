/* client/builder_ask.c -- hone-build, asked about texts: the computation, the steps and the
 * answer pass through memory files, so that nothing has to be cleaned up. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "client/builder.h"

#define ANSWER_MAX ((size_t)64 << 20)
#define MAX_WORDS 8

int hn_memory_file_open(const char *verb, const char *text, struct hn_memory_file *ret,
			struct hn_err *err)
{
	ret->fd = memfd_create("hone", 0);
	if (ret->fd < 0 || write(ret->fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		return hn_fail(err, HONE_E_IO,
			       "%s: no memory for what hone-build is told", verb);
	}
	snprintf(ret->path, sizeof(ret->path), "/proc/self/fd/%d", ret->fd);
	return 0;
}

void hn_memory_file_close(struct hn_memory_file *f)
{
	if (f->fd >= 0) {
		close(f->fd);
	}
	f->fd = -1;
}

int hn_builder_ask(const char *verb, const char *dag_json, const char *steps,
		   char *const *words, struct hn_buf *ret, struct hn_err *err)
{
	struct hn_memory_file file[3] = { { .fd = -1 }, { .fd = -1 }, { .fd = -1 } };
	char *argv[5 + MAX_WORDS + 1] = { "hone-build", "--dag", file[0].path, "--steps",
					  file[1].path };
	const char *text[3] = { dag_json, steps, "" };
	int rc = 0;

	for (size_t i = 0; i < MAX_WORDS && words[i]; i++) {
		argv[5 + i] = words[i];
	}
	for (size_t i = 0; rc == 0 && i < HN_COUNT_OF(file); i++) {
		rc = hn_memory_file_open(verb, text[i], &file[i], err);
	}
	rc = rc ? rc : hn_builder_run(verb, argv, file[2].fd, err);
	rc = rc ? rc : hn_file_read(file[2].path, ANSWER_MAX, ret, err);
	for (size_t i = 0; i < HN_COUNT_OF(file); i++) {
		hn_memory_file_close(&file[i]);
	}
	return rc;
}
