/* client/lib/job.c -- libhone: jobs of honed, submitted and followed (hone/tune.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jw.h"
#include "client/lib/kernel_load.h"
#include "client/lib/talk.h"
#include "hone/tune.h"
#include "proto/addr.h"

#define ANSWER_MS 30000
#define WAIT_MS 1000

_Static_assert(HONE_CANCELLED == -HONE_E_CANCELLED, "tune.h repeats errs.def");

struct hone_daemon {
	struct hn_talk talk;
	struct hn_json *hello;
};

static int open_daemon(const char *socket, struct hone_daemon *d, struct hn_err *err)
{
	const struct hn_json *result;
	struct hn_buf path;
	int rc;

	hn_buf_init(&path);
	rc = hn_addr_path(socket, &path, err);
	rc = rc ? rc : hn_talk_open(path.s, &d->talk, err);
	rc = rc ? rc : hn_talk_greet(&d->talk, "libhone", &d->hello, &result, err);
	hn_buf_fini(&path);
	return rc;
}

int hone_daemon_open(const char *socket, struct hone_daemon **ret, struct hone_error *error)
{
	struct hone_daemon *d = calloc(1, sizeof(*d));
	struct hn_err err = { 0 };
	int rc;

	if (d == NULL) {
		return hn_lib_give(hn_fail(&err, HONE_E_NOMEM, "out of memory"), &err, error);
	}
	d->talk.fd = -1;
	rc = open_daemon(socket, d, &err);
	if (rc != 0) {
		hone_daemon_close(d);
		return hn_lib_give(rc, &err, error);
	}
	*ret = d;
	return 0;
}

void hone_daemon_close(struct hone_daemon *d)
{
	if (d != NULL) {
		hn_talk_close(&d->talk);
		hn_json_free(d->hello);
		free(d);
	}
}

int hone_submit(struct hone_daemon *d, const char *text, const struct hone_budget *budget,
		char job[HONE_JOB_BYTES], struct hone_error *error)
{
	const struct hn_json *result;
	struct hn_json *doc = NULL;
	struct hn_err err = { 0 };
	struct hn_buf params;
	struct hn_jw w;
	const char *id;
	int rc;

	hn_buf_init(&params);
	hn_jw_init(&w, &params);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "text", text);
	if (budget->trials > 0) {
		hn_jw_uint(&w, "trials", budget->trials);
	}
	if (budget->seconds > 0) {
		hn_jw_double(&w, "seconds", budget->seconds);
	}
	hn_jw_end(&w);
	hn_jw_done(&w);
	rc = hn_talk_call(&d->talk, "submit", params.s, ANSWER_MS, &doc, &result, &err);
	hn_buf_fini(&params);
	if (rc == 0) {
		id = hn_json_string(hn_json_get(result, "job"));
		if (id == NULL || (size_t)snprintf(job, HONE_JOB_BYTES, "%s", id) >= HONE_JOB_BYTES) {
			rc = hn_fail(&err, HONE_E_CORRUPT, "honed: an answer without a job");
		}
	}
	hn_json_free(doc);
	return hn_lib_give(rc, &err, error);
}

static void job_params(const char *job, bool follow, struct hn_buf *params)
{
	struct hn_jw w;

	hn_buf_init(params);
	hn_jw_init(&w, params);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "job", job);
	if (follow) {
		hn_jw_int(&w, "since_seq", 0);
	}
	hn_jw_end(&w);
	hn_jw_done(&w);
}

static int simple_call(struct hone_daemon *d, const char *method, const char *job, bool follow,
		       struct hn_err *err)
{
	const struct hn_json *result;
	struct hn_json *doc = NULL;
	struct hn_buf params;
	int rc;

	job_params(job, follow, &params);
	rc = hn_talk_call(&d->talk, method, params.s, ANSWER_MS, &doc, &result, err);
	hn_json_free(doc);
	hn_buf_fini(&params);
	return rc;
}

int hone_cancel(struct hone_daemon *d, const char *job, struct hone_error *error)
{
	struct hn_err err = { 0 };

	return hn_lib_give(simple_call(d, "job.cancel", job, false, &err), &err, error);
}

/* What an event's data say; what they do not stays as it was. */
static void read_data(const struct hn_json *data, struct hone_progress *now)
{
	const char *state = hn_json_string(hn_json_get(data, "state"));
	int64_t trials;

	if (state != NULL) {
		snprintf(now->state, sizeof now->state, "%.15s", state);
	}
	if (hn_json_int(hn_json_get(data, "trials"), &trials) && trials >= 0) {
		now->trials = (unsigned long)trials;
	}
	hn_json_double(hn_json_get(data, "naive_ns"), &now->naive_ns);
	if (!hn_json_double(hn_json_get(data, "median_ns"), &now->best_ns)) {
		hn_json_double(hn_json_get(data, "best_ns"), &now->best_ns);
	}
}

static int end_of(const struct hn_json *data, const struct hone_progress *now, struct hn_err *err)
{
	const char *message = hn_json_string(hn_json_get(data, "message"));

	if (strcmp(now->state, "done") == 0) {
		return 0;
	}
	return hn_fail(err, strcmp(now->state, "cancelled") == 0 ? HONE_E_CANCELLED : HONE_E_INVALID,
		       "%s%s%s", now->state, message && *message ? ": " : "",
		       message ? message : "");
}

/* One message; *ret_end: it was the last. */
static int take_event(const struct hn_msg *m, const char *job, hone_progress_fn each, void *ctx,
		      struct hone_progress *now, bool *ret_end, struct hn_err *err)
{
	const char *of = hn_json_string(hn_json_get(m->params, "job"));
	const char *type = hn_json_string(hn_json_get(m->params, "type"));
	const struct hn_json *data = hn_json_get(m->params, "data");

	if (m->kind != HN_MSG_NOTIFY || of == NULL || type == NULL || strcmp(of, job) != 0) {
		return 0;
	}
	read_data(data, now);
	*ret_end = strcmp(type, "done") == 0;
	if (each != NULL && each(ctx, now) != 0 && !*ret_end) {
		*ret_end = true;
		return hn_fail(err, HONE_E_CANCELLED, "%s: followed no longer; it goes on", job);
	}
	return *ret_end ? end_of(data, now, err) : 0;
}

int hone_follow(struct hone_daemon *d, const char *job, hone_progress_fn each, void *ctx,
		struct hone_progress *ret, struct hone_error *error)
{
	struct hone_progress now = { 0 };
	struct hn_err err = { 0 };
	int rc = simple_call(d, "subscribe", job, true, &err);

	for (bool end = rc != 0; !end;) {
		struct hn_json *doc;
		struct hn_msg m;

		rc = hn_talk_next(&d->talk, WAIT_MS, &doc, &m, &err);
		if (rc == 0) {
			rc = take_event(&m, job, each, ctx, &now, &end, &err);
			hn_json_free(doc);
		}
		rc = rc == 1 ? 0 : rc;
		end |= rc != 0;
	}
	if (ret != NULL) {
		*ret = now;
	}
	return hn_lib_give(rc, &err, error);
}
