/* daemon/record.c -- results into the store, and back out of it at a warm start.
 *
 * A result is counted, reported and told to the policy only after its transaction is on
 * disk: whatever a client has heard of survives kill -9.  Kernel verdicts are records
 * too: they keep a candidate from being tried again.  Infrastructure failures are
 * counted, never stored.
 */
#include "daemon/daemon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define HOPELESS 20 /* failures of one class at the start: give up */

static bool stored(enum hn_verdict v)
{
	return v == HN_VERDICT_OK || hn_verdict_blames_kernel(v);
}

/* Certificates are kept for what is best when it comes: others are never asked for. */
static const char *certificate_of(const struct hn_job *j, const struct hn_shot *s)
{
	bool better = j->best_ns == 0 || s->median_ns < j->best_ns;

	return s->verdict == HN_VERDICT_OK && better ? s->certificate : "";
}

static struct hn_descent descent_of(const struct hn_shot *s)
{
	const struct hn_candidate *c = s->candidate;

	return (struct hn_descent){
		.parent = { c->lineage.parent[0], c->lineage.parent[1] },
		.changes = s->changes,
		.predicted_ns = c->predicted_ns,
		.model = c->model,
	};
}

/* What is wrong; of a right one, how far its time and its answers can be relied on. */
static const char *detail_of(struct hn_job *j, const struct hn_shot *s)
{
	if (s->verdict != HN_VERDICT_OK || j->sampled == NULL) {
		return s->detail;
	}
	return *s->detail == '\0'
		       ? j->sampled
		       : hn_arena_printf(&j->arena, "%s; %s", s->detail, j->sampled);
}

/* Where it was measured; of a device also at which clocks. */
static const char *board_of(struct hn_job *j, const struct hn_shot *s)
{
	return s->state[0] == '\0' ? j->served->board_stamp
				    : hn_arena_printf(&j->arena, "%s; at %s",
						      j->served->board_stamp, s->state);
}

static struct hn_record record_of(struct hn_job *j, const struct hn_shot *s)
{
	return (struct hn_record){
		.workload = j->key,
		.target = j->target_line,
		.steps = s->steps,
		.origin = s->candidate->origin,
		.verdict = s->verdict,
		.detail = detail_of(j, s),
		.median_ns = s->verdict == HN_VERDICT_OK ? s->median_ns : 0,
		.n_sample = s->n_sample,
		.sample_ns = s->sample_ns,
		.build_ns = s->build_ns,
		.run_ns = s->run_ns,
		.unix_ms = hn_clock_unix_ms(),
		/* The builder proves every candidate it hands on, and says so (measure.h). */
		.proved = s->verdict == HN_VERDICT_OK && *s->certificate != '\0',
		.certificate = certificate_of(j, s),
		.stamp = { .hone = HONE_VERSION,
			   .codegen = *s->codegen != '\0' ? s->codegen : "none",
			   .board = board_of(j, s) },
		.descent = descent_of(s),
	};
}

/* Hope is lost at a place of the sequence, whatever follows in the same batch: otherwise
 * a board fast enough to fill a batch decided whether a job fails. */
static void count(struct hn_job *j, const struct hn_shot *s)
{
	j->first_ns = j->n_trial == 0 ? hn_clock_ns() : j->first_ns;
	j->n_trial++;
	j->n_verdict[s->verdict]++;
	if (j->hopeless) {
		return;
	}
	if (s->verdict == HN_VERDICT_OK) {
		j->n_fail_run = j->n_infra_run = 0;
		return;
	}
	j->n_fail_run = s->verdict == j->fail_class ? j->n_fail_run + 1 : 1;
	j->n_infra_run = stored(s->verdict) ? 0 : j->n_infra_run + 1;
	j->fail_class = s->verdict;
	j->hopeless = j->n_infra_run >= HOPELESS ||
		      (j->n_verdict[HN_VERDICT_OK] == 0 && j->n_fail_run >= HOPELESS);
}

static void note_heuristic(struct hn_job *j, const char *origin, enum hn_verdict v,
		       double median_ns)
{
	if (v == HN_VERDICT_OK && strcmp(origin, HN_ORIGIN_HEURISTIC) == 0 &&
	    (j->heuristic_ns == 0 || median_ns < j->heuristic_ns)) {
		j->heuristic_ns = median_ns;
	}
}

/* True when a better one is among the batch. */
static bool take_best(struct hn_job *j)
{
	const struct hn_shot *best = NULL;

	for (const struct hn_shot *s = j->storing.head; s != NULL; s = s->next) {
		if (s->verdict == HN_VERDICT_OK && *s->certificate != '\0' &&
		    (j->best_ns == 0 || s->median_ns < j->best_ns)) {
			best = s;
			j->best_ns = s->median_ns;
		}
	}
	if (best == NULL) {
		return false;
	}
	free(j->best_steps);
	j->best_steps = strdup(best->steps);
	hn_assert(j->best_steps != NULL);
	return true;
}

struct commit {
	struct hn_ask ask; /* first */
	struct hn_job *job;
	uint32_t n;
	struct hn_record record[]; /* of j->storing, which nobody touches meanwhile */
};

static int append(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	struct commit *c = (struct commit *)a;

	return hn_db_append(db, c->record, c->n, err);
}

/* They are in the store: they count from now on. */
static void take_stored(struct hn_job *j, const struct hn_record *record, uint32_t n)
{
	struct hn_shot *s;
	uint32_t i = 0;
	bool better;

	for (s = j->storing.head; s != NULL; s = s->next) {
		if (stored(s->verdict)) {
			hn_final_note_record(&j->final, &record[i++], s->certificate,
					     /* at_hand= */ true);
		}
	}
	j->daemon->n_record += n;
	better = take_best(j);
	while ((s = hn_shots_pop(&j->storing)) != NULL) {
		if (s->verdict != HN_VERDICT_OK) {
			hn_log_line(&j->daemon->log, "info", "job %s: %s: %s", j->id,
				    hn_verdict_name(s->verdict), s->detail);
		}
		j->kernel_ns += s->kernel_ns;
		count(j, s);
		j->n_noisy += s->verdict == HN_VERDICT_OK && *s->detail != '\0';
		note_heuristic(j, s->candidate->origin, s->verdict, s->median_ns);
		hn_shots_push(&j->told, s);
	}
	if (better) {
		j->daemon->snapshot_due = true;
		hn_notify_best(j);
	}
}

/* They wait as before, ahead of what came since. */
static void take_back(struct hn_job *j)
{
	struct hn_shots later = j->batch;
	struct hn_shot *s;

	j->batch = j->storing;
	j->storing = (struct hn_shots){ 0 };
	while ((s = hn_shots_pop(&later)) != NULL) {
		hn_shots_push(&j->batch, s);
	}
	j->batch_ns = hn_clock_ns();
}

static void on_committed(struct hn_ask *a)
{
	struct commit *c = (struct commit *)a;
	struct hn_job *j = c->job;

	if (a->rc == 0) {
		take_stored(j, c->record, c->n);
	} else {
		take_back(j);
		hn_job_not_stored(j, &a->err);
	}
	hn_job_answered(j);
	free(c);
}

void hn_job_commit(struct hn_job *j)
{
	struct commit *c;

	if (j->asking || j->batch.n == 0) {
		return;
	}
	c = calloc(1, sizeof(*c) + j->batch.n * sizeof(c->record[0]));
	hn_assert(c != NULL);
	c->job = j;
	j->storing = j->batch;
	j->batch = (struct hn_shots){ 0 };
	j->batch_ns = 0;
	for (const struct hn_shot *s = j->storing.head; s != NULL; s = s->next) {
		if (stored(s->verdict)) {
			c->record[c->n++] = record_of(j, s);
		}
	}
	if (c->n == 0) {
		take_stored(j, NULL, 0);
		free(c);
		return;
	}
	c->ask = (struct hn_ask){ .writes = true, .work = append, .done = on_committed };
	hn_job_ask(j, &c->ask);
}

/* What versions until November 2026 stored without evidence: the words that say so.  Whoever was
 * killed or stopped from outside was stored as this, too.  Today's records of these verdicts
 * tell what they rest on instead (docs/db.md). */
static const struct {
	enum hn_verdict verdict;
	const char *detail; /* begins so, and goes on by the place, if at all */
} unproven[] = {
	{ HN_VERDICT_BUILD_FAIL, "the builder went away twice: " },
	{ HN_VERDICT_BUILD_TIMEOUT, "the builder did not answer within its time limit" },
	{ HN_VERDICT_OOM, "killed by the system, which ran out of memory" },
	{ HN_VERDICT_HANG, "did not end within its time limit, " },
};

static bool has_evidence(const struct hn_record *r)
{
	for (size_t i = 0; i < HN_COUNT_OF(unproven); i++) {
		if (r->verdict == unproven[i].verdict &&
		    strncmp(r->detail, unproven[i].detail, strlen(unproven[i].detail)) == 0) {
			return false;
		}
	}
	return true;
}

static void take_record(struct hn_job *j, const struct hn_record *r)
{
	struct hn_warm_record *w;

	if (!has_evidence(r)) {
		return; /* it may be tried again */
	}
	if ((j->n_warm_record & (j->n_warm_record + 1)) ==
	    0) { /* full at 2^k - 1: double */
		struct hn_warm_record *more =
			HN_NEW_ARRAY(&j->warm_arena, struct hn_warm_record,
				     2 * (size_t)j->n_warm_record + 2);

		if (j->n_warm_record > 0) {
			memcpy(more, j->warm, j->n_warm_record * sizeof(*more));
		}
		j->warm = more;
	}
	w = &j->warm[j->n_warm_record++];
	w->steps = hn_arena_strdup(&j->warm_arena, r->steps);
	w->verdict = r->verdict;
	w->median_ns = r->median_ns;
	j->n_verdict[r->verdict]++;
	j->n_trial++;
	j->n_warm++;
	note_heuristic(j, r->origin, r->verdict, r->median_ns);
	hn_final_note_record(&j->final, r, r->certificate, /* at_hand= */ false);
	j->final.stored_ns += (double)(r->run_ns + r->build_ns);
}

void hn_job_warm(struct hn_job *j, const struct hn_recall *r)
{
	hn_final_recall_holder(&j->final, &r->promotion);
	for (uint32_t i = 0; i < r->n; i++) {
		take_record(j, &r->record[i]);
	}
	j->naive_ns = r->naive.ns;
	j->naive_share = r->naive.share;
	if (r->best_steps != NULL) {
		j->best_ns = r->best_ns;
		j->best_steps = strdup(r->best_steps);
		hn_assert(j->best_steps != NULL);
	}
}
