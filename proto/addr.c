/* proto/addr.c -- socket addresses: names, locks, peers. */
#include "proto/addr.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/name.h"
#include "base/utf8.h"

#define BACKLOG 128

static int absolute(const char *path, struct hn_buf *ret, struct hn_err *err)
{
	char cwd[PATH_MAX];

	hn_buf_reset(ret);
	if (path[0] != '/') {
		if (getcwd(cwd, sizeof(cwd)) == NULL) {
			return hn_fail(err, HONE_E_IO, "working directory: %s",
				       strerror(errno));
		}
		hn_buf_printf(ret, "%s/", strcmp(cwd, "/") == 0 ? "" : cwd);
	}
	hn_buf_puts(ret, path);
	return 0;
}

static bool env_set(const char *name, const char **ret)
{
	*ret = getenv(name);
	return *ret != NULL && **ret != '\0';
}

int hn_addr_path(const char *given, struct hn_buf *ret, struct hn_err *err)
{
	const char *base;
	struct hn_buf b;
	int rc;

	hn_buf_init(&b);
	if (given != NULL) {
		hn_buf_puts(&b, given);
	} else if (env_set("HONE_SOCKET", &base)) {
		hn_buf_puts(&b, base);
	} else if (env_set("XDG_RUNTIME_DIR", &base)) {
		hn_buf_printf(&b, "%s/hone/honed.sock", base);
	} else if (geteuid() == 0) {
		hn_buf_puts(&b, "/run/hone/honed.sock");
	} else {
		hn_buf_printf(&b, "/tmp/hone-%u/honed.sock", (unsigned)geteuid());
	}
	if (b.n == 0 || b.s[b.n - 1] == '/') {
		rc = hn_fail(err, HONE_E_INVALID, "socket path \"%s\": names no file",
			     b.s);
	} else {
		rc = absolute(b.s, ret, err);
	}
	if (rc == 0 && ret->n > HN_ADDR_MAX) {
		rc = hn_fail(err, HONE_E_INVALID,
			     "socket path %.40s...: %zu bytes, the limit is %d; set "
			     "HONE_SOCKET to "
			     "a shorter one",
			     ret->s, ret->n, HN_ADDR_MAX);
	}
	hn_buf_fini(&b);
	return rc;
}

static bool is_utf8(const char *s, size_t n)
{
	size_t k;

	for (; n > 0; s += k, n -= k) {
		k = hn_utf8_length(s, n);
		if (k == 0) {
			return false;
		}
	}
	return true;
}

int hn_addr_home(const char *given, struct hn_buf *ret, struct hn_err *err)
{
	const char *base;
	struct hn_buf b;
	int rc = 0;

	hn_buf_init(&b);
	if (given != NULL) {
		hn_buf_puts(&b, given);
	} else if (env_set("HONE_HOME", &base)) {
		hn_buf_puts(&b, base);
	} else if (env_set("XDG_DATA_HOME", &base)) {
		hn_buf_printf(&b, "%s/hone", base);
	} else if (env_set("HOME", &base)) {
		hn_buf_printf(&b, "%s/.local/share/hone", base);
	} else {
		rc = hn_fail(
			err, HONE_E_INVALID,
			"no directory for the store: set HONE_HOME (HOME is not set)");
	}
	if (rc == 0 && b.n == 0) {
		rc = hn_fail(err, HONE_E_INVALID, "the store's directory name is empty");
	}
	if (rc == 0 && !is_utf8(b.s, b.n)) { /* it is told to clients, in JSON */
		rc = hn_fail(err, HONE_E_INVALID,
			     "the store's directory name is not UTF-8: %s", b.s);
	}
	if (rc == 0 && hn_scheme_length(b.s) > 0) { /* which of them there are, the store says */
		hn_buf_reset(ret);
		hn_buf_puts(ret, b.s);
	} else if (rc == 0) {
		rc = absolute(b.s, ret, err);
	}
	hn_buf_fini(&b);
	return rc;
}

static int io_error(struct hn_err *err, const char *path, const char *what)
{
	int code = errno == EACCES || errno == EPERM || errno == EROFS ? HONE_E_PERMISSION
								       : HONE_E_IO;

	return hn_fail(err, code, "%s: %s: %s", path, what, strerror(errno));
}

static int open_dir(const char *dir, int *ret, struct hn_err *err)
{
	struct stat st;
	int rc = hn_file_mkdirs(dir, 0700, err);
	int fd;

	if (rc != 0) {
		return rc;
	}
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		return io_error(err, dir, "open");
	}
	if (fstat(fd, &st) != 0) {
		rc = io_error(err, dir, "stat");
	} else {
		rc = hn_file_check_owner(dir, &st, err);
	}
	if (rc != 0) {
		close(fd);
		return rc;
	}
	*ret = fd;
	return 0;
}

static int take_lock(struct hn_addr_listener *l, const char *path, struct hn_err *err)
{
	char name[NAME_MAX + 1];
	struct stat st;

	if ((size_t)snprintf(name, sizeof(name), "%s.lock", l->name) >= sizeof(name)) {
		return hn_fail(err, HONE_E_INVALID, "%s: file name too long", path);
	}
	l->lock_fd =
		openat(l->dir_fd, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (l->lock_fd < 0) {
		return io_error(err, path, "lock file");
	}
	if (fstat(l->lock_fd, &st) != 0 || st.st_uid != geteuid()) {
		return hn_fail(err, HONE_E_PERMISSION, "%s.lock: belongs to another user",
			       path);
	}
	if (flock(l->lock_fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EWOULDBLOCK) {
			return hn_fail(err, HONE_E_BUSY,
				       "%s: another honed serves this socket", path);
		}
		return io_error(err, path, "lock");
	}
	return 0;
}

/* Bind through /proc/self/fd, so that the temporary name may be longer than sun_path. */
static int bind_in_place(struct hn_addr_listener *l, const char *path, struct hn_err *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char temp[32];
	mode_t mask;
	int rc;

	snprintf(temp, sizeof(temp), ".honed.%d", (int)getpid());
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/%s", l->dir_fd,
		 temp);
	unlinkat(l->dir_fd, temp, 0);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0) {
		return io_error(err, path, "socket");
	}
	mask = umask(0177);
	rc = bind(l->fd, (const struct sockaddr *)&addr, sizeof(addr));
	umask(mask);
	if (rc != 0) {
		return io_error(err, path, "bind");
	}
	if (fchmodat(l->dir_fd, temp, 0600, 0) != 0 || listen(l->fd, BACKLOG) != 0 ||
	    renameat(l->dir_fd, temp, l->dir_fd, l->name) != 0) {
		rc = io_error(err, path, "listen");
		unlinkat(l->dir_fd, temp, 0);
		return rc;
	}
	return 0;
}

#define FIRST_GIVEN 3 /* descriptors that a service manager hands over begin here */

/* The number in an environment variable; 0: there is none. */
static long env_number(const char *name)
{
	const char *text;

	return env_set(name, &text) ? strtol(text, NULL, 10) : 0;
}

/* A listening socket of that name that a service manager opened for us (sd_listen_fds(3)): it stays
 * when we go, so that its name is not ours to remove. */
static bool take_given(struct hn_addr_listener *l, const char *path)
{
	long n = env_number("LISTEN_PID") == getpid() ? env_number("LISTEN_FDS") : 0;

	for (int fd = FIRST_GIVEN; fd < FIRST_GIVEN + n && l->fd < 0; fd++) {
		struct sockaddr_un addr = { .sun_family = AF_UNSPEC };
		socklen_t bytes = sizeof(addr), word = sizeof(int);
		int listening = 0;

		if (getsockname(fd, (struct sockaddr *)&addr, &bytes) == 0 &&
		    addr.sun_family == AF_UNIX &&
		    strncmp(addr.sun_path, path, sizeof(addr.sun_path)) == 0 &&
		    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &word) == 0 && listening &&
		    fcntl(fd, F_SETFD, FD_CLOEXEC) == 0) {
			l->fd = fd;
			free(l->name);
			l->name = NULL;
		}
	}
	return l->fd >= 0;
}

/* Only a socket may be replaced: a file of the user's under this name is not ours. */
static int refuse_other_file(const struct hn_addr_listener *l, const char *path,
			     struct hn_err *err)
{
	struct stat st;

	if (fstatat(l->dir_fd, l->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !S_ISSOCK(st.st_mode)) {
		return hn_fail(err, HONE_E_INVALID, "%s: exists and is not a socket",
			       path);
	}
	return 0;
}

int hn_addr_listen(const char *path, struct hn_addr_listener *ret, struct hn_err *err)
{
	struct hn_addr_listener l = { .fd = -1, .lock_fd = -1, .dir_fd = -1 };
	const char *slash = strrchr(path, '/');
	char *dir;
	int rc;

	if (slash == NULL || strlen(path) > HN_ADDR_MAX) {
		return hn_fail(err, HONE_E_INVALID,
			       "socket path %s: not absolute, or too long", path);
	}
	dir = slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
	l.name = strdup(slash + 1);
	hn_assert(dir != NULL && l.name != NULL);
	rc = open_dir(dir, &l.dir_fd, err);
	if (rc == 0) {
		rc = take_lock(&l, path, err);
	}
	if (rc == 0 && !take_given(&l, path)) {
		rc = refuse_other_file(&l, path, err);
		rc = rc ? rc : bind_in_place(&l, path, err);
	}
	free(dir);
	if (rc != 0) {
		free(l.name);
		l.name = NULL;
		hn_addr_close(&l);
		return rc;
	}
	*ret = l;
	return 0;
}

void hn_addr_unlink(struct hn_addr_listener *l)
{
	if (l->name != NULL) {
		unlinkat(l->dir_fd, l->name, 0);
		free(l->name);
		l->name = NULL;
	}
}

static void shut(int *fd)
{
	if (*fd >= 0) {
		close(*fd);
	}
	*fd = -1;
}

void hn_addr_close(struct hn_addr_listener *l)
{
	hn_addr_unlink(l);
	shut(&l->fd);
	shut(&l->dir_fd);
	shut(&l->lock_fd);
}

int hn_addr_peer(int fd, uid_t *ret_uid, pid_t *ret_pid, struct hn_err *err)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) != 0) {
		return hn_fail(err, HONE_E_IO, "peer credentials: %s", strerror(errno));
	}
	*ret_uid = cred.uid;
	*ret_pid = cred.pid;
	return 0;
}

int hn_addr_connect(const char *path, int *ret_fd, struct hn_err *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	uid_t uid = 0;
	pid_t pid;
	int fd, rc = 0;

	if (strlen(path) > HN_ADDR_MAX) {
		return hn_fail(err, HONE_E_INVALID,
			       "socket path: %zu bytes, the limit is %d", strlen(path),
			       HN_ADDR_MAX);
	}
	memcpy(addr.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return io_error(err, path, "socket");
	}
	while (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) != 0 &&
	       rc == 0) {
		if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR) {
			rc = hn_fail(err, HONE_E_NOT_FOUND, "%s: no honed answers there; `honed` starts one",
				     path);
		} else if (errno != EINTR) {
			rc = io_error(err, path, "connect");
		}
	}
	if (rc == 0) {
		rc = hn_addr_peer(fd, &uid, &pid, err);
	}
	if (rc == 0 && uid != geteuid() && uid != 0) {
		rc = hn_fail(err, HONE_E_PERMISSION, "%s: served by user %u, not by you",
			     path, (unsigned)uid);
	}
	if (rc != 0) {
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

int hn_addr_wait_free(const char *path, int timeout_ms, struct hn_err *err)
{
	const struct timespec nap = { .tv_nsec = 10000000 };
	char name[HN_ADDR_MAX + 8];
	int fd;

	snprintf(name, sizeof(name), "%.*s.lock", HN_ADDR_MAX, path);
	fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		return 0;
	}
	for (; timeout_ms > 0; timeout_ms -= 10) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
			close(fd);
			return 0;
		}
		nanosleep(&nap, NULL);
	}
	close(fd);
	return hn_fail(err, HONE_E_TIMEOUT, "%s: honed is still stopping", path);
}
