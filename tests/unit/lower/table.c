/* Choices among constants: numbers in the compiler, an array where they are not known. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/lib/lower_forms.h"

/* c(r, i) of 3 x 5, no two alike. */
#define MATRIX                                                                           \
	"(r==0 && i==0 ? 1.5 : r==0 && i==1 ? -2.0 : r==0 && i==2 ? 3.25 : r==0 && i==3" \
	" ? 4.0 : r==0 && i==4 ? 5.5 : r==1 && i==0 ? 6.0 : r==1 && i==1 ? 7.0 : r==1 "  \
	"&&"                                                                             \
	" i==2 ? -8.0 : r==1 && i==3 ? 9.0 : r==1 && i==4 ? 10.0 : r==2 && i==0 ? 11.0 " \
	":"                                                                              \
	" r==2 && i==1 ? 12.5 : r==2 && i==2 ? 13.0 : r==2 && i==3 ? 14.0 : -15.0)"

static const char *const forms[] = {
	"f(float32 X[3,37]) -> Y { Y(i,j) +=! X(r,j) * " MATRIX " where i in 0:5 }",
	"f(float32 X[3,37]) -> Y { Y(j,i) +=! X(r,j) * " MATRIX " where i in 0:5 }",
	"f(float32 X[37]) -> Y { Y(j,r,i) = X(j) + " MATRIX " where i in 0:5, r in 0:3 }",
	"f(float32 X[37]) -> Y { Y(r,i,j) = X(j) + " MATRIX " where i in 0:5, r in 0:3 }",
	"f(float32 X[7,3,5]) -> Y { Y(k) +=! X(k,r,i) * " MATRIX " }",
	/* conditions of other forms, and integers */
	"f(float32 X[7,19]) -> Y { Y(k,i) = X(k,i) * (i < 3 ? 1.0 : i >= 17 ? 2.0 :"
	" 2*i - 5 == 9 || !(i > 4) ? 3.0 : i != 12 ? 4.0 : 5.0) }",
	"f(int32 X[7,19]) -> Y { Y(k,i) = X(k,i) * (i < 3 ? 1 : i + k == 17 ? -2 : i == k"
	" ? 3 : i - k > 5 ? 4 : 5) }",
	/* a choice that is no table: it reads */
	"f(float32 X[7,19]) -> Y { Y(k,i) = i < 3 ? 1.0 : i == 17 ? X(k,i) : i == 5 ? 3.0"
	" : i == 6 ? 4.0 : 5.0 }",
};

static void histories(void **state)
{
	for (size_t i = 0; i < HN_COUNT_OF(forms); i++) {
		check_form(*state, forms[i], 24);
	}
}

/* Neither what is known nor what is not leaves a condition. */
static void no_choice_is_left(void **state)
{
	for (size_t i = 0; i < 7; i++) {
		assert_null(strstr(ir_of(*state, forms[i]), "= select"));
	}
	assert_non_null(strstr(ir_of(*state, forms[3]), "@hone.table"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(histories, setup, teardown),
		cmocka_unit_test_setup_teardown(no_choice_is_left, setup, teardown),
	};

	return cmocka_run_group_tests_name("lower table", tests, NULL, NULL);
}
