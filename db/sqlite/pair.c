/* db/sqlite/pair.c -- what is kept of a workload and a target beside their records: naive times,
 * automatic schedules, and how many records there are. */
#include "base/clock.h"
#include "db/sqlite/sqlite_int.h"

/* A statement about a workload and a target, whose rows are bound as 1 and 2. */
static int pair_stmt(struct hn_sqlite *db, enum hn_sqlite_stmt which, const char *workload,
		     const char *target, sqlite3_stmt **ret, struct hn_err *err)
{
	int64_t workload_row = 0, target_row = 0;
	int rc = hn_sqlite_workload_id(db, workload, &workload_row, err);

	if (rc == 0) {
		rc = hn_sqlite_intern(db, HN_SQLITE_STMT_PUT_TARGET, HN_SQLITE_STMT_TARGET_ID, &target, 1,
			    &target_row, err);
	}
	if (rc == 0) {
		rc = hn_sqlite_stmt(db, which, ret, err);
	}
	if (rc == 0) {
		sqlite3_bind_int64(*ret, 1, workload_row);
		sqlite3_bind_int64(*ret, 2, target_row);
	}
	return rc;
}

int hn_sqlite_put_naive(struct hn_db *base, const char *workload, const char *target,
			const struct hn_naive *naive, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int rc = pair_stmt(db, HN_SQLITE_STMT_PUT_NAIVE, workload, target, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_double(s, 3, naive->ns);
	sqlite3_bind_int64(s, 4, hn_clock_unix_ms());
	if (naive->share > 0 && naive->share < 1) {
		sqlite3_bind_double(s, 5, naive->share);
	}
	return hn_sqlite_run(db, s, err, "store a naive time");
}

int hn_sqlite_naive(struct hn_db *base, const char *workload, const char *target,
		    struct hn_naive *ret, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int step, rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_GET_NAIVE, &s, err);

	if (rc != 0) {
		return rc;
	}
	hn_sqlite_bind(s, 1, workload);
	hn_sqlite_bind(s, 2, target);
	step = sqlite3_step(s);
	if (step == SQLITE_ROW) {
		*ret = (struct hn_naive){ .ns = sqlite3_column_double(s, 0),
					  .share = sqlite3_column_double(s, 1) };
	} else {
		rc = step == SQLITE_DONE ? -HONE_E_NOT_FOUND
					 : hn_sqlite_fail(db, err, "read a naive time");
	}
	sqlite3_reset(s);
	return rc;
}

int hn_sqlite_put_automatic(struct hn_db *base, const char *workload, const char *target,
			    const char *steps, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int rc = pair_stmt(db, HN_SQLITE_STMT_PUT_AUTOMATIC, workload, target, &s, err);

	if (rc != 0) {
		return rc;
	}
	hn_sqlite_bind(s, 3, steps);
	return hn_sqlite_run(db, s, err, "store an automatic schedule");
}

int hn_sqlite_automatic(struct hn_db *base, const char *workload, const char *target,
			struct hn_arena *a, const char **ret, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_GET_AUTOMATIC, &s, err);

	if (rc != 0) {
		return rc;
	}
	hn_sqlite_bind(s, 1, workload);
	hn_sqlite_bind(s, 2, target);
	return hn_sqlite_one_text(db, s, a, ret, err, "read an automatic schedule");
}

int hn_sqlite_tallies(struct hn_db *base, hn_db_tally_fn each, void *ctx, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int step = SQLITE_DONE, rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_TALLIES, &s, err);

	if (rc != 0) {
		return rc;
	}
	while (rc == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
		const struct hn_db_tally t = {
			.pair = { sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1) },
			.n_trial = (uint32_t)sqlite3_column_int64(s, 2),
			.n_failed = (uint32_t)sqlite3_column_int64(s, 3),
			.workload = { .key = hn_sqlite_column(s, 10),
				      .name = hn_sqlite_column(s, 4),
				      .dag_json = hn_sqlite_column(s, 5),
				      .flops = sqlite3_column_double(s, 6),
				      .cache = hn_sqlite_column(s, 8) },
			.target = hn_sqlite_column(s, 11),
			.naive = { .ns = sqlite3_column_double(s, 7),
				   .share = sqlite3_column_double(s, 9) },
			.automatic = hn_sqlite_column(s, 12),
		};

		rc = each(ctx, &t, err);
	}
	if (rc == 0 && step != SQLITE_DONE) {
		rc = hn_sqlite_fail(db, err, "read the bests");
	}
	sqlite3_reset(s);
	return rc;
}
