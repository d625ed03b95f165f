/* all_bracket.c -- which outputs are moved and which cannot be; that answers far from a border
 * have one value, that those near one have two, and that sums in another order lie between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "loopstate/state/bracket.h"
#include "lower/lower.h"
#include "tests/lib/dag_form.h"

#define SUM "f(float32 A[9,70], s[9]) -> Y {\n  S(i) +=! A(i,k)\n"

static void what_can_be_moved(void **state)
{
	static const struct {
		const char *text;
		bool moved;
	} row[] = {
		{ SUM "  Y(i) = int8(nearbyint(S(i) * s(i))) }", true },
		{ SUM "  Y(i) = int8(min(max(nearbyint(S(i) * s(i)) + 3, -128), 127)) }",
		  true },
		{ SUM "  Y(i) = uint8(S(i)) }", true },
		{ SUM "  Y(i) = bfloat16(max(S(i) + s(i), 0)) }", true },
		{ SUM "  Y(i) = float16(S(i)) * float16(s(i)) }", true },
		{ "f(float32 A[70]) -> Y { Y(i) = int8(nearbyint(exp(A(i)) * 9)) }",
		  true },
		{ "l(float32 X[8,256]) -> Y {\n  M(i) +=! X(i,k)\n"
		  "  V(i) +=! (X(i,k) - M(i) / 256) * (X(i,k) - M(i) / 256)\n"
		  "  Y(i,k) = int8(min(max(nearbyint((X(i,k) - M(i) / 256) * rsqrt(V(i) "
		  "/ 256 + "
		  "1e-5) * 32), -128), 127)) }",
		  true },
		/* contracted or not */
		{ "f(bfloat16 A[70], float32 B[70]) -> Y { Y(i) = bfloat16(float32(A(i)) "
		  "* B(i) + 1) }",
		  true },
		/* each operation is rounded: all have the same bits */
		{ "f(bfloat16 A[70]) -> Y { Y(i) = A(i) * A(i) + 1 }", true },
		{ "f(float32 A[70]) -> Y { Y(i) = float16(A(i) * 3) }", true },
		/* nothing is loose, or nothing is rounded to few bits */
		{ SUM "  Y(i) = S(i) * s(i) }", false },
		{ "f(float32 A[70]) -> Y { Y(i) = int8(nearbyint(A(i))) }", false },
		/* rounded before */
		{ SUM "  T(i) = bfloat16(S(i))\n  Y(i) = T(i) + T(0) }", false },
		{ SUM "  T(i) = int8(S(i))\n  Y(i) = int32(T(i)) * int32(T(0)) }",
		  false },
		/* compared; twice; not monotone; wrapped */
		{ SUM "  Y(i) = S(i) > s(i) ? 1 : 0 }", false },
		{ SUM "  Y(i) = int32(S(i)) + int32(S(0)) }", false },
		{ SUM "  Y(i) = abs(bfloat16(S(i))) }", false },
		{ SUM "  Y(i) = int8(int32(S(i))) }", false },
		{ SUM "  Y(i) = int8(nearbyint(floor(S(i)) * 0.3)) }", false },
		/* the numbers are the task's */
		{ "f(float32 A[9,70]) -> Y { @bitwise S(i) +=! A(i,k)\n  Y(i) = "
		  "int8(S(i)) }",
		  false },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_dag *dag = dag_open(row[i].text, &a);
		const struct hn_dag *low =
			hn_dag_bracket(dag, HN_BRACKET_LOW, HN_BRACKET_WHOLE, &a);
		struct hn_err err = { 0 };

		if ((low != NULL) != row[i].moved) {
			fail_msg("%s: %s", row[i].text,
				 low != NULL ? "moved" : "not moved");
		}
		if (low != NULL && hn_dag_check("low", low, 0, &err) != 0) {
			fail_msg("%s: %s", row[i].text, err.msg);
		}
		assert_true(low == NULL || low->n_arg == dag->n_arg);
		low = hn_dag_bracket(dag, HN_BRACKET_HIGH, HN_BRACKET_ELEMENTS, &a);
		assert_int_equal(low != NULL, row[i].moved);
		assert_true(low == NULL || hn_dag_check("high", low, 0, &err) == 0);
	}
	hn_arena_fini(&a);
}

/* One term, so that the sum is what is given: 6 numbers around a border at 2.5. */
static void near_a_border_there_are_two(void **state)
{
	const char *text = "f(float32 A[6,1]) -> Y { S(i) +=! A(i,k)\n  Y(i) = "
			   "int8(nearbyint(S(i))) }";
	float in[6] = { 2.4f, 2.4999f, 2.50001f, 2.6f, -0.49999f, 300 };
	static const int8_t low[6] = { 2, 2, 2, 3, 0, 127 },
			    high[6] = { 2, 2, 3, 3, 0, 127 };
	int8_t got[2][6] = { { 0 } };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (int side = 0; side < 2; side++) {
		const struct hn_dag *dag = hn_dag_bracket(
			dag_open(text, &a), (enum hn_bracket)side, HN_BRACKET_WHOLE, &a);
		void *arg[] = { in, got[side] };
		struct hn_err err;

		assert_non_null(dag);
		assert_int_equal(hn_interpret(dag, arg, &err), 0);
	}
	/* the last one is far off: the mean square counts it as 128, so that the bound is 5e-4 */
	for (int i = 0; i < 6; i++) {
		bool near = fabsf(fabsf(in[i] - truncf(in[i])) - 0.5f) < 4e-4f;

		assert_int_equal(got[0][i] != got[1][i], near);
		assert_true(got[0][i] <= low[i] && got[1][i] >= high[i]);
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_moved),
		cmocka_unit_test(near_a_border_there_are_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
