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

struct ending {
	struct hn_ask ask; /* first */
	struct hn_job *job;
	struct hn_buf row;
	bool finished;
};

static int put_row(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	const struct ending *e = (struct ending *)a;

	return hn_db_put_job(db, e->job->id, e->row.s, e->finished, err);
}

static void on_told(void *ctx)
{
	struct hn_job *j = ctx;

	j->asking = false;
	hn_job_end(j);
}

/* Who hears of the end may ask the snapshot at once. */
static void on_row_put(struct hn_ask *a)
{
	struct ending *e = (struct ending *)a;
	struct hn_job *j = e->job;
	struct hn_daemon *d = j->daemon;

	j->row_owed = a->rc != 0 && hn_stall_begin(d, &a->err);
	if (a->rc != 0 && !j->row_owed) {
		hn_log_line(&d->log, "warn", "job %s: %s", j->id, a->err.msg);
	}
	if (hn_job_ended(j)) {
		hn_job_answered(j);
	} else if (j->end.state == HN_JOB_SUSPENDED) {
		d->snapshot_due = true;
		on_told(j);
	} else {
		hn_daemon_snapshot(d, on_told, j);
	}
	hn_buf_fini(&e->row);
	free(e);
}

void hn_job_store_end(struct hn_job *j)
{
	enum hn_job_state state = hn_job_ended(j) ? j->state : j->end.state;
	struct ending *e = calloc(1, sizeof *e);

	hn_assert(e != NULL);
	if (state == HN_JOB_CANCELLED && j->set != NULL && !hn_set_over(j->set)) {
		hn_set_store(j->set); /* so that it is not begun again with the set */
	}
	e->ask = (struct hn_ask){ .writes = true, .work = put_row, .done = on_row_put };
	e->job = j;
	/* a set's jobs are resumed by the set */
	e->finished = state != HN_JOB_SUSPENDED || j->daemon->config.ends_with_clients ||
		      j->set != NULL;
	hn_buf_init(&e->row);
	hn_job_write_request(j, state, hn_job_ended(j) ? j->message : j->end.message, &e->row);
	hn_job_ask(j, &e->ask);
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
