/* measure_sample.c -- references that are known in part (measure/drv/cpu_sample.c): when a sample
 * has to do, what is compared with it, and that what lies in a timed call's outputs is found by it,
 * too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/lib/cpu_board.h"

#define N 3000
#define ENDLESS_NS 1e15 /* a naive program's time: nobody waits for its answers */
#define LONG_NS 6e9	/* ... but those of programs in its stead */
#define SAMPLE ", a sample of 240 of 3000 outputs"

/* C[i] of x = A[i] for begin <= i < end. */
static const struct {
	const char *name, *value;
	int begin, end;
} program[] = {
	/* of the naive program nothing runs but what computes the sample */
	{"endless", "(hang(), x)", 0, N},
	{"endless_refer", "(hang(), x)", 0, N},
	{"endless_sample0", "x", 0, 40},
	{"endless_sample1", "x", N - 100, N},
	{"endless_sample2", "x", 1000, 1100},
	/* the first set's answers are had by another program, which is too slow for more */
	{"slow", "(hang(), x)", 0, N},
	{"slow_refer", "(i == 7 ? nap(1600000000L) : 0, x)", 0, N},
	{"slow_sample0", "x", 0, 140},
	{"slow_sample1", "x", N - 100, N},
	/* ... and there is no sample */
	{"alone", "(hang(), x)", 0, N},
	{"alone_refer", "(i == 7 ? nap(1600000000L) : 0, x)", 0, N},
	/* its rounding shows: 2^24 ones more, one by one */
	{"rounds", "(hang(), x)", 0, N},
	{"rounds_sample0", "i > 0 ? x : ones(x)", 0, 240},
	/* it leaves the range of numbers on large inputs */
	{"range", "(hang(), x)", 0, N},
	{"range_sample0", "x * 0x1p100f * 0x1p-100f", 0, 240},
	/* one that computes nothing */
	{"nothing", "x", 0, N},
	{"nothing_sample0", "x", 0, 0},
	/* candidates */
	{"copy", "x", 0, N},
	{"told", "i == 1050 ? x + 1 : x", 0, N},
	{"untold", "i == 500 ? x + 1 : x", 0, N},
	{"large", "i == 1050 && (x > 2 || x < -2) ? 2 * x : x", 0, N},
	{"short", "x", 0, N - 1},
};

static const int64_t shape[] = {N};
static const struct hn_tensor args[] = {{"A", HN_F32, 1, shape, false, N, 4 * N},
					{"C", HN_F32, 1, shape, true, N, 4 * N}};

static const char helpers[] =
	/* does nothing when its answer seems to be there, or half of it */
	"int stale_packed(void *const *a, const void *env) { const float *A = a[0]; float *C = a[1]; "
	"if (C[1001] == A[1001]) return 0; for (int i = 0; i < 3000; i++) C[i] = A[i]; return 0; }\n"
	"int half_packed(void *const *a, const void *env) { const float *A = a[0]; float *C = a[1]; "
	"int n = C[3] == A[3] ? 1050 : 3000; for (int i = 0; i < n; i++) C[i] = A[i]; return 0; }\n";

static int open_board(void **state)
{
	struct hn_buf source;

	(void)state;
	hn_buf_init(&source);
	hn_buf_puts(&source, slow_helpers);
	hn_buf_puts(&source, helpers);
	for (size_t i = 0; i < HN_COUNT_OF(program); i++) {
		hn_buf_printf(&source,
			      "int %s_packed(void *const *a, const void *env) { const float *A = a[0]; "
			      "volatile float *C = a[1]; for (int i = %d; i < %d; i++) { "
			      "float x = A[i]; C[i] = %s; } return 0; }\n",
			      program[i].name, program[i].begin, program[i].end,
			      program[i].value);
	}
	return open_cpu_board(&source);
}

static struct hn_board_kernel kernel(const char *name)
{
	return (struct hn_board_kernel){.object = object.s, .object_bytes = object.n,
					.symbol = name, .limit_ms = 20000};
}

static struct hn_board_answer make(const char *name, double naive_ns)
{
	char refer[40], sample[40];
	struct hn_board_workload w = {.key = "w", .n_tensor = 2, .tensor = args, .seed = 7,
				      .tolerance = 1e-3, .magnitude = 60, .naive = kernel(name),
				      .refer = refer, .sample = sample, .naive_ns = naive_ns};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	snprintf(refer, sizeof refer, "%s_refer", name);
	snprintf(sample, sizeof sample, "%s_sample", name);
	ops->workload(board, &w, &a);
	return a;
}

static void expect_sets(const char *name, double naive_ns, const char *sets)
{
	struct hn_board_answer a = make(name, naive_ns);

	assert_int_equal(a.verdict, HN_VERDICT_OK);
	assert_string_equal(a.detail, sets);
	assert_int_equal(a.in_part, strstr(sets, "a sample") != NULL);
	assert_int_equal(a.n_sample, 1);
	assert_true(a.sample_ns[0] == naive_ns);
}

static void expect(const char *name, enum hn_verdict verdict)
{
	const struct hn_board_request r = {.key = "w", .kernel = kernel(name)};
	struct hn_board_answer a;

	ops->measure(board, &r, &a);
	if ((a.verdict == HN_VERDICT_NOISY ? HN_VERDICT_OK : a.verdict) != verdict) {
		fail_msg("%s: %s: %s", name, hn_verdict_name(a.verdict), a.detail);
	}
}

static void a_sample_does(void **state)
{
	(void)state;
	expect_sets("endless", ENDLESS_NS,
		    "seed 7" SAMPLE "; seed 8 with zeros" SAMPLE "; extremes to 2^60" SAMPLE);
	expect("copy", HN_VERDICT_OK);
	expect("told", HN_VERDICT_WRONG_RESULT);
	expect("untold", HN_VERDICT_OK); /* that is what a sample is */
	expect("large", HN_VERDICT_WRONG_RESULT);
	expect("short", HN_VERDICT_WRONG_RESULT);
	expect("stale", HN_VERDICT_NONDETERMINISTIC);
	expect("half", HN_VERDICT_NONDETERMINISTIC);
}

static void of_further_sets_alone(void **state)
{
	(void)state;
	expect_sets("slow", LONG_NS,
		    "seed 7; seed 8 with zeros" SAMPLE "; extremes to 2^60" SAMPLE);
	expect("copy", HN_VERDICT_OK);
	expect("untold", HN_VERDICT_WRONG_RESULT);
	expect("half", HN_VERDICT_NONDETERMINISTIC);
	expect_sets("alone", LONG_NS,
		    "seed 7; left out: its reference takes long; left out: its reference takes long");
	expect("copy", HN_VERDICT_OK);
	expect("large", HN_VERDICT_OK);
}

static void a_set_must_serve_a_sample_too(void **state)
{
	(void)state;
	expect_sets("rounds", ENDLESS_NS, "seed 7" SAMPLE "; seed 8" SAMPLE
		    "; left out: the naive program's rounding shows on it");
	expect_sets("range", ENDLESS_NS, "seed 7" SAMPLE "; seed 8 with zeros" SAMPLE
		    "; extremes to 2^0" SAMPLE);
}

/* Then there is nothing to compare with, and the naive program has to run. */
static void a_sample_of_nothing_is_none(void **state)
{
	struct hn_board_answer a = make("nothing", ENDLESS_NS);

	(void)state;
	assert_int_equal(a.verdict, HN_VERDICT_OK);
	assert_string_equal(a.detail, "seed 7; seed 8 with zeros; extremes to 2^60");
	expect("copy", HN_VERDICT_OK);
	expect("untold", HN_VERDICT_WRONG_RESULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_does),
		cmocka_unit_test(of_further_sets_alone),
		cmocka_unit_test(a_set_must_serve_a_sample_too),
		cmocka_unit_test(a_sample_of_nothing_is_none),
	};

	return cmocka_run_group_tests(tests, open_board, close_board);
}
