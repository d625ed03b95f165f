/* daemon/notify.c -- events to subscribers, answers to those who wait.
 *
 * Search is never held up by a client: an event goes into the job's ring and into the
 * output of each subscriber; a client with too much output waiting loses progress events,
 * and is told so with one gap when it has caught up.
 */
#include "daemon/daemon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define KEPT_EVENTS 64 /* of a job that has ended */
#define STILL_NS 1000000000

/* False when it was dropped. */
static bool send_event(struct hn_subscription *sub, uint64_t seq, enum hn_event type,
		       const char *data, bool droppable)
{
	struct hn_buf b;
	bool sent;

	hn_buf_init(&b);
	hn_msg_write_event(&b, sub->number, sub->job->id, seq, type, data);
	sent = hn_session_event(sub->session, &b, droppable);
	hn_buf_fini(&b);
	return sent;
}

static void send_gap(struct hn_subscription *sub, uint64_t from, uint64_t to)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_uint(&w, "from", from);
	hn_jw_uint(&w, "to", to);
	hn_jw_end(&w);
	send_event(sub, to, HN_EVENT_gap, b.s, /* droppable= */ false);
	hn_buf_fini(&b);
}

/* The whole answer of job.get. */
static void write_job(const struct hn_job *j, struct hn_buf *b)
{
	struct hn_jw w;

	hn_buf_init(b);
	hn_jw_init(&w, b);
	hn_job_write(j, &w, NULL);
	hn_jw_done(&w);
}

void hn_notify_event(struct hn_job *j, enum hn_event type, const char *data)
{
	uint64_t seq = hn_ring_add(&j->ring, type, data);

	for (struct hn_subscription *sub = j->daemon->subscriptions; sub != NULL;
	     sub = sub->next) {
		if (sub->job != j) {
			continue;
		}
		if (!send_event(sub, seq, type, data, hn_event_droppable(type))) {
			sub->lost_from = sub->lost_from != 0 ? sub->lost_from : seq;
			sub->lost_to = seq;
		}
	}
}

void hn_notify_drained(struct hn_daemon *d, struct hn_session *s)
{
	for (struct hn_subscription *sub = d->subscriptions; sub != NULL;
	     sub = sub->next) {
		if (sub->session == s && sub->lost_from != 0) {
			send_gap(sub, sub->lost_from, sub->lost_to);
			sub->lost_from = sub->lost_to = 0;
		}
	}
}

void hn_notify_progress(struct hn_job *j)
{
	struct hn_buf b;

	write_job(j, &b);
	j->told_ns = hn_clock_ns();
	j->told_trials = j->n_trial;
	hn_notify_event(j, HN_EVENT_progress, b.s);
	hn_buf_fini(&b);
}

void hn_notify_best(struct hn_job *j)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_int(&w, "trials", j->n_trial);
	hn_jw_double(&w, "best_ns", j->best_ns);
	hn_jw_double(&w, "gflops", j->workload.flops / j->best_ns);
	hn_jw_json(&w, "steps", j->best_steps);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_notify_event(j, HN_EVENT_best, b.s);
	hn_buf_fini(&b);
}

static void reply_cancelled(const struct hn_wait *w, const char *what, const char *id,
			    enum hn_job_state state)
{
	struct hn_buf b;
	struct hn_jw jw;

	hn_buf_init(&b);
	hn_jw_init(&jw, &b);
	hn_jw_object(&jw, NULL);
	hn_jw_str(&jw, what, id);
	hn_jw_bool(&jw, "cancelled", state == HN_JOB_CANCELLED);
	hn_jw_end(&jw);
	hn_session_reply(w->session, w->id, b.s);
	hn_buf_fini(&b);
}

void hn_notify_ended(struct hn_job *j)
{
	struct hn_daemon *d = j->daemon;
	struct hn_wait **at = &d->waits, *w;
	struct hn_buf b;

	write_job(j, &b);
	hn_notify_event(j, HN_EVENT_done, b.s);
	hn_ring_trim(&j->ring, KEPT_EVENTS);
	while ((w = *at) != NULL) {
		if (w->job != j) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		if (w->cancels) {
			reply_cancelled(w, "job", j->id, j->state);
		} else {
			hn_session_reply(w->session, w->id, b.s);
		}
		free(w);
	}
	hn_buf_fini(&b);
}

void hn_notify_set_ended(struct hn_set *set)
{
	struct hn_wait **at = &set->daemon->waits, *w;

	while ((w = *at) != NULL) {
		if (w->set != set) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		reply_cancelled(w, "set", set->id, set->state);
		free(w);
	}
}

static struct hn_wait *add_wait(struct hn_daemon *d, struct hn_session *s, const char *id,
				int64_t deadline_ns)
{
	struct hn_wait *w = calloc(1, sizeof(*w));

	hn_assert(w != NULL);
	w->session = s;
	w->deadline_ns = deadline_ns;
	snprintf(w->id, sizeof(w->id), "%s", id);
	w->next = d->waits;
	d->waits = w;
	return w;
}

void hn_notify_wait(struct hn_daemon *d, struct hn_session *s, struct hn_job *j,
		    const char *id, int64_t deadline_ns)
{
	add_wait(d, s, id, deadline_ns)->job = j;
}

void hn_notify_cancelled(struct hn_daemon *d, struct hn_session *s, struct hn_job *j,
			 struct hn_set *set, const char *id)
{
	struct hn_wait *w = add_wait(d, s, id, INT64_MAX);

	w->job = j;
	w->set = set;
	w->cancels = true;
}

/* Who watches a job hears of it even while nothing comes of it: the naive program of a large
 * computation may take a minute. */
static void tell_still(struct hn_daemon *d, int64_t now_ns)
{
	for (struct hn_subscription *sub = d->subscriptions; sub != NULL; sub = sub->next) {
		struct hn_job *j = sub->job;

		if (!hn_job_ended(j) && now_ns - j->told_ns >= STILL_NS) {
			hn_notify_progress(j);
		}
	}
}

void hn_notify_tick(struct hn_daemon *d, int64_t now_ns)
{
	struct hn_wait **at = &d->waits, *w;

	tell_still(d, now_ns);
	while ((w = *at) != NULL) {
		if (w->deadline_ns > now_ns) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		hn_session_fault(w->session, w->id, HONE_E_TIMEOUT,
				 "job.wait: the job has not ended yet");
		free(w);
	}
}

/* NULL stands for any: a session that closed, or a job that is forgotten. */
void hn_notify_forget(struct hn_daemon *d, struct hn_session *s, const struct hn_job *j)
{
	struct hn_subscription **at = &d->subscriptions, *sub;
	struct hn_wait **wait = &d->waits, *w;

	while ((sub = *at) != NULL) {
		if ((s != NULL && sub->session == s) || (j != NULL && sub->job == j)) {
			*at = sub->next;
			free(sub);
		} else {
			at = &sub->next;
		}
	}
	while ((w = *wait) != NULL) {
		if ((s != NULL && w->session == s) || (j != NULL && w->job == j)) {
			*wait = w->next;
			free(w);
		} else {
			wait = &w->next;
		}
	}
}

uint64_t hn_notify_subscribe(struct hn_daemon *d, struct hn_session *s, struct hn_job *j)
{
	struct hn_subscription *sub;
	uint32_t n = 0;

	for (sub = d->subscriptions; sub != NULL; sub = sub->next) {
		n += sub->session == s;
	}
	if (n >= HN_LIMIT_SUBSCRIPTIONS) {
		return 0;
	}
	sub = calloc(1, sizeof(*sub));
	hn_assert(sub != NULL);
	sub->session = s;
	sub->job = j;
	sub->number = ++d->n_subscription;
	sub->next = d->subscriptions;
	d->subscriptions = sub;
	return sub->number;
}

void hn_notify_replay(struct hn_daemon *d, uint64_t subscription, uint64_t since_seq)
{
	struct hn_subscription *sub = d->subscriptions;
	const struct hn_ring_event *e;
	uint64_t seq = since_seq + 1;

	while (sub != NULL && sub->number != subscription) {
		sub = sub->next;
	}
	if (sub == NULL) {
		return;
	}
	if (seq < hn_ring_first(&sub->job->ring)) {
		send_gap(sub, seq, hn_ring_first(&sub->job->ring) - 1);
		seq = hn_ring_first(&sub->job->ring);
	}
	for (; (e = hn_ring_at(&sub->job->ring, seq)) != NULL; seq++) {
		send_event(sub, seq, e->type, e->data, /* droppable= */ false);
	}
}

bool hn_notify_unsubscribe(struct hn_daemon *d, struct hn_session *s, uint64_t number)
{
	struct hn_subscription **at = &d->subscriptions, *sub;

	for (; (sub = *at) != NULL; at = &sub->next) {
		if (sub->session == s && sub->number == number) {
			*at = sub->next;
			free(sub);
			return true;
		}
	}
	return false;
}
