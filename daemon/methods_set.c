/* daemon/methods_set.c -- the methods set.*: see methods.c. */
#include "daemon/methods_int.h"

/* The set named by the request; NULL after a refusal was sent. */
static struct hn_set *set_of(const struct hn_call *c)
{
	const char *id = hn_json_string(hn_call_field(c, "set"));
	struct hn_err err;
	struct hn_set *s = hn_ids_set(c->d, id, &err);

	if (s == NULL) {
		hn_call_refuse(c, &err);
	}
	return s;
}

void hn_method_set_submit(const struct hn_call *c)
{
	struct hn_set *s;
	struct hn_err err;

	if (hn_sets_make(c->d, c->msg->params, /* again= */ false, &s, &err) != 0) {
		hn_call_refuse(c, &err);
	} else if (hn_submit_set(c->d, c->session, c->msg->id, s, &err) != 0) {
		hn_sets_unmake(s);
		hn_call_refuse(c, &err);
	}
}

void hn_method_set_get(const struct hn_call *c)
{
	struct hn_set *s = set_of(c);
	struct hn_buf b;
	struct hn_jw w;

	if (s != NULL) {
		hn_buf_init(&b);
		hn_jw_init(&w, &b);
		hn_set_write(s, &w, NULL);
		hn_call_reply(c, &b);
	}
}

void hn_method_set_cancel(const struct hn_call *c)
{
	struct hn_set *s = set_of(c);
	struct hn_buf b;
	struct hn_jw w;

	if (s == NULL) {
		return;
	}
	if (!hn_set_ended(s)) {
		hn_notify_cancelled(c->d, c->session, NULL, s, c->msg->id);
		hn_set_finish(s, HN_JOB_CANCELLED, "cancelled by a client; results are kept");
		return;
	}
	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "set", s->id);
	hn_jw_bool(&w, "cancelled", false);
	hn_jw_end(&w);
	hn_call_reply(c, &b);
}
