/* daemon/methods.c -- what each method does: one handler a METHOD row of msgs.def.
 *
 * Parameters were checked against their rows before a handler sees them; what is left is
 * meaning.  A handler answers at once, or leaves a wait behind (job.wait).
 */
#include "daemon/methods_int.h"

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
	hn_jw_str(&w, "target", c->d->host_line);
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
			       .records = hn_json_string(hn_call_field(c, "records")) };
	struct hn_job *job;
	struct hn_buf b;
	struct hn_jw w;
	struct hn_err err;
	int64_t seed = 0;
	bool shared;

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
	if (s.text == NULL ||
	    hn_jobs_submit(c->d, &s, c->session, &job, &shared, &err) != 0) {
		hn_call_refuse(c, &err);
		hn_buf_fini(&b);
		return;
	}
	hn_buf_reset(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "job", job->id);
	hn_jw_str(&w, "workload", job->key);
	hn_jw_bool(&w, "shared", shared);
	hn_jw_end(&w);
	hn_call_reply(c, &b);
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

	if (given != NULL) {
		return hn_db_key(c->d->db, given, key, err);
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

/* The canonical line of the target asked for. */
static int query_target(const struct hn_call *c, struct hn_buf *line, struct hn_err *err)
{
	const char *text = hn_json_string(hn_call_field(c, "target"));
	struct hn_arena a;
	struct hn_target t;
	int rc = 0;

	if (text == NULL || strcmp(text, "native") == 0) {
		hn_buf_puts(line, c->d->host_line);
		return 0;
	}
	hn_arena_init(&a, 0);
	rc = hn_target_parse(text, &a, &t, err);
	if (rc == 0) {
		hn_target_print(&t, line);
	}
	hn_arena_fini(&a);
	return rc;
}

void hn_method_query(const struct hn_call *c)
{
	char key[HN_KEY_BYTES];
	const char *automatic;
	struct hn_record best;
	struct hn_arena a;
	struct hn_buf line, b;
	struct hn_jw w;
	struct hn_err err;
	struct hn_naive naive = { .ns = 0 };
	int rc;

	hn_arena_init(&a, 0);
	hn_buf_init(&line);
	rc = query_key(c, key, &err);
	if (rc == 0) {
		rc = query_target(c, &line, &err);
	}
	if (rc == 0) {
		rc = hn_db_best(c->d->db, key, line.s, &a, &best, &err);
		if (rc == -HONE_E_NOT_FOUND &&
		    hn_db_get_automatic(c->d->db, key, line.s, &a, &automatic, NULL) == 0) {
			best = (struct hn_record){ .steps = automatic };
			rc = 0;
		}
	}
	if (rc == 0) {
		rc = hn_db_get_naive(c->d->db, key, line.s, &naive, &err);
	}
	if (rc != 0) {
		hn_damage_add(c->d, &err);
		hn_call_refuse(c, &err);
	} else {
		hn_buf_init(&b);
		hn_jw_init(&w, &b);
		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "workload", key);
		if (best.id > 0) {
			hn_jw_int(&w, "record", best.id);
			hn_jw_double(&w, "median_ns", best.median_ns);
		} else {
			hn_jw_null(&w, "record");
			hn_jw_null(&w, "median_ns");
		}
		hn_jw_double(&w, "naive_ns", naive.ns);
		hn_naive_write_share(naive.share, &w);
		hn_jw_json(&w, "steps", best.steps);
		hn_jw_str(&w, "target", line.s);
		if (best.in_doubt) {
			hn_damage_write(c->d, &w);
		}
		hn_jw_end(&w);
		hn_call_reply(c, &b);
	}
	hn_buf_fini(&line);
	hn_arena_fini(&a);
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

void hn_method_job_list(const struct hn_call *c)
{
	bool all = false;
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_list(&w, "jobs");
	for (const struct hn_job *j = c->d->jobs; j != NULL; j = j->next) {
		hn_job_write(j, &w, NULL);
	}
	hn_jw_end(&w);
	hn_jw_list(&w, "sets");
	for (const struct hn_set *s = c->d->sets; s != NULL; s = s->next) {
		hn_set_write(s, &w, NULL);
	}
	hn_jw_end(&w);
	if (hn_json_bool(hn_call_field(c, "all"), &all) && all) {
		hn_ended_write(c->d, &w, "ended");
	}
	hn_jw_end(&w);
	hn_call_reply(c, &b);
}

void hn_method_job_cancel(const struct hn_call *c)
{
	struct hn_job *j = job_of(c);
	bool release = false, unwanted, cancel;
	struct hn_buf b;
	struct hn_jw w;

	if (j == NULL) {
		return;
	}
	hn_json_bool(hn_call_field(c, "release"), &release);
	unwanted = hn_jobs_release(j, c->session);
	cancel = !hn_job_ended(j) && (unwanted || !release);
	if (cancel) {
		hn_job_cancel(j);
	}
	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "job", j->id);
	hn_jw_bool(&w, "cancelled", cancel);
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
	hn_jw_str(&w, "board", d->board_name);
	hn_jw_str(&w, "target", d->host_line);
	if (d->probe_state == HN_PROBE_KNOWN) {
		hn_board_write_probe(&d->probe, &w);
	}
	hn_board_write_all(d, &w);
	hn_jw_end(&w);
	hn_call_reply(c, &b);
}

/* What was measured, and the line that it makes "native" from now on. */
static int write_probed(const struct hn_daemon *d, struct hn_buf *b, struct hn_err *err)
{
	struct hn_buf path, line;
	struct hn_target t;
	struct hn_arena a;
	struct hn_jw w;
	int rc;

	hn_arena_init(&a, 0);
	hn_buf_init(&path);
	hn_buf_init(&line);
	rc = hn_machine_write(d, &path, err);
	rc = rc != 0 ? rc : hn_target_parse_at(d->config.home.s, "native", &a, &t, err);
	if (rc == 0) {
		hn_target_print(&t, &line);
		hn_jw_init(&w, b);
		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "state", "known");
		hn_board_write_probe(&d->probe, &w);
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
	int rc = hn_daemon_measurer(c->d, &err);

	hn_buf_init(&b);
	if (rc == 0 && c->d->probe_state == HN_PROBE_FAILED) {
		rc = hn_fail(&err, HONE_E_NO_BOARD, "probe: it failed; the log says why");
	} else if (rc == 0 && c->d->probe_state == HN_PROBE_OPEN) {
		hn_jw_init(&w, &b);
		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "state", "open");
		hn_jw_end(&w);
	} else if (rc == 0) {
		rc = write_probed(c->d, &b, &err);
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
	struct hn_buf b;
	struct hn_err err;
	int rc;

	hn_buf_init(&b);
	if ((job == NULL) == (key == NULL)) {
		rc = hn_fail(&err, HONE_E_INVALID, "failures: give `job` or `workload`");
	} else {
		rc = hn_why_write(c->d, job, key,
				  target != NULL ? target : c->d->host_line, &b, &err);
	}
	if (rc != 0) {
		hn_call_refuse(c, &err);
		hn_buf_fini(&b);
	} else {
		hn_call_reply(c, &b);
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
	hn_why_forget(d, session);
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
