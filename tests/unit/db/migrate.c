/* The store's versions: old ones are read and move on, released steps stay as they were, newer
 * and foreign files are refused. */
#include "tests/lib/db_testing.h"

#include <unistd.h>

#include "base/file.h"
#include "db/sqlite/sqlite_int.h"

#define NEWEST 11
#define OLD_STORE(n) HONE_SOURCE_DIR "/tests/data/db/v" #n ".sql"

static void exec_file(const char *path, const char *source)
{
	struct hn_err err = {0};
	struct hn_buf text;
	sqlite3 *sql;

	hn_buf_init(&text);
	ASSERT_OK(hn_file_read(source, 1 << 20, &text, &err), err);
	assert_int_equal(sqlite3_open(path, &sql), SQLITE_OK);
	if (sqlite3_exec(sql, text.s, NULL, NULL, NULL) != SQLITE_OK) {
		fail_msg("%s: %s", source, sqlite3_errmsg(sql));
	}
	sqlite3_close(sql);
	hn_buf_fini(&text);
}

/* tests/data/db/vN.sql is a store of version N as it was written then, and never changes.
 */
static void old_store_is_read(void **state, const char *file, const char *origin,
			      bool certified, double best_ns)
{
	struct hn_err err = {0};
	struct hn_arena a;
	struct hn_record r;
	struct hn_db *db;
	const char *const *json;
	char path[300];
	uint32_t n;
	struct hn_naive naive;

	hn_arena_init(&a, 0);
	snprintf(path, sizeof(path), "%s/hone.sqlite", (char *)*state);
	exec_file(path, file);
	db = open_store(*state);
	/* What was proved then left no certificate: nothing is best until it has one. */
	assert_int_equal(hn_db_best(db, "w1", "cpu avx2", &a, &r, &err),
			 certified ? 0 : -HONE_E_NOT_FOUND);
	ASSERT_OK(hn_db_certify(db, 2, "{}", &err), err);
	ASSERT_OK(hn_db_best(db, "w1", "cpu avx2", &a, &r, &err), err);
	assert_string_equal(r.certificate, "{}");
	assert_true(r.median_ns == best_ns && r.id == 2);
	assert_string_equal(r.origin, origin);
	assert_memory_equal(r.sample_ns, testing_samples, sizeof(testing_samples));
	assert_int_equal(count_records(db, NULL, NULL), 5);
	ASSERT_OK(hn_db_get_naive(db, "w1", "cpu avx2", &naive, &err), err);
	assert_true(naive.ns == 123456);
	ASSERT_OK(hn_db_jobs(db, true, &a, &n, &json, &err), err);
	assert_int_equal(n, 1);
	assert_int_equal(append_one(db, make_record("w1", "cpu avx2", 1)), 6);
	hn_arena_fini(&a);
	hn_db_close(db);
}

static void a_version_1_store_is_read(void **state)
{
	old_store_is_read(state, OLD_STORE(1), "", false, 100);
}

static void a_version_2_store_is_read(void **state)
{
	old_store_is_read(state, OLD_STORE(2), "guard", false,
			  100);
}

static void a_version_3_store_is_read(void **state)
{
	old_store_is_read(state, OLD_STORE(3), "guard", true,
			  100);
}

static void a_version_4_store_is_read(void **state)
{
	old_store_is_read(state, OLD_STORE(4), "guard", true,
			  101.5);
}

static void a_version_5_store_is_read(void **state)
{
	old_store_is_read(state, OLD_STORE(5), "mutate:tile", true,
			  101.5);
}

static void a_version_6_store_is_read(void **state)
{
	old_store_is_read(state, OLD_STORE(6), "mutate:tile", true,
			  101.5);
}

static void a_version_7_store_is_read(void **state)
{
	old_store_is_read(state, OLD_STORE(7), "mutate:tile", true,
			  101.5);
}

static void a_version_8_store_is_read(void **state)
{
	old_store_is_read(state, OLD_STORE(8), "mutate:tile", true,
			  101.5);
}

static void a_version_9_store_is_read(void **state)
{
	old_store_is_read(state, OLD_STORE(9), "mutate:tile", true,
			  101.5);
}

static void a_version_10_store_is_read(void **state)
{
	old_store_is_read(state, OLD_STORE(10), "mutate:tile", true,
			  101.5);
}

static void a_version_11_store_is_read(void **state)
{
	old_store_is_read(state, OLD_STORE(11), "mutate:tile", true,
			  101.5);
}

static double share_in(const char *dir, const char *old)
{
	struct hn_naive naive;
	struct hn_err err = {0};
	struct hn_db *db;
	char path[300];

	snprintf(path, sizeof(path), "%s/hone.sqlite", dir);
	exec_file(path, old);
	db = open_store(dir);
	ASSERT_OK(hn_db_get_naive(db, "w1", "cpu avx2", &naive, &err), err);
	hn_db_close(db);
	assert_int_equal(unlink(path), 0);
	return naive.share;
}

static void shares_are_kept_from_version_10_on(void **state)
{
	assert_true(share_in(*state, OLD_STORE(9)) == 1);
	assert_true(share_in(*state, OLD_STORE(10)) == 0.015625);
}

/* A store of that version, and record 2 of it with its workload. */
static void read_old(const char *dir, const char *old, struct hn_arena *a,
		     struct hn_record *ret, struct hn_workload_row *ret_workload)
{
	struct hn_err err = {0};
	struct hn_db *db;
	char path[300];

	snprintf(path, sizeof(path), "%s/hone.sqlite", dir);
	exec_file(path, old);
	db = open_store(dir);
	ASSERT_OK(hn_db_find(db, 2, a, ret, ret_workload, &err), err);
	hn_db_close(db);
	assert_int_equal(unlink(path), 0);
}

/* Before version 7 there were no others than warm ones. */
static void caches_are_kept_from_version_7_on(void **state)
{
	struct hn_workload_row w;
	struct hn_record r;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	read_old(*state, OLD_STORE(6), &a, &r, &w);
	assert_string_equal(w.cache, "warm");
	read_old(*state, OLD_STORE(7), &a, &r, &w);
	assert_string_equal(w.cache, "cold");
	hn_arena_fini(&a);
}

static int64_t replaced_in(const char *dir, const char *old)
{
	struct hn_promotion p;
	struct hn_err err = {0};
	struct hn_db *db;
	char path[300];

	snprintf(path, sizeof(path), "%s/hone.sqlite", dir);
	exec_file(path, old);
	db = open_store(dir);
	ASSERT_OK(hn_db_promotion(db, "w1", "cpu avx2", &p, &err), err);
	assert_int_equal(p.record_id, 2);
	hn_db_close(db);
	assert_int_equal(unlink(path), 0);
	return p.replaced_id;
}

static void the_replaced_are_kept_from_version_8_on(void **state)
{
	assert_int_equal(replaced_in(*state, OLD_STORE(7)), 0);
	assert_int_equal(replaced_in(*state, OLD_STORE(8)), 1);
}

static struct hn_descent descent_of(const char *dir, const char *old, struct hn_arena *a)
{
	struct hn_workload_row w;
	struct hn_record r;

	read_old(dir, old, a, &r, &w);
	return r.descent;
}

/* Stores before version 5 kept no descent; that one is as it was written. */
static void descent_is_kept_from_version_5_on(void **state)
{
	struct hn_descent d;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	d = descent_of(*state, OLD_STORE(4), &a);
	assert_true(d.parent[0] == 0 && d.parent[1] == 0 && d.predicted_ns == 0);
	assert_string_equal(d.changes, "");
	assert_string_equal(d.model, "");
	d = descent_of(*state, OLD_STORE(5), &a);
	assert_true(d.parent[0] == UINT64_MAX - 1 && d.parent[1] == 7);
	assert_true(d.predicted_ns == 90.5);
	assert_string_equal(d.changes, "sample mutate:tile");
	assert_string_equal(d.model, "analytic");
	hn_arena_fini(&a);
}

/* All tables, indices and triggers, as they were made. */
static char *schema_of(sqlite3 *sql)
{
	sqlite3_stmt *s;
	char *text;

	assert_int_equal(
		sqlite3_prepare_v2(sql,
				   "SELECT group_concat(sql, char(10)) FROM (SELECT sql FROM"
				   " sqlite_schema WHERE sql IS NOT NULL ORDER BY name)",
				   -1, &s, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	text = strdup((const char *)sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	return text;
}

/* Whatever version a store comes from, it ends as a new one is made, and that as the frozen
 * store of the newest version was: a released step that is edited shows here. */
static void every_version_ends_as_the_newest(void **state)
{
	static const char *const old[NEWEST] = { OLD_STORE(1), OLD_STORE(2), OLD_STORE(3),
						 OLD_STORE(4), OLD_STORE(5), OLD_STORE(6),
						 OLD_STORE(7), OLD_STORE(8), OLD_STORE(9),
						 OLD_STORE(10), OLD_STORE(11) };
	char path[300], *want, *got;
	struct hn_db *db;
	sqlite3 *sql;

	snprintf(path, sizeof(path), "%s/frozen.sqlite", (char *)*state);
	exec_file(path, old[NEWEST - 1]);
	assert_int_equal(sqlite3_open(path, &sql), SQLITE_OK);
	want = schema_of(sql);
	sqlite3_close(sql);
	snprintf(path, sizeof(path), "%s/hone.sqlite", (char *)*state);
	for (int i = 0; i <= NEWEST; i++) {
		if (i > 0) {
			exec_file(path, old[i - 1]);
		}
		db = open_store(*state); /* i 0: made here */
		got = schema_of(hn_sqlite_of(db)->sql);
		hn_db_close(db);
		assert_string_equal(got, want);
		free(got);
		assert_int_equal(unlink(path), 0);
	}
	free(want);
}

static void set_pragma(const char *dir, const char *sql_text)
{
	char path[300];
	sqlite3 *sql;

	snprintf(path, sizeof(path), "%s/hone.sqlite", dir);
	assert_int_equal(sqlite3_open(path, &sql), SQLITE_OK);
	assert_int_equal(sqlite3_exec(sql, sql_text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sql);
}

static void newer_and_foreign_files_are_refused(void **state)
{
	struct hn_err err = {0};
	struct hn_db *db = open_store(*state);

	hn_db_close(db);
	set_pragma(*state, "PRAGMA user_version = 99");
	assert_int_equal(hn_db_open(*state, &db, &err), -HONE_E_VERSION);
	assert_non_null(strstr(err.msg, "schema 99, this one knows 11"));
	set_pragma(*state, "PRAGMA user_version = 0; PRAGMA application_id = 7");
	assert_int_equal(hn_db_open(*state, &db, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "another program"));
}

static void a_failed_migration_changes_nothing(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = {0};

	put_workload(db, "w1");
	assert_true(hn_sqlite_migrate_step(hn_sqlite_of(db), 2,
				       "CREATE TABLE x (y); DELETE FROM workload; WHAT",
				       &err) < 0);
	hn_db_close(db);
	db = open_store(*state);
	append_one(db, make_record("w1", "t1", 5));
	assert_int_not_equal(sqlite3_exec(hn_sqlite_of(db)->sql, "SELECT * FROM x", NULL, NULL, NULL),
			     SQLITE_OK);
	hn_db_close(db);
}

static int check_documented(void *ctx, int n, char **value, char **name)
{
	char row[200];

	(void)n;
	(void)name;
	snprintf(row, sizeof(row), "| `%s.%s` |", value[0], value[1]);
	if (!strstr(ctx, row)) {
		print_error("docs/db.md has no row %s\n", row);
		return 1;
	}
	return 0;
}

static void every_column_is_documented(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = {0};
	struct hn_buf doc;

	hn_buf_init(&doc);
	ASSERT_OK(hn_file_read(HONE_SOURCE_DIR "/docs/db.md", 1 << 20, &doc, &err), err);
	assert_int_equal(sqlite3_exec(hn_sqlite_of(db)->sql,
				      "SELECT t.name, c.name FROM sqlite_schema t"
				      " JOIN pragma_table_info(t.name) c"
				      " WHERE t.type = 'table'",
				      check_documented, doc.s, NULL),
			 SQLITE_OK);
	hn_buf_fini(&doc);
	hn_db_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_version_1_store_is_read),
		STORE_TEST(a_version_2_store_is_read),
		STORE_TEST(a_version_3_store_is_read),
		STORE_TEST(a_version_4_store_is_read),
		STORE_TEST(a_version_5_store_is_read),
		STORE_TEST(a_version_6_store_is_read),
		STORE_TEST(a_version_7_store_is_read),
		STORE_TEST(a_version_8_store_is_read),
		STORE_TEST(a_version_9_store_is_read),
		STORE_TEST(a_version_10_store_is_read),
		STORE_TEST(a_version_11_store_is_read),
		STORE_TEST(shares_are_kept_from_version_10_on),
		STORE_TEST(the_replaced_are_kept_from_version_8_on),
		STORE_TEST(caches_are_kept_from_version_7_on),
		STORE_TEST(descent_is_kept_from_version_5_on),
		STORE_TEST(every_version_ends_as_the_newest),
		STORE_TEST(newer_and_foreign_files_are_refused),
		STORE_TEST(a_failed_migration_changes_nothing),
		STORE_TEST(every_column_is_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
