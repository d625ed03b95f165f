/* client/watch.c -- see watch.h.  Progress and warnings are shown as they come. */
#include "client/watch.h"

#include <string.h>

#include "base/jw.h"
#include "client/interrupt.h"
#include "client/say.h"

#define POLL_MS 200

/* A request about the job, with a member that is true where `flag` names one. */
static int send_about(struct hn_watch *w, const char *method, const char *flag, struct hn_err *err)
{
	struct hn_buf b;
	struct hn_jw jw;
	int rc;

	hn_buf_init(&b);
	hn_jw_init(&jw, &b);
	hn_jw_object(&jw, NULL);
	hn_jw_str(&jw, "job", w->job);
	if (flag != NULL) {
		hn_jw_bool(&jw, flag, true);
	}
	hn_jw_end(&jw);
	hn_jw_done(&jw);
	rc = hn_link_send(w->link, method, b.s, err);
	hn_buf_fini(&b);
	return rc;
}

/* Take a message; *keep is set when its document must live on. */
static int take(struct hn_watch *w, struct hn_json *doc, const struct hn_msg *m, bool *keep,
		struct hn_err *err)
{
	const char *type =
		m->params != NULL ? hn_json_string(hn_json_get(m->params, "type")) : NULL;
	const struct hn_json *data =
		m->params != NULL ? hn_json_get(m->params, "data") : NULL;
	enum hn_event event = type != NULL ? hn_event_of(type) : HN_N_EVENT;
	bool cancelled = true;

	if (m->kind == HN_MSG_FAULT) {
		return hn_fail(err,
			       m->fault_code > 0 && m->fault_code < 64
				       ? (int)m->fault_code
				       : HONE_E_INTERNAL,
			       "%s", m->fault_text);
	}
	if (m->kind == HN_MSG_RESULT && w->cancelling &&
	    hn_json_bool(hn_json_get(m->result, "cancelled"), &cancelled) && !cancelled) {
		hn_show_note(w->show, "hone: others tune this too, so the job goes on");
		w->ended = true;
		return 0;
	}
	if (m->kind != HN_MSG_NOTIFY || data == NULL) {
		return 0;
	}
	if (event == HN_EVENT_progress || event == HN_EVENT_done) {
		hn_json_free(w->last_doc);
		w->last_doc = doc;
		w->last = data;
		*keep = true;
		w->ended = event == HN_EVENT_done;
		hn_show_progress(w->show, data, w->ended);
	} else if (event == HN_EVENT_warn &&
		   hn_json_string(hn_json_get(data, "message")) != NULL) {
		hn_show_note(w->show, hn_json_string(hn_json_get(data, "message")));
	}
	return 0;
}

int hn_watch(struct hn_watch *w, struct hn_err *err)
{
	int rc = send_about(w, "subscribe", NULL, err);

	while (rc == 0 && !w->ended) {
		struct hn_json *doc;
		struct hn_msg m;
		bool keep = false;

		if (hn_interrupted() && !w->cancelling) {
			w->cancelling = true;
			hn_show_note(w->show, "hone: stopping; results so far are kept");
			rc = send_about(w, "job.cancel", "release", err);
			if (rc != 0) {
				break;
			}
		}
		rc = hn_link_next(w->link, POLL_MS, &doc, &m, err);
		if (rc == 1) {
			rc = 0;
			continue;
		}
		if (rc == 0) {
			rc = take(w, doc, &m, &keep, err);
			if (!keep) {
				hn_json_free(doc);
			}
		}
	}
	hn_show_end(w->show);
	return rc;
}
