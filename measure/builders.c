/* builders.c -- the pool of hone-build processes.
 *
 * Builders run at the lowest priority: on a machine whose cores are all measuring, a
 * build waits rather than disturbs.  A builder is replaced when it dies, overruns its
 * time, breaks the protocol, or has built often enough for its memory to be suspect.
 */
#include "measure/measurer_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NICE 19
#define TRIES 2

static void on_built(void *ctx, const struct hn_frame *f);
static void on_gone(void *ctx, bool late, const char *why);

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
	rc = hn_worker_start(b->m->loop, b->m->config.builder_path, NULL, NICE, &owner,
			     &b->worker, err);
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
 * place. */
static struct ticket *release(struct builder *b)
{
	struct ticket *t = b->ticket;

	b->busy = false;
	b->ticket = NULL;
	if (b->worker != NULL) {
		hn_worker_deadline(b->worker, 0);
	}
	return t;
}

static void lost(struct builder *b, bool late, const char *why)
{
	struct hn_measurer *m = b->m;
	struct ticket *t = release(b);

	if (t == NULL) {
		return;
	}
	if (late) {
		hn_ticket_finish(m, t, HN_VERDICT_BUILD_TIMEOUT,
				 "the builder did not answer within its time limit");
	} else if (t->n_build < TRIES) {
		queue_put_first(&m->to_build, t);
	} else {
		char text[300];

		snprintf(text, sizeof text, "the builder went away twice: %.200s", why);
		hn_ticket_finish(m, t, HN_VERDICT_BUILD_FAIL, text);
	}
}

static void on_gone(void *ctx, bool late, const char *why)
{
	struct builder *b = ctx;

	b->worker = NULL;
	lost(b, late, why);
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

static void on_built(void *ctx, const struct hn_frame *f)
{
	struct builder *b = ctx;
	struct hn_measurer *m = b->m;
	struct ticket *t = b->ticket;
	bool expected = b->busy && f->request == b->request && f->type == HN_FRAME_BUILT;

	if (!expected || (t != NULL && !hn_wire_built(f, t, m->takes == HN_BOARD_TAKES_OBJECT))) {
		replace(b);
		lost(b, /* late: */ false, "an answer that makes no sense");
		hn_builders_pump(m);
		return;
	}
	release(b);
	if (++b->n_built >= m->config.builds_per_process) {
		replace(b);
	}
	if (t != NULL && t->outcome.verdict == HN_VERDICT_OK) {
		take_history(t, m->takes);
		if (hn_ticket_duel(t)) {
			t->n_build = 0;
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

static void send_build(struct builder *b, struct ticket *t)
{
	struct hn_measurer *m = b->m;
	struct hn_frame f = {.type = HN_FRAME_BUILD, .request = ++m->next_request};
	struct hn_buf json;

	hn_buf_init(&json);
	hn_wire_build(m, t, &json);
	if (json.failed || json.n > HN_FRAME_MAX_JSON) {
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
