/* target_named.c -- the file of targets: what it says, what is refused, and that its names are
 * read as their lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/named.h"
#include "target/target.h"

static char home[64], path[96];
static struct hn_arena a;
static struct hn_named *named;
static uint32_t n;
static struct hn_err err;

static void write_bytes(const char *text, size_t bytes)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
}

static int read_file(const char *text)
{
	write_bytes(text, strlen(text));
	return hn_named_read(home, &a, &n, &named, &err);
}

static void rows_are_read(void **state)
{
	(void)state;
	assert_int_equal(read_file("# for people\n\n  big  boards=2 fake\t-l2_bytes=1048577 builders=3\r\n"
				   "small-1.x fake -num_cores=1"),
			 0);
	assert_int_equal(n, 2);
	assert_string_equal(named[0].name, "big");
	assert_string_equal(named[0].line, "fake -l2_bytes=1048577");
	assert_int_equal(named[0].n_boards, 2);
	assert_int_equal(named[0].n_builders, 3);
	assert_string_equal(named[1].name, "small-1.x");
	assert_string_equal(named[1].line, "fake -num_cores=1");
	assert_int_equal(named[1].n_boards, 1);
	assert_int_equal(named[1].n_builders, 0);
}

static void no_file_names_none(void **state)
{
	(void)state;
	unlink(path);
	assert_int_equal(hn_named_read(home, &a, &n, &named, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(read_file(""), 0);
	assert_int_equal(n, 0);
}

static void refusals_name_the_line(void **state)
{
	static const struct {
		const char *text, *say;
	} bad[] = {
		{ "a fake\n\nb/c fake\n", "targets:3: \"b/c\" is no name" },
		{ "native fake\n", "targets:1: \"native\" begins a target line" },
		{ "cuda cuda -isa=sm_90\n", "targets:1: \"cuda\" begins a target line" },
		{ "a fake\n#\na fake -num_cores=2\n", "targets:3: there are two called \"a\"" },
		{ "a\n", "targets:1: \"a\" has no target line" },
		{ "a builders=2 \n", "targets:1: \"a\" has no target line" },
		{ "a fake boards=65\n", "want boards=1 to boards=64" },
		{ "a fake boards=-1\n", "want boards=1 to boards=64" },
		{ "a fake boards=18446744073709551617\n", "want boards=1 to boards=64" },
		{ "a fake builders=2x\n", "want builders=1 to builders=256" },
		{ "a\033[2J fake\n", "is no name" },
		{ "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddX fake\n", "is no name" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		assert_int_equal(read_file(bad[i].text), -HONE_E_CORRUPT);
		assert_int_equal(err.code, HONE_E_CORRUPT);
		if (strstr(err.msg, bad[i].say) == NULL || strchr(err.msg, '\033') != NULL) {
			fail_msg("%s: %s", bad[i].text, err.msg);
		}
	}
	write_bytes("a fake\0b fake\n", 14);
	assert_int_equal(hn_named_read(home, &a, &n, &named, &err), -HONE_E_CORRUPT);
}

/* A pipe that nobody writes into would be waited for without end. */
static void what_is_no_file_is_refused(void **state)
{
	(void)state;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(20);
	assert_int_equal(hn_named_read(home, &a, &n, &named, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "targets: a pipe, not a file"));
	alarm(0);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(hn_named_read(home, &a, &n, &named, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "targets: a directory, not a file"));
	assert_int_equal(rmdir(path), 0);
}

static void there_are_not_too_many(void **state)
{
	char text[64 * (HN_NAMED_MOST + 1)];
	size_t at = 0;

	(void)state;
	for (int i = 0; i <= HN_NAMED_MOST; i++) {
		if (i == HN_NAMED_MOST) {
			assert_int_equal(read_file(text), 0);
			assert_int_equal(n, HN_NAMED_MOST);
		}
		at += (size_t)snprintf(text + at, sizeof text - at, "n%d fake\n", i);
	}
	assert_int_equal(read_file(text), -HONE_E_CORRUPT);
}

static void names_are_their_lines(void **state)
{
	struct hn_target t;

	(void)state;
	assert_int_equal(read_file("card fake -num_cores=7\n"), 0);
	assert_int_equal(hn_target_parse_at(home, "card", &a, &t, &err), 0);
	assert_string_equal(t.kind, "fake");
	assert_int_equal(t.param[HN_PARAM_NUM_CORES], 7);
	assert_int_equal(hn_target_parse_at(home, "cards", &a, &t, &err), -HONE_E_INVALID);
	assert_int_equal(hn_target_parse_at(home, "card -num_cores=2", &a, &t, &err),
			 -HONE_E_INVALID);
	/* whoever names a kind needs no file, nor a good one */
	assert_int_equal(read_file("card\n"), -HONE_E_CORRUPT);
	assert_int_equal(hn_target_parse_at(home, "fake", &a, &t, &err), 0);
	assert_int_equal(hn_target_parse_at(home, "native", &a, &t, &err), 0);
	assert_int_equal(hn_target_parse_at(home, "card", &a, &t, &err), -HONE_E_CORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read),
		cmocka_unit_test(no_file_names_none),
		cmocka_unit_test(refusals_name_the_line),
		cmocka_unit_test(what_is_no_file_is_refused),
		cmocka_unit_test(there_are_not_too_many),
		cmocka_unit_test(names_are_their_lines),
	};
	int failed;

	snprintf(home, sizeof home, "/tmp/hone-named-XXXXXX");
	if (mkdtemp(home) == NULL) {
		return 1;
	}
	snprintf(path, sizeof path, "%s/" HN_TARGETS_FILE, home);
	hn_arena_init(&a, 0);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	hn_arena_fini(&a);
	unlink(path);
	rmdir(home);
	return failed;
}
