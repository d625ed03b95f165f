/* db/store/put.c -- what may be written, whatever keeps it: checks, each in a write of its own. */
#include <math.h>

#include "db/store/ops.h"

int hn_db_group_begin(struct hn_db *db, struct hn_err *err)
{
	return db->ops->group_begin(db, err);
}

int hn_db_group_end(struct hn_db *db, struct hn_err *err)
{
	return db->ops->group_end(db, err);
}

int hn_db_probe(struct hn_db *db, struct hn_err *err)
{
	int rc = db->ops->begin(db, err);

	return rc != 0 ? rc : db->ops->end(db, db->ops->probe(db, err), err);
}

int hn_db_put_workload(struct hn_db *db, const struct hn_workload_row *w,
		       struct hn_err *err)
{
	int rc;

	if (!w->key || !*w->key || !w->dag_json || !isfinite(w->flops)) {
		return hn_fail(err, HONE_E_INVALID,
			       "a workload needs a key, its DAG and its "
			       "operation count");
	}
	rc = db->ops->begin(db, err);
	return rc != 0 ? rc : db->ops->end(db, db->ops->put_workload(db, w, err), err);
}

static int check_record(const struct hn_record *r, struct hn_err *err)
{
	bool ok = r->verdict == HN_VERDICT_OK;

	if (!ok && !hn_verdict_blames_kernel(r->verdict)) {
		return hn_fail(
			err, HONE_E_INVALID,
			"a record's verdict cannot be %s: it says nothing about the "
			"program",
			hn_verdict_name(r->verdict));
	}
	if (ok && !(isfinite(r->median_ns) && r->median_ns > 0)) {
		return hn_fail(err, HONE_E_INVALID, "a record's time cannot be %g ns",
			       r->median_ns);
	}
	if (!r->workload || !r->target || !*r->target || !r->steps) {
		return hn_fail(err, HONE_E_INVALID,
			       "a record needs a workload, a target and its steps");
	}
	if (r->n_sample > 0 && !r->sample_ns) {
		return hn_fail(err, HONE_E_INVALID, "a record's %u samples are missing",
			       r->n_sample);
	}
	return 0;
}

int hn_db_append(struct hn_db *db, struct hn_record *record, uint32_t n,
		 struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		rc = check_record(&record[i], err);
	}
	if (rc != 0 || n == 0) {
		return rc;
	}
	rc = db->ops->begin(db, err);
	if (rc != 0) {
		return rc;
	}
	rc = db->ops->end(db, db->ops->append(db, record, n, err), err);
	for (uint32_t i = 0; rc != 0 && i < n; i++) {
		record[i].id = 0;
	}
	return rc;
}

int hn_db_certify(struct hn_db *db, int64_t record, const char *certificate,
		  struct hn_err *err)
{
	const char *keep = certificate && *certificate ? certificate : NULL;
	int rc = db->ops->begin(db, err);

	return rc != 0 ? rc : db->ops->end(db, db->ops->certify(db, record, keep, err), err);
}

int hn_db_put_naive(struct hn_db *db, const char *workload, const char *target,
		    const struct hn_naive *naive, struct hn_err *err)
{
	int rc;

	if (!(isfinite(naive->ns) && naive->ns > 0) || !target || !*target) {
		return hn_fail(err, HONE_E_INVALID, "a naive time cannot be %g ns",
			       naive->ns);
	}
	rc = db->ops->begin(db, err);
	return rc != 0 ? rc
		       : db->ops->end(db, db->ops->put_naive(db, workload, target, naive, err),
				      err);
}

int hn_db_put_automatic(struct hn_db *db, const char *workload, const char *target,
			const char *steps, struct hn_err *err)
{
	int rc = db->ops->begin(db, err);

	return rc != 0 ? rc
		       : db->ops->end(db,
				      db->ops->put_automatic(db, workload, target, steps, err),
				      err);
}

int hn_db_put_job(struct hn_db *db, const char *id, const char *json, bool finished,
		  struct hn_err *err)
{
	int rc = db->ops->begin(db, err);

	return rc != 0 ? rc
		       : db->ops->end(db, db->ops->put_job(db, id, json, finished, err), err);
}

int hn_db_put_model(struct hn_db *db, const char *target, const char *name, const char *text,
		    struct hn_err *err)
{
	int rc = db->ops->begin(db, err);

	return rc != 0 ? rc
		       : db->ops->end(db, db->ops->put_model(db, target, name, text, err), err);
}
