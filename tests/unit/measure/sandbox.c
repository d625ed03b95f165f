/* measure_sandbox.c -- each layer alone keeps what it says it keeps; a machine without a
 * layer is told apart, not passed over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "base/cdefs.h"
#include "measure/board/sandbox.h"

#define NO_LAYER 99

/* Run `body` in a child that first enters `layer`; its result, or NO_LAYER. */
static int within(unsigned layer, int (*body)(int arg), int arg)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		unsigned in_force;

		signal(SIGSYS, SIG_DFL); /* cmocka's handler would say it otherwise */
		in_force = layer == HN_SANDBOX_NAMESPACES
				   ? hn_sandbox_enter_process(layer)
				   : hn_sandbox_enter_kernel(layer);

		_exit(in_force == layer ? body(arg) : NO_LAYER);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static bool missing(int result, const char *layer)
{
	if (result == NO_LAYER) {
		print_message("this machine has no %s: not tested\n", layer);
	}
	return result == NO_LAYER;
}

static int open_there(int arg)
{
	(void)arg;
	return open("/proc/self/status", O_RDONLY) >= 0 ? 0 : errno;
}

static int create_there(int arg)
{
	(void)arg;
	return open("/tmp/hone-sandbox-test", O_CREAT | O_WRONLY, 0600) >= 0 ? 0 : errno;
}

static int write_to(int fd)
{
	return write(fd, "x", 1) == 1 ? 0 : errno;
}

static void landlock_keeps_paths(void **state)
{
	int result = within(HN_SANDBOX_LANDLOCK, open_there, 0), fd[2];

	(void)state;
	assert_int_equal(open_there(0), 0);
	if (missing(result, "Landlock")) {
		return;
	}
	assert_int_equal(result, EACCES);
	assert_int_equal(within(HN_SANDBOX_LANDLOCK, create_there, 0), EACCES);
	assert_int_equal(access("/tmp/hone-sandbox-test", F_OK), -1);
	/* what is open stays usable: the report and the frames need no path */
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(within(HN_SANDBOX_LANDLOCK, write_to, fd[1]), 0);
	close(fd[0]);
	close(fd[1]);
}

static int connect_to(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0 ? 0 : errno;
}

static void namespaces_keep_the_network(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM, 0), result;

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&at, n), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
	assert_int_equal(connect_to(ntohs(at.sin_port)), 0);
	result = within(HN_SANDBOX_NAMESPACES, connect_to, ntohs(at.sin_port));
	if (!missing(result, "user namespaces")) {
		assert_int_equal(result, ENETUNREACH);
	}
	close(fd);
}

static int fork_there(int arg)
{
	(void)arg;
	return fork() >= 0 ? 0 : errno;
}

static int compute(int arg)
{
	char *p = malloc(1 << 22);

	if (p == NULL) {
		return 1;
	}
	memset(p, arg, 1 << 22);
	arg = p[12345];
	free(p);
	return arg;
}

static void seccomp_keeps_all_but_computing(void **state)
{
	int result = within(HN_SANDBOX_SECCOMP, compute, 7);

	(void)state;
	if (missing(result, "seccomp")) {
		return;
	}
	assert_int_equal(result, 7);
	assert_int_equal(within(HN_SANDBOX_SECCOMP, fork_there, 0), -SIGSYS);
	assert_int_equal(within(HN_SANDBOX_SECCOMP, open_there, 0), -SIGSYS);
}

static int wait_by_themselves(void *arg)
{
	(void)arg;
	for (;;) {
		pause();
	}
	return 0;
}

/* Whoever makes the call dies with all of its threads: no other is left to be waited for. */
static int call_there(int which)
{
	long r = 0;

	switch (which) {
#if defined(__x86_64__)
	case 0: /* getpid by i386's interface */
		__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory");
		break;
	case 1: /* getpid by x32's */
		__asm__ volatile("syscall"
				 : "=a"(r)
				 : "a"(0x40000000 + 39)
				 : "rcx", "r11", "memory");
		break;
#endif
	case 2: /* this thread alone ends, the others stay */
		r = syscall(SYS_exit, 0);
		break;
	case 3: /* as if somebody had killed it, or stopped it */
		r = syscall(SYS_tgkill, getpid(), gettid(), SIGKILL);
		break;
	case 4:
		r = syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP);
		break;
	}
	return (int)(r & 1);
}

static void seccomp_leaves_no_thread_behind(void **state)
{
	static const char *const by[] = { "i386", "x32", "exit", "kill", "stop" };

	(void)state;
	for (int i = 0; i < (int)HN_COUNT_OF(by); i++) {
		pid_t pid = fork();
		int status = 0, n = 0;

		assert_true(pid >= 0);
		if (pid == 0) {
			thrd_t other;

			signal(SIGSYS, SIG_DFL);
			if (thrd_create(&other, wait_by_themselves, NULL) != thrd_success ||
			    hn_sandbox_enter_kernel(HN_SANDBOX_SECCOMP) == 0) {
				_exit(NO_LAYER);
			}
			_exit(call_there(i));
		}
		while (waitpid(pid, &status, WNOHANG | WUNTRACED) == 0 && n++ < 5000) {
			usleep(1000);
		}
		kill(pid, SIGKILL);
		if (n > 5000 || WIFSTOPPED(status)) {
			waitpid(pid, NULL, 0);
			fail_msg("%s: its other thread stayed", by[i]);
		}
		if (WIFEXITED(status) && WEXITSTATUS(status) == NO_LAYER) {
			print_message("this machine has no seccomp: not tested\n");
			return;
		}
#if defined(__x86_64__)
		/* SIGSEGV: a machine without i386's interface */
		assert_true(WIFSIGNALED(status) && (WTERMSIG(status) == SIGSYS ||
						    (i == 0 && WTERMSIG(status) == SIGSEGV)));
#endif
	}
}

static void words(void **state)
{
	char text[64], small[8];

	(void)state;
	assert_string_equal(hn_sandbox_print(0, text, sizeof text), "none");
	assert_string_equal(hn_sandbox_print(HN_SANDBOX_ALL, text, sizeof text),
			    "rlimits namespaces landlock seccomp");
	assert_string_equal(hn_sandbox_print(HN_SANDBOX_SECCOMP, text, sizeof text),
			    "seccomp");
	assert_string_equal(hn_sandbox_print(HN_SANDBOX_ALL, small, sizeof small),
			    "rlimits");
	assert_string_equal(hn_sandbox_call_name(AUDIT_ARCH_I386, 20, text, sizeof text),
			    "getpid by i386's interface");
#if defined(__x86_64__)
	assert_string_equal(hn_sandbox_call_name(AUDIT_ARCH_X86_64, 123456, text, sizeof text),
			    "123456");
	assert_string_equal(hn_sandbox_call_name(AUDIT_ARCH_X86_64, 0x40000000 + 39, text,
						 sizeof text),
			    "getpid by x32's interface");
#endif
	assert_true((hn_sandbox_try() & HN_SANDBOX_RLIMITS) != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(landlock_keeps_paths),
		cmocka_unit_test(namespaces_keep_the_network),
		cmocka_unit_test(seccomp_keeps_all_but_computing),
		cmocka_unit_test(seccomp_leaves_no_thread_behind),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
