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

enum hn_board_takes hn_board_takes(const char *target)
{
	size_t n = strcspn(target, " ");

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (strlen(rows[i].name) == n && memcmp(rows[i].name, target, n) == 0) {
			return rows[i].takes;
		}
	}
	return HN_BOARD_TAKES_OBJECT;
}
