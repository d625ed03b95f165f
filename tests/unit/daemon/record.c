/* daemon_record.c -- what a job that begins hears of the store: failures that rest on no evidence
 * are left out, and may be tried again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"

static const struct {
	enum hn_verdict verdict;
	const char *detail;
	bool heard;
} rows[] = {
	{HN_VERDICT_OK, "", true},
	{HN_VERDICT_BUILD_FAIL, "the builder went away twice: the process ended", false},
	{HN_VERDICT_BUILD_FAIL, "the builder failed twice on it: the process crashed: signal 11",
	 true},
	{HN_VERDICT_BUILD_FAIL, "the legality check failed in isl: no reason given", true},
	{HN_VERDICT_BUILD_TIMEOUT, "the builder did not answer within its time limit", false},
	{HN_VERDICT_BUILD_TIMEOUT,
	 "no answer within its time limit: 14.9 s of processor time in 15.0 s", true},
	{HN_VERDICT_OOM, "killed by the system, which ran out of memory, while loading", false},
	{HN_VERDICT_OOM, "the kernel found no memory for its workspace", true},
	{HN_VERDICT_HANG, "did not end within its time limit, while timing", false},
	{HN_VERDICT_HANG,
	 "did not end within its time limit: 9.9 s of processor time in 10.0 s, while timing", true},
};

static void failures_without_evidence_are_not_heard_of(void **state)
{
	struct hn_workload_row w = {.key = "k", .name = "n", .dag_json = "{}", .flops = 1};
	struct hn_record r[HN_COUNT_OF(rows)];
	struct hn_daemon d = {.db = NULL};
	struct hn_job j = {.daemon = &d, .key = "k", .target_line = "cpu"};
	char dir[] = "/tmp/hone-record-XXXXXX", command[100], steps[HN_COUNT_OF(rows)][20];
	struct hn_recall known;
	uint32_t heard = 0;
	struct hn_err err;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(hn_db_open(dir, &d.db, &err), 0);
	assert_int_equal(hn_db_put_workload(d.db, &w, &err), 0);
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		snprintf(steps[i], sizeof steps[i], "[%zu]", i);
		r[i] = (struct hn_record){.workload = "k",
					  .target = "cpu",
					  .steps = steps[i],
					  .origin = "sample",
					  .verdict = rows[i].verdict,
					  .detail = rows[i].detail,
					  .median_ns = rows[i].verdict == HN_VERDICT_OK ? 5 : 0,
					  .certificate = "",
					  .stamp = {"1", "2", "3"},
					  .descent = {.changes = "", .model = ""}};
	}
	assert_int_equal(hn_db_append(d.db, r, HN_COUNT_OF(rows), &err), 0);
	hn_arena_init(&j.arena, 0);
	hn_arena_init(&j.warm_arena, 0);
	hn_recall_init(&known);
	assert_int_equal(hn_recall_read(&known, d.db, "k", "cpu", NULL, &err), 0);
	hn_job_warm(&j, &known);
	hn_recall_fini(&known);
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (rows[i].heard) {
			assert_true(heard < j.n_warm_record);
			assert_string_equal(j.warm[heard].steps, steps[i]);
			assert_int_equal(j.warm[heard++].verdict, rows[i].verdict);
		}
	}
	assert_int_equal(j.n_warm_record, heard);
	assert_int_equal(j.n_trial, heard);
	hn_arena_fini(&j.warm_arena);
	hn_arena_fini(&j.arena);
	hn_db_close(d.db);
	snprintf(command, sizeof command, "rm -rf '%s'", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_without_evidence_are_not_heard_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
