/* daemon_final.c -- who enters a final: told by the time that is kept for it, which grows with
 * every entrant; and when it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "daemon/daemon.h"

#define RUN_NS 20000000

static struct hn_job job;

static void note(int64_t id, double median_ns, bool guard)
{
	char steps[32];

	snprintf(steps, sizeof(steps), "[\"%lld\"]", (long long)id);
	hn_final_note(&job.final,
		      &(struct hn_leader){.record_id = id,
					  .median_ns = median_ns,
					  .run_ns = RUN_NS,
					  .steps = steps,
					  .certificate = ""},
		      guard);
}

/* Seconds kept when the two fastest take 100 and 101, and a third, of any kind, this. */
static double kept_with(double third_ns, bool guard, double seconds)
{
	double kept;

	job = (struct hn_job){.budget.seconds = seconds};
	job.final.holder = (struct hn_leader){.median_ns = 100, .run_ns = RUN_NS};
	job.final.holder.steps = strdup("[]");
	note(1, 101, false);
	if (third_ns > 0) {
		note(2, third_ns, guard);
	}
	kept = hn_job_final_reserve(&job);
	hn_job_final_fini(&job.final);
	return kept;
}

/* What screening puts far behind stays out, but not the best guard. */
static void near_ones_and_the_guard_enter(void **state)
{
	double two = kept_with(0, false, 100);

	(void)state;
	assert_float_equal(two, 2 * HN_FINAL_LOOK * 2 * RUN_NS * 1e-9, 1e-9);
	assert_true(kept_with(105, false, 100) > two);
	assert_float_equal(kept_with(150, false, 100), two, 1e-9);
	assert_float_equal(kept_with(150, true, 100), kept_with(105, false, 100), 1e-9);
}

/* With too little time the slower stay out; with none for two, nothing is kept. */
static void time_decides_how_many(void **state)
{
	double least = HN_FINAL_LOOK * 2 * RUN_NS * 1e-9;

	(void)state;
	/* a job's share for its final is 15 %: just enough for two, and not quite */
	assert_float_equal(kept_with(105, false, 1.001 * least / 0.15), 1.001 * least, 1e-9);
	assert_true(kept_with(105, false, 0.999 * least / 0.15) == 0);
}

/* What can be judged ends with its share of the time; what cannot goes on, but not for ever. */
static void it_ends_when_it_can_be_judged(void **state)
{
	struct hn_job_final f = {.n_entrant = 2, .deadline_ns = 100, .latest_ns = 200};

	(void)state;
	hn_final_init(&f.state, 2, 1);
	for (uint32_t i = 0; i < HN_FINAL_LEAST; i++) {
		assert_false(hn_job_final_over(&f, 99));
		assert_false(hn_job_final_over(&f, 100) || hn_job_final_over(&f, 199));
		assert_true(hn_job_final_over(&f, 200));
		hn_final_tell(&f.state, i % 2 ? 0.01 : -0.01, 50, 50);
	}
	assert_false(hn_job_final_over(&f, 99));
	assert_true(hn_job_final_over(&f, 100));
	f.n_entrant = 1; /* nobody is left to compare it with */
	assert_true(hn_job_final_over(&f, 100));
}

/* Three are left, and duels take 10 each: the race ends when there is time for one look at the
 * match and no more. */
static void a_race_leaves_time_for_the_match(void **state)
{
	struct hn_job_final f = {.n_entrant = 4, .began_ns = 1000};

	(void)state;
	hn_final_init(&f.state, 4, 1);
	for (f.n_told = 0; f.n_told < 3; f.n_told++) {
		hn_final_tell(&f.state, -0.1 * f.n_told, 50, 50);
	}
	f.deadline_ns = 1030 + 10 * HN_FINAL_LOOK;
	hn_job_final_hurry(&f, 1030);
	assert_true(hn_final_racing(&f.state));
	f.deadline_ns--;
	hn_job_final_hurry(&f, 1030);
	assert_false(hn_final_racing(&f.state));
	f.n_entrant = 1; /* nobody is left, nothing to end */
	hn_job_final_hurry(&f, 1030);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_ones_and_the_guard_enter),
		cmocka_unit_test(time_decides_how_many),
		cmocka_unit_test(it_ends_when_it_can_be_judged),
		cmocka_unit_test(a_race_leaves_time_for_the_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
