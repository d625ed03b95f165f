/* disturbances.h -- counters of disturbances that tests make up (measure/board/timing.h): of each four
 * samples the first `bad` are disturbed. */
#ifndef HN_TESTS_DISTURBANCES_H
#define HN_TESTS_DISTURBANCES_H

#include <stdint.h>

static uint32_t bad, n_asked;

static inline uint64_t made_up(void)
{
	static uint64_t count;

	/* asked twice a sample; the second time it has grown or not */
	count += n_asked % 2 == 1 && n_asked / 2 % 4 < bad;
	n_asked++;
	return count;
}

/* Three in each sample. */
static inline uint64_t three_each(void)
{
	return 3 * ((n_asked++ + 1) / 2); /* asked twice a sample */
}

static inline uint64_t calm(void)
{
	return 0;
}

#endif
