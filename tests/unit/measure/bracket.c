/* measure_bracket.c -- answers that are held between two: a sum in another order rounds otherwise
 * near a border, and is right; what is wrong by one unit elsewhere is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/lib/cpu_board.h"

#define ROWS 4000
#define LENGTH 16

/* Each row's sum, upwards or from its end, as an integer of many digits, or as a bfloat16. */
static const char source[] =
	"#include <stdint.h>\n"
	"static float up(const float *a) { volatile float s = 0; for (int k = 0; k < 16; k++) s += "
	"a[k]; return s; }\n"
	"static float down(const float *a) { volatile float s = 0; for (int k = 16; k-- > 0;) s += "
	"a[k]; return s; }\n"
	"static float size(float x) { return x < -2 ? -x : x > 2 ? x : 2; }\n"
	"static int whole(float x) { return (int)__builtin_nearbyintf(x * 100000); }\n"
	"static uint16_t half(float x) { union { float f; uint32_t u; } p = {x};\n"
	" return (uint16_t)((p.u + 0x7fff + (p.u >> 16 & 1)) >> 16); }\n"
	"static uint16_t cut(float x) { union { float f; uint32_t u; } p = {x}; return (uint16_t)(p.u >> "
	"16); }\n"
	"#define ROW(name, type, value) int name##_packed(void *const *a, const void *env) {"
	" const float *A = a[0]; volatile type *C = a[1];"
	" for (int i = 0; i < 4000; i++) { float x = up(A + 16 * i); (void)x; C[i] = (type)(value); }"
	" return 0; }\n"
	"#define AT(n) (i == (n))\n"
	"ROW(int_good, int32_t, whole(x))\n"
	"ROW(int_other, int32_t, whole(down(A + 16 * i)))\n"
	"ROW(int_side0, int32_t, whole(x - 1e-6f * size(x)))\n"
	"ROW(int_side1, int32_t, whole(x + 1e-6f * size(x)))\n"
	"ROW(int_off, int32_t, whole(x) + AT(1777))\n"
	"ROW(int_trunc, int32_t, x * 100000)\n"
	"ROW(half_good, uint16_t, half(x))\n"
	"ROW(half_other, uint16_t, half(down(A + 16 * i)))\n"
	"ROW(half_side0, uint16_t, half(x - 1e-6f * size(x)))\n"
	"ROW(half_side1, uint16_t, half(x + 1e-6f * size(x)))\n"
	"ROW(half_off, uint16_t, half(x) + AT(1777))\n"
	"ROW(half_trunc, uint16_t, cut(x))\n";

static const int64_t shape[] = {ROWS, LENGTH};

static int open_board(void **state)
{
	struct hn_buf text;

	(void)state;
	hn_buf_init(&text);
	hn_buf_puts(&text, source);
	return open_cpu_board(&text);
}

static struct hn_board_kernel kernel(const char *name)
{
	return (struct hn_board_kernel){.object = object.s, .object_bytes = object.n,
					.symbol = name, .limit_ms = 5000};
}

static enum hn_verdict measure(const char *name)
{
	const struct hn_board_request r = {.key = "w", .kernel = kernel(name)};
	struct hn_board_answer a;

	ops->measure(board, &r, &a);
	return a.verdict == HN_VERDICT_NOISY ? HN_VERDICT_OK : a.verdict;
}

static void make(const char *name, enum hn_dtype t, const char *bracket, double tolerance)
{
	const struct hn_tensor args[] = {
		{"A", HN_F32, 2, shape, false, ROWS * LENGTH, 4 * ROWS * LENGTH},
		{"C", t, 1, shape, true, ROWS, ROWS * hn_dtype_bytes(t)}};
	const struct hn_board_workload w = {.key = "w", .n_tensor = 2, .tensor = args, .seed = 7,
					    .n_set = 2, .tolerance = tolerance,
					    .bracket = bracket, .naive = kernel(name)};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	ops->workload(board, &w, &a);
	assert_int_equal(a.verdict, HN_VERDICT_OK);
	assert_int_equal(strstr(a.detail, "held between two") != NULL, bracket != NULL);
}

/* Exactly compared, a right kernel is refused. */
static void integers_near_a_border(void **state)
{
	(void)state;
	make("int_good", HN_I32, NULL, 0);
	assert_int_equal(measure("int_other"), HN_VERDICT_WRONG_RESULT);
	make("int_good", HN_I32, "int_side", 0);
	assert_int_equal(measure("int_good"), HN_VERDICT_OK);
	assert_int_equal(measure("int_other"), HN_VERDICT_OK);
	assert_int_equal(measure("int_off"), HN_VERDICT_WRONG_RESULT);
	assert_int_equal(measure("int_trunc"), HN_VERDICT_WRONG_RESULT);
}

/* By the tolerance, one unit off is right. */
static void halves_near_a_border(void **state)
{
	(void)state;
	make("half_good", HN_BF16, NULL, 8e-3);
	assert_int_equal(measure("half_off"), HN_VERDICT_OK);
	make("half_good", HN_BF16, "half_side", 8e-3);
	assert_int_equal(measure("half_good"), HN_VERDICT_OK);
	assert_int_equal(measure("half_other"), HN_VERDICT_OK);
	assert_int_equal(measure("half_off"), HN_VERDICT_WRONG_RESULT);
	assert_int_equal(measure("half_trunc"), HN_VERDICT_WRONG_RESULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_near_a_border),
		cmocka_unit_test(halves_near_a_border),
	};

	return cmocka_run_group_tests(tests, open_board, close_board);
}
