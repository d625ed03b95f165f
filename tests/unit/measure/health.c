/* measure_health.c -- the rule by which a board is believed or not; time is made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "measure/health.h"

#define SECOND INT64_C(1000000000)

static const struct hn_back_off one_of_many = {.first_ns = SECOND};

static bool canary(struct hn_health *h, double ns, int64_t now)
{
	return hn_health_canary(h, (struct hn_canary){.ns = ns}, one_of_many, now);
}

static bool wandering(struct hn_health *h, double ns, double wander)
{
	return hn_health_canary(h, (struct hn_canary){ns, wander}, one_of_many, 0);
}

static void two_moved_canaries_are_quarantine(void **state)
{
	struct hn_health h = {0};

	(void)state;
	assert_true(canary(&h, 1000, 0));
	assert_true(canary(&h, 1019, 0));
	assert_true(canary(&h, 981, 0));
	assert_int_equal(h.state, HN_HEALTH_GOOD);
	assert_false(canary(&h, 1021, 0));
	assert_int_equal(h.state, HN_HEALTH_SUSPECT);
	assert_non_null(strstr(h.why, "2.1 % more"));
	assert_true(canary(&h, 1000, 0)); /* a moment's trouble */
	assert_int_equal(h.state, HN_HEALTH_GOOD);
	assert_false(canary(&h, 900, 0));
	assert_non_null(strstr(h.why, "10.0 % less"));
	assert_false(canary(&h, 1100, 5));
	assert_int_equal(h.state, HN_HEALTH_QUARANTINED);
	assert_true(hn_health_resting(&h, SECOND));
	assert_false(hn_health_resting(&h, SECOND + 5));
	/* it is held against what it was at first, not against its latest */
	assert_false(canary(&h, 1100, SECOND + 5));
	assert_int_equal(h.n_quarantine, 2);
}

static void the_back_off_doubles_and_is_forgiven(void **state)
{
	struct hn_health h = {0};
	int64_t now = 0;

	(void)state;
	canary(&h, 1000, now);
	canary(&h, 2000, now);
	for (int i = 0; i < 9; i++) {
		int64_t rest = SECOND << (i < 6 ? i : 6);

		canary(&h, 2000, now);
		assert_int_equal(h.until_ns, now + rest);
		assert_int_equal(hn_health_hopeless(&h, SECOND, now), i >= 4);
		now += rest;
	}
	for (int i = 0; i < 8; i++) {
		assert_true(canary(&h, 1000, now));
		assert_int_equal(h.state, HN_HEALTH_GOOD);
		assert_int_equal(h.n_back, i < 7 ? 9 : 0);
		assert_false(hn_health_hopeless(&h, SECOND, now)); /* it is back */
	}
}

/* Eight clean ones in a row: a loss among them and the count begins anew. */
static void a_loss_is_no_clean_canary(void **state)
{
	struct hn_health h = {0};

	(void)state;
	canary(&h, 1000, 0);
	canary(&h, 2000, 0);
	canary(&h, 2000, 0);
	assert_int_equal(h.n_back, 1);
	for (int i = 0; i < 7; i++) {
		canary(&h, 1000, SECOND);
	}
	hn_health_lost(&h, "it ended", one_of_many, SECOND);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(h.n_back, 1);
		canary(&h, 1000, SECOND);
	}
	assert_int_equal(h.n_back, 0);
}

static void the_third_loss_of_a_new_board_counts(void **state)
{
	struct hn_health h = {0};

	(void)state;
	for (int i = 0; i < 3; i++) { /* the clock has just begun, too */
		assert_int_equal(h.state, HN_HEALTH_GOOD);
		hn_health_lost(&h, "it ended", one_of_many, (1 + i) * SECOND);
	}
	assert_int_equal(h.state, HN_HEALTH_QUARANTINED);
}

static void three_losses_in_a_minute_are_quarantine(void **state)
{
	struct hn_health h = {0};

	(void)state;
	for (int i = 0; i < 20; i++) { /* rare ones are forgiven */
		hn_health_lost(&h, "it ended", one_of_many, i * 31 * SECOND);
		assert_int_equal(h.state, HN_HEALTH_GOOD);
	}
	hn_health_lost(&h, "it ended", one_of_many, 600 * SECOND);
	assert_int_equal(h.state, HN_HEALTH_QUARANTINED);
	assert_non_null(strstr(h.why, "it ended"));
	assert_true(hn_health_resting(&h, 600 * SECOND));
	assert_false(hn_health_resting(&h, 601 * SECOND));
	hn_health_lost(&h, "it ended", one_of_many, 601 * SECOND); /* on its way back */
	assert_int_equal(h.until_ns, 603 * SECOND);
	assert_true(canary(&h, 0, 603 * SECOND)); /* it has no canary, and answers */
	assert_int_equal(h.state, HN_HEALTH_GOOD);
	assert_true(canary(&h, 0, 603 * SECOND));
}

/* One whose clock follows its neighbours: held against the canary before, within its own
 * wander; and no wander excuses everything. */
static void who_wanders_is_held_against_the_one_before(void **state)
{
	static const double wander[] = {0.001, 0.07, 0.5}, allowed[] = {0.02, 0.07, 0.15};
	double ns = 1000;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct hn_health h = {0};

		for (int k = 0; k < 20; k++) { /* a slow drift is no step */
			ns *= 1 + 0.9 * allowed[i];
			assert_true(wandering(&h, ns, wander[i]));
		}
		assert_false(wandering(&h, ns *= 1 + 1.1 * allowed[i], wander[i]));
		assert_int_equal(h.state, HN_HEALTH_SUSPECT);
		assert_non_null(strstr(h.why, "more than the one before"));
		assert_true(wandering(&h, ns, wander[i])); /* it stays there: believed */
		assert_int_equal(h.state, HN_HEALTH_GOOD);
		assert_false(wandering(&h, ns *= 1 - 1.1 * allowed[i], wander[i]));
		assert_false(wandering(&h, ns *= 1 + 1.2 * allowed[i], wander[i]));
		assert_int_equal(h.state, HN_HEALTH_QUARANTINED); /* it holds still nowhere */
	}
}

/* A wandering clock seconds later is another clock: two canaries that agree bring it back. */
static void who_wanders_comes_back_by_holding_still(void **state)
{
	struct hn_health h = {0};

	(void)state;
	wandering(&h, 1000, 0.05);
	wandering(&h, 1100, 0.05);
	wandering(&h, 1000, 0.05);
	assert_int_equal(h.state, HN_HEALTH_QUARANTINED);
	assert_false(wandering(&h, 1400, 0.05)); /* nothing is told yet */
	assert_int_equal(h.state, HN_HEALTH_SUSPECT);
	assert_true(wandering(&h, 1390, 0.05));
	assert_int_equal(h.state, HN_HEALTH_GOOD);
	wandering(&h, 1000, 0.05);
	wandering(&h, 1390, 0.05);
	wandering(&h, 1000, 0.05);
	assert_int_equal(h.n_quarantine, 2);
	assert_false(wandering(&h, 1100, 0.05)); /* it still does not */
	assert_int_equal(h.state, HN_HEALTH_QUARANTINED);
	assert_int_equal(h.n_quarantine, 3);
}

/* Trouble now and then, with clean canaries between, is never past hope. */
static void hope_is_lost_in_a_row_only(void **state)
{
	struct hn_health h = {0};

	(void)state;
	canary(&h, 1000, 0);
	for (int i = 0; i < 12; i++) {
		canary(&h, 2000, 0);
		canary(&h, 2000, 0);
		assert_int_equal(h.state, HN_HEALTH_QUARANTINED);
		assert_false(hn_health_hopeless(&h, SECOND, INT64_MAX));
		canary(&h, 1000, 0);
		assert_int_equal(h.state, HN_HEALTH_GOOD);
	}
}

/* Killed every second for a minute and a half, the only board is at work most of that time; its
 * rest does not grow. */
static void the_last_one_is_soon_back(void **state)
{
	static const struct hn_back_off only = {.first_ns = SECOND, .last = true};
	struct hn_health h = {0};
	int64_t rested = 0;

	(void)state;
	for (int i = 1; i <= 90; i++) {
		hn_health_lost(&h, "it ended", only, i * SECOND);
		rested += hn_health_resting(&h, i * SECOND) ? h.until_ns - i * SECOND : 0;
		assert_false(hn_health_hopeless(&h, SECOND, i * SECOND));
		assert_false(hn_health_resting(&h, i * SECOND + SECOND / 4));
		canary(&h, 1000, i * SECOND + SECOND / 2);
	}
	assert_true(rested <= 90 * SECOND / 8);
}

/* One that never gets as far as a canary is past hope after a while, and then rests for long. */
static void the_last_one_may_be_past_hope(void **state)
{
	static const struct hn_back_off only = {.first_ns = SECOND, .last = true};
	struct hn_health h = {0};
	int64_t now = 0;

	(void)state;
	while (!hn_health_hopeless(&h, SECOND, now)) {
		hn_health_lost(&h, "it ended", only, now);
		assert_true(now < 17 * SECOND);
		now = h.until_ns > now ? h.until_ns : now + SECOND / 100;
	}
	assert_true(now >= 15 * SECOND);
	hn_health_lost(&h, "it ended", only, now);
	assert_int_equal(h.until_ns - now, 64 * SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_moved_canaries_are_quarantine),
		cmocka_unit_test(the_back_off_doubles_and_is_forgiven),
		cmocka_unit_test(a_loss_is_no_clean_canary),
		cmocka_unit_test(the_third_loss_of_a_new_board_counts),
		cmocka_unit_test(three_losses_in_a_minute_are_quarantine),
		cmocka_unit_test(who_wanders_is_held_against_the_one_before),
		cmocka_unit_test(who_wanders_comes_back_by_holding_still),
		cmocka_unit_test(hope_is_lost_in_a_row_only),
		cmocka_unit_test(the_last_one_is_soon_back),
		cmocka_unit_test(the_last_one_may_be_past_hope),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
