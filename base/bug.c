/* base/bug.c -- the last words of a process that found a bug in itself. */
#include "base/cdefs.h"

#include <stdio.h>
#include <stdlib.h>

HN_NORETURN void hn_bug(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: bug in hone: %s\n", file, line, what);
	fflush(stderr);
	abort();
}
