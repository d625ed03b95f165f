/* Elements that do not lie in a row: small strides and blocks to be transposed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/lib/lower_forms.h"

static const char *const forms[] = {
	"f(float32 X[13,67]) -> Y { Y(i,j) = X(i,2*j) where j in 0:34 }",
	"f(float32 X[13,67]) -> Y { Y(i,j) = X(i,2*j+1) where j in 0:33 }",
	"f(float32 X[200]) -> Y { Y(j) = X(3*j) - X(3*j+1) * X(3*j+2) where j in 0:66 }",
	"f(float64 X[7,90]) -> Y { Y(i,j) = X(i,4*j+3) where j in 0:21 }",
	"f(float32 X[300]) -> Y { Y(j) = X(8*j) where j in 0:38 }",
	"f(float32 X[300]) -> Y { Y(j) = X(9*j) where j in 0:33 }",
	"f(float32 X[64]) -> Y { Y(j) = X(63-j) where j in 0:64 }",
	"f(int8 X[300]) -> Y { Y(j) = X(2*j) where j in 0:150 }",
	"f(int16 X[300]) -> Y { Y(j) = X(5*j) where j in 0:60 }",
	"f(uint8 X[5,70]) -> Y { Y(i,j) = X(i,2*j) > 1 where j in 0:35 }",
	/* under conditions of all lanes, and of each */
	"f(float32 X[9,41]) -> Y { Y(i,j) = i >= 4 ? X(i-4,2*j) : 5.0"
	" where i in 0:13, j in 0:20 }",
	"f(float32 X[3,41]) -> Y { Y(i,j) max=! (2*j+s >= 1 && 2*j+s < 42 ?"
	" X(i,2*j+s-1) : -4.0) where j in 0:21, s in 0:3 }",
	"f(float32 X[3,50]) -> Y { Y(i,j) +=! X(i,3*j+s) where j in 0:16, s in 0:5 }",
	/* blocks to be transposed, with tails both ways */
	"f(float32 X[32,32]) -> Y { Y(i,j) = X(j,i) }",
	"f(float32 X[37,21]) -> Y { Y(i,j) = X(j,i) }",
	"f(float64 X[19,25]) -> Y { Y(i,j) = X(j,i) * 2.0 }",
	"f(float32 X[3,40], Z[40,3]) -> Y { Y(i,j) = X(j,i) + Z(i,j) }",
	"f(float32 X[20,18], Z[20,18]) -> Y { Y(i,j) = X(j,i) * Z(j,i) + X(j,i) }",
	"f(float32 X[6,5,19]) -> Y { Y(i,j,k) = X(k,j,i) }",
	"f(float32 X[18,6,17]) -> Y { Y(i,j,k) = X(k,i,j) }",
	"f(int32 X[17,33]) -> Y { Y(i,j) = X(j,i) }",
	"f(int8 X[70,65]) -> Y { Y(i,j) = X(j,i) }",
	"f(float32 X[20,20]) -> Y { Y(i,j) = j >= 2 && i >= 3 ? X(j-2,i-3) : 1.0"
	" where i in 0:23, j in 0:22 }",
};

static void histories(void **state)
{
	for (size_t i = 0; i < HN_COUNT_OF(forms); i++) {
		check_form(*state, forms[i], 12);
	}
}

#ifdef LOWER_FORMS_X86
static int setup_avx512(void **state)
{
	return setup_on(state, "cpu -isa=x86-64-avx512 -vector_unit_bytes=64");
}

static int setup_avx2(void **state)
{
	return setup_on(state, "cpu -isa=x86-64-avx2 -vector_unit_bytes=32");
}

static void check_shuffled(struct fixture *f, const char *form)
{
	const char *ir = ir_of(f, form);

	assert_null(strstr(ir, "insertelement"));
	assert_non_null(strstr(ir, "shufflevector"));
}

/* With masks no tail is told apart either. */
static void no_element_alone(void **state)
{
	check_shuffled(*state, forms[13]);
	check_shuffled(*state, forms[0]);
}

/* Without masks the two elements behind the last whole vector are two loads. */
static void no_element_of_a_whole_vector_alone(void **state)
{
	check_shuffled(*state, forms[13]);
	check_shuffled(*state, "f(float32 X[13,67]) -> Y { Y(i,j) = X(i,2*j) where j in 0:32 }");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(histories, setup, teardown),
#ifdef LOWER_FORMS_X86
		cmocka_unit_test_setup_teardown(no_element_alone, setup_avx512, teardown),
		cmocka_unit_test_setup_teardown(no_element_of_a_whole_vector_alone, setup_avx2,
						teardown),
#endif
	};

	return cmocka_run_group_tests_name("lower strides", tests, NULL, NULL);
}
