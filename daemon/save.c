/* daemon/save.c -- what a job has to store, tried again until the disk has room for it (stall.c). */
#include "daemon/daemon.h"

bool hn_job_store_naive(struct hn_job *j)
{
	const struct hn_naive naive = { .ns = j->naive_ns, .share = j->naive_share };
	struct hn_err err;

	j->naive_owed =
		hn_db_put_naive(j->daemon->db, j->key, j->target_line, &naive, &err) != 0;
	if (j->naive_owed) {
		if (!hn_stall_begin(j->daemon, &err)) {
			hn_job_fail(j, &err);
		}
		return false;
	}
	j->state = HN_JOB_SEARCH;
	hn_notify_progress(j);
	return true;
}

void hn_job_store_end(struct hn_job *j, bool finished)
{
	struct hn_err err;

	j->row_owed = hn_jobs_store(j, finished, &err) != 0;
	if (j->row_owed && !hn_stall_begin(j->daemon, &err)) {
		hn_log_line(&j->daemon->log, "warn", "job %s: %s", j->id, err.msg);
		j->row_owed = false;
	}
}

bool hn_job_save(struct hn_job *j)
{
	if (j->row_owed) {
		hn_job_store_end(j, /* finished= */ true); /* nothing is suspended meanwhile */
	}
	if (!hn_job_ended(j) && j->naive_owed) {
		(void)hn_job_store_naive(j);
	}
	if (!hn_job_ended(j) && j->batch.n > 0) {
		(void)hn_job_commit(j);
	}
	if (!hn_job_ended(j) && j->final.unsaved) {
		hn_job_final_save(j);
	}
	return hn_job_ended(j) ? !j->row_owed
			       : !j->naive_owed && j->batch.n == 0 && !j->final.unsaved;
}
