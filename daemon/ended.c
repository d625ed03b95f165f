/* daemon/ended.c -- what the store knows of jobs and sets that ended, for job.list.  The text of a
 * computation stays where it is. */
#include <string.h>

#include "base/jw.h"
#include "daemon/daemon.h"

struct listing {
	struct hn_daemon *daemon;
	struct hn_jw *w;
};

static void put(struct hn_jw *w, const struct hn_json *v, const char *id, int64_t unix_ms)
{
	const struct hn_json *tasks = hn_json_get(v, "tasks");
	int64_t trials = 0;
	double ns = 0;

	hn_jw_object(w, NULL);
	hn_jw_str(w, tasks != NULL ? "set" : "job", id);
	if (tasks != NULL) {
		hn_jw_int(w, "tasks", hn_json_count(tasks));
	} else {
		hn_jw_str(w, "name", hn_json_string(hn_json_get(v, "name")));
		hn_jw_str(w, "workload", hn_json_string(hn_json_get(v, "workload")));
		if (hn_json_int(hn_json_get(v, "measured"), &trials)) {
			hn_jw_int(w, "trials", trials);
		}
		if (hn_json_double(hn_json_get(v, "best_ns"), &ns)) {
			hn_jw_double(w, "best_ns", ns);
		}
	}
	hn_jw_str(w, "state", hn_json_string(hn_json_get(v, "state")));
	hn_jw_str(w, "message", hn_json_string(hn_json_get(v, "message")));
	hn_jw_int(w, "unix_ms", unix_ms);
	hn_jw_end(w);
}

static void on_job(void *ctx, const char *json, int64_t unix_ms)
{
	struct listing *l = ctx;
	struct hn_json *v = NULL;
	const char *id;

	if (hn_json_parse("job", json, strlen(json), NULL, &v, NULL) != 0) {
		return;
	}
	id = hn_json_string(hn_json_get(v, "id"));
	if (id != NULL && hn_jobs_find(l->daemon, id) == NULL &&
	    hn_sets_find(l->daemon, id) == NULL) {
		put(l->w, v, id, unix_ms);
	}
	hn_json_free(v);
}

void hn_ended_write(struct hn_daemon *d, struct hn_jw *w, const char *name)
{
	struct listing l = { .daemon = d, .w = w };
	struct hn_err err;

	hn_jw_list(w, name);
	if (hn_db_ended_jobs(d->db, HN_LIMIT_JOBS_LISTED, on_job, &l, &err) != 0) {
		hn_log_line(&d->log, "warn", "jobs: %s", err.msg);
	}
	hn_jw_end(w);
}
