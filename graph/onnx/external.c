/* graph/onnx/external.c -- see external.h. */
#include "graph/onnx/external.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/name.h"

#define SHOWN_BYTES 200

static int fail_errno(const char *place, const char *doing, int e, struct hn_err *err)
{
	int code = e == ENOENT || e == ENOTDIR ? HONE_E_NOT_FOUND
		   : e == EACCES || e == EPERM ? HONE_E_PERMISSION
					       : HONE_E_IO;

	if (e == ELOOP) {
		return hn_fail(
			err, HONE_E_INVALID,
			"%s: a symbolic link; put the file itself beside the model",
			place);
	}
	return hn_fail(err, code, "%s: cannot %s: %s", place, doing, strerror(e));
}

int onnx_map_fd(int fd, const char *place, struct onnx_map *ret, struct hn_err *err)
{
	struct onnx_map m = { .location = "" };
	struct stat st;
	void *at;

	if (fstat(fd, &st) != 0) {
		return fail_errno(place, "stat", errno, err);
	}
	if (!S_ISREG(st.st_mode)) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: no regular file, which could be mapped", place);
	}
	m.n = (size_t)st.st_size;
	if (m.n > 0) {
		at = mmap(NULL, m.n, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at == MAP_FAILED) {
			return fail_errno(place, "map", errno, err);
		}
		m.at = at;
	}
	*ret = m;
	return 0;
}

void onnx_unmap(struct onnx_map *m)
{
	if (m->at) {
		munmap((void *)(uintptr_t)m->at, m->n);
	}
	*m = (struct onnx_map){ .location = NULL };
}

/* One step of the way down from the folder `at`. */
static int open_step(int at, const char *s, size_t n, bool is_last, const char *place,
		     struct hn_err *err)
{
	char name[NAME_MAX + 1];
	int fd;

	if (n == 0 || n > NAME_MAX || (n == 2 && s[0] == '.' && s[1] == '.')) {
		return hn_fail(
			err, HONE_E_INVALID,
			"%s: external data lies in the model's folder or below: its "
			"location is a relative path without ..",
			place);
	}
	memcpy(name, s, n);
	name[n] = '\0';
	fd = openat(at, name,
		    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY |
			    (is_last ? O_NONBLOCK : O_DIRECTORY));
	if (fd < 0 && !is_last && errno == ENOTDIR) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: a folder on the way is a symbolic link or none",
			       place);
	}
	return fd >= 0 ? fd : fail_errno(place, "open", errno, err);
}

static int open_below(int folder, const char *location, const char *place,
		      struct hn_err *err)
{
	const char *s = location;
	int at = folder;

	for (;;) {
		size_t n = strcspn(s, "/");
		bool is_last = s[n] == '\0';
		int next = open_step(at, s, n, is_last, place, err);

		if (at != folder) {
			close(at);
		}
		if (next < 0 || is_last) {
			return next;
		}
		at = next;
		s += n + 1;
	}
}

int onnx_map_below(int folder, const char *location, struct onnx_map *ret,
		   struct hn_err *err)
{
	char place[SHOWN_BYTES];
	int fd, rc;

	hn_shown(place, sizeof place, location, strlen(location));
	fd = open_below(folder, location, place, err);
	if (fd < 0) {
		return fd;
	}
	rc = onnx_map_fd(fd, place, ret, err);
	close(fd);
	if (rc == 0) {
		ret->location = location;
	}
	return rc;
}
