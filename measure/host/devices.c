/* devices.c -- one run of hone-board, bounded in time and in what it says: see devices.h. */
#include "measure/host/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"

#define LIMIT_MS 20000
#define MOST_BYTES ((size_t)1 << 20)

extern char **environ;

/* All that it prints, until it ends or its time is over. */
static void read_all(int fd, struct hn_buf *b)
{
	int64_t until = hn_clock_ns() + LIMIT_MS * INT64_C(1000000);
	char more[4096];

	while (b->n < MOST_BYTES) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int64_t left_ms = (until - hn_clock_ns()) / 1000000;
		ssize_t n;

		if (left_ms <= 0 || (poll(&p, 1, (int)left_ms) <= 0 && errno != EINTR)) {
			return;
		}
		n = read(fd, more, sizeof more);
		if (n == 0 || (n < 0 && errno != EINTR)) {
			return;
		}
		hn_buf_add(b, more, n > 0 ? (size_t)n : 0);
	}
}

static int run(const char *path, const char *kind, struct hn_buf *b, struct hn_err *err)
{
	char *const argv[] = {"hone-board", "--devices", (char *)kind, NULL};
	posix_spawn_file_actions_t to;
	int ends[2], rc, status;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		return hn_fail(err, HONE_E_IO, "pipe: %s", strerror(errno));
	}
	posix_spawn_file_actions_init(&to);
	posix_spawn_file_actions_adddup2(&to, ends[1], STDOUT_FILENO);
	rc = posix_spawn(&pid, path, &to, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&to);
	close(ends[1]);
	if (rc == 0) {
		read_all(ends[0], b);
		kill(pid, SIGKILL); /* it has said all, or is late */
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
		}
	}
	close(ends[0]);
	return rc == 0 ? 0 : hn_fail(err, HONE_E_NOT_FOUND, "%s: %s", path, strerror(rc));
}

static const char *word(const struct hn_json *v, const char *name)
{
	const char *s = v != NULL ? hn_json_string(hn_json_get(v, name)) : NULL;

	return s != NULL ? s : "";
}

int hn_devices_ask(const char *board_path, const char *kind, struct hn_buf *name,
		   struct hn_err *err)
{
	const struct hn_json *first;
	struct hn_json *doc = NULL;
	struct hn_buf b;

	hn_buf_init(&b);
	int rc = run(board_path, kind, &b, err);

	if (rc == 0 && (b.n == 0 || hn_json_parse("hone-board", b.s, b.n, NULL, &doc, NULL) != 0)) {
		rc = hn_fail(err, HONE_E_NO_BOARD,
			     "the driver of kind %s gives no answer: hone-board --devices %s", kind,
			     kind);
	}
	first = rc == 0 ? hn_json_first(hn_json_get(doc, "devices")) : NULL;
	if (first != NULL) {
		hn_buf_printf(name, "%.128s (%s %.100s)", word(first, "name"), kind,
			      word(first, "driver"));
	} else if (rc == 0) {
		rc = hn_fail(err, HONE_E_NO_BOARD, "%.300s",
			     word(hn_json_first(hn_json_get(doc, "missing")), "why"));
	}
	hn_json_free(doc);
	hn_buf_fini(&b);
	return rc;
}
