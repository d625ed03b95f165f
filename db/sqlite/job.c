/* db/sqlite/job.c -- jobs as the daemon wrote them, so that a killed one resumes. */
#include "base/clock.h"
#include "db/sqlite/sqlite_int.h"

int hn_sqlite_put_job(struct hn_db *base, const char *id, const char *json, bool finished,
		      struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_PUT_JOB, &s, err);

	if (rc != 0) {
		return rc;
	}
	hn_sqlite_bind(s, 1, id);
	hn_sqlite_bind(s, 2, json);
	sqlite3_bind_int(s, 3, finished);
	sqlite3_bind_int64(s, 4, hn_clock_unix_ms());
	return hn_sqlite_run(db, s, err, "store a job");
}

static int each_job(struct hn_sqlite *db, sqlite3_stmt *s, hn_db_job_fn each, void *ctx,
		    struct hn_err *err, const char *doing)
{
	int step;

	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		each(ctx, hn_sqlite_column(s, 0), sqlite3_column_int64(s, 1));
	}
	sqlite3_reset(s);
	return step == SQLITE_DONE ? 0 : hn_sqlite_fail(db, err, doing);
}

int hn_sqlite_jobs(struct hn_db *base, bool unfinished_only, hn_db_job_fn each, void *ctx,
		   struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_JOBS, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int(s, 1, unfinished_only ? 0 : 1);
	return each_job(db, s, each, ctx, err, "read the jobs");
}

int hn_sqlite_ended_jobs(struct hn_db *base, uint32_t most, hn_db_job_fn each, void *ctx,
			 struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_ENDED_JOBS, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int64(s, 1, most);
	return each_job(db, s, each, ctx, err, "read the jobs that ended");
}
