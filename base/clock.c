/* base/clock.c -- see clock.h. */
#include "base/clock.h"

#include <time.h>

#include "base/cdefs.h"

static int64_t clock_read(clockid_t id)
{
	struct timespec t;

	hn_assert(clock_gettime(id, &t) == 0);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t hn_clock_ns(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

int64_t hn_clock_cpu_ns(void)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

int64_t hn_clock_unix_ms(void)
{
	return clock_read(CLOCK_REALTIME) / 1000000;
}
