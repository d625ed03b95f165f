/* daemon/job.c -- the life of a job.
 *
 *                start        reference        search over,
 *                             is there         a final is due
 *      +-----+        +-------+        +--------+        +-------+
 *   -->| NEW |------->| NAIVE |------->| SEARCH |------->| FINAL |
 *      +-----+        +-------+        +--------+        +-------+
 *         |               |                |                 |
 *         | nothing       | no reference   | no final        | the leaders have met,
 *         | left to do    v                v                 v or its time is up
 *         |            FAILED            DONE              DONE
 *         +--> DONE
 *
 *   FAILED      also from SEARCH: no candidate works, the store fails, no board is left
 *   CANCELLED   from each of the four: a client asks for it (hn_job_cancel)
 *   SUSPENDED   from each of the four: the daemon ends; a later one submits the request again
 *   NEW         from NAIVE, too: there is no room on the disk, and it waits for some
 *
 * In SEARCH candidates are asked of the policy on a thread of its own (think.c), measured
 * (hn_job_shoot, on_measured), recorded (record.c), and told to the policy and to the clients.
 *
 * A warm start is part of hn_job_start: the counters and the best come from the store,
 * and the records are told to the policy before it is first asked, so none is ever
 * repeated.
 *
 * Invariants:
 *  1. A shot is in exactly one place: ready, open, batch, storing (the store's thread reads it),
 *     told, or with the worker thread.
 *  2. Its round lives until all its shots are told or dropped.
 *  3. Counters, `best`, events and an end know only what is committed.
 *  4. While `thinking`, nobody on the loop touches `policy`.
 *  5. The store has one request of a job at a time (`asking`); its answer makes the next step.
 *  6. An ended job never leaves its state; what is still with the measurer or a worker is
 *     waited for by hn_job_idle before the memory goes.
 */
#include "daemon/daemon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "loopstate/dag/mark.h"

#define BATCH_RECORDS 32   /* committed together at most ... */
#define BATCH_NS 100000000 /* ... and at the latest after so long, when the store keeps up */
#define HELD_RECORDS 128   /* when it does not, measuring waits */
#define TRIES 5		   /* of what the infrastructure failed, ... */
#define NAIVE_TRIES 8	   /* ... of the naive program, without which there is no job, ... */
#define LOST_RUN 20	   /* tries that are lost in a row: nothing gets done here */
#define PAUSE_NS 50000000  /* ... and before the second; doubled before each one after */
#define PROGRESS_NS 250000000
#define FIRST_TRIALS 4	   /* of these one should work, ... */
#define FIRST_SECONDS 300.0 /* ... and be waited for so long beyond the budget's seconds */

static const char *const state_name[] = { "new",  "naive",  "search",    "final",
					  "done", "failed", "cancelled", "suspended" };

const char *hn_job_state_name(enum hn_job_state s)
{
	return state_name[s];
}

bool hn_job_ended(const struct hn_job *j)
{
	return j->state >= HN_JOB_DONE;
}

bool hn_job_over(const struct hn_job *j)
{
	return j->end.begun || hn_job_ended(j);
}

/* Measured, and not in the store. */
static uint32_t n_held(const struct hn_job *j)
{
	return j->batch.n + j->storing.n;
}

void hn_shots_push(struct hn_shots *q, struct hn_shot *s)
{
	s->next = NULL;
	if (q->tail != NULL) {
		q->tail->next = s;
	} else {
		q->head = s;
	}
	q->tail = s;
	q->n++;
}

struct hn_shot *hn_shots_pop(struct hn_shots *q)
{
	struct hn_shot *s = q->head;

	if (s != NULL) {
		hn_shots_remove(q, s);
	}
	return s;
}

void hn_shots_remove(struct hn_shots *q, struct hn_shot *s)
{
	struct hn_shot **at = &q->head, *before = NULL;

	while (*at != s) {
		before = *at;
		at = &before->next;
	}
	*at = s->next;
	if (q->tail == s) {
		q->tail = before;
	}
	s->next = NULL;
	q->n--;
}

void hn_shot_drop(struct hn_shot *s)
{
	struct hn_round *round = s->round;

	free(s->sample_ns);
	free(s->detail);
	free(s->certificate);
	free(s->codegen);
	s->sample_ns = NULL;
	s->detail = s->certificate = s->codegen = NULL;
	if (--round->live == 0) {
		hn_arena_fini(&round->arena);
		free(round);
	}
}

void hn_shots_drop(struct hn_shots *q)
{
	struct hn_shot *s;

	while ((s = hn_shots_pop(q)) != NULL) {
		hn_shot_drop(s);
	}
}

int64_t hn_job_remaining(const struct hn_job *j)
{
	int64_t asked = j->n_trial + j->ready.n + j->open.n + n_held(j);

	return asked < j->allowed ? j->allowed - asked : 0;
}

bool hn_job_still(const struct hn_job *j)
{
	return j->ready.n == 0 && j->open.n == 0 && !j->thinking;
}

/* Worth another try; what is NOISY has had its own already (board_tickets.c). */
static bool lost(enum hn_verdict v)
{
	return v != HN_VERDICT_OK && v != HN_VERDICT_NOISY && !hn_verdict_blames_kernel(v);
}

/* The pause before what was lost n times is tried again. */
static int64_t pause_ns(uint32_t n)
{
	return (int64_t)PAUSE_NS << (n - 1);
}

static void on_naive(void *ctx, const struct hn_measure_result *naive)
{
	struct hn_job *j = ctx;
	struct hn_err err = { 0 };

	j->naive_open = false;
	hn_daemon_wake(j->daemon);
	if (hn_job_over(j)) {
		return;
	}
	if (lost(naive->verdict) && ++j->naive_tries < NAIVE_TRIES) {
		hn_log_line(&j->daemon->log, "info", "job %s: the naive program: %s: %s", j->id,
			    hn_verdict_name(naive->verdict), naive->detail);
		j->naive_after_ns = hn_clock_ns() + pause_ns(j->naive_tries);
		return;
	}
	if (naive->verdict != HN_VERDICT_OK) {
		hn_fail(&err, HONE_E_INTERNAL, "the naive program: %s (%s)%s%s",
			hn_verdict_text(naive->verdict), hn_verdict_name(naive->verdict),
			naive->detail != NULL && *naive->detail != '\0' ? ": " : "",
			naive->detail != NULL ? naive->detail : "");
		hn_job_fail(j, &err);
		return;
	}
	j->inputs = naive->detail[0] != '\0' ? hn_arena_strdup(&j->arena, naive->detail) : NULL;
	if (j->inputs != NULL && naive->in_part) {
		j->sampled = hn_arena_printf(&j->arena, "compared on %s", j->inputs);
	}
	j->naive_share = j->naive_ns > 0 && j->naive_share > 0 ? j->naive_share
								: naive->naive_share;
	if (j->naive_ns > 0) { /* the time that was measured first stays: all jobs show the same */
		j->state = HN_JOB_SEARCH;
		hn_notify_progress(j);
		return;
	}
	if (naive->elsewhere) { /* of another clock: no time to compare with */
		j->host_ns = naive->median_ns;
		j->state = HN_JOB_SEARCH;
		hn_notify_progress(j);
		return;
	}
	j->naive_ns = naive->median_ns;
	hn_job_store_naive(j);
}

static void ask_reference(struct hn_job *j)
{
	if (hn_job_over(j)) {
		j->naive_open = false;
		hn_daemon_wake(j->daemon);
		return;
	}
	j->workload.naive_ns = j->naive_ns;
	j->workload.naive_share = j->naive_share;
	hn_measurer_workload(j->served->measurer, &j->workload, on_naive, j);
	if (j->naive_tries > 0) { /* of the try before */
		hn_measurer_forget(j->served->measurer, j->key);
	}
}

struct opening {
	struct hn_ask ask; /* first */
	struct hn_job *job;
	struct hn_workload_row row;
	char model[80];
	const char *model_name; /* that, or NULL */
	struct hn_recall known;
};

static int open_in_store(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	struct opening *o = (struct opening *)a;
	int rc = hn_db_put_workload(db, &o->row, err);

	return rc != 0 ? rc
		       : hn_recall_read(&o->known, db, o->row.key, o->job->target_line,
					o->model_name, err);
}

static void on_opened(struct hn_ask *a)
{
	struct opening *o = (struct opening *)a;
	struct hn_job *j = o->job;

	if (a->rc != 0) {
		hn_job_not_stored(j, &a->err);
	} else {
		hn_job_warm(j, &o->known);
		hn_job_recall(j, o->known.model);
		j->opened = true;
	}
	hn_recall_fini(&o->known);
	hn_job_answered(j);
	free(o);
}

bool hn_job_open(struct hn_job *j)
{
	struct opening *o;

	if (j->opened || j->asking || hn_job_over(j)) {
		return j->opened && !hn_job_over(j);
	}
	o = calloc(1, sizeof *o);
	hn_assert(o != NULL);
	o->ask = (struct hn_ask){ .writes = true, .work = open_in_store, .done = on_opened };
	o->job = j;
	o->row = (struct hn_workload_row){ .key = j->key,
					   .name = j->name,
					   .dag_json = j->dag_json,
					   .flops = j->workload.flops,
					   .cache = hn_dag_cache(j->dag) };
	o->model_name = hn_job_knowledge_name(j, o->model);
	hn_recall_init(&o->known);
	hn_job_ask(j, &o->ask);
	return false;
}

void hn_job_start(struct hn_job *j)
{
	struct hn_err err;

	if (!hn_job_open(j)) {
		return;
	}
	j->started_ns = hn_clock_ns();
	if (hn_job_remaining(j) == 0 && !hn_job_final_owed(j, j->started_ns)) {
		hn_job_finish(j, HN_JOB_DONE, "the store already holds this many trials");
		return;
	}
	if (j->set == NULL && hn_crashes_start(&j->crashes, j->n_trial, &err) != 0) {
		hn_job_fail(j, &err);
		return;
	}
	j->state = HN_JOB_NAIVE;
	if (j->set == NULL) {
		hn_jobs_store(j, HN_JOB_NAIVE);
	}
	hn_notify_progress(j);
	j->naive_open = j->known = true;
	hn_job_choose_reference(j, ask_reference);
}

static void keep_result(struct hn_shot *s, const struct hn_measure_result *r)
{
	s->verdict = r->verdict;
	s->median_ns = r->median_ns;
	s->build_ns = r->build_ns;
	s->prove_ns = r->prove_ns;
	s->run_ns = r->run_ns;
	s->kernel_ns = r->kernel_ns;
	snprintf(s->state, sizeof s->state, "%s", r->state != NULL ? r->state : "");
	s->detail = strdup(r->detail != NULL ? r->detail : "");
	s->certificate = strdup(r->certificate != NULL ? r->certificate : "");
	s->codegen = strdup(r->codegen != NULL ? r->codegen : "");
	hn_assert(s->detail != NULL && s->certificate != NULL && s->codegen != NULL);
	s->n_sample = r->n_sample;
	s->sample_ns = NULL;
	if (r->n_sample > 0) {
		s->sample_ns = malloc(r->n_sample * sizeof(double));
		hn_assert(s->sample_ns != NULL);
		memcpy(s->sample_ns, r->sample_ns, r->n_sample * sizeof(double));
	}
}

static void on_measured(void *ctx, const struct hn_measure_result *r)
{
	struct hn_shot *s = ctx;
	struct hn_job *j = s->job;

	hn_shots_remove(&j->open, s);
	hn_daemon_wake(j->daemon);
	if (j->state != HN_JOB_SEARCH || j->held || hn_job_over(j)) {
		hn_shot_drop(s);
		return;
	}
	j->n_lost_run = lost(r->verdict) ? j->n_lost_run + 1 : 0;
	if (j->n_lost_run >= LOST_RUN && !j->hopeless) {
		j->hopeless = true;
		j->n_infra_run = j->n_lost_run;
		j->fail_class = r->verdict;
	}
	if (lost(r->verdict) && ++s->tries < TRIES) {
		s->after_ns = hn_clock_ns() + pause_ns(s->tries);
		hn_shots_push(&j->ready, s);
		return;
	}
	keep_result(s, r);
	hn_shots_push(&j->batch, s);
	if (j->batch_ns == 0) {
		j->batch_ns = hn_clock_ns();
	}
	if (j->batch.n >= BATCH_RECORDS && !hn_stall_on(j->daemon)) {
		hn_job_commit(j);
	}
}

/* The oldest that does not rest; NULL when there is none. */
static struct hn_shot *take_ready(struct hn_job *j)
{
	struct hn_shot *s = j->ready.head;

	while (s != NULL && s->after_ns > 0 && s->after_ns > hn_clock_ns()) {
		s = s->next;
	}
	if (s != NULL) {
		hn_shots_remove(&j->ready, s);
	}
	return s;
}

bool hn_job_shoot(struct hn_job *j)
{
	bool may = j->state == HN_JOB_SEARCH && !j->held && !hn_job_over(j) &&
		   n_held(j) < HELD_RECORDS;
	struct hn_shot *s = may ? take_ready(j) : NULL;

	if (s == NULL) {
		return false;
	}
	hn_shots_push(&j->open, s);
	hn_measurer_submit(j->served->measurer, j->key, s->steps, j->best_ns, on_measured,
			   s);
	return true;
}

/* No candidate of the first ones worked, all for one reason: more of the same is no
 * search. */
static bool gave_up(struct hn_job *j)
{
	struct hn_err err;

	if (!j->hopeless) {
		return false;
	}
	if (j->n_infra_run > 0) {
		hn_fail(&err, HONE_E_NO_BOARD,
			"%u measurements in a row were lost (%s); `hone boards` and the log "
			"of honed say why",
			j->n_infra_run, hn_verdict_name(j->fail_class));
	} else {
		hn_fail(&err, HONE_E_INTERNAL,
			"the first %u candidates all ended as %s (%s); `hone why-failed %s` "
			"shows some, and how to repeat one",
			j->n_fail_run, hn_verdict_name(j->fail_class),
			hn_verdict_text(j->fail_class), j->id);
	}
	hn_job_fail(j, &err);
	return true;
}

double hn_job_spent_ns(const struct hn_job *j, int64_t now_ns)
{
	if (j->set != NULL) {
		return (double)j->spent_ns;
	}
	return j->started_ns != 0 ? (double)(now_ns - j->started_ns) : 0;
}

double hn_job_left_ns(const struct hn_job *j, int64_t now_ns)
{
	if (j->set != NULL) {
		return j->left_ns;
	}
	return j->budget.seconds > 0
		       ? j->budget.seconds * 1e9 - hn_job_spent_ns(j, now_ns)
		       : INFINITY;
}

bool hn_job_owes_answer(const struct hn_job *j, double left_s)
{
	return !hn_job_over(j) && j->best_ns == 0 && j->n_trial - j->n_warm < FIRST_TRIALS &&
	       !j->exhausted && left_s > -FIRST_SECONDS;
}

/* The search leaves the final its part of the seconds. */
static bool out_of_time(const struct hn_job *j, int64_t now_ns)
{
	double left = hn_job_left_ns(j, now_ns) * 1e-9;

	if (isinf(left) || (j->set == NULL && hn_job_owes_answer(j, left))) {
		return false;
	}
	return left <= (j->state == HN_JOB_SEARCH ? hn_job_final_reserve(j) : 0);
}

/* What is not measured yet will not be: the board belongs to the final. */
static void end_search(struct hn_job *j)
{
	struct hn_shot *s, *next;

	hn_shots_drop(&j->ready);
	for (s = j->open.head; s != NULL; s = next) {
		next = s->next;
		hn_measurer_cancel(j->served->measurer, s);
	}
	if (!hn_stall_on(j->daemon)) {
		hn_job_commit(j);
	}
}

void hn_job_is_through(struct hn_job *j)
{
	hn_job_finish(j, HN_JOB_DONE, j->exhausted ? "the search space is exhausted" : "");
}

static void search_is_over(struct hn_job *j, int64_t now_ns)
{
	if (j->state == HN_JOB_SEARCH) {
		end_search(j);
		j->held = true;
		if (n_held(j) > 0 || j->asking ||
		    (hn_job_final_owed(j, now_ns) && hn_job_final_waits(j))) {
			return; /* called again */
		}
		hn_job_final_begin(j);
		return;
	}
	hn_job_is_through(j);
}

void hn_job_hold(struct hn_job *j)
{
	if (!hn_job_over(j)) {
		end_search(j);
		j->allowed = 0;
		j->held = true;
	}
}

void hn_job_conclude(struct hn_job *j, double left_ns, int64_t now_ns)
{
	j->left_ns = left_ns;
	if (hn_job_over(j)) {
		return;
	}
	if (j->state == HN_JOB_SEARCH) {
		search_is_over(j, now_ns);
	} else {
		hn_job_finish(j, HN_JOB_DONE, "its set ended before its first round");
	}
}

void hn_job_step(struct hn_job *j, int64_t now_ns)
{
	uint32_t depth, want;
	bool still;

	if (j->end.begun) {
		hn_job_end_step(j);
		return;
	}
	if (hn_job_ended(j) || j->state == HN_JOB_NEW) {
		return;
	}
	if (j->state == HN_JOB_FINAL) {
		hn_job_final_step(j, now_ns);
		return;
	}
	still = hn_job_still(j);
	if (j->batch.n > 0 && (now_ns - j->batch_ns >= BATCH_NS || still)) {
		hn_job_commit(j);
	}
	if (gave_up(j)) {
		return;
	}
	if (out_of_time(j, now_ns) || (j->held && j->set == NULL)) {
		search_is_over(j, now_ns);
		return;
	}
	if (j->state == HN_JOB_NAIVE && !j->naive_open && !j->naive_owed &&
	    now_ns >= j->naive_after_ns) {
		j->naive_open = true;
		ask_reference(j);
	}
	if (j->state != HN_JOB_SEARCH) {
		return;
	}
	if (still && j->set == NULL && (j->exhausted || hn_job_remaining(j) == 0)) {
		search_is_over(j, now_ns);
		return;
	}
	if (still && n_held(j) > 0) {
		return; /* what is asked for next rests on them */
	}
	if (j->n_trial != j->told_trials && now_ns - j->told_ns >= PROGRESS_NS) {
		hn_notify_progress(j);
	}
	depth = hn_measurer_depth(j->served->measurer);
	want = depth * 4 < 16 ? 16 : depth * 4;
	if (want > hn_job_remaining(j)) {
		want = (uint32_t)hn_job_remaining(j);
	}
	if (!j->thinking && !j->exhausted && want > 0 && j->ready.n < depth * 2) {
		hn_job_think(j, want);
	}
}

bool hn_job_idle(const struct hn_job *j)
{
	return hn_job_ended(j) && j->open.n == 0 && !j->thinking && !j->naive_open &&
	       !j->final.open && !j->asking && !j->row_owed;
}

void hn_job_drop_search(struct hn_job *j)
{
	hn_shots_drop(&j->ready);
	hn_shots_drop(&j->batch);
	hn_shots_drop(&j->storing);
	hn_shots_drop(&j->told);
	if (j->policy != NULL) {
		j->ops->destroy(j->policy);
		j->policy = NULL;
	}
	hn_job_final_fini(&j->final);
	hn_arena_fini(&j->warm_arena);
	j->warm = NULL;
	j->n_warm_record = 0;
	free(j->best_steps);
	j->best_steps = NULL;
}

void hn_job_free(struct hn_job *j)
{
	hn_job_drop_search(j);
	hn_ring_fini(&j->ring);
	hn_arena_fini(&j->work);
	hn_arena_fini(&j->arena);
	free(j->owner);
	free(j);
}
