/* db/sqlite/model.c -- trained cost models, as the text they write themselves. */
#include "base/clock.h"
#include "db/sqlite/sqlite_int.h"

int hn_sqlite_put_model(struct hn_db *base, const char *target, const char *name,
			const char *text, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_PUT_TARGET, &s, err);

	if (rc == 0) {
		hn_sqlite_bind(s, 1, target);
		rc = hn_sqlite_run(db, s, err, "store a name");
	}
	rc = rc ? rc : hn_sqlite_stmt(db, HN_SQLITE_STMT_PUT_MODEL, &s, err);
	if (rc == 0) {
		hn_sqlite_bind(s, 1, target);
		hn_sqlite_bind(s, 2, name);
		hn_sqlite_bind(s, 3, text);
		sqlite3_bind_int64(s, 4, hn_clock_unix_ms());
		rc = hn_sqlite_run(db, s, err, "store a model");
	}
	return rc;
}

int hn_sqlite_model(struct hn_db *base, const char *target, const char *name,
		    struct hn_arena *a, const char **ret, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_GET_MODEL, &s, err);

	if (rc != 0) {
		return rc;
	}
	hn_sqlite_bind(s, 1, target);
	hn_sqlite_bind(s, 2, name);
	return hn_sqlite_one_text(db, s, a, ret, err, "read a model");
}
