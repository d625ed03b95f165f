/* Tile registers: what the system answers who asks, and what becomes of a kernel that uses them
 * where it has refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/board/child.h"
#include "measure/board/tiles.h"

static bool yes(void)
{
	return true;
}

static bool no(void)
{
	return false;
}

static int grant(void)
{
	return 0;
}

static int refuse(void)
{
	return EPERM;
}

static int never(void)
{
	fail_msg("a machine without tiles was asked");
	return 0;
}

static void the_answer_is_kept(void **state)
{
	static const struct {
		struct hn_tiles_system system;
		enum hn_tiles want;
		int error;
	} rows[] = {
		{ { yes, grant }, HN_TILES_GRANTED, 0 },
		{ { yes, refuse }, HN_TILES_REFUSED, EPERM },
		{ { no, never }, HN_TILES_NONE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char why[200] = "";
		int error = -1;

		assert_int_equal(hn_tiles_ask(&rows[i].system, why, sizeof why),
				 rows[i].want);
		assert_int_equal(hn_tiles_answer(&error), rows[i].want);
		assert_int_equal(error, rows[i].error);
		assert_string_equal(
			why, rows[i].error ? "the system refuses this process the tile "
					     "registers (AMX): Operation not permitted"
					   : "");
	}
}

static void illegal_instruction(void *ctx)
{
	hn_fault_arm(ctx);
	raise(SIGILL);
}

static enum hn_verdict run_illegal(char *text, size_t n)
{
	const struct hn_child_limits limits = { .ns = 5000000000 };
	struct hn_fault_note *note = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct hn_fault_end end = { 0 };
	struct hn_err err = { 0 };

	assert_true(note != MAP_FAILED);
	assert_int_equal(
		hn_child_run(illegal_instruction, note, &limits, note, &end, &err), 0);
	enum hn_verdict v = hn_fault_classify(&end, note, 0, NULL, text, n);

	munmap(note, 4096);
	return v;
}

static void a_kernel_without_permission_is_not_to_blame(void **state)
{
	const struct hn_tiles_system grants = { yes, grant }, refuses = { yes, refuse };
	char why[200], text[300];

	(void)state;
	hn_tiles_ask(&grants, why, sizeof why);
	assert_int_equal(run_illegal(text, sizeof text), HN_VERDICT_ILL);
	hn_tiles_ask(&refuses, why, sizeof why);
	assert_int_equal(run_illegal(text, sizeof text), HN_VERDICT_NO_PERMISSION);
	assert_string_equal(
		text, "illegal instruction: the system refuses tile registers (AMX): "
		      "Operation not permitted");
	assert_false(hn_verdict_blames_kernel(HN_VERDICT_NO_PERMISSION));
}

#if defined(__x86_64__)
/* From here on arch_prctl fails with EACCES, for this process. */
static bool deny_arch_prctl(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof code[0], code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* The true request, under a filter: what a container may do to hone. */
static int request_truly(void)
{
	return syscall(SYS_arch_prctl, 0x1023, 18L) == 0 ? 0 : errno;
}

static void a_filter_that_denies_is_told(void **state)
{
	const struct hn_tiles_system system = { yes, request_truly };
	int status = 0;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		char why[200];
		int error;

		if (!deny_arch_prctl()) {
			_exit(77);
		}
		hn_tiles_ask(&system, why, sizeof why);
		_exit(hn_tiles_answer(&error) == HN_TILES_REFUSED && error == EACCES ? 0
										     : 1);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("no filters here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answer_is_kept),
		cmocka_unit_test(a_kernel_without_permission_is_not_to_blame),
#if defined(__x86_64__)
		cmocka_unit_test(a_filter_that_denies_is_told),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
