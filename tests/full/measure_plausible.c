/* measure_plausible.c -- kernels that are faster than the machine can be.  The board probes the
 * machine before it says so, and twice again: seconds, too long for every commit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "measure/drv/cpu_int.h"
#include "tests/lib/cpu_board.h"

#define N ((int64_t)1 << 22)

static const char source[] =
	"#include <stdint.h>\n"
	"static float sum(const float *A) { float s[16] = {0}; for (long i = 0; i < 1L "
	"<< 22; "
	"i++) s[i & 15] += A[i]; for (int i = 1; i < 16; i++) s[0] += s[i]; return s[0]; "
	"}\n"
	CC_KEPT
	"int32_t sum_packed(void *const *args, const void *env) { *(float *)args[1] = "
	"sum(args[0]); return 0; }\n"
	"int32_t kept_packed(void *const *args, const void *env) { float *is = (float *)kept(); "
	"const float **of = (const float **)(is + 2); if (*of != args[0]) *is = sum(args[0]); "
	"*of = args[0]; *(float *)args[1] = *is; return 0; }\n";

static struct hn_board_kernel kernel(const char *symbol)
{
	return (struct hn_board_kernel){ .object = object.s,
					 .object_bytes = object.n,
					 .symbol = symbol,
					 .limit_ms = 5000 };
}

/* The sum of 16 MB as the workload, and what becomes of a candidate near the best. */
static struct hn_board_answer measure(const char *symbol, struct hn_need need, double best_ns)
{
	static const int64_t many[] = { N }, one[] = { 1 };
	static const struct hn_tensor args[] = {
		{ "A", HN_F32, 1, many, false, N, N * 4 },
		{ "C", HN_F32, 1, one, true, 1, 4 },
	};
	struct hn_board_workload w = { .key = "sum",
				       .n_tensor = 2,
				       .tensor = args,
				       .tolerance = 1e-3,
				       .need = need,
				       .naive = kernel("sum") };
	struct hn_board_request r = { .key = "sum",
				      .kernel = kernel(symbol),
				      .best_ns = best_ns };
	struct hn_board_answer a = { .verdict = HN_VERDICT_NONE };

	ops->workload(board, &w, &a);
	assert_int_equal(a.verdict, HN_VERDICT_OK);
	ops->measure(board, &r, &a);
	return a;
}

static bool timed(const struct hn_board_answer *a)
{
	return a->verdict == HN_VERDICT_OK || a->verdict == HN_VERDICT_NOISY;
}

/* A board that has just taken another's place has no time for a probe. */
static void a_moment_shows_what_is_possible(void **state)
{
	struct hn_need need = { .flops = N, .read_bytes = N * 4, .written_bytes = 4 };
	const struct cpu_board *b = board;
	struct hn_board_answer a = measure("sum", need, 1e6);

	(void)state;
	assert_true(timed(&a));
	assert_true(b->peak.fma_gflops_one == 0); /* it was not probed */
	assert_true(b->shown.fma_gflops_one > 0 && b->shown.level[0].gb_s > 0);
}

static void impossible_speed_is_refused(void **state)
{
	struct hn_board_answer fair = measure("sum", (struct hn_need){ .flops = N }, 1e6);
	struct hn_board_answer fast = measure("sum", (struct hn_need){ .flops = 1e15 }, 1e6);

	(void)state;
	assert_true(timed(&fair));
	assert_int_equal(fast.verdict, HN_VERDICT_IMPLAUSIBLE);
	assert_non_null(strstr(fast.detail, "1e+15 operations"));
}

/* A sum that is known after the first call: right each time, and faster than 16 MB can be
 * read. */
static void unread_inputs_are_noticed(void **state)
{
	struct hn_need need = { .read_bytes = N * 4, .written_bytes = 4 };
	/* with one known that is faster still, or its other answers would betray it */
	struct hn_board_answer read = measure("sum", need, 1e6),
			       unread = measure("kept", need, 1);

	(void)state;
	assert_true(timed(&read));
	assert_int_equal(unread.verdict, HN_VERDICT_IMPLAUSIBLE);
	assert_non_null(strstr(unread.detail, "1.68e+07 bytes read"));
	assert_int_equal(unread.n_sample, 0);
}

static int open_board(void **state)
{
	struct hn_buf text;

	(void)state;
	hn_buf_init(&text);
	hn_buf_puts(&text, source);
	return open_cpu_board(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_moment_shows_what_is_possible),
		cmocka_unit_test(unread_inputs_are_noticed), /* by a board not probed yet */
		cmocka_unit_test(impossible_speed_is_refused),
	};

	return cmocka_run_group_tests(tests, open_board, close_board);
}
