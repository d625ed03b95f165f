/* What names may be, and what text of strangers looks like when it is shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cdefs.h"
#include "base/json.h"
#include "base/name.h"

static void names(void **state)
{
	static const char *const good[] = { "A",      "T_add$2", "B.shared", "_x",
					    "conv:0", "a-b",	 "0",	     "x@y" };
	static const char *const bad[] = {
		"",	   " ",	      "a b",   "*/",	"a*/",	 "a/b",	  "../a",    ".a",
		"-rf",	   "$x",      "a\nb",  "a\"b",	"a\\b",	 "a'b",	  "a;b",     "a(b)",
		"a\x1b[m", "\xc3\xa9", "a\x80", "a\x7f", "a\tb", "?\?/x", "\u202e" "a",
	};
	char longer[130];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(good); i++) {
		assert_true(hn_name_fits(good[i], 128));
	}
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		if (hn_name_fits(bad[i], 128)) {
			fail_msg("%s is taken for a name", bad[i]);
		}
	}
	assert_false(hn_name_fits(NULL, 128));
	memset(longer, 'a', sizeof longer);
	longer[129] = '\0';
	assert_false(hn_name_fits(longer, 128));
	longer[128] = '\0';
	assert_true(hn_name_fits(longer, 128));
}

static const struct {
	const char *text, *shown;
} rows[] = {
	{ "plain", "plain" },
	{ "caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80" },
	{ "a\nb\tc\r\x1b[2Jd\x7f", "a b c  [2Jd " },
	{ "a\xc2\x9b" "2J", "a?2J" },		     /* CSI as one character */
	{ "x\xe2\x80\xae" "cod\xe2\x80\xac", "x?cod?" }, /* right to left */
	{ "a\xe2\x81\xa6" "b\xe2\x81\xa9\xd8\x9c", "a?b??" },
	{ "a\xe2\x80\x8b" "b\xef\xbb\xbf", "a?b?" },	     /* zero width */
	{ "a\xe2\x80\xa8" "b", "a?b" },		     /* line separator */
	{ "\xf3\xa0\x81\x81", "?" },		     /* a tag */
	{ "a\xff\xc0\x80\xed\xa0\x80", "a??????" },     /* no UTF-8 */
	{ "cut \xe6\x97", "cut ??" },
};

static void shown(void **state)
{
	char text[100];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		size_t n = hn_shown(text, sizeof text, rows[i].text, strlen(rows[i].text));

		assert_string_equal(text, rows[i].shown);
		assert_int_equal(n, strlen(text));
		assert_true(hn_label_fits(text, 99));
		assert_int_equal(hn_label_fits(rows[i].text, 99),
				 strcmp(rows[i].text, rows[i].shown) == 0);
	}
	assert_int_equal(hn_shown(text, 4, "ab\xc3\xa9", 4), 2); /* never half a character */
	assert_string_equal(text, "ab");
	assert_false(hn_label_fits("abc", 2));
}

/* In JSON what acts is escaped, and reads back as it was. */
static void json(void **state)
{
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_json *v;
		size_t at = 0, n;

		hn_buf_reset(&b);
		hn_buf_json_string(&b, rows[i].text);
		while (at < b.n && (n = hn_shown_length(b.s + at, b.n - at)) > 0) {
			at += n;
		}
		assert_int_equal(at, b.n);
		assert_int_equal(hn_json_parse("string", b.s, b.n, NULL, &v, NULL), 0);
		if (strstr(rows[i].shown, "??") == NULL) {
			assert_string_equal(hn_json_string(v), rows[i].text);
		}
		hn_json_free(v);
	}
	hn_buf_fini(&b);
}

static void schemes(void **state)
{
	(void)state;
	assert_int_equal(hn_scheme_length("postgresql://host/name"), 10);
	assert_int_equal(hn_scheme_length("a+b-c.9://"), 7);
	assert_int_equal(hn_scheme_length("/var/lib/hone"), 0);
	assert_int_equal(hn_scheme_length("9p://host"), 0); /* begins with a letter */
	assert_int_equal(hn_scheme_length("://host"), 0);
	assert_int_equal(hn_scheme_length("file:/x"), 0);
	assert_int_equal(hn_scheme_length("a_b://host"), 0);
	assert_int_equal(hn_scheme_length(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(schemes),
		cmocka_unit_test(shown),
		cmocka_unit_test(json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
