/* measurer.c -- requests from the daemon, from the call to the callback. */
#include "measure/host/measurer_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/board/pool.h"
#include "target/target.h"

#define DEFAULT_BUILD_LIMIT_MS 15000
#define DEFAULT_RUN_LIMIT_MS 10000
#define DEFAULT_BUILDS_PER_PROCESS 2000

void queue_init(struct queue *q)
{
	q->first = NULL;
	q->last = &q->first;
}

void queue_put(struct queue *q, struct ticket *t)
{
	t->next = NULL;
	*q->last = t;
	q->last = &t->next;
}

void queue_put_first(struct queue *q, struct ticket *t)
{
	t->next = q->first;
	q->first = t;
	if (t->next == NULL) {
		q->last = &t->next;
	}
}

struct ticket *queue_take(struct queue *q)
{
	struct ticket *t = q->first;

	if (t != NULL) {
		q->first = t->next;
		if (q->first == NULL) {
			q->last = &q->first;
		}
		t->next = NULL;
	}
	return t;
}

static void known_free(struct workload *w)
{
	for (uint32_t i = 0; i < w->n_known; i++) {
		free(w->known[i].sample_ns);
		free(w->known[i].detail);
	}
	free(w->known);
}

static void workload_free(struct hn_measurer *m, struct workload *w)
{
	known_free(w);
	hn_kept_free(m, w);
	hn_artefact_drop(m, &w->naive);
	free(w->on_board);
	hn_arena_fini(&w->arena);
	free(w);
}

struct workload *hn_workload_use(struct workload *w)
{
	w->n_use++;
	return w;
}

void hn_workload_let_go(struct hn_measurer *m, struct workload *w)
{
	struct workload **at = &m->workload;

	if (--w->n_use > 0) {
		return;
	}
	while (*at != w) {
		at = &(*at)->next;
	}
	*at = w->next;
	workload_free(m, w);
}

static void ticket_free(struct hn_measurer *m, struct ticket *t)
{
	if (t->w != NULL) {
		hn_workload_let_go(m, t->w);
	}
	hn_artefact_drop(m, &t->program.artefact);
	free(t->program.steps);
	hn_artefact_drop(m, &t->rival.artefact);
	free(t->rival.steps);
	free(t->certificate);
	free(t);
}

static void deliver(const struct hn_measurer *m, struct ticket *t)
{
	const struct outcome *o = &t->outcome;
	struct hn_measure_result r = {.verdict = o->verdict,
				      .detail = o->detail,
				      .n_sample = o->n_sample,
				      .sample_ns = o->sample_ns,
				      .rival_ns = hn_ticket_duel(t) ? o->rival_ns : NULL,
				      .rivals = o->rivals,
				      .build_ns = o->build_ns,
				      .prove_ns = o->prove_ns,
				      .run_ns = o->run_ns,
				      .kernel_ns = o->kernel_ns,
				      .state = o->state,
				      .naive_share = o->naive_share > 0 ? o->naive_share : 1,
				      .in_part = o->in_part,
				      .elsewhere = t->kind == TICKET_WORKLOAD && m->takes == HN_BOARD_TAKES_PROGRAM &&
						   t->w != NULL && t->w->counted_ns == 0,
				      .certificate = t->certificate ? t->certificate : "",
				      .codegen = t->codegen};

	if (o->n_sample > 0) {
		r.median_ns = hn_stats_median(o->sample_ns, o->n_sample);
	}
	switch (t->kind) {
	case TICKET_WORKLOAD:
		t->workload_fn(t->ctx, &r);
		break;
	case TICKET_CANDIDATE:
		t->measure_fn(t->ctx, &r);
		break;
	case TICKET_PROBE:
		t->probe_fn(t->ctx, o->verdict, &t->probe);
		break;
	}
}

static void on_timer_closed(uv_handle_t *h)
{
	struct hn_measurer *m = h->data;
	void (*closed)(void *ctx) = m->closed;
	void *ctx = m->closed_ctx;

	if (--m->n_timer > 0) {
		return;
	}
	while (m->workload != NULL) {
		struct workload *w = m->workload;

		m->workload = w->next;
		workload_free(m, w);
	}
	hn_depot_fini(&m->depot);
	hn_arena_fini(&m->arena);
	free(m->builder);
	free(m->board);
	free(m);
	if (closed != NULL) {
		closed(ctx);
	}
}

/* The end of closing: everybody answered, no process left. */
static void maybe_close(struct hn_measurer *m)
{
	if (m->closing && !m->timer_closed && m->n_worker == 0 && m->done.first == NULL) {
		m->timer_closed = true;
		uv_close((uv_handle_t *)&m->flush, on_timer_closed);
		uv_close((uv_handle_t *)&m->comeback, on_timer_closed);
	}
}

static void on_flush(uv_timer_t *timer)
{
	struct hn_measurer *m = timer->data;
	struct ticket *t;

	while ((t = queue_take(&m->done)) != NULL) {
		deliver(m, t);
		ticket_free(m, t);
	}
	maybe_close(m);
}

void hn_measurer_worker_closed(void *measurer)
{
	struct hn_measurer *m = measurer;

	m->n_worker--;
	maybe_close(m);
}

void hn_ticket_finish(struct hn_measurer *m, struct ticket *t, enum hn_verdict v,
		      const char *detail)
{
	t->outcome.verdict = v;
	if (detail != t->outcome.detail) {
		snprintf(t->outcome.detail, sizeof t->outcome.detail, "%.390s", detail);
	}
	if (v != HN_VERDICT_OK) {
		t->outcome.n_sample = 0;
	}
	queue_put(&m->done, t);
	uv_timer_start(&m->flush, on_flush, 0, 0);
}

static int check_executable(const char *path, int code, struct hn_err *err)
{
	if (path == NULL || access(path, X_OK) != 0) {
		return hn_fail(err, code,
			       "%s: not an executable file; is hone built and installed?",
			       path != NULL ? path : "(null)");
	}
	return 0;
}

static const char *plants_of(const struct hn_measurer_config *c)
{
	const char *hooks = getenv("HONE_TEST_HOOKS"), *plant = getenv("HONE_TEST_PLANT");

	if (c->plant != NULL) {
		return c->plant;
	}
	return hooks != NULL && strcmp(hooks, "1") == 0 && plant != NULL ? plant : "";
}

static const char *line_of_host(struct hn_arena *a)
{
	struct hn_target host;
	struct hn_buf line;
	const char *ret;

	hn_buf_init(&line);
	hn_target_host(a, &host);
	hn_target_print(&host, &line);
	ret = hn_arena_strdup(a, line.s);
	hn_buf_fini(&line);
	return ret;
}

static void set_config(struct hn_measurer *m, const struct hn_measurer_config *c)
{
	m->config = *c;
	m->config.builder_path = hn_arena_strdup(&m->arena, c->builder_path);
	m->config.board_path = hn_arena_strdup(&m->arena, c->board_path);
	m->config.target = hn_arena_strdup(&m->arena, c->target);
	m->plants = hn_arena_strdup(&m->arena, plants_of(c));
	if (c->build_limit_ms <= 0) {
		m->config.build_limit_ms = DEFAULT_BUILD_LIMIT_MS;
	}
	if (c->run_limit_ms <= 0) {
		m->config.run_limit_ms = DEFAULT_RUN_LIMIT_MS;
	}
	if (c->builds_per_process == 0) {
		m->config.builds_per_process = DEFAULT_BUILDS_PER_PROCESS;
	}
	m->takes = hn_board_takes(c->target);
	m->naive_target = hn_board_is_apart(c->target) ? line_of_host(&m->arena) : m->config.target;
	m->n_board = c->n_boards > 0 ? c->n_boards : 1;
	m->n_builder =
		c->n_builders > 0 ? c->n_builders : (uint32_t)hone_pool_cpus();
}

static void make_boards(struct hn_measurer *m)
{
	m->board = calloc(m->n_board, sizeof *m->board);
	hn_assert(m->board != NULL);
	for (uint32_t i = 0; i < m->n_board; i++) {
		m->board[i].m = m;
		m->board[i].index = i;
		queue_init(&m->board[i].held);
	}
}

int hn_measurer_new(struct uv_loop_s *loop, const struct hn_measurer_config *config,
		    struct hn_measurer **ret, struct hn_err *err)
{
	struct hn_measurer *m;
	int rc = check_executable(config->builder_path, HONE_E_NOT_FOUND, err);

	rc = rc != 0 ? rc : check_executable(config->board_path, HONE_E_NOT_FOUND, err);
	if (rc != 0) {
		return rc;
	}
	m = calloc(1, sizeof *m);
	hn_assert(m != NULL);
	hn_arena_init(&m->arena, 0);
	m->loop = loop;
	set_config(m, config);
	hn_depot_init(&m->depot);
	queue_init(&m->to_build);
	queue_init(&m->to_run);
	queue_init(&m->done);
	queue_init(&m->probing);
	uv_timer_init(loop, &m->flush);
	uv_timer_init(loop, &m->comeback);
	m->n_timer = 2;
	m->flush.data = m->comeback.data = m;
	make_boards(m);
	m->builder = calloc(m->n_builder, sizeof *m->builder);
	hn_assert(m->builder != NULL);
	rc = hn_builders_start(m, err);
	rc = rc != 0 ? rc : hn_boards_start(m, err);
	if (rc != 0) {
		hn_measurer_close(m, NULL, NULL);
		return rc;
	}
	*ret = m;
	return 0;
}

typedef bool (*ticket_match)(const struct ticket *t, const void *ctx);

static bool match_all(const struct ticket *t, const void *ctx)
{
	(void)t;
	(void)ctx;
	return true;
}

static bool match_submission(const struct ticket *t, const void *ctx)
{
	return t->kind == TICKET_CANDIDATE && t->ctx == ctx;
}

static void cancel_queued(struct hn_measurer *m, struct queue *q, ticket_match match,
			  const void *ctx)
{
	struct queue keep;
	struct ticket *t;

	queue_init(&keep);
	while ((t = queue_take(q)) != NULL) {
		if (match(t, ctx)) {
			hn_ticket_finish(m, t, HN_VERDICT_CANCELLED, "cancelled");
		} else {
			queue_put(&keep, t);
		}
	}
	while ((t = queue_take(&keep)) != NULL) {
		queue_put(q, t);
	}
}

/* Take the ticket away from a busy worker, whose answer will then be ignored. */
static void cancel_running(struct hn_measurer *m, struct ticket **at, ticket_match match,
			   const void *ctx)
{
	struct ticket *t = *at;

	if (t != NULL && match(t, ctx)) {
		*at = NULL;
		hn_ticket_finish(m, t, HN_VERDICT_CANCELLED, "cancelled");
	}
}

static void cancel_where(struct hn_measurer *m, ticket_match match, const void *ctx)
{
	cancel_queued(m, &m->to_build, match, ctx);
	cancel_queued(m, &m->to_run, match, ctx);
	cancel_queued(m, &m->probing, match, ctx);
	for (uint32_t i = 0; i < m->n_builder; i++) {
		cancel_running(m, &m->builder[i].ticket, match, ctx);
	}
	for (uint32_t i = 0; i < m->n_board; i++) {
		cancel_running(m, &m->board[i].ticket, match, ctx);
		cancel_queued(m, &m->board[i].held, match, ctx);
	}
}

void hn_measurer_close(struct hn_measurer *m, void (*closed)(void *ctx), void *ctx)
{
	hn_assert(!m->closing);
	m->closing = true;
	m->closed = closed;
	m->closed_ctx = ctx;
	cancel_where(m, match_all, NULL);
	hn_builders_stop(m);
	hn_boards_stop(m);
	maybe_close(m);
}

void hn_measurer_cancel(struct hn_measurer *m, void *ctx)
{
	cancel_where(m, match_submission, ctx);
}

static struct workload *find(struct hn_measurer *m, const char *key)
{
	struct workload *w = m->workload;

	while (w != NULL && strcmp(w->key, key) != 0) {
		w = w->next;
	}
	return w;
}

static struct ticket *ticket_new(struct hn_measurer *m, enum ticket_kind kind, void *ctx)
{
	struct ticket *t = calloc(1, sizeof *t);

	hn_assert(t != NULL);
	t->kind = kind;
	t->building = &t->program;
	t->id = ++m->next_id;
	t->ctx = ctx;
	return t;
}

static const char *copied(const char *text, struct hn_arena *a)
{
	return text != NULL ? hn_arena_strdup(a, text) : NULL;
}

static struct workload *workload_new(const struct hn_measurer *m,
				     const struct hn_workload *from)
{
	struct workload *w = calloc(1, sizeof *w);

	hn_assert(w != NULL);
	w->on_board = calloc(m->n_board, sizeof *w->on_board);
	hn_assert(w->on_board != NULL);
	hn_arena_init(&w->arena, 0);
	w->key = hn_arena_strdup(&w->arena, from->key);
	w->dag_json = hn_arena_strdup(&w->arena, from->dag_json);
	w->n_arg = from->n_arg;
	w->arg = hn_wire_args(from, &w->arena);
	w->need = (struct hn_need){from->needed_flops, from->read_bytes, from->written_bytes};
	w->tolerance = from->tolerance;
	w->cold = from->cold;
	w->settled = from->settled;
	w->subnormals = from->subnormals;
	w->seed = from->seed;
	w->magnitude = from->magnitude;
	w->naive_ns = from->naive_ns;
	w->naive_share = from->naive_share;
	w->refer_steps = copied(from->refer_steps, &w->arena);
	w->wide_steps = copied(from->wide_steps, &w->arena);
	w->bracket_steps = copied(from->bracket_steps, &w->arena);
	return w;
}

/* Whether a process that lives has its references. */
static bool on_some_board(const struct hn_measurer *m, const struct workload *w)
{
	for (uint32_t i = 0; i < m->n_board; i++) {
		if (m->board[i].worker != NULL && w->on_board[i] == m->board[i].epoch) {
			return true;
		}
	}
	return false;
}

void hn_measurer_workload(struct hn_measurer *m, const struct hn_workload *w,
			  hn_workload_fn fn, void *ctx)
{
	struct ticket *t = ticket_new(m, TICKET_WORKLOAD, ctx);
	struct workload *mine = find(m, w->key);

	t->workload_fn = fn;
	if (m->closing) {
		hn_ticket_finish(m, t, HN_VERDICT_CANCELLED, "shutting down");
		return;
	}
	if (mine == NULL) {
		mine = workload_new(m, w);
		mine->next = m->workload;
		m->workload = mine;
	}
	hn_workload_use(mine); /* the caller's */
	t->w = hn_workload_use(mine);
	if (mine->ready && on_some_board(m, mine)) {
		t->outcome.n_sample = 1;
		t->outcome.sample_ns[0] = mine->naive_ns;
		t->outcome.naive_share = mine->naive_share;
		t->outcome.in_part = mine->in_part;
		hn_ticket_finish(m, t, HN_VERDICT_OK, mine->inputs);
	} else if (mine->naive.object_bytes > 0) {
		queue_put_first(&m->to_run, t);
		hn_board_link_pump(m);
	} else {
		/* naive programs first: others wait for them */
		queue_put_first(&m->to_build, t);
		hn_builders_pump(m);
	}
}

void hn_measurer_forget(struct hn_measurer *m, const char *workload_key)
{
	struct workload *w = m->closing ? NULL : find(m, workload_key);

	if (w != NULL) {
		hn_workload_let_go(m, w);
	}
}

/* The next planted fault, if any is left, becomes this candidate's. */
static void take_plant(struct hn_measurer *m, struct ticket *t)
{
	size_t n = strcspn(m->plants, ",");

	snprintf(t->plant, sizeof t->plant, "%.*s", (int)n, m->plants);
	m->plants += n + (m->plants[n] == ',');
}

static struct ticket *candidate_new(struct hn_measurer *m, const char *workload_key,
				    const char *steps, hn_measure_fn fn, void *ctx)
{
	struct ticket *t = ticket_new(m, TICKET_CANDIDATE, ctx);

	t->measure_fn = fn;
	t->w = find(m, workload_key);
	t->w = t->w != NULL ? hn_workload_use(t->w) : NULL;
	t->program.steps = strdup(steps);
	hn_assert(t->program.steps != NULL);
	return t;
}

/* True when it was answered: nothing can be measured. */
static bool refused(struct hn_measurer *m, struct ticket *t)
{
	if (m->closing) {
		hn_ticket_finish(m, t, HN_VERDICT_CANCELLED, "shutting down");
		return true;
	}
	if (t->w == NULL || !t->w->ready) {
		hn_ticket_finish(m, t, HN_VERDICT_BOARD_LOST,
				 "the workload is not known");
		return true;
	}
	return false;
}

uint64_t hn_measurer_submit(struct hn_measurer *m, const char *workload_key,
			    const char *steps, double best_ns, hn_measure_fn fn,
			    void *ctx)
{
	struct ticket *t = candidate_new(m, workload_key, steps, fn, ctx);
	uint64_t id = t->id;

	t->best_ns = best_ns > 0 ? best_ns : 0;
	if (!refused(m, t)) {
		take_plant(m, t);
		queue_put(&m->to_build, t);
		hn_builders_pump(m);
	}
	return id;
}

void hn_measurer_prove(struct hn_measurer *m, const char *workload_key, const char *steps,
		       hn_measure_fn fn, void *ctx)
{
	struct ticket *t = candidate_new(m, workload_key, steps, fn, ctx);

	t->anew = true;
	if (!refused(m, t)) {
		queue_put_first(&m->to_build, t);
		hn_builders_pump(m);
	}
}

static bool at_hand(struct hn_measurer *m, struct workload *w, struct program *p)
{
	return p->artefact.object_bytes > 0 || hn_kept_find(m, w, p);
}

void hn_duel_gather(struct hn_measurer *m, struct ticket *t)
{
	if (at_hand(m, t->w, &t->program) && at_hand(m, t->w, &t->rival)) {
		queue_put(&m->to_run, t);
		hn_board_link_pump(m);
		return;
	}
	t->building = t->program.artefact.object_bytes == 0 ? &t->program : &t->rival;
	queue_put_first(&m->to_build, t);
	hn_builders_pump(m);
}

void hn_measurer_duel(struct hn_measurer *m, const char *workload_key, const char *steps,
		      const char *rival_steps, hn_measure_fn fn, void *ctx)
{
	struct ticket *t = candidate_new(m, workload_key, steps, fn, ctx);

	t->rival.steps = strdup(rival_steps);
	hn_assert(t->rival.steps != NULL);
	if (!refused(m, t)) {
		hn_duel_gather(m, t);
	}
}

uint32_t hn_measurer_depth(const struct hn_measurer *m)
{
	/* a build in every builder, one waiting for each, one on every board and one before
	 * it */
	return 2 * (m->n_builder + m->n_board);
}

/* Ask the boards that have not been asked; answer at once when all have. */
static void ask_probes(struct hn_measurer *m)
{
	for (uint32_t i = 0; i < m->n_board; i++) {
		m->board[i].want_probe = !m->board[i].probed;
	}
	hn_board_link_pump(m);
	hn_board_tell_probes(m);
}

void hn_measurer_probe(struct hn_measurer *m, hn_probe_fn fn, void *ctx)
{
	struct ticket *t = ticket_new(m, TICKET_PROBE, ctx);

	t->probe_fn = fn;
	if (m->closing) {
		hn_ticket_finish(m, t, HN_VERDICT_CANCELLED, "shutting down");
	} else {
		queue_put(&m->probing, t);
		ask_probes(m);
	}
}
