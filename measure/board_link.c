/* board_link.c -- the one hone-board process: one run at a time.
 *
 *     IDLE -(candidate, board does not know its workload)-> MAKING -(READY)-> RUNNING ->
 * IDLE IDLE -(workload, probe, or known candidate)--------------------------> RUNNING ->
 * IDLE
 *
 * A board that dies is replaced under a new epoch: what it knew is forgotten with it, and
 * the request it had is tried once more.
 */
#include "measure/measurer_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 2
#define GRACE_MS 10000 /* the board kills its children itself; this is for the board */
#define NAIVE_LIMIT_MS 120000
#define PROBE_LIMIT_MS 30000
#define MAX_KNOWN 1024

static void on_frame(void *ctx, const struct hn_frame *f);
static void on_gone(void *ctx, bool late, const char *why);

int hn_board_link_start(struct hn_measurer *m, struct hn_err *err)
{
	struct hn_worker_owner owner = {.frame = on_frame,
					.gone = on_gone,
					.closed = hn_measurer_worker_closed,
					.ctx = m,
					.closed_ctx = m};
	int rc;

	m->n_worker++;
	m->board.epoch++;
	rc = hn_worker_start(m->loop, m->config.board_path, m->config.target, 0, &owner,
			     &m->board.worker, err);
	if (rc != 0) {
		m->board.worker = NULL;
	}
	return rc;
}

void hn_board_link_stop(struct hn_measurer *m)
{
	hn_worker_stop(m->board.worker);
	m->board.worker = NULL;
}

static struct ticket *release(struct board_link *b)
{
	struct ticket *t = b->ticket;

	b->busy = false;
	b->making = false;
	b->making_of = NULL;
	b->ticket = NULL;
	if (b->worker != NULL) {
		hn_worker_deadline(b->worker, 0);
	}
	return t;
}

static void lost(struct hn_measurer *m, const char *why)
{
	struct ticket *t = release(&m->board);
	char text[300];

	if (t == NULL) {
		return;
	}
	if (t->n_run < TRIES) {
		queue_put_first(&m->to_run, t);
		return;
	}
	snprintf(text, sizeof text, "the board went away twice: %.200s", why);
	hn_ticket_finish(m, t, HN_VERDICT_BOARD_LOST, text);
}

static void on_gone(void *ctx, bool late, const char *why)
{
	struct hn_measurer *m = ctx;

	(void)late;
	m->board.worker = NULL;
	lost(m, why);
	hn_board_link_pump(m);
}

static void replace(struct hn_measurer *m, const char *why)
{
	hn_board_link_stop(m);
	lost(m, why);
	hn_board_link_pump(m);
}

/* Every request has one kind of answer. */
static uint16_t answer_to(uint16_t type)
{
	return type == HN_FRAME_WORKLOAD ? HN_FRAME_WORKLOAD_READY
	       : type == HN_FRAME_PROBE	 ? HN_FRAME_PROBED
					 : HN_FRAME_MEASURED;
}

static void send_frame(struct hn_measurer *m, uint16_t type, const struct hn_buf *json,
		       const struct artefact *blob, int64_t limit_ms)
{
	struct hn_frame f = {.type = type,
			     .request = ++m->next_request,
			     .json = json->s,
			     .json_bytes = (uint32_t)json->n};

	if (blob != NULL) {
		f.blob = blob->object;
		f.blob_bytes = blob->object_bytes;
	}
	m->board.busy = true;
	m->board.request = f.request;
	m->board.expected = answer_to(type);
	hn_worker_send(m->board.worker, &f);
	hn_worker_deadline(m->board.worker, limit_ms);
}

static void send_workload(struct hn_measurer *m, struct workload *w)
{
	struct hn_buf json;

	hn_buf_init(&json);
	hn_wire_workload(m, w, &json);
	m->board.making_of = w;
	send_frame(m, HN_FRAME_WORKLOAD, &json, &w->naive, NAIVE_LIMIT_MS + GRACE_MS);
	hn_buf_fini(&json);
}

static void send_measure(struct hn_measurer *m, struct ticket *t)
{
	struct hn_buf json;

	hn_buf_init(&json);
	hn_wire_measure(m, t, &json);
	send_frame(m, HN_FRAME_MEASURE, &json, &t->artefact,
		   m->config.run_limit_ms + GRACE_MS);
	hn_buf_fini(&json);
}

static void send_probe(struct hn_measurer *m)
{
	struct hn_buf json;

	hn_buf_init(&json);
	hn_buf_puts(&json, "{}");
	send_frame(m, HN_FRAME_PROBE, &json, NULL, PROBE_LIMIT_MS);
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

/* Same bytes, same answer: what the kernel is to blame for, and good times. */
static void remember(struct workload *w, const struct ticket *t)
{
	const struct outcome *o = &t->outcome;
	struct known_run *k;

	if (o->verdict != HN_VERDICT_OK && !hn_verdict_blames_kernel(o->verdict)) {
		return;
	}
	if (w->known == NULL) {
		w->known = calloc(MAX_KNOWN, sizeof *w->known);
		hn_assert(w->known != NULL);
	}
	k = &w->known[w->next_known];
	w->next_known = (w->next_known + 1) % MAX_KNOWN;
	w->n_known += w->n_known < MAX_KNOWN;
	free(k->sample_ns);
	*k = (struct known_run){
		.verdict = o->verdict, .n_sample = o->n_sample, .run_ns = o->run_ns};
	memcpy(k->hash, t->artefact.hash, sizeof k->hash);
	memcpy(k->detail, o->detail, sizeof k->detail);
	k->sample_ns = malloc((o->n_sample + 1) * sizeof(double));
	hn_assert(k->sample_ns != NULL);
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
static void adopt_naive(struct ticket *t)
{
	if (t->artefact.object != NULL) {
		free(t->w->naive.object);
		t->w->naive = t->artefact;
		t->artefact.object = NULL;
	}
}

static void give(struct hn_measurer *m, struct ticket *t)
{
	const struct known_run *k;

	switch (t->kind) {
	case TICKET_WORKLOAD:
		adopt_naive(t);
		t->n_run++;
		m->board.ticket = t;
		send_workload(m, t->w);
		break;
	case TICKET_PROBE:
		t->n_run++;
		m->board.ticket = t;
		send_probe(m);
		break;
	case TICKET_CANDIDATE:
		k = known(t->w, t->artefact.hash);
		if (k != NULL) {
			answer_known(m, t, k);
			return;
		}
		m->board.ticket = t;
		t->n_run++;
		m->board.making = t->w->on_board != m->board.epoch;
		if (m->board.making) {
			send_workload(m, t->w);
		} else {
			send_measure(m, t);
		}
		break;
	}
}

void hn_board_link_pump(struct hn_measurer *m)
{
	struct hn_err err;

	while (!m->board.busy && !m->closing && m->to_run.first != NULL) {
		if (m->board.worker == NULL && hn_board_link_start(m, &err) != 0) {
			hn_ticket_finish(m, queue_take(&m->to_run), HN_VERDICT_BOARD_LOST,
					 err.msg);
			continue;
		}
		give(m, queue_take(&m->to_run));
	}
}

static bool on_probed(struct hn_measurer *m, const struct hn_frame *f)
{
	struct hn_probe_result peak;
	struct ticket *t;

	if (!hn_wire_probed(f, &peak)) {
		return false;
	}
	m->peak = peak;
	m->probed = true;
	t = release(&m->board);
	if (t != NULL) {
		t->probe = peak;
		hn_ticket_finish(m, t, HN_VERDICT_OK, "");
	}
	return true;
}

static bool on_ready(struct hn_measurer *m, const struct hn_frame *f)
{
	struct board_link *b = &m->board;
	struct workload *w = b->making_of;
	struct ticket *t;
	struct outcome o;
	bool making = b->making;

	memset(&o, 0, sizeof o);
	if (w == NULL || !hn_wire_measured(f, &o)) {
		return false;
	}
	if (o.verdict == HN_VERDICT_OK) {
		w->on_board = b->epoch;
		w->ready = true;
	}
	t = release(b);
	if (t == NULL) {
		return true;
	}
	if (making && o.verdict == HN_VERDICT_OK) {
		b->ticket = t;
		send_measure(m, t);
	} else if (making) {
		hn_ticket_finish(m, t, HN_VERDICT_BOARD_LOST, o.detail);
	} else {
		o.build_ns = t->outcome.build_ns;
		t->outcome = o;
		hn_ticket_finish(m, t, o.verdict, t->outcome.detail);
	}
	return true;
}

static bool on_measured(struct hn_measurer *m, const struct hn_frame *f)
{
	struct ticket *t;
	struct outcome o;

	memset(&o, 0, sizeof o);
	if (!hn_wire_measured(f, &o)) {
		return false;
	}
	t = release(&m->board);
	if (t == NULL) {
		return true;
	}
	if (o.verdict == HN_VERDICT_NONE) {
		/* it fell out of the board's memory: make it known again, once */
		t->w->on_board = 0;
		if (t->n_run < TRIES) {
			queue_put_first(&m->to_run, t);
		} else {
			hn_ticket_finish(m, t, HN_VERDICT_BOARD_LOST, o.detail);
		}
		return true;
	}
	o.build_ns = t->outcome.build_ns;
	o.prove_ns = t->outcome.prove_ns;
	t->outcome = o;
	remember(t->w, t);
	hn_ticket_finish(m, t, o.verdict, t->outcome.detail);
	return true;
}

static void on_frame(void *ctx, const struct hn_frame *f)
{
	struct hn_measurer *m = ctx;
	bool good = m->board.busy && f->request == m->board.request &&
		    f->type == m->board.expected;

	if (good && f->type == HN_FRAME_PROBED) {
		good = on_probed(m, f);
	} else if (good && f->type == HN_FRAME_WORKLOAD_READY) {
		good = on_ready(m, f);
	} else if (good) {
		good = on_measured(m, f);
	}
	if (good) {
		hn_board_link_pump(m);
	} else {
		replace(m, "an answer that makes no sense");
	}
}
