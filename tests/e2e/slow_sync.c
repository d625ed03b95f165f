/* slow_sync -- preloaded into honed: a disk that takes HONE_SYNC_MS for each sync.  It writes a
 * line into the file HONE_SYNC_LOG for each, which thread did it: "loop" (the process's first
 * one) or "other". */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void note(void)
{
	const char *line = syscall(SYS_gettid) == getpid() ? "loop\n" : "other\n";
	const char *path = getenv("HONE_SYNC_LOG");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd >= 0) {
		(void)!write(fd, line, strlen(line));
		close(fd);
	}
}

static int slowly(const char *name, int fd)
{
	int (*sync_it)(int);
	const char *ms = getenv("HONE_SYNC_MS");
	long n = ms ? atol(ms) : 0;
	struct timespec t = { n / 1000, n % 1000 * 1000000 };

	*(void **)&sync_it = dlsym(RTLD_NEXT, name); /* as POSIX has it */
	if (strcmp(program_invocation_short_name, "honed") == 0) {
		note();
		nanosleep(&t, NULL);
	}
	return sync_it(fd);
}

int fsync(int fd)
{
	return slowly("fsync", fd);
}

int fdatasync(int fd)
{
	return slowly("fdatasync", fd);
}
