/* child.c -- fork, limit, wait, kill, reap. */
#include "measure/child.h"

#include <errno.h>
#include <poll.h>
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
#include "proto/slot.h"

#define GIB ((rlim_t)1 << 30)

static const struct {
	__rlimit_resource_t what;
	rlim_t limit;
} limits[] = {
	{RLIMIT_CORE, 0},	{RLIMIT_FSIZE, 1 << 20},
	{RLIMIT_NOFILE, 64},	{RLIMIT_STACK, 8 << 20},
#if !defined(__SANITIZE_ADDRESS__) /* its shadow alone is terabytes of address space */
	{RLIMIT_AS, 256 * GIB},
#endif
};

static void restrain(pid_t parent)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	if (getppid() != parent) {
		_exit(127);
	}
	for (size_t i = 0; i < HN_COUNT_OF(limits); i++) {
		struct rlimit r;

		if (getrlimit(limits[i].what, &r) == 0) {
			r.rlim_cur = limits[i].limit < r.rlim_max ? limits[i].limit
								  : r.rlim_max;
			r.rlim_max = r.rlim_cur;
			setrlimit(limits[i].what, &r);
		}
	}
	/* the frames' descriptors are not the kernel's, nor is any other, the depot's above all:
	 * what is open can be mapped, and mapping is allowed */
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	if (close_range(STDERR_FILENO + 1, ~0u, 0) != 0) {
		close(HN_SLOT_FD);
	}
}

/* Wait for the end; true when the deadline came first. */
static bool wait_until(int pidfd, int64_t deadline_ns)
{
	for (;;) {
		struct pollfd p = {.fd = pidfd, .events = POLLIN};
		int64_t left = deadline_ns - hn_clock_ns();
		struct timespec t = {.tv_sec = left / 1000000000,
				     .tv_nsec = left % 1000000000};
		int n;

		if (left <= 0) {
			return true;
		}
		n = ppoll(&p, 1, &t, NULL);
		if (n > 0) {
			return false;
		}
		if (n < 0 && errno != EINTR) {
			return true;
		}
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

int hn_child_run(void (*body)(void *ctx), void *ctx, int64_t limit_ns,
		 struct hn_fault_note *note, struct hn_fault_end *ret, struct hn_err *err)
{
	int64_t deadline = hn_clock_ns() + limit_ns;
	pid_t parent = getpid(), pid = fork();
	struct hn_fault_end end = {0};
	int pidfd;

	if (pid < 0) {
		return hn_fail(err, HONE_E_NOMEM, "fork: %s", strerror(errno));
	}
	if (pid == 0) {
		restrain(parent);
		hn_fault_arm(note);
		body(ctx);
		_exit(0);
	}
	setpgid(pid, pid);
	pidfd = pidfd_open(pid, 0);
	end.timed_out = pidfd >= 0 ? wait_until(pidfd, deadline) : false;
	if (end.timed_out || pidfd >= 0) {
		/* the group too, always: a kernel may have forked */
		kill(-pid, SIGKILL);
	}
	while (waitpid(pid, &end.status, 0) < 0 && errno == EINTR) {
	}
	if (pidfd >= 0) {
		close(pidfd);
	}
	reap_orphans();
	*ret = end;
	return 0;
}

void hn_child_adopt_orphans(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}
