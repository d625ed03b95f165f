/* daemon/set.c -- several workloads tuned for one weighted sum, from one budget.
 *
 *   (-) -- hn_sets_submit --> NEW -- hn_set_start --> SEARCH -- it is enough --> FINAL --> DONE
 *
 * Each task is a job, which keeps doing all that a job does; but how many trials it may ask for
 * is granted in rounds, and it ends when the set ends.  Whose round is next, and when it is
 * enough, says search/taskset.h.  At most HN_SET_OPEN rounds are open at a time, so that builders
 * have work while a round ends; a job between rounds waits and costs nothing but memory.  Then
 * the finals are held, one after the other, in the time that was kept for them.
 *
 * A set is stored as it was submitted, beside the seconds it has taken; the trials are counted
 * from the records, which are told to the rule in rounds again, so a set that was killed goes on
 * as if it had not been.
 *
 * Invariants:
 *  1. A job's `allowed` is its trials at the start plus all rounds granted.
 *  2. A round is told once: when its trials are recorded, or the job can make no more.
 *  3. A set ends when its last job has ended, and not before.
 */
#include "daemon/daemon.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

#define STORE_NS 5000000000 /* how old the stored seconds may be */

bool hn_set_ended(const struct hn_set *s)
{
	return s->state >= HN_JOB_DONE;
}

bool hn_set_over(const struct hn_set *s)
{
	return s->end.begun || hn_set_ended(s);
}

double hn_set_seconds(const struct hn_set *s, int64_t now_ns)
{
	int64_t to = s->ended_ns != 0 ? s->ended_ns : now_ns;

	return s->spent_s +
	       (s->started_ns != 0 ? (double)(to - s->started_ns) * 1e-9 : 0);
}

/* What earlier jobs stored, as rounds: how the task came to where it is. */
static void tell_stored(struct hn_set *s, uint32_t i)
{
	struct hn_member *m = &s->member[i];
	struct hn_taskset_told told = { 0 };

	for (uint32_t r = 0; r < m->job->n_warm_record; r++) {
		const struct hn_warm_record *w = &m->job->warm[r];

		if (w->verdict == HN_VERDICT_OK &&
		    (told.best_ns == 0 || w->median_ns < told.best_ns)) {
			told.best_ns = w->median_ns;
		}
		if (++told.trials == HN_TASKSET_ROUND || r + 1 == m->job->n_warm_record) {
			hn_taskset_tell(&s->rule, i, /* granted= */ 0, &told);
			told.trials = 0;
		}
	}
	m->n_told = m->job->n_trial;
}

/* Unless it has ended honed too often. */
static void count_start(struct hn_set *s)
{
	struct hn_err err;
	int64_t n_trial = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		n_trial += s->member[i].job->n_trial;
	}
	if (hn_crashes_start(&s->crashes, n_trial, &err) != 0) {
		hn_set_finish(s, HN_JOB_FAILED, err.msg);
		return;
	}
	hn_set_store(s);
}

void hn_set_start(struct hn_set *s)
{
	bool open = true;

	for (uint32_t i = 0; i < s->n; i++) {
		open &= hn_job_open(s->member[i].job) || hn_job_ended(s->member[i].job);
	}
	if (!open || hn_set_over(s)) {
		return;
	}
	s->state = HN_JOB_SEARCH;
	s->started_ns = s->told_ns = s->stored_ns = hn_clock_ns();
	for (uint32_t i = 0; i < s->n; i++) {
		struct hn_job *j = s->member[i].job;

		if (!hn_job_over(j)) {
			j->allowed = j->n_trial;
			tell_stored(s, i);
			if (s->member[i].cancelled) {
				hn_job_cancel(j);
			}
		}
	}
	count_start(s);
}

/* It will make no more trials, whatever is granted. */
static bool is_over(const struct hn_job *j)
{
	return hn_job_ended(j) || (j->exhausted && hn_job_still(j) && j->batch.n == 0 &&
				   j->storing.n == 0);
}

static void tell_round(struct hn_set *s, uint32_t i, bool over, int64_t now_ns)
{
	struct hn_member *m = &s->member[i];
	int64_t granted = m->open[0].trials, made = m->job->n_trial - m->n_told;
	int64_t from =
		s->told_ns > m->open[0].begun_ns ? s->told_ns : m->open[0].begun_ns;
	struct hn_taskset_told told = { .trials = made < granted ? made : granted,
					.seconds = (double)(now_ns - from) * 1e-9,
					.best_ns = m->job->best_ns,
					.over = over };

	hn_taskset_tell(&s->rule, i, granted, &told);
	m->job->spent_ns += now_ns - from;
	m->n_told += told.trials;
	m->open[0] = m->open[1];
	m->n_open--;
	s->told_ns = now_ns;
}

static void hear(struct hn_set *s, uint32_t i, int64_t now_ns)
{
	struct hn_member *m = &s->member[i];
	bool over = is_over(m->job);

	double first = m->job->naive_ns > 0 ? m->job->naive_ns : m->job->host_ns;

	if (first > 0) {
		hn_taskset_naive(&s->rule, i, first);
	}
	while (m->n_open > 0 &&
	       (over || m->job->n_trial - m->n_told >= m->open[0].trials)) {
		tell_round(s, i, over, now_ns);
	}
	if (over && !s->rule.task[i].over) {
		struct hn_taskset_told told = { .best_ns = m->job->best_ns,
						.over = true };

		hn_taskset_tell(&s->rule, i, /* granted= */ 0, &told);
	}
}

/* The seconds that the finals of its jobs will want. */
static double reserve_s(const struct hn_set *s)
{
	double sum = 0;

	for (uint32_t i = 0; s->rule.budget.seconds > 0 && i < s->n; i++) {
		const struct hn_job *j = s->member[i].job;

		sum += hn_job_ended(j) ? 0 : hn_job_final_reserve(j);
	}
	return sum;
}

static void grant(struct hn_set *s, const struct hn_taskset_answer *go, int64_t now_ns)
{
	struct hn_member *m = &s->member[go->task];

	hn_taskset_begin(&s->rule, go);
	m->open[m->n_open].trials = go->trials;
	m->open[m->n_open++].begun_ns = now_ns;
	m->job->allowed += go->trials;
	if (m->job->state == HN_JOB_NEW) {
		hn_job_start(m->job);
	} else {
		hn_job_step(m->job, now_ns);
	}
}

static const char *why(const struct hn_set *s, enum hn_taskset_say say, char text[120])
{
	switch (say) {
	case HN_TASKSET_TRIALS:
		return s->rule.n_begun > 0 ? ""
					   : "the store already holds this many trials";
	case HN_TASKSET_GAIN:
		snprintf(text, 120,
			 "no further round is expected to gain %g %% of the weighted sum",
			 100 * s->rule.budget.stop_gain);
		return text;
	case HN_TASKSET_OVER:
		return "every task's search space is exhausted, or it ended";
	default:
		return "";
	}
}

/* Nobody measures any more but the finals. */
static void end_search(struct hn_set *s, enum hn_taskset_say say)
{
	char text[120];

	s->state = HN_JOB_FINAL;
	snprintf(s->message, sizeof s->message, "%s", why(s, say, text));
	for (uint32_t i = 0; i < s->n; i++) {
		hn_job_hold(s->member[i].job);
	}
}

/* Little enough is under way that builders will soon have nothing to do. */
static bool has_room(const struct hn_set *s)
{
	int64_t depth = hn_measurer_depth(s->member[0].job->served->measurer), n = 0;
	uint32_t n_open = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct hn_member *m = &s->member[i];

		n += m->n_open > 0 ? m->job->allowed - m->job->n_trial : 0;
		n_open += m->n_open;
	}
	return n_open < HN_SET_OPEN && n <= (depth > 8 ? depth : 8);
}

/* The seconds are spent: only who has no answer yet measures on, a trial at a time, and as few at
 * once as ever.  False: nobody. */
static bool pay_answers(struct hn_set *s, int64_t now_ns)
{
	double left = s->rule.budget.seconds - hn_set_seconds(s, now_ns);
	uint32_t n_owed = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		struct hn_member *m = &s->member[i];
		struct hn_taskset_answer one = { .say = HN_TASKSET_GO, .task = i, .trials = 1 };

		if (!hn_job_owes_answer(m->job, left)) {
			hn_job_hold(m->job);
		} else if (n_owed++ < HN_SET_OPEN && m->n_open == 0) {
			grant(s, &one, now_ns);
		}
	}
	return n_owed > 0;
}

static void search(struct hn_set *s, int64_t now_ns)
{
	double seconds = hn_set_seconds(s, now_ns) + reserve_s(s);
	struct hn_taskset_answer a = hn_taskset_next(&s->rule, seconds);

	while (a.say == HN_TASKSET_GO && !s->overdue && has_room(s)) {
		grant(s, &a, now_ns);
		a = hn_taskset_next(&s->rule, seconds);
	}
	s->overdue |= a.say == HN_TASKSET_SECONDS;
	if (s->overdue && pay_answers(s, now_ns)) {
		return;
	}
	a.say = s->overdue ? HN_TASKSET_SECONDS : a.say;
	if (a.say != HN_TASKSET_GO && a.say != HN_TASKSET_WAIT) {
		end_search(s, a.say);
	}
}

/* Failed when all have; else how many, beside why it ended. */
static void end(struct hn_set *s)
{
	const struct hn_job *failed = NULL;
	char message[sizeof s->message];
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		if (s->member[i].job->state == HN_JOB_FAILED) {
			failed = failed == NULL ? s->member[i].job : failed;
			n++;
		}
	}
	snprintf(message, sizeof message, "%s", s->message);
	if (n > 0) {
		snprintf(message, sizeof message, "%u of %u tasks failed; %.100s: %.800s",
			 n, s->n, failed->name, failed->message);
	}
	hn_set_finish(s, n == s->n ? HN_JOB_FAILED : HN_JOB_DONE, message);
}

/* The finals, one after the other; the time that is left is shared evenly. */
static void finals(struct hn_set *s, int64_t now_ns)
{
	double left_ns = INFINITY;
	uint32_t i = 0;

	while (i < s->n && !hn_set_over(s)) {
		struct hn_job *j = s->member[i].job;

		if (hn_job_ended(j)) {
			i++;
			continue;
		}
		if (j->state == HN_JOB_FINAL) {
			return;
		}
		/* one that waits for another's final of its workload is asked again */
		if (s->rule.budget.seconds > 0) {
			left_ns = (s->rule.budget.seconds - hn_set_seconds(s, now_ns)) *
				  1e9 / (s->n - i);
		}
		hn_job_conclude(j, left_ns, now_ns);
		if (!hn_job_ended(j)) {
			return;
		}
	}
	if (!hn_set_over(s)) {
		end(s);
	}
}

void hn_set_step(struct hn_set *s, int64_t now_ns)
{
	if (hn_set_over(s) || s->state == HN_JOB_NEW) {
		return;
	}
	for (uint32_t i = 0; s->state == HN_JOB_SEARCH && i < s->n; i++) {
		hear(s, i, now_ns);
	}
	if (s->state == HN_JOB_SEARCH) {
		search(s, now_ns);
	}
	if (s->state == HN_JOB_FINAL) {
		finals(s, now_ns);
	} else if (s->rule.budget.seconds > 0 && now_ns - s->stored_ns >= STORE_NS) {
		s->stored_ns = now_ns;
		hn_set_store(s);
	}
}

void hn_set_finish(struct hn_set *s, enum hn_job_state end, const char *message)
{
	if (hn_set_over(s)) {
		return;
	}
	s->end.begun = true;
	s->end.state = end;
	snprintf(s->message, sizeof s->message, "%s", message);
	for (uint32_t i = 0; i < s->n; i++) {
		hn_job_finish(s->member[i].job, end, message);
	}
	hn_set_end_step(s);
}

struct ending {
	struct hn_ask ask; /* first */
	struct hn_set *set;
	struct hn_buf row;
	bool finished;
};

static int put_row(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	const struct ending *e = (struct ending *)a;

	return hn_db_put_job(db, e->set->id, e->row.s, e->finished, err);
}

static void on_row_put(struct hn_ask *a)
{
	struct ending *e = (struct ending *)a;
	struct hn_set *s = e->set;
	struct hn_daemon *d = s->daemon;

	if (a->rc != 0) {
		hn_log_line(&d->log, "warn", "set %s: %s", s->id, a->err.msg);
	}
	s->state = s->end.state;
	s->end.begun = false;
	s->ended_ns = hn_clock_ns();
	hn_log_line(&d->log, "info", "set %s: %s%s%s", s->id, hn_job_state_name(s->state),
		    *s->message != '\0' ? ": " : "", s->message);
	hn_notify_set_ended(s);
	hn_daemon_wake(d);
	hn_buf_fini(&e->row);
	free(e);
}

void hn_set_end_step(struct hn_set *s)
{
	struct ending *e;

	for (uint32_t i = 0; i < s->n; i++) {
		if (!hn_job_ended(s->member[i].job)) {
			return;
		}
	}
	if (!s->end.begun || s->end.asked) {
		return;
	}
	s->end.asked = true;
	e = calloc(1, sizeof *e);
	hn_assert(e != NULL);
	e->ask = (struct hn_ask){ .writes = true, .work = put_row, .done = on_row_put };
	e->set = s;
	e->finished = s->end.state != HN_JOB_SUSPENDED || s->daemon->config.ends_with_clients;
	hn_buf_init(&e->row);
	hn_set_write_request(s, s->end.state, &e->row);
	hn_store_ask(s->daemon->store, &e->ask);
}
