/* The store: what is put in comes out, best is a query, records stay. */
#include "tests/lib/db_testing.h"

#include "db/sqlite/sqlite_int.h"

static void records_come_back_whole(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = {0};
	struct hn_arena a;
	struct hn_record r;
	int64_t id;

	hn_arena_init(&a, 0);
	put_workload(db, "w1");
	id = append_one(db, make_record("w1", "cpu avx2", 1000.25));
	hn_db_close(db);
	db = open_store(*state);
	ASSERT_OK(hn_db_best(db, "w1", "cpu avx2", &a, &r, &err), err);
	hn_db_close(db);
	assert_int_equal(r.id, id);
	assert_string_equal(r.workload, "w1");
	assert_string_equal(r.target, "cpu avx2");
	assert_string_equal(r.steps, "split s0 i0 f=8");
	assert_int_equal(r.verdict, HN_VERDICT_OK);
	assert_true(r.median_ns == 1000.25);
	assert_int_equal(r.n_sample, 3);
	assert_memory_equal(r.sample_ns, testing_samples, sizeof(testing_samples));
	assert_int_equal(r.build_ns, 11);
	assert_int_equal(r.run_ns, 22);
	assert_int_equal(r.unix_ms, 1700000000000);
	assert_true(r.proved);
	assert_string_equal(r.origin, "guard");
	assert_string_equal(r.stamp.hone, "0.1.0");
	assert_string_equal(r.stamp.codegen, "x86/llvm-22");
	assert_string_equal(r.stamp.board, "board-a");
	assert_true(r.descent.parent[0] == 0xfedcba9876543210 && r.descent.parent[1] == 3);
	assert_string_equal(r.descent.changes, "mutate:unroll crossover");
	assert_true(r.descent.predicted_ns == 900.5);
	assert_string_equal(r.descent.model, "learned");
	hn_arena_fini(&a);
}

static void best_is_fastest_correct_and_proved(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_record unproved = make_record("w1", "t1", 10), r;
	struct hn_err err = {0};
	struct hn_arena a;
	int64_t best;

	hn_arena_init(&a, 0);
	put_workload(db, "w1");
	put_workload(db, "w2");
	unproved.proved = false;
	append_one(db, make_record("w1", "t1", 500));
	assert_int_equal(hn_db_best(db, "w1", "t2", &a, &r, &err), -HONE_E_NOT_FOUND);
	best = append_one(db, make_record("w1", "t1", 100));
	append_one(db, make_record("w1", "t1", 100)); /* as fast, later */
	append_one(db, make_record("w1", "t1", 300));
	append_one(db, make_record("w1", "t2", 50));
	append_one(db, make_record("w2", "t1", 40));
	append_one(db, unproved);
	append_one(db, make_failure("w1", "t1", HN_VERDICT_WRONG_RESULT));
	ASSERT_OK(hn_db_best(db, "w1", "t1", &a, &r, &err), err);
	assert_int_equal(r.id, best);
	append_one(db, make_failure("w2", "t3", HN_VERDICT_SEGV));
	assert_int_equal(hn_db_best(db, "w2", "t3", &a, &r, &err), -HONE_E_NOT_FOUND);
	assert_string_equal(err.msg,
			    "no correct and proved record of workload w2 for t3");
	assert_int_equal(hn_db_best(db, "w9", "t1", &a, &r, &err), -HONE_E_NOT_FOUND);
	assert_int_equal(count_records(db, NULL, NULL), 9);
	assert_int_equal(count_records(db, "w1", NULL), 7);
	assert_int_equal(count_records(db, NULL, "t1"), 7);
	assert_int_equal(count_records(db, "w1", "t1"), 6);
	assert_int_equal(count_records(db, "w1", "t9"), 0);
	hn_arena_fini(&a);
	hn_db_close(db);
}

static void without_certificate_nothing_is_best(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_record bare = make_record("w1", "t1", 10), r;
	struct hn_err err = {0};
	struct hn_arena a;

	hn_arena_init(&a, 0);
	put_workload(db, "w1");
	bare.certificate = NULL;
	int64_t fast = append_one(db, bare), slow = append_one(db, make_record("w1", "t1", 20));
	int64_t wrong = append_one(db, make_failure("w1", "t1", HN_VERDICT_WRONG_RESULT));

	ASSERT_OK(hn_db_best(db, "w1", "t1", &a, &r, &err), err);
	assert_int_equal(r.id, slow);
	ASSERT_OK(hn_db_certify(db, fast, "{\"a\":1}", &err), err);
	ASSERT_OK(hn_db_best(db, "w1", "t1", &a, &r, &err), err);
	assert_int_equal(r.id, fast);
	assert_string_equal(r.certificate, "{\"a\":1}");
	ASSERT_OK(hn_db_certify(db, fast, NULL, &err), err);
	ASSERT_OK(hn_db_certify(db, slow, "", &err), err);
	assert_int_equal(hn_db_best(db, "w1", "t1", &a, &r, &err), -HONE_E_NOT_FOUND);
	assert_int_equal(hn_db_certify(db, wrong, "{}", &err), -HONE_E_NOT_FOUND);
	assert_int_equal(hn_db_certify(db, 99, "{}", &err), -HONE_E_NOT_FOUND);
	hn_arena_fini(&a);
	hn_db_close(db);
}

static double best_of(struct hn_db *db, struct hn_arena *a, int64_t *ret_id)
{
	struct hn_record r;
	struct hn_err err = {0};

	ASSERT_OK(hn_db_best(db, "w1", "t1", a, &r, &err), err);
	*ret_id = r.id;
	return r.median_ns;
}

/* The final's winner is the best, not the smallest median; a later one only when noise does
 * not explain it. */
static void best_is_what_was_promoted(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = {0};
	struct hn_promotion p = {.median_ns = 105, .gain_lo = 0.02, .gain_hi = 0.04,
				 .n_entrant = 3, .n_block = 12, .unix_ms = 1};
	struct hn_arena a;
	int64_t lucky, id;

	hn_arena_init(&a, 0);
	put_workload(db, "w1");
	lucky = append_one(db, make_record("w1", "t1", 100));
	p.record_id = p.judged_id = append_one(db, make_record("w1", "t1", 104));
	assert_int_equal(hn_db_promotion(db, "w1", "t1", &p, &err), -HONE_E_NOT_FOUND);
	assert_true(best_of(db, &a, &id) == 100 && id == lucky);
	ASSERT_OK(hn_db_promote(db, "w1", "t1", &p, &err), err);
	assert_true(best_of(db, &a, &id) == 105 && id == p.record_id);
	append_one(db, make_record("w1", "t1", 95));
	assert_true(best_of(db, &a, &id) == 105 && id == p.record_id);
	lucky = append_one(db, make_record("w1", "t1", 94));
	assert_true(best_of(db, &a, &id) == 94 && id == lucky);
	hn_db_close(db);
	db = open_store(*state); /* and a final found that it was luck, however much */
	p.judged_id = lucky;
	p.replaced_id = p.record_id;
	ASSERT_OK(hn_db_promote(db, "w1", "t1", &p, &err), err);
	assert_true(best_of(db, &a, &id) == 105 && id == p.record_id);
	p = (struct hn_promotion){0};
	ASSERT_OK(hn_db_promotion(db, "w1", "t1", &p, &err), err);
	assert_int_equal(p.judged_id, lucky);
	assert_true(p.gain_lo == 0.02 && p.n_entrant == 3 && p.n_block == 12);
	ASSERT_OK(hn_db_certify(db, p.record_id, NULL, &err), err);
	assert_true(best_of(db, &a, &id) == 94); /* it was not legal: as if never promoted */
	p.replaced_id = 0;
	assert_int_equal(hn_db_promote(db, "w1", "t1", &p, &err), -HONE_E_INVALID);
	hn_arena_fini(&a);
	hn_db_close(db);
}

/* What a final was held against must still be the holder: else nothing is written. */
static void a_promotion_replaces_whom_it_was_held_against(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = {0};
	struct hn_promotion p = {.median_ns = 5, .n_entrant = 2}, now;
	int64_t id[3];

	put_workload(db, "w1");
	for (int i = 0; i < 3; i++) {
		id[i] = append_one(db, make_record("w1", "t1", 5 + i));
	}
	p.judged_id = id[2];
	p.record_id = id[1];
	p.replaced_id = id[0]; /* nobody holds it yet */
	assert_int_equal(hn_db_promote(db, "w1", "t1", &p, &err), -HONE_E_BUSY);
	p.replaced_id = 0;
	ASSERT_OK(hn_db_promote(db, "w1", "t1", &p, &err), err);
	p.record_id = id[2]; /* its final began before that one */
	assert_int_equal(hn_db_promote(db, "w1", "t1", &p, &err), -HONE_E_BUSY);
	assert_non_null(strstr(err.msg, "held against record 0, and the holder is 2"));
	ASSERT_OK(hn_db_promotion(db, "w1", "t1", &now, &err), err);
	assert_int_equal(now.record_id, id[1]);
	assert_int_equal(now.replaced_id, 0);
	p.replaced_id = id[1];
	ASSERT_OK(hn_db_promote(db, "w1", "t1", &p, &err), err);
	ASSERT_OK(hn_db_promotion(db, "w1", "t1", &now, &err), err);
	assert_int_equal(now.record_id, id[2]);
	assert_int_equal(now.replaced_id, id[1]);
	hn_db_close(db);
}

static void promotions_are_checked_and_kept(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = {0};
	struct hn_promotion p = {.median_ns = 5, .n_entrant = 1};
	int64_t other;

	put_workload(db, "w1");
	p.record_id = p.judged_id = append_one(db, make_record("w1", "t1", 5));
	other = append_one(db, make_record("w1", "t2", 5));
	ASSERT_OK(hn_db_promote(db, "w1", "t1", &p, &err), err);
	assert_int_not_equal(sqlite3_exec(hn_sqlite_of(db)->sql, "DELETE FROM promotion", NULL, NULL, NULL),
			     SQLITE_OK);
	assert_int_not_equal(sqlite3_exec(hn_sqlite_of(db)->sql, "UPDATE promotion SET median_ns = 1", NULL,
					  NULL, NULL), SQLITE_OK);
	p.replaced_id = p.record_id;
	p.record_id = p.judged_id = other;
	assert_int_equal(hn_db_promote(db, "w1", "t1", &p, &err), -HONE_E_INVALID);
	p.replaced_id = 0;
	p.record_id = p.judged_id = 99;
	assert_int_equal(hn_db_promote(db, "w1", "t2", &p, &err), -HONE_E_INVALID);
	p.record_id = p.judged_id = other;
	p.median_ns = 0;
	assert_int_equal(hn_db_promote(db, "w1", "t2", &p, &err), -HONE_E_INVALID);
	p.median_ns = 1;
	assert_int_equal(hn_db_promote(db, "w9", "t2", &p, &err), -HONE_E_INVALID);
	hn_db_close(db);
}

/* The index says which is the fastest; only that one's rows are read, and nothing is sorted. */
static void best_is_answered_by_the_index(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = {0};
	sqlite3_stmt *s, *plan;
	char sql[3000];
	int n = 0;

	ASSERT_OK(hn_sqlite_stmt(hn_sqlite_of(db), HN_SQLITE_STMT_BEST_ID, &s, &err), err);
	snprintf(sql, sizeof(sql), "EXPLAIN QUERY PLAN %s", sqlite3_sql(s));
	assert_int_equal(sqlite3_prepare_v2(hn_sqlite_of(db)->sql, sql, -1, &plan, NULL), SQLITE_OK);
	while (sqlite3_step(plan) == SQLITE_ROW) {
		const char *line = (const char *)sqlite3_column_text(plan, 3);

		assert_non_null(strstr(line, n++ == 0 ? "SEARCH record USING INDEX record_best"
						      : "USING INTEGER PRIMARY KEY"));
	}
	assert_int_equal(n, 5);
	sqlite3_finalize(plan);
	hn_db_close(db);
}

static void workloads_and_naive_times_are_idempotent(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = {0};
	struct hn_workload_row none = {.key = "", .dag_json = "{}"};
	const struct hn_naive whole = { .ns = 100 }, part = { 90.5, 0.25 }, none_ns = { .ns = 0 };
	struct hn_naive got = { .ns = 7 };

	put_workload(db, "w1");
	put_workload(db, "w1");
	assert_int_equal(hn_db_put_workload(db, &none, &err), -HONE_E_INVALID);
	ASSERT_OK(hn_db_get_naive(db, "w1", "t1", &got, &err), err);
	assert_true(got.ns == 0);
	ASSERT_OK(hn_db_put_naive(db, "w1", "t1", &whole, &err), err);
	ASSERT_OK(hn_db_put_naive(db, "w1", "t1", &part, &err), err);
	ASSERT_OK(hn_db_get_naive(db, "w1", "t1", &got, &err), err);
	assert_true(got.ns == 90.5 && got.share == 0.25);
	ASSERT_OK(hn_db_put_naive(db, "w1", "t1", &whole, &err), err);
	ASSERT_OK(hn_db_get_naive(db, "w1", "t1", &got, &err), err);
	assert_true(got.ns == 100 && got.share == 1);
	assert_int_equal(hn_db_put_naive(db, "w2", "t1", &whole, &err), -HONE_E_NOT_FOUND);
	assert_int_equal(hn_db_put_naive(db, "w1", "t1", &none_ns, &err), -HONE_E_INVALID);
	hn_db_close(db);
}

struct seen {
	int n;
	enum hn_verdict verdict[4];
};

static int see(void *ctx, const struct hn_record *r)
{
	struct seen *seen = ctx;

	assert_true(seen->n < 4);
	assert_string_equal(r->detail, "a reason");
	assert_int_equal(r->n_sample, 0);
	seen->verdict[seen->n++] = r->verdict;
	return seen->n == 3 ? 42 : 0;
}

static void failures_are_rows(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = {0};
	struct seen seen = {0};

	put_workload(db, "w1");
	append_one(db, make_failure("w1", "t1", HN_VERDICT_HANG));
	append_one(db, make_failure("w1", "t1", HN_VERDICT_BUILD_FAIL));
	append_one(db, make_failure("w1", "t1", HN_VERDICT_WRONG_RESULT));
	append_one(db, make_failure("w1", "t1", HN_VERDICT_FPE));
	assert_int_equal(hn_db_records(db, "w1", "t1", see, &seen, &err), 42);
	assert_int_equal(seen.verdict[0], HN_VERDICT_HANG);
	assert_int_equal(seen.verdict[1], HN_VERDICT_BUILD_FAIL);
	assert_int_equal(seen.verdict[2], HN_VERDICT_WRONG_RESULT);
	hn_db_close(db);
}

static void a_bad_batch_is_refused_whole(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_record bad[][2] = {
		{make_record("w1", "t1", 5), make_failure("w1", "t1", HN_VERDICT_NOISY)},
		{make_record("w1", "t1", 5), make_record("w9", "t1", 5)},
		{make_record("w1", "t1", 5), make_record("w1", "t1", 0)},
		{make_record("w1", "t1", 5), make_record("w1", "t1", 0.0 / 0.0)},
		{make_record("w1", "t1", 5), make_record("w1", "", 5)},
		{make_record("w1", "t1", 5), make_failure("w1", "t1", HN_VERDICT_NONE)},
	};
	struct hn_err err = {0};

	put_workload(db, "w1");
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		err = (struct hn_err){0};
		assert_true(hn_db_append(db, bad[i], 2, &err) < 0);
		assert_true(strlen(err.msg) > 0);
		assert_int_equal(bad[i][0].id, 0);
		assert_int_equal(count_records(db, NULL, NULL), 0);
	}
	ASSERT_OK(hn_db_append(db, NULL, 0, &err), err);
	hn_db_close(db);
}

static void records_cannot_be_changed(void **state)
{
	struct hn_db *db = open_store(*state);

	put_workload(db, "w1");
	append_one(db, make_record("w1", "t1", 5));
	assert_int_not_equal(sqlite3_exec(hn_sqlite_of(db)->sql, "UPDATE record SET median_ns = 1",
					  NULL, NULL, NULL),
			     SQLITE_OK);
	assert_non_null(strstr(sqlite3_errmsg(hn_sqlite_of(db)->sql), "append-only"));
	assert_int_not_equal(
		sqlite3_exec(hn_sqlite_of(db)->sql, "DELETE FROM record", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(count_records(db, NULL, NULL), 1);
	hn_db_close(db);
}

static void jobs_are_kept_in_order(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = {0};
	const char *const *json;
	struct hn_arena a;
	uint32_t n;

	hn_arena_init(&a, 0);
	ASSERT_OK(hn_db_put_job(db, "b", "{\"id\":\"b\"}", false, &err), err);
	ASSERT_OK(hn_db_put_job(db, "a", "{\"id\":\"a\"}", false, &err), err);
	ASSERT_OK(hn_db_put_job(db, "b", "{\"id\":\"b\",\"n\":2}", false, &err), err);
	ASSERT_OK(hn_db_put_job(db, "c", "{\"id\":\"c\"}", true, &err), err);
	hn_db_close(db);
	db = open_store(*state);
	ASSERT_OK(hn_db_jobs(db, true, &a, &n, &json, &err), err);
	assert_int_equal(n, 2);
	assert_string_equal(json[0], "{\"id\":\"b\",\"n\":2}");
	assert_string_equal(json[1], "{\"id\":\"a\"}");
	ASSERT_OK(hn_db_jobs(db, false, &a, &n, &json, &err), err);
	assert_int_equal(n, 3);
	for (int i = 0; i < 100; i++) {
		char id[16];

		snprintf(id, sizeof(id), "j%d", i);
		ASSERT_OK(hn_db_put_job(db, id, id, false, &err), err);
	}
	ASSERT_OK(hn_db_jobs(db, true, &a, &n, &json, &err), err);
	assert_int_equal(n, 102);
	assert_string_equal(json[101], "j99");
	hn_arena_fini(&a);
	hn_db_close(db);
}

static void a_model_is_kept_for_its_target(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = {0};
	struct hn_arena a;
	const char *text;

	hn_arena_init(&a, 0);
	ASSERT_OK(hn_db_get_model(db, "t1", "learned", &a, &text, &err), err);
	assert_null(text);
	ASSERT_OK(hn_db_put_model(db, "t1", "learned", "first", &err), err);
	ASSERT_OK(hn_db_put_model(db, "t1", "learned", "second", &err), err);
	ASSERT_OK(hn_db_put_model(db, "t2", "learned", "other", &err), err);
	hn_db_close(db);
	db = open_store(*state);
	ASSERT_OK(hn_db_get_model(db, "t1", "learned", &a, &text, &err), err);
	assert_string_equal(text, "second");
	ASSERT_OK(hn_db_get_model(db, "t1", "analytic", &a, &text, &err), err);
	assert_null(text);
	hn_db_close(db);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(records_come_back_whole),
		STORE_TEST(best_is_fastest_correct_and_proved),
		STORE_TEST(without_certificate_nothing_is_best),
		STORE_TEST(best_is_what_was_promoted),
		STORE_TEST(a_promotion_replaces_whom_it_was_held_against),
		STORE_TEST(promotions_are_checked_and_kept),
		STORE_TEST(best_is_answered_by_the_index),
		STORE_TEST(workloads_and_naive_times_are_idempotent),
		STORE_TEST(a_model_is_kept_for_its_target),
		STORE_TEST(failures_are_rows),
		STORE_TEST(a_bad_batch_is_refused_whole),
		STORE_TEST(records_cannot_be_changed),
		STORE_TEST(jobs_are_kept_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
