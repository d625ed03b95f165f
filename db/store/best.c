/* db/store/best.c -- which record is the best, and the second copy that best.snapshot is of it.
 *
 * A promotion names the holder that its final was held against, and is written only while that
 * one still holds the title: what was compared with another says nothing of the new holder.
 * A final settles all records before it.  Of the later ones only a time that screening's
 * noise does not explain (HN_DB_BELIEVED) is taken at its word, and only until their own
 * final: a tune that was stopped half-way has not been for nothing.
 *
 * A record that is damaged or missing in the store may stand in the snapshot as it was; then that
 * is still the answer.  Where neither can say that nothing better was lost, the answer says so.
 */
#include <math.h>

#include "db/snapshot/snapshot.h"
#include "db/store/ops.h"

int hn_db_promotion(struct hn_db *db, const char *workload, const char *target,
		    struct hn_promotion *ret, struct hn_err *err)
{
	struct hn_db_pair pair;
	int rc = db->ops->pair(db, workload, target, &pair, err);

	return rc != 0 ? rc : db->ops->promotion(db, &pair, ret, err);
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

/* Whether the title is still held by whom the final was held against: inside the write. */
static int check_holder(struct hn_db *db, const struct hn_db_pair *pair,
			const struct hn_promotion *p, struct hn_err *err)
{
	struct hn_promotion now = {.record_id = 0};
	int rc = db->ops->promotion(db, pair, &now, err);

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
	struct hn_db_pair pair;
	int rc = check(p, err);

	rc = rc != 0 ? rc : db->ops->pair(db, workload, target, &pair, err);
	if (rc == -HONE_E_NOT_FOUND) {
		return hn_fail(err, HONE_E_INVALID, "nothing of workload %s for %s to promote",
			       workload, target);
	}
	rc = rc != 0 ? rc : db->ops->begin(db, err);
	if (rc != 0) {
		return rc;
	}
	rc = check_holder(db, &pair, p, err);
	rc = rc != 0 ? rc : db->ops->put_promotion(db, &pair, p, err);
	return db->ops->end(db, rc, err);
}

/* *ret_median_ns: its time in the final that promoted it, 0 when none did. */
static int best_number(struct hn_db *db, const struct hn_db_pair *pair, int64_t *ret,
		       double *ret_median_ns, struct hn_err *err)
{
	struct hn_promotion p;
	int rc = db->ops->promotion(db, pair, &p, err);

	*ret_median_ns = 0;
	if (rc == -HONE_E_NOT_FOUND) {
		return db->ops->fastest(db, pair, 0, INFINITY, ret, err);
	}
	if (rc != 0) {
		return rc;
	}
	rc = db->ops->fastest(db, pair, p.judged_id, HN_DB_BELIEVED * p.median_ns, ret, err);
	if (rc == -HONE_E_NOT_FOUND) {
		*ret = p.record_id;
		*ret_median_ns = p.median_ns;
		rc = 0;
	}
	return rc;
}

int hn_db_best_of(struct hn_db *db, const struct hn_db_pair *pair, struct hn_arena *a,
		  struct hn_record *ret, struct hn_err *err)
{
	double median_ns = 0;
	int64_t number = 0;
	int rc = best_number(db, pair, &number, &median_ns, err);

	if (rc != 0) {
		return rc;
	}
	rc = db->ops->record(db, number, a, ret, err);
	if (rc == -HONE_E_NOT_FOUND) {
		return hn_fail(err, HONE_E_STORE, "%s: the best record, %lld, cannot be read",
			       db->dir, (long long)number);
	}
	if (rc == 0 && median_ns > 0) {
		ret->median_ns = median_ns;
	}
	return rc;
}

static bool witnessed(const struct hn_db *db, const char *workload, const char *target,
		      struct hn_snapshot_entry *ret)
{
	return db->witness && hn_snapshot_find(db->witness, workload, target, ret, NULL) == 0;
}

int hn_db_get_naive(struct hn_db *db, const char *workload, const char *target,
		    struct hn_naive *ret, struct hn_err *err)
{
	struct hn_snapshot_entry e;
	int rc = db->ops->naive(db, workload, target, ret, err);

	if (rc == -HONE_E_NOT_FOUND) {
		*ret = witnessed(db, workload, target, &e) ? e.naive
							   : (struct hn_naive){ .ns = 0 };
		rc = 0;
	}
	return rc;
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
	struct hn_db_pair pair = { .workload = 0 };
	struct hn_snapshot_entry e;
	bool known = witnessed(db, workload, target, &e);
	int rc = db->ops->still(db, err);

	if (rc != 0) {
		return rc;
	}
	rc = db->ops->pair(db, workload, target, &pair, err);
	rc = rc != 0 ? rc : hn_db_best_of(db, &pair, a, ret, err);
	if (known && (rc == -HONE_E_NOT_FOUND ||
		      (rc == 0 && e.best.median_ns < ret->median_ns)) &&
	    !db->ops->has_record(db, &e.best)) {
		*ret = e.best;
		hn_db_keep_record(ret, a);
		rc = 0;
	}
	if (rc == -HONE_E_NOT_FOUND) {
		return pair.workload == 0 ? hn_fail(err, HONE_E_NOT_FOUND,
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
