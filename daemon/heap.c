/* daemon/heap.c -- see heap.h. */
#include "daemon/heap.h"

#include <stdlib.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

void hn_heap_trim(void)
{
#if defined(__GLIBC__)
	malloc_trim(0);
#endif
}
