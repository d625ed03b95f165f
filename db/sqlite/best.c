/* db/sqlite/best.c -- the best record of a pair, and the second copy that best.snapshot is of it.
 *
 * A record that is damaged or missing here may stand in the snapshot as it was; then that is
 * still the answer.  Where neither can say that nothing better was lost, the answer says so.
 */
#include <stdlib.h>

#include "db/snapshot/snapshot_int.h"
#include "db/sqlite/db_int.h"

int hn_db_best_by_id(struct hn_db *db, int64_t workload, int64_t target,
		     struct hn_arena *a, struct hn_record *ret, struct hn_err *err)
{
	double *sample = NULL;
	struct hn_record r;
	sqlite3_stmt *s;
	int64_t row = 0;
	double median_ns = 0;
	int rc = hn_db_best_row(db, workload, target, &row, &median_ns, err);

	if (rc == 0) {
		rc = hn_db_stmt(db, HN_DB_STMT_RECORD_BY_ID, &s, err);
	}
	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int64(s, 1, row);
	rc = sqlite3_step(s) == SQLITE_ROW ? hn_db_read_record(db, s, &sample, &r, err)
					   : hn_db_fail(db, err, "read the best record");
	if (rc == 0) {
		hn_db_keep_record(&r, a);
		r.median_ns = median_ns > 0 ? median_ns : r.median_ns;
		*ret = r;
	}
	free(sample);
	sqlite3_reset(s);
	return rc;
}

bool hn_db_has_record(struct hn_db *db, const struct hn_record *r)
{
	sqlite3_stmt *s;
	bool has;

	if (hn_db_stmt(db, HN_DB_STMT_SAME_RECORD, &s, NULL) != 0) {
		return false;
	}
	sqlite3_bind_int64(s, 1, r->id);
	hn_db_bind(s, 2, r->steps);
	hn_db_bind(s, 3, r->workload);
	hn_db_bind(s, 4, r->target);
	has = sqlite3_step(s) == SQLITE_ROW;
	sqlite3_reset(s);
	return has;
}

static bool witnessed(const struct hn_db *db, const char *workload, const char *target,
		      struct hn_snapshot_entry *ret)
{
	return db->witness && hn_snapshot_find(db->witness, workload, target, ret, NULL) == 0;
}

struct hn_naive hn_db_witness_naive(const struct hn_db *db, const char *workload,
				    const char *target)
{
	struct hn_snapshot_entry e;

	return witnessed(db, workload, target, &e) ? e.naive : (struct hn_naive){ .ns = 0 };
}

bool hn_db_in_doubt(const struct hn_db *db, const struct hn_record *r)
{
	struct hn_snapshot_entry e;
	struct hn_mark then;

	if (db->n_unsettled == 0) {
		return false;
	}
	if (!db->witness || !db->witness_fresh) {
		return true;
	}
	then = hn_snapshot_mark(db->witness);
	if (r->id > then.of[HN_MARK_record].last) {
		return false; /* measured since, and better than what was known then */
	}
	return !witnessed(db, r->workload, r->target, &e) || r->id != e.best.id ||
	       r->median_ns != e.best.median_ns || e.best.in_doubt;
}

int hn_db_best(struct hn_db *db, const char *workload, const char *target,
	       struct hn_arena *a, struct hn_record *ret, struct hn_err *err)
{
	int64_t workload_row = 0, target_row = 0;
	struct hn_snapshot_entry e;
	bool known = witnessed(db, workload, target, &e);
	int found, rc = hn_db_place_still(db, err);

	if (rc != 0) {
		return rc;
	}
	found = hn_db_find_id(db, HN_DB_STMT_WORKLOAD_ID, &workload, 1, &workload_row, err);

	if (found > 0) {
		found = hn_db_find_id(db, HN_DB_STMT_TARGET_ID, &target, 1, &target_row, err);
	}
	if (found < 0) {
		return found;
	}
	rc = found == 0 ? -HONE_E_NOT_FOUND
			: hn_db_best_by_id(db, workload_row, target_row, a, ret, err);
	if (known && (rc == -HONE_E_NOT_FOUND ||
		      (rc == 0 && e.best.median_ns < ret->median_ns)) &&
	    !hn_db_has_record(db, &e.best)) {
		*ret = e.best;
		hn_db_keep_record(ret, a);
		rc = 0;
	}
	if (rc == -HONE_E_NOT_FOUND) {
		return workload_row == 0 ? hn_fail(err, HONE_E_NOT_FOUND,
						   "no workload %s in the store", workload)
					 : hn_fail(err, HONE_E_NOT_FOUND,
						   "no correct and proved record of workload %s "
						   "for %s",
						   workload, target);
	}
	if (rc == 0) {
		ret->in_doubt = hn_db_in_doubt(db, ret);
	}
	return rc;
}
