/* sandbox.c -- namespaces, Landlock and seccomp, each where the machine has it. */
#include "measure/board/sandbox.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cdefs.h"

/* -- namespaces */

/* Whoever makes a user namespace holds every capability within it: give them back. */
static bool drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	return syscall(SYS_capset, &head, none) == 0;
}

unsigned hn_sandbox_enter_process(unsigned want)
{
	if ((want & HN_SANDBOX_NAMESPACES) == 0 ||
	    unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) != 0 ||
	    !drop_capabilities()) {
		return 0;
	}
	return HN_SANDBOX_NAMESPACES;
}

/* -- Landlock */

/* struct landlock_ruleset_attr as of ABI 6; older headers end after the first field, and
 * older kernels are told that size. */
struct ruleset {
	uint64_t fs, net, scoped;
};

#define SCOPE_ABSTRACT_UNIX_SOCKET 1u
#define SCOPE_SIGNAL 2u
#define NET_BIND_AND_CONNECT 3u

/* Rights that came with each ABI, from 1: those of the file system as a mask so far. */
static const uint64_t fs_rights[] = { 0x1fff, 0x3fff, 0x7fff, 0x7fff, 0xffff };

static bool landlock(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   LANDLOCK_CREATE_RULESET_VERSION);
	struct ruleset r = { 0 };
	size_t n = abi >= 6 ? sizeof r : abi >= 4 ? 2 * sizeof r.fs : sizeof r.fs;
	bool good;
	int fd;

	if (abi < 1) {
		return false;
	}
	r.fs = fs_rights[(abi < 5 ? abi : 5) - 1];
	r.net = abi >= 4 ? NET_BIND_AND_CONNECT : 0;
	r.scoped = abi >= 6 ? SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL : 0;
	fd = (int)syscall(SYS_landlock_create_ruleset, &r, n, 0);
	if (fd < 0) {
		return false;
	}
	good = syscall(SYS_landlock_restrict_self, fd, 0) == 0;
	close(fd);
	return good;
}

/* -- seccomp */

/* What a kernel, the thread pool, the clock and malloc need. */
static const int allowed[] = {
	SCMP_SYS(futex),	  SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday),
	SCMP_SYS(getrusage),	  SCMP_SYS(munmap),	   SCMP_SYS(mremap),
	SCMP_SYS(madvise),	  SCMP_SYS(brk),	   SCMP_SYS(sched_yield),
	SCMP_SYS(getpid),	  SCMP_SYS(gettid),	   SCMP_SYS(getcpu),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),  SCMP_SYS(restart_syscall),
	SCMP_SYS(sigaltstack), /* a sanitizer asks where it is before each exit */
	SCMP_SYS(exit_group),	  SCMP_SYS(sched_getaffinity),
};

/* What a handler raises again, and abort().  SIGKILL and SIGSTOP are not among them: from outside
 * they are no fault of the kernel's, so it must not be able to send them to itself. */
static const int raised[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };

static int allow(scmp_filter_ctx f)
{
	struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	struct scmp_arg_cmp self = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid());
	int rc = 0;

	for (size_t i = 0; i < HN_COUNT_OF(allowed) && rc == 0; i++) {
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, allowed[i], 0);
	}
	rc = rc ? rc : seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code);
	rc = rc ? rc
		: seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
	for (size_t i = 0; i < HN_COUNT_OF(raised) && rc == 0; i++) {
		struct scmp_arg_cmp signal = SCMP_A2(SCMP_CMP_EQ, (scmp_datum_t)raised[i]);

		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 2, self, signal);
	}
	return rc;
}

/* The speculation mitigations that older kernels tie to a filter would slow down what is
 * measured (CTL_SSB); all threads are filtered (CTL_TSYNC).  A call by another of the machine's
 * interfaces (i386's int 0x80, x32) is trapped like any other (ACT_BADARCH): libseccomp's own
 * choice kills the one thread, and the others wait for it for ever. */
static bool seccomp(void)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_TRAP);
	bool good;

	if (f == NULL) {
		return false;
	}
	good = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_TRAP) == 0 &&
	       seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
	       seccomp_attr_set(f, SCMP_FLTATR_CTL_SSB, 1) == 0 && allow(f) == 0 &&
	       seccomp_load(f) == 0;
	seccomp_release(f);
	return good;
}

unsigned hn_sandbox_enter_kernel(unsigned want)
{
	unsigned in_force = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
		return 0;
	}
	if ((want & HN_SANDBOX_LANDLOCK) != 0 && landlock()) {
		in_force |= HN_SANDBOX_LANDLOCK;
	}
	if ((want & HN_SANDBOX_SECCOMP) != 0 && seccomp()) {
		in_force |= HN_SANDBOX_SECCOMP;
	}
	return in_force;
}

/* -- words */

unsigned hn_sandbox_try(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		_exit((int)hn_sandbox_enter_kernel(HN_SANDBOX_ALL));
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	return HN_SANDBOX_RLIMITS |
	       (pid > 0 && WIFEXITED(status) ? (unsigned)WEXITSTATUS(status) : 0);
}

const char *hn_sandbox_print(unsigned layers, char *text, size_t text_bytes)
{
	static const char *const name[] = { "rlimits", "namespaces", "landlock",
					    "seccomp" };
	size_t n = 0;

	snprintf(text, text_bytes, "none");
	for (size_t i = 0; i < HN_COUNT_OF(name) && n < text_bytes; i++) {
		if ((layers & 1u << i) != 0) {
			n += (size_t)snprintf(text + n, text_bytes - n, "%s%s",
					      n > 0 ? " " : "", name[i]);
		}
	}
	return text;
}

#define X32_BIT 0x40000000 /* of an x32 call's number; its audit architecture is x86-64's */

const char *hn_sandbox_call_name(uint32_t arch, int number, char *text, size_t text_bytes)
{
	bool x32 = arch == SCMP_ARCH_X86_64 && (number & X32_BIT) != 0;
	uint32_t from = x32 ? SCMP_ARCH_X32 : arch;
	char *name = seccomp_syscall_resolve_num_arch(from, number);
	bool own = from == seccomp_arch_native();

	snprintf(text, text_bytes, "%s", name != NULL ? name : "");
	if (name == NULL) {
		snprintf(text, text_bytes, "%d", number);
	}
	if (!own) {
		size_t n = strlen(text);

		snprintf(text + n, text_bytes - n, " by %s's interface",
			 x32 ? "x32" : from == SCMP_ARCH_X86 ? "i386" : "another machine");
	}
	free(name);
	return text;
}
