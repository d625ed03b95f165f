/* daemon/end.c -- how a job ends: what was measured is stored, then its row in the store says that
 * it has ended, then the snapshot is written where it changed; and then everybody is told.
 *
 * Each of these asks the store, and its answer makes the next step.  A job that is done waits for
 * room on a full disk; one that is cancelled, or suspended with honed, leaves what has no room.
 */
#include "daemon/daemon.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

/* A job that could end, but waits for room on the disk, may end in another way. */
static bool may_end_so(const struct hn_job *j, enum hn_job_state final)
{
	return !hn_job_over(j) || (j->end.begun && j->end.state == HN_JOB_DONE &&
				   final != HN_JOB_DONE && j->batch.n > 0);
}

void hn_job_finish(struct hn_job *j, enum hn_job_state final, const char *message)
{
	struct hn_shot *s, *next;

	if (!may_end_so(j, final)) {
		return;
	}
	j->end.begun = true;
	j->end.state = final;
	j->end.without_results |= final == HN_JOB_FAILED;
	snprintf(j->end.message, sizeof(j->end.message), "%s", message);
	hn_shots_drop(&j->ready);
	for (s = j->open.head; s != NULL; s = next) {
		next = s->next;
		hn_measurer_cancel(j->served->measurer, s);
	}
	if (j->naive_open || j->final.open) {
		hn_measurer_cancel(j->served->measurer, j);
	}
	j->naive_owed = j->final.unsaved = false;
	hn_job_end_step(j);
}

void hn_job_end_step(struct hn_job *j)
{
	if (!j->end.begun || hn_job_ended(j) || j->asking) {
		return;
	}
	if (j->batch.n > 0 && !j->end.without_results) {
		if (j->end.state != HN_JOB_DONE || !hn_stall_on(j->daemon)) {
			hn_job_commit(j);
		}
		if (j->batch.n + j->storing.n > 0) {
			return; /* called again when that is answered */
		}
	}
	if (j->batch.n > 0) {
		hn_log_line(&j->daemon->log, "warn", "job %s: %u results could not be stored",
			    j->id, j->batch.n);
		hn_shots_drop(&j->batch);
	}
	if (j->end.state != HN_JOB_FAILED) {
		hn_job_keep_knowledge(j);
	}
	hn_job_store_end(j);
}

static void end(struct hn_job *j)
{
	j->state = j->end.state;
	j->end.begun = false;
	j->ended_ns = hn_clock_ns();
	snprintf(j->message, sizeof(j->message), "%s", j->end.message);
	hn_log_line(&j->daemon->log, "info", "job %s: %s, %lld trials%s%s", j->id,
		    hn_job_state_name(j->state), (long long)j->n_trial, *j->message != '\0' ? ": " : "",
		    j->message);
	hn_notify_ended(j);
	if (j->set != NULL) {
		hn_set_end_step(j->set);
	}
	hn_daemon_wake(j->daemon);
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
	end(j);
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

void hn_job_fail(struct hn_job *j, const struct hn_err *err)
{
	if (may_end_so(j, HN_JOB_FAILED)) {
		j->error = err->code;
		hn_job_finish(j, HN_JOB_FAILED, err->msg);
	}
}

void hn_job_cancel(struct hn_job *j)
{
	hn_job_finish(j, HN_JOB_CANCELLED, "cancelled by a client; results are kept");
}
