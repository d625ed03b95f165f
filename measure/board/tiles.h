/* measure/board/tiles.h -- registers for tiles (AMX), which the system gives to a process that asks.
 *
 * A process asks once; its threads and the processes that it forks have them, a program that it
 * executes has not.  The first use of one needs no system call, so the sandbox does not see it.
 * Without them an instruction on tiles is an illegal one.  Source: the kernel's
 * Documentation/arch/x86/xstate.rst, which also says that signal stacks must be larger (fault.c has
 * 64 KiB).
 */
#ifndef HN_MEASURE_BOARD_TILES_H
#define HN_MEASURE_BOARD_TILES_H

#include <stdbool.h>
#include <stddef.h>

enum hn_tiles {
	HN_TILES_NONE, /* this machine has none, or nobody has asked */
	HN_TILES_GRANTED,
	HN_TILES_REFUSED
};

/* Whom to ask; tests ask others. */
struct hn_tiles_system {
	bool (*has)(void);
	int (*request)(void); /* 0 or errno */
};

/* Ask the system (NULL = this machine's), for this process; its answer is kept.  Where it refuses,
 * why in a line. */
enum hn_tiles hn_tiles_ask(const struct hn_tiles_system *system, char *why,
			   size_t why_bytes);

/* The last answer; *ret_error: why not, of errno. */
enum hn_tiles hn_tiles_answer(int *ret_error);

#endif
