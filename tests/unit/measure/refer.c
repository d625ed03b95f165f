/* measure_refer.c -- references that fast programs make in a slow naive program's stead
 * (measure/board/board.h: refer, parts): what is compared with, in which rounding mode each runs and on
 * how many threads, and how long the naive program is said to take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/json.h"
#include "tests/lib/cpu_board.h"

#define N 301

/* C[i] of x = A[i], by a loop that env may run: NAME, NAME_refer, NAME_wide. */
static const struct {
	const char *name, *own, *refer, *wide;
} program[] = {
	/* the naive program need not run: it never ends */
	{"endless", "(hang(), x)", "x", ""},
	/* the reference is the one with wider sums */
	{"wide", "(hang(), x)", "x + 1", "x"},
	/* ... unless the other leaves the range of numbers */
	{"range", "(hang(), x)", "x * 1e30f * 1e30f * 1e-30f", "x"},
	/* lanes that are masked off raise exceptions that the naive program does not */
	{"masked", "x", "(nothing += x * 1e30f * 1e30f, x)", "x + 1"},
	/* its rounding shows: 2^24 ones more, one by one */
	{"rounds", "i > 0 ? x : ones(x)", "i > 0 ? x : ones(x)", ""},
	/* what stands in for it does not work: the naive program does itself */
	{"breaks", "x", "(*(volatile float *)0 = 1, x)", ""},
	/* a candidate */
	{"copy", "x", "", ""},
};

static const int64_t shape[] = {N};
static const struct hn_tensor args[] = {{"A", HN_F32, 1, shape, false, N, 4 * N},
					{"C", HN_F32, 1, shape, true, N, 4 * N}};

static const char helpers[] =
	"struct env { unsigned abi; int n; void (*each)(void *, void (*)(void *, long, long, int), "
	"void *, long); void *ctx; };\n"
	"static volatile float nothing;\n"
	"int napping_part0_packed(void *const *a, const void *env) { nap(10000000); return 0; }\n"
	"int napping_part1_packed(void *const *a, const void *env) { nap(20000000); return 0; }\n";

static void put_function(struct hn_buf *source, const char *name, const char *suffix,
			 const char *value)
{
	hn_buf_printf(source,
		      "static void %s%s_body(void *c, long i, long end, int w) { void *const *a = c; "
		      "const float *A = a[0]; volatile float *C = a[1]; for (; i < end; i++) { "
		      "float x = A[i]; C[i] = %s; } }\n"
		      "int %s%s_packed(void *const *a, const struct env *e) { if (e->each) "
		      "e->each(e->ctx, %s%s_body, (void *)a, %d); else %s%s_body((void *)a, 0, %d, 0); "
		      "return 0; }\n",
		      name, suffix, value, name, suffix, name, suffix, N, name, suffix, N);
}

static int open_board(void **state)
{
	struct hn_buf source;

	(void)state;
	hn_buf_init(&source);
	hn_buf_puts(&source, slow_helpers);
	hn_buf_puts(&source, helpers);
	put_function(&source, "napping", "", "(hang(), x)");
	put_function(&source, "napping", "_refer", "x");
	for (size_t i = 0; i < HN_COUNT_OF(program); i++) {
		put_function(&source, program[i].name, "", program[i].own);
		if (*program[i].refer != '\0') {
			put_function(&source, program[i].name, "_refer", program[i].refer);
		}
		if (*program[i].wide != '\0') {
			put_function(&source, program[i].name, "_wide", program[i].wide);
		}
	}
	return open_cpu_board(&source);
}

static struct hn_board_kernel kernel(const char *name)
{
	return (struct hn_board_kernel){.object = object.s, .object_bytes = object.n,
					.symbol = name, .limit_ms = 20000};
}

static struct hn_board_answer make(const char *name, const struct hn_parts *parts, double naive_ns)
{
	char refer[40], wide[40], part[40];
	struct hn_board_workload w = {.key = "w", .n_tensor = 2, .tensor = args, .seed = 7,
				      .tolerance = 1e-3, .magnitude = 60, .naive = kernel(name),
				      .wide = wide, .refer = refer, .part = part,
				      .naive_ns = naive_ns};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	if (parts != NULL) {
		w.parts = *parts;
	}
	snprintf(refer, sizeof refer, "%s_refer", name);
	snprintf(wide, sizeof wide, "%s_wide", name);
	snprintf(part, sizeof part, "%s_part", name);
	ops->workload(board, &w, &a);
	assert_int_equal(a.verdict, HN_VERDICT_OK);
	return a;
}

static enum hn_verdict measure(const char *name)
{
	const struct hn_board_request r = {.key = "w", .kernel = kernel(name)};
	struct hn_board_answer a;

	ops->measure(board, &r, &a);
	return a.verdict == HN_VERDICT_NOISY ? HN_VERDICT_OK : a.verdict;
}

static void expect(const char *name, const char *sets, enum hn_verdict verdict)
{
	assert_string_equal(make(name, NULL, name[0] == 'm' ? 0 : 5e9).detail, sets);
	assert_int_equal(measure("copy"), verdict);
}

static void the_naive_program_need_not_run(void **state)
{
	(void)state;
	expect("endless", "seed 7; seed 8 with zeros; extremes to 2^60", HN_VERDICT_OK);
	expect("wide", "seed 7; seed 8; extremes to 2^60; compared with wider sums",
	       HN_VERDICT_OK);
	expect("range", "seed 7; seed 8; left out: the naive program leaves the range of numbers "
	       "on it", HN_VERDICT_WRONG_RESULT);
}

static void where_nothing_stands_in_it_runs(void **state)
{
	(void)state;
	expect("breaks", "seed 7; seed 8 with zeros; extremes to 2^60", HN_VERDICT_OK);
}

static void exceptions_are_the_naive_programs(void **state)
{
	(void)state;
	/* wide, which is off by one, is the reference: nothing was raised by the naive program */
	expect("masked", "seed 7; seed 8; extremes to 2^60; compared with wider sums",
	       HN_VERDICT_WRONG_RESULT);
}

static void all_threads_round_upwards(void **state)
{
	(void)state;
	expect("rounds", "seed 7; seed 8; left out: the naive program's rounding shows on it",
	       HN_VERDICT_WRONG_RESULT);
}

static void its_time_is_that_of_its_parts(void **state)
{
	const struct hn_parts parts = {2, {{10, 1000}, {5, 10}}};
	struct hn_board_answer a = make("napping", &parts, 0);

	(void)state;
	assert_int_equal(a.n_sample, 1);
	assert_in_range((uint64_t)a.sample_ns[0], 1040000000, 4000000000);
	assert_true(a.naive_share == 15.0 / 1010);
	a = make("napping", &parts, 12345);
	assert_true(a.n_sample == 1 && a.sample_ns[0] == 12345);
}

/* Same programs, same inputs: the references are there, and the time is the first one. */
static void a_second_job_has_them(void **state)
{
	const struct hn_parts parts = {2, {{10, 1000}, {5, 10}}};
	struct hn_board_answer a = make("napping", &parts, 0), b = make("napping", &parts, 0);

	(void)state;
	assert_true(b.sample_ns[0] == a.sample_ns[0] && b.naive_share == a.naive_share);
	assert_string_equal(b.detail, a.detail);
	assert_int_equal(measure("copy"), HN_VERDICT_OK);
	/* another program of the same key makes its own */
	make("range", NULL, 5e9);
	assert_int_equal(measure("copy"), HN_VERDICT_WRONG_RESULT);
	assert_true(make("napping", &parts, 0).sample_ns[0] != a.sample_ns[0]);
	assert_int_equal(measure("copy"), HN_VERDICT_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_naive_program_need_not_run),
		cmocka_unit_test(where_nothing_stands_in_it_runs),
		cmocka_unit_test(exceptions_are_the_naive_programs),
		cmocka_unit_test(all_threads_round_upwards),
		cmocka_unit_test(its_time_is_that_of_its_parts),
		cmocka_unit_test(a_second_job_has_them),
	};

	return cmocka_run_group_tests(tests, open_board, close_board);
}
