/* What honed answers to `lineage`: a record's line through records of this version and of older
 * ones, which kept neither hashes nor parents. */
#include "tests/lib/db_testing.h"

#include <sqlite3.h>

#include "base/file.h"
#include "base/json.h"
#include "daemon/daemon.h"

#define STEPS(len) "[[\"SP\", 2, 0, 64, [" #len "], 1]]"

static uint64_t hash_of(const char *steps)
{
	const struct hn_trace *t;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	ASSERT_OK(hn_trace_parse("steps", steps, strlen(steps), &a, &t, &err), err);
	uint64_t hash = hn_trace_hash(t);

	hn_arena_fini(&a);
	return hash;
}

/* Record the program, made from those with these hashes; its number. */
static int64_t put(struct hn_db *db, const char *steps, uint64_t parent, uint64_t mate,
		   const char *changes)
{
	struct hn_record r = make_record("w1", "cpu avx2", 50);

	r.steps = steps;
	r.descent.parent[0] = parent;
	r.descent.parent[1] = mate;
	r.descent.changes = changes;
	return append_one(db, r);
}

/* The answer's line as numbers of records, oldest last, and those of the other parents. */
static uint32_t line_of(struct hn_db *db, int64_t record, int64_t *id, int64_t *mate)
{
	struct hn_json *v = NULL;
	struct hn_err err = { 0 };
	struct hn_buf b;
	uint32_t n = 0;

	hn_buf_init(&b);
	ASSERT_OK(hn_lineage_answer(db, record, &b, &err), err);
	ASSERT_OK(hn_json_parse("answer", b.s, b.n, NULL, &v, &err), err);
	for (const struct hn_json *x = hn_json_first(hn_json_get(v, "lineage")); x != NULL;
	     x = hn_json_next(x)) {
		const struct hn_json *p = hn_json_first(hn_json_get(x, "parents"));

		assert_true(hn_json_int(hn_json_get(x, "record"), &id[n]));
		mate[n] = -1;
		if (p != NULL && hn_json_next(p) != NULL) {
			hn_json_int(hn_json_get(hn_json_next(p), "record"), &mate[n]);
		}
		n++;
	}
	hn_json_free(v);
	hn_buf_fini(&b);
	return n;
}

static void a_line_is_followed(void **state)
{
	struct hn_db *db = open_store(*state);
	int64_t id[8], mate[8];

	put_workload(db, "w1");
	put_workload(db, "w2");
	int64_t heuristic = put(db, STEPS(2), 0, 0, "");
	int64_t other = put(db, STEPS(3), 0, 0, "sample");
	int64_t child = put(db, STEPS(4), hash_of(STEPS(2)), 0, "mutate:tile");
	/* the same history elsewhere is nobody's parent */
	struct hn_record r = make_record("w2", "cpu avx2", 50);
	r.steps = STEPS(4);
	append_one(db, r);
	int64_t young = put(db, STEPS(5), hash_of(STEPS(4)), hash_of(STEPS(3)), "crossover");
	put(db, STEPS(4), 0, 0, "sample"); /* too late to be one */

	assert_int_equal(line_of(db, young, id, mate), 3);
	assert_true(id[0] == young && id[1] == child && id[2] == heuristic);
	assert_true(mate[0] == other && mate[1] == -1 && mate[2] == -1);
	assert_int_equal(line_of(db, heuristic, id, mate), 1);
	hn_db_close(db);
}

/* A parent that is not in the store, and a program that is its own. */
static void a_line_ends(void **state)
{
	struct hn_db *db = open_store(*state);
	int64_t id[8], mate[8];

	put_workload(db, "w1");
	int64_t drawn = put(db, STEPS(7), 12345, 0, "sample mutate:tile");
	int64_t own = put(db, STEPS(8), hash_of(STEPS(8)), 0, "mutate:tile");

	assert_int_equal(line_of(db, drawn, id, mate), 1);
	assert_int_equal(line_of(db, own, id, mate), 1);
	hn_db_close(db);
}

static void there_may_be_no_such_record(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = { 0 };
	struct hn_buf b;

	hn_buf_init(&b);
	assert_int_equal(hn_lineage_answer(db, 1, &b, &err), -HONE_E_NOT_FOUND);
	assert_int_equal(hn_lineage_answer(db, -1, &b, &err), -HONE_E_NOT_FOUND);
	hn_buf_fini(&b);
	hn_db_close(db);
}

static void run_sql(const char *dir, const char *text)
{
	char path[300];
	sqlite3 *sql;

	snprintf(path, sizeof path, "%s/hone.sqlite", dir);
	assert_int_equal(sqlite3_open(path, &sql), SQLITE_OK);
	if (sqlite3_exec(sql, text, NULL, NULL, NULL) != SQLITE_OK) {
		fail_msg("%s", sqlite3_errmsg(sql));
	}
	sqlite3_close(sql);
}

/* A store of schema 4: its records are found by what their steps hash to; what is not a history,
 * as its first five, is nobody's parent and harms nobody. */
static void records_of_older_versions_are_ancestors(void **state)
{
	struct hn_err err = { 0 };
	int64_t id[8], mate[8];
	struct hn_buf text;

	hn_buf_init(&text);
	ASSERT_OK(hn_file_read(HONE_SOURCE_DIR "/tests/data/db/v4.sql", 1 << 20, &text, &err),
		  err);
	run_sql(*state, text.s);
	run_sql(*state, "INSERT INTO record VALUES (6,1,1,1,'" STEPS(4) "','OK','',90.0,X'',11,22,"
			"1700000000000,1,'mutate:tile')");
	hn_buf_fini(&text);

	struct hn_db *db = open_store(*state);
	int64_t young = put(db, STEPS(5), hash_of(STEPS(4)), 0, "mutate:tile");

	assert_int_equal(line_of(db, young, id, mate), 2);
	assert_true(id[0] == young && id[1] == 6);
	assert_int_equal(line_of(db, 2, id, mate), 1);
	hn_db_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_line_is_followed),
		STORE_TEST(a_line_ends),
		STORE_TEST(there_may_be_no_such_record),
		STORE_TEST(records_of_older_versions_are_ancestors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
