/* measure_stats.c -- medians and their certainty. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "measure/board/timing.h"
#include "tests/lib/disturbances.h"

static void medians(void **state)
{
	double x[] = { 5, 1, 4, 2, 3, 9 };

	(void)state;
	assert_true(hn_stats_median(x, 1) == 5);
	assert_true(hn_stats_median(x, 2) == 3);
	assert_true(hn_stats_median(x, 5) == 3);
	assert_true(hn_stats_median(x, 6) == 3.5);
	assert_true(x[0] == 5);
}

static void ranks_are_the_tables(void **state)
{
	uint32_t lo, hi;

	(void)state;
	assert_false(hn_stats_ranks(5, &lo, &hi));
	assert_true(hn_stats_ranks(6, &lo, &hi) && lo == 0 && hi == 5);
	assert_true(hn_stats_ranks(10, &lo, &hi) && lo == 1 && hi == 8);
	assert_true(hn_stats_ranks(20, &lo, &hi) && lo == 5 && hi == 14);
	assert_true(hn_stats_ranks(100, &lo, &hi) && lo == 39 && hi == 60);
}

/* The interval holds the true median at least 95 times in 100, as it says. */
static void intervals_cover(void **state)
{
	int inside = 0, rounds = 4000;

	(void)state;
	for (int i = 0; i < rounds; i++) {
		struct hn_rng r = hn_rng_stream(5, 0, 0, (uint64_t)i);
		double x[12];
		uint32_t lo, hi, below = 0;

		for (int j = 0; j < 12; j++) {
			/* one-sided, as timing noise is; median ln 2 */
			x[j] = -log(1 - hn_rng_unit(&r));
			below += x[j] < log(2);
		}
		assert_true(hn_stats_ranks(12, &lo, &hi));
		inside += below > lo && below <= hi;
	}
	assert_true(inside >= 0.95 * rounds);
}

static void uncertainty_shrinks(void **state)
{
	double same[10];

	(void)state;
	for (int i = 0; i < 10; i++) {
		same[i] = 7;
	}
	assert_true(isinf(hn_stats_uncertainty(same, 5)));
	assert_true(hn_stats_uncertainty(same, 6) == 0);
	same[0] = 70;
	assert_true(hn_stats_uncertainty(same, 10) == 0);
	assert_true(hn_stats_uncertainty(same, 6) == 4.5);
}

static void spin(void *ctx)
{
	struct timespec t;
	int64_t end;

	clock_gettime(CLOCK_MONOTONIC, &t);
	end = t.tv_sec * 1000000000 + t.tv_nsec + *(int64_t *)ctx;
	do {
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while (t.tv_sec * 1000000000 + t.tv_nsec < end);
}

static void times_are_right_and_bounded(void **state)
{
	static const int64_t length[] = { 2000, 3000000, 60000000 };
	struct hn_timing t;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(length); i++) {
		int64_t ns = length[i];
		double m;

		hn_timing_run(spin, &ns,
			      &(struct hn_timing_plan){ .first_ns = (double)ns, .budget_ns = 1e10 },
			      &t);
		m = hn_stats_median(t.sample_ns, t.n);
		assert_true(m >= 0.99 * (double)ns && m < 1.5 * (double)ns);
		assert_true(t.n >= 3);
		assert_true(t.spent_ns >= (double)ns * t.n);
		/* hopeless against a best known that is ten times faster: one sample */
		hn_timing_run(spin, &ns,
			      &(struct hn_timing_plan){ .first_ns = (double)ns,
							.best_ns = (double)ns / 10,
							.budget_ns = 1e10 },
			      &t);
		assert_int_equal(t.n, 1);
	}
}

struct counted {
	int64_t ns; /* first: what spin reads */
	int64_t n_call;
};

static void count_and_spin(void *ctx)
{
	((struct counted *)ctx)->n_call++;
	spin(ctx);
}

/* A budget is kept, to within one call, whatever the call's length. Calls are counted: a busy
 * machine makes them longer and no more. */
static void budgets_are_kept(void **state)
{
	static const int64_t length[] = { 5000, 20000000, 150000000 };
	struct hn_timing t;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(length); i++) {
		struct counted c = { .ns = length[i] };

		hn_timing_run(count_and_spin, &c,
			      &(struct hn_timing_plan){ .first_ns = (double)c.ns,
							.budget_ns = 2e8 },
			      &t);
		assert_true(t.n >= 1);
		assert_in_range(c.n_call, 1, 200000000 / c.ns + 1);
		c.n_call = 0;
		hn_timing_run(count_and_spin, &c,
			      &(struct hn_timing_plan){ .first_ns = (double)c.ns }, &t);
		assert_int_equal(t.n, 1);
		assert_true(t.sample_ns[0] == (double)c.ns);
		assert_int_equal(c.n_call, 0);
	}
}

/* Every other call takes half as long again. */
static void wobble(void *ctx)
{
	static uint32_t n;
	int64_t ns = *(int64_t *)ctx * (n++ % 2 ? 3 : 2) / 2;

	spin(&ns);
}

/* What no luck makes the best is left at once, what may be the best is not. */
static void the_slower_are_left_early(void **state)
{
	int64_t ns = 2000000;
	struct hn_timing_plan plan = { .first_ns = (double)ns,
				       .budget_ns = 1e10,
				       .disturbances = calm };
	struct hn_timing t = { .n = 0 };

	(void)state;
	hn_timing_run(wobble, &ns, &plan, &t);
	assert_true(t.n >= 10);
	plan.best_ns = 0.9 * (double)ns;
	t.n = 0; /* other programs may make all five slow, but not always */
	for (int i = 0; i < 20 && t.n < 10; i++) {
		hn_timing_run(wobble, &ns, &plan, &t);
	}
	assert_true(t.n >= 10);
	plan.best_ns = 0.7 * (double)ns;
	t.n = 1; /* on a busy machine the first look may take it for hopeless */
	for (int i = 0; i < 50 && t.n == 1; i++) {
		hn_timing_run(wobble, &ns, &plan, &t);
	}
	assert_int_equal(t.n, 5);
}

/* The first calls take ten times as long. */
static uint32_t n_slow;

static void settle(void *ctx)
{
	int64_t ns = *(int64_t *)ctx * (n_slow > 0 ? 10 : 1);

	n_slow -= n_slow > 0;
	spin(&ns);
}

/* One disturbed call makes nothing hopeless. */
static void hopeless_is_seen_more_than_once(void **state)
{
	int64_t ns = 2000000;
	struct hn_timing_plan plan = { .first_ns = (double)ns,
				       .best_ns = (double)ns,
				       .budget_ns = 1e10,
				       .disturbances = calm };
	struct hn_timing t = { .n = 1 };

	(void)state;
	double median = INFINITY; /* other programs may make a look slow, but not always */
	for (int i = 0; i < 100 && (t.n == 1 || median >= 3 * (double)ns); i++) {
		n_slow = 2;
		hn_timing_run(settle, &ns, &plan, &t);
		median = hn_stats_median(t.sample_ns, t.n);
	}
	assert_true(t.n > 1);
	assert_true(median < 3 * (double)ns);
	n_slow = 1000;
	hn_timing_run(settle, &ns, &plan, &t);
	assert_int_equal(t.n, 1);
}

/* Calls of three lengths, so that no few samples agree. */
static void uneven(void *ctx)
{
	static uint32_t n;
	int64_t ns = *(int64_t *)ctx * (2 + n++ % 3) / 2;

	spin(&ns);
}

/* What is disturbed is repeated; noisy is what stays so, unless it is slow in any case. */
static void disturbed_samples_are_repeated(void **state)
{
	int64_t ns = 1000000;
	struct hn_timing_plan plan = { .first_ns = (double)ns, .budget_ns = 1e10, .disturbances = made_up };
	struct hn_timing t;

	(void)state;
	for (bad = 0; bad <= 4; bad++) {
		plan.best_ns = 0;
		n_asked = 0;
		hn_timing_run(uneven, &ns, &plan, &t);
		assert_true(t.n >= 3 && t.n_taken >= t.n_dropped);
		assert_int_equal(t.n_dropped > 0, bad > 0);
		if (bad != 2) { /* of half of them it may be one more or less */
			assert_int_equal(t.noisy, bad >= 3);
		}
		plan.best_ns = (double)ns / 2;
		hn_timing_run(spin, &ns, &plan, &t);
		assert_false(t.noisy);
	}
	/* enough are left alone, though most are not: they tell */
	bad = 3;
	plan = (struct hn_timing_plan){ .first_ns = (double)ns, .budget_ns = 1e9,
					.disturbances = made_up };
	hn_timing_run(spin, &ns, &plan, &t);
	assert_true(t.n_dropped > t.n && t.n >= 6);
	assert_int_equal(t.noisy, hn_stats_uncertainty(t.sample_ns, t.n) > 0.03);
}

/* A long sample may be interrupted now and then, on each of its threads. */
static void each_thread_has_its_disturbances(void **state)
{
	int64_t ns = 120000000;
	struct hn_timing_plan plan = { .first_ns = (double)ns, .budget_ns = 1e9,
				       .disturbances = three_each };
	struct hn_timing t;

	(void)state;
	for (plan.n_thread = 0; plan.n_thread <= 4; plan.n_thread += 2) {
		n_asked = 0;
		hn_timing_run(spin, &ns, &plan, &t);
		assert_true(plan.n_thread == 4 ? t.n_dropped == 0 : t.n_dropped == t.n_taken);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(medians),
		cmocka_unit_test(ranks_are_the_tables),
		cmocka_unit_test(intervals_cover),
		cmocka_unit_test(uncertainty_shrinks),
		cmocka_unit_test(times_are_right_and_bounded),
		cmocka_unit_test(budgets_are_kept),
		cmocka_unit_test(the_slower_are_left_early),
		cmocka_unit_test(hopeless_is_seen_more_than_once),
		cmocka_unit_test(disturbed_samples_are_repeated),
		cmocka_unit_test(each_thread_has_its_disturbances),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
