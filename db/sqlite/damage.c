/* db/sqlite/damage.c -- what was found damaged or missing: kept until somebody has seen it. */
#include "base/clock.h"
#include "db/sqlite/sqlite_int.h"

int hn_sqlite_load_damage(struct hn_sqlite *db, struct hn_err *err)
{
	sqlite3_stmt *s;
	int step, rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_DAMAGE, &s, err);

	if (rc != 0) {
		return rc;
	}
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		hn_db_note(&db->base, hn_sqlite_column(s, 0), hn_sqlite_column(s, 1),
			   sqlite3_column_int(s, 2) ? HN_DB_SETTLED : HN_DB_KEPT);
	}
	sqlite3_reset(s);
	return step == SQLITE_DONE ? 0 : hn_sqlite_fail(db, err, "read what is damaged");
}

int hn_sqlite_keep_damage(struct hn_sqlite *db, struct hn_err *err)
{
	sqlite3_stmt *s;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < db->base.n_damage; i++) {
		struct hn_db_damage *d = &db->base.damage[i];

		if (d->how != HN_DB_FOUND) {
			continue;
		}
		rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_PUT_DAMAGE, &s, err);
		if (rc == 0) {
			hn_sqlite_bind(s, 1, d->place);
			hn_sqlite_bind(s, 2, d->detail);
			sqlite3_bind_int64(s, 3, hn_clock_unix_ms());
			rc = hn_sqlite_run(db, s, err, "keep what is damaged");
		}
		d->how = rc == 0 ? HN_DB_KEPT : d->how;
	}
	return rc;
}

int hn_sqlite_settle(struct hn_db *base, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int rc = hn_sqlite_begin(db, err);

	if (rc != 0) {
		return rc;
	}
	rc = hn_sqlite_keep_damage(db, err);
	rc = rc != 0 ? rc : hn_sqlite_stmt(db, HN_SQLITE_STMT_SETTLE, &s, err);
	rc = rc != 0 ? rc : hn_sqlite_run(db, s, err, "settle what is damaged");
	rc = hn_sqlite_end(db, rc, err);
	if (rc == 0) {
		hn_db_forget_damage(&db->base);
		rc = hn_sqlite_load_damage(db, err);
	}
	return rc;
}
