/* daemon/final.c -- the end of a search: its leaders against each other, the winner promoted.
 *
 * Who enters: the holder (what an earlier final promoted; without one, the fastest by
 * screening), the eight fastest that no final has judged, none of them further behind the first
 * by screening than REACH, which no luck explains; and the best heuristic schedule that no final
 * has judged: heuristics are screened first, perhaps in a slow spell of the machine that has
 * passed. Whoever wins is measured once more as one that may be the best is: compared on every set
 * of inputs (measure/drv/cpu_sets.c); what fails there is out.  Between equals the holder stays.
 * Without an earlier final that is the leader of the screening: equal means within 1 %, so the
 * choice costs nothing, and it is the one that a store without promotions already answers.
 *
 * A pair of workload and target has one final at a time, and each begins with what the store
 * holds then: other jobs of the pair may have promoted one of theirs since this one began, or
 * found one that nobody has judged.  The promotion names the holder it was held against, and the
 * store takes it only while that one holds (db/sqlite/promote.c).
 *
 * Time: at most SHARE of what the search took, and never past the job's seconds.  When there
 * is no time for the duels that a judgement of all needs, the slower ones by screening stay out;
 * when not even two can, no final is held: it stays owed, and the next job of this workload
 * holds it.  Duels may take longer than screening made believe, or than those before: then the
 * race ends when what is left is needed for the match, and the match may go on for as long again
 * until it can be judged, for a final that is cut short before says nothing.  Nothing is written
 * before the judgement, so a kill leaves the store as it was.
 */
#include "daemon/daemon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "measure/stats.h"

#define SHARE 0.15
#define LONGEST_NS 20e9
#define ALONE_NS 1e9 /* a final of one may take so long whatever the job's seconds */
#define REACH 0.9 /* of screening's luck */

static void let_go(struct hn_leader *l)
{
	free(l->steps);
	free(l->certificate);
	l->steps = l->certificate = NULL;
}

static void take(struct hn_leader *at, const struct hn_leader *record)
{
	char *steps = strdup(record->steps), *certificate = strdup(record->certificate);

	hn_assert(steps != NULL && certificate != NULL);
	let_go(at);
	*at = *record;
	at->steps = steps;
	at->certificate = certificate;
}

/* Insert by time; the slowest goes when it is full.  One entry for a program: its first. */
static void rank(struct hn_job_final *f, const struct hn_leader *record)
{
	uint32_t at = f->n_leader;

	for (uint32_t i = 0; i < f->n_leader; i++) {
		if (strcmp(f->leader[i].steps, record->steps) == 0) {
			return;
		}
	}
	while (at > 0 && f->leader[at - 1].median_ns > record->median_ns) {
		at--;
	}
	if (at == HN_LEADERS) {
		return;
	}
	if (f->n_leader == HN_LEADERS) {
		let_go(&f->leader[--f->n_leader]);
	}
	memmove(&f->leader[at + 1], &f->leader[at],
		(f->n_leader - at) * sizeof(f->leader[0]));
	f->n_leader++;
	f->leader[at].steps = f->leader[at].certificate = NULL;
	take(&f->leader[at], record);
}

void hn_final_note(struct hn_job_final *f, const struct hn_leader *record, bool heuristic)
{
	f->last_id = record->record_id > f->last_id ? record->record_id : f->last_id;
	/* no time spent: the same bytes as an earlier one, answered from memory */
	if (record->record_id <= f->judged_id || record->run_ns == 0) {
		return;
	}
	rank(f, record);
	if (heuristic &&
	    (f->heuristic.steps == NULL || record->median_ns < f->heuristic.median_ns)) {
		take(&f->heuristic, record);
	}
}

static bool entered(const struct hn_job_final *f, uint32_t n, const struct hn_leader *l)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(f->entrant[i]->steps, l->steps) == 0) {
			return true;
		}
	}
	return false;
}

/* Who would enter, the holder first. */
static uint32_t field(struct hn_job_final *f)
{
	double reach = INFINITY;
	uint32_t n = 0;

	if (f->holder.steps != NULL) {
		f->entrant[n++] = &f->holder;
		reach = f->holder.median_ns / REACH;
	}
	if (f->n_leader > 0) {
		reach = fmin(reach, f->leader[0].median_ns / REACH);
	}
	if (f->heuristic.steps != NULL && f->n_leader > 0 &&
	    strcmp(f->heuristic.steps, f->leader[0].steps) != 0 &&
	    !entered(f, n, &f->heuristic)) {
		/* after the leader, so that it is not the first to stay out */
		if (!entered(f, n, &f->leader[0])) {
			f->entrant[n++] = &f->leader[0];
		}
		f->entrant[n++] = &f->heuristic;
	}
	for (uint32_t i = 0; i < f->n_leader; i++) {
		if (f->leader[i].median_ns <= reach && !entered(f, n, &f->leader[i])) {
			f->entrant[n++] = &f->leader[i];
		}
	}
	return n;
}

/* One with entrant `who`: a run of each, which the screening has timed. */
static double duel_ns(const struct hn_job_final *f, uint32_t who)
{
	return (double)(f->entrant[0]->run_ns + f->entrant[who]->run_ns);
}

/* What the first n entrants would take: their builds, the race, n_match duels of the longest
 * match there may be. */
static double cost_ns(const struct hn_job_final *f, uint32_t n, uint32_t n_match)
{
	double sum = 0, longest = 0, build = (double)f->entrant[0]->build_ns;

	for (uint32_t i = 1; i < n; i++) {
		sum += duel_ns(f, i);
		longest = fmax(longest, duel_ns(f, i));
		build += (double)f->entrant[i]->build_ns;
	}
	return build + hn_final_race_duels(n) * sum / (n - 1) + n_match * longest;
}

/* The final's share of a job that takes so long, final included. */
static double share_ns(double job_ns)
{
	return fmin(SHARE * job_ns, LONGEST_NS);
}

/* How many can enter in that time, the first of f->entrant; 0 = no final. */
static uint32_t affordable(struct hn_job_final *f, double allowed_ns)
{
	uint32_t n = field(f);

	if (n == 1) { /* nobody to compare it with: it is proved once more, and holds, but not by a
		       * time that noise has told */
		return f->holder.steps == NULL && !f->entrant[0]->noisy &&
		       (double)f->entrant[0]->run_ns <= fmax(allowed_ns, ALONE_NS);
	}
	while (n >= 2 && cost_ns(f, n, HN_FINAL_LOOK) > allowed_ns) {
		n--;
	}
	return n >= 2 ? n : 0;
}

double hn_job_final_reserve(const struct hn_job *j)
{
	struct hn_job_final f = j->final; /* only asked who would enter */
	double all_ns = j->set != NULL ? hn_job_spent_ns(j, 0) / (1 - SHARE)
				       : j->budget.seconds * 1e9;
	double share = share_ns(all_ns);
	uint32_t n = affordable(&f, share);

	return n < 2 ? 0 : fmin(cost_ns(&f, n, 2 * HN_FINAL_LOOK), share) * 1e-9;
}

static bool same_pair(const struct hn_job *a, const struct hn_job *b)
{
	return strcmp(a->key, b->key) == 0 && strcmp(a->target_line, b->target_line) == 0;
}

bool hn_job_final_waits(const struct hn_job *j)
{
	for (const struct hn_job *o = j->daemon->jobs; o != NULL; o = o->next) {
		if (o != j && (o->state == HN_JOB_FINAL || o->final.recalling) && same_pair(o, j)) {
			return true;
		}
	}
	return false;
}

void hn_final_note_record(struct hn_job_final *f, const struct hn_record *r,
			  const char *certificate, bool at_hand)
{
	struct hn_leader l = {.record_id = r->id,
			      .median_ns = r->median_ns,
			      .run_ns = r->run_ns,
			      .build_ns = at_hand ? 0 : r->build_ns,
			      .noisy = *r->detail != '\0',
			      .steps = (char *)r->steps,
			      .certificate = (char *)certificate};

	/* one timed in noise, too, for noise only adds: were it left out and yet the store's best,
	 * a slower one would be promoted over it */
	if (r->verdict == HN_VERDICT_OK && r->proved && *certificate != '\0') {
		hn_final_note(f, &l, strcmp(r->origin, HN_ORIGIN_HEURISTIC) == 0);
	}
	if (r->id == f->holder.record_id) {
		l.median_ns = f->holder.median_ns; /* told by its final */
		take(&f->holder, &l);
	}
}

void hn_final_recall_holder(struct hn_job_final *f, const struct hn_promotion *p)
{
	if (p->record_id != f->holder.record_id) {
		let_go(&f->holder);
	}
	f->holder.record_id = p->record_id;
	f->holder.median_ns = p->median_ns;
	f->judged_id = p->judged_id;
}

static void report(struct hn_job *j, const struct hn_leader *winner, double median_ns)
{
	free(j->best_steps);
	j->best_steps = strdup(winner->steps);
	hn_assert(j->best_steps != NULL);
	j->best_ns = median_ns;
	j->daemon->snapshot_due = true;
	hn_notify_best(j);
}

/* The final says who is faster, by times of one moment; how long the winner takes is the
 * smaller of its two medians, because noise only adds.  Told by a final in a noisy moment,
 * the winner would look slower than what it has beaten, and yield to the first that is
 * screened in a quiet one. */
static double told_ns(const struct hn_leader *winner, const struct hn_final_result *r)
{
	return r->median_ns > 0 ? fmin(r->median_ns, winner->median_ns) : winner->median_ns;
}

struct promoting {
	struct hn_ask ask; /* first */
	struct hn_job *job;
	const char *certificate; /* the winner's, which stays where it is */
	struct hn_promotion promotion;
};

static int promote(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	const struct promoting *p = (struct promoting *)a;
	/* only what is best when it comes has stored its certificate already */
	int rc = hn_db_certify(db, p->promotion.record_id, p->certificate, err);

	return rc != 0 ? rc
		       : hn_db_promote(db, p->job->key, p->job->target_line, &p->promotion, err);
}

static void tell_promoted(struct hn_job *j, const struct promoting *done)
{
	struct hn_job_final *f = &j->final;
	const struct hn_promotion *p = &done->promotion;
	const struct hn_final_result *r = &f->judged;
	const struct hn_leader *winner = f->entrant[r->winner];

	hn_log_line(&j->daemon->log, "info",
		    "job %s: final of %u: record %lld, %.0f ns (screened %.0f), %s (gain "
		    "%.1f to %.1f %%, %u duels), against record %lld",
		    j->id, f->n_field, (long long)p->record_id, p->median_ns,
		    winner->median_ns,
		    r->winner > 0 ? "promoted" : "holds", 100 * r->gain_lo,
		    100 * r->gain_hi, r->n_duel, (long long)p->replaced_id);
	f->told.decided = true;
	f->told.changed = r->winner > 0;
	f->told.gain_lo = r->gain_lo;
	f->told.gain_hi = r->gain_hi;
	f->told.median_ns = p->median_ns;
	report(j, winner, p->median_ns);
}

static void on_proved(void *ctx, const struct hn_measure_result *r);
static void finish(struct hn_job *j, bool cut_short);

static void end(struct hn_job *j)
{
	struct hn_job_final *f = &j->final;
	struct hn_final_result r = { .decided = true };

	if (f->n_entrant > 1) {
		hn_final_judge(&f->state, &r);
	}
	f->told.n_field = f->n_field;
	f->told.n_duel = f->n_told;
	f->told.before_ns = j->best_ns;
	if (f->n_entrant > 0 && r.decided) {
		/* duels are on the first inputs alone, and screening spares the slow the others */
		f->judged = r;
		f->open = f->proving = true;
		hn_measurer_prove(j->served->measurer, j->key, f->entrant[r.winner]->steps,
				  on_proved, j);
		return;
	}
	finish(j, /* cut_short= */ true);
}

static void finish(struct hn_job *j, bool cut_short)
{
	struct hn_job_final *f = &j->final;

	if (cut_short) {
		hn_log_line(&j->daemon->log, "info",
			    "job %s: the final of %u was cut short after %u duels in %lld "
			    "ms; it stays owed",
			    j->id, f->n_field, f->n_told,
			    (long long)((hn_clock_ns() - f->began_ns) / 1000000));
	}
	hn_job_is_through(j);
}

static void on_promoted(struct hn_ask *a)
{
	struct promoting *p = (struct promoting *)a;
	struct hn_job *j = p->job;

	if (a->rc == 0 && j->state == HN_JOB_FINAL) {
		tell_promoted(j, p);
	} else if (a->rc == -HONE_E_BUSY) {
		hn_log_line(&j->daemon->log, "warn", "job %s: %s; it stays owed", j->id,
			    a->err.msg);
	} else if (a->rc != 0) {
		hn_job_not_stored(j, &a->err);
	}
	if (a->rc == 0 || a->rc == -HONE_E_BUSY) {
		j->final.unsaved = false;
		finish(j, /* cut_short= */ false);
	}
	hn_job_answered(j);
	free(p);
}

void hn_job_final_save(struct hn_job *j)
{
	struct hn_job_final *f = &j->final;
	const struct hn_leader *winner = f->entrant[f->judged.winner];
	const struct hn_final_result *r = &f->judged;
	struct promoting *p = calloc(1, sizeof *p);

	hn_assert(p != NULL);
	f->unsaved = true;
	p->ask = (struct hn_ask){ .writes = true, .work = promote, .done = on_promoted };
	p->job = j;
	p->certificate = winner->certificate;
	p->promotion = (struct hn_promotion){
		.record_id = winner->record_id,
		.replaced_id = f->holder.record_id,
		.judged_id = f->last_id,
		.median_ns = told_ns(winner, r),
		.gain_lo = r->gain_lo,
		.gain_hi = r->gain_hi,
		.n_entrant = f->n_field,
		.n_block = r->n_duel,
		.unix_ms = hn_clock_unix_ms(),
	};
	hn_job_ask(j, &p->ask);
}

static void duel(struct hn_job *j);

/* A program that fails in the final, in yet another process, is out; the others begin anew. */
static void drop_entrant(struct hn_job *j, uint32_t who)
{
	struct hn_job_final *f = &j->final;

	memmove(&f->entrant[who], &f->entrant[who + 1],
		(--f->n_entrant - who) * sizeof(f->entrant[0]));
	if (f->n_entrant > 1) {
		hn_final_init(&f->state, f->n_entrant, j->budget.seed);
	}
}

static void on_dueled(void *ctx, const struct hn_measure_result *r)
{
	struct hn_job *j = ctx;
	struct hn_job_final *f = &j->final;
	uint32_t who;

	f->open = false;
	hn_daemon_wake(j->daemon);
	if (j->state != HN_JOB_FINAL || hn_job_over(j)) {
		return;
	}
	j->kernel_ns += r->kernel_ns;
	hn_final_next(&f->state, &who);
	if (r->verdict == HN_VERDICT_OK) {
		hn_final_tell(&f->state,
			      hn_stats_log_ratio(r->sample_ns, r->rival_ns, r->n_sample),
			      r->median_ns, hn_stats_median(r->rival_ns, r->n_sample));
		f->n_told++;
	} else if (hn_verdict_blames_kernel(r->verdict)) {
		who = r->rivals ? who : 0;
		hn_log_line(&j->daemon->log, "warn", "job %s: record %lld in the final: %s: %s",
			    j->id, (long long)f->entrant[who]->record_id,
			    hn_verdict_name(r->verdict), r->detail);
		drop_entrant(j, who);
	} else if (++f->n_lost >= HN_FINAL_LOST) {
		f->deadline_ns = f->latest_ns = 0;
	}
	duel(j);
}

/* The winner was compared on every set of inputs: it is promoted, or out. */
static void on_proved(void *ctx, const struct hn_measure_result *r)
{
	struct hn_job *j = ctx;
	struct hn_job_final *f = &j->final;
	uint32_t who = f->judged.winner;

	f->open = f->proving = false;
	hn_daemon_wake(j->daemon);
	if (j->state != HN_JOB_FINAL || hn_job_over(j)) {
		return;
	}
	j->kernel_ns += r->kernel_ns;
	if (r->verdict == HN_VERDICT_OK) {
		hn_job_final_save(j);
	} else if (hn_verdict_blames_kernel(r->verdict)) {
		hn_log_line(&j->daemon->log, "warn", "job %s: record %lld won its final: %s: %s",
			    j->id, (long long)f->entrant[who]->record_id,
			    hn_verdict_name(r->verdict), r->detail);
		drop_entrant(j, who);
		duel(j);
	} else {
		finish(j, /* cut_short= */ true);
	}
}

void hn_job_final_hurry(struct hn_job_final *f, int64_t now_ns)
{
	double duel_ns = (double)(now_ns - f->began_ns) / fmax(f->n_told, 1);

	if (f->n_entrant > 1 &&
	    (double)(f->deadline_ns - now_ns) < HN_FINAL_LOOK * duel_ns) {
		hn_final_end_race(&f->state);
	}
}

bool hn_job_final_over(const struct hn_job_final *f, int64_t now_ns)
{
	struct hn_final_result r = {.decided = true};

	if (now_ns >= f->deadline_ns && now_ns < f->latest_ns && f->n_entrant > 1) {
		hn_final_judge(&f->state, &r);
	}
	return now_ns >= f->deadline_ns && r.decided;
}

static void duel(struct hn_job *j)
{
	struct hn_job_final *f = &j->final;
	uint32_t who;

	hn_job_final_hurry(f, hn_clock_ns());
	if (f->n_entrant < 2 || hn_job_final_over(f, hn_clock_ns()) ||
	    !hn_final_next(&f->state, &who)) {
		end(j);
		return;
	}
	f->open = true;
	hn_measurer_duel(j->served->measurer, j->key, f->entrant[0]->steps,
			 f->entrant[who]->steps, on_dueled, j);
}

/* The time it may take from now on. */
static double allowance_ns(const struct hn_job *j, int64_t now_ns)
{
	double spent = hn_job_spent_ns(j, now_ns);
	double share = share_ns((spent + j->final.stored_ns) / (1 - SHARE));

	return fmin(share, hn_job_left_ns(j, now_ns));
}

bool hn_job_final_owed(const struct hn_job *j, int64_t now_ns)
{
	struct hn_job_final f = j->final;

	return affordable(&f, allowance_ns(j, now_ns)) > 0;
}

/* False: there is nothing to decide, or no time for it. */
static bool begin(struct hn_job *j, int64_t now_ns)
{
	struct hn_job_final *f = &j->final;
	double allowed = allowance_ns(j, now_ns);
	uint32_t n = affordable(f, allowed);

	if (n == 0) {
		return false;
	}
	f->n_entrant = f->n_field = n;
	f->began_ns = now_ns;
	f->deadline_ns = now_ns + (int64_t)allowed;
	f->latest_ns = now_ns + (int64_t)fmin(2 * allowed, hn_job_left_ns(j, now_ns));
	j->state = HN_JOB_FINAL;
	if (n > 1) {
		hn_final_init(&f->state, n, j->budget.seed);
	}
	hn_notify_progress(j);
	duel(j);
	return true;
}

struct recalling {
	struct hn_ask ask; /* first */
	struct hn_job *job;
	struct hn_recall known;
};

static int recall(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	struct recalling *r = (struct recalling *)a;

	return hn_recall_read(&r->known, db, r->job->key, r->job->target_line, NULL, err);
}

/* What the store says now: who holds the title, which records are settled, and all leaders. */
static void on_recalled(struct hn_ask *a)
{
	struct recalling *r = (struct recalling *)a;
	struct hn_job *j = r->job;
	struct hn_job_final *f = &j->final;

	f->recalling = false;
	hn_job_answered(j);
	if (a->rc != 0) {
		hn_job_fail(j, &a->err);
	} else if (!hn_job_over(j)) {
		hn_final_recall_holder(f, &r->known.promotion);
		for (uint32_t i = 0; i < r->known.n; i++) {
			const struct hn_record *x = &r->known.record[i];

			hn_final_note_record(f, x, x->certificate, /* at_hand= */ false);
		}
		if (!begin(j, hn_clock_ns())) {
			hn_job_is_through(j);
		}
	}
	hn_recall_fini(&r->known);
	free(r);
}

void hn_job_final_begin(struct hn_job *j)
{
	struct recalling *r = calloc(1, sizeof *r);

	hn_assert(r != NULL);
	r->ask = (struct hn_ask){ .work = recall, .done = on_recalled };
	r->job = j;
	hn_recall_init(&r->known);
	j->final.recalling = true;
	hn_job_ask(j, &r->ask);
}

void hn_job_final_step(struct hn_job *j, int64_t now_ns)
{
	struct hn_job_final *f = &j->final;

	if (f->proving || f->unsaved || !hn_job_final_over(f, now_ns)) {
		return;
	}
	if (f->open) { /* one winner at a time is proved: on_dueled ends it */
		hn_measurer_cancel(j->served->measurer, j);
		return;
	}
	end(j);
}

void hn_job_final_fini(struct hn_job_final *f)
{
	for (uint32_t i = 0; i < f->n_leader; i++) {
		let_go(&f->leader[i]);
	}
	let_go(&f->heuristic);
	let_go(&f->holder);
}
