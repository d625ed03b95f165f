/* client/link.c -- talking to honed with plain blocking calls.
 *
 * Starting: many clients may find nobody at once and each start a private honed; one wins
 * the lock beside the socket, the others end as BUSY, and everybody connects to the
 * winner.  A private honed may also end just as we connect: the hello is then never
 * answered, and we begin again.  All of that within START_MS.
 */
#include "client/link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "proto/addr.h"

#define START_MS 12000
#define RETRY_MS 50
#define END_MS 2000 /* a private honed ends well before */

extern char **environ;

static void nap(int ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

int hn_link_send(struct hn_link *l, const char *method, const char *params,
		 struct hn_err *err)
{
	return hn_talk_send(&l->talk, method, params, err);
}

int hn_link_next(struct hn_link *l, int timeout_ms, struct hn_json **ret_doc,
		 struct hn_msg *ret, struct hn_err *err)
{
	return hn_talk_next(&l->talk, timeout_ms, ret_doc, ret, err);
}

int hn_link_call(struct hn_link *l, const char *method, const char *params,
		 int timeout_ms, struct hn_json **ret_doc,
		 const struct hn_json **ret_result, struct hn_err *err)
{
	return hn_talk_call(&l->talk, method, params, timeout_ms, ret_doc, ret_result, err);
}

static void warn_of_damage(const struct hn_json *hello)
{
	const char *damage = hn_json_string(hn_json_get(hello, "damage"));

	if (damage != NULL) {
		fprintf(stderr, "hone: warning: %s\n", damage);
	}
}

static int try_open(const char *path, struct hn_link *ret, struct hn_err *err)
{
	struct hn_link l = { .talk.fd = -1 };
	const struct hn_json *result;
	int rc = hn_talk_open(path, &l.talk, err);

	if (rc != 0) {
		return rc;
	}
	rc = hn_talk_greet(&l.talk, "hone", &l.hello, &result, err);
	if (rc == 0) {
		warn_of_damage(result);
	} else {
		hn_link_close(&l);
		return rc;
	}
	*ret = l;
	return 0;
}

void hn_link_close(struct hn_link *l)
{
	hn_talk_close(&l->talk);
	hn_json_free(l->hello);
	l->hello = NULL;
	for (int waited = 0; l->private_pid > 0 && waited < END_MS; waited += RETRY_MS) {
		if (waitpid(l->private_pid, NULL, WNOHANG) != 0) {
			l->private_pid = 0;
		} else {
			nap(RETRY_MS);
		}
	}
	l->private_pid = 0;
}

/* Read "ok" or "CODE reason" from the starting honed. */
static int read_ready(int fd, struct hn_err *err)
{
	char line[1100];
	size_t n = 0;
	ssize_t k;
	char *reason;
	long code;

	while (n < sizeof(line) - 1 &&
	       ((k = read(fd, line + n, sizeof(line) - 1 - n)) > 0 ||
		(k < 0 && errno == EINTR))) {
		n += k > 0 ? (size_t)k : 0;
	}
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (strcmp(line, "ok") == 0) {
		return 0;
	}
	code = strtol(line, &reason, 10);
	if (code <= 0 || code > 63) {
		return hn_fail(err, HONE_E_INTERNAL, "honed did not start");
	}
	return hn_fail(err, (int)code, "%s", reason + strspn(reason, " "));
}

static int spawn_honed(const char *program, char *const *argv, int ready[2],
		       pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
	posix_spawn_file_actions_adddup2(&actions, ready[1], 3);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	rc = posix_spawn(ret_pid, program, &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return rc;
}

/* Start `honed --private` in a session of its own, so that a Ctrl-C meant for us leaves
 * it the time to end well. */
static int start_honed(const char *socket, const char *home, pid_t *ret_pid,
		       struct hn_err *err)
{
	char program[PATH_MAX + 8];
	char *argv[] = { "honed",	 "--private", "--socket",
			 (char *)socket, "--home",    (char *)home,
			 "--ready-fd",	 "3",	      NULL };
	ssize_t n = readlink("/proc/self/exe", program, PATH_MAX - 1);
	int ready[2] = { -1, -1 }, rc;
	pid_t pid;

	if (n < 0 || pipe2(ready, O_CLOEXEC) != 0) {
		return hn_fail(err, HONE_E_IO, "honed: cannot be started: %s",
			       strerror(errno));
	}
	program[n] = '\0';
	strcpy(strrchr(program, '/'), "/honed");
	rc = spawn_honed(program, argv, ready, &pid);
	close(ready[1]);
	if (rc != 0) {
		close(ready[0]);
		return hn_fail(err, HONE_E_NOT_FOUND, "%s: cannot be started: %s",
			       program, strerror(rc));
	}
	rc = read_ready(ready[0], err);
	close(ready[0]);
	if (rc != 0) {
		waitpid(pid, NULL, 0);
		return rc;
	}
	*ret_pid = pid;
	return 0;
}

int hn_link_open(const struct hn_opts *o, bool start, struct hn_link *ret,
		 struct hn_err *err)
{
	int64_t deadline = hn_clock_ns() + (int64_t)START_MS * 1000000;
	struct hn_buf socket, home;
	struct hn_err busy = { 0 };
	pid_t pid = 0;
	int rc;

	hn_buf_init(&socket);
	hn_buf_init(&home);
	rc = hn_addr_path(o->socket, &socket, err);
	if (rc == 0 && start) {
		rc = hn_addr_home(o->home, &home, err);
	}
	if (rc == 0) {
		rc = try_open(socket.s, ret, err);
		while (rc == -HONE_E_NOT_FOUND && start && hn_clock_ns() < deadline) {
			rc = start_honed(socket.s, home.s, &pid, err);
			if (rc != 0 && rc != -HONE_E_BUSY) {
				break;
			}
			busy = (struct hn_err){ 0 };
			if (rc == -HONE_E_BUSY) {
				busy = *err;
				nap(RETRY_MS); /* somebody else's is starting, or one is
						  ending */
			}
			rc = try_open(socket.s, ret, err);
		}
		if (rc == -HONE_E_NOT_FOUND && busy.code != 0) {
			*err = busy;
			rc = -HONE_E_BUSY;
		}
	}
	if (rc == 0) {
		ret->private_pid = pid;
	}
	hn_buf_fini(&socket);
	hn_buf_fini(&home);
	return rc;
}
