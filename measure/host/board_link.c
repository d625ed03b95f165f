/* board_link.c -- the hone-board processes: each does one thing at a time, and is asked
 * for nothing while it is not to be believed.
 *
 * What a free board does next: its probe, if it was asked for; a canary, when one is due;
 * else the next ticket of the run queue, which all boards share.  A canary is due after a
 * start, after one that moved, when a batch is held, or what took a second, and when there is
 * nothing else to do while results are held.  A board that dies is replaced under a new epoch: what
 * it knew is forgotten with it, what it had answered since its last clean canary is done again,
 * and the request it had is tried once more.
 */
#include "measure/host/measurer_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define MAX_BATCH 16 /* answers between two canaries, of a board that is trusted, ... */
#define BATCH_NS INT64_C(1000000000) /* ... or as many as took so long: a canary takes 1 % of it */
#define PROBE_LIMIT_MS 30000
#define CANARY_LIMIT_MS 10000
#define FIRST_BACK_OFF_MS 1000

static void on_frame(void *ctx, const struct hn_frame *f);
static void on_gone(void *ctx, const struct hn_worker_end *end);

static int64_t back_off_ns(const struct hn_measurer *m)
{
	return 1000000 * (m->config.back_off_ms > 0 ? m->config.back_off_ms
						    : FIRST_BACK_OFF_MS);
}

/* How long this board would rest: nobody does its work when all others rest. */
static struct hn_back_off back_off(const struct board_link *b)
{
	struct hn_back_off rest = {.first_ns = back_off_ns(b->m), .last = true};

	for (uint32_t i = 0; i < b->m->n_board && rest.last; i++) {
		rest.last = i == b->index ||
			    hn_health_resting(&b->m->board[i].health, hn_clock_ns());
	}
	return rest;
}

static int start(struct board_link *b, struct hn_err *err)
{
	struct hn_measurer *m = b->m;
	struct hn_worker_owner owner = {.frame = on_frame,
					.gone = on_gone,
					.closed = hn_measurer_worker_closed,
					.ctx = b,
					.closed_ctx = m};
	char index[24], incarnation[24];
	const char *const args[] = {m->config.target, index, incarnation, NULL};
	int rc;

	m->n_worker++;
	b->epoch = ++m->next_epoch;
	b->want_canary = true;
	snprintf(index, sizeof index, "%" PRIu32, b->index);
	snprintf(incarnation, sizeof incarnation, "%" PRIu64, ++b->n_start);
	rc = hn_worker_start(m->loop,
			     &(struct hn_worker_program){.path = m->config.board_path,
							 .args = args,
							 .slot_fd = m->depot.boards_fd},
			     &owner, &b->worker, err);
	if (rc != 0) {
		b->worker = NULL;
	}
	return rc;
}

int hn_boards_start(struct hn_measurer *m, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < m->n_board && rc == 0; i++) {
		rc = start(&m->board[i], err);
	}
	return rc;
}

void hn_boards_stop(struct hn_measurer *m)
{
	for (uint32_t i = 0; i < m->n_board; i++) {
		hn_worker_stop(m->board[i].worker);
		m->board[i].worker = NULL;
	}
}

void hn_board_tell_probes(struct hn_measurer *m)
{
	struct hn_probe_result *peak = NULL;
	struct ticket *t;

	for (uint32_t i = 0; i < m->n_board; i++) {
		if (m->board[i].want_probe) {
			return;
		}
		if (m->board[i].probed && peak == NULL) {
			peak = &m->board[i].peak;
		}
	}
	while ((t = queue_take(&m->probing)) != NULL) {
		if (peak != NULL) {
			t->probe = *peak;
		}
		hn_ticket_finish(m, t, peak != NULL ? HN_VERDICT_OK : HN_VERDICT_NOISY,
				 peak != NULL ? "" : "no board could be probed");
	}
}

static void lost(struct board_link *b, const char *why)
{
	struct ticket *t = hn_board_release(b);

	hn_health_lost(&b->health, why, back_off(b), hn_clock_ns());
	if (b->expected == HN_FRAME_PROBED) {
		b->want_probe = false;
		hn_board_tell_probes(b->m);
	}
	hn_board_redo(b, /* lost: */ true);
	if (t != NULL) {
		hn_board_try_again(b, t, why);
	}
}

static void on_gone(void *ctx, const struct hn_worker_end *end)
{
	struct board_link *b = ctx;

	b->worker = NULL;
	lost(b, end->why);
	hn_board_link_pump(b->m);
}

static void replace(struct board_link *b, const char *why)
{
	hn_worker_stop(b->worker);
	b->worker = NULL;
	lost(b, why);
	hn_board_link_pump(b->m);
}

static void ask(struct board_link *b, uint16_t type, int64_t limit_ms)
{
	struct hn_buf json;

	hn_buf_init(&json);
	hn_buf_puts(&json, "{}");
	hn_board_send(b, type, &json, NULL, 0, limit_ms);
	hn_buf_fini(&json);
}

/* Boards of one machine share its memory and its power: one is probed at a time. */
static bool may_probe(const struct hn_measurer *m)
{
	for (uint32_t i = 0; i < m->n_board; i++) {
		if (m->board[i].busy) {
			return false;
		}
	}
	return true;
}

static void on_comeback(uv_timer_t *t)
{
	hn_board_link_pump(t->data);
}

/* Nobody is left who could take it, and nobody will be soon. */
static void refuse_waiting(struct hn_measurer *m)
{
	const struct board_link *b = m->board;
	char text[300];

	for (uint32_t i = 0; i < m->n_board; i++) {
		if (!hn_health_hopeless(&m->board[i].health, back_off_ns(m), hn_clock_ns())) {
			return;
		}
	}
	snprintf(text, sizeof text, "every board is quarantined; board %" PRIu32 ": %s",
		 b->index, b->health.why);
	while (m->to_run.first != NULL) {
		hn_ticket_finish(m, queue_take(&m->to_run), HN_VERDICT_BOARD_LOST, text);
	}
}

/* Trust grows with every clean canary: a board that keeps dying still gets something done
 * between two deaths, and a new one loses little. */
static uint32_t batch(const struct board_link *b)
{
	uint32_t n = b->health.n_clean;

	return n < 4 ? 1u << n : MAX_BATCH;
}

static bool wanted(const struct board_link *b)
{
	return b->want_probe || b->m->to_run.first != NULL || b->n_held > 0 ||
	       b->health.state != HN_HEALTH_GOOD;
}

/* Times of two boards do not compare: a final's duels all go to the first board that is
 * not in quarantine. */
static bool may_take(const struct board_link *b)
{
	const struct hn_measurer *m = b->m;
	const struct ticket *t = m->to_run.first;

	for (uint32_t i = 0; t != NULL && hn_ticket_duel(t) && i < b->index; i++) {
		if (!hn_health_resting(&m->board[i].health, hn_clock_ns())) {
			return false;
		}
	}
	return t != NULL;
}

/* Give a free board its next thing to do; false when there is none for now. */
static bool next(struct board_link *b)
{
	struct hn_measurer *m = b->m;
	struct hn_err err;

	if (hn_health_resting(&b->health, hn_clock_ns()) || !wanted(b)) {
		return false;
	}
	if (b->worker == NULL && start(b, &err) != 0) {
		if (m->to_run.first != NULL) {
			hn_ticket_finish(m, queue_take(&m->to_run), HN_VERDICT_BOARD_LOST,
					 err.msg);
		}
		lost(b, err.msg);
		return true;
	}
	if (b->want_probe) {
		if (!may_probe(m)) {
			return false;
		}
		ask(b, HN_FRAME_PROBE, PROBE_LIMIT_MS);
	} else if (b->want_canary || b->n_held >= batch(b) ||
		   b->held_ns >= BATCH_NS || (b->n_held > 0 && m->to_run.first == NULL)) {
		ask(b, HN_FRAME_CANARY, CANARY_LIMIT_MS);
	} else if (may_take(b)) {
		hn_board_give(b, queue_take(&m->to_run));
	} else {
		return false;
	}
	return true;
}

/* Wake when the first quarantine ends. */
static void arm(struct hn_measurer *m)
{
	int64_t now = hn_clock_ns(), first = INT64_MAX;

	for (uint32_t i = 0; i < m->n_board; i++) {
		const struct hn_health *h = &m->board[i].health;

		if (hn_health_resting(h, now) && h->until_ns < first) {
			first = h->until_ns;
		}
	}
	if (first != INT64_MAX) {
		uv_timer_start(&m->comeback, on_comeback,
			       (uint64_t)(first - now) / 1000000 + 1, 0);
	}
}

void hn_board_link_pump(struct hn_measurer *m)
{
	for (uint32_t i = 0; i < m->n_board && !m->closing; i++) {
		while (!m->board[i].busy && next(&m->board[i])) {
		}
	}
	if (!m->closing) {
		refuse_waiting(m);
		arm(m);
	}
}

static int on_probed(struct board_link *b, const struct hn_frame *f, struct hn_err *err)
{
	int rc = hn_wire_probed(f, &b->peak, err);

	if (rc == 0) {
		b->probed = true;
		b->want_probe = false;
		hn_board_release(b);
		hn_board_tell_probes(b->m);
	}
	return rc;
}

static int on_canaried(struct board_link *b, const struct hn_frame *f, struct hn_err *err)
{
	enum hn_verdict v;
	struct hn_canary c;
	int rc = hn_wire_canaried(f, &v, &c, err);

	if (rc != 0) {
		return rc;
	}
	hn_board_release(b);
	b->no_canary = v == HN_VERDICT_NONE;
	if (hn_health_canary(&b->health, c, back_off(b), hn_clock_ns())) {
		b->want_canary = false;
		hn_board_believe(b);
	} else {
		b->want_canary = true;
		hn_board_redo(b, /* lost: */ false);
	}
	return 0;
}

static int take(struct board_link *b, const struct hn_frame *f, struct hn_err *err)
{
	if (!b->busy || f->request != b->request || f->type != b->expected) {
		return hn_fail(err, HONE_E_CORRUPT, "%s: nobody asked for it",
			       hn_frame_name(f->type));
	}
	switch (f->type) {
	case HN_FRAME_PROBED:
		return on_probed(b, f, err);
	case HN_FRAME_CANARIED:
		return on_canaried(b, f, err);
	case HN_FRAME_WORKLOAD_READY:
		return hn_board_on_ready(b, f, err);
	default:
		return hn_board_on_measured(b, f, err);
	}
}

static void on_frame(void *ctx, const struct hn_frame *f)
{
	struct board_link *b = ctx;
	struct hn_err err;

	if (take(b, f, &err) == 0) {
		hn_board_link_pump(b->m);
	} else {
		replace(b, err.msg);
	}
}

uint32_t hn_measurer_n_boards(const struct hn_measurer *m)
{
	return m->n_board;
}

struct hn_board_state hn_measurer_board(const struct hn_measurer *m, uint32_t i)
{
	const struct board_link *b = &m->board[i];
	const struct hn_health *h = &b->health;
	int64_t now = hn_clock_ns();

	return (struct hn_board_state){
		.state = b->worker == NULL ? "down"
			 : b->busy	   ? "busy"
					   : "idle",
		.health = hn_health_name(h->state),
		.why = h->state != HN_HEALTH_GOOD ? h->why : "",
		.canary_ns = h->canary_ns,
		.reference_ns = h->reference_ns,
		.canary_allowed = h->allowed,
		.n_measured = b->n_measured,
		.n_lost = h->n_lost,
		.n_quarantine = h->n_quarantine,
		.retry_ms = hn_health_resting(h, now) ? (h->until_ns - now) / 1000000 : 0,
		.probed = b->probed,
		.probe = b->peak,
	};
}
