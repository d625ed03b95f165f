/* loopstate_magnitude.c -- how far inputs may go, and the bytes that no kernel can leave out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/dag/magnitude.h"

static const struct hn_dag *dag_of(const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_err err = {0};

	if (hn_dag_parse("dag", text, strlen(text), 1 << 30, a, &dag, &err) != 0) {
		fail_msg("%s: %s", text, err.msg);
	}
	return dag;
}

static void magnitudes(void **state)
{
	static const struct {
		const char *text;
		int32_t want;
	} row[] = {
		{"f(float32 A[8]) -> C { C(i) = A(i) }", HN_MAGNITUDE_MAX},
		{"f(float32 A[8]) -> C { C(i) = max(A(i), 0.0) }", HN_MAGNITUDE_MAX},
		{"f(float32 A[8]) -> C { C(i) = A(i) * 3.0 }", 118},
		/* 512 products */
		{"f(float32 A[8,512], float32 B[512,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }", 55},
		{"f(float64 A[8,512], float64 B[512,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }", 495},
		{"f(float32 A[8,512]) -> C { C(i) max=! A(i,k) }", HN_MAGNITUDE_MAX},
		/* exp's argument ends at 16 */
		{"f(float32 A[8]) -> C { C(i) = exp(A(i)) }", 4},
		{"f(float32 A[8]) -> C { C(i) = exp(A(i) - A(0)) }", 3},
		{"f(float32 A[8]) -> C { C(i) = tanh(A(i)) }", HN_MAGNITUDE_MAX},
		/* nothing is known */
		{"f(float32 A[8]) -> C { C(i) = 1.0 / A(i) }", 0},
		{"f(float32 A[8]) -> C { C(i) = sin(A(i)) }", 0},
		{"f(float32 A[8], float32 B[8]) -> C { C(i) = pow(A(i), B(i)) }", 0},
		/* integers wrap: all that the types hold */
		{"f(int8 A[8]) -> C { C(i) = A(i) }", HN_MAGNITUDE_MAX},
		{"f(int8 A[8], int8 B[8]) -> C { C(i) = A(i) + B(i) }", HN_MAGNITUDE_MAX},
		{"f(int32 A[8,512], int32 B[512,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }", HN_MAGNITUDE_MAX},
		{"f(uint8 A[8], uint8 B[8]) -> C { C(i) = A(i) - B(i) }", HN_MAGNITUDE_MAX},
		{"f(int32 A[8], int32 B[8]) -> C { C(i) = B(i) != 0 ? div(A(i), B(i)) : 0 }", 0},
		/* a sum that wraps, at most 2^31, times a scale */
		{"f(uint8 A[8,512], int8 B[512,8], float32 s[8]) -> C {\n"
		 "  S(i,j) +=! int32(A(i,k)) * int32(B(k,j))\n"
		 "  C(i,j) = int8(min(max(nearbyint(float32(S(i,j)) * s(j)), -128), 127)) }", 96},
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		struct hn_arena a;
		int32_t got;

		hn_arena_init(&a, 0);
		got = hn_dag_magnitude(dag_of(row[i].text, &a));
		if (got != row[i].want) {
			fail_msg("%s: %d, expected %d", row[i].text, got, row[i].want);
		}
		hn_arena_fini(&a);
	}
}

static void bytes_that_none_can_leave_out(void **state)
{
	static const struct {
		const char *text;
		double read, written;
	} row[] = {
		{"f(float32 A[8,10]) -> C { C(i,j) = A(i,j) }", 320, 320},
		{"f(float32 A[8,10], float64 B[10]) -> C { C(i,j) = A(i,j) + float32(B(j)) }", 400, 320},
		{"f(float32 A[8,10]) -> C { C(i) +=! A(i,k) }", 320, 32},
		/* every second element; a diagonal; a window's own axis does not count twice */
		{"f(float32 A[20]) -> C { C(i) = A(2*i) where i in 0:10 }", 40, 40},
		{"f(float32 A[8,8]) -> C { C(i) = A(i,i) where i in 0:8 }", 4, 32},
		{"f(float32 A[12]) -> C { C(i) +=! A(i+k) where i in 0:8, k in 0:5 }", 32, 32},
		/* behind a condition it may never be read */
		{"f(float32 A[8]) -> C { C(i) = i > 3 ? A(i) : 0.0 }", 0, 32},
		{"f(float32 A[8]) -> C { P(i) = i > 0 ? A(i-1) : 0.0 where i in 0:9\n"
		 " C(i) = P(i) + 1.0 }", 0, 36},
		/* multiplied by what may be nothing, it need not be read */
		{"f(float32 A[8]) -> C { C(i) = A(i) * (i > 3 ? 1.0 : 0.0) }", 0, 32},
		/* through another op; one that is needed in part only */
		{"f(float32 A[8]) -> C { T(i) = A(i) + 1.0\n C(i) = T(i) * 2.0 }", 32, 32},
		{"f(float32 A[8]) -> C { T(i) = A(i) + 1.0\n C(i) = T(i) * 2.0 where i in 0:4 }", 0, 16},
		/* constant inputs may have been prepared */
		{"f(float32 A[8], const float32 B[8]) -> C { C(i) = A(i) + B(i) }", 32, 32},
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		struct hn_arena a;
		double read, written;

		hn_arena_init(&a, 0);
		hn_dag_needed_bytes(dag_of(row[i].text, &a), &read, &written);
		if (read != row[i].read || written != row[i].written) {
			fail_msg("%s: %g and %g, expected %g and %g", row[i].text, read,
				 written, row[i].read, row[i].written);
		}
		hn_arena_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(magnitudes),
		cmocka_unit_test(bytes_that_none_can_leave_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
