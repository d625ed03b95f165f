/* db/sqlite/migrate.c -- old stores are carried forward, newer and foreign ones refused.
 *
 * PRAGMA user_version is the schema's version and changes in the same transaction as the
 * schema, so that a crash leaves the version before or the version after.
 */
#include <stdio.h>
#include <string.h>

#include "db/sqlite/sqlite_int.h"
#include "db/sqlite/migrate/steps.h"

#define FIRST_COUNTED 9 /* the schema from which on rows are counted */

struct migration {
	int version;
	const char *sql;
};

static const struct migration migrations[] = {
#define MIGRATION(version, name) {version, hn_sqlite_migrate_##name},
#include "db/sqlite/migrate/migrations.def"
#undef MIGRATION
};

static int read_number(struct hn_sqlite *db, const char *sql, int64_t *ret,
		       struct hn_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = 0;

	if (sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL) != SQLITE_OK ||
	    sqlite3_step(s) != SQLITE_ROW) {
		rc = hn_sqlite_fail(db, err, "read the store");
	} else {
		*ret = sqlite3_column_int64(s, 0);
	}
	sqlite3_finalize(s);
	return rc;
}

int hn_sqlite_migrate_step(struct hn_sqlite *db, int version, const char *sql, struct hn_err *err)
{
	char numbers[120];
	int rc = hn_sqlite_begin(db, err);

	if (rc != 0) {
		return rc;
	}
	snprintf(numbers, sizeof(numbers),
		 "PRAGMA application_id = %d; PRAGMA user_version = %d",
		 HN_SQLITE_APPLICATION_ID, version);
	if (sqlite3_exec(db->sql, sql, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(db->sql, numbers, NULL, NULL, NULL) != SQLITE_OK) {
		rc = hn_sqlite_fail(db, err, "bring the store to its new version");
	}
	return hn_sqlite_end(db, rc, err);
}

static int check_ours(struct hn_sqlite *db, int64_t version, struct hn_err *err)
{
	int64_t application = 0, n_table = 0;
	int rc = read_number(db, "PRAGMA application_id", &application, err);

	if (rc == 0) {
		rc = read_number(db, "SELECT count(*) FROM sqlite_schema", &n_table, err);
	}
	if (rc != 0) {
		return rc;
	}
	if (version > HN_DB_SCHEMA && application == HN_SQLITE_APPLICATION_ID) {
		return hn_fail(
			err, HONE_E_VERSION,
			"%s: written by a newer hone (schema %lld, this one knows %d); "
			"use that hone or another directory",
			db->path, (long long)version, HN_DB_SCHEMA);
	}
	if (application != HN_SQLITE_APPLICATION_ID && (n_table > 0 || version != 0)) {
		return hn_fail(
			err, HONE_E_INVALID,
			"%s: a database of another program; choose another directory",
			db->path);
	}
	return 0;
}

/* The schema decides what every statement means, and no checksum is over it: it must be, word for
 * word, what the steps make. */
static int check_schema(struct hn_sqlite *db, struct hn_err *err)
{
	static const char schema[] = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
				     " ORDER BY type, name";
	struct hn_sqlite fresh = { .path = db->path };
	sqlite3_stmt *want = NULL, *have = NULL;
	int rc = 0, step;

	if (sqlite3_open(":memory:", &fresh.sql) != SQLITE_OK ||
	    hn_sqlite_add_functions(fresh.sql, NULL) != SQLITE_OK) {
		rc = hn_fail(err, HONE_E_NOMEM, "%s: out of memory", db->path);
	}
	for (size_t i = 0; rc == 0 && i < HN_COUNT_OF(migrations); i++) {
		if (sqlite3_exec(fresh.sql, migrations[i].sql, NULL, NULL, NULL) != SQLITE_OK) {
			rc = hn_sqlite_fail(&fresh, err, "make a schema");
		}
	}
	if (rc == 0 && (sqlite3_prepare_v2(fresh.sql, schema, -1, &want, NULL) != SQLITE_OK ||
			sqlite3_prepare_v2(db->sql, schema, -1, &have, NULL) != SQLITE_OK)) {
		rc = hn_sqlite_fail(db, err, "read the schema");
	}
	do {
		step = rc == 0 ? sqlite3_step(want) : SQLITE_DONE;
		bool differs = rc == 0 && sqlite3_step(have) != step;

		for (int i = 0; rc == 0 && !differs && step == SQLITE_ROW && i < 4; i++) {
			differs = strcmp(hn_sqlite_column(want, i), hn_sqlite_column(have, i)) != 0;
		}
		if (differs) {
			rc = hn_fail(err, HONE_E_CORRUPT,
				     "%s: damaged (its schema is not version %d's); put a copy "
				     "of it back, or move hone.sqlite and hone.sqlite-wal away: "
				     "best.snapshot keeps its answers",
				     db->path, HN_DB_SCHEMA);
		}
	} while (rc == 0 && step == SQLITE_ROW);
	sqlite3_finalize(want);
	sqlite3_finalize(have);
	sqlite3_close(fresh.sql);
	return rc;
}

int hn_sqlite_migrate(struct hn_sqlite *db, bool *ret_new, struct hn_err *err)
{
	int64_t version = 0;
	int rc = read_number(db, "PRAGMA user_version", &version, err);

	if (rc == 0) {
		rc = check_ours(db, version, err);
	}
	rc = rc != 0 ? rc : hn_sqlite_check_log(db, err);
	rc = rc != 0 ? rc : hn_sqlite_check_form(db, err);
	*ret_new = version < FIRST_COUNTED;
	for (size_t i = 0; rc == 0 && i < HN_COUNT_OF(migrations); i++) {
		if (migrations[i].version > version) {
			rc = hn_sqlite_migrate_step(db, migrations[i].version,
						migrations[i].sql, err);
		}
	}
	return rc != 0 ? rc : check_schema(db, err);
}
