/* measure_fake.c -- the fake board by itself, and several of them behind a measurer that
 * drift, flap, stall and vanish while hundreds of candidates are measured.
 *
 * Without noise a candidate's time is one number, so every result can be held against the
 * driver's own: a single one from a bad window would show.  Started under the name
 * "hone-build" this program answers BUILD frames with a proof and no object.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/clock.h"
#include "measure/board/board.h"
#include "measure/measure.h"
#include "tests/lib/builder_main.h"

#define TARGET "fake -isa=fake -num_cores=4"

/* ---- as hone-build ---- */

static void prove(const struct hn_frame *f, int n)
{
	struct hn_frame_build v;
	struct hn_arena a;

	(void)n;
	hn_arena_init(&a, 0);
	if (hn_frame_decode_build(f, &a, &v, NULL) != 0 || !v.no_emit) {
		exit(1);
	}
	builder_answer(f,
		       &(struct hn_frame_built){ .verdict = HN_VERDICT_OK,
						 .build_ns = 1,
						 .prove_ns = 2 },
		       NULL);
	hn_arena_fini(&a);
}

/* ---- the driver by itself ---- */

static const struct hn_board_ops *ops;

static void *open_fake(const char *knobs, uint32_t index)
{
	struct hn_board_place at = {.target = TARGET, .index = index, .incarnation = 1};
	struct hn_err err = {0};
	void *board = NULL;

	setenv("HONE_TEST_HOOKS", "1", 1);
	setenv("HONE_TEST_FAKE", knobs, 1);
	if (ops->open(&at, &board, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return board;
}

static struct hn_board_answer make(void *board)
{
	static const int64_t shape[] = {1000};
	static const struct hn_tensor args[] = {{"A", HN_F32, 1, shape, false, 1000, 4000},
						{"C", HN_F32, 1, shape, true, 1000, 4000}};
	struct hn_board_workload w = {
		.key = "w", .n_tensor = 2, .tensor = args, .need = {.flops = 1e6}};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	ops->workload(board, &w, &a);
	return a;
}

static struct hn_board_answer measure(void *board, const char *steps)
{
	struct hn_board_request r = {
		.key = "w", .kernel = {.object = steps, .object_bytes = strlen(steps)}};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	ops->measure(board, &r, &a);
	return a;
}

static const char *steps_of(int i)
{
	static char text[80];

	snprintf(text, sizeof text, "[[\"SP\",0,%d],[\"RE\",1],[\"AN\",%d]]", i, i % 7);
	return text;
}

static void times_follow_from_the_history(void **state)
{
	void *a = open_fake("seed=3", 0), *b = open_fake("seed=3", 1),
	     *c = open_fake("seed=4", 0);
	struct hn_board_answer one;
	double near, far;

	(void)state;
	assert_int_equal(measure(a, "[]").verdict, HN_VERDICT_NONE);
	one = make(a);
	assert_int_equal(one.verdict, HN_VERDICT_OK);
	/* 100 x (1 us + 1e6 flops at 4 x 64 GFLOP/s + 8000 B at 40 GB/s) */
	assert_float_equal(one.sample_ns[0], 100 * (1000 + 1e6 / 256 + 200), 1e-6);
	make(b);
	make(c);
	for (int i = 0; i < 50; i++) {
		double t = measure(a, steps_of(i)).sample_ns[0];

		assert_true(t == measure(a, steps_of(i)).sample_ns[3]);
		assert_true(t == measure(b, steps_of(i)).sample_ns[0]);
		assert_true(t != measure(c, steps_of(i)).sample_ns[0]);
	}
	near = log(measure(a, "[[1],[2],[3],[4],[5],[6],[7],[9]]").sample_ns[0] /
		   measure(a, "[[1],[2],[3],[4],[5],[6],[7],[8]]").sample_ns[0]);
	far = 4.0 / 8;
	assert_true(near != 0 && fabs(near) <= far);
	ops->close(a);
	ops->close(b);
	ops->close(c);
}

static void noise_and_faults_come_as_told(void **state)
{
	void *b = open_fake("noise=0.01,wrong=0.2,crash=0.1,hang=0.1,flaky=0.1", 0);
	int count[HN_N_VERDICT] = {0};
	struct hn_canary first = {0}, again = {0};

	(void)state;
	make(b);
	for (int i = 0; i < 1000; i++) {
		struct hn_board_answer a = measure(b, steps_of(i));

		count[a.verdict]++;
		assert_int_equal(measure(b, steps_of(i)).verdict, a.verdict);
		assert_int_equal(a.n_sample > 0, a.verdict == HN_VERDICT_OK);
	}
	assert_in_range(count[HN_VERDICT_OK], 440, 560);
	assert_in_range(count[HN_VERDICT_WRONG_RESULT], 150, 250);
	assert_in_range(count[HN_VERDICT_SEGV], 60, 140);
	assert_in_range(count[HN_VERDICT_HANG], 60, 140);
	assert_in_range(count[HN_VERDICT_NONDETERMINISTIC], 60, 140);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(ops->canary(b, &again, NULL), 0);
		first = i == 0 ? again : first;
		assert_true(fabs(again.ns / first.ns - 1) < 0.005 && again.wander == 0);
	}
	ops->close(b);
}

static void unknown_knobs_are_named(void **state)
{
	struct hn_board_place at = {.target = TARGET};
	struct hn_err err = {0};
	void *board;

	(void)state;
	setenv("HONE_TEST_HOOKS", "1", 1);
	setenv("HONE_TEST_FAKE", "seed=1,speed=2", 1);
	assert_int_equal(ops->open(&at, &board, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "'speed=2'"));
	setenv("HONE_TEST_FAKE", "seed=x", 1);
	assert_int_equal(ops->open(&at, &board, &err), -HONE_E_INVALID);
	/* without the hooks the variable means nothing */
	unsetenv("HONE_TEST_HOOKS");
	assert_int_equal(ops->open(&at, &board, &err), 0);
	ops->close(board);
}

/* ---- several, behind a measurer ---- */

static uv_loop_t loop;
static struct hn_measurer *m;
static char dir[64], builder[100];
static double truth[1000]; /* of steps_of(i) */

struct shot {
	int i, *open;
	enum hn_verdict verdict;
	double median_ns;
	char detail[200];
};

static void on_result(void *ctx, const struct hn_measure_result *r)
{
	struct shot *s = ctx;

	s->verdict = r->verdict;
	s->median_ns = r->median_ns;
	snprintf(s->detail, sizeof s->detail, "%.190s", r->detail);
	--*s->open;
}

static void on_tick(uv_timer_t *t)
{
	(void)t;
}

static void wait_for(const int *open)
{
	uv_timer_t tick;

	uv_timer_init(&loop, &tick);
	uv_timer_start(&tick, on_tick, 1, 1);
	while (*open > 0) {
		uv_run(&loop, UV_RUN_ONCE);
	}
	uv_close((uv_handle_t *)&tick, NULL);
	uv_run(&loop, UV_RUN_NOWAIT);
}

static enum hn_verdict start_of(double flops, const char *knobs, uint32_t n_boards)
{
	static const int64_t shape[] = {1000};
	static const struct hn_measure_arg args[] = {{"A", "float32", 1, shape, false},
						     {"C", "float32", 1, shape, true}};
	struct hn_workload w = {.key = "w",
				.dag_json = "{}",
				.n_arg = 2,
				.arg = args,
				.needed_flops = flops};
	struct hn_measurer_config c = {.builder_path = builder,
				       .board_path = HONE_BIN_DIR "/hone-board",
				       .target = TARGET,
				       .n_builders = 2,
				       .run_limit_ms = 100,
				       .board_grace_ms = 200,
				       .back_off_ms = 1,
				       .n_boards = n_boards};
	int open = 1;
	struct shot s = {.open = &open};
	struct hn_err err;

	setenv("HONE_TEST_HOOKS", "1", 1);
	setenv("HONE_TEST_FAKE", knobs, 1);
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(hn_measurer_new(&loop, &c, &m, &err), 0);
	hn_measurer_workload(m, &w, on_result, &s);
	wait_for(&open);
	return s.verdict;
}

static enum hn_verdict start(const char *knobs, uint32_t n_boards)
{
	return start_of(1e6, knobs, n_boards);
}

static void finish(void)
{
	hn_measurer_close(m, NULL, NULL);
	assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
	assert_int_equal(uv_loop_close(&loop), 0);
}

/* Measure candidates [from, to); each must end so. */
static struct shot *all_are(enum hn_verdict verdict, int from, int to)
{
	struct shot *shot = calloc(1000, sizeof *shot);
	int open = to - from;

	assert_non_null(shot);
	for (int i = from; i < to; i++) {
		shot[i] = (struct shot){.i = i, .open = &open};
		hn_measurer_submit(m, "w", steps_of(i), 0, on_result, &shot[i]);
	}
	wait_for(&open);
	for (int i = from; i < to; i++) {
		if (shot[i].verdict != verdict) {
			fail_msg("candidate %d: %s (%s)", i,
				 hn_verdict_name(shot[i].verdict), shot[i].detail);
		}
	}
	return shot;
}

/* ... OK, and take what it takes. */
static void all_are_true(int from, int to)
{
	struct shot *shot = all_are(HN_VERDICT_OK, from, to);

	for (int i = from; i < to; i++) {
		if (shot[i].median_ns != truth[i] || shot[i].detail[0] != '\0') {
			fail_msg("candidate %d: %g ns, expected %g (%s)", i,
				 shot[i].median_ns, truth[i], shot[i].detail);
		}
	}
	free(shot);
}

/* A disturbed moment costs runs, not results; one that lasts is the answer. */
static void noisy_answers_are_asked_for_again(void **state)
{
	struct shot *shot, duel;
	int n_noisy = 0, open = 1;

	(void)state;
	assert_int_equal(start("noisy=1,from=5,to=6", 1), HN_VERDICT_OK);
	all_are_true(0, 60);
	finish();
	/* what stays noisy: a candidate is told with a warning, a duel is not */
	assert_int_equal(start("noisy=0.5", 1), HN_VERDICT_OK);
	shot = all_are(HN_VERDICT_OK, 0, 30);
	for (int i = 0; i < 30; i++) {
		n_noisy += strncmp(shot[i].detail, "NOISY: ", 7) == 0;
		assert_true(shot[i].median_ns == truth[i]);
	}
	free(shot);
	assert_in_range(n_noisy, 5, 25);
	finish();
	assert_int_equal(start("noisy=1", 1), HN_VERDICT_OK);
	duel = (struct shot){.open = &open};
	hn_measurer_duel(m, "w", steps_of(0), steps_of(0), on_result, &duel);
	wait_for(&open);
	assert_int_equal(duel.verdict, HN_VERDICT_NOISY);
	finish();
}

/* What was told with a warning is no answer for the same program later. */
static void warnings_are_not_remembered(void **state)
{
	struct shot one;
	int n_told = 0;

	(void)state;
	assert_int_equal(start("noisy=1,to=8", 1), HN_VERDICT_OK);
	do {
		int open = 1;

		one = (struct shot){.open = &open};
		hn_measurer_submit(m, "w", steps_of(0), 0, on_result, &one);
		wait_for(&open);
		assert_int_equal(one.verdict, HN_VERDICT_OK);
	} while (*one.detail != '\0' && ++n_told < 10);
	assert_in_range(n_told, 1, 9); /* with, then without */
	finish();
}

/* Until every board has measured something: one may still be starting.  Returns the first
 * candidate that is left. */
static int all_boards_work(void)
{
	int next = 0;

	for (uint32_t i = 0; i < hn_measurer_n_boards(m); i++) {
		while (hn_measurer_board(m, i).n_measured == 0) {
			assert_true(next < 600);
			all_are_true(next, next + 30);
			next += 30;
		}
	}
	return next;
}

static void good_boards_share_the_work(void **state)
{
	uint64_t before[3];
	int from;

	(void)state;
	assert_int_equal(start("sleep_ms=1", 3), HN_VERDICT_OK);
	assert_int_equal(hn_measurer_n_boards(m), 3);
	from = all_boards_work();
	for (uint32_t i = 0; i < 3; i++) {
		before[i] = hn_measurer_board(m, i).n_measured;
	}
	all_are_true(from, from + 300);
	for (uint32_t i = 0; i < 3; i++) {
		struct hn_board_state s = hn_measurer_board(m, i);

		assert_true(s.n_measured - before[i] > 30);
		assert_string_equal(s.health, "good");
		assert_true(s.canary_ns > 0 && s.n_quarantine == 0 && s.n_lost == 0);
	}
	finish();
}

static void duel_all(int from, int to)
{
	struct shot *shot = calloc(1000, sizeof *shot);
	int open = to - from;
	char first[80];

	assert_non_null(shot);
	snprintf(first, sizeof first, "%s", steps_of(0));
	for (int i = from; i < to; i++) {
		shot[i] = (struct shot){.i = i, .open = &open};
		hn_measurer_duel(m, "w", steps_of(i), first, on_result, &shot[i]);
	}
	wait_for(&open);
	for (int i = from; i < to; i++) {
		assert_int_equal(shot[i].verdict, HN_VERDICT_OK);
	}
	free(shot);
}

/* Times of two boards do not compare, so the duels of a final go to one. */
static void duels_go_to_one_board(void **state)
{
	uint64_t n;

	(void)state;
	assert_int_equal(start("sleep_ms=1", 2), HN_VERDICT_OK);
	all_boards_work();
	n = hn_measurer_board(m, 1).n_measured;
	duel_all(0, 100);
	assert_int_equal(hn_measurer_board(m, 1).n_measured, n);
	finish();
}

/* Board 1 is 10 % slower for 20 requests: more than there are between two canaries, so one
 * and the next fall into it. */
static void nothing_from_a_bad_window_is_told(void **state)
{
	struct hn_board_state s;

	(void)state;
	assert_int_equal(start("sleep_ms=0.5,only=1,drift=1.1,from=60,to=80", 2),
			 HN_VERDICT_OK);
	all_are_true(0, 400);
	s = hn_measurer_board(m, 1);
	assert_true(s.n_quarantine >= 1);
	for (int i = 0; i < 100 && strcmp(s.health, "good") != 0; i++) {
		usleep(20000); /* it comes back by itself, back-off by back-off */
		uv_run(&loop, UV_RUN_NOWAIT);
		s = hn_measurer_board(m, 1);
	}
	assert_string_equal(s.health, "good");
	all_are_true(400, 500);
	assert_true(hn_measurer_board(m, 1).n_measured > s.n_measured);
	assert_int_equal(hn_measurer_board(m, 0).n_quarantine, 0);
	finish();
}

/* Of runs that take many seconds each one is told as soon as the next canary came, and none is
 * run again and again for a canary's sake: it says that its time is uncertain. */
static void long_runs_are_told_one_by_one(void **state)
{
	uint32_t n_warned = 0, n_true = 0;

	(void)state;
	for (int at = 2; at < 14; at++) {
		struct shot shot[4];
		char knobs[60];
		int open = 4;

		snprintf(knobs, sizeof knobs, "drift=1.1,from=%d,to=%d", at, at + 1);
		assert_int_equal(start_of(1e13, knobs, 1), HN_VERDICT_OK);
		for (int i = 0; i < 4; i++) {
			shot[i] = (struct shot){.i = i, .open = &open};
			hn_measurer_submit(m, "w", steps_of(i), 0, on_result, &shot[i]);
		}
		while (open == 4) {
			uv_run(&loop, UV_RUN_ONCE);
		}
		assert_in_range(hn_measurer_board(m, 0).n_measured, 1, 2);
		wait_for(&open);
		assert_int_equal(hn_measurer_board(m, 0).n_measured, 4);
		for (int i = 0; i < 4; i++) {
			assert_int_equal(shot[i].verdict, HN_VERDICT_OK);
			n_warned += strcmp(shot[i].detail, "NOISY: the board did not hold still") == 0;
			n_true += shot[i].detail[0] == '\0';
		}
		finish();
	}
	assert_int_equal(n_warned + n_true, 12 * 4);
	assert_in_range(n_warned, 3, 12);
}

/* One that takes seconds is not measured once more because something disturbed it, though the next
 * time nothing would. */
static void long_runs_are_not_repeated_for_noise(void **state)
{
	static const double flops[] = {1e6, 1e10};
	uint32_t n_warned[2] = {0, 0};

	(void)state;
	for (int k = 0; k < 2; k++) {
		for (int at = 2; at < 14; at++) {
			struct shot *shot;
			char knobs[60];

			snprintf(knobs, sizeof knobs, "noisy=1,from=%d,to=%d", at, at + 1);
			assert_int_equal(start_of(flops[k], knobs, 1), HN_VERDICT_OK);
			shot = all_are(HN_VERDICT_OK, 0, 4);
			for (int i = 0; i < 4; i++) {
				n_warned[k] += shot[i].detail[0] != '\0';
			}
			free(shot);
			finish();
		}
	}
	assert_int_equal(n_warned[0], 0);
	assert_in_range(n_warned[1], 3, 12);
}

/* Faster, for good: it stays out, and the other does it all. */
static void a_board_that_stays_bad_stays_out(void **state)
{
	uint64_t n;

	(void)state;
	assert_int_equal(start("sleep_ms=0.5,only=0,drift=0.9,from=50", 2), HN_VERDICT_OK);
	all_are_true(0, 300);
	n = hn_measurer_board(m, 0).n_measured;
	assert_string_equal(hn_measurer_board(m, 0).health, "quarantined");
	assert_non_null(strstr(hn_measurer_board(m, 0).why, "10.0 % less"));
	all_are_true(300, 400);
	assert_int_equal(hn_measurer_board(m, 0).n_measured, n);
	finish();
}

static void flapping_is_quarantine_and_comes_back(void **state)
{
	struct hn_board_state s;

	(void)state;
	assert_int_equal(start("sleep_ms=0.5,only=1,lost=7,starts=5", 2), HN_VERDICT_OK);
	all_are_true(0, 500);
	s = hn_measurer_board(m, 1);
	assert_int_equal(s.n_lost, 5);
	assert_int_equal(s.n_quarantine, 3); /* at the third loss and each one after */
	assert_string_equal(s.health, "good");
	finish();
}

static void a_silent_board_is_replaced(void **state)
{
	(void)state;
	assert_int_equal(start("stall=9,starts=1", 1), HN_VERDICT_OK);
	all_are_true(0, 50);
	assert_int_equal(hn_measurer_board(m, 0).n_lost, 1);
	finish();
}

/* No board is left: everybody is told, and why, in bounded time. */
static void nobody_waits_for_ever(void **state)
{
	int open = 30;
	struct shot shot[30];
	int64_t begin;

	(void)state;
	assert_int_equal(start("drift=2,from=8", 2), HN_VERDICT_OK);
	all_are_true(0, 2);
	begin = hn_clock_ns();
	for (int i = 0; i < 30; i++) {
		shot[i] = (struct shot){.i = i, .open = &open};
		hn_measurer_submit(m, "w", steps_of(100 + i), 0, on_result, &shot[i]);
	}
	wait_for(&open);
	assert_true(hn_clock_ns() - begin < INT64_C(20000000000));
	for (int i = 0; i < 30; i++) {
		bool told = shot[i].verdict == HN_VERDICT_OK &&
			    shot[i].median_ns == truth[100 + i];

		if (!told) {
			assert_int_equal(shot[i].verdict, HN_VERDICT_BOARD_LOST);
			assert_non_null(strstr(shot[i].detail, "every board is quarantined"));
		}
	}
	assert_int_equal(shot[29].verdict, HN_VERDICT_BOARD_LOST);
	finish();
}

static void on_probe(void *ctx, enum hn_verdict v, const struct hn_probe_result *r)
{
	assert_int_equal(v, HN_VERDICT_OK);
	assert_float_equal(r->fma_gflops_all, 256, 1e-9);
	--*(int *)ctx;
}

static void every_board_is_probed(void **state)
{
	int open = 2;

	(void)state;
	assert_int_equal(start("", 3), HN_VERDICT_OK);
	hn_measurer_probe(m, on_probe, &open);
	hn_measurer_probe(m, on_probe, &open);
	wait_for(&open);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(hn_measurer_board(m, i).probed);
		assert_float_equal(hn_measurer_board(m, i).probe.fma_gflops_one, 64, 1e-9);
	}
	finish();
}

static int set_up(void **state)
{
	char self[300] = "";
	void *b;

	(void)state;
	strcpy(dir, "/tmp/hone-fake-XXXXXX");
	if (access(HONE_BIN_DIR "/hone-board", X_OK) != 0 || mkdtemp(dir) == NULL) {
		exit(77);
	}
	snprintf(builder, sizeof builder, "%s/hone-build", dir);
	assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
	assert_int_equal(symlink(self, builder), 0);
	ops = hn_board_of(TARGET);
	assert_non_null(ops);
	assert_int_equal(hn_board_takes(TARGET), HN_BOARD_TAKES_STEPS);
	assert_int_equal(hn_board_takes("cpu -isa=x"), HN_BOARD_TAKES_OBJECT);
	b = open_fake("", 0);
	make(b);
	for (int i = 0; i < 1000; i++) {
		truth[i] = measure(b, steps_of(i)).sample_ns[0];
	}
	ops->close(b);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(builder);
	return rmdir(dir);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_follow_from_the_history),
		cmocka_unit_test(noise_and_faults_come_as_told),
		cmocka_unit_test(unknown_knobs_are_named),
		cmocka_unit_test(noisy_answers_are_asked_for_again),
		cmocka_unit_test(warnings_are_not_remembered),
		cmocka_unit_test(good_boards_share_the_work),
		cmocka_unit_test(duels_go_to_one_board),
		cmocka_unit_test(nothing_from_a_bad_window_is_told),
		cmocka_unit_test(long_runs_are_told_one_by_one),
		cmocka_unit_test(long_runs_are_not_repeated_for_noise),
		cmocka_unit_test(a_board_that_stays_bad_stays_out),
		cmocka_unit_test(flapping_is_quarantine_and_comes_back),
		cmocka_unit_test(a_silent_board_is_replaced),
		cmocka_unit_test(nobody_waits_for_ever),
		cmocka_unit_test(every_board_is_probed),
	};

	signal(SIGPIPE, SIG_IGN);
	if (argc > 0 && strstr(argv[0], "/hone-build") != NULL) {
		return builder_main(prove);
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
