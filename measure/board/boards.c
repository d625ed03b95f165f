/* boards.c -- what boards.def says of a target line, without any driver: see board.h. */
#include "measure/board/board.h"

#include <string.h>

static const struct {
	const char *name;
	enum hn_board_takes takes;
} rows[] = {
#define BOARD(name, takes) {#name, HN_BOARD_TAKES_##takes},
#include "measure/board/boards.def"
#undef BOARD
};

/* The row's number, or HN_COUNT_OF(rows). */
static size_t row_of(const char *target)
{
	size_t n = strcspn(target, " "), i = 0;

	while (i < HN_COUNT_OF(rows) &&
	       (strlen(rows[i].name) != n || memcmp(rows[i].name, target, n) != 0)) {
		i++;
	}
	return i;
}

bool hn_board_is_driven(const char *target)
{
	return row_of(target) < HN_COUNT_OF(rows);
}

enum hn_board_takes hn_board_takes(const char *target)
{
	size_t i = row_of(target);

	return i < HN_COUNT_OF(rows) ? rows[i].takes : HN_BOARD_TAKES_OBJECT;
}

bool hn_board_is_apart(const char *target)
{
	enum hn_board_takes takes = hn_board_takes(target);

	return takes == HN_BOARD_TAKES_MODULE || takes == HN_BOARD_TAKES_PROGRAM;
}
