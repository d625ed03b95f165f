/* search_taskset.c -- the rule of many tasks, on curves of known shape: who gets the rounds, when
 * it ends, and that gradient beats round-robin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "search/taskset.h"

/* A task's search: its time falls by scale * k^-1.5 in round k, or not at all. */
struct curve {
	double start_ns, scale, seconds;
	uint32_t ends; /* nothing is gained from this round on; 0 = never ends */
};

struct game {
	struct hn_taskset ts;
	const struct curve *curve;
	double time_ns[HN_TASKSET_MAX], seconds;
	uint32_t n_round[HN_TASKSET_MAX], longest_wait;
	uint32_t order[4096], n_order;
	enum hn_taskset_say end;
};

static void begin(struct game *g, const char *strategy, struct hn_taskset_budget budget,
		  const struct curve *curve, uint32_t n, const double *weight)
{
	double ones[HN_TASKSET_MAX];

	for (uint32_t i = 0; i < n; i++) {
		ones[i] = 1;
	}
	memset(g, 0, sizeof *g);
	g->curve = curve;
	hn_taskset_init(&g->ts, hn_strategy_ops(strategy), &budget, n,
			weight != NULL ? weight : ones);
	for (uint32_t i = 0; i < n; i++) {
		g->time_ns[i] = curve[i].start_ns;
		hn_taskset_naive(&g->ts, i, curve[i].start_ns * 50);
	}
}

static void tell(struct game *g, uint32_t i, int64_t trials)
{
	const struct curve *c = &g->curve[i];
	double k = ++g->n_round[i];
	struct hn_taskset_told told = { .trials = trials, .seconds = c->seconds };

	if (k > 1 && (c->ends == 0 || k < c->ends)) {
		g->time_ns[i] *= exp(-c->scale / (k * sqrt(k)));
	}
	told.best_ns = g->time_ns[i];
	g->seconds += c->seconds;
	hn_taskset_tell(&g->ts, i, trials, &told);
}

/* Round after round, at most so many. */
static void play(struct game *g, uint32_t n_most)
{
	struct hn_taskset_answer a = { 0 };
	uint32_t last[HN_TASKSET_MAX] = { 0 };

	for (uint32_t r = 1; r <= n_most; r++) {
		a = hn_taskset_next(&g->ts, g->seconds);
		if (a.say != HN_TASKSET_GO) {
			break;
		}
		if (r - last[a.task] > g->longest_wait) {
			g->longest_wait = r - last[a.task];
		}
		last[a.task] = r;
		g->order[g->n_order++] = a.task;
		hn_taskset_begin(&g->ts, &a);
		tell(g, a.task, a.trials);
	}
	g->end = a.say;
}

static const struct hn_taskset_budget endless;

static void test_equal_tasks_share(void **state)
{
	static const struct curve curve[3] = { { 1e6, 0.2, 1, 0 },
					       { 1e6, 0.2, 1, 0 },
					       { 1e6, 0.2, 1, 0 } };
	static const char *const name[] = { "gradient", "round-robin" };
	struct game g;

	(void)state;
	for (int s = 0; s < 2; s++) {
		begin(&g, name[s], endless, curve, 3, NULL);
		play(&g, 60);
		for (int i = 0; i < 3; i++) {
			assert_int_equal(g.n_round[i], 20);
			assert_int_equal(g.order[i], i); /* first each once, in order */
		}
	}
}

static void test_who_gains_no_more_gives_way(void **state)
{
	static const struct curve curve[2] = { { 1e6, 0.5, 1, 4 }, { 1e6, 0.5, 1, 0 } };
	struct game g;

	(void)state;
	begin(&g, "gradient", endless, curve, 2, NULL);
	play(&g, 60);
	assert_true(g.n_round[0] <= 23 && g.n_round[0] > 10);
	begin(&g, "round-robin", endless, curve, 2, NULL);
	play(&g, 60);
	assert_int_equal(g.n_round[0], 30);
}

/* Fades fall with k^-1.5: three times the weight is worth 3^(2/3) the rounds. */
static void test_weights_and_times_count(void **state)
{
	static const struct curve same[2] = { { 1e6, 0.1, 1, 0 }, { 1e6, 0.1, 1, 0 } };
	static const struct curve longer[2] = { { 3e6, 0.1, 1, 0 }, { 1e6, 0.1, 1, 0 } };
	static const double weight[2] = { 3, 1 };
	struct game g, h;

	(void)state;
	begin(&g, "gradient", endless, same, 2, weight);
	play(&g, 120);
	assert_true(fabs((double)g.n_round[0] / g.n_round[1] - pow(3, 2.0 / 3)) < 0.2);
	begin(&h, "gradient", endless, longer, 2, NULL);
	play(&h, 120);
	assert_int_equal(h.n_round[0], g.n_round[0]);
}

/* With seconds for a budget, a round that takes three times as long is worth a third. */
static void test_seconds_count(void **state)
{
	static const struct curve curve[2] = { { 1e6, 0.1, 3, 0 }, { 1e6, 0.1, 1, 0 } };
	struct hn_taskset_budget budget = { .seconds = 240 };
	struct game g;

	(void)state;
	begin(&g, "gradient", budget, curve, 2, NULL);
	play(&g, 4000);
	assert_int_equal(g.end, HN_TASKSET_SECONDS);
	assert_true(g.seconds >= 240 && g.seconds < 243);
	assert_true(fabs((double)g.n_round[1] / g.n_round[0] - pow(3, 2.0 / 3)) < 0.2);
	begin(&g, "gradient", endless, curve, 2, NULL);
	play(&g, 100);
	assert_int_equal(g.n_round[0], 50);
}

static void test_no_task_starves(void **state)
{
	static const struct curve curve[4] = { { 1e9, 0.5, 1, 0 },
					       { 1e3, 0.5, 1, 0 },
					       { 1e3, 0.5, 1, 2 },
					       { 1e9, 0.5, 1, 0 } };
	struct game g;

	(void)state;
	begin(&g, "gradient", endless, curve, 4, NULL);
	play(&g, 1000);
	assert_true(g.longest_wait <= 4 * HN_TASKSET_PATIENCE + 2);
	assert_true(g.n_round[1] + g.n_round[2] <=
		    60); /* and it costs a twentieth here */
	assert_true(g.n_round[1] >= 20 && g.n_round[2] >= 20);
}

/* What earlier jobs stored counts; but who has nothing yet is not left without. */
static void test_stored_trials(void **state)
{
	static const struct curve curve[2] = { { 1e6, 0.2, 1, 0 }, { 2e6, 0.2, 1, 0 } };
	const struct hn_taskset_told stored = { .trials = 60, .best_ns = 5e5 };
	struct hn_taskset_answer a;
	struct game g;

	(void)state;
	begin(&g, "gradient", (struct hn_taskset_budget){ .trials = 50 }, curve, 2, NULL);
	hn_taskset_tell(&g.ts, 0, /* granted= */ 0, &stored);
	a = hn_taskset_next(&g.ts, 0);
	assert_int_equal(a.say, HN_TASKSET_GO);
	assert_int_equal(a.task, 1);
	assert_int_equal(a.trials, HN_TASKSET_ROUND);
	hn_taskset_begin(&g.ts, &a);
	assert_int_equal(hn_taskset_next(&g.ts, 0).say, HN_TASKSET_WAIT);
	tell(&g, 1, HN_TASKSET_ROUND);
	assert_int_equal(hn_taskset_next(&g.ts, 0).say, HN_TASKSET_TRIALS);
	/* without a store a budget is what it says */
	begin(&g, "gradient", (struct hn_taskset_budget){ .trials = 1 }, curve, 2, NULL);
	a = hn_taskset_next(&g.ts, 0);
	hn_taskset_begin(&g.ts, &a);
	tell(&g, a.task, 1);
	assert_int_equal(hn_taskset_next(&g.ts, 0).say, HN_TASKSET_TRIALS);
}

static void test_trials(void **state)
{
	static const struct curve curve[3] = { { 1e6, 0.2, 1, 0 },
					       { 2e6, 0.2, 1, 0 },
					       { 3e6, 0.2, 1, 0 } };
	struct hn_taskset_budget budget = { .trials = 100 };
	struct hn_taskset_answer a;
	struct game g;
	int64_t told = 0;

	(void)state;
	begin(&g, "gradient", budget, curve, 3, NULL);
	play(&g, 4000);
	assert_int_equal(g.end, HN_TASKSET_TRIALS);
	for (int i = 0; i < 3; i++) {
		told += g.ts.task[i].trials;
	}
	assert_int_equal(told, 100);
	budget.trials = 7; /* less than a round for all: each has its part */
	begin(&g, "gradient", budget, curve, 3, NULL);
	play(&g, 4000);
	assert_true(g.n_round[0] > 0 && g.n_round[1] > 0 && g.n_round[2] > 0);
	/* what is granted is not granted again, and the end waits for it */
	budget.trials = 20;
	begin(&g, "gradient", budget, curve, 1, NULL);
	a = hn_taskset_next(&g.ts, 0);
	assert_int_equal(a.trials, 16);
	hn_taskset_begin(&g.ts, &a);
	a = hn_taskset_next(&g.ts, 0);
	assert_int_equal(a.trials, 4);
	hn_taskset_begin(&g.ts, &a);
	assert_int_equal(hn_taskset_next(&g.ts, 0).say, HN_TASKSET_WAIT);
	tell(&g, 0, 16);
	tell(&g, 0, 4);
	assert_int_equal(hn_taskset_next(&g.ts, 0).say, HN_TASKSET_TRIALS);
}

/* It ends when no round is expected to bring the share, not before, and not on open rounds. */
static void test_threshold(void **state)
{
	static const struct curve curve[2] = { { 1e6, 0.3, 1, 0 }, { 1e6, 0.3, 1, 5 } };
	static const double share[] = { 0.01, 0.001 };
	struct hn_taskset_answer a;
	uint32_t n_round[2];
	struct game g;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct hn_taskset_budget budget = { .stop_gain = share[i] };

		begin(&g, "gradient", budget, curve, 2, NULL);
		play(&g, 4000);
		assert_int_equal(g.end, HN_TASKSET_GAIN);
		assert_true(hn_taskset_gain(&g.ts) < share[i]);
		assert_true(hn_taskset_gain(&g.ts) > share[i] / 2);
		n_round[i] = g.n_order;
	}
	assert_true(n_round[1] > 3 * n_round[0]);
	begin(&g, "gradient", (struct hn_taskset_budget){ .stop_gain = 0.01 }, curve, 2,
	      NULL);
	play(&g, n_round[0] - 1);
	a = hn_taskset_next(&g.ts, 0);
	assert_int_equal(a.say, HN_TASKSET_GO);
	hn_taskset_begin(&g.ts, &a);
	assert_int_equal(hn_taskset_next(&g.ts, 0).say, HN_TASKSET_WAIT);
}

/* A task that is over gets nothing more, counts with the time it has, and one that failed before
 * it had a time is not waited for. */
static void test_over(void **state)
{
	static const struct curve curve[3] = { { 1e6, 0.3, 1, 0 },
					       { 1e6, 0.3, 1, 0 },
					       { 1e6, 0.3, 1, 0 } };
	struct hn_taskset_told over = { .over = true };
	struct game g;

	(void)state;
	begin(&g, "gradient", endless, curve, 3, NULL);
	g.ts.task[2].time_ns = 0;
	assert_true(hn_taskset_objective(&g.ts) == 0);
	hn_taskset_tell(&g.ts, 2, 0, &over);
	play(&g, 9);
	assert_int_equal(g.n_round[2], 0);
	assert_true(hn_taskset_objective(&g.ts) == g.time_ns[0] + g.time_ns[1]);
	hn_taskset_tell(&g.ts, 0, 0, &over);
	hn_taskset_tell(&g.ts, 1, 0, &over);
	assert_int_equal(hn_taskset_next(&g.ts, 0).say, HN_TASKSET_OVER);
	assert_true(hn_taskset_gain(&g.ts) == 0);
}

/* One bad first round kills no task: its naive time counts, and it goes on. */
static void test_nothing_correct_yet(void **state)
{
	static const struct curve curve[2] = { { 1e6, 0.3, 1, 0 }, { 1e6, 0.3, 1, 0 } };
	struct hn_taskset_told none = { .trials = 16, .seconds = 1 };
	struct hn_taskset_answer a;
	struct game g;

	(void)state;
	begin(&g, "gradient", endless, curve, 2, NULL);
	for (int i = 0; i < 3; i++) {
		a = hn_taskset_next(&g.ts, 0);
		assert_int_equal(a.task, i == 1 ? 1 : 0);
		hn_taskset_begin(&g.ts, &a);
		hn_taskset_tell(&g.ts, a.task, a.trials, &none);
	}
	assert_true(hn_taskset_objective(&g.ts) == 100e6);
	assert_int_equal(hn_taskset_next(&g.ts, 0).task, 1);
}

/* The same told numbers give the same choices, also when they are told as a warm start. */
static void test_same_numbers_same_choices(void **state)
{
	static const struct curve curve[3] = { { 1e6, 0.2, 1, 6 },
					       { 2e6, 0.1, 2, 0 },
					       { 3e6, 0.4, 3, 0 } };
	struct hn_taskset_budget budget = { .seconds = 1e9 };
	double time_ns[3] = { 1e6, 2e6, 3e6 };
	struct game a, b;

	(void)state;
	begin(&a, "gradient", budget, curve, 3, NULL);
	play(&a, 80);
	begin(&b, "gradient", budget, curve, 3, NULL);
	play(&b, 40);
	assert_memory_equal(a.order, b.order, 40 * sizeof(a.order[0]));
	begin(&b, "gradient", budget, curve, 3, NULL);
	for (int r = 0; r < 40; r++) { /* b hears of a's first half as stored rounds */
		uint32_t i = a.order[r], k = ++b.n_round[i];
		struct hn_taskset_told told = { .trials = 16,
						.seconds = curve[i].seconds };

		if (k > 1 && (curve[i].ends == 0 || k < curve[i].ends)) {
			time_ns[i] *= exp(-curve[i].scale / (k * sqrt(k)));
		}
		told.best_ns = b.time_ns[i] = time_ns[i];
		hn_taskset_tell(&b.ts, i, 0, &told);
	}
	play(&b, 40);
	assert_memory_equal(a.order + 40, b.order, 40 * sizeof(a.order[0]));
}

/* Searches that find something better in a round with probability c / k, by an exponential step:
 * after equal rounds, how far is each strategy from the end of all curves?  Printed; on
 * 129 measured curves of the CPU suite gradient came to 4.0 % where round-robin had 7.5 (24 tasks,
 * 4 rounds each); on these it is to save a third. */
#define LONG 64

static void test_gradient_beats_round_robin(void **state)
{
	static const char *const name[2] = { "gradient", "round-robin" };
	static double time_ns[24][LONG + 1];
	double distance[2] = { 0 };

	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct hn_rng rng = hn_rng_stream(seed, 1, 2, 3);
		double weight[24], end = 0;

		for (int i = 0; i < 24; i++) {
			double t = 1e4 * exp(5 * hn_rng_unit(&rng));
			double step = 0.02 + 0.4 * hn_rng_unit(&rng);

			weight[i] = 1 + (double)hn_rng_below(&rng, 6);
			time_ns[i][1] = t;
			for (int k = 2; k <= LONG; k++) {
				if (hn_rng_unit(&rng) < 2.0 / k) {
					t *= exp(step * log(1 - hn_rng_unit(&rng)) /
						 sqrt(k));
				}
				time_ns[i][k] = t;
			}
			end += weight[i] * t;
		}
		for (int s = 0; s < 2; s++) {
			struct hn_taskset ts;

			hn_taskset_init(&ts, hn_strategy_ops(name[s]), &endless, 24,
					weight);
			for (int r = 0; r < 24 * 6; r++) {
				struct hn_taskset_answer a = hn_taskset_next(&ts, 0);
				uint32_t k = ts.task[a.task].n_round + 1;
				struct hn_taskset_told told = {
					.trials = a.trials,
					.best_ns = time_ns[a.task][k < LONG ? k : LONG]
				};

				hn_taskset_begin(&ts, &a);
				hn_taskset_tell(&ts, a.task, a.trials, &told);
			}
			distance[s] += hn_taskset_objective(&ts) / end - 1;
		}
	}
	print_message(
		"above the end of the curves, mean of 40 sets of 24: gradient %.2f %%, "
		"round-robin %.2f %%\n",
		100 * distance[0] / 40, 100 * distance[1] / 40);
	assert_true(distance[0] < 0.67 * distance[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_tasks_share),
		cmocka_unit_test(test_who_gains_no_more_gives_way),
		cmocka_unit_test(test_weights_and_times_count),
		cmocka_unit_test(test_seconds_count),
		cmocka_unit_test(test_no_task_starves),
		cmocka_unit_test(test_stored_trials),
		cmocka_unit_test(test_trials),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_over),
		cmocka_unit_test(test_nothing_correct_yet),
		cmocka_unit_test(test_same_numbers_same_choices),
		cmocka_unit_test(test_gradient_beats_round_robin),
	};

	assert_null(hn_strategy_ops("fair"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
