/* Whose record answers for a target: one of the same instruction set that lacks nothing here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "client/lib/nearest.h"

#define WIDE "cpu -isa=x86-64-avx512 -num_cores=2 -mattr="

static char dir[64], path[96];
static const char key[] =
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/hone-nearest-XXXXXX");
	if (mkdtemp(dir) == NULL) {
		return -1;
	}
	snprintf(path, sizeof path, "%s/best.snapshot", dir);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

/* What the store answers for `asked` when there are records of these targets. */
static int ask(const char *const *lines, uint32_t n, const char *asked,
	       struct hn_arena *a, struct hn_nearest *ret, struct hn_err *err)
{
	struct hn_snapshot_entry e[4];
	struct hn_snapshot *s;
	struct hn_target t;
	struct hn_buf b;
	int rc;

	for (uint32_t i = 0; i < n; i++) {
		e[i] = (struct hn_snapshot_entry){
			.workload = { .key = key,
				      .name = "mm",
				      .dag_json = "{}",
				      .cache = "warm" },
			.best = { .workload = key,
				  .target = lines[i],
				  .steps = "[]",
				  .detail = "",
				  .verdict = HN_VERDICT_OK,
				  .median_ns = 1 + i,
				  .proved = true,
				  .certificate = "{}",
				  .stamp = { "h", "c", "b" } },
		};
	}
	hn_buf_init(&b);
	hn_snapshot_write(e, n, NULL, "", &b);
	assert_int_equal(hn_file_replace(path, b.s, b.n, NULL), 0);
	assert_int_equal(hn_snapshot_open(dir, &s, NULL), 0);
	assert_int_equal(hn_target_parse(asked, a, &t, NULL), 0);
	hn_buf_reset(&b);
	hn_target_print(&t, &b);
	rc = hn_nearest_find(s, key, &t, b.s, a, ret, err);
	hn_buf_reset(&b);
	if (rc == 0) {
		hn_nearest_print(ret, &t, &b);
		snprintf(err->msg, sizeof err->msg, "%s", b.n > 0 ? b.s : "");
	}
	hn_buf_fini(&b);
	hn_snapshot_close(s);
	return rc;
}

static void features_that_lack_are_far(void **state)
{
	static const char *const tiles[] = { WIDE "+amx-int8" };
	static const char *const two[] = { WIDE "+avx512vnni", WIDE };
	struct hn_nearest n;
	struct hn_arena a;
	struct hn_err err = { 0 };

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(ask(tiles, 1, WIDE "+avx512vnni", &a, &n, &err),
			 -HONE_E_NOT_FOUND);
	assert_non_null(strstr(err.msg,
			       "tuned for x86-64-avx512 +amx-tile,+amx-int8, not for "
			       "x86-64-avx512 +avx512vnni;"));
	assert_int_equal(ask(tiles, 1, WIDE, &a, &n, &err), -HONE_E_NOT_FOUND);
	/* one with less is near, and says what is here beside; the one with more of it is nearer */
	assert_int_equal(ask(two, 2, WIDE "+avx512vnni,+avx512bf16", &a, &n, &err), 0);
	assert_string_equal(err.msg, "avx512bf16 0, here 1");
	assert_int_equal(n.match, HN_MATCH_NEAREST);
	assert_int_equal(ask(two, 2, WIDE "+avx512bf16", &a, &n, &err), 0);
	assert_string_equal(err.msg, "avx512bf16 0, here 1");
	assert_true(n.have.features == 0);
	hn_arena_fini(&a);
}

static void none_is_another_target_than_some(void **state)
{
	static const char *const lines[] = { WIDE "+avx512vnni" };
	struct hn_nearest n;
	struct hn_arena a;
	struct hn_err err = { 0 };

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(ask(lines, 1, WIDE "+avx512vnni", &a, &n, &err), 0);
	assert_string_equal(err.msg, "");
	assert_int_equal(ask(lines, 1, WIDE, &a, &n, &err), -HONE_E_NOT_FOUND);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(features_that_lack_are_far),
		cmocka_unit_test(none_is_another_target_than_some),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
