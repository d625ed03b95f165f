/* daemon/submit.c -- what clients submit is a job when the store has it: then the client is told
 * its name, and everybody sees it; not before, for a killed honed would not know it.
 *
 * Two clients may submit the same while it is being stored: each stores its row (by its name, so
 * there is one), and the job comes with the first that is there.
 */
#include "daemon/daemon.h"

#include <stdlib.h>
#include <string.h>

struct row {
	const char *id, *json;
	bool finished;
};

struct hn_submission {
	struct hn_pending pending; /* first */
	struct hn_submission *next;
	struct hn_arena a; /* the rows */
	uint32_t n_row;
	struct row *row; /* a set's comes last: without it, its jobs' are nobody's */
	struct hn_job *job; /* or */
	struct hn_set *set;
	bool shared;
	bool held; /* the disk was full: until there is room, or none is found */
};

static int put_rows(struct hn_ask *ask, struct hn_db *db, struct hn_err *err)
{
	const struct hn_submission *s = (struct hn_submission *)ask;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < s->n_row; i++) {
		rc = hn_db_put_job(db, s->row[i].id, s->row[i].json, s->row[i].finished, err);
	}
	return rc;
}

static void write_set(const struct hn_set *s, struct hn_jw *w)
{
	hn_jw_str(w, "set", s->id);
	hn_jw_list(w, "jobs");
	for (uint32_t i = 0; i < s->n; i++) {
		hn_jw_str(w, NULL, s->member[i].job->id);
	}
	hn_jw_end(w);
}

static void write_job(const struct hn_job *j, bool shared, struct hn_jw *w)
{
	hn_jw_str(w, "job", j->id);
	hn_jw_str(w, "workload", j->key);
	hn_jw_bool(w, "shared", shared);
}

static void reply(struct hn_submission *s)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	if (s->set != NULL) {
		write_set(s->set, &w);
	} else {
		write_job(s->job, s->shared, &w);
	}
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_pending_reply(&s->pending, b.s);
	hn_buf_fini(&b);
}

/* Another one that stores the same job. */
static struct hn_submission *twin(const struct hn_submission *s)
{
	for (struct hn_submission *o = s->pending.daemon->submissions; o != NULL; o = o->next) {
		if (o != s && s->job != NULL && o->job == s->job) {
			return o;
		}
	}
	return NULL;
}

static void take_in(struct hn_submission *s)
{
	struct hn_daemon *d = s->pending.daemon;

	if (s->set != NULL) {
		hn_sets_append(d, s->set);
		return;
	}
	if (hn_jobs_find(d, s->job->id) == NULL) {
		hn_jobs_append(d, s->job);
		hn_log_line(&d->log, "info", "job %s: submitted: %s %.16s", s->job->id,
			    s->job->name, s->job->key);
	}
	hn_jobs_own(s->job, s->pending.session);
}

/* Without room on the disk nothing is taken, and who asks hears why. */
static void refuse(struct hn_submission *s)
{
	struct hn_daemon *d = s->pending.daemon;
	struct hn_err *err = &s->pending.ask.err;
	char why[500];

	if (err->code == HONE_E_DISK_FULL && hn_stall_on(d)) {
		hn_stall_why(d, why, sizeof(why));
		(void)!hn_fail(err, HONE_E_DISK_FULL, "nothing can be submitted now: %s", why);
	}
	hn_pending_refuse(&s->pending, err);
	if (s->set != NULL) {
		hn_sets_unmake(s->set);
	} else if (twin(s) == NULL && hn_jobs_find(d, s->job->id) == NULL) {
		hn_job_free(s->job);
	}
}

static void on_put(struct hn_ask *ask)
{
	struct hn_submission *s = (struct hn_submission *)ask;
	struct hn_daemon *d = s->pending.daemon;
	struct hn_submission **at = &d->submissions;

	if (ask->rc == 0) {
		take_in(s);
		reply(s);
	} else {
		refuse(s);
	}
	while (*at != s) {
		at = &(*at)->next;
	}
	*at = s->next;
	hn_arena_fini(&s->a);
	free(s);
}

static struct hn_submission *new_submission(uint32_t n_row)
{
	struct hn_submission *s = calloc(1, sizeof *s);

	hn_assert(s != NULL);
	hn_arena_init(&s->a, 0);
	s->row = HN_NEW_ARRAY(&s->a, struct row, n_row);
	s->pending.ask = (struct hn_ask){ .writes = true, .work = put_rows, .done = on_put };
	return s;
}

static void add_row(struct hn_submission *s, const char *id, struct hn_buf *json, bool finished)
{
	s->row[s->n_row++] = (struct row){ .id = hn_arena_strdup(&s->a, id),
					   .json = hn_arena_strndup(&s->a, json->s, json->n),
					   .finished = finished };
	hn_buf_reset(json);
}

static int ask(struct hn_daemon *d, struct hn_session *session, const char *id,
	       struct hn_submission *s, struct hn_err *err)
{
	int rc = hn_pending_hold(d, session, id, &s->pending, err);

	if (rc != 0) {
		hn_arena_fini(&s->a);
		free(s);
		return rc;
	}
	s->next = d->submissions;
	d->submissions = s;
	s->held = hn_stall_on(d);
	if (s->held) {
		hn_stall_hurry(d); /* somebody asks: look for room at once */
	} else {
		hn_store_ask(d->store, &s->pending.ask);
	}
	return 0;
}

static struct hn_submission *held(struct hn_daemon *d)
{
	struct hn_submission *s = d->submissions;

	while (s != NULL && !s->held) {
		s = s->next;
	}
	return s;
}

void hn_submit_held(struct hn_daemon *d, bool has_room)
{
	struct hn_submission *s;

	while ((s = held(d)) != NULL) {
		s->held = false;
		if (has_room) {
			hn_store_ask(d->store, &s->pending.ask);
		} else {
			s->pending.ask.rc = hn_fail(&s->pending.ask.err, HONE_E_DISK_FULL, "full");
			on_put(&s->pending.ask);
		}
	}
}

int hn_submit_job(struct hn_daemon *d, struct hn_session *session, const char *id,
		  struct hn_job *j, struct hn_err *err)
{
	struct hn_submission *s = new_submission(1);
	struct hn_buf b;

	hn_buf_init(&b);
	hn_job_write_request(j, HN_JOB_NEW, "", &b);
	add_row(s, j->id, &b, /* finished= */ false);
	hn_buf_fini(&b);
	s->job = j;
	s->pending.daemon = d;
	s->shared = twin(s) != NULL;
	return ask(d, session, id, s, err);
}

int hn_submit_set(struct hn_daemon *d, struct hn_session *session, const char *id,
		  struct hn_set *set, struct hn_err *err)
{
	struct hn_submission *s = new_submission(set->n + 1);
	struct hn_buf b;

	hn_buf_init(&b);
	for (uint32_t i = 0; i < set->n; i++) {
		struct hn_job *j = set->member[i].job;

		hn_job_write_request(j, HN_JOB_NEW, "", &b);
		add_row(s, j->id, &b, /* finished= */ true);
	}
	hn_set_write_request(set, HN_JOB_NEW, &b);
	add_row(s, set->id, &b, /* finished= */ false);
	hn_buf_fini(&b);
	s->set = set;
	return ask(d, session, id, s, err);
}

uint32_t hn_submit_count(const struct hn_daemon *d, size_t *bytes)
{
	uint32_t n = 0;

	for (const struct hn_submission *s = d->submissions; s != NULL; s = s->next) {
		n += s->set != NULL ? s->set->n : 1;
		for (uint32_t i = 0; s->set != NULL && i < s->set->n; i++) {
			*bytes += s->set->member[i].job->work.used_bytes;
		}
		*bytes += s->job != NULL ? s->job->work.used_bytes : 0;
	}
	return n;
}

struct hn_job *hn_submit_equal(const struct hn_daemon *d, const struct hn_job *like)
{
	for (const struct hn_submission *s = d->submissions; s != NULL; s = s->next) {
		if (s->job != NULL && hn_jobs_equal(s->job, like)) {
			return s->job;
		}
	}
	return NULL;
}
