/* daemon/records.c -- what the store has of a workload, record by record: `records`.
 *
 * An answer holds as many as fit a reply, oldest first; who wants more asks again behind the last
 * of them.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/methods_int.h"
#include "loopstate/state/trace.h"

#define LONGEST (HN_LIMIT_REPLY_BYTES / 2) /* what is longer comes with the next answer */

struct listing {
	struct hn_pending pending; /* first */
	struct hn_arena a;
	const char *word, *target;
	int64_t after;
	struct hn_buf answer;
	struct hn_jw w;
};

static void write_steps(const char *steps, struct listing *l)
{
	const struct hn_trace *trace;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_trace_parse("record", steps, strlen(steps), &a, &trace, NULL) == 0) {
		hn_jw_json(&l->w, "steps", steps);
	} else {
		hn_jw_null(&l->w, "steps");
	}
	hn_arena_fini(&a);
}

static int on_record(void *ctx, const struct hn_record *r)
{
	struct listing *l = ctx;

	if (r->id <= l->after) {
		return 0;
	}
	if (l->answer.n >= LONGEST) {
		return 1;
	}
	hn_jw_object(&l->w, NULL);
	hn_jw_int(&l->w, "record", r->id);
	hn_jw_str(&l->w, "origin", r->origin);
	hn_jw_str(&l->w, "verdict", hn_verdict_name(r->verdict));
	hn_jw_str(&l->w, "detail", r->detail);
	hn_jw_double(&l->w, "median_ns", r->median_ns);
	hn_jw_int(&l->w, "unix_ms", r->unix_ms);
	write_steps(r->steps, l);
	hn_jw_end(&l->w);
	return 0;
}

static int read_records(struct hn_ask *ask, struct hn_db *db, struct hn_err *err)
{
	struct listing *l = (struct listing *)ask;
	char key[HN_KEY_BYTES];
	int rc = hn_db_key(db, l->word, key, err);

	if (rc != 0) {
		return rc;
	}
	hn_jw_init(&l->w, &l->answer);
	hn_jw_object(&l->w, NULL);
	hn_jw_str(&l->w, "workload", key);
	hn_jw_str(&l->w, "target", l->target);
	hn_jw_list(&l->w, "records");
	rc = hn_db_records(db, key, l->target, on_record, l, err);
	hn_jw_end(&l->w);
	hn_jw_bool(&l->w, "whole", rc == 0);
	hn_jw_end(&l->w);
	hn_jw_done(&l->w);
	return rc > 0 ? 0 : rc;
}

static void end(struct listing *l)
{
	hn_buf_fini(&l->answer);
	hn_arena_fini(&l->a);
	free(l);
}

static void on_read(struct hn_ask *ask)
{
	struct listing *l = (struct listing *)ask;

	if (ask->rc == 0) {
		hn_pending_reply(&l->pending, l->answer.s);
	} else {
		hn_pending_refuse(&l->pending, &ask->err);
	}
	end(l);
}

void hn_method_records(const struct hn_call *c)
{
	struct listing *l = calloc(1, sizeof *l);
	struct hn_buf line;
	struct hn_err err;
	int rc;

	hn_assert(l != NULL);
	l->pending.ask = (struct hn_ask){ .work = read_records, .done = on_read };
	hn_arena_init(&l->a, 0);
	hn_buf_init(&l->answer);
	hn_buf_init(&line);
	hn_json_int(hn_call_field(c, "after"), &l->after);
	rc = hn_served_line(c->d, hn_json_string(hn_call_field(c, "target")), &line, &err);
	if (rc == 0) {
		l->word = hn_arena_strdup(&l->a, hn_json_string(hn_call_field(c, "workload")));
		l->target = hn_arena_strdup(&l->a, line.s);
		rc = hn_pending_ask(c->d, c->session, c->msg->id, &l->pending, &err);
	}
	if (rc != 0) {
		hn_call_refuse(c, &err);
		end(l);
	}
	hn_buf_fini(&line);
}
