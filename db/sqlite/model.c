/* db/sqlite/model.c -- trained cost models, as the text they write themselves. */
#include "base/clock.h"
#include "db/sqlite/db_int.h"

int hn_db_put_model(struct hn_db *db, const char *target, const char *name, const char *text,
		    struct hn_err *err)
{
	sqlite3_stmt *s;
	int rc = hn_db_begin(db, err);

	if (rc != 0) {
		return rc;
	}
	rc = hn_db_stmt(db, HN_DB_STMT_PUT_TARGET, &s, err);
	if (rc == 0) {
		hn_db_bind(s, 1, target);
		rc = hn_db_run(db, s, err, "store a name");
	}
	rc = rc ? rc : hn_db_stmt(db, HN_DB_STMT_PUT_MODEL, &s, err);
	if (rc == 0) {
		hn_db_bind(s, 1, target);
		hn_db_bind(s, 2, name);
		hn_db_bind(s, 3, text);
		sqlite3_bind_int64(s, 4, hn_clock_unix_ms());
		rc = hn_db_run(db, s, err, "store a model");
	}
	return hn_db_end(db, rc, err);
}

int hn_db_get_model(struct hn_db *db, const char *target, const char *name, struct hn_arena *a,
		    const char **ret, struct hn_err *err)
{
	sqlite3_stmt *s;
	int step, rc = hn_db_stmt(db, HN_DB_STMT_GET_MODEL, &s, err);

	if (rc != 0) {
		return rc;
	}
	hn_db_bind(s, 1, target);
	hn_db_bind(s, 2, name);
	*ret = NULL;
	step = sqlite3_step(s);
	if (step == SQLITE_ROW) {
		*ret = hn_arena_strdup(a, hn_db_column(s, 0));
	} else if (step != SQLITE_DONE) {
		rc = hn_db_fail(db, err, "read a model");
	}
	sqlite3_reset(s);
	return rc;
}
