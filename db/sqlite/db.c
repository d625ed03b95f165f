/* db/sqlite/db.c -- opening and closing the store; see db.h for the invariants.
 *
 * WAL with full sync: what a call acknowledged has been synced.  Exclusive locking keeps
 * the index of the log in this process's memory, so no second connection can exist and no
 * shared memory file is mapped (a full disk would kill the process there).
 */
#include "db/db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/snapshot/snapshot.h"
#include "db/sqlite/db_int.h"

/* Order matters: locking_mode before the first access to the log. */
static const char open_pragmas[] = "PRAGMA locking_mode = EXCLUSIVE;"
				   "PRAGMA mmap_size = 0;"
				   "PRAGMA trusted_schema = OFF;"
				   "PRAGMA cell_size_check = ON;"
				   "PRAGMA journal_mode = WAL;"
				   "PRAGMA synchronous = FULL;"
				   "PRAGMA foreign_keys = ON;";

/* PRAGMA answers with what it did, not with an error. */
static int expect_pragma(struct hn_db *db, const char *sql, const char *expected,
			 struct hn_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = 0;

	if (sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL) != SQLITE_OK ||
	    sqlite3_step(s) != SQLITE_ROW) {
		rc = hn_db_fail(db, err, "open");
	} else if (strcmp(hn_db_column(s, 0), expected) != 0) {
		rc = hn_fail(err, HONE_E_STORE, "%s: %s is %s, must be %s", db->path, sql,
			     hn_db_column(s, 0), expected);
	}
	sqlite3_finalize(s);
	return rc;
}

/* What is counted now, into the file beside the store too. */
static int read_mark(struct hn_db *db, struct hn_err *err)
{
	sqlite3_stmt *s;
	int step, rc = hn_db_stmt(db, HN_DB_STMT_MARKS, &s, err);

	if (rc != 0) {
		return rc;
	}
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		hn_db_read_mark(s, &db->mark);
	}
	sqlite3_reset(s);
	if (step != SQLITE_DONE) {
		return hn_db_fail(db, err, "read what was counted");
	}
	db->mark_behind = hn_mark_write(db->mark_fd, &db->mark) != 0;
	return 0;
}

static int open_file(struct hn_db *db, struct hn_err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX |
		    SQLITE_OPEN_EXRESCODE;
	bool is_new = false;
	struct stat st;
	int rc = 0;

	if (sqlite3_open_v2(db->path, &db->sql, flags, NULL) != SQLITE_OK) {
		return db->sql ? hn_db_fail(db, err, "open")
			       : hn_fail(err, HONE_E_NOMEM, "%s: out of memory",
					 db->path);
	}
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* until all is checked, nothing is written: not even by closing */
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if (hn_db_add_functions(db->sql, db) != SQLITE_OK) {
		return hn_db_fail(db, err, "open");
	}
	if (sqlite3_exec(db->sql, open_pragmas, NULL, NULL, NULL) != SQLITE_OK) {
		rc = hn_db_fail(db, err, "open");
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
	rc = rc != 0 ? rc : hn_db_migrate(db, &is_new, err);
	if (rc == 0) {
		db->mark_fd = hn_mark_open(db->dir);
		db->counting = true;
		rc = hn_db_check_rows(db, is_new, err);
	}
	if (rc == 0) {
		rc = read_mark(db, err);
	}
	if (rc == 0) {
		sqlite3_db_config(db->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
		hn_db_bound_log(db);
	}
	if (rc == 0 && stat(db->path, &st) == 0) {
		db->inode = (struct hn_db_inode){ st.st_dev, st.st_ino };
	}
	return rc;
}

int hn_db_open(const char *dir, struct hn_db **ret, struct hn_err *err)
{
	struct hn_db *db;
	int rc = hn_db_place_check(dir, err);

	if (rc != 0) {
		return rc;
	}
	db = calloc(1, sizeof(*db));
	if (!db) {
		return hn_fail(err, HONE_E_NOMEM, "%s: out of memory", dir);
	}
	db->lock_fd = db->mark_fd = -1;
	db->dir = strdup(dir);
	if (!db->dir || asprintf(&db->path, "%s/hone.sqlite", dir) < 0) {
		db->path = NULL;
		rc = hn_fail(err, HONE_E_NOMEM, "%s: out of memory", dir);
	}
	if (rc == 0) {
		rc = hn_db_place_lock(dir, &db->lock_fd, err);
	}
	if (rc == 0) {
		rc = open_file(db, err);
	}
	if (rc != 0) {
		hn_db_close(db);
		return rc;
	}
	*ret = db;
	return 0;
}

void hn_db_close(struct hn_db *db)
{
	if (!db) {
		return;
	}
	for (int i = 0; i < HN_N_DB_STMT; i++) {
		sqlite3_finalize(db->stmt[i]);
	}
	sqlite3_close(db->sql);
	hn_snapshot_close(db->witness);
	hn_db_forget_damage(db);
	if (db->mark_fd >= 0) {
		close(db->mark_fd);
	}
	if (db->lock_fd >= 0) {
		close(db->lock_fd);
	}
	free(db->path);
	free(db->dir);
	free(db);
}
