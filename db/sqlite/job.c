/* db/sqlite/job.c -- jobs as the daemon wrote them, so that a killed one resumes. */
#include "base/clock.h"
#include "db/sqlite/db_int.h"

int hn_db_put_job(struct hn_db *db, const char *id, const char *json, bool finished,
		  struct hn_err *err)
{
	sqlite3_stmt *s;
	int rc = hn_db_begin(db, err);

	if (rc != 0) {
		return rc;
	}
	rc = hn_db_stmt(db, HN_DB_STMT_PUT_JOB, &s, err);
	if (rc != 0) {
		return hn_db_end(db, rc, err);
	}
	hn_db_bind(s, 1, id);
	hn_db_bind(s, 2, json);
	sqlite3_bind_int(s, 3, finished);
	sqlite3_bind_int64(s, 4, hn_clock_unix_ms());
	rc = hn_db_run(db, s, err, "store a job");
	return hn_db_end(db, rc, err);
}

int hn_db_jobs(struct hn_db *db, bool unfinished_only, struct hn_arena *a,
	       uint32_t *ret_n, const char *const **ret_json, struct hn_err *err)
{
	const char **json = NULL;
	uint32_t n = 0, cap = 0;
	sqlite3_stmt *s;
	int step, rc = hn_db_stmt(db, HN_DB_STMT_JOBS, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int(s, 1, unfinished_only ? 0 : 1);
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		if (n == cap) {
			const char **wider = HN_NEW_ARRAY(a, const char *, cap * 2 + 16);

			for (uint32_t i = 0; i < n; i++) {
				wider[i] = json[i];
			}
			json = wider;
			cap = cap * 2 + 16;
		}
		json[n++] = hn_arena_strdup(a, hn_db_column(s, 0));
	}
	sqlite3_reset(s);
	if (step != SQLITE_DONE) {
		return hn_db_fail(db, err, "read the jobs");
	}
	*ret_n = n;
	*ret_json = json;
	return 0;
}

int hn_db_ended_jobs(struct hn_db *db, uint32_t most,
		     void (*fn)(void *ctx, const char *json, int64_t unix_ms), void *ctx,
		     struct hn_err *err)
{
	sqlite3_stmt *s;
	int step, rc = hn_db_stmt(db, HN_DB_STMT_ENDED_JOBS, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int64(s, 1, most);
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		fn(ctx, hn_db_column(s, 0), sqlite3_column_int64(s, 1));
	}
	sqlite3_reset(s);
	return step == SQLITE_DONE ? 0 : hn_db_fail(db, err, "read the jobs that ended");
}
