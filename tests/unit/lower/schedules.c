/* Histories written by hand (tests/data/schedules): each replays, is proved, lowers and
 * computes what its program says. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/lib/lower_schedules.h"

static void by_hand(void **state)
{
	check_file(*state, HONE_SOURCE_DIR "/tests/data/schedules/memory.txt");
}

static void no_read_past_the_end(void **state)
{
	check_file(*state, HONE_SOURCE_DIR "/tests/data/schedules/masks.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_hand, setup, teardown),
		cmocka_unit_test_setup_teardown(no_read_past_the_end, setup, teardown),
	};

	return cmocka_run_group_tests_name("lower schedules", tests, NULL, NULL);
}
