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
	struct hn_buf b;
	struct hn_err err;

	if (hn_sets_submit(c->d, c->msg->params, /* again= */ false, &s, &err) != 0) {
		hn_call_refuse(c, &err);
		return;
	}
	hn_buf_init(&b);
	hn_buf_printf(&b, "{\"set\":\"%s\",\"jobs\":[", s->id);
	for (uint32_t i = 0; i < s->n; i++) {
		hn_buf_printf(&b, "%s\"%s\"", i > 0 ? "," : "", s->member[i].job->id);
	}
	hn_buf_puts(&b, "]}");
	hn_call_reply(c, &b);
}

void hn_method_set_get(const struct hn_call *c)
{
	struct hn_set *s = set_of(c);
	struct hn_buf b;

	if (s != NULL) {
		hn_buf_init(&b);
		hn_set_write(s, &b);
		hn_call_reply(c, &b);
	}
}

void hn_method_set_cancel(const struct hn_call *c)
{
	struct hn_set *s = set_of(c);
	struct hn_buf b;
	bool cancel;

	if (s == NULL) {
		return;
	}
	cancel = !hn_set_ended(s);
	hn_set_finish(s, HN_JOB_CANCELLED, "cancelled by a client; results are kept");
	hn_buf_init(&b);
	hn_buf_printf(&b, "{\"set\":\"%s\",\"cancelled\":%s}", s->id,
		      cancel ? "true" : "false");
	hn_call_reply(c, &b);
}
