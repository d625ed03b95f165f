/* loopstate_sway.c -- which integers are settled, and which hang on floats that kernels need not
 * have to the bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "loopstate/dag/sway.h"
#include "tests/lib/dag_form.h"

#define SUM "f(float32 A[9,70], s[9]) -> Y {\n  S(i) +=! A(i,k)\n"

static void the_worst_that_is_decided(void **state)
{
	static const struct {
		const char *text;
		enum hn_sway want; /* of the last op */
		bool settled;
	} row[] = {
		/* integers are exact, and so is what they are scaled by */
		{ "f(uint8 A[9,70], int8 B[70,5], float32 s[5]) -> Y {\n"
		  "  C(i,j) +=! int32(A(i,k)) * int32(B(k,j))\n"
		  "  Y(i,j) = int8(min(max(nearbyint(float32(C(i,j)) * s(j) + 0.5), "
		  "-128), 127)) }",
		  HN_SWAY_NONE, true },
		{ SUM "  Y(i) = int8(nearbyint(S(i) * s(i))) }", HN_SWAY_CASTS, false },
		{ SUM "  Y(i) = int8(min(max(nearbyint(S(i)) + 3, -128), 127)) }",
		  HN_SWAY_CASTS, false },
		{ SUM "  Y(i) = uint8(S(i)) }", HN_SWAY_CASTS, false },
		/* what reads it sways, too */
		{ SUM "  T(i) = int8(S(i))\n  Y(i) = int32(T(i)) * 2 }", HN_SWAY_CASTS,
		  false },
		/* a float may be as far off as the tolerance says */
		{ SUM "  Y(i) = S(i) * s(i) }", HN_SWAY_NONE, true },
		/* compared, or rounded and used as a number */
		{ SUM "  Y(i) = S(i) > s(i) ? 1 : 0 }", HN_SWAY_ANY, false },
		{ SUM "  Y(i) = int8(nearbyint(S(i)) * s(i)) }", HN_SWAY_ANY, false },
		/* an extreme has one answer in any order */
		{ "f(float32 A[9,70]) -> Y { M(i) max=! A(i,k)\n  Y(i) = int8(M(i)) }",
		  HN_SWAY_NONE, true },
		/* vector code or libm */
		{ "f(float32 A[70]) -> Y { Y(i) = int8(nearbyint(exp(A(i)) * 9)) }",
		  HN_SWAY_CASTS, false },
		{ "f(float32 A[70]) -> Y { Y(i) = int8(nearbyint(sqrt(A(i)) * 9)) }",
		  HN_SWAY_NONE, true },
		{ "f(float32 A[70]) -> Y { @no_functions Y(i) = int8(nearbyint(exp(A(i)) "
		  "* 9)) }",
		  HN_SWAY_NONE, true },
		/* the order is the task's */
		{ "f(float32 A[9,70]) -> Y { @bitwise S(i) +=! A(i,k)\n  Y(i) = "
		  "int8(S(i)) }",
		  HN_SWAY_NONE, true },
		{ "f(float16 A[9,70]) -> Y { S(i) +=! A(i,k)\n  Y(i) = int8(S(i)) }",
		  HN_SWAY_NONE, true },
		/* contracted or not, on the way to a maximum and a cast */
		{ "f(float32 A[9,70]) -> Y { T(i,k) = A(i,k) * A(i,0) + 1\n  M(i) max=! "
		  "T(i,k)\n"
		  "  Y(i) = int8(M(i)) }",
		  HN_SWAY_CASTS, false },
		/* the product in a stage of its own, which may be inlined */
		{ "f(float32 A[9,70]) -> Y { P(i,k) = A(i,k) * A(i,0)\n  T(i,k) = P(i,k) + 1\n"
		  "  M(i) max=! T(i,k)\n  Y(i) = int8(M(i)) }",
		  HN_SWAY_CASTS, false },
		{ "f(float32 A[9,70]) -> Y { @no_contraction P(i,k) = A(i,k) * A(i,0)\n"
		  "  T(i,k) = P(i,k) + 1\n  M(i) max=! T(i,k)\n  Y(i) = int8(M(i)) }",
		  HN_SWAY_NONE, true },
		{ "f(float32 A[9,70]) -> Y { T(i,k) = A(i,k) * A(i,0) + 1\n  Y(i,k) = "
		  "int8(T(i,k)) }",
		  HN_SWAY_NONE, true },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_dag *dag = dag_open(row[i].text, &a);
		enum hn_sway sway[HN_DAG_MAX_OPS];

		hn_dag_sways(dag, sway);
		if (sway[dag->n_op - 1] != row[i].want ||
		    hn_dag_settled(dag) != row[i].settled) {
			fail_msg("%s: %d, expected %d", row[i].text,
				 (int)sway[dag->n_op - 1], (int)row[i].want);
		}
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_worst_that_is_decided) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
