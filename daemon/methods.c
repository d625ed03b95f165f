/* daemon/methods.c -- what each method does: one handler a METHOD row of msgs.def.
 *
 * Parameters were checked against their rows before a handler sees them; what is left is
 * meaning.  A handler answers at once, or leaves a wait behind (job.wait).
 */
#include "daemon/methods_int.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "loopstate/dag/mark.h"
#include "loopstate/read/dag_read.h"

const struct hn_json *hn_call_field(const struct hn_call *c, const char *name)
{
	return c->msg->params != NULL ? hn_json_get(c->msg->params, name) : NULL;
}

void hn_call_reply(const struct hn_call *c, struct hn_buf *b)
{
	hn_session_reply(c->session, c->msg->id, b->s);
	hn_buf_fini(b);
}

void hn_call_refuse(const struct hn_call *c, const struct hn_err *err)
{
	hn_session_fault(c->session, c->msg->id, err->code, err->msg);
}

/* The job named by the request; NULL after a refusal was sent. */
static struct hn_job *job_of(const struct hn_call *c)
{
	const char *id = hn_json_string(hn_call_field(c, "job"));
	struct hn_err err;
	struct hn_job *j = hn_ids_job(c->d, id, &err);

	if (j == NULL) {
		hn_call_refuse(c, &err);
	}
	return j;
}

void hn_method_hello(const struct hn_call *c)
{
	const struct hn_json *range = hn_call_field(c, "protocol");
	int64_t low = 0, high = 0;
	struct hn_buf b;
	struct hn_jw w;
	struct hn_err err;

	if (hn_json_count(range) != 2 || !hn_json_int(hn_json_first(range), &low) ||
	    !hn_json_int(hn_json_next(hn_json_first(range)), &high) ||
	    low > HN_LIMIT_PROTOCOL || high < HN_LIMIT_PROTOCOL) {
		hn_fail(&err, HONE_E_VERSION,
			"hello: protocol: honed " HONE_VERSION " speaks [%d, %d]",
			HN_LIMIT_PROTOCOL, HN_LIMIT_PROTOCOL);
		hn_call_refuse(c, &err);
		hn_session_end(c->session);
		return;
	}
	c->session->greeted = true;
	c->d->had_client = true;
	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_int(&w, "protocol", HN_LIMIT_PROTOCOL);
	hn_jw_str(&w, "version", HONE_VERSION);
	hn_jw_int(&w, "pid", getpid());
	hn_jw_str(&w, "boot", c->d->boot);
	hn_jw_bool(&w, "private", c->d->config.ends_with_clients);
	hn_jw_str(&w, "store", c->d->config.home.s);
	hn_jw_str(&w, "target", c->d->served[0].line);
	hn_damage_write(c->d, &w);
	hn_jw_end(&w);
	hn_call_reply(c, &b);
}

void hn_method_ping(const struct hn_call *c)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_int(&w, "uptime_ms", (hn_clock_ns() - c->d->started_ns) / 1000000);
	hn_jw_end(&w);
	hn_call_reply(c, &b);
}

/* The dag of a request as text: `text` as it is, or `dag` written out into *hold. */
static const char *dag_text(const struct hn_call *c, struct hn_buf *hold)
{
	const struct hn_json *dag = hn_call_field(c, "dag");

	if (dag == NULL) {
		return hn_json_string(hn_call_field(c, "text"));
	}
	hn_json_write(dag, hold);
	return hold->s;
}

void hn_method_submit(const struct hn_call *c)
{
	struct hn_submit s = { .name = hn_json_string(hn_call_field(c, "name")),
			       .target = hn_json_string(hn_call_field(c, "target")),
			       .policy = hn_json_string(hn_call_field(c, "policy")),
			       .model = hn_json_string(hn_call_field(c, "model")),
			       .records = hn_json_string(hn_call_field(c, "records")),
			       .records_key = hn_json_string(hn_call_field(c, "records_key")) };
	struct hn_buf b;
	struct hn_err err;
	int64_t seed = 0;

	hn_json_int(hn_call_field(c, "trials"), &s.budget.trials);
	hn_json_double(hn_call_field(c, "seconds"), &s.budget.seconds);
	hn_json_int(hn_call_field(c, "seed"), &seed);
	s.budget.seed = (uint64_t)seed;
	hn_json_bool(hn_call_field(c, "cold"), &s.cold);
	hn_buf_init(&b);
	s.text = dag_text(c, &b);
	if (s.text == NULL) {
		hn_fail(&err, HONE_E_INVALID,
			"submit: give the workload as `dag` or `text`");
	} else {
		s.text_bytes = strlen(s.text);
	}
	if (s.text == NULL || hn_jobs_submit(c->d, &s, c->session, c->msg->id, &err) != 0) {
		hn_call_refuse(c, &err);
	}
	hn_buf_fini(&b);
}

static int query_key(const struct hn_call *c, char key[HN_KEY_BYTES], struct hn_err *err)
{
	const char *given = hn_json_string(hn_call_field(c, "workload"));
	const struct hn_dag *dag;
	struct hn_arena a;
	struct hn_buf hold;
	const char *text;
	bool cold = false;
	int rc;

	if (given != NULL) { /* the store knows the whole key */
		*key = '\0';
		return 0;
	}
	hn_buf_init(&hold);
	hn_arena_init(&a, 0);
	text = dag_text(c, &hold);
	if (text == NULL) {
		rc = hn_fail(err, HONE_E_INVALID,
			     "query: give `workload`, `dag` or `text`");
	} else {
		rc = hn_dag_parse("dag", text, strlen(text), 0, &a, &dag, err);
	}
	if (rc == 0) {
		hn_json_bool(hn_call_field(c, "cold"), &cold);
		hn_dag_key(cold ? hn_dag_mark(dag, HN_MARK_COLD, &a) : dag, key);
	}
	hn_arena_fini(&a);
	hn_buf_fini(&hold);
	return rc;
}

struct query {
	struct hn_pending pending; /* first */
	struct hn_arena a;
	char key[HN_KEY_BYTES];
	const char *word; /* the beginning of the key; NULL: it is there */
	const char *target;
	struct hn_record best; /* id 0: steps that nobody measured */
	struct hn_naive naive;
};

static int ask_best(struct hn_ask *ask, struct hn_db *db, struct hn_err *err)
{
	struct query *q = (struct query *)ask;
	const char *automatic;
	int rc = q->word != NULL ? hn_db_key(db, q->word, q->key, err) : 0;

	if (rc == 0) {
		rc = hn_db_best(db, q->key, q->target, &q->a, &q->best, err);
		if (rc == -HONE_E_NOT_FOUND &&
		    hn_db_get_automatic(db, q->key, q->target, &q->a, &automatic, NULL) == 0) {
			q->best = (struct hn_record){ .steps = automatic };
			rc = 0;
		}
	}
	return rc != 0 ? rc : hn_db_get_naive(db, q->key, q->target, &q->naive, err);
}

static void write_best(const struct query *q, struct hn_jw *w)
{
	hn_jw_object(w, NULL);
	hn_jw_str(w, "workload", q->key);
	if (q->best.id > 0) {
		hn_jw_int(w, "record", q->best.id);
		hn_jw_double(w, "median_ns", q->best.median_ns);
	} else {
		hn_jw_null(w, "record");
		hn_jw_null(w, "median_ns");
	}
	hn_jw_double(w, "naive_ns", q->naive.ns);
	hn_naive_write_share(q->naive.share, w);
	hn_jw_json(w, "steps", q->best.steps);
	hn_jw_str(w, "target", q->target);
	if (q->best.in_doubt) {
		hn_damage_write(q->pending.daemon, w);
	}
	hn_jw_end(w);
}

static void on_best(struct hn_ask *ask)
{
	struct query *q = (struct query *)ask;
	struct hn_buf b;
	struct hn_jw w;

	if (ask->rc != 0) {
		hn_damage_add(q->pending.daemon, &ask->err);
		hn_pending_refuse(&q->pending, &ask->err);
	} else {
		hn_buf_init(&b);
		hn_jw_init(&w, &b);
		write_best(q, &w);
		hn_pending_reply(&q->pending, b.s);
		hn_buf_fini(&b);
	}
	hn_arena_fini(&q->a);
	free(q);
}

void hn_method_query(const struct hn_call *c)
{
	const char *given = hn_json_string(hn_call_field(c, "workload"));
	struct query *q = calloc(1, sizeof *q);
	struct hn_buf line;
	struct hn_err err;
	int rc;

	hn_assert(q != NULL);
	hn_arena_init(&q->a, 0);
	hn_buf_init(&line);
	q->pending.ask = (struct hn_ask){ .work = ask_best, .done = on_best };
	rc = query_key(c, q->key, &err);
	rc = rc != 0 ? rc
		     : hn_served_line(c->d, hn_json_string(hn_call_field(c, "target")),
				      &line, &err);
	if (rc == 0) {
		q->word = given != NULL ? hn_arena_strdup(&q->a, given) : NULL;
		q->target = hn_arena_strdup(&q->a, line.s);
		rc = hn_pending_ask(c->d, c->session, c->msg->id, &q->pending, &err);
	}
	if (rc != 0) {
		hn_damage_add(c->d, &err);
		hn_call_refuse(c, &err);
		hn_arena_fini(&q->a);
		free(q);
	}
	hn_buf_fini(&line);
}

void hn_method_job_get(const struct hn_call *c)
{
	struct hn_job *j = job_of(c);
	struct hn_buf b;
	struct hn_jw w;

	if (j != NULL) {
		hn_buf_init(&b);
		hn_jw_init(&w, &b);
		hn_job_write(j, &w, NULL);
		hn_call_reply(c, &b);
	}
}

/* Those of this honed, and of earlier ones too where the store was asked. */
static void write_list(struct hn_daemon *d, const struct hn_ended *ended, struct hn_buf *b)
{
	struct hn_jw w;

	hn_buf_init(b);
	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_list(&w, "jobs");
	for (const struct hn_job *j = d->jobs; j != NULL; j = j->next) {
		hn_job_write(j, &w, NULL);
	}
	hn_jw_end(&w);
	hn_jw_list(&w, "sets");
	for (const struct hn_set *s = d->sets; s != NULL; s = s->next) {
		hn_set_write(s, &w, NULL);
	}
	hn_jw_end(&w);
	if (ended != NULL) {
		hn_ended_write(d, ended, &w, "ended");
	}
	hn_jw_end(&w);
}

struct listing {
	struct hn_pending pending; /* first */
	struct hn_ended ended;
};

static int ask_ended(struct hn_ask *ask, struct hn_db *db, struct hn_err *err)
{
	return hn_ended_read(&((struct listing *)ask)->ended, db, err);
}

static void on_ended(struct hn_ask *ask)
{
	struct listing *l = (struct listing *)ask;
	struct hn_daemon *d = l->pending.daemon;
	struct hn_buf b;

	if (ask->rc != 0) {
		hn_log_line(&d->log, "warn", "jobs: %s", ask->err.msg);
	}
	write_list(d, &l->ended, &b);
	hn_pending_reply(&l->pending, b.s);
	hn_buf_fini(&b);
	hn_arena_fini(&l->ended.arena);
	free(l);
}

void hn_method_job_list(const struct hn_call *c)
{
	struct listing *l;
	bool all = false;
	struct hn_buf b;
	struct hn_err err;

	if (!hn_json_bool(hn_call_field(c, "all"), &all) || !all) {
		write_list(c->d, NULL, &b);
		hn_call_reply(c, &b);
		return;
	}
	l = calloc(1, sizeof *l);
	hn_assert(l != NULL);
	hn_arena_init(&l->ended.arena, 0);
	l->pending.ask = (struct hn_ask){ .work = ask_ended, .done = on_ended };
	if (hn_pending_ask(c->d, c->session, c->msg->id, &l->pending, &err) != 0) {
		hn_call_refuse(c, &err);
		hn_arena_fini(&l->ended.arena);
		free(l);
	}
}

void hn_method_job_cancel(const struct hn_call *c)
{
	struct hn_job *j = job_of(c);
	bool release = false, unwanted;
	struct hn_buf b;
	struct hn_jw w;

	if (j == NULL) {
		return;
	}
	hn_json_bool(hn_call_field(c, "release"), &release);
	unwanted = hn_jobs_release(j, c->session);
	if (!hn_job_ended(j) && (unwanted || !release)) {
		hn_notify_cancelled(c->d, c->session, j, NULL, c->msg->id);
		hn_job_cancel(j);
		return;
	}
	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "job", j->id);
	hn_jw_bool(&w, "cancelled", false);
	hn_jw_end(&w);
	hn_call_reply(c, &b);
}

void hn_method_job_wait(const struct hn_call *c)
{
	struct hn_job *j = job_of(c);
	int64_t deadline_ms = 30000;

	if (j == NULL) {
		return;
	}
	if (hn_job_ended(j)) {
		hn_method_job_get(c);
		return;
	}
	hn_json_int(hn_call_field(c, "deadline_ms"), &deadline_ms);
	hn_notify_wait(c->d, c->session, j, c->msg->id,
		       hn_clock_ns() + deadline_ms * 1000000);
	hn_daemon_wake(c->d);
}

void hn_method_subscribe(const struct hn_call *c)
{
	struct hn_job *j = job_of(c);
	uint64_t number;
	int64_t since = 0;
	struct hn_buf b;
	struct hn_jw w;
	struct hn_err err;

	if (j == NULL) {
		return;
	}
	number = hn_notify_subscribe(c->d, c->session, j);
	if (number == 0) {
		hn_fail(&err, HONE_E_QUOTA,
			"subscribe: %d subscriptions are open on this connection",
			HN_LIMIT_SUBSCRIPTIONS);
		hn_call_refuse(c, &err);
		return;
	}
	hn_json_int(hn_call_field(c, "since_seq"), &since);
	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_uint(&w, "subscription", number);
	hn_jw_str(&w, "job", j->id);
	hn_jw_uint(&w, "next_seq", j->ring.next_seq);
	hn_jw_end(&w);
	hn_call_reply(c, &b);
	hn_notify_replay(c->d, number, (uint64_t)since);
}

void hn_method_unsubscribe(const struct hn_call *c)
{
	int64_t number = 0;
	struct hn_buf b;
	struct hn_jw w;

	hn_json_int(hn_call_field(c, "subscription"), &number);
	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_bool(&w, "ended", hn_notify_unsubscribe(c->d, c->session, (uint64_t)number));
	hn_jw_end(&w);
	hn_call_reply(c, &b);
}

void hn_method_stats(const struct hn_call *c)
{
	const struct hn_daemon *d = c->d;
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_int(&w, "pid", getpid());
	hn_jw_uint(&w, "connections", d->server.n_session);
	hn_jw_uint(&w, "accepted", d->server.n_accepted);
	hn_jw_uint(&w, "jobs_live", hn_jobs_live(d));
	hn_jw_int(&w, "records", d->n_record);
	hn_jw_int(&w, "uptime_ms", (hn_clock_ns() - d->started_ns) / 1000000);
	hn_jw_str(&w, "board", d->served[0].board_name);
	hn_jw_str(&w, "target", d->served[0].line);
	if (d->served[0].probe_state == HN_PROBE_KNOWN) {
		hn_board_write_probe(&d->served[0].probe, &w);
	}
	hn_board_write_all(d, &w);
	hn_jw_end(&w);
	hn_call_reply(c, &b);
}

/* What was measured, and the line that it makes "native" from now on. */
static int write_probed(const struct hn_served *s, struct hn_buf *b, struct hn_err *err)
{
	struct hn_buf path, line;
	struct hn_target t;
	struct hn_arena a;
	struct hn_jw w;
	int rc;

	hn_arena_init(&a, 0);
	hn_buf_init(&path);
	hn_buf_init(&line);
	rc = hn_machine_write(s, &path, err);
	rc = rc != 0 ? rc : hn_target_parse_at(s->daemon->config.home.s, "native", &a, &t, err);
	if (rc == 0) {
		hn_target_print(&t, &line);
		hn_jw_init(&w, b);
		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "state", "known");
		hn_board_write_probe(&s->probe, &w);
		hn_jw_str(&w, "target", line.s);
		hn_jw_str(&w, "file", path.s);
		hn_jw_end(&w);
	}
	hn_buf_fini(&line);
	hn_buf_fini(&path);
	hn_arena_fini(&a);
	return rc;
}

void hn_method_probe(const struct hn_call *c)
{
	struct hn_err err;
	struct hn_buf b;
	struct hn_jw w;
	struct hn_served *s = hn_served_machine(c->d);
	int rc = hn_served_start(s, &err);

	hn_buf_init(&b);
	if (rc == 0 && s->probe_state == HN_PROBE_FAILED) {
		rc = hn_fail(&err, HONE_E_NO_BOARD, "probe: it failed; the log says why");
	} else if (rc == 0 && s->probe_state == HN_PROBE_OPEN) {
		hn_jw_init(&w, &b);
		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "state", "open");
		hn_jw_end(&w);
	} else if (rc == 0) {
		rc = write_probed(s, &b, &err);
	}
	if (rc != 0) {
		hn_call_refuse(c, &err);
		hn_buf_fini(&b);
	} else {
		hn_call_reply(c, &b);
	}
}

void hn_method_failures(const struct hn_call *c)
{
	const char *job = hn_json_string(hn_call_field(c, "job"));
	const char *key = hn_json_string(hn_call_field(c, "workload"));
	const char *target = hn_json_string(hn_call_field(c, "target"));
	struct hn_buf line;
	struct hn_err err;
	int rc;

	hn_buf_init(&line);
	if ((job == NULL) == (key == NULL)) {
		rc = hn_fail(&err, HONE_E_INVALID, "failures: give `job` or `workload`");
	} else {
		rc = hn_served_line(c->d, target, &line, &err);
		rc = rc != 0 ? rc
			     : hn_why_answer(c->d, c->session, c->msg->id, job, key, line.s, &err);
	}
	hn_buf_fini(&line);
	if (rc != 0) {
		hn_call_refuse(c, &err);
	}
}

void hn_method_measure(const struct hn_call *c)
{
	struct hn_err err;
	int64_t record = 0;

	hn_json_int(hn_call_field(c, "record"), &record);
	if (hn_why_measure(c->d, c->session, c->msg->id, record, &err) != 0) {
		hn_call_refuse(c, &err);
	}
}

void hn_method_shutdown(const struct hn_call *c)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_bool(&w, "stopping", true);
	hn_jw_end(&w);
	hn_call_reply(c, &b);
	hn_daemon_stop(c->d, "a client asked for it");
}

void hn_method_rpc_discover(const struct hn_call *c)
{
	struct hn_buf b;

	hn_buf_init(&b);
	hn_msg_write_discover(&b);
	hn_call_reply(c, &b);
}

static void on_request(void *ctx, struct hn_session *session, enum hn_method m,
		       const struct hn_msg *msg)
{
	static void (*const handler[])(const struct hn_call *c) = {
#define METHOD(id, spelling, text) hn_method_##id,
#include "proto/msgs.def"
	};
	struct hn_call c = { .d = ctx, .session = session, .msg = msg };

	if (c.d->stopping) {
		hn_session_fault(session, msg->id, HONE_E_BUSY, "honed is stopping");
		return;
	}
	handler[m](&c);
}

static void on_session_closed(void *ctx, struct hn_session *session)
{
	struct hn_daemon *d = ctx;

	hn_notify_forget(d, session, NULL);
	hn_pending_forget(d, session);
	d->trim_due = true;
	hn_daemon_wake(d);
	for (struct hn_job *j = d->jobs; j != NULL; j = j->next) {
		hn_jobs_release(j, session);
	}
	if (d->config.ends_with_clients && d->server.n_session == 0 && d->had_client) {
		hn_daemon_stop(d, "the last client has gone");
	}
}

static void on_drained(void *ctx, struct hn_session *session)
{
	hn_notify_drained(ctx, session);
}

const struct hn_session_ops hn_methods_ops = {
	.request = on_request,
	.closed = on_session_closed,
	.drained = on_drained,
};
