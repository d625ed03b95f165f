/* A damaged store never gives another answer in silence: flipped values, lost rows, old copies,
 * logs of other stores; and what is said, once. */
#include "tests/lib/db_testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "db/sqlite/sqlite_int.h"
#include "db/sqlite/good.h"
#include "db/snapshot/snapshot_int.h"

#define N_TRIAL 12
#define N_DAMAGED 120

/* Two pairs, the second with a final; the snapshot is of the last commit. */
static void fill(const char *dir)
{
	struct hn_db *db = open_store(dir);
	struct hn_err err = {0};
	struct hn_promotion p = {
		.judged_id = 6, .median_ns = 50, .n_entrant = 2, .gain_hi = 0.1};

	put_workload(db, "w1");
	put_workload(db, "w2");
	for (int i = 0; i < N_TRIAL; i++) {
		char steps[40];
		struct hn_record r = make_record(i % 2 ? "w1" : "w2", "t1", 100 - i);

		snprintf(steps, sizeof(steps), "[[\"split\",%d,8]]", i);
		r.steps = steps;
		append_one(db, r);
		if (i == 6) {
			p.record_id = 5;
			ASSERT_OK(hn_db_promote(db, "w2", "t1", &p, &err), err);
		}
	}
	ASSERT_OK(hn_db_put_naive(db, "w1", "t1", &(struct hn_naive){ .ns = 9000 }, &err), err);
	ASSERT_OK(hn_db_put_naive(db, "w2", "t1", &(struct hn_naive){ .ns = 9000 }, &err), err);
	ASSERT_OK(hn_db_put_job(db, "j1", "{\"id\":\"j1\"}", false, &err), err);
	ASSERT_OK(hn_db_write_snapshot(db, &err), err);
	hn_db_close(db);
}

struct answers {
	int64_t id[2];
	double median_ns[2], naive_ns[2];
	char steps[2][60];
	bool in_doubt[2];
	uint32_t n_damage;
};

static void ask(struct hn_db *db, struct answers *ret)
{
	static const char *const key[] = {"w1", "w2"};
	struct hn_err err = {0};
	struct hn_record r;
	struct hn_arena a;
	struct hn_buf b;

	memset(ret, 0, sizeof(*ret));
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	for (int i = 0; i < 2; i++) {
		if (hn_db_best(db, key[i], "t1", &a, &r, &err) == 0) {
			ret->id[i] = r.id;
			ret->median_ns[i] = r.median_ns;
			ret->in_doubt[i] = r.in_doubt;
			snprintf(ret->steps[i], sizeof(ret->steps[i]), "%s", r.steps);
		} else {
			ret->in_doubt[i] = true; /* a refusal is no answer */
		}
		struct hn_naive naive = { .ns = 0 };

		(void)!hn_db_get_naive(db, key[i], "t1", &naive, &err);
		ret->naive_ns[i] = naive.ns;
	}
	ret->n_damage = hn_db_notice(db, &b);
	hn_buf_fini(&b);
	hn_arena_fini(&a);
}

/* Each answer is as it was, or says that it may not be. */
static void assert_told(const struct answers *was, const struct answers *is)
{
	for (int i = 0; i < 2; i++) {
		bool same = was->id[i] == is->id[i] && was->median_ns[i] == is->median_ns[i] &&
			    strcmp(was->steps[i], is->steps[i]) == 0 &&
			    was->naive_ns[i] == is->naive_ns[i];

		if (!same && !(is->in_doubt[i] && is->n_damage > 0)) {
			fail_msg("w%d: record %lld, %g ns, naive %g, steps %s", i + 1,
				 (long long)is->id[i], is->median_ns[i], is->naive_ns[i],
				 is->steps[i]);
		}
	}
}

/* The file as other programs see it, its triggers off. */
static void change(const char *dir, const char *sql_text)
{
	char path[300];
	char *why = NULL;
	sqlite3 *sql;

	snprintf(path, sizeof(path), "%s/hone.sqlite", dir);
	assert_int_equal(sqlite3_open(path, &sql), SQLITE_OK);
	sqlite3_exec(sql,
		     "PRAGMA recursive_triggers = OFF; PRAGMA ignore_check_constraints = ON;"
		     "CREATE TEMP TABLE s AS SELECT name, sql FROM sqlite_schema"
		     " WHERE type = 'trigger'", NULL, NULL, NULL);
	if (sqlite3_exec(sql, sql_text, NULL, NULL, &why) != SQLITE_OK) {
		fail_msg("%s: %s", sql_text, why);
	}
	sqlite3_close(sql);
}

/* Change rows past the triggers that forbid and count it: those go, and come back as they were. */
static void alter(const char *dir, const char *table, const char *sql_text)
{
	char path[300], text[600];
	struct hn_buf back;
	sqlite3_stmt *s;
	sqlite3 *sql;

	hn_buf_init(&back);
	snprintf(path, sizeof(path), "%s/hone.sqlite", dir);
	assert_int_equal(sqlite3_open(path, &sql), SQLITE_OK);
	snprintf(text, sizeof(text),
		 "SELECT sql, name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '%s'",
		 table);
	assert_int_equal(sqlite3_prepare_v2(sql, text, -1, &s, NULL), SQLITE_OK);
	hn_buf_puts(&back, "");
	struct hn_buf drop;
	hn_buf_init(&drop);
	while (sqlite3_step(s) == SQLITE_ROW) {
		hn_buf_printf(&back, "%s;", sqlite3_column_text(s, 0));
		hn_buf_printf(&drop, "DROP TRIGGER %s;", sqlite3_column_text(s, 1));
	}
	sqlite3_finalize(s);
	sqlite3_close(sql);
	change(dir, drop.s);
	change(dir, sql_text);
	change(dir, back.s);
	hn_buf_fini(&drop);
	hn_buf_fini(&back);
}

static void altered_rows_are_told(void **state)
{
	static const struct {
		const char *table, *sql, *place;
	} cases[] = {
		{"record", "UPDATE record SET steps = '[[\"split\",11,9]]' WHERE id = 12", "record 12"},
		{"record", "UPDATE record SET median_ns = 1 WHERE id = 4", "record 4"},
		{"record", "UPDATE record SET workload_id = 2 WHERE id = 12", "record 12"},
		{"record", "UPDATE record SET sample_ns = zeroblob(24) WHERE id = 1", "record 1"},
		{"record", "UPDATE record SET sum = sum + 1 WHERE id = 2", "record 2"},
		{"record", "UPDATE record SET verdict = 'HANG', median_ns = NULL WHERE id = 12", "record 12"},
		{"record", "DELETE FROM record WHERE id = 12", "record: 1 of 12 rows are missing: 12"},
		{"record", "DELETE FROM record WHERE id IN (3, 4, 5)", "record: 3 of 12 rows are missing: 3 to 5"},
		{"certificate", "UPDATE certificate SET json = '{\"b\":1}' WHERE record_id = 12", "certificate 12"},
		{"certificate", "DELETE FROM certificate WHERE record_id = 12", "certificate: 1 of 12"},
		{"promotion", "UPDATE promotion SET median_ns = 10", "promotion 1"},
		{"promotion", "DELETE FROM promotion", "promotion: 1 of 1"},
		{"naive", "UPDATE naive SET naive_ns = 1", "naive 1"},
		{"workload", "UPDATE workload SET dag_json = '{}' WHERE id = 1", "workload 1"},
		{"workload", "UPDATE workload SET key = 'w3' WHERE id = 1", "workload 1"},
		{"target", "UPDATE target SET line = 't2'", "target 1"},
		{"stamp", "UPDATE stamp SET board = 'x'", "stamp 1"},
		{"job", "UPDATE job SET json = '{}'", "job 1"},
		{"job", "DELETE FROM job", "job: 1 of 1"},
	};
	struct answers was, is;
	struct hn_db *db;
	struct hn_buf b;

	hn_buf_init(&b);
	for (size_t i = 0; i < HN_COUNT_OF(cases); i++) {
		char dir[300], command[700];

		snprintf(dir, sizeof(dir), "%s/%zu", (char *)*state, i);
		assert_int_equal(mkdir(dir, 0700), 0);
		fill(dir);
		db = open_store(dir);
		ask(db, &was);
		assert_int_equal(was.n_damage, 0);
		assert_false(was.in_doubt[0] || was.in_doubt[1]);
		hn_db_close(db);
		alter(dir, cases[i].table, cases[i].sql);
		for (int turn = 0; turn < 2; turn++) { /* and it is still told the next time */
			db = open_store(dir);
			ask(db, &is);
			assert_told(&was, &is);
			hn_buf_reset(&b);
			assert_true(hn_db_notice(db, &b) > 0);
			if (turn == 0 && !strstr(b.s, cases[i].place) &&
			    is.n_damage <= 3) {
				fail_msg("%s: %s", cases[i].sql, b.s);
			}
			hn_db_close(db);
		}
		snprintf(command, sizeof(command), "rm -r '%s'", dir);
		assert_int_equal(system(command), 0);
	}
	hn_buf_fini(&b);
}

static void settled_damage_is_told_no_more(void **state)
{
	struct hn_err err = {0};
	struct answers is;
	struct hn_db *db;

	fill(*state);
	alter(*state, "record", "UPDATE record SET median_ns = 1 WHERE id = 4");
	db = open_store(*state);
	ask(db, &is);
	assert_int_equal(is.n_damage, 1);
	assert_int_equal(count_records(db, NULL, NULL), N_TRIAL - 1);
	ASSERT_OK(hn_db_settle(db, &err), err);
	hn_db_close(db);
	db = open_store(*state);
	ask(db, &is);
	assert_int_equal(is.n_damage, 0);
	assert_int_equal(count_records(db, NULL, NULL), N_TRIAL - 1);
	hn_db_close(db);
}

/* A best that is damaged here stands in the snapshot as it was. */
static void the_snapshot_is_a_second_copy(void **state)
{
	struct hn_snapshot_entry e;
	struct hn_snapshot *s;
	struct hn_err err = {0};
	struct answers was, is;
	struct hn_db *db;

	fill(*state);
	db = open_store(*state);
	ask(db, &was);
	hn_db_close(db);
	alter(*state, "record", "UPDATE record SET median_ns = 1 WHERE id = 12");
	db = open_store(*state);
	ask(db, &is);
	assert_int_equal(is.id[0], 12);
	assert_true(is.median_ns[0] == was.median_ns[0] && !is.in_doubt[0]);
	ASSERT_OK(hn_db_write_snapshot(db, &err), err);
	hn_db_close(db);
	ASSERT_OK(hn_snapshot_open_fresh(*state, &s, &err), err);
	ASSERT_OK(hn_snapshot_find(s, "w1", "t1", &e, &err), err);
	assert_true(e.best.id == 12 && e.best.median_ns == was.median_ns[0]);
	assert_non_null(strstr(hn_snapshot_notice(s), "record 12: its checksum is wrong"));
	hn_snapshot_close(s);
}

/* So does a naive time that is damaged or gone, from one snapshot to the next. */
static void the_snapshot_keeps_naive_times(void **state)
{
	static const char *const damage[] = {"UPDATE naive SET naive_ns = 1", "DELETE FROM naive"};

	for (size_t i = 0; i < HN_COUNT_OF(damage); i++) {
		char dir[300];

		snprintf(dir, sizeof(dir), "%s/naive%zu", (char *)*state, i);
		assert_int_equal(mkdir(dir, 0700), 0);
		fill(dir);
		alter(dir, "naive", damage[i]);
		for (int turn = 0; turn < 2; turn++) {
			struct hn_snapshot_entry e;
			struct hn_snapshot *s;
			struct hn_err err = {0};
			struct answers is;
			struct hn_db *db = open_store(dir);

			ask(db, &is);
			assert_true(is.naive_ns[0] == 9000 && is.n_damage > 0);
			ASSERT_OK(hn_db_write_snapshot(db, &err), err);
			hn_db_close(db);
			ASSERT_OK(hn_snapshot_open_fresh(dir, &s, &err), err);
			ASSERT_OK(hn_snapshot_find(s, "w1", "t1", &e, &err), err);
			assert_true(e.naive.ns == 9000);
			hn_snapshot_close(s);
		}
	}
}

static void copy(const char *dir, const char *from, const char *to)
{
	char command[700];

	snprintf(command, sizeof(command), "cd '%s' && rm -rf '%s' && cp -a '%s' '%s'", dir, to,
		 from, to);
	assert_int_equal(system(command), 0);
}

/* Appends one record, and leaves the log as a killed process does. */
static void append_and_keep_log(const char *dir, double median_ns)
{
	struct hn_db *db = open_store(dir);

	append_one(db, make_record("w1", "t1", median_ns));
	copy(dir, "hone.sqlite-wal", "kept-wal");
	copy(dir, "hone.sqlite", "kept-sqlite");
	hn_db_close(db);
	copy(dir, "kept-wal", "hone.sqlite-wal");
	copy(dir, "kept-sqlite", "hone.sqlite");
}

static void a_cut_log_is_told_by_number(void **state)
{
	struct hn_db *db;
	struct hn_buf b;
	char path[300];

	hn_buf_init(&b);
	fill(*state);
	append_and_keep_log(*state, 7);
	snprintf(path, sizeof(path), "%s/hone.sqlite-wal", (char *)*state);
	assert_int_equal(truncate(path, 100), 0);
	db = open_store(*state);
	hn_db_notice(db, &b);
	assert_non_null(strstr(b.s, "record: 1 of 13 rows are missing: 13"));
	/* its number is not given again */
	assert_int_equal(append_one(db, make_record("w1", "t1", 5)), 14);
	hn_db_close(db);
	hn_buf_fini(&b);
}

static void a_whole_log_is_no_damage(void **state)
{
	struct answers is;
	struct hn_db *db;

	fill(*state);
	append_and_keep_log(*state, 7);
	db = open_store(*state);
	ask(db, &is);
	assert_int_equal(is.n_damage, 0);
	assert_true(is.median_ns[0] == 7 && is.id[0] == 13);
	hn_db_close(db);
}

/* A log that is older than the file, or another store's, is refused; the file stays as it is. */
static void a_foreign_log_is_refused(void **state)
{
	struct hn_err err = {0};
	struct hn_db *db = NULL;
	struct hn_buf before, after;
	char dir[300], path[320], command[700];

	snprintf(dir, sizeof(dir), "%s/other", (char *)*state);
	assert_int_equal(mkdir(dir, 0700), 0);
	fill(dir);
	append_and_keep_log(dir, 3);
	fill(*state);
	snprintf(path, sizeof(path), "%s/hone.sqlite", (char *)*state);
	hn_buf_init(&before);
	hn_buf_init(&after);
	for (int old = 0; old < 2; old++) {
		if (old) { /* its own, of before the last checkpoint */
			append_and_keep_log(*state, 9);
			hn_db_close(open_store(*state));
			db = open_store(*state);
			append_one(db, make_record("w1", "t1", 8));
			hn_db_close(db);
			copy(*state, "kept-wal", "hone.sqlite-wal");
		} else {
			snprintf(command, sizeof(command),
				 "cp '%s/hone.sqlite-wal' '%s/hone.sqlite-wal'", dir,
				 (char *)*state);
			assert_int_equal(system(command), 0);
		}
		hn_buf_reset(&before);
		ASSERT_OK(hn_file_read(path, 1 << 22, &before, &err), err);
		assert_int_equal(hn_db_open(*state, &db, &err), -HONE_E_CORRUPT);
		assert_non_null(strstr(err.msg, "hone.sqlite-wal: not the log of this store"));
		hn_buf_reset(&after);
		ASSERT_OK(hn_file_read(path, 1 << 22, &after, &err), err);
		assert_int_equal(after.n, before.n);
		assert_memory_equal(after.s, before.s, before.n);
		snprintf(command, sizeof(command), "rm '%s'-wal", path);
		assert_int_equal(system(command), 0);
		hn_db_close(open_store(*state));
	}
	hn_buf_fini(&before);
	hn_buf_fini(&after);
}

static void an_older_file_is_told(void **state)
{
	struct answers is;
	struct hn_db *db;
	struct hn_buf b;

	hn_buf_init(&b);
	fill(*state);
	copy(*state, "hone.sqlite", "old");
	db = open_store(*state);
	append_one(db, make_record("w1", "t1", 7));
	append_one(db, make_record("w1", "t1", 6));
	hn_db_close(db);
	copy(*state, "old", "hone.sqlite");
	db = open_store(*state);
	ask(db, &is);
	hn_db_notice(db, &b);
	assert_non_null(strstr(b.s, "record: 2 of 14 rows are missing: 13 to 14"));
	assert_true(is.in_doubt[0]);
	hn_db_close(db);
	hn_buf_fini(&b);
}

/* Who answers from the snapshot knows when it is not of the last commit. */
static void a_stale_snapshot_is_refused(void **state)
{
	struct hn_snapshot *s = NULL;
	struct hn_err err = {0};
	struct hn_db *db;
	char path[300];

	fill(*state);
	ASSERT_OK(hn_snapshot_open_fresh(*state, &s, &err), err);
	hn_snapshot_close(s);
	copy(*state, "best.snapshot", "old");
	db = open_store(*state);
	append_one(db, make_record("w1", "t1", 7));
	ASSERT_OK(hn_snapshot_open_fresh(*state, &s, &err), err); /* held, and just now */
	hn_snapshot_close(s);
	ASSERT_OK(hn_db_write_snapshot(db, &err), err);
	hn_db_close(db);
	ASSERT_OK(hn_snapshot_open_fresh(*state, &s, &err), err);
	hn_snapshot_close(s);
	copy(*state, "best.snapshot", "new");
	copy(*state, "old", "best.snapshot");
	assert_int_equal(hn_snapshot_open_fresh(*state, &s, &err), -HONE_E_VERSION);
	assert_non_null(strstr(err.msg, "behind the store; start honed once"));
	copy(*state, "new", "best.snapshot");
	snprintf(path, sizeof(path), "%s/hone.mark", (char *)*state);
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(hn_snapshot_open_fresh(*state, &s, &err), -HONE_E_VERSION);
	hn_db_close(open_store(*state)); /* which writes the mark anew */
	ASSERT_OK(hn_snapshot_open_fresh(*state, &s, &err), err);
	hn_snapshot_close(s);
}

static void an_altered_schema_is_refused(void **state)
{
	struct hn_err err = {0};
	struct hn_db *db = NULL;

	fill(*state);
	change(*state, "DROP TRIGGER record_mark_insert");
	assert_int_equal(hn_db_open(*state, &db, &err), -HONE_E_CORRUPT);
	assert_non_null(strstr(err.msg, "schema"));
}

/* Bytes anywhere: flips, cut ends, pages of zeros, pages in each other's place. */
static void damage_bytes(struct hn_rng *r, char *file, size_t *n)
{
	size_t page = *n / 4096, a = hn_rng_below(r, page), b = hn_rng_below(r, page);
	char keep[4096];

	switch (hn_rng_below(r, 5)) {
	case 0:
	case 1:
		for (uint64_t k = hn_rng_below(r, 8) + 1; k > 0; k--) {
			file[hn_rng_below(r, *n)] ^= (char)(1 << hn_rng_below(r, 8));
		}
		break;
	case 2:
		*n = hn_rng_below(r, *n);
		break;
	case 3:
		memset(file + a * 4096, 0, 4096);
		break;
	default:
		memcpy(keep, file + a * 4096, 4096);
		memcpy(file + a * 4096, file + b * 4096, 4096);
		memcpy(file + b * 4096, keep, 4096);
	}
}

static void write_plain(const char *path, const char *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void damaged_bytes_give_no_other_answer(void **state)
{
	static const char *const file[] = {"hone.sqlite", "hone.sqlite-wal", "hone.mark",
					   "best.snapshot"};
	struct hn_rng r = hn_rng_stream(11, 0, 0, 0);
	struct hn_err err = {0};
	struct hn_buf whole[4];
	struct answers was, is;
	struct hn_db *db;
	char path[300];
	int n_refused = 0, n_doubt = 0, n_told = 0;

	fill(*state);
	db = open_store(*state);
	append_one(db, make_record("w1", "t1", 200));
	ASSERT_OK(hn_db_write_snapshot(db, &err), err);
	copy(*state, "hone.sqlite-wal", "kept-wal");
	copy(*state, "hone.sqlite", "kept-sqlite");
	hn_db_close(db);
	for (int i = 0; i < 4; i++) {
		hn_buf_init(&whole[i]);
	}
	copy(*state, "kept-wal", "hone.sqlite-wal");
	copy(*state, "kept-sqlite", "hone.sqlite");
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", (char *)*state, file[i]);
		ASSERT_OK(hn_file_read(path, 1 << 22, &whole[i], &err), err);
	}
	db = open_store(*state);
	ask(db, &was);
	assert_int_equal(was.n_damage, 0);
	hn_db_close(db);
	for (int turn = 0; turn < N_DAMAGED; turn++) {
		int victim = (int)hn_rng_below(&r, 6);

		victim = victim > 3 ? 0 : victim;
		for (int i = 0; i < 4; i++) {
			size_t n = whole[i].n;
			char *bytes = malloc(n + 1);

			memcpy(bytes, whole[i].s, n);
			if (i == victim && n >= 4096) {
				damage_bytes(&r, bytes, &n);
			} else if (i == victim) {
				bytes[hn_rng_below(&r, n)] ^= (char)(1 << hn_rng_below(&r, 8));
			}
			snprintf(path, sizeof(path), "%s/%s", (char *)*state, file[i]);
			write_plain(path, bytes, n);
			if (i == 3 && turn % 2) { /* nor is there a second copy */
				assert_int_equal(unlink(path), 0);
			}
			free(bytes);
		}
		if (hn_db_open(*state, &db, &err) != 0) {
			n_refused++;
			continue;
		}
		ask(db, &is);
		n_told += is.n_damage > 0;
		n_doubt += is.in_doubt[0] || is.in_doubt[1];
		assert_told(&was, &is);
		hn_db_close(db);
	}
	print_message("%d damaged stores: %d refused, %d told, %d of them with answers in doubt\n",
		      N_DAMAGED, n_refused, n_told, n_doubt);
	assert_true(n_refused > 10 && n_told > 10 && n_doubt > 0);
	for (int i = 0; i < 4; i++) {
		hn_buf_fini(&whole[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(altered_rows_are_told),
		STORE_TEST(settled_damage_is_told_no_more),
		STORE_TEST(the_snapshot_is_a_second_copy),
		STORE_TEST(the_snapshot_keeps_naive_times),
		STORE_TEST(a_cut_log_is_told_by_number),
		STORE_TEST(a_whole_log_is_no_damage),
		STORE_TEST(a_foreign_log_is_refused),
		STORE_TEST(an_older_file_is_told),
		STORE_TEST(a_stale_snapshot_is_refused),
		STORE_TEST(an_altered_schema_is_refused),
		STORE_TEST(damaged_bytes_give_no_other_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
