/* measure_measurer.c -- the whole pipeline: a real hone-board, and this program as
 * hone-build (measurer_bed.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>

#include "tests/lib/measurer_bed.h"

static int child_named(const char *name)
{
	int pid[64], n = children(pid, 64);

	for (int i = 0; i < n; i++) {
		char path[64], comm[64] = "";
		FILE *f;

		snprintf(path, sizeof path, "/proc/%d/comm", pid[i]);
		f = fopen(path, "r");
		if (f != NULL) {
			if (fscanf(f, "%60s", comm) == 1 && strcmp(comm, name) == 0) {
				fclose(f);
				return pid[i];
			}
			fclose(f);
		}
	}
	return 0;
}

static void unknown_workloads_are_told(void **state)
{
	(void)state;
	assert_int_equal(run("[\"good\"]").verdict, HN_VERDICT_BOARD_LOST);
}

static void good_and_bad_candidates(void **state)
{
	struct waiting w;

	(void)state;
	make_workload("w", &w);
	if (w.verdict != HN_VERDICT_OK) {
		fail_msg("%s", w.detail);
	}
	assert_true(w.median_ns > 0);
	/* planted: the first two candidates are not what they say */
	assert_int_equal(run("[\"good\"]").verdict, HN_VERDICT_ILLEGAL);
	assert_int_equal(run("[\"good\"]").verdict, HN_VERDICT_SEGV);
	w = run("[\"good\"]");
	assert_int_equal(w.verdict, HN_VERDICT_OK);
	assert_true(w.n_sample >= 3 && w.median_ns > 0);
	assert_int_equal(w.build_ns, 5);
	assert_string_equal(w.codegen, "test/LLVM 1.2");
	assert_int_equal(run("[\"null\"]").verdict, HN_VERDICT_SEGV);
	assert_int_equal(run("[\"past\"]").verdict, HN_VERDICT_SEGV_GUARD);
	w = run("[\"wrong\"]");
	assert_int_equal(w.verdict, HN_VERDICT_WRONG_RESULT);
	assert_non_null(strstr(w.detail, "1003 of 1003"));
	assert_int_equal(run("[\"hang\"]").verdict, HN_VERDICT_HANG);
	w = run("[\"illegal\"]");
	assert_int_equal(w.verdict, HN_VERDICT_ILLEGAL);
	assert_string_equal(w.detail, "loop i carries a dependence");
	assert_string_equal(w.codegen, "");
	assert_int_equal(run("[\"+good\"]").verdict, HN_VERDICT_OK);
}

static void same_bytes_are_measured_once(void **state)
{
	struct waiting first = run("[\"good\"]"), again = run("[\"good\", 2]");
	int64_t begin = hn_clock_ns();

	(void)state;
	assert_true(first.median_ns == again.median_ns);
	assert_int_equal(run("[\"hang\", 2]").verdict, HN_VERDICT_HANG);
	assert_true(hn_clock_ns() - begin < 250000000); /* the limit is 300 ms */
}

/* A final's duels: each a fresh run of pairs, of objects built once. */
static void duels_run_anew(void **state)
{
	struct waiting w;

	(void)state;
	for (int i = 0; i < 3; i++) {
		w = undisturbed("[\"+good\", \"duel\"]", "[\"good\", \"rival\"]");
		assert_int_equal(w.verdict, HN_VERDICT_OK);
		assert_true(w.pairs);
		assert_in_range(w.n_sample, 1, HN_PAIRS); /* fewer on a busy machine */
		assert_true(w.kernel_ns > 0);
		assert_true(w.build_ns == 0 || (i == 0 && w.build_ns == 5));
	}
	/* also what is known: a candidate of the same bytes is not run again */
	assert_int_equal(run("[\"good\", \"candidate\"]").verdict, HN_VERDICT_OK);
	w = run("[\"good\", \"candidate\"]");
	assert_true(w.kernel_ns == 0 && !w.pairs);
	w = undisturbed("[\"good\", \"candidate\"]", "[\"good\", \"candidate\"]");
	assert_int_equal(w.verdict, HN_VERDICT_OK);
	assert_true(w.kernel_ns > 0);
	assert_true(hn_measurer_board(m, 0).canary_ns > 0);
}

/* Whoever it is that fails, built or run, as holder or as rival, is named. */
static void duels_name_who_failed(void **state)
{
	static const struct {
		const char *steps;
		enum hn_verdict verdict;
	} bad[] = {{"[\"null\"]", HN_VERDICT_SEGV},
		   {"[\"wrong\"]", HN_VERDICT_WRONG_RESULT},
		   {"[\"illegal\"]", HN_VERDICT_ILLEGAL}};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		struct waiting w = undisturbed("[\"good\", \"rival\"]", bad[i].steps);

		assert_int_equal(w.verdict, bad[i].verdict);
		assert_true(w.rivals);
		w = undisturbed(bad[i].steps, "[\"good\", \"rival\"]");
		assert_int_equal(w.verdict, bad[i].verdict);
		assert_false(w.rivals);
	}
}

static void builders_may_break(void **state)
{
	int64_t begin = hn_clock_ns();

	(void)state;
	struct waiting w = run("[\"stall\"]");

	assert_int_equal(w.verdict, HN_VERDICT_BUILD_TIMEOUT);
	assert_true(hn_clock_ns() - begin < 2500000000);
	w = run("[\"die\"]");
	assert_int_equal(w.verdict, HN_VERDICT_BUILD_FAIL);
	assert_string_equal(w.codegen, "test/LLVM 1.2"); /* what others used */
	assert_int_equal(run("[\"babble\"]").verdict, HN_VERDICT_BUILD_FAIL);
	assert_int_equal(run("[\"lie\"]").verdict, HN_VERDICT_BUILD_FAIL);
	assert_int_equal(run("[\"quits\"]").verdict, HN_VERDICT_BUILD_FAIL);
	assert_int_equal(run("[\"spin\"]").verdict, HN_VERDICT_BUILD_TIMEOUT);
	assert_int_equal(run("[\"+good\"]").verdict, HN_VERDICT_OK);
}

/* That somebody kills them, or stops them, is no candidate's fault. */
static void builders_may_be_lost(void **state)
{
	struct waiting w = run("[\"killed\"]");

	(void)state;
	assert_int_equal(w.verdict, HN_VERDICT_BUILDER_LOST);
	assert_non_null(strstr(w.detail, "was lost 5 times"));
	w = run("[\"stopped\"]");
	assert_int_equal(w.verdict, HN_VERDICT_BUILDER_LOST);
	assert_non_null(strstr(w.detail, "stopped from outside"));
	assert_false(hn_verdict_blames_kernel(w.verdict));
	assert_int_equal(run("[\"+good\"]").verdict, HN_VERDICT_OK);
}

/* honed itself may be stopped while answers arrive. */
static void answers_that_wait_are_read(void **state)
{
	struct waiting w = { .open = 1 };
	int pid = getpid();

	(void)state;
	hn_measurer_submit(m, "w", "[\"+good\", 5]", 0, on_result, &w);
	run_for_ms(1);
	if (fork() == 0) {
		sleep(3); /* beyond the limit of a build here */
		kill(pid, SIGCONT);
		_exit(0);
	}
	kill(pid, SIGSTOP);
	wait_for(&w);
	assert_true(w.verdict == HN_VERDICT_OK);
	while (waitpid(-1, NULL, WNOHANG) > 0) {
	}
}

static void the_board_may_die(void **state)
{
	struct waiting w = { .open = 1 };
	int pid = child_named("hone-board");

	(void)state;
	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(run("[\"+good\"]").verdict, HN_VERDICT_OK);
	/* now in the middle of a run */
	hn_measurer_submit(m, "w", "[\"hang\", \"again\"]", 0, on_result, &w);
	hn_measurer_cancel(m, &w);
	wait_for(&w);
	assert_int_equal(w.verdict, HN_VERDICT_CANCELLED);
	pid = child_named("hone-board");
	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(run("[\"+null\"]").verdict, HN_VERDICT_SEGV);
	assert_int_equal(run("[\"+good\"]").verdict, HN_VERDICT_OK);
}

static void on_probe(void *ctx, enum hn_verdict v, const struct hn_probe_result *r)
{
	struct waiting *w = ctx;

	w->open--;
	w->verdict = v;
	w->median_ns = r->fma_gflops_all;
	assert_true(v != HN_VERDICT_OK ||
		    (r->fma_gflops_one > 0.5 && r->memory_gb_s > 0.1));
}

static void probes_are_answered_from_memory(void **state)
{
	struct waiting a = { .open = 1 }, b = { .open = 1 };
	int64_t begin;

	(void)state;
	hn_measurer_probe(m, on_probe, &a);
	wait_for(&a);
	begin = hn_clock_ns();
	hn_measurer_probe(m, on_probe, &b);
	wait_for(&b);
	assert_int_equal(a.verdict, HN_VERDICT_OK);
	assert_true(a.median_ns == b.median_ns && hn_clock_ns() - begin < 50000000);
}

static void many_at_once_leave_nothing_behind(void **state)
{
	struct waiting w = { .open = 1 };
	int pid[64], fds, n_children;
	int64_t begin = hn_clock_ns();
	static const char *const mix[] = { "[\"+good\"]", "[\"+good\"]", "[\"+wrong\"]",
					   "[\"+null\"]" };

	(void)state;
	hn_measurer_submit(m, "w", "[\"+good\"]", 0, on_result, &w);
	wait_for(&w);
	run_for_ms(500);
	fds = count_fds();
	n_children = children(pid, 64);
	w = (struct waiting){ .open = 200 };
	for (int i = 0; i < 200; i++) {
		hn_measurer_submit(m, "w", mix[i % 4], 1, on_result, &w);
	}
	wait_for(&w);
	assert_int_equal(w.count[HN_VERDICT_OK], 100);
	assert_int_equal(w.count[HN_VERDICT_WRONG_RESULT], 50);
	assert_int_equal(w.count[HN_VERDICT_SEGV], 50);
	print_message("%.0f trials/s through the pipeline (no compiler)\n",
		      200e9 / (double)(hn_clock_ns() - begin));
	nothing_stays_behind(fds, n_children);
}

static void cancelling_answers_all(void **state)
{
	struct waiting keep = { .open = 3 }, drop = { .open = 30 };

	(void)state;
	for (int i = 0; i < 30; i++) {
		if (i % 10 == 0) {
			hn_measurer_submit(m, "w", "[\"+good\"]", 1, on_result, &keep);
		}
		hn_measurer_submit(m, "w", i % 2 ? "[\"stall\"]" : "[\"+good\"]", 1,
				   on_result, &drop);
	}
	hn_measurer_cancel(m, &drop);
	assert_int_equal(drop.open, 30); /* never from inside the call */
	wait_for(&drop);
	assert_int_equal(drop.count[HN_VERDICT_CANCELLED], 30);
	wait_for(&keep);
	assert_int_equal(keep.count[HN_VERDICT_OK], 3);
}

/* Of two callers one may forget; the last one's leaving lets go of it, once nothing of it is
 * under way. */
static void a_workload_goes_with_its_last_caller(void **state)
{
	struct waiting w, late = { .open = 4 };

	(void)state;
	make_workload("v", &w);
	make_workload("v", &w);
	assert_int_equal(w.verdict, HN_VERDICT_OK);
	hn_measurer_forget(m, "v");
	for (int i = 0; i < 4; i++) {
		hn_measurer_submit(m, "v", "[\"+good\"]", 0, on_result, &late);
	}
	run_for_ms(20);
	hn_measurer_forget(m, "v");
	wait_for(&late);
	assert_int_equal(late.count[HN_VERDICT_OK], 4);
	w = (struct waiting){ .open = 1 };
	hn_measurer_submit(m, "v", "[\"good\"]", 0, on_result, &w);
	wait_for(&w);
	assert_int_equal(w.verdict, HN_VERDICT_BOARD_LOST);
	assert_non_null(strstr(w.detail, "not known"));
	hn_measurer_forget(m, "v"); /* nobody knows it: nothing happens */
	make_workload("v", &w);
	assert_int_equal(w.verdict, HN_VERDICT_OK);
	/* given up while the board makes it: its answer finds the workload there */
	for (int i = 0; i < 8; i++) {
		w = (struct waiting){ .open = 1 };
		hn_measurer_submit(m, "v", "[\"+good\"]", 0, on_result, &w);
		run_for_ms(2 * i);
		hn_measurer_cancel(m, &w);
		hn_measurer_forget(m, "v");
		wait_for(&w);
		make_workload("v", &w);
		assert_int_equal(w.verdict, HN_VERDICT_OK);
	}
}

static void closing_answers_and_reaps_all(void **state)
{
	struct waiting w = { .open = 5 };
	int pid[64];

	(void)state;
	for (int i = 0; i < 5; i++) {
		hn_measurer_submit(m, "w", "[\"stall\"]", 0, on_result, &w);
	}
	hn_measurer_close(m, on_closed, NULL);
	assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
	assert_true(is_closed);
	assert_int_equal(w.count[HN_VERDICT_CANCELLED], 5);
	assert_int_equal(children(pid, 64), 0);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static void missing_programs_are_named(void **state)
{
	struct hn_measurer_config c = { .builder_path = "/nowhere/hone-build",
					.board_path = HONE_BIN_DIR "/hone-board",
					.target = "cpu" };
	struct hn_measurer *none;
	struct hn_err err;

	(void)state;
	assert_int_equal(hn_measurer_new(&loop, &c, &none, &err), -HONE_E_NOT_FOUND);
	assert_non_null(strstr(err.msg, "/nowhere/hone-build"));
}

static int start_planted(void **state)
{
	(void)state;
	return start("illegal,null", 1500);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_programs_are_named),
		cmocka_unit_test(unknown_workloads_are_told),
		cmocka_unit_test(good_and_bad_candidates),
		cmocka_unit_test(same_bytes_are_measured_once),
		cmocka_unit_test(duels_run_anew),
		cmocka_unit_test(duels_name_who_failed),
		cmocka_unit_test(builders_may_break),
		cmocka_unit_test(builders_may_be_lost),
		cmocka_unit_test(answers_that_wait_are_read),
		cmocka_unit_test(the_board_may_die),
		cmocka_unit_test(probes_are_answered_from_memory),
		cmocka_unit_test(many_at_once_leave_nothing_behind),
		cmocka_unit_test(cancelling_answers_all),
		cmocka_unit_test(a_workload_goes_with_its_last_caller),
		cmocka_unit_test(closing_answers_and_reaps_all),
	};

	signal(SIGPIPE, SIG_IGN); /* as honed does: workers die while written to */
	if (argc > 0 && strstr(argv[0], "/hone-build") != NULL) {
		return builder_main(build);
	}
	return cmocka_run_group_tests(tests, start_planted, stop);
}
