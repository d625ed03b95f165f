/* Writers: the sticky error, JSON strings, and doubles that read back bit for bit. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/rng.h"

static void appends_and_steals(void **state)
{
	struct hn_buf b;
	char *s;

	(void)state;
	hn_buf_init(&b);
	assert_string_equal(b.s, "");
	for (int i = 0; i < 1000; i++) {
		hn_buf_printf(&b, "%d,", i);
	}
	hn_buf_putc(&b, '.');
	assert_int_equal(strlen(b.s), b.n);
	assert_int_equal(b.n, 10 * 2 + 90 * 3 + 900 * 4 + 1);
	s = hn_buf_steal(&b);
	assert_int_equal(b.n, 0);
	assert_string_equal(b.s, "");
	assert_int_equal(s[strlen(s) - 1], '.');
	free(s);
	s = hn_buf_steal(&b);
	assert_string_equal(s, "");
	free(s);
	hn_buf_fini(&b);
}

static void the_error_is_sticky(void **state)
{
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	b.max_bytes = 8;
	hn_buf_puts(&b, "12345678");
	assert_false(b.failed);
	hn_buf_putc(&b, '9');
	assert_true(b.failed);
	hn_buf_reset(&b);
	hn_buf_puts(&b, "123456789");
	assert_true(b.failed);
	hn_buf_puts(&b, "1");
	hn_buf_printf(&b, "%d", 1);
	assert_string_equal(b.s, "");
	hn_buf_reset(&b);
	hn_buf_puts(&b, "1");
	assert_false(b.failed);
	assert_string_equal(b.s, "1");
	hn_buf_fini(&b);
}

static void json_strings_are_escaped(void **state)
{
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	hn_buf_json_string(&b, "a\"b\\c\n\x01\xc3\xa9/");
	assert_string_equal(b.s, "\"a\\\"b\\\\c\\u000a\\u0001\xc3\xa9/\"");
	hn_buf_fini(&b);
}

static void check_double(double v, const char *expected)
{
	struct hn_buf b;

	hn_buf_init(&b);
	hn_buf_double(&b, v);
	if (expected) {
		assert_string_equal(b.s, expected);
	} else {
		double back = strtod(b.s, NULL);

		assert_memory_equal(&back, &v, sizeof(v));
	}
	hn_buf_fini(&b);
}

static void doubles_are_shortest(void **state)
{
	(void)state;
	check_double(0.1, "0.1");
	check_double(0, "0");
	check_double(-0.0, "-0");
	check_double(100, "100");
	check_double(-123456789, "-123456789");
	check_double(1e15, "1e+15");
	check_double(0.1 + 0.2, "0.30000000000000004");
	check_double(1.0 / 3, "0.3333333333333333");
	check_double(5e-324, "5e-324");
	check_double(DBL_MAX, "1.7976931348623157e+308");
	check_double(DBL_MIN, "2.2250738585072014e-308");
	check_double(INFINITY, "\"inf\"");
	check_double(-INFINITY, "\"-inf\"");
	check_double(NAN, "\"nan\"");
}

static void doubles_read_back(void **state)
{
	struct hn_rng r = hn_rng_stream(1, 2, 3, 4);

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = hn_rng_u64(&r);
		double v;

		memcpy(&v, &bits, sizeof(v));
		if (isfinite(v)) {
			check_double(v, NULL);
		}
		check_double((double)(bits >> 40) / 1000, NULL);
	}
}

/* No locale with a decimal comma need be installed, nor the sources of locales: one is made
 * here, of its own words and its own character map. */
static void doubles_ignore_the_locale(void **state)
{
	static const char make[] =
		"cd '%s' && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\n"
		"grouping -1\\nEND LC_NUMERIC\\n' > source && "
		"printf '<code_set_name> ANSI_X3.4-1968\\nCHARMAP\\n"
		"<U0000>..<U007F> \\\\x00 ASCII\\nEND CHARMAP\\n' > map && "
		"localedef --no-archive -c -f ./map -i ./source ./comma "
		">log 2>&1; test -e comma/LC_NUMERIC || { cat log; false; }";
	char dir[] = "/tmp/hone-locale-XXXXXX";
	char command[600];
	char shown[20];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command), make, dir);
	assert_int_equal(system(command), 0);
	setenv("LOCPATH", dir, 1);
	assert_non_null(setlocale(LC_NUMERIC, "comma"));
	snprintf(shown, sizeof(shown), "%.1f", 2.5);
	assert_string_equal(shown, "2,5");
	check_double(2.5, "2.5");
	check_double(2.5e-30, "2.5e-30");
	setlocale(LC_NUMERIC, "C");
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appends_and_steals),
		cmocka_unit_test(the_error_is_sticky),
		cmocka_unit_test(json_strings_are_escaped),
		cmocka_unit_test(doubles_are_shortest),
		cmocka_unit_test(doubles_read_back),
		cmocka_unit_test(doubles_ignore_the_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
