/* measure_steal.c -- the gate for time that a hypervisor took, by readings that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "measure/board/child.h"
#include "measure/drv/cpu_int.h"
#include "tests/lib/measure_cc.h"

#define MS 1000000

static void the_count_is_read_where_the_kernel_writes_it(void **state)
{
	static const struct {
		const char *text;
		int64_t ticks;
	} row[] = {{"cpu  1 2 3 4 5 6 7 89 10 11\ncpu0 1 1 1 1 1 1 1 1 1 1\n", 89},
		   {"cpu  1 2 3 4 5 6 7 0 0 0\n", 0},
		   {"cpu  1 2 3 4 5 6 7\n", 0}, /* a kernel that does not count */
		   {"intr 8 8 8 8 8 8 8 8\n", 0},
		   {"", 0}};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		char path[] = "/tmp/hone-test-XXXXXX";
		int fd = mkstemp(path);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, row[i].text, strlen(row[i].text)),
				 strlen(row[i].text));
		close(fd);
		assert_int_equal(hn_cpu_stolen_read(path),
				 row[i].ticks * (1000000000 / sysconf(_SC_CLK_TCK)));
		unlink(path);
	}
	assert_int_equal(hn_cpu_stolen_read("/nonexistent"), 0);
	assert_true(hn_cpu_stolen_ns() >= 0);
}

static void a_tenth_is_too_much(void **state)
{
	static const struct {
		int64_t stolen_ms, wall_ms;
		double best_ns;
		enum hn_verdict want;
	} row[] = {{0, 100, 0, HN_VERDICT_OK},
		   {19, 100, 0, HN_VERDICT_OK}, /* the tick's rounding */
		   {20, 100, 0, HN_VERDICT_NOISY},
		   {20, 199, 0, HN_VERDICT_NOISY},
		   {20, 201, 0, HN_VERDICT_OK},
		   {500, 5001, 0, HN_VERDICT_OK},
		   {500, 4999, 0, HN_VERDICT_NOISY},
		   /* against the best known: 1 ms is what all of these took */
		   {50, 100, 1.0 * MS, HN_VERDICT_NOISY},
		   {50, 100, 0.8 * MS, HN_VERDICT_NOISY},
		   {50, 100, 0.5 * MS, HN_VERDICT_OK}};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		struct hn_board_answer a = {
			.verdict = HN_VERDICT_OK, .n_sample = 1, .sample_ns = {1.0 * MS}};

		hn_cpu_check_stolen(row[i].stolen_ms * MS, row[i].wall_ms * MS,
				    row[i].best_ns, &a);
		assert_int_equal(a.verdict, row[i].want);
		assert_int_equal(a.n_sample, 1); /* it may still guide */
		assert_int_equal(strstr(a.detail, "hypervisor took") != NULL,
				 row[i].want == HN_VERDICT_NOISY);
	}
}

static int64_t theft_ns, stolen_so_far;

/* Asked before and after a run. */
static int64_t thief(void)
{
	int64_t before = stolen_so_far;

	stolen_so_far += theft_ns;
	return before;
}

static const char source[] =
	"#include <stdint.h>\n"
	"int32_t good_packed(void *const *args, const void *env) { const float *A = args[0]; "
	"volatile float *C = args[1]; for (int i = 0; i < 100; i++) C[i] = A[i] + 1; "
	"return 0; }\n"
	"int32_t bad_packed(void *const *args, const void *env) { good_packed(args, env); "
	"((volatile float *)args[1])[99] = 7; return 0; }\n";

/* The gate stands in the way of every measurement: what was stolen during the run counts,
 * what was stolen before does not, and a wrong answer stays one. */
static void the_gate_is_in_the_way(void **state)
{
	static const int64_t shape[] = {100};
	static const struct hn_tensor args[] = {
		{"A", HN_F32, 1, shape, false, 100, 400},
		{"C", HN_F32, 1, shape, true, 100, 400}};
	const struct hn_board_ops *ops = hn_board_of("cpu");
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};
	struct hn_board_kernel good = {.symbol = "good", .limit_ms = 2000}, bad;
	struct hn_buf object;
	void *board;

	(void)state;
	hn_buf_init(&object);
	cc_bytes(source, &object);
	good.object = object.s;
	good.object_bytes = object.n;
	bad = good;
	bad.symbol = "bad";
	hn_child_adopt_orphans();
	assert_int_equal(ops->open(&(struct hn_board_place){.target = "cpu"}, &board, NULL), 0);
	((struct cpu_board *)board)->stolen_ns = thief;
	ops->workload(board,
		      &(struct hn_board_workload){.key = "w", .n_tensor = 2, .tensor = args,
						  .tolerance = 1e-6, .naive = good},
		      &a);
	assert_int_equal(a.verdict, HN_VERDICT_OK);

	stolen_so_far = (int64_t)1 << 40;
	ops->measure(board, &(struct hn_board_request){.key = "w", .kernel = good}, &a);
	assert_null(strstr(a.detail, "hypervisor"));
	/* far more than it takes on the slowest machine */
	theft_ns = (int64_t)3600 * 1000 * MS;
	a.detail[0] = '\0';
	for (int i = 0; i < 50 && strstr(a.detail, "hypervisor") == NULL; i++) {
		/* again where other programs disturbed it: then that is what it says */
		ops->measure(board, &(struct hn_board_request){.key = "w", .kernel = good}, &a);
		assert_int_equal(a.verdict, HN_VERDICT_NOISY);
		assert_true(a.n_sample > 0);
	}
	assert_non_null(strstr(a.detail, "hypervisor took 3600000 ms of "));
	ops->measure(board, &(struct hn_board_request){.key = "w", .kernel = bad}, &a);
	assert_int_equal(a.verdict, HN_VERDICT_WRONG_RESULT);
	ops->close(board);
	hn_buf_fini(&object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_count_is_read_where_the_kernel_writes_it),
		cmocka_unit_test(a_tenth_is_too_much),
		cmocka_unit_test(the_gate_is_in_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
