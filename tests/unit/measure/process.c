/* measure_process.c -- the evidence about a process that does not answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/process.h"

#define SECOND INT64_C(1000000000)

static pid_t start(bool spins)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0) {
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!spins) {
		pause();
	}
	for (;;) {
		__asm__ volatile("");
	}
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void who_computes_is_told_by_its_time(void **state)
{
	pid_t pid = start(true);
	int64_t cpu;

	(void)state;
	while ((cpu = hn_process_cpu_ns(pid)) < SECOND / 20) {
		usleep(1000);
	}
	assert_true(cpu < SECOND * 60);
	assert_int_equal(hn_process_overrun(pid, cpu, cpu), HN_OVERRUN_OWN);
	assert_int_equal(hn_process_overrun(pid, cpu, 2 * cpu), HN_OVERRUN_OWN);
	assert_int_equal(hn_process_overrun(pid, cpu, 3 * cpu), HN_OVERRUN_STARVED);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	assert_int_equal(hn_process_overrun(pid, cpu, 3 * cpu), HN_OVERRUN_STOPPED);
	assert_int_equal(hn_process_overrun(pid, cpu, cpu), HN_OVERRUN_OWN);
	assert_int_equal(kill(pid, SIGCONT), 0);
	end(pid);
	assert_int_equal(hn_process_cpu_ns(pid), 0);
}

static void who_sleeps_does_so_by_itself(void **state)
{
	pid_t pid = start(false);

	(void)state;
	usleep(50000);
	assert_int_equal(hn_process_overrun(pid, 0, SECOND), HN_OVERRUN_OWN);
	end(pid);
}

/* A process that waits for a child, whose pid it tells. */
static pid_t start_family(bool spins, pid_t *child)
{
	int tell[2];
	pid_t pid;

	assert_int_equal(pipe(tell), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pid = start(spins);
		_exit(write(tell[1], &pid, sizeof pid) != sizeof pid ||
		      waitpid(pid, NULL, 0) != pid);
	}
	assert_int_equal(read(tell[0], child, sizeof *child), sizeof *child);
	close(tell[0]);
	close(tell[1]);
	return pid;
}

static void who_waits_is_told_by_its_child(void **state)
{
	pid_t child, pid = start_family(true, &child);
	int64_t cpu;

	(void)state;
	while ((cpu = hn_process_cpu_ns(child)) < SECOND / 20) {
		usleep(1000);
	}
	assert_int_equal(hn_process_overrun(pid, 0, SECOND * 3600), HN_OVERRUN_STARVED);
	assert_int_equal(hn_process_overrun(pid, 0, cpu), HN_OVERRUN_OWN);
	assert_int_equal(kill(child, SIGSTOP), 0);
	while (hn_process_overrun(pid, 0, SECOND * 3600) != HN_OVERRUN_STOPPED) {
		usleep(1000);
	}
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);

	pid = start_family(false, &child);
	usleep(50000);
	assert_int_equal(hn_process_overrun(pid, 0, SECOND), HN_OVERRUN_OWN);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void the_expendable_are_known_to_the_system(void **state)
{
	pid_t pid = start(false);
	char path[64];
	int adjusted = 0;
	FILE *f;

	(void)state;
	hn_process_expendable(pid);
	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", pid);
	f = fopen(path, "r");
	if (f == NULL) {
		end(pid);
		print_message("%s is not there: this kernel has no out-of-memory killer to tell\n",
			      path);
		skip();
	}
	assert_int_equal(fscanf(f, "%d", &adjusted), 1);
	fclose(f);
	assert_int_equal(adjusted, 1000);
	end(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_computes_is_told_by_its_time),
		cmocka_unit_test(who_sleeps_does_so_by_itself),
		cmocka_unit_test(who_waits_is_told_by_its_child),
		cmocka_unit_test(the_expendable_are_known_to_the_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
