/* tests/lib/cpu_board.h -- one CPU board and one object of kernels, for tests of what a board does
 * with them.
 */
#ifndef HN_TESTS_LIB_CPU_BOARD_H
#define HN_TESTS_LIB_CPU_BOARD_H

#include "measure/board/board.h"
#include "measure/board/child.h"
#include "tests/lib/measure_cc.h"

static struct hn_buf object;
static const struct hn_board_ops *ops;
static void *board;

/* Of kernels' sources: one that never ends, a sum that shows its rounding (2^24 ones more, one by
 * one), a pause of so many ns. */
static const char slow_helpers[] =
	"static void hang(void) { for (;;) __asm__ volatile(\"\"); }\n"
	"static float ones(float x) { volatile float one = 1 - (x < 0 ? -x : x) * 1e-3f; "
	"float s = 0x1p24f; for (int i = 0; i < 1 << 16; i++) s += one; return s; }\n"
	"static void now(long *t) { long r; __asm__ volatile(\"syscall\" : \"=a\"(r) : \"a\"(228), "
	"\"D\"(1), \"S\"(t) : \"rcx\", \"r11\", \"memory\"); }\n" /* clock_gettime */
	"static int nap(long ns) { long a[2], b[2]; now(a); do now(b); while ((b[0] - a[0]) * "
	"1000000000 + b[1] - a[1] < ns); return 0; }\n";

/* For a group's setup; source is used up. */
static int open_cpu_board(struct hn_buf *source)
{
	struct hn_err err;

	hn_buf_init(&object);
	cc_bytes(source->s, &object);
	hn_buf_fini(source);
	hn_child_adopt_orphans();
	ops = hn_board_of("cpu -isa=x");
	return ops->open(&(struct hn_board_place){.target = "cpu"}, &board, &err);
}

/* A group's teardown. */
static int close_board(void **state)
{
	(void)state;
	ops->close(board);
	hn_buf_fini(&object);
	return 0;
}

#endif
