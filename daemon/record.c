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
			   .board = j->daemon->board_stamp },
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

static void note_guard(struct hn_job *j, const char *origin, enum hn_verdict v,
		       double median_ns)
{
	if (v == HN_VERDICT_OK && strcmp(origin, "guard") == 0 &&
	    (j->guard_ns == 0 || median_ns < j->guard_ns)) {
		j->guard_ns = median_ns;
	}
}

/* True when a better one is among the batch. */
static bool take_best(struct hn_job *j)
{
	const struct hn_shot *best = NULL;

	for (const struct hn_shot *s = j->batch.head; s != NULL; s = s->next) {
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

bool hn_job_commit(struct hn_job *j)
{
	struct hn_record *record = calloc(j->batch.n, sizeof(*record));
	struct hn_shot *s;
	struct hn_err err;
	uint32_t n = 0, i = 0;
	bool better;

	hn_assert(record != NULL);
	for (s = j->batch.head; s != NULL; s = s->next) {
		if (stored(s->verdict)) {
			record[n++] = record_of(j, s);
		}
	}
	if (n > 0 && hn_db_append(j->daemon->db, record, n, &err) != 0) {
		free(record);
		if (!hn_stall_begin(j->daemon, &err)) {
			hn_job_fail(j, &err);
		}
		return false;
	}
	j->batch_ns = 0;
	for (s = j->batch.head; s != NULL; s = s->next) {
		if (stored(s->verdict)) {
			hn_final_note_record(&j->final, &record[i++], s->certificate,
					     /* at_hand= */ true);
		}
	}
	free(record);
	j->daemon->n_record += n;
	better = take_best(j);
	while ((s = hn_shots_pop(&j->batch)) != NULL) {
		if (s->verdict != HN_VERDICT_OK) {
			hn_log_line(&j->daemon->log, "info", "job %s: %s: %s", j->id,
				    hn_verdict_name(s->verdict), s->detail);
		}
		j->kernel_ns += s->kernel_ns;
		count(j, s);
		j->n_noisy += s->verdict == HN_VERDICT_OK && *s->detail != '\0';
		note_guard(j, s->candidate->origin, s->verdict, s->median_ns);
		hn_shots_push(&j->told, s);
	}
	if (better) {
		j->daemon->snapshot_due = true;
		hn_notify_best(j);
	}
	return true;
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

static int on_record(void *ctx, const struct hn_record *r)
{
	struct hn_job *j = ctx;
	struct hn_warm_record *w;

	if (!has_evidence(r)) {
		return 0; /* it may be tried again */
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
	note_guard(j, r->origin, r->verdict, r->median_ns);
	hn_final_note_record(&j->final, r, r->certificate, /* at_hand= */ false);
	j->final.stored_ns += (double)(r->run_ns + r->build_ns);
	return 0;
}

int hn_job_warm(struct hn_job *j, struct hn_err *err)
{
	struct hn_db *db = j->daemon->db;
	struct hn_arena scratch;
	struct hn_record best;
	struct hn_naive naive;
	int rc = hn_final_recall_holder(&j->final, db, j->key, j->target_line, err);

	if (rc == 0) {
		rc = hn_db_records(db, j->key, j->target_line, on_record, j, err);
	}
	if (rc == 0) {
		rc = hn_db_get_naive(db, j->key, j->target_line, &naive, err);
	}
	if (rc != 0) {
		return rc;
	}
	j->naive_ns = naive.ns;
	j->naive_share = naive.share;
	hn_arena_init(&scratch, 0);
	rc = hn_db_best(db, j->key, j->target_line, &scratch, &best, err);
	if (rc == 0) {
		j->best_ns = best.median_ns;
		j->best_steps = strdup(best.steps);
		hn_assert(j->best_steps != NULL);
	}
	hn_arena_fini(&scratch);
	return rc == -HONE_E_NOT_FOUND ? 0 : rc;
}
