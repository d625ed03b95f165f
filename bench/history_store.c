/* bench/history_store.c -- schedules from hone's store, tuned before or now. See
 * history.h. */
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/history.h"
#include "client/best.h"

extern char **environ;

int hn_history_of_store(const char *key, struct hn_arena *a, const char **ret_steps,
			struct hn_err *err)
{
	struct hn_opts o = { 0 };
	struct hn_best best;
	int rc = hn_best_find(&o, key, a, &best, err);

	if (rc == 0) {
		*ret_steps = hn_arena_strdup(a, best.entry.best.steps);
		hn_best_close(&best);
	}
	return rc;
}

static int tune(const char *name, const char *text, const char *option, double budget,
		struct hn_err *err)
{
	char program[PATH_MAX + 16], amount[32];
	ssize_t n = readlink("/proc/self/exe", program, PATH_MAX - 1);
	char *argv[] = { "hone",       "tune",	       "--text", (char *)text, "--name",
			 (char *)name, (char *)option, amount,	 "--quiet",    NULL };
	posix_spawn_file_actions_t actions;
	int status = 0, rc;
	pid_t pid;

	if (n < 0) {
		return hn_fail(err, HONE_E_IO, "hone: cannot be started");
	}
	program[n] = '\0';
	strcpy(strrchr(program, '/'), "/hone");
	snprintf(amount, sizeof(amount), "%.10g", budget);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY,
					 0);
	rc = posix_spawn(&pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc != 0) {
		return hn_fail(err, HONE_E_NOT_FOUND, "%s: %s", program, strerror(rc));
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != 0) {
		return hn_fail(err, HONE_E_INTERNAL, "hone tune: it failed on %s", name);
	}
	return 0;
}

int hn_history_tuned(const char *name, const char *text, const char *key,
		     const char *option, double budget, struct hn_arena *a,
		     const char **ret_steps, struct hn_err *err)
{
	int rc = tune(name, text, option, budget, err);

	rc = rc ? rc : hn_history_of_store(key, a, ret_steps, err);
	/* what was tuned this moment may not be in the snapshot yet */
	for (int i = 0; rc == -HONE_E_NOT_FOUND && i < 20; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
		rc = hn_history_of_store(key, a, ret_steps, err);
	}
	return rc;
}
