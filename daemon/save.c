/* daemon/save.c -- what a job asks of the store: one thing at a time, and tried again until the
 * disk has room for it (stall.c).
 *
 * While it asks, what it asked about stays as it is; whatever else happens to it meanwhile is done
 * when the answer comes (hn_job_answered).
 */
#include "daemon/daemon.h"

#include <stdio.h>
#include <stdlib.h>

void hn_job_ask(struct hn_job *j, struct hn_ask *a)
{
	hn_assert(!j->asking);
	j->asking = true;
	hn_store_ask(j->daemon->store, a);
}

void hn_job_answered(struct hn_job *j)
{
	j->asking = false;
	hn_daemon_wake(j->daemon);
	hn_job_end_step(j);
}

void hn_job_not_stored(struct hn_job *j, const struct hn_err *err)
{
	bool waits = hn_stall_begin(j->daemon, err);

	if (!j->end.begun) {
		if (!waits) {
			hn_job_fail(j, err);
		}
		return;
	}
	if (waits && j->end.state == HN_JOB_DONE) {
		return;
	}
	j->end.without_results = true;
	if (err->code != HONE_E_DISK_FULL) {
		j->end.state = HN_JOB_FAILED;
		j->error = err->code;
		snprintf(j->end.message, sizeof j->end.message, "%s", err->msg);
	}
}

struct naive {
	struct hn_ask ask; /* first */
	struct hn_job *job;
	struct hn_naive naive;
};

static int put_naive(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	const struct naive *n = (struct naive *)a;

	return hn_db_put_naive(db, n->job->key, n->job->target_line, &n->naive, err);
}

static void on_naive_put(struct hn_ask *a)
{
	struct hn_job *j = ((struct naive *)a)->job;

	if (a->rc != 0) {
		hn_job_not_stored(j, &a->err);
	} else {
		j->naive_owed = false;
		if (!hn_job_over(j)) {
			j->state = HN_JOB_SEARCH;
			hn_notify_progress(j);
		}
	}
	hn_job_answered(j);
	free(a);
}

void hn_job_store_naive(struct hn_job *j)
{
	struct naive *n;

	j->naive_owed = true;
	if (j->asking) {
		return;
	}
	n = calloc(1, sizeof *n);
	hn_assert(n != NULL);
	n->ask = (struct hn_ask){ .writes = true, .work = put_naive, .done = on_naive_put };
	n->job = j;
	n->naive = (struct hn_naive){ .ns = j->naive_ns, .share = j->naive_share };
	hn_job_ask(j, &n->ask);
}

bool hn_job_save(struct hn_job *j)
{
	if (j->asking) {
		return false;
	}
	if (j->row_owed) {
		hn_job_store_end(j);
	} else if (hn_job_ended(j)) {
		return true;
	} else if (j->naive_owed) {
		hn_job_store_naive(j);
	} else if (j->batch.n > 0) {
		hn_job_commit(j);
	} else if (j->final.unsaved) {
		hn_job_final_save(j);
	}
	return !j->asking;
}
