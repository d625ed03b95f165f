/* measure_sets.c -- which input sets a workload is compared on: those that its naive program
 * runs through in the range of numbers and without its rounding showing, else milder ones, else
 * none (measure/drv/cpu_sets.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/lib/cpu_board.h"

#define N 301

static const struct {
	const char *name, *value; /* C[i] of x = A[i] */
	int32_t magnitude;
	const char *sets;
} program[] = {
	{"copy", "x", 120, "seed 7; seed 8 with zeros; extremes to 2^120"},
	{"square", "x * x", 59, "seed 7; seed 8 with zeros; extremes to 2^59"},
	/* told more than it carries: it overflows */
	{"overflow", "x * x", 100, "seed 7; seed 8 with zeros; extremes to 2^0"},
	/* ... on the way alone */
	{"hidden", "x * x > 1e30f ? 1 : x", 100, "seed 7; seed 8 with zeros; extremes to 2^0"},
	{"inverse", "1 / x", 0,
	 "seed 7; seed 8; left out: the naive program leaves the range of numbers on it"},
	{"invalid", "(x - x) / (x < 0 ? x - x : 1)", 0,
	 "seed 7; seed 8; left out: the naive program leaves the range of numbers on it"},
	/* fine where x is large, noise where it is not */
	{"cancels", "(x + 1e8f) - 1e8f", 60, "seed 7; seed 8; extremes to 2^60"},
	{"noise", "(x * 1e-30f + 1e8f) - 1e8f", 60,
	 "seed 7; seed 8; left out: the naive program's rounding shows on it"},
	{"crashes", "x == 0 ? *(volatile float *)8 : x", 60,
	 "seed 7; seed 8; left out: the naive program fails on it"},
};

static const int64_t shape[] = {N};
static const struct hn_tensor args[] = {{"A", HN_F32, 1, shape, false, N, 4 * N},
					{"C", HN_F32, 1, shape, true, N, 4 * N}};

static int open_board(void **state)
{
	struct hn_buf source;

	(void)state;
	hn_buf_init(&source);
	for (size_t i = 0; i < HN_COUNT_OF(program); i++) {
		hn_buf_printf(&source,
			      "int %s_packed(void *const *a, const void *env) { const float *A = "
			      "a[0]; volatile float *C = a[1]; for (int i = 0; i < %d; i++) { float "
			      "x = A[i]; C[i] = %s; } return 0; }\n",
			      program[i].name, N, program[i].value);
	}
	hn_buf_printf(&source,
		      "int nearest_packed(void *const *a, const void *env) { const float *A = a[0]; "
		      "volatile signed char *C = a[1]; for (int i = 0; i < 4 * %d; i++) C[i] = (signed "
		      "char)__builtin_nearbyintf(A[i] * 4); return 0; }\n"
		      "int upwards_packed(void *const *a, const void *env) { const float *A = a[0]; "
		      "volatile signed char *C = a[1]; for (int i = 0; i < 4 * %d; i++) C[i] = (signed "
		      "char)__builtin_floorf(A[i] * 4 + 0.5f); return 0; }\n",
		      N, N);
	return open_cpu_board(&source);
}

static struct hn_board_kernel kernel(const char *name)
{
	return (struct hn_board_kernel){.object = object.s, .object_bytes = object.n,
					.symbol = name, .limit_ms = 5000};
}

static struct hn_board_answer make(size_t i, uint32_t n_set)
{
	const struct hn_board_workload w = {.key = "w", .n_tensor = 2, .tensor = args,
					    .seed = 7, .n_set = n_set, .tolerance = 1e-5,
					    .magnitude = program[i].magnitude,
					    .naive = kernel(program[i].name)};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	ops->workload(board, &w, &a);
	assert_int_equal(a.verdict, HN_VERDICT_OK);
	return a;
}

static enum hn_verdict measure(const char *name, double best_ns)
{
	const struct hn_board_request r = {.key = "w", .best_ns = best_ns,
					   .kernel = kernel(name)};
	struct hn_board_answer a;

	ops->measure(board, &r, &a);
	return a.verdict == HN_VERDICT_NOISY ? HN_VERDICT_OK : a.verdict;
}

/* And the naive program itself is right on what was chosen. */
static void sets_are_those_that_serve(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(program); i++) {
		assert_string_equal(make(i, 0).detail, program[i].sets);
		assert_int_equal(measure(program[i].name, 0), HN_VERDICT_OK);
	}
	assert_string_equal(make(0, 1).detail,
			    "seed 7; left out: not asked for; left out: not asked for");
}

/* "hidden" copies what is not large: who may be the best is caught, who is far from it is not
 * looked at again. */
static void whoever_may_be_the_best_is_compared_on_all(void **state)
{
	(void)state;
	make(0, 0);
	assert_int_equal(measure("hidden", 0), HN_VERDICT_WRONG_RESULT);
	assert_int_equal(measure("hidden", 1e9), HN_VERDICT_WRONG_RESULT);
	assert_int_equal(measure("hidden", 1), HN_VERDICT_OK);
	make(0, 1);
	assert_int_equal(measure("hidden", 0), HN_VERDICT_OK);
}

#define BYTES (4 * N)

/* Rounds to an integer as the processor does at the time: upwards, when boards ask what rounding
 * comes to. */
static void settled_integers_need_not_be_steady(void **state)
{
	static const int64_t many[] = {BYTES};
	static const struct hn_tensor t[] = {{"A", HN_F32, 1, many, false, BYTES, 4 * BYTES},
					     {"C", HN_I8, 1, many, true, BYTES, BYTES}};
	struct hn_board_workload w = {.key = "w", .n_tensor = 2, .tensor = t, .seed = 7,
				      .naive = kernel("nearest")};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	(void)state;
	ops->workload(board, &w, &a);
	assert_int_equal(a.verdict, HN_VERDICT_OK);
	assert_non_null(strstr(a.detail, "rounding shows"));
	w.settled = true;
	ops->workload(board, &w, &a);
	assert_string_equal(a.detail, "seed 7; seed 8 with zeros; extremes to 2^0; ties");
	assert_int_equal(measure("nearest", 0), HN_VERDICT_OK);
	/* half way up instead of to the even one: ordinary numbers are no ties */
	assert_int_equal(measure("upwards", 0), HN_VERDICT_WRONG_RESULT);
	w.n_set = 3;
	ops->workload(board, &w, &a);
	assert_int_equal(measure("upwards", 0), HN_VERDICT_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_those_that_serve),
		cmocka_unit_test(whoever_may_be_the_best_is_compared_on_all),
		cmocka_unit_test(settled_integers_need_not_be_steady),
	};

	return cmocka_run_group_tests(tests, open_board, close_board);
}
