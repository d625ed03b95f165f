/* daemon/heap.c -- see heap.h. */
#include "daemon/heap.h"

#include <stdlib.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#define HEAPS 1 /* the search has arenas of its own, so that few calls meet */

void hn_heap_open(void)
{
#if defined(__GLIBC__)
	mallopt(M_ARENA_MAX, HEAPS);
#endif
}

void hn_heap_trim(void)
{
#if defined(__GLIBC__)
	malloc_trim(0);
#endif
}
