/* client/lib/kernel_build.c -- libhone: a kernel of a stored schedule, made by `hone replay` and
 * loaded.
 *
 * Code is made by hone's programs, which link LLVM and isl; libhone only starts one and waits.  It
 * needs neither to be linked with them nor to trust what they wrote: the file is checked as any.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "client/lib/kernel_load.h"

#define SAID_BYTES 900
#define MOST_WORDS 20

extern char **environ;

/* What it says on standard error, to its end; the rest goes nowhere. */
static void hear(int fd, char said[SAID_BYTES])
{
	size_t used = 0;
	char more[512];
	ssize_t k;

	while ((k = read(fd, more, sizeof more)) > 0 || (k < 0 && errno == EINTR)) {
		size_t take = k > 0 ? (size_t)k : 0;

		take = take < SAID_BYTES - 1 - used ? take : SAID_BYTES - 1 - used;
		memcpy(said + used, more, take);
		used += take;
	}
	said[used] = '\0';
}

static int start(char *const *word, int out, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	rc = posix_spawnp(ret, word[0], &actions, NULL, word, environ);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/* The last line that begins with "hone: ": its refusal. */
static const char *refusal(char said[SAID_BYTES])
{
	const char *ret = "it failed";

	for (char *line = strtok(said, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		ret = strncmp(line, "hone: ", 6) == 0 ? line + 6 : ret;
	}
	return ret;
}

static int run(char *const *word, struct hn_err *err)
{
	char said[SAID_BYTES];
	int ends[2], status = 0, rc;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		return hn_fail(err, HONE_E_IO, "%s: %s", word[0], strerror(errno));
	}
	rc = start(word, ends[1], &pid);
	close(ends[1]);
	if (rc == 0) {
		hear(ends[0], said);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
		}
	}
	close(ends[0]);
	if (rc != 0) {
		return hn_fail(err, HONE_E_NOT_FOUND,
			       "%s: cannot be started: %s; hone_build.programs names its folder",
			       word[0], strerror(rc));
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		return 0;
	}
	rc = WIFEXITED(status) && WEXITSTATUS(status) > 10 ? WEXITSTATUS(status) - 10
							   : HONE_E_INTERNAL;
	return hn_fail(err, rc, "%s", refusal(said));
}

struct words {
	const char *word[MOST_WORDS];
	uint32_t n;
};

static void add(struct words *w, const char *option, const char *value)
{
	if (value != NULL) {
		hn_assert(w->n + 3 < MOST_WORDS);
		w->word[w->n++] = option;
		w->word[w->n++] = value;
	}
}

static int build(const char *text, const struct hone_build *how, const char *dir,
		 struct hone_kernel **ret, struct hone_error *error)
{
	const char *symbol = how->symbol != NULL ? how->symbol : "kernel";
	char program[PATH_MAX], path[PATH_MAX];
	struct hn_err err = { 0 };
	struct words w = { 0 };
	int rc;

	snprintf(program, sizeof program, "%s%shone", how->programs ? how->programs : "",
		 how->programs ? "/" : "");
	w.word[w.n++] = program;
	w.word[w.n++] = "replay";
	add(&w, "--text", text);
	add(&w, "-o", dir);
	add(&w, "--symbol", symbol);
	add(&w, "--home", how->home);
	add(&w, "--target", how->target);
	w.word[w.n++] = "--force";
	w.word[w.n++] = how->automatic ? "--auto" : NULL;
	rc = run((char *const *)(void *)w.word, &err);
	if (rc != 0) {
		return hn_lib_give(rc, &err, error);
	}
	if (snprintf(path, sizeof path, "%s/%s.json", dir, symbol) >= (int)sizeof path) {
		return hn_lib_give(hn_fail(&err, HONE_E_INVALID, "%.200s: the name is too long", dir),
				   &err, error);
	}
	return hone_kernel_open(path, NULL, ret, error);
}

int hone_kernel_build(const char *text, const struct hone_build *how, struct hone_kernel **ret,
		      struct hone_error *error)
{
	static const struct hone_build defaults;
	char temporary[] = "/tmp/hone-build-XXXXXX";
	struct hn_err err = { 0 };
	int rc;

	how = how != NULL ? how : &defaults;
	if (how->dir != NULL) {
		return build(text, how, how->dir, ret, error);
	}
	if (mkdtemp(temporary) == NULL) {
		return hn_lib_give(hn_fail(&err, HONE_E_IO, "%s: %s", temporary, strerror(errno)),
				   &err, error);
	}
	rc = build(text, how, temporary, ret, error);
	hn_file_remove_tree(temporary);
	return rc;
}
