/* board_tickets.c -- one request on one board, and what its answer is worth.
 *
 *     IDLE -(candidate whose workload the board does not know)-> MAKING -(READY)-> RUNNING
 *     IDLE -(workload, or known candidate)-----------------------------------------^
 *     RUNNING -(answer)-> IDLE, the ticket among the held ones
 *
 * What the board found noisy runs again after whatever else waits.  When it stays noisy, that
 * is a duel's answer; a candidate's time is told with a warning: the search can go on by it,
 * and nothing else (measure.h).  Held tickets are finished when the board's next canary is clean,
 * and measured again, preferably elsewhere, when it is not: nothing from a bad window is ever told.
 * A board that finds another object in a slot than was announced says so, and it is built anew.
 */
#include "measure/host/measurer_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 3 /* of what a board was lost with */
#define REDOS 8	     /* of what a canary did not confirm, ... */
#define REDO_NS INT64_C(15000000000) /* all its runs together: then its time is what it is */
#define LOST_REDOS 50 /* ... and of what was lost with its board before one came */
#define NOISY_REDOS 1 /* more runs of what other programs disturbed, where they are short ... */
#define NOISY_NS INT64_C(2000000000) /* ... (a long one is hardly alone); of a duel: */
#define NOISY_DUELS 3
#define GRACE_MS 10000 /* the board kills its children itself; this is for the board */
#define NAIVE_LIMIT_MS 120000
#define MAX_KNOWN 1024

void hn_board_send(struct board_link *b, uint16_t type, const struct hn_buf *json,
		   const void *blob, uint32_t blob_bytes, int64_t limit_ms)
{
	struct hn_frame f = {.type = type,
			     .request = ++b->m->next_request,
			     .json = json->s,
			     .json_bytes = (uint32_t)json->n,
			     .blob = blob,
			     .blob_bytes = blob_bytes};

	b->busy = true;
	b->request = f.request;
	b->expected = (uint16_t)hn_frame_reply((enum hn_frame_type)type);
	hn_worker_send(b->worker, &f);
	hn_worker_deadline(b->worker, limit_ms);
}

struct ticket *hn_board_release(struct board_link *b)
{
	struct ticket *t = b->ticket;

	b->busy = false;
	b->making = false;
	if (b->making_of != NULL) {
		hn_workload_let_go(b->m, b->making_of);
		b->making_of = NULL;
	}
	b->ticket = NULL;
	if (b->worker != NULL) {
		hn_worker_deadline(b->worker, 0);
	}
	return t;
}

static int64_t grace_ms(const struct hn_measurer *m)
{
	return m->config.board_grace_ms > 0 ? m->config.board_grace_ms : GRACE_MS;
}

static void send_workload(struct board_link *b, struct workload *w)
{
	struct hn_buf json;

	hn_buf_init(&json);
	hn_wire_workload(w, &json);
	b->making_of = hn_workload_use(w);
	hn_board_send(b, HN_FRAME_WORKLOAD, &json, w->naive.object, w->naive.object_bytes,
		      NAIVE_LIMIT_MS + grace_ms(b->m));
	hn_buf_fini(&json);
}

/* What is in a slot the board takes from there. */
static void add_object(const struct artefact *a, struct hn_buf *blob)
{
	if (a->slot == 0) {
		hn_buf_add(blob, a->object, a->object_bytes);
	}
}

static void send_measure(struct board_link *b, struct ticket *t)
{
	/* a board that compiles has its time for that, and again in the first run */
	int64_t times = b->m->takes == HN_BOARD_TAKES_MODULE
				? HN_GPU_CROWDED_TIMES * (1 + 2 * HN_GPU_COMPILE_TIMES)
			: b->m->takes == HN_BOARD_TAKES_PROGRAM ? HN_PROGRAM_TIMES
								: 1;
	struct hn_buf json, blob;

	hn_buf_init(&json);
	hn_buf_init(&blob);
	hn_wire_measure(b->m, t, &json);
	add_object(&t->program.artefact, &blob);
	add_object(&t->rival.artefact, &blob); /* not a duel: it has none */
	hn_assert(!blob.failed);
	hn_board_send(b, HN_FRAME_MEASURE, &json, blob.s, (uint32_t)blob.n,
		      hn_wire_limit_ms(b->m, t->w) * times + grace_ms(b->m));
	hn_buf_fini(&blob);
	hn_buf_fini(&json);
}

static struct known_run *known(struct workload *w, const char *hash)
{
	for (uint32_t i = 0; i < w->n_known; i++) {
		if (strcmp(w->known[i].hash, hash) == 0) {
			return &w->known[i];
		}
	}
	return NULL;
}

/* Its time is told with a warning. */
static bool uncertain(const struct outcome *o)
{
	return o->verdict == HN_VERDICT_OK && *o->detail != '\0';
}

/* Room for one more: the ring grows until it has MAX_KNOWN, then its oldest gives way. */
static struct known_run *known_room(struct workload *w)
{
	struct known_run *k;

	if (w->n_known == w->cap_known && w->cap_known < MAX_KNOWN) {
		w->cap_known = w->cap_known == 0 ? 16 : 2 * w->cap_known;
		w->known = realloc(w->known, w->cap_known * sizeof *w->known);
		hn_assert(w->known != NULL);
		w->next_known = w->n_known;
	}
	k = &w->known[w->next_known];
	w->next_known = (w->next_known + 1) % w->cap_known;
	if (w->n_known < w->cap_known) {
		w->n_known++;
	} else {
		free(k->sample_ns);
		free(k->detail);
	}
	return k;
}

/* Same bytes, same answer: what the kernel is to blame for, and good times. */
static void remember(struct workload *w, const struct ticket *t)
{
	const struct outcome *o = &t->outcome;
	struct known_run *k;

	if (uncertain(o) ||
	    (o->verdict != HN_VERDICT_OK && !hn_verdict_blames_kernel(o->verdict))) {
		return;
	}
	k = known_room(w);
	*k = (struct known_run){.verdict = o->verdict,
				.detail = strdup(o->detail),
				.n_sample = o->n_sample,
				.sample_ns = malloc((o->n_sample + 1) * sizeof(double)),
				.run_ns = o->run_ns};
	hn_assert(k->detail != NULL && k->sample_ns != NULL);
	memcpy(k->hash, t->program.artefact.hash, sizeof k->hash);
	memcpy(k->sample_ns, o->sample_ns, o->n_sample * sizeof(double));
}

static void answer_known(struct hn_measurer *m, struct ticket *t,
			 const struct known_run *k)
{
	struct outcome *o = &t->outcome;

	o->n_sample = k->n_sample;
	memcpy(o->sample_ns, k->sample_ns, k->n_sample * sizeof(double));
	hn_ticket_finish(m, t, k->verdict, k->detail);
}

/* The naive object becomes its workload's, to be shown to every board that asks. */
static void adopt_naive(struct hn_measurer *m, struct ticket *t)
{
	struct artefact *a = &t->program.artefact;

	if (a->object_bytes > 0) {
		hn_artefact_drop(m, &t->w->naive);
		t->w->naive = *a;
		*a = (struct artefact){.slot = 0};
	}
}

void hn_board_give(struct board_link *b, struct ticket *t)
{
	const struct known_run *k;

	if (t->kind == TICKET_WORKLOAD) {
		adopt_naive(b->m, t);
		t->n_run++;
		b->ticket = t;
		send_workload(b, t->w);
		return;
	}
	k = hn_ticket_duel(t) || t->anew ? NULL : known(t->w, t->program.artefact.hash);
	if (k != NULL) {
		answer_known(b->m, t, k);
		return;
	}
	b->ticket = t;
	t->n_run++;
	b->making = t->w->on_board[b->index] != b->epoch;
	if (b->making) {
		send_workload(b, t->w);
	} else {
		send_measure(b, t);
	}
}

void hn_board_try_again(struct board_link *b, struct ticket *t, const char *why)
{
	char text[300];

	if (t->n_run < TRIES) {
		queue_put_first(&b->m->to_run, t);
		return;
	}
	snprintf(text, sizeof text, "the board went away %d times: %.200s", TRIES, why);
	hn_ticket_finish(b->m, t, HN_VERDICT_BOARD_LOST, text);
}

/* What may enter a final is kept with its object. */
static void keep(struct hn_measurer *m, const struct ticket *t)
{
	const struct outcome *o = &t->outcome;

	if (o->verdict == HN_VERDICT_OK && !uncertain(o) &&
	    (t->best_ns <= 0 || hn_stats_median(o->sample_ns, o->n_sample) <=
					HN_KEPT_REACH * t->best_ns)) {
		hn_kept_put(m, t->w, &t->program);
	}
}

/* What is said of a workload is the same for all who ask. */
static void keep_naive(const struct ticket *t)
{
	const struct outcome *o = &t->outcome;
	struct workload *w = t->w;

	w->ready = true;
	memcpy(w->inputs, o->detail, sizeof w->inputs);
	w->naive_ns = hn_stats_median(o->sample_ns, o->n_sample);
	w->naive_share = o->naive_share;
	w->in_part = o->in_part;
}

static void finish(struct hn_measurer *m, struct ticket *t)
{
	if (t->kind == TICKET_CANDIDATE && !hn_ticket_duel(t)) {
		remember(t->w, t);
		keep(m, t);
	}
	if (t->kind == TICKET_WORKLOAD && t->outcome.verdict == HN_VERDICT_OK) {
		keep_naive(t);
	}
	hn_ticket_finish(m, t, t->outcome.verdict, t->outcome.detail);
}

/* Answered: told at once by a board without a canary, else after the next clean one. */
static void hold(struct board_link *b, struct ticket *t)
{
	b->n_measured += t->kind == TICKET_CANDIDATE;
	if (b->no_canary) {
		finish(b->m, t);
		return;
	}
	queue_put(&b->held, t);
	b->n_held++;
	b->held_ns += t->outcome.run_ns;
}

void hn_board_believe(struct board_link *b)
{
	struct ticket *t;

	while ((t = queue_take(&b->held)) != NULL) {
		finish(b->m, t);
	}
	b->n_held = 0;
	b->held_ns = 0;
}

/* Right, and timed as well as it could be. */
static void warn_of_noise(const struct ticket *t, struct outcome *o)
{
	char why[sizeof o->detail];

	if (hn_ticket_duel(t) || o->n_sample == 0) {
		return;
	}
	memcpy(why, o->detail, sizeof why);
	o->verdict = HN_VERDICT_OK;
	snprintf(o->detail, sizeof o->detail, "%s: %.380s",
		 hn_verdict_name(HN_VERDICT_NOISY), why);
}

/* Measured, and so long that the machine will hardly be stiller next time. */
static bool long_enough(const struct ticket *t)
{
	return t->kind == TICKET_CANDIDATE && !hn_ticket_duel(t) && t->all_run_ns >= REDO_NS &&
	       t->outcome.verdict == HN_VERDICT_OK;
}

void hn_board_redo(struct board_link *b, bool lost)
{
	struct ticket *t;

	while ((t = queue_take(&b->held)) != NULL) {
		t->n_run = 0;
		if (!lost && long_enough(t)) {
			snprintf(t->outcome.detail, sizeof t->outcome.detail,
				 "the board did not hold still");
			warn_of_noise(t, &t->outcome);
			finish(b->m, t);
		} else if (lost ? ++t->n_redo_lost <= LOST_REDOS : ++t->n_redo <= REDOS) {
			queue_put_first(&b->m->to_run, t);
		} else if (lost) {
			hn_ticket_finish(b->m, t, HN_VERDICT_BOARD_LOST,
					 "no board stayed until a canary confirmed it");
		} else {
			hn_ticket_finish(b->m, t, HN_VERDICT_NOISY,
					 "no board held still while it was measured");
		}
	}
	b->n_held = 0;
	b->held_ns = 0;
}

int hn_board_on_ready(struct board_link *b, const struct hn_frame *f, struct hn_err *err)
{
	struct workload *w = b->making_of;
	bool making = b->making;
	struct ticket *t;
	struct outcome o;

	memset(&o, 0, sizeof o);
	int rc = hn_wire_ready(f, &o, err);

	if (rc != 0) {
		return rc;
	}
	if (o.verdict == HN_VERDICT_OK) {
		w->on_board[b->index] = b->epoch;
	}
	t = hn_board_release(b);
	if (t == NULL) {
		return 0;
	}
	if (making && o.verdict == HN_VERDICT_OK) {
		b->ticket = t;
		send_measure(b, t);
	} else if (making) {
		hn_ticket_finish(b->m, t, HN_VERDICT_BOARD_LOST, o.detail);
	} else {
		o.build_ns = t->outcome.build_ns;
		if (o.verdict == HN_VERDICT_OK && w->counted_ns > 0) {
			o.n_sample = 1; /* not what this machine's cores took for the reference */
			o.sample_ns[0] = w->counted_ns;
			o.naive_share = 0;
		}
		t->outcome = o;
		hold(b, t);
	}
	return 0;
}

int hn_board_on_measured(struct board_link *b, const struct hn_frame *f, struct hn_err *err)
{
	struct ticket *t;
	struct outcome o;

	memset(&o, 0, sizeof o);
	int rc = hn_wire_measured(f, b->ticket != NULL && hn_ticket_duel(b->ticket), &o, err);

	if (rc != 0) {
		return rc;
	}
	t = hn_board_release(b);
	if (t == NULL) {
		return 0;
	}
	if (o.verdict == HN_VERDICT_NONE) {
		/* it fell out of the board's memory: make it known again, once */
		t->w->on_board[b->index] = 0;
		if (t->n_run < TRIES) {
			queue_put_first(&b->m->to_run, t);
		} else {
			hn_ticket_finish(b->m, t, HN_VERDICT_BOARD_LOST, o.detail);
		}
		return 0;
	}
	if (o.verdict == HN_VERDICT_BUILDER_LOST) {
		hn_builders_redo(b->m, t, o.detail);
		return 0;
	}
	t->all_run_ns += o.run_ns;
	if (o.verdict == HN_VERDICT_NOISY) {
		bool once_more = hn_ticket_duel(t) || t->all_run_ns < NOISY_NS;

		if (once_more && t->n_noisy++ < (hn_ticket_duel(t) ? NOISY_DUELS : NOISY_REDOS)) {
			t->n_run--; /* it was not lost */
			queue_put(&b->m->to_run, t);
			return 0;
		}
		warn_of_noise(t, &o);
	}
	o.build_ns = t->outcome.build_ns;
	o.prove_ns = t->outcome.prove_ns;
	t->outcome = o;
	hold(b, t);
	return 0;
}
