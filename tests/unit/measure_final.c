/* measure_final.c -- the final's judgement on seeded noise of known truth: luck, drift,
 * one-sided spikes, and a neighbour that takes a core for whole visits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "measure/final.h"
#include "measure/stats.h"

/* A machine that is never quiet: times are true ones, times these. */
struct noise {
	double spread;	    /* of a visit, as a share, both ways */
	double spike_odds;  /* of a visit being disturbed ... */
	double spike;	    /* ... by up to this share of its time */
	double drift;	    /* over each visit, as a share of the first */
};

static const struct noise quiet = {0.004, 0.02, 0.5, 0};
static const struct noise calm = {0.004, 0, 0, 0};
static const struct noise busy = {0.02, 0.4, 1.0, 0};
static const struct noise drifting = {0.004, 0.02, 0.5, 0.002};

/* as a shared host was measured: the median of 24 pairs spreads by 1.15 % */
static const struct noise shared = {0.055, 0.05, 0.3, 0};

static struct hn_final_result play(const double *truth, uint32_t n, const struct noise *k,
				   uint32_t n_visit_max, uint64_t seed)
{
	struct hn_rng rng = hn_rng_stream(seed, 1, 2, 3);
	struct hn_final_result r;
	struct hn_final f;
	double slow = 1;
	uint32_t who;

	hn_final_init(&f, n, seed);
	for (uint32_t i = 0; i < n_visit_max && hn_final_next(&f, &who); i++) {
		double t = truth[who] * slow *
			   (1 + k->spread * (2 * hn_rng_unit(&rng) - 1));

		t *= hn_rng_unit(&rng) < k->spike_odds ? 1 + k->spike * hn_rng_unit(&rng)
						       : 1;
		slow += k->drift;
		hn_final_tell(&f, t, t);
	}
	hn_final_judge(&f, &r);
	return r;
}

/* How often, of so many finals, the title goes to `who`. */
static uint32_t titles(const double *truth, uint32_t n, const struct noise *k,
		       uint32_t who, uint32_t rounds)
{
	uint32_t won = 0;

	for (uint32_t i = 0; i < rounds; i++) {
		won += play(truth, n, k, 10000, i + 1).winner == who;
	}
	return won;
}

static void the_same_twice_is_a_tie(void **state)
{
	static const double same[] = {100, 100};

	(void)state;
	assert_true(titles(same, 2, &quiet, 1, 100) == 0);
	assert_true(titles(same, 2, &drifting, 1, 100) == 0);
	assert_true(titles(same, 2, &busy, 1, 200) <= 2);
}

/* The smallest of ten equal ones is lucky; it must not take the title for it. */
static void luck_is_no_title(void **state)
{
	static const double same[HN_FINAL_MAX_ENTRANT] = {100, 100, 100, 100, 100,
							  100, 100, 100, 100, 100};

	(void)state;
	assert_true(titles(same, 10, &quiet, 0, 100) == 100);
	assert_true(titles(same, 10, &busy, 0, 100) >= 99);
}

static void three_per_cent_are_found(void **state)
{
	static const double worse[] = {100, 103}, better[] = {103, 100};

	(void)state;
	assert_true(titles(worse, 2, &quiet, 0, 100) == 100);
	assert_true(titles(worse, 2, &busy, 0, 100) == 100);
	assert_true(titles(better, 2, &quiet, 1, 100) >= 95);
	assert_true(titles(better, 2, &drifting, 1, 100) >= 95);
}

/* Where one visit tells little, a duel goes on; where all is clear, it does not. */
static void a_duel_is_as_long_as_it_takes(void **state)
{
	static const double better[] = {103, 100}, far[] = {125, 100}, same[] = {100, 100};
	uint32_t n_block = 0;

	(void)state;
	assert_true(titles(better, 2, &shared, 1, 100) >= 85);
	assert_true(titles(same, 2, &shared, 1, 200) <= 1);
	assert_int_equal(play(far, 2, &shared, 10000, 1).n_block, HN_FINAL_LOOK_BLOCKS);
	assert_int_equal(play(better, 2, &calm, 10000, 1).n_block, HN_FINAL_LOOK_BLOCKS);
	for (uint64_t i = 0; i < 100; i++) {
		n_block += play(same, 2, &shared, 10000, i + 1).n_block;
	}
	assert_true(n_block < 100 * 3 * HN_FINAL_LOOK_BLOCKS);
}

/* Judged by the least samples, told by the medians. */
static void medians_are_told(void **state)
{
	struct hn_final_result r;
	struct hn_final f;
	uint32_t who;

	(void)state;
	hn_final_init(&f, 2, 1);
	while (hn_final_next(&f, &who)) {
		hn_final_tell(&f, who == 0 ? 100 : 80, who == 0 ? 110 : 130);
	}
	hn_final_judge(&f, &r);
	assert_int_equal(r.winner, 1);
	assert_true(r.median_ns == 130);
}

/* Below what counts as a gain, certainty does not help. */
static void half_a_per_cent_is_a_tie(void **state)
{
	static const double truth[] = {100.5, 100};

	(void)state;
	assert_true(titles(truth, 2, &quiet, 1, 100) == 0);
}

static void the_fastest_of_many_wins(void **state)
{
	static const double truth[] = {100, 104, 101, 95, 99, 110, 98, 102, 100, 97};

	(void)state;
	assert_true(titles(truth, 10, &quiet, 3, 100) >= 98);
}

/* Forwards and backwards: in every block each entrant's visits have one middle. */
static void the_order_cancels_drift(void **state)
{
	struct hn_final f;
	uint32_t who, sum[HN_FINAL_MAX_ENTRANT] = {0};

	(void)state;
	hn_final_init(&f, 4, 1);
	for (uint32_t i = 0; i < 8; i++) {
		assert_true(hn_final_next(&f, &who));
		sum[who] += i;
		hn_final_tell(&f, 100 - who, 100 - who);
	}
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(sum[i], 7);
	}
}

static void a_slower_field_ends_with_the_race(void **state)
{
	static const double truth[] = {100, 105, 110};
	struct hn_final_result r = play(truth, 3, &quiet, 10000, 1);

	(void)state;
	assert_true(r.decided);
	assert_int_equal(r.winner, 0);
	assert_int_equal(r.challenger, 0);
	assert_true(fabs(r.median_ns - 100) < 1);
}

/* Cut short, it says so and changes nothing, however clear it looked. */
static void too_few_blocks_decide_nothing(void **state)
{
	static const double truth[] = {100, 50};
	struct hn_final_result r;

	(void)state;
	r = play(truth, 2, &calm, 4 * HN_FINAL_MIN_BLOCKS - 1, 1);
	assert_false(r.decided);
	assert_int_equal(r.winner, 0);
	r = play(truth, 2, &calm, 4 * HN_FINAL_MIN_BLOCKS, 1);
	assert_true(r.decided);
	assert_int_equal(r.winner, 1);
	assert_true(r.gain_lo > 0.45 && r.gain_hi < 0.55);
	assert_true(fabs(r.median_ns - 50) < 1);
	assert_int_equal(hn_final_min_visits(2), 2 * HN_FINAL_MIN_BLOCKS);
}

/* The interval holds the true median as often as it says, and repeats by seed. */
static void the_bootstrap_covers(void **state)
{
	uint32_t inside = 0;
	double lo, hi, again;

	(void)state;
	for (uint32_t i = 0; i < 400; i++) {
		struct hn_rng rng = hn_rng_stream(7, 0, 0, i);
		double x[15];

		for (int j = 0; j < 15; j++) {
			x[j] = -log(1 - hn_rng_unit(&rng));
		}
		hn_stats_bootstrap(x, 15, 0.025, i, &lo, &hi);
		inside += lo <= log(2) && hi >= log(2);
		hn_stats_bootstrap(x, 15, 0.025, i, &again, &hi);
		assert_true(again == lo);
	}
	assert_in_range(inside, 370, 399);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_twice_is_a_tie),
		cmocka_unit_test(luck_is_no_title),
		cmocka_unit_test(three_per_cent_are_found),
		cmocka_unit_test(a_duel_is_as_long_as_it_takes),
		cmocka_unit_test(medians_are_told),
		cmocka_unit_test(half_a_per_cent_is_a_tie),
		cmocka_unit_test(the_fastest_of_many_wins),
		cmocka_unit_test(the_order_cancels_drift),
		cmocka_unit_test(a_slower_field_ends_with_the_race),
		cmocka_unit_test(too_few_blocks_decide_nothing),
		cmocka_unit_test(the_bootstrap_covers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
