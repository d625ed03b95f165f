/* daemon/ended.c -- what the store knows of jobs and sets that ended, for job.list.  The text of a
 * computation stays where it is. */
#include <string.h>

#include "base/jw.h"
#include "daemon/daemon.h"

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
	hn_jw_str(w, "target", hn_json_string(hn_json_get(v, "target")));
	hn_jw_str(w, "state", hn_json_string(hn_json_get(v, "state")));
	hn_jw_str(w, "message", hn_json_string(hn_json_get(v, "message")));
	hn_jw_int(w, "unix_ms", unix_ms);
	hn_jw_end(w);
}

static void on_job(void *ctx, const char *json, int64_t unix_ms)
{
	struct hn_ended *e = ctx;

	e->row = hn_arena_grow(&e->arena, e->row, e->n, &e->cap, sizeof *e->row);
	e->row[e->n++] = (struct hn_ended_row){ hn_arena_strdup(&e->arena, json), unix_ms };
}

int hn_ended_read(struct hn_ended *e, struct hn_db *db, struct hn_err *err)
{
	return hn_db_ended_jobs(db, HN_LIMIT_JOBS_LISTED, on_job, e, err);
}

static void write_row(struct hn_daemon *d, const struct hn_ended_row *row, struct hn_jw *w)
{
	struct hn_json *v = NULL;
	const char *id;

	if (hn_json_parse("job", row->json, strlen(row->json), NULL, &v, NULL) != 0) {
		return;
	}
	id = hn_json_string(hn_json_get(v, "id"));
	if (id != NULL && hn_jobs_find(d, id) == NULL && hn_sets_find(d, id) == NULL) {
		put(w, v, id, row->unix_ms);
	}
	hn_json_free(v);
}

void hn_ended_write(struct hn_daemon *d, const struct hn_ended *e, struct hn_jw *w,
		    const char *name)
{
	hn_jw_list(w, name);
	for (uint32_t i = 0; i < e->n; i++) {
		write_row(d, &e->row[i], w);
	}
	hn_jw_end(w);
}
