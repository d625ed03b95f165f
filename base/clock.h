/* base/clock.h -- the clocks. */
#ifndef HN_BASE_CLOCK_H
#define HN_BASE_CLOCK_H

#include <stdint.h>

/* Monotonic nanoseconds since some point; for durations and deadlines. */
int64_t hn_clock_ns(void);

/* Processor time of this thread: what is left of a duration on a machine that others use. */
int64_t hn_clock_cpu_ns(void);

/* Unix time in milliseconds; for records. */
int64_t hn_clock_unix_ms(void);

#endif
