/* tests/cpu_board.h -- one CPU board and one object of kernels, for tests of what a board does
 * with them.
 */
#ifndef HN_TESTS_CPU_BOARD_H
#define HN_TESTS_CPU_BOARD_H

#include "measure/board.h"
#include "measure/child.h"
#include "tests/measure_cc.h"

static struct hn_buf object;
static const struct hn_board_ops *ops;
static void *board;

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
