/* daemon/why.c -- why candidates failed, and one of them once more.
 *
 * The store keeps every failure that is the kernel's own, so `failures` answers for jobs
 * of former daemons too; failures of the infrastructure are counted by a live job only.
 * `measure` builds and measures a stored history again: the command that reproduces a
 * failure.  Its answer is told and never stored.
 */
#include "daemon/daemon.h"
#include "loopstate/read/dag_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXAMPLES 3

struct hn_again {
	struct hn_pending pending; /* first: of the store, then of the board */
	struct hn_again *next;
	struct hn_daemon *daemon;
	struct hn_served *served;
	struct hn_arena arena;
	int64_t number;
	struct hn_record record; /* as stored */
	struct hn_workload_row row;
	char key[HN_KEY_BYTES];
};

struct example {
	int64_t record;
	const char *detail, *steps;
};

struct failures {
	struct hn_pending pending; /* first */
	struct hn_arena arena;
	const char *job, *word; /* a job, or the beginning of a key; NULL: the key is there */
	char here[24];		/* the id of that job, where it is this daemon's; else "" */
	const char *name, *target;
	char key[HN_KEY_BYTES];
	int64_t count[HN_N_VERDICT];
	struct example example[HN_N_VERDICT][EXAMPLES];
};

static int on_record(void *ctx, const struct hn_record *r)
{
	struct failures *f = ctx;
	int64_t n = f->count[r->verdict]++;

	if (r->verdict != HN_VERDICT_OK && n < EXAMPLES) {
		f->example[r->verdict][n] =
			(struct example){ .record = r->id,
					  .detail = hn_arena_strdup(&f->arena, r->detail),
					  .steps = hn_arena_strdup(&f->arena, r->steps) };
	}
	return 0;
}

/* A job as the store has it: its name, workload and target. */
static bool read_stored(struct failures *f, const char *text, const char *id)
{
	const struct hn_dag *dag;
	struct hn_json *v = NULL;
	const char *have, *dag_text, *target, *name;
	bool found = false;

	if (hn_json_parse("job", text, strlen(text), NULL, &v, NULL) != 0) {
		return false;
	}
	have = hn_json_string(hn_json_get(v, "id"));
	dag_text = hn_json_string(hn_json_get(v, "text"));
	target = hn_json_string(hn_json_get(v, "target"));
	name = hn_json_string(hn_json_get(v, "name"));
	if (have != NULL && strncmp(have, id, strlen(id)) == 0 && dag_text != NULL && target != NULL &&
	    hn_dag_parse("dag", dag_text, strlen(dag_text), 0, &f->arena, &dag, NULL) ==
		    0) {
		hn_dag_key(dag, f->key);
		f->target = hn_arena_strdup(&f->arena, target);
		f->name = hn_arena_strdup(&f->arena, name != NULL ? name : "");
		found = true;
	}
	hn_json_free(v);
	return found;
}

/* A job that this daemon has. */
static int find_here(struct hn_daemon *d, struct failures *f, struct hn_err *err)
{
	const struct hn_job *j = hn_ids_job(d, f->job, err);

	if (j == NULL) {
		return err->code == HONE_E_NOT_FOUND ? 0 : -err->code;
	}
	snprintf(f->here, sizeof f->here, "%s", j->id);
	snprintf(f->key, sizeof f->key, "%s", j->key);
	f->target = hn_arena_strdup(&f->arena, j->target_line);
	f->name = hn_arena_strdup(&f->arena, j->name);
	f->job = NULL;
	return 0;
}

/* One of an earlier daemon. */
static int find_stored(struct failures *f, struct hn_db *db, struct hn_err *err)
{
	const char *const *text;
	uint32_t n = 0, found = 0;
	int rc = hn_db_jobs(db, /* unfinished_only= */ false, &f->arena, &n, &text, err);

	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		found += read_stored(f, text[i], f->job);
	}
	return rc != 0	    ? rc
	       : found == 1 ? 0
	       : found > 1  ? hn_fail(err, HONE_E_INVALID, "job: %s is ambiguous: %u jobs that ended",
				      f->job, found)
			    : hn_fail(err, HONE_E_NOT_FOUND,
				      "job: there is none called \"%.64s\"", f->job);
}

static void write_class(const struct failures *f, enum hn_verdict v, int64_t count,
			struct hn_jw *w)
{
	hn_jw_object(w, NULL);
	hn_jw_str(w, "verdict", hn_verdict_name(v));
	hn_jw_int(w, "count", count);
	hn_jw_str(w, "text", hn_verdict_text(v));
	hn_jw_str(w, "blames", hn_verdict_blames_kernel(v) ? "kernel" : "board");
	hn_jw_list(w, "examples");
	for (int64_t i = 0; i < EXAMPLES && i < f->count[v]; i++) {
		const struct example *e = &f->example[v][i];

		hn_jw_object(w, NULL);
		hn_jw_int(w, "record", e->record);
		hn_jw_str(w, "detail", e->detail);
		hn_jw_strf(w, "command", "hone measure %lld", (long long)e->record);
		hn_jw_json(w, "steps", e->steps);
		hn_jw_end(w);
	}
	hn_jw_end(w);
	hn_jw_end(w);
}

static void write_failures(struct hn_daemon *d, const struct failures *f, struct hn_buf *b)
{
	const struct hn_job *job = *f->here != '\0' ? hn_jobs_find(d, f->here) : NULL;
	struct hn_jw w;

	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "workload", f->key);
	hn_jw_str(&w, "name", f->name);
	hn_jw_str(&w, "target", f->target);
	hn_jw_int(&w, "ok", f->count[HN_VERDICT_OK]);
	hn_jw_list(&w, "classes");
	for (int v = 0; v < HN_N_VERDICT; v++) {
		int64_t n = f->count[v];

		if (job != NULL && n == 0) {
			n = job->n_verdict[v]; /* of the infrastructure: not stored */
		}
		if (v != HN_VERDICT_OK && n > 0) {
			write_class(f, (enum hn_verdict)v, n, &w);
		}
	}
	hn_jw_end(&w);
	hn_damage_write(d, &w);
	hn_jw_end(&w);
	hn_jw_done(&w);
}

static int read_failures(struct hn_ask *ask, struct hn_db *db, struct hn_err *err)
{
	struct failures *f = (struct failures *)ask;
	struct hn_workload_row row;
	int rc = f->job != NULL	   ? find_stored(f, db, err)
		 : f->word != NULL ? hn_db_key(db, f->word, f->key, err)
				   : 0;

	/* One that was never submitted has no name, and no failures either. */
	if (rc == 0 && *f->name == '\0' &&
	    hn_db_workload(db, f->key, &f->arena, &row, NULL) == 0) {
		f->name = row.name;
	}
	return rc != 0 ? rc : hn_db_records(db, f->key, f->target, on_record, f, err);
}

static void on_failures(struct hn_ask *ask)
{
	struct failures *f = (struct failures *)ask;
	struct hn_buf b;

	if (ask->rc != 0) {
		hn_pending_refuse(&f->pending, &ask->err);
	} else {
		hn_buf_init(&b);
		write_failures(f->pending.daemon, f, &b);
		hn_pending_reply(&f->pending, b.s);
		hn_buf_fini(&b);
	}
	hn_arena_fini(&f->arena);
	free(f);
}

int hn_why_answer(struct hn_daemon *d, struct hn_session *s, const char *id, const char *job,
		  const char *key, const char *target, struct hn_err *err)
{
	struct failures *f = calloc(1, sizeof *f);
	int rc = 0;

	hn_assert(f != NULL);
	hn_arena_init(&f->arena, 0);
	f->pending.ask = (struct hn_ask){ .work = read_failures, .done = on_failures };
	f->target = hn_arena_strdup(&f->arena, target);
	f->name = "";
	if (job != NULL) {
		f->job = hn_arena_strdup(&f->arena, job);
		rc = find_here(d, f, err);
	} else {
		f->word = hn_arena_strdup(&f->arena, key);
	}
	rc = rc != 0 ? rc : hn_pending_ask(d, s, id, &f->pending, err);
	if (rc != 0) {
		hn_arena_fini(&f->arena);
		free(f);
	}
	return rc;
}

static void end(struct hn_again *g)
{
	struct hn_again **at = &g->daemon->agains;

	while (*at != g) {
		at = &(*at)->next;
	}
	*at = g->next;
	if (*g->key != '\0') {
		hn_measurer_forget(g->served->measurer, g->key);
	}
	hn_arena_fini(&g->arena);
	free(g);
}

static void on_again(void *ctx, const struct hn_measure_result *r)
{
	struct hn_again *g = ctx;
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_int(&w, "record", g->record.id);
	hn_jw_str(&w, "workload", g->key);
	hn_jw_str(&w, "verdict", hn_verdict_name(r->verdict));
	hn_jw_str(&w, "text", hn_verdict_text(r->verdict));
	hn_jw_str(&w, "detail", r->detail);
	hn_jw_uint(&w, "samples", r->n_sample);
	hn_jw_double(&w, "median_ns", r->median_ns);
	hn_jw_object(&w, "stored");
	hn_jw_str(&w, "verdict", hn_verdict_name(g->record.verdict));
	hn_jw_double(&w, "median_ns", g->record.median_ns);
	hn_jw_str(&w, "detail", g->record.detail);
	hn_jw_end(&w);
	hn_jw_json(&w, "steps", g->record.steps);
	hn_jw_end(&w);
	hn_pending_reply(&g->pending, b.s);
	hn_buf_fini(&b);
	end(g);
}

static void on_reference(void *ctx, const struct hn_measure_result *r)
{
	struct hn_again *g = ctx;
	struct hn_err err;

	if (r->verdict == HN_VERDICT_OK && !g->daemon->stopping) {
		hn_measurer_submit(g->served->measurer, g->key, g->record.steps, 0,
				   on_again, g);
		return;
	}
	(void)!hn_fail(&err, HONE_E_INTERNAL, "measure: the naive program: %s: %.400s",
		       hn_verdict_text(r->verdict), r->detail);
	hn_pending_refuse(&g->pending, &err);
	end(g);
}

/* A client that goes leaves its requests behind: they count until they are done. */
static int check_room(const struct hn_daemon *d, struct hn_err *err)
{
	int n = 0;

	for (const struct hn_again *g = d->agains; g != NULL; g = g->next) {
		n++;
	}
	return n < HN_LIMIT_MEASURES
		       ? 0
		       : hn_fail(err, HONE_E_BUSY, "measure: %d records wait for it already", n);
}

static int find_record(struct hn_ask *ask, struct hn_db *db, struct hn_err *err)
{
	struct hn_again *g = (struct hn_again *)ask;

	return hn_db_find(db, g->number, &g->arena, &g->record, &g->row, err);
}

static int measure(struct hn_again *g, struct hn_err *err)
{
	struct hn_daemon *d = g->daemon;
	const struct hn_dag *dag;
	struct hn_workload w;
	int rc;

	if (hn_served_find(d, g->record.target, &g->served, err) != 0) {
		return hn_err_within(err, "record %lld", (long long)g->number);
	}
	rc = hn_dag_parse("dag", g->row.dag_json, strlen(g->row.dag_json), 0, &g->arena, &dag,
			  err);
	rc = rc != 0	    ? rc
	     : d->stopping ? hn_fail(err, HONE_E_BUSY, "honed is stopping")
			    : hn_served_start(g->served, err);
	if (rc == 0) {
		snprintf(g->key, sizeof g->key, "%s", g->row.key);
		w = hn_workload_of(dag, g->key, g->row.dag_json, &g->arena);
		hn_measurer_workload(g->served->measurer, &w, on_reference, g);
	}
	return rc;
}

static void on_found(struct hn_ask *ask)
{
	struct hn_again *g = (struct hn_again *)ask;

	if (ask->rc == 0) {
		ask->rc = measure(g, &ask->err);
	}
	if (ask->rc != 0) {
		hn_pending_refuse(&g->pending, &ask->err);
		end(g);
	}
}

int hn_why_measure(struct hn_daemon *d, struct hn_session *s, const char *id,
		   int64_t record, struct hn_err *err)
{
	struct hn_again *g;
	int rc = check_room(d, err);

	if (rc != 0) {
		return rc;
	}
	g = calloc(1, sizeof *g);
	hn_assert(g != NULL);
	g->pending.ask = (struct hn_ask){ .work = find_record, .done = on_found };
	g->daemon = d;
	g->number = record;
	hn_arena_init(&g->arena, 0);
	rc = hn_pending_ask(d, s, id, &g->pending, err);
	if (rc != 0) {
		hn_arena_fini(&g->arena);
		free(g);
		return rc;
	}
	g->next = d->agains;
	d->agains = g;
	return 0;
}
