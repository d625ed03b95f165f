/* db/sqlite/damage.c -- what was found damaged or missing: kept until somebody has seen it.
 *
 * As long as something of it is unsettled, every answer out of the store says so (hn_db_notice).
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "db/sqlite/db_int.h"

#define MOST_NAMED 3 /* in a notice */

int hn_db_load_damage(struct hn_db *db, struct hn_err *err)
{
	sqlite3_stmt *s;
	int step, rc = hn_db_stmt(db, HN_DB_STMT_DAMAGE, &s, err);

	if (rc != 0) {
		return rc;
	}
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		hn_db_note(db, hn_db_column(s, 0), hn_db_column(s, 1),
			   sqlite3_column_int(s, 2) ? HN_DB_SETTLED : HN_DB_KEPT);
	}
	sqlite3_reset(s);
	return step == SQLITE_DONE ? 0 : hn_db_fail(db, err, "read what is damaged");
}

bool hn_db_has_found(const struct hn_db *db)
{
	for (uint32_t i = 0; i < db->n_damage; i++) {
		if (db->damage[i].how == HN_DB_FOUND) {
			return true;
		}
	}
	return false;
}

int hn_db_keep_damage(struct hn_db *db, struct hn_err *err)
{
	sqlite3_stmt *s;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < db->n_damage; i++) {
		struct hn_db_damage *d = &db->damage[i];

		if (d->how != HN_DB_FOUND) {
			continue;
		}
		rc = hn_db_stmt(db, HN_DB_STMT_PUT_DAMAGE, &s, err);
		if (rc == 0) {
			hn_db_bind(s, 1, d->place);
			hn_db_bind(s, 2, d->detail);
			sqlite3_bind_int64(s, 3, hn_clock_unix_ms());
			rc = hn_db_run(db, s, err, "keep what is damaged");
		}
		d->how = rc == 0 ? HN_DB_KEPT : d->how;
	}
	return rc;
}

void hn_db_damage(struct hn_db *db, hn_db_damage_fn each, void *ctx)
{
	for (uint32_t i = 0; i < db->n_damage; i++) {
		if (db->damage[i].how != HN_DB_SETTLED) {
			each(ctx, db->damage[i].place, db->damage[i].detail);
		}
	}
}

void hn_db_on_damage(struct hn_db *db, hn_db_damage_fn each, void *ctx)
{
	db->on_damage = each;
	db->on_damage_ctx = ctx;
}

uint32_t hn_db_notice(const struct hn_db *db, struct hn_buf *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < db->n_damage; i++) {
		const struct hn_db_damage *d = &db->damage[i];

		if (d->how == HN_DB_FOUND || d->how == HN_DB_KEPT) {
			if (n < MOST_NAMED) {
				hn_buf_printf(ret, "%s%s: %s", n > 0 ? "; " : "the store is damaged: ",
					      d->place, d->detail);
			}
			n++;
		}
	}
	if (n > MOST_NAMED) {
		hn_buf_printf(ret, "; and %u more", n - MOST_NAMED);
	}
	if (n > 0) {
		hn_buf_puts(ret, " (`hone verify`, while honed is stopped, lists and settles it)");
	}
	return n;
}

int hn_db_settle(struct hn_db *db, struct hn_err *err)
{
	sqlite3_stmt *s;
	int rc = hn_db_begin(db, err);

	if (rc != 0) {
		return rc;
	}
	rc = hn_db_keep_damage(db, err);
	rc = rc != 0 ? rc : hn_db_stmt(db, HN_DB_STMT_SETTLE, &s, err);
	rc = rc != 0 ? rc : hn_db_run(db, s, err, "settle what is damaged");
	rc = hn_db_end(db, rc, err);
	if (rc == 0) {
		hn_db_forget_damage(db);
		rc = hn_db_load_damage(db, err);
	}
	return rc;
}
