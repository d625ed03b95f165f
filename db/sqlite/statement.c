/* db/sqlite/statement.c -- cached statements, transactions, and SQLite's failures in hone's
 * words.
 *
 * After an I/O error that is not a full disk nobody knows what the disk holds (the kernel
 * may have dropped pages that failed to sync): the store stops accepting, the process
 * restarts and recovers from the log.
 */
#include <errno.h>
#include <string.h>

#include "db/sqlite/sqlite_int.h"
#include "db/sqlite/good.h"

static const char *const statement_sql[HN_N_SQLITE_STMT] = {
#define STATEMENT(name, sql) [HN_SQLITE_STMT_##name] = sql,
#include "db/sqlite/statements.def"
#undef STATEMENT
};

struct sqlite_class {
	int primary; /* SQLite's primary result code */
	int code;
};

static const struct sqlite_class sqlite_classes[] = {
	{SQLITE_FULL, HONE_E_DISK_FULL},     {SQLITE_READONLY, HONE_E_PERMISSION},
	{SQLITE_PERM, HONE_E_PERMISSION},    {SQLITE_CANTOPEN, HONE_E_PERMISSION},
	{SQLITE_BUSY, HONE_E_BUSY},	     {SQLITE_LOCKED, HONE_E_BUSY},
	{SQLITE_CORRUPT, HONE_E_CORRUPT},    {SQLITE_NOTADB, HONE_E_CORRUPT},
	{SQLITE_NOMEM, HONE_E_NOMEM},	     {SQLITE_TOOBIG, HONE_E_QUOTA},
	{SQLITE_CONSTRAINT, HONE_E_INVALID},
};

static int class_of(struct hn_sqlite *db)
{
	int primary = sqlite3_errcode(db->sql) & 0xff;
	int e = sqlite3_system_errno(db->sql);

	if (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN) {
		if (e == ENOSPC || e == EDQUOT) {
			return HONE_E_DISK_FULL;
		}
	}
	for (size_t i = 0; i < HN_COUNT_OF(sqlite_classes); i++) {
		if (sqlite_classes[i].primary == primary) {
			return sqlite_classes[i].code;
		}
	}
	return HONE_E_STORE;
}

int hn_sqlite_fail(struct hn_sqlite *db, struct hn_err *err, const char *doing)
{
	int code = class_of(db);

	if (code == HONE_E_STORE && (sqlite3_errcode(db->sql) & 0xff) == SQLITE_IOERR) {
		db->broken = true;
	}
	if (code == HONE_E_DISK_FULL) {
		return hn_fail(err, code,
			       "%s: cannot %s: the disk is full; what was stored "
			       "before is kept",
			       db->path, doing);
	}
	return hn_fail(err, code, "%s: cannot %s: %s", db->path, doing,
		       sqlite3_errmsg(db->sql));
}

int hn_sqlite_stmt(struct hn_sqlite *db, enum hn_sqlite_stmt which, sqlite3_stmt **ret,
	       struct hn_err *err)
{
	sqlite3_stmt *s = db->stmt[which];

	if (!s) {
		if (sqlite3_prepare_v3(db->sql, statement_sql[which], -1,
				       SQLITE_PREPARE_PERSISTENT, &s,
				       NULL) != SQLITE_OK) {
			return hn_sqlite_fail(db, err, "prepare a statement");
		}
		db->stmt[which] = s;
	}
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	*ret = s;
	return 0;
}

int hn_sqlite_run(struct hn_sqlite *db, sqlite3_stmt *s, struct hn_err *err, const char *doing)
{
	int rc = 0;

	if (sqlite3_step(s) != SQLITE_DONE) {
		rc = hn_sqlite_fail(db, err, doing);
	}
	sqlite3_reset(s);
	return rc;
}

static int run_plain(struct hn_sqlite *db, enum hn_sqlite_stmt which, struct hn_err *err,
		     const char *doing)
{
	sqlite3_stmt *s = NULL;
	int rc = hn_sqlite_stmt(db, which, &s, err);

	return rc != 0 ? rc : hn_sqlite_run(db, s, err, doing);
}

const char *hn_sqlite_stmt_text(enum hn_sqlite_stmt which)
{
	return statement_sql[which];
}

void hn_sqlite_read_mark(sqlite3_stmt *s, struct hn_mark *ret)
{
	const char *name = hn_sqlite_column(s, 0);

	if (strcmp(name, "commit") == 0) {
		ret->commit = sqlite3_column_int64(s, 1);
		ret->store = (uint64_t)sqlite3_column_int64(s, 3);
	}
	for (int t = 0; t < HN_N_MARK; t++) {
		if (strcmp(name, hn_mark_name(t)) == 0) {
			ret->of[t] = (struct hn_mark_row){
				.n_row = sqlite3_column_int64(s, 1),
				.last = sqlite3_column_int64(s, 2),
				.digest = (uint64_t)sqlite3_column_int64(s, 3) };
		}
	}
}

/* Count the commit to come, where it changes anything, and read what will hold then. */
static int count_commit(struct hn_sqlite *db, struct hn_mark *ret, struct hn_err *err)
{
	sqlite3_stmt *s = NULL;
	int step, rc;

	*ret = db->base.mark;
	if (!db->counting || sqlite3_total_changes(db->sql) == db->changes) {
		return 0;
	}
	rc = run_plain(db, HN_SQLITE_STMT_COUNT_COMMIT, err, "count");
	rc = rc != 0 ? rc : hn_sqlite_stmt(db, HN_SQLITE_STMT_MARKS, &s, err);
	if (rc != 0) {
		return rc;
	}
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		hn_sqlite_read_mark(s, ret);
	}
	sqlite3_reset(s);
	return step == SQLITE_DONE ? 0 : hn_sqlite_fail(db, err, "count");
}

/* SQLite undoes a transaction by itself when the disk or the memory is full, and after an
 * input/output error: then the whole group is lost, for one reason. */
static bool is_lost(struct hn_sqlite *db, const struct hn_err *why)
{
	bool lost = sqlite3_get_autocommit(db->sql) != 0;

	if (lost && db->lost.code == 0) {
		db->lost = *why;
	}
	return lost;
}

static int tell_lost(struct hn_sqlite *db, struct hn_err *err)
{
	return hn_fail(err, db->lost.code, "%s", db->lost.msg);
}

static int begin_part(struct hn_sqlite *db, struct hn_err *err)
{
	return db->lost.code != 0 ? tell_lost(db, err)
				  : run_plain(db, HN_SQLITE_STMT_BEGIN_PART, err, "begin to write");
}

static int end_part(struct hn_sqlite *db, int rc, struct hn_err *err)
{
	struct hn_err why = { 0 };

	if (rc != 0) {
		(void)hn_fail(&why, -rc, "%s", err != NULL ? err->msg : "not stored");
		if (is_lost(db, &why)) {
			return rc;
		}
		if (run_plain(db, HN_SQLITE_STMT_ROLLBACK_PART, &why, "undo") != 0 &&
		    !is_lost(db, &why)) {
			db->broken = true; /* half of it would be kept */
			return rc;
		}
	}
	if (db->lost.code == 0 && run_plain(db, HN_SQLITE_STMT_COMMIT_PART, &why, "write") != 0) {
		(void)is_lost(db, &why);
		rc = rc != 0 ? rc : hn_fail(err, why.code, "%s", why.msg);
	}
	return rc;
}

int hn_sqlite_begin(struct hn_sqlite *db, struct hn_err *err)
{
	int rc;

	if (db->grouped) {
		return begin_part(db, err);
	}
	if (db->broken) {
		return hn_fail(err, HONE_E_STORE,
			       "%s: stopped after an input/output error; restart hone",
			       db->path);
	}
	rc = hn_sqlite_place_still(db, err);
	if (rc != 0) {
		return rc;
	}
	db->changes = sqlite3_total_changes(db->sql);
	return run_plain(db, HN_SQLITE_STMT_BEGIN, err, "begin to write");
}

int hn_sqlite_end(struct hn_sqlite *db, int rc, struct hn_err *err)
{
	struct hn_mark mark = db->base.mark;

	if (db->grouped) {
		return end_part(db, rc, err);
	}
	rc = rc != 0 ? rc : count_commit(db, &mark, err);
	if (rc == 0) {
		rc = run_plain(db, HN_SQLITE_STMT_COMMIT, err, "write");
	}
	if (rc == 0 && db->counting) {
		db->base.mark = mark;
		/* a mark that stays behind is no damage; the next one makes up for it */
		db->mark_behind = hn_mark_write(db->mark_fd, &mark) != 0;
	}
	if (rc != 0 && !sqlite3_get_autocommit(db->sql)) {
		int ignored = run_plain(db, HN_SQLITE_STMT_ROLLBACK, NULL, "undo");

		db->broken |= ignored != 0;
	}
	return rc;
}

int hn_sqlite_group_begin(struct hn_sqlite *db, struct hn_err *err)
{
	int rc = hn_sqlite_begin(db, err);

	db->grouped = rc == 0;
	db->lost = (struct hn_err){ 0 };
	return rc;
}

int hn_sqlite_group_end(struct hn_sqlite *db, struct hn_err *err)
{
	int rc;

	hn_assert(db->grouped);
	rc = db->lost.code != 0 ? tell_lost(db, err) : 0;
	if (rc == 0 && db->broken) {
		rc = hn_fail(err, HONE_E_STORE, "%s: a part of it could not be undone", db->path);
	}
	db->grouped = false;
	return hn_sqlite_end(db, rc, err);
}

int hn_sqlite_probe(struct hn_sqlite *db, struct hn_err *err)
{
	return run_plain(db, HN_SQLITE_STMT_COUNT_COMMIT, err, "write");
}

/* A failed bind (out of memory) shows at the step as a broken NOT NULL: nothing is
 * stored. */
void hn_sqlite_bind(sqlite3_stmt *s, int i, const char *text)
{
	sqlite3_bind_text64(s, i, text ? text : "", text ? strlen(text) : 0,
			    SQLITE_STATIC, SQLITE_UTF8);
}

const char *hn_sqlite_column(sqlite3_stmt *s, int i)
{
	const unsigned char *text = sqlite3_column_text(s, i);

	return text ? (const char *)text : "";
}

int hn_sqlite_one_text(struct hn_sqlite *db, sqlite3_stmt *s, struct hn_arena *a,
		       const char **ret, struct hn_err *err, const char *doing)
{
	int rc = 0, step = sqlite3_step(s);

	if (step == SQLITE_ROW) {
		*ret = hn_arena_strdup(a, hn_sqlite_column(s, 0));
	} else {
		rc = step == SQLITE_DONE ? -HONE_E_NOT_FOUND : hn_sqlite_fail(db, err, doing);
	}
	sqlite3_reset(s);
	return rc;
}
