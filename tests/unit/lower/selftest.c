/* The test of the code generator: passed here, kept, not run again; wrong answers are refused with
 * the kernel's name, and a machine that runs nothing is told of. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "lower/build/selftest.h"

struct bed {
	struct hn_arena a;
	struct hn_emitter *em;
	char folder[64];
	const char *home, *board;
};

static int open_bed(void **state)
{
	struct bed *b = calloc(1, sizeof *b);
	struct hn_target host;
	struct hn_err err = { 0 };

	hn_arena_init(&b->a, 0);
	hn_target_host(&b->a, &host);
	assert_int_equal(hn_emitter_new(&host, &b->em, &err), 0);
	snprintf(b->folder, sizeof b->folder, "/tmp/hone-selftest-XXXXXX");
	assert_non_null(mkdtemp(b->folder));
	b->home = hn_arena_printf(&b->a, "%s/home", b->folder);
	b->board = hn_arena_printf(&b->a, "%s/board", b->folder);
	*state = b;
	return 0;
}

static int close_bed(void **state)
{
	struct bed *b = *state;
	char *line = hn_arena_printf(&b->a, "rm -r '%s'", b->folder);
	int rc = system(line);

	hn_emitter_free(b->em);
	hn_arena_fini(&b->a);
	free(b);
	return rc;
}

/* A board that prints its words and ends with this status. */
static void make_board(const struct bed *b, const char *words, const char *said, int status)
{
	struct hn_err err = { 0 };
	struct hn_buf text;

	hn_buf_init(&text);
	hn_buf_printf(&text, "#!/bin/sh\necho '%s'\necho '%s' >&2\nexit %d\n", words, said,
		      status);
	assert_int_equal(hn_file_replace(b->board, text.s, text.n, &err), 0);
	assert_int_equal(chmod(b->board, 0700), 0);
	hn_buf_fini(&text);
}

static int run(struct bed *b, const char *board, struct hn_err *err)
{
	const struct hn_selftest_place at = { .board = board, .home = b->home };

	*err = (struct hn_err){ 0 };
	return hn_selftest(b->em, &at, err);
}

/* What was kept; "" when nothing. */
static const char *kept(struct bed *b)
{
	char *line = hn_arena_printf(&b->a, "cat '%s'/codegen/*.json 2>/dev/null", b->home);
	char *text = hn_arena_alloc(&b->a, 1000);
	FILE *f = popen(line, "r");

	assert_non_null(f);
	text[fread(text, 1, 999, f)] = '\0';
	pclose(f);
	return text;
}

static void this_machine_passes_once(void **state)
{
	struct bed *b = *state;
	struct hn_err err;
	const char *board = HONE_BIN_DIR "/hone-board";

	assert_int_equal(access(board, X_OK), 0);
	if (run(b, board, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	assert_non_null(strstr(kept(b), "\"verdict\":\"OK\",\"why\":null"));
	/* it would fail, were it run */
	make_board(b, "{\"verdict\":\"WRONG_RESULT\",\"cases\":[]}", "", 0);
	assert_int_equal(run(b, b->board, &err), 0);
}

static void wrong_code_is_refused(void **state)
{
	struct bed *b = *state;
	struct hn_err err;

	make_board(b, "{\"verdict\":\"WRONG_RESULT\",\"detail\":\"B[3]\",\"cases\":[]}", "", 0);
	assert_int_equal(run(b, b->board, &err), -HONE_E_INTERNAL);
	assert_memory_equal(err.msg, "LLVM ", 5);
	assert_non_null(strstr(err.msg, "a narrowing store of one lane: WRONG_RESULT: B[3]"));
	assert_string_equal(kept(b), "");
	make_board(b, "no answer", "", 0);
	assert_int_equal(run(b, b->board, &err), 0); /* nobody knows: it is tried again */
	assert_string_equal(kept(b), "");
}

static void no_case_is_no_pass(void **state)
{
	struct bed *b = *state;
	struct hn_err err;

	make_board(b, "{\"verdict\":\"OK\",\"why\":\"too long\",\"cases\":[]}", "", 0);
	assert_int_equal(run(b, b->board, &err), 0);
	assert_non_null(strstr(kept(b), "\"verdict\":\"NOT RUN\",\"why\":\"too long\""));
}

static void a_machine_may_run_nothing(void **state)
{
	struct bed *b = *state;
	struct hn_err err;

	make_board(b, "", "hone-board: no objects here", 10 + HONE_E_UNSUPPORTED);
	assert_int_equal(run(b, b->board, &err), 0);
	assert_non_null(strstr(kept(b), "\"NOT RUN\",\"why\":\"hone-board: no objects here\""));
	assert_int_equal(unlink(b->board), 0);
	assert_int_equal(run(b, b->board, &err), 0); /* kept */
}

static void without_a_board_nothing_is_kept(void **state)
{
	struct bed *b = *state;
	struct hn_err err;

	assert_int_equal(run(b, b->board, &err), 0);
	assert_string_equal(kept(b), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(this_machine_passes_once, open_bed, close_bed),
		cmocka_unit_test_setup_teardown(wrong_code_is_refused, open_bed, close_bed),
		cmocka_unit_test_setup_teardown(no_case_is_no_pass, open_bed, close_bed),
		cmocka_unit_test_setup_teardown(a_machine_may_run_nothing, open_bed, close_bed),
		cmocka_unit_test_setup_teardown(without_a_board_nothing_is_kept, open_bed,
						close_bed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
