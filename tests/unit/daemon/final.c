/* daemon_final.c -- who enters a final: told by the time that is kept for it, which grows with
 * every entrant; and when it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"

#define RUN_NS 20000000

static struct hn_job job;

static void note(int64_t id, double median_ns, bool heuristic)
{
	char steps[32];

	snprintf(steps, sizeof(steps), "[\"%lld\"]", (long long)id);
	hn_final_note(&job.final,
		      &(struct hn_leader){.record_id = id,
					  .median_ns = median_ns,
					  .run_ns = RUN_NS,
					  .steps = steps,
					  .certificate = ""},
		      heuristic);
}

/* Seconds kept when the two fastest take 100 and 101, and a third, of any kind, this. */
static double kept_with(double third_ns, bool heuristic, double seconds)
{
	double kept;

	job = (struct hn_job){.budget.seconds = seconds};
	job.final.holder = (struct hn_leader){.median_ns = 100, .run_ns = RUN_NS};
	job.final.holder.steps = strdup("[]");
	note(1, 101, false);
	if (third_ns > 0) {
		note(2, third_ns, heuristic);
	}
	kept = hn_job_final_reserve(&job);
	hn_job_final_fini(&job.final);
	return kept;
}

/* What screening puts far behind stays out, but not the best heuristic. */
static void near_ones_and_the_heuristic_enter(void **state)
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

/* One of a pair of workload and target at a time. */
static void two_of_one_pair_take_turns(void **state)
{
	struct hn_daemon d = {.jobs = NULL};
	struct hn_job other = {.daemon = &d, .key = "w", .target_line = "t",
			       .state = HN_JOB_FINAL};

	(void)state;
	job = (struct hn_job){.daemon = &d, .key = "w", .target_line = "t", .next = &other,
			      .state = HN_JOB_SEARCH};
	d.jobs = &job;
	assert_true(hn_job_final_waits(&job));
	assert_false(hn_job_final_waits(&other));
	other.target_line = "u";
	assert_false(hn_job_final_waits(&job));
	other.target_line = "t";
	other.state = HN_JOB_DONE;
	assert_false(hn_job_final_waits(&job));
}

static struct hn_record record_of(const char *steps, double median_ns)
{
	return (struct hn_record){.workload = "w", .target = "t", .steps = steps, .origin = "",
				  .verdict = HN_VERDICT_OK, .detail = "", .median_ns = median_ns,
				  .run_ns = RUN_NS, .proved = true, .certificate = "{}",
				  .stamp = {"h", "c", "b"}};
}

static void recall_holder(struct hn_job_final *f, struct hn_db *db)
{
	struct hn_recall known;
	struct hn_err err;

	hn_recall_init(&known);
	assert_int_equal(hn_recall_read(&known, db, "w", "t", NULL, &err), 0);
	hn_final_recall_holder(f, &known.promotion);
	hn_recall_fini(&known);
}

/* What another job promoted meanwhile is the holder from then on, with its final's time. */
static void the_holder_is_whom_the_store_names(void **state)
{
	char dir[] = "/tmp/hone-final-XXXXXX", command[80];
	struct hn_record r[2] = {record_of("[\"a\"]", 100), record_of("[\"b\"]", 90)};
	struct hn_promotion p = {.median_ns = 88, .n_entrant = 1};
	struct hn_job_final f = {.n_leader = 0};
	struct hn_err err = {.code = 0};
	struct hn_db *db;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(hn_db_open(dir, &db, &err), 0);
	assert_int_equal(hn_db_put_workload(db, &(struct hn_workload_row){"w", "", "{}", 1, NULL},
					    &err), 0);
	assert_int_equal(hn_db_append(db, r, 2, &err), 0);
	recall_holder(&f, db);
	assert_true(f.holder.record_id == 0);
	p.record_id = p.judged_id = r[1].id;
	assert_int_equal(hn_db_promote(db, "w", "t", &p, &err), 0);
	recall_holder(&f, db);
	hn_final_note_record(&f, &r[0], "{}", true);
	hn_final_note_record(&f, &r[1], "{}", true);
	assert_string_equal(f.holder.steps, "[\"b\"]");
	assert_true(f.holder.median_ns == 88 && f.judged_id == r[1].id);
	assert_int_equal(f.n_leader, 0); /* both are settled */
	hn_job_final_fini(&f);
	hn_db_close(db);
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	assert_int_equal(system(command), 0);
}

/* The store answers with it before the final: it must not be beaten unheard. */
static void who_was_timed_in_noise_enters(void **state)
{
	struct hn_record quiet = record_of("[\"a\"]", 213), noisy = record_of("[\"b\"]", 180);
	struct hn_job_final f = {.n_leader = 0};

	(void)state;
	quiet.id = 3;
	noisy.id = 7;
	noisy.detail = "NOISY: of 9 samples, 8 were disturbed";
	hn_final_note_record(&f, &quiet, "{}", false);
	hn_final_note_record(&f, &noisy, "{}", false);
	assert_int_equal(f.n_leader, 2);
	assert_string_equal(f.leader[0].steps, noisy.steps);
	assert_int_equal(f.last_id, 7); /* what the final settles */
	hn_job_final_fini(&f);
}

/* No duel checks the time of one that is alone, so noise must not have told it. */
static void alone_in_noise_it_waits(void **state)
{
	static const char *const detail[] = {"", "NOISY: of 9 samples, 8 were disturbed"};

	(void)state;
	for (int noisy = 0; noisy < 2; noisy++) {
		struct hn_record r = record_of("[\"a\"]", 213);

		job = (struct hn_job){.budget.seconds = 100};
		r.id = 3;
		r.detail = detail[noisy];
		hn_final_note_record(&job.final, &r, "{}", false);
		assert_int_equal(hn_job_final_owed(&job, 0), noisy == 0);
		hn_job_final_fini(&job.final);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_ones_and_the_heuristic_enter),
		cmocka_unit_test(time_decides_how_many),
		cmocka_unit_test(it_ends_when_it_can_be_judged),
		cmocka_unit_test(a_race_leaves_time_for_the_match),
		cmocka_unit_test(two_of_one_pair_take_turns),
		cmocka_unit_test(the_holder_is_whom_the_store_names),
		cmocka_unit_test(who_was_timed_in_noise_enters),
		cmocka_unit_test(alone_in_noise_it_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
