/* The bench's races: a contender that only waits takes long by the wall, and nothing by its own
 * time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "bench/race.h"

#define WAIT_NS 2000000

static void wait_call(void *ctx)
{
	(void)ctx;
	nanosleep(&(struct timespec){ .tv_nsec = WAIT_NS }, NULL);
}

static void work_call(void *ctx)
{
	volatile uint32_t *n = ctx;

	for (int i = 0; i < 1000000; i++) {
		*n = *n * 5 + 1;
	}
}

static void test_own_time(void **state)
{
	uint32_t n = 1;
	const struct hn_contender c[] = {
		{ .name = "wait", .ctx = &n, .call = wait_call },
		{ .name = "work", .ctx = &n, .call = work_call },
	};
	struct hn_race_result wall[2], own[2];

	(void)state;
	hn_race(c, 2, 0, 0.05, wall);
	assert_true(hn_race_ns(&wall[0]) >= WAIT_NS);
	hn_race(c, 1, HN_RACE_OWN_TIME | HN_RACE_COLD, 0.05, own);
	assert_true(hn_race_ns(&own[0]) < WAIT_NS / 4);
	hn_race(c + 1, 1, HN_RACE_OWN_TIME, 0.05, own);
	/* a million steps, one after the other */
	assert_true(hn_race_ns(&own[0]) > 100000);
	assert_true(hn_race_ns(&own[0]) < 4 * hn_race_ns(&wall[1]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
