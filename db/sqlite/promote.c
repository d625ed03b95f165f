/* promote.c -- what finals found, and so which record is the best.
 *
 * A promotion names the holder that its final was held against, and is written only while that
 * one still holds the title: what was compared with another says nothing of the new holder.
 * A final settles all records before it.  Of the later ones only a time that screening's
 * noise does not explain (HN_DB_BELIEVED) is taken at its word, and only until their own
 * final: a tune that was stopped half-way has not been for nothing.
 */
#include <math.h>

#include "base/clock.h"
#include "db/sqlite/db_int.h"

static int pair_ids(struct hn_db *db, const char *workload, const char *target,
		    int64_t *ret_workload, int64_t *ret_target, struct hn_err *err)
{
	int found = hn_db_find_id(db, HN_DB_STMT_WORKLOAD_ID, &workload, 1, ret_workload,
				  err);

	if (found > 0) {
		found = hn_db_find_id(db, HN_DB_STMT_TARGET_ID, &target, 1, ret_target,
				      err);
	}
	return found < 0 ? found : found == 0 ? -HONE_E_NOT_FOUND : 0;
}

static int latest(struct hn_db *db, int64_t workload, int64_t target,
		  struct hn_promotion *ret, struct hn_err *err)
{
	sqlite3_stmt *s;
	int step, rc = hn_db_stmt(db, HN_DB_STMT_PROMOTION, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int64(s, 1, workload);
	sqlite3_bind_int64(s, 2, target);
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
					 : hn_db_fail(db, err, "read a promotion");
	}
	sqlite3_reset(s);
	return rc;
}

int hn_db_promotion(struct hn_db *db, const char *workload, const char *target,
		    struct hn_promotion *ret, struct hn_err *err)
{
	int64_t workload_row = 0, target_row = 0;
	int rc = pair_ids(db, workload, target, &workload_row, &target_row, err);

	return rc != 0 ? rc : latest(db, workload_row, target_row, ret, err);
}

static int check(const struct hn_promotion *p, struct hn_err *err)
{
	if (!(isfinite(p->median_ns) && p->median_ns > 0) || !isfinite(p->gain_lo) ||
	    !isfinite(p->gain_hi) || p->n_entrant == 0 || p->judged_id < p->record_id) {
		return hn_fail(err, HONE_E_INVALID,
			       "a promotion needs a time, an interval, its entrants and a "
			       "record it has judged");
	}
	return 0;
}

/* Whether the title is still held by whom the final was held against: inside the transaction. */
static int check_holder(struct hn_db *db, int64_t workload, int64_t target,
			const struct hn_promotion *p, struct hn_err *err)
{
	struct hn_promotion now = {.record_id = 0};
	int rc = latest(db, workload, target, &now, err);

	if (rc != 0 && rc != -HONE_E_NOT_FOUND) {
		return rc;
	}
	if (now.record_id != p->replaced_id) {
		return hn_fail(err, HONE_E_BUSY,
			       "the final was held against record %lld, and the holder is %lld",
			       (long long)p->replaced_id, (long long)now.record_id);
	}
	return 0;
}

int hn_db_promote(struct hn_db *db, const char *workload, const char *target,
		  const struct hn_promotion *p, struct hn_err *err)
{
	int64_t workload_row = 0, target_row = 0;
	sqlite3_stmt *s;
	int rc = check(p, err);

	rc = rc != 0 ? rc
		     : pair_ids(db, workload, target, &workload_row, &target_row, err);
	if (rc == -HONE_E_NOT_FOUND) {
		return hn_fail(err, HONE_E_INVALID, "nothing of workload %s for %s to promote",
			       workload, target);
	}
	rc = rc != 0 ? rc : hn_db_begin(db, err);
	if (rc != 0) {
		return rc;
	}
	rc = check_holder(db, workload_row, target_row, p, err);
	rc = rc != 0 ? rc : hn_db_stmt(db, HN_DB_STMT_PUT_PROMOTION, &s, err);
	if (rc == 0) {
		sqlite3_bind_int64(s, 1, workload_row);
		sqlite3_bind_int64(s, 2, target_row);
		sqlite3_bind_int64(s, 3, p->record_id);
		sqlite3_bind_int64(s, 4, p->judged_id);
		sqlite3_bind_double(s, 5, p->median_ns);
		sqlite3_bind_double(s, 6, p->gain_lo);
		sqlite3_bind_double(s, 7, p->gain_hi);
		sqlite3_bind_int64(s, 8, p->n_entrant);
		sqlite3_bind_int64(s, 9, p->n_block);
		sqlite3_bind_int64(s, 10, p->unix_ms);
		sqlite3_bind_int64(s, 11, p->replaced_id);
		rc = hn_db_run(db, s, err, "store a promotion");
	}
	if (rc == 0 && sqlite3_changes(db->sql) == 0) {
		rc = hn_fail(err, HONE_E_INVALID,
			     "record %lld is no correct and proved one of this workload",
			     (long long)p->record_id);
	}
	return hn_db_end(db, rc, err);
}

/* The smallest median, by the covering index alone; of records after `since` only when it is
 * below `below`. */
static int smallest(struct hn_db *db, enum hn_db_stmt which, int64_t workload,
		    int64_t target, double below, int64_t since, int64_t *ret,
		    struct hn_err *err)
{
	sqlite3_stmt *s;
	int step, rc = hn_db_stmt(db, which, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int64(s, 1, workload);
	sqlite3_bind_int64(s, 2, target);
	if (which == HN_DB_STMT_BEST_ID_SINCE) {
		sqlite3_bind_double(s, 3, below);
		sqlite3_bind_int64(s, 4, since);
	}
	step = sqlite3_step(s);
	if (step == SQLITE_ROW) {
		*ret = sqlite3_column_int64(s, 0);
	} else {
		rc = step == SQLITE_DONE ? -HONE_E_NOT_FOUND
					 : hn_db_fail(db, err, "read the best record");
	}
	sqlite3_reset(s);
	return rc;
}

int hn_db_best_row(struct hn_db *db, int64_t workload, int64_t target, int64_t *ret,
		   double *ret_median_ns, struct hn_err *err)
{
	struct hn_promotion p;
	int rc = latest(db, workload, target, &p, err);

	*ret_median_ns = 0;
	if (rc == -HONE_E_NOT_FOUND) {
		return smallest(db, HN_DB_STMT_BEST_ID, workload, target, 0, 0, ret, err);
	}
	if (rc != 0) {
		return rc;
	}
	rc = smallest(db, HN_DB_STMT_BEST_ID_SINCE, workload, target,
		      HN_DB_BELIEVED * p.median_ns, p.judged_id, ret, err);
	if (rc == -HONE_E_NOT_FOUND) {
		*ret = p.record_id;
		*ret_median_ns = p.median_ns;
		rc = 0;
	}
	return rc;
}
