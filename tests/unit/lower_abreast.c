/* Functions over several registers at once: right at every length, and made where whole
 * groups of registers are there to go together. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "lower_forms.h"

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

static void registers_go_together(void **state)
{
	const struct fixture *f = *state;
	int64_t lanes = f->host.param[HN_PARAM_VECTOR_UNIT_BYTES] / 4;
	char wide[40];

	if (!(f->host.caps & HN_CAP_FMA)) {
		skip();
	}
	snprintf(wide, sizeof(wide), "<%d x float>", (int)(4 * lanes));
	assert_non_null(strstr(ir_of(*state, forms[0]), wide));
	assert_non_null(strstr(ir_of(*state, forms[5]), wide));
	/* libm goes lane by lane, and strides by shuffles of a register */
	assert_null(strstr(ir_of(*state, forms[10]), wide));
	assert_null(strstr(ir_of(*state, forms[7]), wide));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(histories, setup, teardown),
		cmocka_unit_test_setup_teardown(registers_go_together, setup, teardown),
	};

	return cmocka_run_group_tests_name("lower abreast", tests, NULL, NULL);
}
