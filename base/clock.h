/* base/clock.h -- the two clocks. */
#ifndef HN_BASE_CLOCK_H
#define HN_BASE_CLOCK_H

#include <stdint.h>

/* Monotonic nanoseconds since some point; for durations and deadlines. */
int64_t hn_clock_ns(void);

/* Unix time in milliseconds; for records. */
int64_t hn_clock_unix_ms(void);

#endif
