/* base/file.c -- see file.h.
 *
 * A failed fsync is never tried again: the kernel may have dropped the pages and would
 * then report success (the lesson of PostgreSQL's "PANIC on fsync() failure").
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_CHUNK_BYTES ((size_t)65536)

#define HASH_PART ((size_t)1 << 20)

static int fail_errno(struct hn_err *err, const char *path, const char *doing)
{
	int e = errno, code = HONE_E_IO;

	if (e == ENOENT || e == ENOTDIR) {
		code = HONE_E_NOT_FOUND;
	} else if (e == EACCES || e == EPERM || e == EROFS) {
		code = HONE_E_PERMISSION;
	} else if (e == ENOSPC || e == EDQUOT) {
		code = HONE_E_DISK_FULL;
	}
	return hn_fail(err, code, "%s: cannot %s: %s", path, doing, strerror(e));
}

static int read_all(int fd, const char *path, size_t max_bytes, struct hn_buf *buf,
		    struct hn_err *err)
{
	char chunk[FILE_CHUNK_BYTES];
	size_t total = 0;

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n == 0) {
			return 0;
		}
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return fail_errno(err, path, "read");
		}
		total += (size_t)n;
		if (total > max_bytes) {
			return hn_fail(err, HONE_E_QUOTA, "%s: larger than %zu bytes",
				       path, max_bytes);
		}
		hn_buf_add(buf, chunk, (size_t)n);
		if (buf->failed) {
			return hn_fail(err, HONE_E_NOMEM, "%s: out of memory", path);
		}
	}
}

/* A pipe without O_NONBLOCK is waited for until somebody writes into it. */
static int open_kind(const char *path, bool pipes, struct hn_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (pipes ? 0 : O_NONBLOCK));
	int rc = 0;
	struct stat st;

	if (fd < 0) {
		return fail_errno(err, path, "open");
	}
	if (fstat(fd, &st) != 0) {
		rc = fail_errno(err, path, "stat");
	} else if (!S_ISREG(st.st_mode) && !(pipes && S_ISFIFO(st.st_mode))) {
		rc = hn_fail(err, HONE_E_INVALID, "%s: %s, not a file", path,
			     S_ISDIR(st.st_mode)    ? "a directory"
			     : S_ISFIFO(st.st_mode) ? "a pipe"
						    : "a device or socket");
	}
	if (rc != 0) {
		close(fd);
	}
	return rc != 0 ? rc : fd;
}

int hn_file_open(const char *path, struct hn_err *err)
{
	return open_kind(path, /* pipes= */ true, err);
}

int hn_file_stream(const char *path, FILE **ret, struct hn_err *err)
{
	int fd = hn_file_open(path, err);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (fd >= 0 && file == NULL) {
		fd = fail_errno(err, path, "open");
	}
	if (file != NULL) {
		*ret = file;
	}
	return fd < 0 ? fd : 0;
}

static int read_fd(int fd, const char *path, size_t max_bytes, struct hn_buf *buf,
		   struct hn_err *err)
{
	struct stat st;
	int rc;

	if (fd < 0) {
		return fd;
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (uintmax_t)st.st_size > max_bytes) {
		rc = hn_fail(err, HONE_E_QUOTA, "%s: larger than %zu bytes", path,
			     max_bytes);
	} else {
		rc = read_all(fd, path, max_bytes, buf, err);
	}
	close(fd);
	return rc;
}

int hn_file_read(const char *path, size_t max_bytes, struct hn_buf *buf, struct hn_err *err)
{
	if (strcmp(path, "-") == 0) {
		return read_all(STDIN_FILENO, "standard input", max_bytes, buf, err);
	}
	return read_fd(hn_file_open(path, err), path, max_bytes, buf, err);
}

int hn_file_read_kept(const char *path, size_t max_bytes, struct hn_buf *buf, struct hn_err *err)
{
	return read_fd(open_kind(path, /* pipes= */ false, err), path, max_bytes, buf, err);
}

static int write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR) {
			continue;
		}
		if (done < 0) {
			return -1;
		}
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

/* The names come from the pid and a number, not from mkstemp, so that the mode follows
 * the umask; a leftover of a killed process only costs one number. */
static int open_temporary(const char *path, char temporary[PATH_MAX], struct hn_err *err)
{
	for (int i = 0; i < 1000; i++) {
		int n = snprintf(temporary, PATH_MAX, "%s.tmp-%ld-%d", path,
				 (long)getpid(), i);
		int fd;

		if (n >= PATH_MAX) {
			errno = ENAMETOOLONG;
			break;
		}
		fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0) {
			return fd;
		}
		if (errno != EEXIST) {
			break;
		}
	}
	return fail_errno(err, path, "create a temporary file beside it");
}

/* Some file systems cannot sync a directory and say EINVAL; they order renames
 * themselves. */
static int sync_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
	int fd, rc;

	if (n >= sizeof(parent)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(parent, slash ? path : ".", slash ? n : 1);
	parent[slash ? n : 1] = '\0';
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		return -1;
	}
	rc = fsync(fd);
	if (rc != 0 && errno == EINVAL) {
		rc = 0;
	}
	close(fd);
	return rc;
}

int hn_file_replace(const char *path, const void *bytes, size_t n, struct hn_err *err)
{
	char temporary[PATH_MAX];
	int fd = open_temporary(path, temporary, err);
	int rc = 0;

	if (fd < 0) {
		return fd;
	}
	if (write_all(fd, bytes, n) != 0 || fsync(fd) != 0) {
		rc = fail_errno(err, path, "write");
	}
	if (close(fd) != 0 && rc == 0) {
		rc = fail_errno(err, path, "write");
	}
	if (rc == 0 && rename(temporary, path) != 0) {
		rc = fail_errno(err, path, "replace");
	}
	if (rc != 0) {
		unlink(temporary);
		return rc;
	}
	return sync_parent(path) == 0 ? 0
				      : fail_errno(err, path, "sync the directory of");
}

static int make_directory(const char *path, unsigned mode, struct hn_err *err)
{
	struct stat st;
	int e;

	if (mkdir(path, mode) == 0) {
		return 0;
	}
	e = errno;
	if (stat(path, &st) == 0) {
		e = S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
	}
	errno = e;
	return e == 0 ? 0 : fail_errno(err, path, "make this directory");
}

int hn_file_mkdirs(const char *path, unsigned mode, struct hn_err *err)
{
	char part[PATH_MAX];
	size_t n = strlen(path);
	int rc;

	if (n == 0 || n >= sizeof(part)) {
		return hn_fail(err, HONE_E_INVALID, "%s: %s", path,
			       n == 0 ? "an empty directory name"
				      : "the name is too long");
	}
	for (size_t i = 1; i < n; i++) {
		if (path[i] != '/' || path[i - 1] == '/') {
			continue;
		}
		memcpy(part, path, i);
		part[i] = '\0';
		rc = make_directory(part, mode, err);
		if (rc != 0) {
			return rc;
		}
	}
	return make_directory(path, mode, err);
}

int hn_file_check_owner(const char *dir, const struct stat *st, struct hn_err *err)
{
	if (st->st_uid != geteuid() && st->st_uid != 0) {
		return hn_fail(err, HONE_E_PERMISSION,
			       "%s: belongs to user %u; use a directory of your own", dir,
			       (unsigned)st->st_uid);
	}
	if ((st->st_mode & 022) != 0 && (st->st_mode & S_ISVTX) == 0) {
		return hn_fail(err, HONE_E_PERMISSION,
			       "%s: others may write there (mode %o); chmod 700 it", dir,
			       st->st_mode & 07777);
	}
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

void hn_file_remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int hash_all(int fd, const char *path, size_t max_bytes, struct hn_sha256 *h, char *part,
		    struct hn_err *err)
{
	ssize_t n;

	while ((n = read(fd, part, HASH_PART)) != 0) {
		if (n < 0 && errno != EINTR) {
			return hn_fail(err, HONE_E_IO, "%s: %s", path, strerror(errno));
		}
		hn_sha256_add(h, part, n > 0 ? (size_t)n : 0);
		if (h->n > max_bytes) {
			return hn_fail(err, HONE_E_QUOTA, "%s: more than %zu bytes", path, max_bytes);
		}
	}
	return 0;
}

int hn_file_sha256(const char *path, size_t max_bytes, char hex[HN_SHA256_HEX], struct hn_err *err)
{
	int fd = open_kind(path, /* pipes= */ false, err);
	uint8_t digest[HN_SHA256_BYTES];
	char *part = malloc(HASH_PART);
	struct hn_sha256 h;

	hn_sha256_begin(&h);
	int rc = fd < 0	       ? fd
		 : part == NULL ? hn_fail(err, HONE_E_NOMEM, "%s: no memory", path)
				: hash_all(fd, path, max_bytes, &h, part, err);

	hn_sha256_end(&h, digest);
	hn_sha256_text(digest, hex);
	free(part);
	if (fd >= 0) {
		close(fd);
	}
	return rc;
}
