/* measure/board/flush.h -- memory out of every cache, so that what is read next comes from memory.
 *
 * On x86-64 each line of the ranges is flushed by name (CLFLUSHOPT, CLFLUSH on older machines):
 * exact, whichever cores hold the line, at a cost that goes with the ranges alone.  The rule
 * of streaming twice the last level costs hundreds of megabytes a
 * sample where the last level is a server's, of which a virtual machine has an unknown share;
 * it is what is left on machines where a program cannot flush.
 */
#ifndef HN_MEASURE_BOARD_FLUSH_H
#define HN_MEASURE_BOARD_FLUSH_H

#include <stddef.h>

struct hn_flush_range {
	const void *at;
	size_t bytes; /* 0 = nothing, whatever `at` is */
};

/* Returns when no line of the ranges is in a cache, as far as nobody touches them meanwhile:
 * how many lines of 64 bytes the ranges lie in.  The memory is readable; it may be sealed. */
size_t hn_flush(const struct hn_flush_range *range, size_t n);

#endif
