/* Indices that the verifier judges by sums: a number of thread or block as one number, whatever
 * divisions stand elsewhere, and the copies of a ring.  One element off is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "lower/device/device_verify.h"
#include "tests/lib/gpu_bed.h"

#define LIMIT_MS 20000

static int set_up(void **state)
{
	return gpu_bed(state, "cuda");
}

/* why: a part of what is said; NULL: it is right. */
static void expect_text(struct bed *b, const char *text, const char *why)
{
	const struct hn_device *d;
	struct hn_err err = { 0 };

	if (hn_device_parse("t", text, strlen(text), &b->a, &d, &err) != 0) {
		fail_msg("%s\n%s", err.msg, text);
	}
	int rc = hn_device_verify(d, &b->gpu, LIMIT_MS, &err);

	if (why == NULL ? rc != 0 : rc != -HONE_E_INVALID || strstr(err.msg, why) == NULL) {
		fail_msg("%d (%s), expected: %s\n%s", rc, err.msg, why ? why : "right", text);
	}
}

static void expect(struct bed *b, const char *body, const char *why)
{
	char text[2000];

	snprintf(text, sizeof(text),
		 "device/1\nglobal A float32[65536] arg 0\nglobal B float32[65536] arg 1\n"
		 "shared S float32[1100]\nlocal L float32[4]\n%s", body);
	expect_text(b, text, why);
}

/* Divisions by 27, 9 and 3 elsewhere: digit by digit 64 threads reach 80. */
static void a_number_is_one_number(void **state)
{
	static const struct {
		int64_t grid, stride;
		const char *condition, *why;
	} rows[] = {
		{ 100, 64, NULL, NULL },
		{ 100, 63, NULL, "two blocks may write one element of B" },
		{ 100, 65, NULL, NULL },
		/* threads that a condition leaves out */
		{ 100, 50, "thread.x < 50", NULL },
		{ 100, 49, "thread.x < 50", "two blocks may write one element of B" },
		{ 100, 50, "thread.x < 51", "two blocks may write one element of B" },
	};

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		char body[600];

		snprintf(body, sizeof(body),
			 "kernel k grid %lld 1 1 block 64 1 1 {\n"
			 "  L[0] = A[((floordiv(thread.x, 27) + floormod(floordiv(thread.x, 9), 3)) + "
			 "floormod(thread.x, 3))]\n"
			 "  if (%s) {\n    B[((block.x * %lld) + thread.x)] = L[0]\n  }\n}\n",
			 (long long)rows[i].grid,
			 rows[i].condition != NULL ? rows[i].condition : "thread.x < 64",
			 (long long)rows[i].stride);
		expect(*state, body, rows[i].why);
	}
}

/* Rows of 32 and of 56 of one number do not fit in one chain of divisors. */
static void each_index_has_its_own_divisors(void **state)
{
	/* 448 threads as 2 x 7 x 32, in 2 x 7 rows */
	expect(*state,
	       "kernel k grid 4 1 1 block 448 1 1 {\n"
	       "  L[0] = A[(floordiv(thread.x, 56) + floormod(thread.x, 56))]\n"
	       "  B[((block.x * 448) + ((floordiv(thread.x, 224) * 224) + "
	       "((floormod(floordiv(thread.x, 32), 7) * 32) + floormod(thread.x, 32))))] = L[0]\n}\n",
	       NULL);
	expect(*state,
	       "kernel k grid 4 1 1 block 448 1 1 {\n"
	       "  L[0] = A[(floordiv(thread.x, 56) + floormod(thread.x, 56))]\n"
	       "  B[((block.x * 447) + ((floordiv(thread.x, 224) * 224) + "
	       "((floormod(floordiv(thread.x, 32), 7) * 32) + floormod(thread.x, 32))))] = L[0]\n}\n",
	       "two blocks may write one element of B");
	expect(*state,
	       "kernel k grid 4 1 1 block 448 1 1 {\n"
	       "  L[0] = A[(floordiv(thread.x, 56) + floormod(thread.x, 56))]\n"
	       "  B[((block.x * 448) + ((floordiv(thread.x, 224) * 224) + "
	       "((floormod(floordiv(thread.x, 32), 7) * 31) + floormod(thread.x, 32))))] = L[0]\n}\n",
	       "two threads may write one element of B");
}

/* The number of an element, thread + 64 * turn, that is taken apart: rows of 9, as many as a condition leaves. */
static void a_sum_that_is_divided_has_digits(void **state)
{
	static const struct {
		int64_t n_elem, most;
		const char *why;
	} rows[] = {
		{ 1000, 90, NULL },
		{ 909, 90, NULL },
		{ 908, 90, "its index may be another" },
		{ 909, 91, "its index may be another" },
	};

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		char text[1200];

		snprintf(text, sizeof(text),
			 "device/1\nglobal A float32[%lld] arg 0\nglobal B float32[64] arg 1\n"
			 "local L float32[1]\nkernel k grid 1 1 1 block 64 1 1 {\n  for v6 2 {\n"
			 "    if ((thread.x + (v6 * 64)) < %lld) {\n"
			 "      L[0] = A[((floordiv((thread.x + (v6 * 64)), 9) * 100) + "
			 "floormod((thread.x + (v6 * 64)), 9))]\n    }\n  }\n}\n",
			 (long long)rows[i].n_elem, (long long)rows[i].most);
		expect_text(*state, text, rows[i].why);
	}
}

/* What is written ahead, and what others read of the turn's copy. */
static void copies_of_a_ring_are_apart(void **state)
{
	static const struct {
		int64_t ahead, copies, size;
		const char *more, *why; /* what is added to the place that is written */
	} rows[] = {
		{ 1, 4, 256, "0", NULL },
		{ 3, 4, 256, "0", NULL },
		{ 5, 4, 256, "0", NULL },
		{ 4, 4, 256, "0", "two threads may meet in an element" },
		{ 0, 4, 256, "0", "two threads may meet in an element" },
		{ 1, 4, 255, "0", "two threads may meet in an element" }, /* copies overlap */
		{ 3, 4, 256, "1", "two threads may meet in an element" }, /* past the copy's end */
		{ 2, 3, 256, "0", NULL },
		{ 2, 2, 256, "0", "two threads may meet in an element" },
	};

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		char body[900];

		snprintf(body, sizeof(body),
			 "kernel k grid 1 1 1 block 64 1 1 {\n"
			 "  for v6 16 {\n"
			 "    for v7 4 {\n"
			 "      S[((((floormod((v6 + %lld), %lld) * %lld) + (v7 * 64)) + (thread.x + %s)) "
			 "+ 0)] = 1.0\n"
			 "    }\n"
			 "    for v8 4 {\n"
			 "      L[v8] = S[((floormod(v6, %lld) * %lld) + ((v8 * 64) + "
			 "((floordiv(thread.x, 2) * 2) + floormod((floordiv(thread.x, 2) + thread.x), 2))))]\n"
			 "    }\n"
			 "    barrier\n"
			 "  }\n}\n",
			 (long long)rows[i].ahead, (long long)rows[i].copies, (long long)rows[i].size,
			 rows[i].more, (long long)rows[i].copies, (long long)rows[i].size);
		expect(*state, body, rows[i].why);
	}
}

/* Rows of 32 and columns of 8, read one further to each side; the last condition lets one more through. */
static void edges_are_what_conditions_say(void **state)
{
	static const struct {
		const char *rows, *more, *columns, *why;
	} rows[] = {
		{ "32", "0", "(1 <= ROW)", NULL },
		{ "33", "0", "(1 <= ROW)", NULL },
		{ "31", "0", "(1 <= ROW)", "its index may be another" },
		{ "32", "0", "(0 <= ROW)", "its index may be another" },
		{ "32", "1", "(1 <= ROW)", "its index may be another" },
		{ "32", "0", "not((ROW < 1))", NULL },
		{ "32", "0", "not((ROW <= 1))", NULL },
		{ "32", "0", "not((ROW < 0))", "its index may be another" },
		{ "32", "0", "(ROW > 0)", NULL },
		{ "32", "0", "(ROW >= 0)", "its index may be another" },
		{ "32", "0", "((ROW + 1) > 0)", "its index may be another" },
		{ "32", "0", "not(((ROW + 1) <= 0))", "its index may be another" },
	};
	static const char row[] = "((block.x * 4) + (floordiv(thread.x, 16) + v6))";

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		char body[1500], condition[200] = "";

		for (const char *c = rows[i].columns; *c != '\0'; c++) {
			size_t at = strlen(condition);

			if (strncmp(c, "ROW", 3) == 0) {
				snprintf(condition + at, sizeof(condition) - at, "%s", row);
				c += 2;
			} else {
				condition[at] = *c;
			}
		}
		/* 8 blocks of 4 rows, 16 columns to 8 + 2 */
		snprintf(body, sizeof(body),
			 "device/1\nglobal A float32[%s] arg 0\nglobal B float32[512] arg 1\n"
			 "local L float32[1]\nkernel k grid 8 1 1 block 64 1 1 {\n  for v6 3 {\n"
			 "    if and(and(%s, (%s < 33)), and((1 <= floormod(thread.x, 16)), "
			 "(floormod(thread.x, 16) < 9))) {\n"
			 "      L[0] = A[(((%s * 8) + (floormod(thread.x, 16) - 9)) + %s)]\n    }\n  }\n}\n",
			 strcmp(rows[i].rows, "32") == 0 ? "256"
			 : strcmp(rows[i].rows, "33") == 0 ? "264" : "248",
			 condition, row, row, rows[i].more);
		expect_text(*state, body, rows[i].why);
	}
}

#define HEAD_OF(rest)                                                                            \
	"device/1\nglobal A float32[128] arg 0\nglobal B float32[65536] arg 1\nglobal I int32[128] arg 2\n"  \
	"shared S float32[1400]\nlocal L float32[4]\nkernel k grid 1 1 1 " rest
#define OUTSIDE "reads A, which has 128 elements, and its index may be another"
#define MEETS "two threads may meet in an element, with no barrier between"

/* Sums past 64 bits are not known to be small: below is far below, not what is left of it. */
static void far_numbers_show_nothing(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ HEAD_OF("block 32 1 1 {\n  for v6 2147483648 {\n"
			  "    L[0] = A[(100 - ((v6 * 131072) * 65536))]\n  }\n}\n"), OUTSIDE },
		/* copies of a ring, and a loop that leaves them */
		{ HEAD_OF("block 32 1 1 {\n  for v6 8 {\n"
			  "    S[((floormod(v6, 4) * 256) + (thread.x + 256))] = 1.0\n"
			  "    for v7 2147483647 {\n      for v8 2147483647 {\n        if ((v7 + v8) < 1) {\n"
			  "          L[0] = S[(((floormod((v6 + 1), 4) * 256) + (31 - thread.x)) - ((v7 * "
			  "2147483647) * 4))]\n        }\n      }\n    }\n    barrier\n  }\n}\n"), MEETS },
		/* the rest is more than all strides together, up to 2^62 */
		{ HEAD_OF("block 32 1 1 {\n  for v7 2147483648 {\n    if (v7 >= 2147483647) {\n"
			  "      S[((thread.x + ((2147483647 * 65536) * 65536)) - ((v7 * 65536) * 65536))] = 1.0\n"
			  "      L[0] = S[(thread.x + 1)]\n    }\n  }\n}\n"), MEETS },
	};

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		expect_text(*state, rows[i].text, rows[i].why);
	}
}

/* A scalar with a name keeps its number when what it was loaded from changes, and has no more bits than its
 * type; many names are as quick as one. */
static void names_are_numbers_of_their_own(void **state)
{
	struct bed *b = *state;
	struct hn_buf text;

	expect_text(b, HEAD_OF("block 1 1 1 {\n  let v6 = I[0]\n  I[0] = 7000\n  L[0] = A[(v6 - I[0])]\n}\n"),
		    OUTSIDE);
	expect_text(b, HEAD_OF("block 2 1 1 {\n  let v6 = ((thread.x * 65536) * 32768)\n"
			       "  L[0] = A[floordiv(floordiv(v6, 65536), 32768)]\n}\n"),
		    OUTSIDE);
	expect_text(b, HEAD_OF("block 2 1 1 {\n  let v6 = (thread.x * 64)\n  L[0] = A[(v6 + 63)]\n}\n"), NULL);
	expect_text(b, HEAD_OF("block 2 1 1 {\n  let v6 = (thread.x * 64)\n  L[0] = A[(v6 + 64)]\n}\n"),
		    OUTSIDE);
	hn_buf_init(&text);
	hn_buf_puts(&text, HEAD_OF("block 1 1 1 {\n  let v6 = I[0]\n"));
	for (int i = 7; i < 37; i++) {
		hn_buf_printf(&text, "  let v%d = (v%d + v%d)\n", i, i - 1, i - 1);
	}
	hn_buf_puts(&text, "  L[0] = A[min(max(v36, 0), 127)]\n  L[1] = A[min(max(v36, 0), 128)]\n}\n");
	expect_text(b, text.s, OUTSIDE);
	hn_buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_one_number),
		cmocka_unit_test(each_index_has_its_own_divisors),
		cmocka_unit_test(a_sum_that_is_divided_has_digits),
		cmocka_unit_test(copies_of_a_ring_are_apart),
		cmocka_unit_test(edges_are_what_conditions_say),
		cmocka_unit_test(far_numbers_show_nothing),
		cmocka_unit_test(names_are_numbers_of_their_own),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
