/* Slips of the finger: how far words are apart, and which one is offered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/typo.h"

static void slips_are_counted(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned distance;
	} row[] = {
		{"", "", 0},	       {"tune", "tune", 0},	{"", "tune", 4},
		{"tnue", "tune", 1},   {"tun", "tune", 1},	{"tunne", "tune", 1},
		{"tuna", "tune", 1},   {"trails", "trials", 1}, {"secnods", "seconds", 1},
		{"jobs", "boards", 4}, {"ab", "ba", 1},		{"abcd", "dcba", 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		assert_int_equal(hn_typo_distance(row[i].a, row[i].b), row[i].distance);
		assert_int_equal(hn_typo_distance(row[i].b, row[i].a), row[i].distance);
	}
}

static void the_nearest_is_offered(void **state)
{
	static const char *const known[] = {"tune", "trials", "seconds", "stop", "ls"};
	static const struct {
		const char *word, *want;
	} row[] = {
		{"tnue", "tune"}, {"trails", "trials"}, {"sec", "seconds"}, {"lst", "ls"},
		{"stpo", "stop"}, {"x", NULL},		{"", NULL},	    {"frobnicate", NULL},
		{"zz", NULL},
	};
	char huge[5000];

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		const char *got = hn_typo_nearest(row[i].word, known, 5);

		if (row[i].want == NULL) {
			assert_null(got);
		} else {
			assert_non_null(got);
			assert_string_equal(got, row[i].want);
		}
	}
	memset(huge, 't', sizeof huge - 1);
	huge[sizeof huge - 1] = '\0';
	assert_null(hn_typo_nearest(huge, known, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slips_are_counted),
		cmocka_unit_test(the_nearest_is_offered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
