/* The JSON writer: what it writes always parses, whatever names and values it is given. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/jw.h"
#include "base/rng.h"

static void one_of_each(void **state)
{
	struct hn_buf b;
	struct hn_jw w;

	(void)state;
	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "s", "a\"b\\c\x01\n");
	hn_jw_str(&w, "none", NULL);
	hn_jw_strf(&w, "f", "%d \"%s\"", 7, "x");
	hn_jw_int(&w, "i", INT64_MIN);
	hn_jw_uint(&w, "u", UINT64_MAX);
	hn_jw_list(&w, "l");
	hn_jw_double(&w, NULL, 0.1);
	hn_jw_double(&w, NULL, NAN);
	hn_jw_double(&w, NULL, -INFINITY);
	hn_jw_fixed(&w, NULL, 2.0 / 3, 3);
	hn_jw_fixed(&w, NULL, 1e300, 3);
	hn_jw_end(&w);
	hn_jw_object(&w, "empty");
	hn_jw_end(&w);
	hn_jw_bool(&w, "yes", true);
	assert_true(hn_jw_json(&w, "steps", "[[\"SP\", 2, 0]]"));
	assert_false(hn_jw_json(&w, "forged", "1,\"ok\":999"));
	assert_false(hn_jw_json(&w, "lines", "[1,\n2]"));
	assert_false(hn_jw_json(&w, "absent", NULL));
	hn_jw_end(&w);
	hn_jw_done(&w);
	assert_string_equal(b.s, "{\"s\":\"a\\\"b\\\\c\\u0001\\u000a\",\"none\":null,"
				 "\"f\":\"7 \\\"x\\\"\",\"i\":-9223372036854775808,"
				 "\"u\":18446744073709551615,\"l\":[0.1,null,null,0.667,1e+300],"
				 "\"empty\":{},\"yes\":true,\"steps\":[[\"SP\", 2, 0]],"
				 "\"forged\":null,\"lines\":null,\"absent\":null}");
	hn_buf_fini(&b);
}

/* Random bytes as names and values: one document, with the members that were written. */
static void hostile_bytes(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 2000; seed++) {
		struct hn_rng rng = hn_rng_stream(seed, 0, 0, 0);
		struct hn_json *root;
		struct hn_buf b;
		struct hn_jw w;
		char name[12], value[12];
		char err_text[200];

		for (uint32_t i = 0; i < 11; i++) {
			name[i] = (char)(1 + hn_rng_below(&rng, 255));
			value[i] = (char)(1 + hn_rng_below(&rng, 255));
		}
		name[11] = value[11] = '\0';
		hn_buf_init(&b);
		hn_jw_init(&w, &b);
		hn_jw_object(&w, NULL);
		hn_jw_str(&w, name, value);
		hn_jw_list(&w, "more than eleven bytes");
		hn_jw_str(&w, NULL, value);
		hn_jw_end(&w);
		hn_jw_end(&w);
		hn_jw_done(&w);
		snprintf(err_text, sizeof(err_text), "seed %llu", (unsigned long long)seed);
		if (hn_json_parse(err_text, b.s, b.n, NULL, &root, NULL) != 0) {
			fail_msg("%s: %s", err_text, b.s);
		}
		assert_int_equal(hn_json_count(root), 2);
		assert_string_equal(hn_json_string(hn_json_first(root)),
				    hn_json_string(hn_json_first(
					    hn_json_get(root, "more than eleven bytes"))));
		hn_json_free(root);
		hn_buf_fini(&b);
	}
}

static void keeps_to_the_limit(void **state)
{
	struct hn_buf b;
	struct hn_jw w;

	(void)state;
	hn_buf_init(&b);
	b.max_bytes = 20;
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "name", "longer than what is allowed");
	hn_jw_strf(&w, "other", "%d", 1);
	hn_jw_end(&w);
	hn_jw_done(&w);
	assert_true(b.failed);
	hn_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_each),
		cmocka_unit_test(hostile_bytes),
		cmocka_unit_test(keeps_to_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
