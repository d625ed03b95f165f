/* builders.c -- the pool of hone-build processes.
 *
 * Builders run at the lowest priority: on a machine whose cores are all measuring, a
 * build waits rather than disturbs.  A builder is replaced when it dies, overruns its
 * time, breaks the protocol, or has built often enough for its memory to be suspect.
 *
 * A candidate's object goes into a slot of the depot (depot.h), which is its builder's until it
 * answers and the artefact's from then on; honed never touches the bytes.  Where no slot is
 * free, or the object is larger than one, it comes as the frame's blob, and is counted.  A
 * builder can write to slots that are not its own; then the board finds another hash, and what
 * was there is built once more.
 */
#include "measure/host/measurer_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define NICE 19
#define TRIES 2	     /* of what a builder crashes on */
#define LOST_TRIES 5 /* of what says nothing */
#define LEAST_BYTES ((int64_t)1 << 30)

static void on_built(void *ctx, const struct hn_frame *f);
static void on_gone(void *ctx, const struct hn_worker_end *end);

/* What a builder may write to: half of what there is.  A compile that wants more fails by
 * itself; the system would end anybody. */
static int64_t most_bytes(void)
{
	struct hn_memory m;

	hn_memory_read("", &m);
	return m.limit / 2 > LEAST_BYTES ? m.limit / 2 : LEAST_BYTES;
}

static int start(struct builder *b, struct hn_err *err)
{
	struct hn_worker_owner owner = {.frame = on_built,
					.gone = on_gone,
					.closed = hn_measurer_worker_closed,
					.ctx = b,
					.closed_ctx = b->m};
	int rc;

	b->m->n_worker++;
	b->n_built = 0;
	rc = hn_worker_start(b->m->loop,
			     &(struct hn_worker_program){.path = b->m->config.builder_path,
							 .nice = NICE,
							 .most_bytes = most_bytes(),
							 .slot_fd = b->m->depot.builders_fd},
			     &owner, &b->worker, err);
	if (rc != 0) {
		b->worker = NULL;
	}
	return rc;
}

int hn_builders_start(struct hn_measurer *m, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < m->n_builder && rc == 0; i++) {
		m->builder[i].m = m;
		rc = start(&m->builder[i], err);
	}
	return rc;
}

void hn_builders_stop(struct hn_measurer *m)
{
	for (uint32_t i = 0; i < m->n_builder; i++) {
		hn_worker_stop(m->builder[i].worker);
		m->builder[i].worker = NULL;
	}
}

/* The builder is free again; its ticket, unless cancelled, is in `t` and needs a new
 * place.  A slot that is still the builder's holds nothing. */
static struct ticket *release(struct builder *b)
{
	struct ticket *t = b->ticket;

	b->busy = false;
	b->ticket = NULL;
	hn_depot_let_go(&b->m->depot, b->slot);
	b->slot = 0;
	if (b->worker != NULL) {
		hn_worker_deadline(b->worker, 0);
	}
	return t;
}

/* A crash must repeat itself to be the candidate's, in another process. */
static void lost(struct builder *b, const struct hn_worker_end *end)
{
	struct hn_measurer *m = b->m;
	struct ticket *t = release(b);
	bool crashed = end->fault == HN_WORKER_CRASHED;
	char text[300];

	if (t == NULL) {
		return;
	}
	t->n_lost += end->fault == HN_WORKER_LOST;
	memcpy(t->codegen, m->codegen, sizeof t->codegen); /* what it was most likely lost in */
	if (end->fault == HN_WORKER_LATE) {
		hn_ticket_finish(m, t, HN_VERDICT_BUILD_TIMEOUT, end->why);
	} else if (crashed ? t->n_build - t->n_lost < TRIES : t->n_lost < LOST_TRIES) {
		queue_put_first(&m->to_build, t);
	} else if (crashed) {
		snprintf(text, sizeof text, "the builder failed twice on it: %.200s", end->why);
		hn_ticket_finish(m, t, HN_VERDICT_BUILD_FAIL, text);
	} else {
		snprintf(text, sizeof text, "the builder was lost %d times: %.200s", LOST_TRIES,
			 end->why);
		hn_ticket_finish(m, t, HN_VERDICT_BUILDER_LOST, text);
	}
}

static void on_gone(void *ctx, const struct hn_worker_end *end)
{
	struct builder *b = ctx;

	b->worker = NULL;
	lost(b, end);
	hn_builders_pump(b->m);
}

static void replace(struct builder *b)
{
	hn_worker_stop(b->worker);
	b->worker = NULL;
}

/* For boards that take histories, the history is the artefact. */
static void take_history(struct ticket *t, enum hn_board_takes takes)
{
	const char *text = t->kind == TICKET_WORKLOAD ? t->w->dag_json : t->building->steps;

	if (takes == HN_BOARD_TAKES_STEPS) {
		hn_artefact_set(&t->building->artefact, text, (uint32_t)strlen(text));
	}
}

/* The answer into the builder's ticket. */
static int take_answer(struct builder *b, const struct hn_frame *f, struct hn_err *err)
{
	struct hn_measurer *m = b->m;
	struct ticket *t = b->ticket;
	int rc;

	if (!b->busy || f->request != b->request || f->type != HN_FRAME_BUILT) {
		return hn_fail(err, HONE_E_CORRUPT, "%s: nobody asked for it",
			       hn_frame_name(f->type));
	}
	if (t == NULL) {
		return 0;
	}
	rc = hn_wire_built(f, t, m->takes != HN_BOARD_TAKES_STEPS, b->slot, err);
	if (rc != 0) {
		return rc;
	}
	if (t->building->artefact.slot != 0) {
		b->slot = 0; /* it is the artefact's now */
	}
	if (t->codegen[0] != '\0') {
		memcpy(m->codegen, t->codegen, sizeof m->codegen);
	}
	m->n_by_frame += t->kind == TICKET_CANDIDATE && f->blob_bytes > 0;
	return 0;
}

static void on_built(void *ctx, const struct hn_frame *f)
{
	struct hn_worker_end end = {.fault = HN_WORKER_CRASHED};
	struct builder *b = ctx;
	struct hn_measurer *m = b->m;
	struct hn_err err;
	struct ticket *t;

	if (take_answer(b, f, &err) != 0) {
		snprintf(end.why, sizeof end.why, "%.190s", err.msg);
		replace(b);
		lost(b, &end);
		hn_builders_pump(m);
		return;
	}
	t = release(b);
	if (++b->n_built >= m->config.builds_per_process) {
		replace(b);
	}
	if (t != NULL && t->outcome.verdict == HN_VERDICT_OK) {
		take_history(t, m->takes);
		if (hn_ticket_duel(t)) {
			t->n_build = t->n_lost = 0;
			hn_kept_put(m, t->w, t->building);
			hn_duel_gather(m, t);
		} else {
			queue_put(&m->to_run, t);
			hn_board_link_pump(m);
		}
	} else if (t != NULL) {
		t->outcome.rivals = t->building == &t->rival;
		hn_ticket_finish(m, t, t->outcome.verdict, t->outcome.detail);
	}
	hn_builders_pump(m);
}

/* Where its object may go; 0 = by frame.  Naive programs do: there is one a workload, kept as
 * long as the workload is known. */
static uint32_t slot_for(struct hn_measurer *m, const struct ticket *t)
{
	uint32_t slot = 0;

	if (t->kind == TICKET_CANDIDATE && m->takes != HN_BOARD_TAKES_STEPS) {
		do {
			slot = hn_depot_take(&m->depot);
		} while (slot == 0 && hn_kept_make_room(m));
	}
	return slot;
}

static void send_build(struct builder *b, struct ticket *t)
{
	struct hn_measurer *m = b->m;
	struct hn_frame f = {.type = HN_FRAME_BUILD, .request = ++m->next_request};
	struct hn_buf json;

	hn_buf_init(&json);
	b->slot = slot_for(m, t);
	hn_wire_build(m, t, b->slot, &json);
	if (json.failed || json.n > HN_FRAME_MAX_JSON) {
		release(b);
		hn_ticket_finish(m, t, HN_VERDICT_BUILD_FAIL,
				 "the computation is too large to send");
	} else {
		f.json = json.s;
		f.json_bytes = (uint32_t)json.n;
		b->busy = true;
		b->ticket = t;
		b->request = f.request;
		t->n_build++;
		hn_worker_send(b->worker, &f);
		hn_worker_deadline(b->worker, m->config.build_limit_ms);
	}
	hn_buf_fini(&json);
}

void hn_builders_pump(struct hn_measurer *m)
{
	for (uint32_t i = 0; i < m->n_builder && !m->closing; i++) {
		struct builder *b = &m->builder[i];
		struct hn_err err;

		while (!b->busy && m->to_build.first != NULL) {
			if (b->worker == NULL && start(b, &err) != 0) {
				hn_ticket_finish(m, queue_take(&m->to_build),
						 HN_VERDICT_BUILDER_LOST, err.msg);
				continue;
			}
			send_build(b, queue_take(&m->to_build));
		}
	}
}

/* What was built is not what had been announced: once more, all of it, wherever it is kept. */
void hn_builders_redo(struct hn_measurer *m, struct ticket *t, const char *why)
{
	hn_kept_drop(m, t->w, t->program.steps);
	hn_kept_drop(m, t->w, t->rival.steps);
	hn_artefact_drop(m, &t->program.artefact);
	hn_artefact_drop(m, &t->rival.artefact);
	t->n_build = t->n_lost = 0;
	if (t->n_changed++ > 0) {
		hn_ticket_finish(m, t, HN_VERDICT_BUILDER_LOST, why);
	} else if (hn_ticket_duel(t)) {
		hn_duel_gather(m, t);
	} else {
		queue_put_first(&m->to_build, t);
		hn_builders_pump(m);
	}
}

uint64_t hn_measurer_n_by_frame(const struct hn_measurer *m)
{
	return m->n_by_frame;
}
