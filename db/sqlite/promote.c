/* db/sqlite/promote.c -- what finals found, and the fastest record: see db/store/best.c. */
#include <math.h>

#include "db/sqlite/sqlite_int.h"

int hn_sqlite_promotion(struct hn_db *base, const struct hn_db_pair *pair,
			struct hn_promotion *ret, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int step, rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_PROMOTION, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int64(s, 1, pair->workload);
	sqlite3_bind_int64(s, 2, pair->target);
	step = sqlite3_step(s);
	if (step == SQLITE_ROW) {
		*ret = (struct hn_promotion){
			.record_id = sqlite3_column_int64(s, 0),
			.judged_id = sqlite3_column_int64(s, 1),
			.median_ns = sqlite3_column_double(s, 2),
			.gain_lo = sqlite3_column_double(s, 3),
			.gain_hi = sqlite3_column_double(s, 4),
			.n_entrant = (uint32_t)sqlite3_column_int64(s, 5),
			.n_block = (uint32_t)sqlite3_column_int64(s, 6),
			.unix_ms = sqlite3_column_int64(s, 7),
			.replaced_id = sqlite3_column_int64(s, 8),
		};
	} else {
		rc = step == SQLITE_DONE ? -HONE_E_NOT_FOUND
					 : hn_sqlite_fail(db, err, "read a promotion");
	}
	sqlite3_reset(s);
	return rc;
}

int hn_sqlite_put_promotion(struct hn_db *base, const struct hn_db_pair *pair,
			    const struct hn_promotion *p, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_PUT_PROMOTION, &s, err);

	if (rc == 0) {
		sqlite3_bind_int64(s, 1, pair->workload);
		sqlite3_bind_int64(s, 2, pair->target);
		sqlite3_bind_int64(s, 3, p->record_id);
		sqlite3_bind_int64(s, 4, p->judged_id);
		sqlite3_bind_double(s, 5, p->median_ns);
		sqlite3_bind_double(s, 6, p->gain_lo);
		sqlite3_bind_double(s, 7, p->gain_hi);
		sqlite3_bind_int64(s, 8, p->n_entrant);
		sqlite3_bind_int64(s, 9, p->n_block);
		sqlite3_bind_int64(s, 10, p->unix_ms);
		sqlite3_bind_int64(s, 11, p->replaced_id);
		rc = hn_sqlite_run(db, s, err, "store a promotion");
	}
	if (rc == 0 && sqlite3_changes(db->sql) == 0) {
		rc = hn_fail(err, HONE_E_INVALID,
			     "record %lld is no correct and proved one of this workload",
			     (long long)p->record_id);
	}
	return rc;
}

/* By the covering index alone. */
int hn_sqlite_fastest(struct hn_db *base, const struct hn_db_pair *pair, int64_t after,
		      double below, int64_t *ret_record, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	bool any = after == 0 && isinf(below);
	sqlite3_stmt *s;
	int step, rc = hn_sqlite_stmt(
			  db, any ? HN_SQLITE_STMT_BEST_ID : HN_SQLITE_STMT_BEST_ID_SINCE, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int64(s, 1, pair->workload);
	sqlite3_bind_int64(s, 2, pair->target);
	if (!any) {
		sqlite3_bind_double(s, 3, below);
		sqlite3_bind_int64(s, 4, after);
	}
	step = sqlite3_step(s);
	if (step == SQLITE_ROW) {
		*ret_record = sqlite3_column_int64(s, 0);
	} else {
		rc = step == SQLITE_DONE ? -HONE_E_NOT_FOUND
					 : hn_sqlite_fail(db, err, "read the best record");
	}
	sqlite3_reset(s);
	return rc;
}
