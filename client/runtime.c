/* client/runtime.c -- the files of runtime.def, put into the program as they are. */
#include "client/runtime.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

#define FILE_(name, to, from, whose, with)                                                       \
	__asm__(".pushsection .rodata\n"                                                   \
		"hn_runtime_" #name ":\n"                                                  \
		".incbin \"" from "\"\n"                                                   \
		"hn_runtime_" #name "_end:\n"                                              \
		".popsection\n");                                                          \
	extern const char hn_runtime_##name[], hn_runtime_##name##_end[];
#include "client/runtime.def"
#undef FILE_

enum whose { ANY, OWN, OTHER };
enum { KERNEL = HN_RUNTIME_KERNEL, NETWORK = HN_RUNTIME_NETWORK, GPU = HN_RUNTIME_GPU };

static const struct {
	const char *to, *begin, *end;
	enum whose whose;
	unsigned with; /* enum hn_runtime_with bits */
} files[] = {
#define FILE_(name, to, from, whose, with)                                                       \
	{ to, hn_runtime_##name, hn_runtime_##name##_end, whose, with },
#include "client/runtime.def"
#undef FILE_
};

static bool is_there(const char *path, const char *begin, size_t n)
{
	struct hn_buf b;
	struct hn_err ignored;
	bool same;

	hn_buf_init(&b);
	same = hn_file_read(path, n, &b, &ignored) == 0 && b.n == n && memcmp(b.s, begin, n) == 0;
	hn_buf_fini(&b);
	return same;
}

bool hn_runtime_is_source(const struct hn_target *target)
{
	struct hn_target host;
	struct hn_arena a;
	bool other;

	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	other = strcmp(target->kind, host.kind) == 0 && !hn_target_is_akin(target, &host);
	hn_arena_fini(&a);
	return other;
}

int hn_runtime_write(const char *dir, const struct hn_target *target,
		     enum hn_runtime_with with,
		     void (*wrote)(const char *path), struct hn_err *err)
{
	enum whose not = hn_runtime_is_source(target) ? OWN : OTHER;
	char path[PATH_MAX];
	int rc;

	snprintf(path, sizeof(path), "%.*s/hone", PATH_MAX - 200, dir);
	rc = hn_file_mkdirs(path, 0777, err);
	for (size_t i = 0; rc == 0 && i < HN_COUNT_OF(files); i++) {
		size_t n = (size_t)(files[i].end - files[i].begin);

		snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - 200, dir, files[i].to);
		if (files[i].whose == not || (files[i].with & with) == 0) {
			continue;
		}
		if (!is_there(path, files[i].begin, n)) {
			rc = hn_file_replace(path, files[i].begin, n, err);
		}
		if (rc == 0) {
			wrote(path);
		}
	}
	return rc;
}
