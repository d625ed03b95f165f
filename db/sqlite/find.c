/* db/sqlite/find.c -- by which number the store knows a text, and keys by their beginning. */
#include "db/sqlite/sqlite_int.h"

int hn_sqlite_find_id(struct hn_sqlite *db, enum hn_sqlite_stmt which, const char *const *text,
		  uint32_t n_text, int64_t *ret, struct hn_err *err)
{
	sqlite3_stmt *s;
	int step, rc = hn_sqlite_stmt(db, which, &s, err);

	if (rc != 0) {
		return rc;
	}
	for (uint32_t i = 0; i < n_text; i++) {
		hn_sqlite_bind(s, (int)i + 1, text[i]);
	}
	step = sqlite3_step(s);
	if (step == SQLITE_ROW) {
		*ret = sqlite3_column_int64(s, 0);
		rc = 1;
	} else if (step != SQLITE_DONE) {
		rc = hn_sqlite_fail(db, err, "read");
	}
	sqlite3_reset(s);
	return rc;
}

int hn_sqlite_intern(struct hn_sqlite *db, enum hn_sqlite_stmt put, enum hn_sqlite_stmt find,
		  const char *const *text, uint32_t n_text, int64_t *ret,
		  struct hn_err *err)
{
	int found = hn_sqlite_find_id(db, find, text, n_text, ret, err);
	sqlite3_stmt *s;
	int rc;

	if (found != 0) {
		return found > 0 ? 0 : found;
	}
	rc = hn_sqlite_stmt(db, put, &s, err);
	if (rc != 0) {
		return rc;
	}
	for (uint32_t i = 0; i < n_text; i++) {
		hn_sqlite_bind(s, (int)i + 1, text[i]);
	}
	rc = hn_sqlite_run(db, s, err, "store a name");
	*ret = sqlite3_last_insert_rowid(db->sql);
	return rc;
}

int hn_sqlite_workload_id(struct hn_sqlite *db, const char *key, int64_t *ret,
			  struct hn_err *err)
{
	int found = hn_sqlite_find_id(db, HN_SQLITE_STMT_WORKLOAD_ID, &key, 1, ret, err);

	if (found == 0) {
		return hn_fail(err, HONE_E_NOT_FOUND, "no workload %s in the store", key);
	}
	return found > 0 ? 0 : found;
}

int hn_sqlite_pair(struct hn_db *base, const char *workload, const char *target,
		   struct hn_db_pair *ret, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	int found = 0;

	*ret = (struct hn_db_pair){ .workload = 0 };
	found = hn_sqlite_find_id(db, HN_SQLITE_STMT_WORKLOAD_ID, &workload, 1, &ret->workload,
				  err);
	if (found > 0) {
		found = hn_sqlite_find_id(db, HN_SQLITE_STMT_TARGET_ID, &target, 1,
					  &ret->target, err);
	}
	return found < 0 ? found : found == 0 ? -HONE_E_NOT_FOUND : 0;
}

int hn_sqlite_keys(struct hn_db *base, const char *word, hn_db_key_fn each, void *ctx,
		   struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int step, rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_KEYS, &s, err);

	if (rc != 0) {
		return rc;
	}
	hn_sqlite_bind(s, 1, word);
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		each(ctx, hn_sqlite_column(s, 0), hn_sqlite_column(s, 1));
	}
	if (step != SQLITE_DONE) {
		rc = hn_sqlite_fail(db, err, "look for a key");
	}
	sqlite3_reset(s);
	return rc;
}
