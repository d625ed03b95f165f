/* Reading JSON: what RFC 8259 refuses is refused with its place, and cuts and flips of a
 * good text never crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/rng.h"

struct refusal {
	const char *text, *message; /* NULL message: accepted */
};

static const struct refusal refusals[] = {
	{"{}", NULL},
	{" [1, 2.5, -0, 1e3, \"\\u00e9\\ud83d\\ude00\\n\", true, false, null, "
	 "{\"a\":[]}] ",
	 NULL},
	{"\"\xf0\x9f\x98\x80\"", NULL},
	{"{\"a\":1,\"A\":2}", NULL},
	{"", "t:1:1: the text ends before a value"},
	{" \n ", "t:2:2: the text ends before a value"},
	{"{\"a\": [1,\n 2",
	 "t:2:3: the text ends here, but the '[' of 1:7 is still open (is "
	 "the file cut short?)"},
	{"{\"a\"",
	 "t:1:5: the text ends here, but the '{' of 1:1 is still open (is the file "
	 "cut short?)"},
	{"[\"ab", "t:1:5: the text ends here, inside the string of 1:2 (is the file cut "
		  "short?)"},
	{"[\"ab\\",
	 "t:1:6: the text ends here, inside the string of 1:2 (is the file cut "
	 "short?)"},
	{"[tru",
	 "t:1:5: the text ends here, but the '[' of 1:1 is still open (is the file "
	 "cut short?)"},
	{"[1,]", "t:1:4: expected a value, not ']'"},
	{"[,1]", "t:1:2: expected a value, not ','"},
	{"[1 2]", "t:1:4: expected ',' or ']', not '2'"},
	{"[1}", "t:1:3: expected ',' or ']', not '}'"},
	{"{\"a\" 1}", "t:1:6: expected ':', not '1'"},
	{"{a:1}", "t:1:2: expected a member's name in quotes, not 'a'"},
	{"{\"a\":1,}", "t:1:8: expected a member's name in quotes, not '}'"},
	{"{} x", "t:1:4: expected the end of the text, not 'x'"},
	{"{}{}", "t:1:3: expected the end of the text, not '{'"},
	{"[01]", "t:1:2: a number with leading zeros"},
	{"[-]", "t:1:3: expected a digit, not ']'"},
	{"[+1]", "t:1:2: expected a value, not '+'"},
	{"[.5]", "t:1:2: expected a value, not '.'"},
	{"[1.]", "t:1:4: expected a digit after the decimal point, not ']'"},
	{"[1e]", "t:1:4: expected a digit of the exponent, not ']'"},
	{"[1e999]", "t:1:2: the number 1e999 is beyond what a double holds"},
	{"[0x10]", "t:1:3: expected ',' or ']', not 'x'"},
	{"[NaN]", "t:1:2: expected a value, not 'N'"},
	{"[nul]", "t:1:5: expected 'null', not ']'"},
	{"[True]", "t:1:2: expected a value, not 'T'"},
	{"['a']", "t:1:2: expected a value, not '''"},
	{"[\"\\x\"]",
	 "t:1:3: unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"},
	{"[\"\\u12\"]", "t:1:3: \\u needs four hex digits"},
	{"[\"\\u12g4\"]", "t:1:3: \\u needs four hex digits"},
	{"[\"\\u0000\"]", "t:1:3: \\u0000 is not accepted"},
	{"[\"\\ud800\"]", "t:1:3: half of a surrogate pair"},
	{"[\"\\udc00\"]", "t:1:3: half of a surrogate pair"},
	{"[\"\\ud800\\u0041\"]", "t:1:3: half of a surrogate pair"},
	{"[\"a\tb\"]", "t:1:4: the raw control character 0x09 in a string"},
	{"[\"a\nb\"]", "t:1:4: the raw control character 0x0a in a string (is a closing "
		       "quote missing?)"},
	{"[\"\xff\"]", "t:1:3: the byte 0xff is not UTF-8"},
	{"[\"\xc0\x80\"]", "t:1:3: the byte 0xc0 is not UTF-8"},
	{"[\"\xed\xa0\x80\"]", "t:1:3: the byte 0xed is not UTF-8"},
	{"[\"\xc3\xa9\xc3\xa9\", x]", "t:1:8: expected a value, not 'x'"},
	{"\xef\xbb\xbf{}", "t:1:1: a byte order mark; save the file as plain UTF-8"},
	{"[\x01]", "t:1:2: expected a value, not the byte 0x01"},
	{"{\"a\":1,\n\"b\":2, \"a\":3}", "t:2:8: the name \"a\" is given twice"},
	{"{\"a\":1,\"\\u0061\":2}", "t:1:8: the name \"a\" is given twice"},
	{"[{\"x\":{\"y\":1,\"y\":2}}]", "t:1:14: the name \"y\" is given twice"},
	{"{\"a\":{\"a\":{\"a\":1}}}", NULL},
};

static void refusals_are_placed(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(refusals); i++) {
		const struct refusal *r = &refusals[i];
		struct hn_err err = {0};
		struct hn_json *root = NULL;
		int rc = hn_json_parse("t", r->text, strlen(r->text), NULL, &root, &err);

		if (r->message) {
			assert_string_equal(err.msg, r->message);
			assert_int_equal(rc, -HONE_E_INVALID);
			assert_null(root);
		} else {
			assert_string_equal(err.msg, "");
			assert_int_equal(rc, 0);
			hn_json_free(root);
		}
	}
}

static void a_nul_byte_is_refused(void **state)
{
	struct hn_err err = {0};
	struct hn_json *root;

	(void)state;
	assert_int_equal(hn_json_parse("t", "[1]\0", 4, NULL, &root, &err),
			 -HONE_E_INVALID);
	assert_string_equal(err.msg,
			    "t:1:4: expected the end of the text, not the byte 0x00");
	assert_int_equal(hn_json_parse("t", "[\"a\0b\"]", 7, NULL, &root, &err),
			 -HONE_E_INVALID);
}

static void limits_hold(void **state)
{
	struct hn_json_limits depth = {.max_depth = 3}, tokens = {.max_tokens = 4},
			      bytes = {.max_bytes = 5}, wild = {.max_depth = 100000};
	static char deep[200001];
	char digits[100] = "[";
	struct hn_err err = {0};
	struct hn_json *root;

	(void)state;
	assert_int_equal(hn_json_parse("t", "[[[1]]]", 7, &depth, &root, &err), 0);
	hn_json_free(root);
	assert_int_equal(hn_json_parse("t", "[[[[1]]]]", 9, &depth, &root, &err),
			 -HONE_E_QUOTA);
	assert_string_equal(err.msg, "t:1:4: nested more than 3 deep");
	assert_int_equal(hn_json_parse("t", "[1,2,3]", 7, &tokens, &root, &err), 0);
	hn_json_free(root);
	assert_int_equal(hn_json_parse("t", "[1,2,3,4]", 9, &tokens, &root, &err),
			 -HONE_E_QUOTA);
	assert_int_equal(hn_json_parse("t", "[1,2]", 5, &bytes, &root, &err), 0);
	hn_json_free(root);
	assert_int_equal(hn_json_parse("t", "[1,2] ", 6, &bytes, &root, &err),
			 -HONE_E_QUOTA);
	memset(deep, '[', sizeof(deep) - 1);
	assert_int_equal(hn_json_parse("t", deep, sizeof(deep) - 1, &wild, &root, &err),
			 -HONE_E_QUOTA);
	memset(digits + 1, '1', 70);
	digits[71] = ']';
	assert_int_equal(hn_json_parse("t", digits, 72, NULL, &root, &err),
			 -HONE_E_INVALID);
	assert_string_equal(err.msg,
			    "t:1:2: a number of 70 characters; at most 63 are accepted");
}

static void many_keys_are_checked_quickly(void **state)
{
	struct hn_json *root;
	struct hn_err err = {0};
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	hn_buf_putc(&b, '{');
	for (int i = 0; i < 100000; i++) {
		hn_buf_printf(&b, "\"key%d\":%d,", i, i);
	}
	hn_buf_puts(&b, "\"last\":0}");
	assert_int_equal(hn_json_parse("t", b.s, b.n, NULL, &root, &err), 0);
	assert_int_equal(hn_json_count(root), 100001);
	hn_json_free(root);
	b.n -= strlen("\"last\":0}");
	hn_buf_puts(&b, "\"key4711\":0}");
	assert_int_equal(hn_json_parse("t", b.s, b.n, NULL, &root, &err),
			 -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "the name \"key4711\" is given twice"));
	hn_buf_fini(&b);
}

static const char ints_text[] =
	"{\"i\":[1,-0,1024,1.0,1e3,9007199254740991,-9007199254740991],"
	"\"n\":[1.5,9007199254740992,9007199254740993,1e300,true,\"x\",\"01\",\"+1\",\" "
	"1\","
	"\"-0\",\"\",\"9223372036854775808\",null,[],{}],"
	"\"s\":[\"9223372036854775807\",\"-9223372036854775808\",\"0\"]}";

static void ints_are_exact_or_refused(void **state)
{
	static const int64_t good[] = {
		1, 0, 1024, 1, 1000, 9007199254740991, -9007199254740991};
	static const int64_t strings[] = {INT64_MAX, INT64_MIN, 0};
	const struct hn_json *v;
	struct hn_json *root;
	int64_t got = 77;
	size_t i = 0;

	(void)state;
	assert_int_equal(
		hn_json_parse("t", ints_text, strlen(ints_text), NULL, &root, NULL), 0);
	for (v = hn_json_first(hn_json_get(root, "i")); v; v = hn_json_next(v)) {
		assert_true(hn_json_int(v, &got));
		assert_true(got == good[i++]);
	}
	assert_int_equal(i, HN_COUNT_OF(good));
	got = 77;
	for (v = hn_json_first(hn_json_get(root, "n")); v; v = hn_json_next(v)) {
		assert_false(hn_json_int(v, &got));
		assert_int_equal(got, 77);
	}
	for (i = 0, v = hn_json_first(hn_json_get(root, "s")); v; v = hn_json_next(v)) {
		assert_true(hn_json_int(v, &got));
		assert_true(got == strings[i++]);
	}
	assert_false(hn_json_int(NULL, &got));
	hn_json_free(root);
}

static void values_are_found_and_written(void **state)
{
	static const char text[] =
		"{\"Key\":1,\"key\":[true,null,\"a\\u0001\\\"\",0.1,{}],"
		"\"\xc3\xa9\":-1e+22}";
	struct hn_json *root;
	struct hn_buf b;
	bool flag = false;
	double d;

	(void)state;
	assert_int_equal(hn_json_parse("t", text, strlen(text), NULL, &root, NULL), 0);
	assert_string_equal(hn_json_kind_name(hn_json_get(root, "Key")), "a number");
	assert_string_equal(hn_json_kind_name(hn_json_get(root, "key")), "an array");
	assert_null(hn_json_get(root, "KEY"));
	assert_null(hn_json_get(NULL, "KEY"));
	assert_null(hn_json_get(hn_json_get(root, "key"), "key"));
	assert_true(hn_json_bool(hn_json_first(hn_json_get(root, "key")), &flag));
	assert_true(flag);
	assert_false(hn_json_double(hn_json_get(root, "key"), &d));
	assert_null(hn_json_first(hn_json_get(root, "Key")));
	assert_null(hn_json_key(hn_json_first(hn_json_get(root, "key"))));
	assert_string_equal(hn_json_key(hn_json_first(root)), "Key");
	hn_buf_init(&b);
	hn_json_write(root, &b);
	assert_string_equal(b.s, text);
	hn_buf_fini(&b);
	hn_json_free(root);
}

/* Cut at every byte: refused each time, with a place. Flipped bytes: whatever is accepted
 * writes and reads back. */
static void cuts_and_flips_never_crash(void **state)
{
	struct hn_rng r = hn_rng_stream(1, 0, 0, 0);
	size_t n = strlen(ints_text);
	struct hn_json *root;
	struct hn_err err;

	(void)state;
	for (size_t cut = 0; cut < n; cut++) {
		char *text =
			malloc(cut + 1); /* exact, so that ASan sees one byte too far */

		memcpy(text, ints_text, cut);
		assert_int_equal(hn_json_parse("t", text, cut, NULL, &root, &err),
				 -HONE_E_INVALID);
		assert_int_equal(strncmp(err.msg, "t:1:", 4), 0);
		free(text);
	}
	for (int i = 0; i < 20000; i++) {
		char *text = malloc(n);
		struct hn_buf b;

		memcpy(text, ints_text, n);
		for (uint64_t k = hn_rng_below(&r, 3); k < 3; k++) {
			text[hn_rng_below(&r, n)] = (char)hn_rng_u64(&r);
		}
		if (hn_json_parse("t", text, n, NULL, &root, &err) == 0) {
			hn_buf_init(&b);
			hn_json_write(root, &b);
			hn_json_free(root);
			assert_int_equal(hn_json_parse("t", b.s, b.n, NULL, &root, &err),
					 0);
			hn_json_free(root);
			hn_buf_fini(&b);
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals_are_placed),
		cmocka_unit_test(a_nul_byte_is_refused),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(many_keys_are_checked_quickly),
		cmocka_unit_test(ints_are_exact_or_refused),
		cmocka_unit_test(values_are_found_and_written),
		cmocka_unit_test(cuts_and_flips_never_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
