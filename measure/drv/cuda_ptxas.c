/* cuda_ptxas.c -- PTX to the device's code by ptxas of CUDA's toolkit, where it is installed: in
 * $PATH, or where the toolkit puts itself.  It is a process of its own with files in a folder of its
 * own; whatever goes wrong, the driver compiles instead.  $HONE_PTXAS names another program where
 * $HONE_TEST_HOOKS is 1. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "measure/drv/cuda_int.h"

#define PLACE "/usr/local/cuda/bin/ptxas"
#define MOST_LOG 65536
#define MOST_CUBIN ((size_t)64 << 20)

extern char **environ;

struct files {
	char folder[40], ptx[60], cubin[60], log[60];
};

static bool make_files(struct files *f)
{
	snprintf(f->folder, sizeof f->folder, "/tmp/hone-ptxas-XXXXXX");
	if (mkdtemp(f->folder) == NULL) {
		return false;
	}
	snprintf(f->ptx, sizeof f->ptx, "%s/k.ptx", f->folder);
	snprintf(f->cubin, sizeof f->cubin, "%s/k.cubin", f->folder);
	snprintf(f->log, sizeof f->log, "%s/log", f->folder);
	return true;
}

static void remove_files(const struct files *f)
{
	unlink(f->ptx);
	unlink(f->cubin);
	unlink(f->log);
	rmdir(f->folder);
}

/* True: it ended well. */
static bool compile(const struct files *f, const char *arch)
{
	char *const argv[] = {"ptxas", "-O3", (char *)arch, "-o", (char *)f->cubin,
			      (char *)f->ptx, NULL};
	const char *hooks = getenv("HONE_TEST_HOOKS"), *other = getenv("HONE_PTXAS");
	posix_spawn_file_actions_t to;
	int status = 0, rc;
	pid_t pid;

	posix_spawn_file_actions_init(&to);
	posix_spawn_file_actions_addopen(&to, STDOUT_FILENO, f->log, O_WRONLY | O_CREAT | O_TRUNC,
					 0600);
	posix_spawn_file_actions_adddup2(&to, STDOUT_FILENO, STDERR_FILENO);
	if (hooks != NULL && strcmp(hooks, "1") == 0 && other != NULL) {
		rc = posix_spawn(&pid, other, &to, NULL, argv, environ);
	} else if ((rc = posix_spawnp(&pid, "ptxas", &to, NULL, argv, environ)) != 0) {
		rc = posix_spawn(&pid, PLACE, &to, NULL, argv, environ);
	}
	posix_spawn_file_actions_destroy(&to);
	while (rc == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	return rc == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void *contents(const char *path)
{
	struct hn_buf b;
	void *ret = NULL;

	hn_buf_init(&b);
	if (hn_file_read(path, MOST_CUBIN, &b, NULL) == 0 && b.n > 0) {
		ret = malloc(b.n);
		if (ret != NULL) {
			memcpy(ret, b.s, b.n);
		}
	}
	hn_buf_fini(&b);
	return ret;
}

static bool is_serial(const char *path)
{
	struct hn_buf b;
	bool ret;

	hn_buf_init(&b);
	ret = hn_file_read(path, MOST_LOG, &b, NULL) == 0 && b.n > 0 && cuda_is_serial(b.s);
	hn_buf_fini(&b);
	return ret;
}

static bool write_ptx(const char *path, const char *ptx, size_t bytes)
{
	FILE *f = fopen(path, "we");
	bool good = f != NULL && fwrite(ptx, 1, bytes, f) == bytes;

	return f != NULL && fclose(f) == 0 && good;
}

void *cuda_ptxas(const char *ptx, size_t bytes, const char *isa, int capability, bool *serial)
{
	char own[24], arch[40];
	void *cubin = NULL;
	struct files f;

	*serial = false;
	if (!make_files(&f)) {
		return NULL;
	}
	/* code of an architecture's own instructions, "sm_90a", is for it alone */
	snprintf(own, sizeof own, "sm_%d", capability);
	snprintf(arch, sizeof arch, "-arch=%.20s",
		 strncmp(isa, own, strlen(own)) == 0 && strlen(isa) == strlen(own) + 1 ? isa : own);
	if (write_ptx(f.ptx, ptx, bytes) && compile(&f, arch)) {
		cubin = contents(f.cubin);
		*serial = is_serial(f.log);
	}
	remove_files(&f);
	return cubin;
}
