/* daemon_machine.c -- which measured sizes become parameters of the target. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "daemon/daemon.h"

static const char *line_of(uint32_t n_level, double l1, double l2, double l3)
{
	static char text[400];
	struct hn_target told = {.kind = "cpu", .isa = "x86-64-avx2"};
	struct hn_probe_result p = {
		.n_level = n_level,
		.level = {{l1, 100}, {l2, 50}, {l3, 20}},
	};
	struct hn_buf b;

	told.param[HN_PARAM_L1_BYTES] = 32768;
	told.param[HN_PARAM_L2_BYTES] = 1048576;
	told.param[HN_PARAM_L3_BYTES] = 33554432;
	hn_buf_init(&b);
	hn_machine_line(&told, &p, &b);
	snprintf(text, sizeof text, "%s", b.s);
	hn_buf_fini(&b);
	return text;
}

static void only_what_is_much_smaller_than_told_counts(void **state)
{
	(void)state;
	assert_string_equal(line_of(3, 32768, 786432, 25165824), "cpu -isa=x86-64-avx2");
	assert_string_equal(line_of(3, 32768, 1048576, 8388608),
			    "cpu -isa=x86-64-avx2 -l3_bytes=8388608");
	assert_string_equal(line_of(3, 8192, 131072, 8388608),
			    "cpu -isa=x86-64-avx2 -l1_bytes=8192 -l2_bytes=131072 "
			    "-l3_bytes=8388608");
	/* a step where no level ends, before one that was seen */
	assert_string_equal(line_of(3, 32768, 98304, 1048576), "cpu -isa=x86-64-avx2");
	/* a level that was missed */
	assert_string_equal(line_of(2, 32768, 25165824, 0), "cpu -isa=x86-64-avx2");
	assert_string_equal(line_of(0, 1, 1, 1), "cpu -isa=x86-64-avx2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_much_smaller_than_told_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
