/* What follows from times of networks that ran in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/cdefs.h"
#include "client/netrace.h"

#define ROUNDS 5

/* Five steps of four tasks: the first task runs twice. */
static struct hn_gstep step[] = { { .task = 0 }, { .task = 1 }, { .task = 2 }, { .task = 3 },
				  { .task = 0 } };
static const struct hn_net net = { .n_task = 4, .n_step = 5, .step = step };

static struct hn_netrun run_of(const double *ns, const double **step_ns)
{
	return (struct hn_netrun){ .net = &net, .n_round = ROUNDS, .ns = ns, .step_ns = step_ns };
}

/* The machine is three times as slow in two of the rounds: ratios of a round know nothing of it. */
static const double slow_machine[ROUNDS] = { 1, 3, 1, 3, 1 };

static void of_machine(double ns, double ret[ROUNDS])
{
	for (int i = 0; i < ROUNDS; i++) {
		ret[i] = ns * slow_machine[i];
	}
}

static void a_ratio_is_of_one_round(void **state)
{
	double x[ROUNDS], y[ROUNDS];

	(void)state;
	of_machine(100, x);
	of_machine(101, y);
	assert_true(fabs(hn_netrace_slower(x, y, ROUNDS) - log(1.01)) < 1e-9);
	assert_true(fabs(hn_netrace_slower(y, x, ROUNDS) + log(1.01)) < 1e-9);
	assert_true(hn_netrace_median(x, ROUNDS) == 100);
	assert_true(fabs(hn_netrace_surely(x, y, ROUNDS) - log(1.01)) < 1e-9);
	y[1] = x[1] * 2; /* of five rounds one is left out, not two */
	assert_true(fabs(hn_netrace_surely(x, y, ROUNDS) - log(1.01)) < 1e-9);
	y[3] = x[3] * 2;
	assert_true(hn_netrace_surely(x, y, ROUNDS) > 0.5);
	of_machine(101, y);
	y[2] = 1e9; /* one round does not decide */
	assert_true(hn_netrace_slower(x, y, ROUNDS) < 0.02);
}

static void a_mixture_has_the_better_of_each(void **state)
{
	static const double a0[] = { 10, 30, 10, 30, 10 }, a1[] = { 20, 60, 20, 60, 20 };
	static const double b0[] = { 9, 27, 9, 27, 9 }, b1[] = { 21, 63, 21, 63, 21 };
	/* the first task: 10 + 20 against 11 + 9 */
	static const double c0[] = { 11, 33, 11, 33, 11 };
	const double *first[] = { a0, a1, a0, a1, a1 }, *second[] = { c0, b1, a0, b0, b0 };
	const struct hn_netrun run[2] = { run_of(a0, first), run_of(b0, second) };
	bool open[] = { true, true, true, false };
	struct hn_arena a;
	uint32_t from[4];

	(void)state;
	hn_arena_init(&a, 0);
	assert_true(hn_netrace_task(&run[0], 0, &a)[1] == 90);
	assert_true(hn_netrace_mix(run, open, &a, from));
	assert_int_equal(from[0], 1); /* faster, all steps together */
	assert_int_equal(from[1], 0); /* slower */
	assert_int_equal(from[2], 0); /* equal: the first's */
	assert_int_equal(from[3], 0); /* faster, but the same kernel */
	open[1] = open[2] = false;
	assert_false(hn_netrace_mix(run, open, &a, from)); /* all that is open is the second's */
	assert_int_equal(from[0], 1);
	open[0] = false;
	open[1] = true;
	assert_false(hn_netrace_mix(run, open, &a, from)); /* nothing is */
	hn_arena_fini(&a);
}

static void who_is_not_faster_does_not_win(void **state)
{
	double first[ROUNDS], second[ROUNDS], third[ROUNDS];

	(void)state;
	of_machine(100, first);
	of_machine(100, second);
	of_machine(102, third);
	const struct hn_netrun run[] = { run_of(first, NULL), run_of(second, NULL),
					 run_of(third, NULL) };

	assert_int_equal(hn_netrace_best(run, 3), 0);
	of_machine(99, third);
	assert_int_equal(hn_netrace_best(run, 3), 2);
	of_machine(98, second);
	assert_int_equal(hn_netrace_best(run, 3), 1);
	assert_int_equal(hn_netrace_best(run, 1), 0);
	second[0] = second[1] = 1e3; /* faster in three rounds of five */
	assert_int_equal(hn_netrace_best(run, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ratio_is_of_one_round),
		cmocka_unit_test(a_mixture_has_the_better_of_each),
		cmocka_unit_test(who_is_not_faster_does_not_win),
	};

	return cmocka_run_group_tests_name("netrace", tests, NULL, NULL);
}
