/* db/sqlite/sqlite.c -- a store in a SQLite file: opening and closing it; see db.h for the
 * invariants.
 *
 * WAL with full sync: what a call acknowledged has been synced.  Exclusive locking keeps
 * the index of the log in this process's memory, so no second connection can exist and no
 * shared memory file is mapped (a full disk would kill the process there).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/sqlite/sqlite_int.h"

/* Order matters: locking_mode before the first access to the log. */
static const char open_pragmas[] = "PRAGMA locking_mode = EXCLUSIVE;"
				   "PRAGMA mmap_size = 0;"
				   "PRAGMA trusted_schema = OFF;"
				   "PRAGMA cell_size_check = ON;"
				   "PRAGMA journal_mode = WAL;"
				   "PRAGMA synchronous = FULL;"
				   "PRAGMA foreign_keys = ON;";

/* PRAGMA answers with what it did, not with an error. */
static int expect_pragma(struct hn_sqlite *db, const char *sql, const char *expected,
			 struct hn_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = 0;

	if (sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL) != SQLITE_OK ||
	    sqlite3_step(s) != SQLITE_ROW) {
		rc = hn_sqlite_fail(db, err, "open");
	} else if (strcmp(hn_sqlite_column(s, 0), expected) != 0) {
		rc = hn_fail(err, HONE_E_STORE, "%s: %s is %s, must be %s", db->path, sql,
			     hn_sqlite_column(s, 0), expected);
	}
	sqlite3_finalize(s);
	return rc;
}

/* What is counted now, into the file beside the store too. */
static int read_mark(struct hn_sqlite *db, struct hn_err *err)
{
	sqlite3_stmt *s;
	int step, rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_MARKS, &s, err);

	if (rc != 0) {
		return rc;
	}
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		hn_sqlite_read_mark(s, &db->base.mark);
	}
	sqlite3_reset(s);
	if (step != SQLITE_DONE) {
		return hn_sqlite_fail(db, err, "read what was counted");
	}
	db->mark_behind = hn_mark_write(db->mark_fd, &db->base.mark) != 0;
	return 0;
}

static int open_file(struct hn_sqlite *db, struct hn_err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX |
		    SQLITE_OPEN_EXRESCODE;
	bool is_new = false;
	struct stat st;
	int rc = 0;

	if (sqlite3_open_v2(db->path, &db->sql, flags, NULL) != SQLITE_OK) {
		return db->sql ? hn_sqlite_fail(db, err, "open")
			       : hn_fail(err, HONE_E_NOMEM, "%s: out of memory",
					 db->path);
	}
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* until all is checked, nothing is written: not even by closing */
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if (hn_sqlite_add_functions(db->sql, db) != SQLITE_OK) {
		return hn_sqlite_fail(db, err, "open");
	}
	if (sqlite3_exec(db->sql, open_pragmas, NULL, NULL, NULL) != SQLITE_OK) {
		rc = hn_sqlite_fail(db, err, "open");
	}
	if (rc == 0) {
		rc = expect_pragma(db, "PRAGMA journal_mode", "wal", err);
	}
	if (rc == 0) {
		rc = expect_pragma(db, "PRAGMA synchronous", "2", err);
	}
	if (rc == 0) {
		rc = expect_pragma(db, "PRAGMA locking_mode", "exclusive", err);
	}
	rc = rc != 0 ? rc : hn_sqlite_migrate(db, &is_new, err);
	if (rc == 0) {
		db->mark_fd = hn_mark_open(db->base.dir);
		db->counting = true;
		rc = hn_sqlite_check_rows(db, is_new, err);
	}
	if (rc == 0) {
		rc = read_mark(db, err);
	}
	if (rc == 0) {
		sqlite3_db_config(db->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
		hn_sqlite_bound_log(db);
	}
	if (rc == 0 && stat(db->path, &st) == 0) {
		db->inode = (struct hn_sqlite_inode){ st.st_dev, st.st_ino };
	}
	return rc;
}

static int open_store(struct hn_db *base, const char *dir, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	int rc;

	db->lock_fd = db->mark_fd = -1;
	rc = hn_sqlite_place_check(dir, err);
	if (rc != 0) {
		return rc;
	}
	base->dir = strdup(dir);
	if (!base->dir || asprintf(&db->path, "%s/hone.sqlite", dir) < 0) {
		db->path = NULL;
		return hn_fail(err, HONE_E_NOMEM, "%s: out of memory", dir);
	}
	rc = hn_sqlite_place_lock(dir, &db->lock_fd, err);
	return rc != 0 ? rc : open_file(db, err);
}

static void close_store(struct hn_db *base)
{
	struct hn_sqlite *db = hn_sqlite_of(base);

	for (int i = 0; i < HN_N_SQLITE_STMT; i++) {
		sqlite3_finalize(db->stmt[i]);
	}
	sqlite3_close(db->sql);
	if (db->mark_fd >= 0) {
		close(db->mark_fd);
	}
	if (db->lock_fd >= 0) {
		close(db->lock_fd);
	}
	free(db->path);
}

static int still(struct hn_db *base, struct hn_err *err)
{
	return hn_sqlite_place_still(hn_sqlite_of(base), err);
}

static int begin(struct hn_db *base, struct hn_err *err)
{
	return hn_sqlite_begin(hn_sqlite_of(base), err);
}

static int end(struct hn_db *base, int rc, struct hn_err *err)
{
	return hn_sqlite_end(hn_sqlite_of(base), rc, err);
}

static int group_begin(struct hn_db *base, struct hn_err *err)
{
	return hn_sqlite_group_begin(hn_sqlite_of(base), err);
}

static int group_end(struct hn_db *base, struct hn_err *err)
{
	return hn_sqlite_group_end(hn_sqlite_of(base), err);
}

static int probe(struct hn_db *base, struct hn_err *err)
{
	return hn_sqlite_probe(hn_sqlite_of(base), err);
}

const struct hn_db_ops hn_db_sqlite = {
	.bytes = sizeof(struct hn_sqlite),
	.open = open_store,
	.close = close_store,
	.still = still,
	.begin = begin,
	.end = end,
	.group_begin = group_begin,
	.group_end = group_end,
	.probe = probe,
	.put_workload = hn_sqlite_put_workload,
	.append = hn_sqlite_append,
	.certify = hn_sqlite_certify,
	.put_promotion = hn_sqlite_put_promotion,
	.put_naive = hn_sqlite_put_naive,
	.put_automatic = hn_sqlite_put_automatic,
	.put_job = hn_sqlite_put_job,
	.put_model = hn_sqlite_put_model,
	.workload = hn_sqlite_workload,
	.pair = hn_sqlite_pair,
	.promotion = hn_sqlite_promotion,
	.fastest = hn_sqlite_fastest,
	.record = hn_sqlite_record,
	.has_record = hn_sqlite_has_record,
	.records = hn_sqlite_records,
	.keys = hn_sqlite_keys,
	.naive = hn_sqlite_naive,
	.automatic = hn_sqlite_automatic,
	.jobs = hn_sqlite_jobs,
	.ended_jobs = hn_sqlite_ended_jobs,
	.model = hn_sqlite_model,
	.tallies = hn_sqlite_tallies,
	.settle = hn_sqlite_settle,
};
