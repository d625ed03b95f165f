/* client/builder.c -- start the program, wait for it, and pass on its complaints. */
#include "client/builder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Start the program; its standard error comes back in `said`. */
static int run_and_hear(const struct hn_program *p, char said[900], int *ret_status,
			struct hn_err *err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	int ends[2], rc;
	size_t used = 0;
	ssize_t k;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		return hn_fail(err, HONE_E_IO, "%s: cannot be started: %s", p->argv[0],
			       strerror(errno));
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	if (p->out >= 0) {
		posix_spawn_file_actions_adddup2(&actions, p->out, STDOUT_FILENO);
	}
	if (p->dir != NULL) {
		posix_spawn_file_actions_addchdir_np(&actions, p->dir);
	}
	sigemptyset(&none); /* we wait with signals held back; it does not */
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	rc = posix_spawn(&pid, p->path, &actions, &attr, p->argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (rc == 0) {
		char more[512];

		while ((k = read(ends[0], more, sizeof(more))) > 0 ||
		       (k < 0 && errno == EINTR)) {
			size_t take = k > 0 ? (size_t)k : 0;

			take = take < 899 - used ? take : 899 - used;
			memcpy(said + used, more, take);
			used += take;
		}
		while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR) {
		}
	}
	close(ends[0]);
	said[used] = '\0';
	return rc == 0 ? 0
		       : hn_fail(err, HONE_E_NOT_FOUND, "%s: cannot be started: %s",
				 p->path, strerror(rc));
}

int hn_program_run(const char *verb, const struct hn_program *p, struct hn_err *err)
{
	char said[900];
	const char *words = said, *is = p->argv[0];
	size_t name = strlen(is);
	int status = 0, code, rc = run_and_hear(p, said, &status, err);

	if (rc != 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
		return rc;
	}
	if (WIFSIGNALED(status)) {
		return hn_fail(err, HONE_E_INTERNAL, "%s: %s died of signal %d", verb, is,
			       WTERMSIG(status));
	}
	said[strcspn(said, "\n")] = '\0';
	words += strncmp(said, is, name) == 0 && strncmp(said + name, ": ", 2) == 0 ? name + 2
											 : 0;
	code = WEXITSTATUS(status) > 10 && WEXITSTATUS(status) < 64
		       ? WEXITSTATUS(status) - 10
		       : HONE_E_INTERNAL;
	return hn_fail(err, code, "%s: %s: %s", verb, is, words);
}

int hn_builder_run(const char *verb, char *const *argv, int out, struct hn_err *err)
{
	char path[PATH_MAX + 32];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	const struct hn_program p = { .path = path, .argv = argv, .out = out };

	if (n < 0) {
		return hn_fail(err, HONE_E_IO, "%s: cannot be started: %s", argv[0],
			       strerror(errno));
	}
	path[n] = '\0';
	snprintf(strrchr(path, '/'), 32, "/%s", argv[0]);
	return hn_program_run(verb, &p, err);
}
