/* measure_cold.c -- measuring with cold caches: what is flushed, in which order calls and
 * flushes come, and that boards do so.  Nothing here is judged by how long it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "measure/board/board.h"
#include "measure/board/child.h"
#include "measure/board/flush.h"
#include "tests/lib/measure_cc.h"
#include "tests/lib/disturbances.h"

/* Whole lines, however a range lies, and nothing of what it holds is lost. */
static void lines_are_counted_and_kept(void **state)
{
	static _Alignas(64) uint8_t memory[4096];
	static const struct {
		size_t at, bytes, lines;
	} row[] = { { 0, 0, 0 },    { 0, 1, 1 },    { 0, 64, 1 },   { 0, 65, 2 },
		    { 63, 1, 1 },   { 63, 2, 2 },   { 1, 128, 3 },  { 32, 96, 2 },
		    { 7, 4000, 63 } };
	struct hn_flush_range all[HN_COUNT_OF(row)];
	size_t sum = 0;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		all[i] = (struct hn_flush_range){ memory + row[i].at, row[i].bytes };
		memset(memory, (int)i + 1, sizeof memory);
		assert_int_equal(hn_flush(&all[i], 1), row[i].lines);
		sum += row[i].lines;
		for (size_t k = 0; k < sizeof memory; k++) {
			assert_int_equal(memory[k], i + 1);
		}
	}
	assert_int_equal(hn_flush(all, HN_COUNT_OF(all)), sum);
	assert_int_equal(hn_flush(&(struct hn_flush_range){ NULL, 0 }, 1), 0);
}

static void sealed_memory_can_be_flushed(void **state)
{
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			     -1, 0);

	(void)state;
	assert_true(page != MAP_FAILED);
	page[100] = 7;
	assert_int_equal(mprotect(page, 4096, PROT_READ), 0);
	assert_int_equal(hn_flush(&(struct hn_flush_range){ page, 4096 }, 1), 64);
	assert_int_equal(page[100], 7);
	munmap(page, 4096);
}

/* ---- order ---- */

static char order[2000];
static uint32_t n_order;

static void note(char c)
{
	if (n_order < sizeof order) {
		order[n_order++] = c;
	}
}

static void last_for(int64_t ns)
{
	int64_t end = hn_clock_ns() + ns;

	while (hn_clock_ns() < end) {
	}
}

struct work {
	int64_t ns;
	char name;
};

static void call(void *ctx)
{
	const struct work *w = ctx;

	note(w->name);
	last_for(w->ns);
}

#define CHILL_NS 200000

static void chill(void *ctx)
{
	note((char)(((const struct work *)ctx)->name + 'a' - 'A'));
	last_for(CHILL_NS);
}

/* A sample is one call, however short, and behind a chill of its own; what chilling takes is
 * nowhere in the figures. */
static void each_sample_is_one_call_behind_a_chill(void **state)
{
	struct work a = { 2000, 'A' };
	struct hn_timing_plan plan = { .first_ns = 2000, .budget_ns = 1e9,
					.disturbances = calm, .chill = chill };
	int64_t begin = hn_clock_ns();
	struct hn_timing t;

	(void)state;
	n_order = 0;
	hn_timing_run(call, &a, &plan, &t);
	assert_true(t.n >= 3);
	assert_int_equal(n_order, 2 * t.n_taken);
	for (uint32_t i = 0; i < n_order; i++) {
		assert_int_equal(order[i], i % 2 == 0 ? 'a' : 'A');
	}
	assert_true(t.spent_ns + (double)t.n_taken * CHILL_NS <=
		    (double)(hn_clock_ns() - begin));
	/* what looks hopeless is looked at again as cold, and left */
	n_order = 0;
	plan.best_ns = 100;
	hn_timing_run(call, &a, &plan, &t);
	assert_int_equal(t.n, 1);
	assert_int_equal(n_order, 4);
	assert_memory_equal(order, "aAaA", 4);
}

/* No call warms anything: A B, B A, each behind its own chill. */
static void duels_are_cold_too(void **state)
{
	struct work a = { 2000, 'A' }, b = { 2000, 'B' };
	void *const ctx[2] = { &a, &b };
	struct hn_pairs_plan plan = { .first_ns = { 2000, 2000 }, .budget_ns = 1e9,
				       .disturbances = calm, .chill = chill };
	struct hn_pairs p;

	(void)state;
	n_order = 0;
	hn_pairs_run(call, ctx, &plan, &p);
	assert_int_equal(p.n, HN_PAIRS);
	assert_int_equal(n_order, 4 * HN_PAIRS);
	assert_memory_equal(order, "aAbBbBaAaAbB", 12);
	assert_true(p.spent_ns >= 2 * HN_PAIRS * 2000);
}

/* ---- boards ---- */

#define N 1003

/* Its calls are counted, and from the 600th on it fails: 256 samples, as many disturbed ones and
 * a few more calls are below that, samples of a millisecond are not. */
static const char kernels[] =
	"#include <stdint.h>\n"
	CC_KEPT
	"#define runs (*kept())\n"
	"int32_t twice_packed(void *const *args, const void *env) {\n"
	" const float *A = args[0]; float *C = args[1];\n"
	" for (int i = 0; i < 1003; i++) C[i] = 2 * A[i];\n"
	" return runs++ < 600 ? 0 : 7; }\n";

static struct hn_buf object;

static struct hn_board_kernel kernel(void)
{
	return (struct hn_board_kernel){ .object = object.s,
					 .object_bytes = object.n,
					 .symbol = "twice",
					 .shared_bytes = 100,
					 .limit_ms = 5000 };
}

static struct hn_board_answer make(const struct hn_board_ops *ops, void *board, const char *key,
				   bool cold)
{
	static const int64_t shape[] = { N };
	static const struct hn_tensor args[] = {
		{ "A", HN_F32, 1, shape, false, N, N * 4 },
		{ "C", HN_F32, 1, shape, true, N, N * 4 },
	};
	struct hn_board_workload w = { .key = key,
				       .n_tensor = 2,
				       .tensor = args,
				       .seed = 1,
				       .cold = cold,
				       .naive = kernel() };
	struct hn_board_answer a = { .verdict = HN_VERDICT_NONE };

	ops->workload(board, &w, &a);
	return a;
}

static void the_cpu_board_calls_once_a_sample(void **state)
{
	const struct hn_board_ops *ops = hn_board_of("cpu");
	struct hn_board_request r = { .key = "cold", .kernel = kernel() };
	struct hn_board_answer a;
	struct hn_err err;
	void *board;

	(void)state;
	assert_int_equal(ops->open(&(struct hn_board_place){ .target = "cpu" }, &board, &err), 0);
	assert_int_equal(make(ops, board, "cold", true).verdict, HN_VERDICT_OK);
	assert_int_equal(make(ops, board, "warm", false).verdict, HN_VERDICT_OK);
	r.kernel = kernel();
	ops->measure(board, &r, &a);
	assert_true(a.verdict == HN_VERDICT_OK || a.verdict == HN_VERDICT_NOISY);
	assert_true(a.n_sample >= 1);
	r.rival = kernel();
	ops->measure(board, &r, &a);
	assert_true(a.verdict == HN_VERDICT_OK || a.verdict == HN_VERDICT_NOISY);
	r.key = "warm";
	r.rival.object = NULL;
	/* a machine with much to do calls it once a sample now and then */
	for (int i = 0; i < 10 && a.verdict != HN_VERDICT_WRONG_RESULT; i++) {
		ops->measure(board, &r, &a);
	}
	assert_int_equal(a.verdict, HN_VERDICT_WRONG_RESULT);
	assert_non_null(strstr(a.detail, "unknown code"));
	ops->close(board);
}

/* 8024 bytes from memory at 40 GB/s, whatever the program. */
static void is_colder(double cold_ns, double warm_ns)
{
	assert_true(fabs(cold_ns - warm_ns - 8024 / 40.0) < 1e-6 * warm_ns);
}

static void the_fake_board_adds_what_comes_from_memory(void **state)
{
	const struct hn_board_ops *ops = hn_board_of("fake");
	struct hn_board_place at = { .target = "fake -isa=fake -num_cores=4" };
	struct hn_board_answer warm, cold;
	struct hn_err err;
	void *board;

	(void)state;
	assert_int_equal(ops->open(&at, &board, &err), 0);
	warm = make(ops, board, "warm", false);
	cold = make(ops, board, "cold", true);
	is_colder(cold.sample_ns[0], warm.sample_ns[0]);
	for (int i = 0; i < 4; i++) {
		char steps[40];
		struct hn_board_request r = { .key = "warm", .kernel = { .object = steps } };

		snprintf(steps, sizeof steps, "[[\"SP\",0,%d]]", i);
		r.kernel.object_bytes = strlen(steps);
		r.rival = r.kernel;
		ops->measure(board, &r, &warm);
		r.key = "cold";
		ops->measure(board, &r, &cold);
		is_colder(cold.sample_ns[0], warm.sample_ns[0]);
		is_colder(cold.rival_ns[0], warm.rival_ns[0]);
	}
	ops->close(board);
}

static enum hn_verdict serve(const struct hn_board_ops *ops, void *board, bool cold,
			     struct hn_buf *answer)
{
	static const struct hn_frame_object dag = { .bytes = 2 };
	static const int64_t extent[] = { 4 };
	const struct hn_frame_argument arg = { .name = "C",
					       .dtype = HN_F32,
					       .shape = { 1, extent },
					       .output = true };
	struct hn_frame_workload_ready ready;
	struct hn_frame f, reply;
	struct hn_buf json;
	struct hn_arena a;
	struct hn_err err;
	uint16_t type;

	hn_arena_init(&a, 0);
	hn_buf_init(&json);
	hn_frame_encode_workload(&(struct hn_frame_workload){ .workload = "w",
							      .args = { 1, &arg },
							      .object = &dag,
							      .symbol = "k",
							      .limit_ms = 1000,
							      .cold = cold },
				 &json);
	f = hn_frame_of(HN_FRAME_WORKLOAD, 1, &json);
	f.blob = "{}";
	f.blob_bytes = 2;
	hn_buf_reset(answer);
	assert_int_equal(hn_board_serve(ops, board, &f, &type, answer, &err), 0);
	reply = hn_frame_of((enum hn_frame_type)type, 1, answer);
	assert_int_equal(hn_frame_decode_workload_ready(&reply, &a, &ready, &err), 0);
	enum hn_verdict ret = ready.run->verdict;

	hn_buf_fini(&json);
	hn_arena_fini(&a);
	return ret;
}

static void boards_that_cannot_say_so(void **state)
{
	const struct hn_board_ops *ops = hn_board_of("fake");
	struct hn_board_place at = { .target = "fake -isa=fake -num_cores=4" };
	struct hn_board_ops warm_only = *ops;
	struct hn_buf answer;
	struct hn_err err;
	void *board;

	(void)state;
	warm_only.cold = false;
	hn_buf_init(&answer);
	assert_int_equal(ops->open(&at, &board, &err), 0);
	assert_int_equal(serve(ops, board, true, &answer), HN_VERDICT_OK);
	assert_int_equal(serve(&warm_only, board, false, &answer), HN_VERDICT_OK);
	assert_int_equal(serve(&warm_only, board, true, &answer), HN_VERDICT_OVER_LIMIT);
	assert_non_null(strstr(answer.s, "boards of kind fake cannot empty their caches"));
	ops->close(board);
	hn_buf_fini(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_counted_and_kept),
		cmocka_unit_test(sealed_memory_can_be_flushed),
		cmocka_unit_test(each_sample_is_one_call_behind_a_chill),
		cmocka_unit_test(duels_are_cold_too),
		cmocka_unit_test(the_cpu_board_calls_once_a_sample),
		cmocka_unit_test(the_fake_board_adds_what_comes_from_memory),
		cmocka_unit_test(boards_that_cannot_say_so),
	};
	int failed;

	hn_buf_init(&object);
	cc_bytes(kernels, &object);
	hn_child_adopt_orphans();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	hn_buf_fini(&object);
	return failed;
}
