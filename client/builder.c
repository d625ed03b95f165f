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

/* Start the program beside this executable; its standard error comes back in `said`. */
static int run_and_hear(char *const *argv, int out, char said[900], int *ret_status,
			struct hn_err *err)
{
	char program[PATH_MAX + 32];
	ssize_t n = readlink("/proc/self/exe", program, PATH_MAX - 1), k;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	int ends[2], rc;
	size_t used = 0;
	pid_t pid;

	if (n < 0 || pipe2(ends, O_CLOEXEC) != 0) {
		return hn_fail(err, HONE_E_IO, "%s: cannot be started: %s", argv[0],
			       strerror(errno));
	}
	program[n] = '\0';
	snprintf(strrchr(program, '/'), 32, "/%s", argv[0]);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	if (out >= 0) {
		posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	}
	sigemptyset(&none); /* we wait with signals held back; it does not */
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	rc = posix_spawn(&pid, program, &actions, &attr, argv, environ);
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
				 program, strerror(rc));
}

int hn_builder_run(const char *verb, char *const *argv, int out, struct hn_err *err)
{
	char said[900];
	const char *words = said;
	size_t name = strlen(argv[0]);
	int status = 0, code, rc = run_and_hear(argv, out, said, &status, err);

	if (rc != 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
		return rc;
	}
	if (WIFSIGNALED(status)) {
		return hn_fail(err, HONE_E_INTERNAL, "%s: %s died of signal %d", verb, argv[0],
			       WTERMSIG(status));
	}
	said[strcspn(said, "\n")] = '\0';
	words += strncmp(said, argv[0], name) == 0 && strncmp(said + name, ": ", 2) == 0 ? name + 2
											 : 0;
	code = WEXITSTATUS(status) > 10 && WEXITSTATUS(status) < 64
		       ? WEXITSTATUS(status) - 10
		       : HONE_E_INTERNAL;
	return hn_fail(err, code, "%s: %s: %s", verb, argv[0], words);
}
