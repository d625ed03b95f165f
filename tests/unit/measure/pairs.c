/* measure_pairs.c -- two calls timed in turn: order, ratios, disturbances, budgets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "base/clock.h"
#include "measure/board/pairs.h"
#include "tests/lib/disturbances.h"

/* A call that takes so long, times what the machine's mood is. */
struct work {
	double ns;
	char name;
};

static double mood = 1;
static char order[400];
static uint32_t n_order;

static void work(void *ctx)
{
	struct work *w = ctx;
	int64_t end = hn_clock_ns() + (int64_t)(w->ns * mood);

	if (n_order < sizeof order) {
		order[n_order++] = w->name;
	}
	while (hn_clock_ns() < end) {
	}
}

static struct hn_pairs run(double a_ns, double b_ns, double budget_ns, hn_disturbances_fn d)
{
	struct work a = {a_ns, 'A'}, b = {b_ns, 'B'};
	void *const ctx[2] = {&a, &b};
	struct hn_pairs p;

	n_order = 0;
	hn_pairs_run(work, ctx,
		     &(struct hn_pairs_plan){.first_ns = {a_ns, b_ns}, .budget_ns = budget_ns,
					     .disturbances = d}, &p);
	return p;
}

/* A B, B A, A B, ...; who comes after the other runs once for its caches. */
static void they_take_turns(void **state)
{
	struct hn_pairs p = run(5e5, 5e5, 1e10, calm);

	(void)state;
	assert_in_range(p.n, 3, HN_PAIRS); /* fewer on a busy machine */
	assert_memory_equal(order, "AABBBAAABBBA", 12);
	assert_true(p.spent_ns >= 2 * p.n * 5e5);
}

/* The longer takes its share more, whatever the length; short calls are timed by many. */
static void ratios_are_right(void **state)
{
	static const double length[] = {3e3, 5e5, 4e6};

	(void)state;
	for (int i = 0; i < 3; i++) {
		double ratio = 0;

		/* other programs may take a core in the middle, but not always */
		for (int tries = 0; tries < 60 && fabs(ratio - log(1.5)) > 0.02; tries++) {
			struct hn_pairs p = run(length[i], 1.5 * length[i], 1e10, calm);

			assert_in_range(p.n, 3, HN_PAIRS);
			ratio = hn_stats_log_ratio(p.ns[0], p.ns[1], p.n);
		}
		assert_true(fabs(ratio - log(1.5)) <= 0.02);
	}
}

/* Half of the time the machine is at half its speed: no ratio shows it. */
static uint64_t moody(void)
{
	static uint32_t n;

	mood = n++ / 8 % 2 == 0 ? 1 : 2; /* asked twice a sample: changes every other pair */
	return 0;
}

static void slow_spells_cancel(void **state)
{
	double ratio = 1, slow = 0;

	(void)state;
	for (int tries = 0; tries < 60 && fabs(ratio) > 0.02; tries++) {
		struct hn_pairs p = run(5e5, 5e5, 1e10, moody);

		ratio = hn_stats_log_ratio(p.ns[0], p.ns[1], p.n);
		slow = 0;
		for (uint32_t i = 0; i < p.n; i++) {
			slow = fmax(slow, p.ns[0][i]);
		}
	}
	mood = 1;
	assert_true(fabs(ratio) <= 0.02);
	assert_true(slow > 9e5);
}

static void disturbed_pairs_are_made_again(void **state)
{
	struct hn_pairs p;

	(void)state;
	for (bad = 0; bad <= 4; bad++) {
		n_asked = 0;
		p = run(4e5, 4e5, 1e10, made_up);
		if (bad <= 2) {
			assert_in_range(p.n, 3, HN_PAIRS);
			assert_int_equal(p.n_dropped > 0, bad > 0);
		} else { /* every pair has one: the first times stand for them */
			assert_int_equal(p.n, 1);
			assert_int_equal(p.n_dropped, 2 * HN_PAIRS + 1);
		}
		assert_int_equal(p.noisy, p.n_dropped > p.n);
	}
}

static void budgets_are_kept(void **state)
{
	int64_t begin = hn_clock_ns();
	struct hn_pairs p = run(2e7, 2e7, 5e7, calm);

	(void)state;
	assert_int_equal(p.n, 1);
	assert_true(hn_clock_ns() - begin < 90000000);
	p = run(1e9, 2e9, 1e9, calm); /* not even one: the first times are all there is */
	assert_int_equal(p.n, 1);
	assert_true(p.ns[0][0] == 1e9 && p.ns[1][0] == 2e9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_take_turns),
		cmocka_unit_test(ratios_are_right),
		cmocka_unit_test(slow_spells_cancel),
		cmocka_unit_test(disturbed_pairs_are_made_again),
		cmocka_unit_test(budgets_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
