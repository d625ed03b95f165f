/* Functions over several registers at once: right at every length, and made where whole
 * groups of registers are there to go together. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/lib/lower_forms.h"

static const char *const forms[] = {
	"f(float32 X[3,64]) -> Y { Y(i,j) = exp(X(i,j)) }",
	"f(float32 X[3,63]) -> Y { Y(i,j) = exp(X(i,j)) }",
	"f(float32 X[3,65]) -> Y { Y(i,j) = tanh(X(i,j)) }",
	"f(float32 X[2,77]) -> Y { Y(i,j) = sigmoid(X(i,j)) * X(i,j) }",
	"f(float32 X[5,113]) -> Y { Y(i,j) = erf(X(i,j) * 0.7) + 1.0 }",
	"f(float32 X[4,200], Z[4]) -> Y { Y(i,j) = exp(X(i,j) - Z(i)) }",
	"f(float32 X[3,100]) -> Y { Y(i,j) = j >= 7 && j < 90 ? exp(X(i,j-7)) : 0.5"
	" where j in 0:107 }",
	"f(float32 X[2,300]) -> Y { Y(i,j) = exp(X(i,2*j)) where j in 0:150 }",
	"f(float32 X[70,3]) -> Y { Y(i,j) = exp2(X(j,i)) where i in 0:3, j in 0:70 }",
	"f(float64 X[2,70]) -> Y { Y(i,j) = exp(X(i,j)) }",
	"f(float32 X[2,90]) -> Y { Y(i,j) = sin(X(i,j)) }",
	"softmax(float32 A[3,131]) -> Y { M(i) max=! A(i,k)\n"
	" E(i,j) = exp(A(i,j) - M(i))\n S(i) +=! E(i,k)\n Y(i,j) = E(i,j) / S(i) }",
	"softmax(float32 A[5,2]) -> Y { M(i) max=! A(i,k)\n"
	" E(i,j) = exp(A(i,j) - M(i))\n S(i) +=! E(i,k)\n Y(i,j) = E(i,j) / S(i) }",
};

static void histories(void **state)
{
	for (size_t i = 0; i < HN_COUNT_OF(forms); i++) {
		check_form(*state, forms[i], 12);
	}
}

/* A row that fills the first of the registers that go together, under a test that the code
 * generator cannot see through, at the end of its pages: what no lane asks for is not read. */
static void no_register_is_read_past_the_end(void **state)
{
	static const char text[] = "f(float32 X[16,17]) -> Y { Y(i,j) = exp(X(i,j)) }";
	static const char steps[] = "[[\"SP\", 1, 0, 16, [6], 1]]";
	struct fixture *f = *state;
	const struct hn_trace *trace;
	struct run_args want;
	struct hn_err err = { 0 };

	assert_int_equal(hn_trace_parse(text, steps, strlen(steps), &f->arena, &trace, &err), 0);

	const struct hn_dag *dag = dag_open(text, &f->arena);
	struct history h = { text, dag, trace, 0, &want, 1e-5, &f->arena };

	form_answer(dag, &want);
	check_history(f->em, &h, /* scalar= */ false, /* parallel= */ false);
	run_args_free(&want);
}

#ifdef LOWER_FORMS_X86
static void check_together(struct fixture *f, const char *wide)
{
	assert_non_null(strstr(ir_of(f, forms[0]), wide));
	assert_non_null(strstr(ir_of(f, forms[5]), wide));
	/* libm goes lane by lane, and strides by shuffles of a register */
	assert_null(strstr(ir_of(f, forms[10]), wide));
	assert_null(strstr(ir_of(f, forms[7]), wide));
}

static void registers_go_together(void **state)
{
	check_together(*state, "<64 x float>");
}

static void short_registers_too(void **state)
{
	check_together(*state, "<32 x float>");
}

static int setup_avx512(void **state)
{
	return setup_on(state, "cpu -isa=x86-64-avx512 -vector_unit_bytes=64");
}

static int setup_avx2(void **state)
{
	return setup_on(state, "cpu -isa=x86-64-avx2 -vector_unit_bytes=32");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(histories, setup, teardown),
		cmocka_unit_test_setup_teardown(no_register_is_read_past_the_end, setup,
						teardown),
#ifdef LOWER_FORMS_X86
		cmocka_unit_test_setup_teardown(registers_go_together, setup_avx512,
						teardown),
		cmocka_unit_test_setup_teardown(short_registers_too, setup_avx2,
						teardown),
#endif
	};

	return cmocka_run_group_tests_name("lower abreast", tests, NULL, NULL);
}
