/* child.c -- fork, limit, wait, kill, reap. */
#include "measure/board/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "measure/process.h"
#include "proto/slot.h"

#define GIB ((rlim_t)1 << 30)
#define OVERTIME_NS INT64_C(8000000000) /* for a child that is kept from running */
#define LOOK_NS 10000000		/* meanwhile */

static const struct {
	__rlimit_resource_t what;
	rlim_t limit;
} always[] = {
	{RLIMIT_CORE, 0},	{RLIMIT_FSIZE, 1 << 20},
	{RLIMIT_NOFILE, 64},	{RLIMIT_STACK, 8 << 20},
#if !defined(__SANITIZE_ADDRESS__) /* its shadow alone is terabytes of address space */
	{RLIMIT_AS, 256 * GIB},
#endif
};

static void lower(__rlimit_resource_t what, rlim_t limit)
{
	struct rlimit r;

	if (getrlimit(what, &r) == 0) {
		r.rlim_cur = limit < r.rlim_max ? limit : r.rlim_max;
		r.rlim_max = r.rlim_cur;
		setrlimit(what, &r);
	}
}

static void print_nowhere(void)
{
	int fd = open("/dev/null", O_RDWR);

	for (int i = STDIN_FILENO; i <= STDERR_FILENO && fd >= 0; i++) {
		dup2(fd, i);
	}
}

static void restrain(pid_t parent, int64_t most_bytes, bool driver)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, driver);
	if (getppid() != parent) {
		_exit(127);
	}
	for (size_t i = 0; i < HN_COUNT_OF(always); i++) {
		if (!driver || always[i].what == RLIMIT_CORE) {
			lower(always[i].what, always[i].limit);
		}
	}
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	if (most_bytes > 0) {
		lower(RLIMIT_AS, (rlim_t)most_bytes);
	}
#else
	(void)most_bytes;
#endif
	/* the frames' descriptors are not the kernel's, nor is any other, the depot's above all:
	 * what is open can be mapped, and mapping is allowed */
	if (driver) {
		print_nowhere();
	} else {
		close(STDIN_FILENO);
		close(STDOUT_FILENO);
	}
	if (close_range(STDERR_FILENO + 1, ~0u, 0) != 0) {
		close(HN_SLOT_FD);
	}
}

/* Wait for the end, or until the time is over; who is kept from running gets more of it. */
static void wait_for(pid_t pid, int pidfd, int64_t limit_ns, struct hn_fault_end *ret)
{
	int64_t begin = hn_clock_ns(), deadline = begin + limit_ns;
	int64_t latest = deadline + OVERTIME_NS;

	while (!ret->timed_out && !hn_process_wait(pidfd, deadline)) {
		ret->wall_ns = hn_clock_ns() - begin;
		ret->cpu_ns = hn_process_cpu_ns(pid);
		ret->overrun = hn_process_overrun(pid, ret->cpu_ns, limit_ns);
		ret->timed_out = ret->overrun != HN_OVERRUN_STARVED || deadline >= latest;
		deadline = hn_clock_ns() + LOOK_NS;
		deadline = deadline < latest ? deadline : latest;
	}
}

/* Kill what is still a child of ours: it left its process group, and came to us when its
 * parent died. */
static void kill_children(void)
{
	FILE *f = fopen("/proc/thread-self/children", "re");
	int pid;

	while (f != NULL && fscanf(f, "%d", &pid) == 1) {
		kill(pid, SIGKILL);
	}
	if (f != NULL) {
		fclose(f);
	}
}

/* Some of them may fork while they are being killed: look again, but not for ever. */
static void reap_orphans(void)
{
	for (int i = 0; i < 1000; i++) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0) {
			return;
		}
		if (pid == 0) {
			kill_children();
			nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
		}
	}
}

/* Whether the system has killed for want of memory since this was asked last: asked when a child
 * was killed, for it takes longer than starting one. */
static bool no_memory(void)
{
	static int64_t last;
	int64_t before = last;
	struct hn_memory m;

	hn_memory_read("", &m);
	last = m.n_killed;
	return last > before;
}

int hn_child_run(void (*body)(void *ctx), void *ctx, const struct hn_child_limits *limits,
		 struct hn_fault_note *note, struct hn_fault_end *ret, struct hn_err *err)
{
	int64_t most_bytes = limits->bytes > 0 ? hn_memory_mapped() + limits->bytes : 0;
	pid_t parent = getpid(), pid = fork();
	struct hn_fault_end end = {0};
	int pidfd;

	if (pid < 0) {
		return hn_fail(err, HONE_E_NOMEM, "fork: %s", strerror(errno));
	}
	if (pid == 0) {
		restrain(parent, most_bytes, limits->driver);
		hn_fault_arm(note);
		body(ctx);
		_exit(0);
	}
	setpgid(pid, pid);
	pidfd = pidfd_open(pid, 0);
	if (pidfd >= 0) {
		wait_for(pid, pidfd, limits->ns, &end);
		/* the group too, always: a kernel may have forked */
		kill(-pid, SIGKILL);
	}
	while (waitpid(pid, &end.status, 0) < 0 && errno == EINTR) {
	}
	if (pidfd >= 0) {
		close(pidfd);
	}
	reap_orphans();
	end.no_memory = !end.timed_out && WIFSIGNALED(end.status) &&
			WTERMSIG(end.status) == SIGKILL && no_memory();
	*ret = end;
	return 0;
}

void hn_child_adopt_orphans(void)
{
	(void)no_memory(); /* what was before us is no news */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}
