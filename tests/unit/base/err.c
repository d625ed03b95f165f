/* Messages are one clean line whatever they quote; names and numbers come from the
 * tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/verdict.h"

static void fail_writes_one_line(void **state)
{
	struct hn_err err = {0};

	(void)state;
	assert_int_equal(hn_fail(&err, HONE_E_INVALID, "%s:%d: bad\nthing", "a.json", 7),
			 -HONE_E_INVALID);
	assert_int_equal(err.code, HONE_E_INVALID);
	assert_string_equal(err.msg, "a.json:7: bad thing");
	assert_int_equal(hn_fail(NULL, HONE_E_IO, "nobody listens"), -HONE_E_IO);
}

static void hostile_text_is_cleaned(void **state)
{
	struct hn_err err = {0};

	(void)state;
	hn_fail(&err, HONE_E_INVALID, "\x1b[31m \xff \xc3\xa9 \xed\xa0\x80");
	assert_string_equal(err.msg, " [31m ? \xc3\xa9 ???");
}

static void a_long_message_is_cut_between_characters(void **state)
{
	struct hn_err err = {0};
	char text[3000];

	(void)state;
	text[0] = 'x';
	for (size_t i = 1; i + 2 < sizeof(text); i += 2) {
		memcpy(text + i, "\xc3\xa9", 3);
	}
	hn_fail(&err, HONE_E_INVALID, "%s", text);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	assert_int_equal((unsigned char)err.msg[sizeof(err.msg) - 2], 0xa9);
	hn_fail(&err, HONE_E_INVALID, "x%s", text);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 2);
	assert_int_equal((unsigned char)err.msg[sizeof(err.msg) - 3], 0xa9);
}

static void context_goes_in_front(void **state)
{
	struct hn_err err = {0};

	(void)state;
	hn_fail(&err, HONE_E_NOT_FOUND, "no such node");
	assert_int_equal(hn_err_within(&err, "op %d", 3), -HONE_E_NOT_FOUND);
	assert_string_equal(err.msg, "op 3: no such node");
	hn_fail(&err, HONE_E_IO, "again: %s", err.msg);
	assert_string_equal(err.msg, "again: op 3: no such node");
	assert_int_equal(hn_err_within(NULL, "op"), -HONE_E_INTERNAL);
}

static void classes_have_names(void **state)
{
	(void)state;
	assert_string_equal(hn_err_name(HONE_E_DISK_FULL), "DISK_FULL");
	assert_string_equal(hn_err_name(-HONE_E_DISK_FULL), "DISK_FULL");
	assert_string_equal(hn_err_text(HONE_E_DISK_FULL), "disk full");
	assert_string_equal(hn_err_name(9999), "?");
	assert_int_equal(HONE_E_NOT_FOUND, 1);
	assert_int_equal(HONE_E_NOMEM, 17);
}

static void verdicts_round_trip(void **state)
{
	(void)state;
	for (int v = 0; v < HN_N_VERDICT; v++) {
		assert_int_equal(hn_verdict_of(hn_verdict_name((enum hn_verdict)v)), v);
		assert_true(strlen(hn_verdict_text((enum hn_verdict)v)) > 0);
	}
	assert_int_equal(hn_verdict_of("no such"), HN_N_VERDICT);
	assert_int_equal(hn_verdict_of(NULL), HN_N_VERDICT);
	assert_string_equal(hn_verdict_name(HN_N_VERDICT), "?");
	assert_true(hn_verdict_blames_kernel(HN_VERDICT_WRONG_RESULT));
	assert_false(hn_verdict_blames_kernel(HN_VERDICT_OK));
	assert_false(hn_verdict_blames_kernel(HN_VERDICT_BOARD_LOST));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fail_writes_one_line),
		cmocka_unit_test(hostile_text_is_cleaned),
		cmocka_unit_test(a_long_message_is_cut_between_characters),
		cmocka_unit_test(context_goes_in_front),
		cmocka_unit_test(classes_have_names),
		cmocka_unit_test(verdicts_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
