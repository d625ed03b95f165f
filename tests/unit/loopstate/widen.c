/* loopstate_widen.c -- which sums are taken in a wider type, and what becomes of their terms; that
 * the numbers are right is unit/lower_wide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "loopstate/dag/mark.h"
#include "loopstate/state/widen.h"
#include "tests/lib/dag_form.h"

/* The terms of the wide reductions, one a line; "" when the dag has nothing to widen. */
static void wide_terms(const struct hn_dag *dag, struct hn_arena *a, struct hn_buf *ret)
{
	const struct hn_dag *wide = hn_dag_widen(dag, a);
	const char *name[HN_DAG_MAX_OPS];
	struct hn_err err = { 0 };

	if (wide == NULL) {
		return;
	}
	if (hn_dag_check("wide", wide, 0, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(wide->n_arg, dag->n_arg);
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		const struct hn_op *old = dag->op[dag->arg[i]], *new = wide->op[wide->arg[i]];

		assert_string_equal(old->id, new->id);
		assert_int_equal(old->dtype[0], new->dtype[0]);
	}
	for (uint32_t i = 0; i < wide->n_op; i++) {
		name[i] = wide->op[i]->name;
	}
	for (uint32_t i = 0; i < wide->n_op; i++) {
		const struct hn_op *op = wide->op[i];

		if (op->reduce != NULL && op->dtype[0] == HN_F64 && strstr(op->name, ".wide")) {
			hn_buf_printf(ret, "%s: ", op->name);
			hn_expr_print(op->reduce->source[0], name, ret);
			hn_buf_putc(ret, '\n');
		}
	}
}

static void expect(const char *text, const char *mark, const char *want)
{
	const struct hn_dag *dag;
	struct hn_buf got;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_buf_init(&got);
	dag = dag_open(text, &a);
	if (mark != NULL) {
		dag = hn_dag_mark(dag, mark, &a);
	}
	wide_terms(dag, &a, &got);
	if (strcmp(got.n > 0 ? got.s : "", want) != 0) {
		fail_msg("%s:\n%s, expected\n%s", text, got.n > 0 ? got.s : "(nothing)", want);
	}
	hn_buf_fini(&got);
	hn_arena_fini(&a);
}

static void terms_are_formed_in_the_wide_type(void **state)
{
	static const struct {
		const char *text, *terms;
	} row[] = {
		{ "f(float32 A[4,5], B[5,3]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		  "C.wide: float64(A[i.c, k]) * float64(B[k, j.c])\n" },
		/* a constant is the float32 that it was read as */
		{ "f(float32 A[5]) -> C { C() +=! A(k) * 0.1 }",
		  "C.wide: float64(A[k]) * 0.10000000149011612\n" },
		{ "f(float32 A[5]) -> C { C() *=! A(k) + 1.0 }", "C.wide: float64(A[k]) + 1\n" },
		/* conditions as they were; what a call gives is converted */
		{ "f(float32 A[5]) -> C { C(i) +=! i + k > 2 ? A(k) - 2.0 : exp(A(k) * A(i)) "
		  "where i in 0:5 }",
		  "C.wide: if(i.c + k > 2, float64(A[k]) - 2, float64(exp(A[k] * A[i.c])))\n" },
		/* each of a chain, rounded in between */
		{ "f(float32 A[4,5], B[5,3], D[3,2]) -> E { C(i,j) +=! A(i,k) * B(k,j) "
		  "E(i,j) +=! C(i,k) * D(k,j) }",
		  "C.wide: float64(A[i.c, k]) * float64(B[k, j.c])\n"
		  "E.wide: float64(C[i.c, k]) * float64(D[k, j.c])\n" },
		/* of softmax the sum, and not the largest */
		{ "f(float32 x[6,11]) -> y { m(i) max=! x(i,k) e(i,j) = exp(x(i,j) - m(i)) "
		  "s(i) +=! e(i,k) y(i,j) = e(i,j) / s(i) }",
		  "s.wide: float64(e[i.c, k])\n" },
		{ "f(float32 A[5], float64 B[5]) -> C { C() +=! A(k) * float32(B(k)) }",
		  "C.wide: float64(A[k]) * float64(float32(B[k]))\n" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		expect(row[i].text, NULL, row[i].terms);
		expect(row[i].text, HN_MARK_COLD, row[i].terms);
		expect(row[i].text, HN_MARK_BITWISE, "");
		expect(row[i].text, "no_reassociation", "");
		expect(row[i].text, "no_zeros", row[i].terms);
	}
}

static void nothing_to_widen(void **state)
{
	static const char *const row[] = {
		"f(float32 A[5]) -> C { C(i) = A(i) + 1.0 }",
		"f(float32 A[5]) -> C { C() max=! A(k) }",
		"f(float64 A[5]) -> C { C() +=! A(k) }",
		"f(int32 A[5]) -> C { C() +=! A(k) }",
		"f(int8 A[5]) -> C { C() +=! int32(A(k)) }",
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		expect(row[i], NULL, "");
	}
}

/* What stands behind a sum and jumps; the same of an input is nobody's concern. */
static void sums_that_decide_stay(void **state)
{
	static const char *const row[] = {
		"C(i) = int8(round(S(i) * 10.0))", "C(i) = floor(S(i))",
		"C(i) = S(i) > 0.0 ? 1.0 : 0.0",   "C(i) = S(i) == A(i,0) ? 1.0 : 0.0",
		"C(i) = int32(S(i))",		   "T(i) = S(i) * 2.0 C(i) = ceil(T(i))",
		"C(i) = fmod(S(i), 0.5)",	   "C(i) = S(i) < 0.0 ? 1.0 : 0.0",
		"C(i) = S(i) <= 0.0 ? 1.0 : 0.0",  "C(i) = S(i) >= 0.0 ? 1.0 : 0.0",
		"C(i) = S(i) != 0.0 ? 1.0 : 0.0",  "C(i) = trunc(S(i))",
		"C(i) = round(S(i))",		   "C(i) = nearbyint(S(i))",
	};
	static const char *const fine[] = {
		"C(i) = max(S(i), 0.0)",
		"C(i) = tanh(S(i)) / S(i)",
		"C(i) = i > 2 ? S(i) : 0.0",
		"T(i) = floor(A(i,0)) C(i) = S(i) + T(i)",
		"T(i) = A(i,0) > 0.0 ? 1.0 : 0.0 C(i) = S(i) * T(i)",
	};
	char text[300];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		snprintf(text, sizeof text, "f(float32 A[4,5]) -> C { S(i) +=! A(i,k) %s }",
			 row[i]);
		expect(text, NULL, "");
	}
	for (size_t i = 0; i < HN_COUNT_OF(fine); i++) {
		snprintf(text, sizeof text, "f(float32 A[4,5]) -> C { S(i) +=! A(i,k) %s }",
			 fine[i]);
		expect(text, NULL, "S.wide: float64(A[i.c, k])\n");
	}
}

/* A chain of n sums. */
static const struct hn_dag *sums(uint32_t n, struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_buf text;

	hn_buf_init(&text);
	hn_buf_printf(&text, "f(float32 A[3]) -> S%u { S0() +=! A(k)", n - 1);
	for (uint32_t i = 1; i < n; i++) {
		hn_buf_printf(&text, " S%u() +=! A(k) * S%u()", i, i - 1);
	}
	hn_buf_puts(&text, " }");
	dag = dag_open(text.s, a);
	hn_buf_fini(&text);
	return dag;
}

static void there_must_be_room(void **state)
{
	const uint32_t most = (HN_DAG_MAX_OPS - 1) / 2;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_non_null(hn_dag_widen(sums(most, &a), &a));
	assert_null(hn_dag_widen(sums(most + 1, &a), &a));
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terms_are_formed_in_the_wide_type),
		cmocka_unit_test(nothing_to_widen),
		cmocka_unit_test(sums_that_decide_stay),
		cmocka_unit_test(there_must_be_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
