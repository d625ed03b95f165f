/* daemon/jobs.c -- all jobs: who shares one, what is resumed.  Whose turn it is, turns.c says. */
#include "daemon/daemon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/jw.h"
#include "base/name.h"
#include "daemon/heap.h"
#include "loopstate/dag/mark.h"
#include "loopstate/read/dag_read.h"

#define SNAPSHOT_NS 1000000000 /* rewritten at most this often */
#define TRIM_NS 1000000000     /* the same, of the heap's trimming */

uint32_t hn_jobs_live(const struct hn_daemon *d)
{
	uint32_t n = 0;

	for (const struct hn_job *j = d->jobs; j != NULL; j = j->next) {
		n += !hn_job_ended(j);
	}
	return n;
}

struct hn_job *hn_jobs_find(struct hn_daemon *d, const char *id)
{
	struct hn_job *j = d->jobs;

	while (j != NULL && strcmp(j->id, id) != 0) {
		j = j->next;
	}
	return j;
}

void hn_jobs_own(struct hn_job *j, struct hn_session *s)
{
	for (uint32_t i = 0; i < j->n_owner; i++) {
		if (j->owner[i] == s) {
			return;
		}
	}
	if (s != NULL) {
		j->owner = realloc(j->owner, (j->n_owner + 1) * sizeof(*j->owner));
		hn_assert(j->owner != NULL);
		j->owner[j->n_owner++] = s;
	}
}

bool hn_jobs_release(struct hn_job *j, struct hn_session *s)
{
	for (uint32_t i = 0; i < j->n_owner; i++) {
		if (j->owner[i] == s) {
			j->owner[i] = j->owner[--j->n_owner];
		}
	}
	return j->n_owner == 0;
}

bool hn_jobs_equal(const struct hn_job *a, const struct hn_job *b)
{
	return strcmp(a->key, b->key) == 0 && strcmp(a->target_line, b->target_line) == 0 &&
	       strcmp(a->policy_name, b->policy_name) == 0 &&
	       strcmp(a->model_name, b->model_name) == 0 &&
	       strcmp(a->records, b->records) == 0 &&
	       strcmp(a->records_key, b->records_key) == 0 &&
	       a->budget.trials == b->budget.trials &&
	       a->budget.seconds == b->budget.seconds && a->budget.seed == b->budget.seed;
}

/* A live job that would give the same answer. */
static struct hn_job *equal_job(struct hn_daemon *d, const struct hn_job *like)
{
	for (struct hn_job *j = d->jobs; j != NULL; j = j->next) {
		if (!hn_job_over(j) && j->set == NULL && hn_jobs_equal(j, like)) {
			return j;
		}
	}
	return NULL;
}

static int read_target(struct hn_job *j, const char *text, struct hn_err *err)
{
	int rc = hn_served_find(j->daemon, text, &j->served, err);

	if (rc == 0) {
		j->target = j->served->target;
		j->target_line = j->served->line;
	}
	return rc;
}

static int read_dag(struct hn_job *j, const struct hn_submit *s, struct hn_err *err)
{
	struct hn_buf json;
	int rc = hn_dag_parse("dag", s->text, s->text_bytes, hn_limit_dag_bytes(),
			      &j->work, &j->dag, err);

	if (rc != 0) {
		return rc;
	}
	j->dag = s->cold ? hn_dag_mark(j->dag, HN_MARK_COLD, &j->work) : j->dag;
	hn_dag_key(j->dag, j->key);
	hn_buf_init(&json);
	hn_dag_write_json(j->dag, &json);
	j->dag_json = hn_arena_strndup(&j->work, json.s, json.n);
	hn_buf_fini(&json);
	j->workload = hn_workload_of(j->dag, j->key, j->dag_json, &j->work);
	return 0;
}

void hn_jobs_new_id(char letter, char ret[24])
{
	uint32_t r[2] = { 0 };

	if (getrandom(r, sizeof(r), 0) < 0) {
		r[0] = (uint32_t)hn_clock_ns();
	}
	snprintf(ret, 24, "%c%08x%04x", letter, r[0], r[1] & 0xffff);
}

/* What people call it, as it will be shown. */
static const char *label(struct hn_job *j, const char *name)
{
	char shown[HN_LIMIT_NAME_BYTES + 1];

	hn_shown(shown, sizeof shown, name, strlen(name));
	return hn_arena_strdup(&j->arena, shown);
}

static struct hn_job *new_job(struct hn_daemon *d, const struct hn_submit *s)
{
	struct hn_job *j = calloc(1, sizeof(*j));

	hn_assert(j != NULL);
	j->daemon = d;
	hn_arena_init(&j->arena, 0);
	hn_arena_init(&j->work, 0);
	hn_arena_init(&j->warm_arena, 0);
	hn_ring_init(&j->ring, HN_LIMIT_RING_EVENTS);
	j->budget = s->budget;
	j->crashes = s->crashes;
	j->allowed = s->budget.trials > 0 ? s->budget.trials : INT64_MAX;
	j->left_ns = INFINITY;
	j->submitted_ns = hn_clock_ns();
	j->name = label(j, s->name != NULL ? s->name : "");
	j->policy_name =
		hn_arena_strdup(&j->arena, s->policy != NULL ? s->policy : "evolve");
	j->model_name =
		hn_arena_strdup(&j->arena, s->model != NULL ? s->model : "analytic");
	j->records = hn_arena_strdup(&j->arena, s->records != NULL ? s->records : "");
	j->records_key = hn_arena_strdup(&j->arena, s->records_key != NULL ? s->records_key : "");
	if (s->id != NULL) {
		snprintf(j->id, sizeof(j->id), "%s", s->id);
	} else {
		hn_jobs_new_id('j', j->id);
	}
	return j;
}

static int prepare(struct hn_job *j, const struct hn_submit *s,
		   struct hn_err *err)
{
	int rc = read_dag(j, s, err);

	if (rc == 0) {
		rc = read_target(j, s->target, err);
	}
	if (rc != 0) {
		return rc;
	}
	j->ops = hn_policy_ops(j->policy_name);
	if (j->ops == NULL) {
		return hn_fail(err, HONE_E_INVALID, "policy: there is none called \"%s\"",
			       j->policy_name);
	}
	j->policy_name = j->ops->name; /* one name for those who ask by an older one */
	if (hn_model_ops(j->model_name) == NULL) {
		return hn_fail(err, HONE_E_INVALID,
			       "model: there is none called \"%s\"; want analytic or learned",
			       j->model_name);
	}
	if (*j->records != '\0' && *j->records != '/') {
		return hn_fail(err, HONE_E_INVALID,
			       "records: \"%s\": give the whole path, from / on",
			       j->records);
	}
	j->task = (struct hn_task){ .dag = j->dag,
				    .target = &j->target,
				    .seed = j->budget.seed,
				    .model = j->model_name,
				    .records = *j->records != '\0' ? j->records : NULL,
				    .records_key = *j->records_key != '\0' ? j->records_key
									   : NULL };
	return 0;
}

int hn_jobs_make(struct hn_daemon *d, const struct hn_submit *s, struct hn_job **ret,
		 struct hn_err *err)
{
	struct hn_job *j = new_job(d, s);
	int rc = prepare(j, s, err);

	if (rc == 0) {
		*ret = j;
	} else {
		hn_job_free(j);
	}
	return rc;
}

/* What the computations of live jobs take. */
static size_t live_bytes(const struct hn_daemon *d)
{
	size_t sum = 0;

	for (const struct hn_job *j = d->jobs; j != NULL; j = j->next) {
		sum += hn_job_ended(j) ? 0 : j->work.used_bytes;
	}
	return sum;
}

int hn_jobs_check_room(struct hn_served *s, uint32_t n, struct hn_err *err)
{
	struct hn_daemon *d = s->daemon;
	size_t bytes = live_bytes(d);
	uint32_t live = hn_jobs_live(d) + hn_submit_count(d, &bytes);

	if (bytes > HN_LIMIT_JOBS_BYTES) {
		return hn_fail(err, HONE_E_BUSY,
			       "the jobs that are queued take %zu MiB; at most %d may be",
			       bytes >> 20, HN_LIMIT_JOBS_BYTES >> 20);
	}
	if (live + n > HN_LIMIT_JOBS_LIVE) {
		return hn_fail(err, HONE_E_BUSY, "%d jobs are queued already; at most %d may be",
			       live, HN_LIMIT_JOBS_LIVE);
	}
	return hn_served_start(s, err);
}

void hn_jobs_store(struct hn_job *j, enum hn_job_state state)
{
	struct hn_buf request;

	hn_buf_init(&request);
	hn_job_write_request(j, state, "", &request);
	hn_put_row(j->daemon, j->id, request.s, /* finished= */ false);
	hn_buf_fini(&request);
}

void hn_jobs_append(struct hn_daemon *d, struct hn_job *j)
{
	struct hn_job **at = &d->jobs;

	while (*at != NULL) {
		at = &(*at)->next;
	}
	*at = j;
	hn_daemon_wake(d);
}

static void reply_shared(struct hn_job *j, struct hn_session *owner, const char *id)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_jobs_own(j, owner);
	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "job", j->id);
	hn_jw_str(&w, "workload", j->key);
	hn_jw_bool(&w, "shared", true);
	hn_jw_end(&w);
	hn_session_reply(owner, id, b.s);
	hn_buf_fini(&b);
}

int hn_jobs_submit(struct hn_daemon *d, const struct hn_submit *s, struct hn_session *owner,
		   const char *id, struct hn_err *err)
{
	struct hn_job *j, *same;
	int rc;

	if (s->budget.trials == 0 && s->budget.seconds == 0) {
		return hn_fail(err, HONE_E_INVALID,
			       "submit: give a budget: trials, seconds or both");
	}
	rc = hn_jobs_make(d, s, &j, err);
	if (rc != 0) {
		return rc;
	}
	same = equal_job(d, j);
	if (same != NULL) {
		hn_job_free(j);
		reply_shared(same, owner, id);
		return 0;
	}
	same = hn_submit_equal(d, j);
	if (same != NULL) {
		hn_job_free(j);
		return hn_submit_job(d, owner, id, same, err);
	}
	rc = hn_jobs_check_room(j->served, 1, err);
	rc = rc != 0 ? rc : hn_submit_job(d, owner, id, j, err);
	if (rc != 0) {
		hn_job_free(j);
	}
	return rc;
}

/* Ended jobs let go of what they worked with; beyond the number that is kept they are forgotten,
 * oldest first. */
static void prune(struct hn_daemon *d)
{
	struct hn_job **at = &d->jobs, *j;
	uint32_t n_ended = 0;

	for (j = d->jobs; j != NULL; j = j->next) {
		n_ended += j->set == NULL && hn_job_ended(j);
		hn_job_settle(j);
	}
	while ((j = *at) != NULL) {
		if (n_ended <= HN_LIMIT_JOBS_KEPT || j->set != NULL || !hn_job_idle(j)) {
			at = &j->next;
			continue;
		}
		*at = j->next;
		n_ended--;
		j->served->turn = j->served->turn == j ? NULL : j->served->turn;
		hn_notify_forget(d, NULL, j);
		hn_job_free(j);
	}
}

void hn_jobs_pump(struct hn_daemon *d)
{
	int64_t now = hn_clock_ns();

	if (d->stopping || !hn_stall_pass(d, now)) {
		return;
	}
	for (uint32_t i = 0; i < d->n_served; i++) {
		hn_turns_start(&d->served[i]);
	}
	for (struct hn_job *j = d->jobs; j != NULL && !hn_stall_on(d); j = j->next) {
		hn_job_step(j, now);
	}
	for (struct hn_set *s = d->sets; s != NULL && !hn_stall_on(d); s = s->next) {
		hn_set_step(s, now);
	}
	if (hn_stall_on(d)) {
		return;
	}
	for (uint32_t i = 0; i < d->n_served; i++) {
		hn_turns_shoot(&d->served[i]);
	}
	hn_sets_prune(d);
	prune(d);
}

void hn_jobs_tick(struct hn_daemon *d)
{
	int64_t now = hn_clock_ns();

	hn_notify_tick(d, now);
	hn_jobs_pump(d);
	if (d->snapshot_due && now - d->snapshot_ns >= SNAPSHOT_NS + d->snapshot_wait_ns) {
		hn_daemon_snapshot(d, NULL, NULL);
	}
	if (d->trim_due && now - d->trim_ns >= TRIM_NS) {
		d->trim_due = false;
		d->trim_ns = now;
		hn_heap_trim();
	}
}

void hn_jobs_suspend(struct hn_daemon *d)
{
	static const char message[] = "the daemon ends; tune again to go on";

	for (struct hn_set *s = d->sets; s != NULL; s = s->next) {
		hn_set_finish(s, HN_JOB_SUSPENDED, message);
	}
	for (struct hn_job *j = d->jobs; j != NULL; j = j->next) {
		hn_job_finish(j, HN_JOB_SUSPENDED, message);
	}
}

static int submit_again(struct hn_daemon *d, const struct hn_json *v, const char *id,
			struct hn_err *err)
{
	const char *text = hn_json_string(hn_json_get(v, "text"));
	struct hn_submit s = { .id = id,
			       .text = text,
			       .name = hn_json_string(hn_json_get(v, "name")),
			       .target = hn_json_string(hn_json_get(v, "target")),
			       .policy = hn_json_string(hn_json_get(v, "policy")),
			       .model = hn_json_string(hn_json_get(v, "model")),
			       .records = hn_json_string(hn_json_get(v, "records")),
			       .records_key = hn_json_string(hn_json_get(v, "records_key")),
			       .crashes = hn_crashes_read(v) };
	struct hn_job *j, *same;
	int64_t seed = 0;
	int rc;

	if (text == NULL) {
		return hn_fail(err, HONE_E_CORRUPT, "it has no computation");
	}
	s.text_bytes = strlen(text);
	hn_json_int(hn_json_get(v, "trials"), &s.budget.trials);
	hn_json_double(hn_json_get(v, "seconds"), &s.budget.seconds);
	hn_json_int(hn_json_get(v, "seed"), &seed);
	s.budget.seed = (uint64_t)seed;
	rc = hn_jobs_make(d, &s, &j, err);
	if (rc != 0) {
		return rc;
	}
	same = equal_job(d, j);
	rc = same != NULL ? hn_fail(err, HONE_E_BUSY, "job %s does the same", same->id)
			  : hn_jobs_check_room(j->served, 1, err);
	if (rc != 0) {
		hn_job_free(j);
		return rc;
	}
	hn_jobs_append(d, j); /* its row is there */
	return 0;
}

/* What is not submitted again has ended; `why` is for who asks (`hone jobs --all`). */
static void drop(struct hn_daemon *d, const struct hn_json *v, const char *id, const char *why)
{
	const struct hn_json *tasks = hn_json_get(v, "tasks");
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "id", id);
	hn_jw_str(&w, "name", hn_json_string(hn_json_get(v, "name")));
	hn_jw_str(&w, "workload", hn_json_string(hn_json_get(v, "workload")));
	hn_jw_str(&w, "target", hn_json_string(hn_json_get(v, "target")));
	hn_jw_str(&w, "state", "dropped");
	hn_jw_str(&w, "message", why);
	if (tasks != NULL) {
		hn_jw_list(&w, "tasks");
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_put_row(d, id, b.s, /* finished= */ true);
	hn_buf_fini(&b);
}

/* Submit again what an earlier daemon left unfinished. A private one only clears the
 * list: nobody waits for those jobs, and their records stay. */
static void resume_one(struct hn_daemon *d, const struct hn_json *v)
{
	const char *id = hn_json_string(hn_json_get(v, "id"));
	struct hn_err err = { 0 };
	struct hn_set *set;
	int rc = 1;

	if (id == NULL) {
		return;
	}
	if (!d->config.ends_with_clients) {
		rc = hn_json_get(v, "tasks") != NULL
			     ? hn_sets_make(d, v, /* again= */ true, &set, &err)
			     : submit_again(d, v, id, &err);
	}
	if (rc == 0 && hn_json_get(v, "tasks") != NULL) {
		hn_sets_append(d, set);
	}
	if (rc == 0) {
		hn_log_line(&d->log, "info", "job %s: resumed", id);
		return;
	}
	if (rc < 0) {
		hn_log_line(&d->log, "warn", "job %s: not resumed: %s", id, err.msg);
	}
	drop(d, v, id, rc < 0 ? err.msg : "");
}

struct stored {
	struct hn_ask ask; /* first */
	struct hn_arena a;
	uint32_t n;
	const char *const *text;
};

static int read_stored(struct hn_ask *ask, struct hn_db *db, struct hn_err *err)
{
	struct stored *s = (struct stored *)ask;

	return hn_db_jobs(db, /* unfinished_only= */ true, &s->a, &s->n, &s->text, err);
}

static void on_read(struct hn_ask *ask)
{
	struct stored *s = (struct stored *)ask;
	struct hn_daemon *d = ask->ctx;
	struct hn_json *json;
	struct hn_err err;

	if (ask->rc != 0) {
		hn_log_line(&d->log, "warn", "jobs: %s", ask->err.msg);
		s->n = 0;
	}
	for (uint32_t i = 0; i < s->n; i++) {
		if (hn_json_parse("job", s->text[i], strlen(s->text[i]), NULL, &json, &err) !=
		    0) {
			hn_log_line(&d->log, "warn", "jobs: %s", err.msg);
			continue;
		}
		resume_one(d, json);
		hn_json_free(json);
	}
}

void hn_jobs_resume(struct hn_daemon *d)
{
	struct stored s = { .ask = { .work = read_stored, .done = on_read, .ctx = d } };

	hn_arena_init(&s.a, 0);
	hn_store_ask(d->store, &s.ask);
	hn_store_drain(d->store);
	hn_arena_fini(&s.a);
}

void hn_jobs_free(struct hn_daemon *d)
{
	hn_sets_free(d);
	while (d->jobs != NULL) {
		struct hn_job *j = d->jobs;

		d->jobs = j->next;
		hn_job_free(j);
	}
}
