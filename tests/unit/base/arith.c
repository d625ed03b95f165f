/* Division towards minus infinity, up to the ends of int64 (with sanitizers: no overflow). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arith.h"
#include "base/cdefs.h"

static void floors(void **state)
{
	static const struct {
		int64_t a, b, quotient, rest;
	} rows[] = {
		{7, 2, 3, 1},
		{-7, 2, -4, 1},
		{7, -2, -4, -1},
		{-7, -2, 3, -1},
		{-8, 2, -4, 0},
		{INT64_MAX, -1, -INT64_MAX, 0},
		{INT64_MIN, 1000000000, -9223372037, 145224192},
		{INT64_MIN, INT64_MAX, -2, INT64_MAX - 1},
		{INT64_MAX, INT64_MIN, -1, -1},
		{INT64_MIN, INT64_MIN, 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		assert_int_equal(hn_floordiv(rows[i].a, rows[i].b), rows[i].quotient);
		assert_int_equal(hn_floormod(rows[i].a, rows[i].b), rows[i].rest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(floors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
