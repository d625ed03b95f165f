/* measure_wide.c -- answers are compared with the naive program's companion, whose sums are wider
 * (measure/board/board.h): a right kernel that sums in another order than a naive program gone astray
 * passes, one that goes astray as well does not; and the naive program still says which inputs
 * serve. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/lib/cpu_board.h"

#define N 301

/* C[i] of x = A[i]: by the naive program, and by its companion ("": it has none). */
static const struct {
	const char *name, *value, *wide, *sets;
} program[] = {
	{"copy", "x", "(float)(double)x",
	 "seed 7; seed 8 with zeros; extremes to 2^60; compared with wider sums"},
	{"alone", "x", "", "seed 7; seed 8 with zeros; extremes to 2^60"},
	/* infinite, and where the companion goes it is not */
	{"overflow", "x * 1e30f * 1e30f * 1e-30f", "(float)(x * 1e30 * 1e30 * 1e-30)",
	 "seed 7; seed 8; left out: the naive program leaves the range of numbers on it"},
	/* ones, or a little less, add nothing to float32's 2^24; the companion's rounding does
	 * not show */
	{"ones", "i > 0 ? x : sum(0x1p24f, 1 << 16, x)", "i > 0 ? x : (float)(0x1p24 + 0x1p16 * below(x))",
	 "seed 7; seed 8; left out: the naive program's rounding shows on it; compared with "
	 "wider sums"},
	{"ones_alone", "i > 0 ? x : sum(0x1p24f, 1 << 16, x)", "",
	 "seed 7; seed 8; left out: the naive program's rounding shows on it"},
	/* takes longer than a second */
	{"slow", "i > 0 ? x : (nap(), x)", "x + 1", "seed 7; left out: not asked for; left out: "
	 "not asked for"},
	/* a kernel: by blocks of 2^12 */
	{"ones_by_blocks", "i > 0 ? x : blocks(x)", "", ""},
};

static const int64_t shape[] = {N};
static const struct hn_tensor args[] = {{"A", HN_F32, 1, shape, false, N, 4 * N},
					{"C", HN_F32, 1, shape, true, N, 4 * N}};

static const char helpers[] =
	"static float below(float x) { return 1 - (x < 0 ? -x : x) * 1e-3f; }\n"
	"static float sum(float s, int n, float x) { volatile float one = below(x); "
	"for (int i = 0; i < n; i++) s += one; return s; }\n"
	"static float blocks(float x) { float s = 0x1p24f; for (int i = 0; i < 16; i++) "
	"s += sum(0, 1 << 12, x); return s; }\n"
	"static void now(long *t) { long r; __asm__ volatile(\"syscall\" : \"=a\"(r) : \"a\"(228), "
	"\"D\"(1), \"S\"(t) : \"rcx\", \"r11\", \"memory\"); }\n" /* clock_gettime */
	"static void nap(void) { long a[2], b[2]; now(a); do now(b); while ((b[0] - a[0]) * "
	"1000000000 + b[1] - a[1] < 1100000000); }\n";

static void put_function(struct hn_buf *source, const char *name, const char *suffix,
			 const char *value)
{
	hn_buf_printf(source,
		      "int %s%s_packed(void *const *a, const void *env) { const float *A = a[0]; "
		      "volatile float *C = a[1]; for (int i = 0; i < %d; i++) { float x = A[i]; "
		      "C[i] = %s; } return 0; }\n",
		      name, suffix, N, value);
}

static int open_board(void **state)
{
	struct hn_buf source;

	(void)state;
	hn_buf_init(&source);
	hn_buf_puts(&source, helpers);
	for (size_t i = 0; i < HN_COUNT_OF(program); i++) {
		put_function(&source, program[i].name, "", program[i].value);
		if (*program[i].wide != '\0') {
			put_function(&source, program[i].name, "_wide", program[i].wide);
		}
	}
	return open_cpu_board(&source);
}

static struct hn_board_kernel kernel(const char *name, int64_t limit_ms)
{
	return (struct hn_board_kernel){.object = object.s, .object_bytes = object.n,
					.symbol = name, .limit_ms = limit_ms};
}

/* A companion is asked for always, whether there is one or not. */
static struct hn_board_answer make(const char *name, uint32_t n_set, int64_t limit_ms)
{
	char wide[40];
	const struct hn_board_workload w = {.key = "w", .n_tensor = 2, .tensor = args,
					    .seed = 7, .n_set = n_set, .tolerance = 1e-3,
					    .magnitude = 60, .naive = kernel(name, limit_ms),
					    .wide = wide};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	snprintf(wide, sizeof wide, "%s_wide", name);
	ops->workload(board, &w, &a);
	assert_int_equal(a.verdict, HN_VERDICT_OK);
	return a;
}

static enum hn_verdict measure(const char *name)
{
	const struct hn_board_request r = {.key = "w", .kernel = kernel(name, 10000)};
	struct hn_board_answer a;

	ops->measure(board, &r, &a);
	return a.verdict == HN_VERDICT_NOISY ? HN_VERDICT_OK : a.verdict;
}

static const char *sets_of(const char *name)
{
	for (size_t i = 0; i < HN_COUNT_OF(program); i++) {
		if (strcmp(program[i].name, name) == 0) {
			return program[i].sets;
		}
	}
	return NULL;
}

static void expect(const char *name, const char *candidate, enum hn_verdict verdict)
{
	assert_string_equal(make(name, 0, 10000).detail, sets_of(name));
	assert_int_equal(measure(candidate), verdict);
}

static void kernels_are_held_against_the_companion(void **state)
{
	(void)state;
	expect("copy", "copy", HN_VERDICT_OK);
	expect("alone", "copy", HN_VERDICT_OK);
	expect("ones", "ones_by_blocks", HN_VERDICT_OK);
	expect("ones", "ones", HN_VERDICT_WRONG_RESULT);
	expect("ones_alone", "ones_by_blocks", HN_VERDICT_WRONG_RESULT);
	expect("ones_alone", "ones", HN_VERDICT_OK);
}

static void beyond_the_range_it_is_the_reference(void **state)
{
	(void)state;
	expect("overflow", "overflow", HN_VERDICT_OK);
	expect("overflow", "copy", HN_VERDICT_WRONG_RESULT);
}

/* The companion is asked where there is time for one more run. */
static void a_slow_one_is_its_own_reference(void **state)
{
	(void)state;
	make("slow", 1, 60000);
	assert_int_equal(measure("copy"), HN_VERDICT_WRONG_RESULT);
	assert_string_equal(make("slow", 1, 3600).detail, sets_of("slow"));
	assert_int_equal(measure("copy"), HN_VERDICT_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_are_held_against_the_companion),
		cmocka_unit_test(beyond_the_range_it_is_the_reference),
		cmocka_unit_test(a_slow_one_is_its_own_reference),
	};

	return cmocka_run_group_tests(tests, open_board, close_board);
}
