/* client/records_import.c -- `hone records import LOG --dag MAP`: another tuner's results, measured
 * here.
 *
 * The log is read once, a line at a time; of a line that is to be imported, a few numbers are kept.
 * Then honed is asked for one job for each computation, which reads the log itself (policy
 * "replay"): so results come into the store as those of any job do, and are best if they hold in its
 * final.  A line whose program is in the store is not measured again, so an import that was
 * interrupted goes on where it was.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/name.h"
#include "client/best.h"
#include "client/import.h"
#include "client/interrupt.h"
#include "client/log.h"
#include "client/records.h"
#include "client/watch.h"
#include "search/logline.h"

#define CALL_MS 30000
#define LINES_MOST (4u << 20) /* of one computation; 300 MB */

/* In one line of text, whatever words of the log are in it. */
static void leave_out(struct hn_import *im, uint64_t line, const char *why)
{
	char shown[400];

	hn_shown(shown, sizeof(shown), why, strlen(why));
	printf("%s:%" PRIu64 ": left out: %s\n", im->log, line, shown);
	im->n_left_out++;
}

static void add(struct hn_import *im, struct hn_import_task *t, struct hn_import_line x)
{
	t->line = hn_arena_grow(&im->a, t->line, t->n, &t->cap, sizeof(x));
	t->line[t->n++] = x;
}

static void look_at(struct hn_import *im, const struct hn_log_record *r, uint64_t line)
{
	struct hn_import_task *t = hn_import_find(im, r->workload_key);
	struct hn_import_line x = { .line = line, .failure = "" };
	struct hn_err err;
	char why[160];

	if (t == NULL) {
		snprintf(why, sizeof(why), "no computation for its workload key, %.100s",
			 r->workload_key);
		leave_out(im, line, why);
	} else if (t->n == LINES_MOST) {
		leave_out(im, line, "too many lines of this computation: import what is left later");
	} else if (hn_logline_imports(r, t->key, t->in.dag, &im->target, &x.hash, &err) != 0) {
		leave_out(im, line, err.msg);
	} else {
		x.there_ns = hn_logline_cost_ns(r);
		add(im, t, x);
	}
}

static int read_log(struct hn_import *im, struct hn_err *err)
{
	const struct hn_log_record *record;
	struct hn_record_reader r;
	FILE *file;
	int item, rc = hn_log_open(im->log, &file, err);

	if (rc != 0) {
		return rc;
	}
	hn_record_reader_init(&r, file, im->log);
	while (!hn_interrupted() && (item = hn_record_next(&r, &record, err)) != HN_RECORD_END &&
	       item != -HONE_E_IO) {
		im->n_line += item != HN_RECORD_COMMENT;
		if (item == HN_RECORD_RECORD) {
			look_at(im, record, r.line);
		} else if (item < 0) {
			fprintf(stderr, "hone: %s\n", err->msg);
			im->n_bad++;
		}
	}
	hn_record_reader_fini(&r);
	hn_log_close(file);
	return hn_interrupted()	      ? hn_fail(err, HONE_E_CANCELLED, "stopped; nothing was imported")
	       : item == -HONE_E_IO ? item
				      : 0;
}

static int by_program(const void *x, const void *y)
{
	const struct hn_import_line *const *a = x, *const *b = y;

	return (*a)->hash != (*b)->hash ? ((*a)->hash > (*b)->hash) - ((*a)->hash < (*b)->hash)
					: ((*a)->line > (*b)->line) - ((*a)->line < (*b)->line);
}

/* Lines whose program an earlier one has: measured once. */
static void find_repeats(struct hn_import_task *t)
{
	struct hn_import_line **sorted = calloc(t->n + 1, sizeof(*sorted));

	hn_assert(sorted != NULL);
	for (uint32_t i = 0; i < t->n; i++) {
		sorted[i] = &t->line[i];
	}
	qsort(sorted, t->n, sizeof(*sorted), by_program);
	for (uint32_t i = 1; i < t->n; i++) {
		const struct hn_import_line *p = sorted[i - 1];

		if (p->hash == sorted[i]->hash) {
			sorted[i]->as = p->as != 0 ? p->as : p->line;
		}
	}
	free(sorted);
}

static int submit(const struct hn_opts *o, const struct hn_import *im,
		  const struct hn_import_task *t, struct hn_link *link, struct hn_json **ret,
		  const char **ret_job, struct hn_err *err)
{
	const struct hn_json *result;
	char path[PATH_MAX];
	struct hn_buf b;
	struct hn_jw w;
	int rc;

	if (realpath(im->log, path) == NULL) {
		return hn_fail(err, HONE_E_IO, "%s: %s", im->log, strerror(errno));
	}
	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "text", t->in.json);
	hn_jw_str(&w, "name", t->in.name);
	hn_jw_str(&w, "policy", "replay");
	hn_jw_str(&w, "records", path);
	hn_jw_str(&w, "records_key", t->key);
	hn_jw_str(&w, "target", o->target != NULL ? o->target : "native");
	hn_jw_int(&w, "trials", HN_LIMIT_TRIALS);
	hn_jw_end(&w);
	rc = hn_link_call(link, "submit", b.s, CALL_MS, ret, &result, err);
	if (rc == 0) {
		*ret_job = hn_json_string(hn_json_get(result, "job"));
		rc = *ret_job != NULL ? 0
				      : hn_fail(err, HONE_E_CORRUPT, "honed: submit gave no job");
	}
	hn_buf_fini(&b);
	return rc;
}

/* The job of one computation, to its end.  One that fails is noted, and the others go on. */
static int measure(const struct hn_opts *o, struct hn_import *im, struct hn_import_task *t,
		   struct hn_link *link, struct hn_show *show, struct hn_err *err)
{
	struct hn_watch w = { .link = link, .show = show };
	struct hn_json *doc = NULL;
	int rc = submit(o, im, t, link, &doc, &w.job, err);

	rc = rc ? rc : hn_watch(&w, err);
	if (rc == 0 && w.last != NULL && strcmp(hn_show_word(w.last, "state"), "failed") == 0) {
		t->message = hn_arena_strdup(&im->a, hn_show_word(w.last, "message"));
	}
	if (rc == 0 && w.cancelling) {
		rc = hn_fail(err, HONE_E_CANCELLED,
			     "stopped early; run the same command again to go on");
	}
	hn_json_free(w.last_doc);
	hn_json_free(doc);
	return rc;
}

/* The number of the best record of the task; 0: there is none. */
static int64_t best_of(const struct hn_import *im, const struct hn_import_task *t,
		       struct hn_link *link)
{
	const struct hn_json *best;
	struct hn_json *doc = NULL;
	struct hn_err none;
	int64_t record = 0;
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "workload", t->in.key);
	hn_jw_str(&w, "target", im->target_line);
	hn_jw_end(&w);
	if (hn_link_call(link, "query", b.s, CALL_MS, &doc, &best, &none) == 0) {
		hn_json_int(hn_json_get(best, "record"), &record);
	}
	hn_json_free(doc);
	hn_buf_fini(&b);
	return record;
}

static int import_task(const struct hn_opts *o, struct hn_import *im, struct hn_import_task *t,
		       struct hn_link *link, struct hn_show *show, struct hn_err *err)
{
	struct hn_err none;
	int stopped = 0, rc;

	find_repeats(t);
	rc = hn_import_look(im, t, link, /* before= */ true, err);
	if (rc == 0 && hn_import_missing(t) > 0) {
		stopped = measure(o, im, t, link, show, err);
		rc = stopped == 0 || stopped == -HONE_E_CANCELLED
			     ? hn_import_look(im, t, link, /* before= */ false, &none)
			     : stopped;
	}
	if (rc == 0) {
		hn_import_tell(im, t, best_of(im, t, link));
	}
	return stopped ? stopped : rc;
}

static int import(const struct hn_opts *o, struct hn_import *im, struct hn_err *err)
{
	struct hn_link link;
	struct hn_show show;
	int rc = 0;

	hn_show_init(&show, o->quiet);
	rc = hn_link_open(o, /* start= */ true, &link, err);
	if (rc != 0) {
		return rc;
	}
	for (uint32_t i = 0; rc == 0 && i < im->n; i++) {
		if (im->task[i].n > 0) {
			rc = import_task(o, im, &im->task[i], &link, &show, err);
		}
	}
	hn_show_end(&show);
	hn_link_close(&link);
	return rc;
}

static int check_log(const char *log, struct hn_err *err)
{
	struct stat st;

	if (strcmp(log, "-") == 0 || (stat(log, &st) == 0 && S_ISFIFO(st.st_mode))) {
		return hn_fail(err, HONE_E_INVALID, "import takes a file, not a pipe: it is read twice");
	}
	return 0;
}

static int all(const struct hn_opts *o, struct hn_import *im, struct hn_err *err)
{
	uint64_t n = 0;
	int rc = hn_import_map(o, im, err);

	rc = rc ? rc : hn_best_target(o, &im->a, &im->target, &im->target_line, err);
	rc = rc ? rc : read_log(im, err);
	for (uint32_t i = 0; rc == 0 && i < im->n; i++) {
		n += im->task[i].n;
	}
	rc = rc || n == 0 ? rc : import(o, im, err);
	if (rc == 0 || rc == -HONE_E_CANCELLED) {
		hn_import_tell_all(im);
	}
	if (rc == 0 && n == 0) {
		rc = hn_fail(err, HONE_E_NOT_FOUND, "%s: no line of it can be imported", im->log);
	}
	return rc == 0 && im->n_bad > 0
		       ? hn_fail(err, HONE_E_INVALID, "%s: %" PRIu64 " bad line%s left out", im->log,
				 im->n_bad, im->n_bad > 1 ? "s" : "")
		       : rc;
}

int hn_records_import(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_import im = { .log = o->arg2 };
	int rc;

	if (o->arg2 == NULL || o->map == NULL) {
		return hn_fail(err, HONE_E_INVALID,
			       "give a LOG, and --dag MAP, which says what its workload keys mean; see "
			       "`hone help records`");
	}
	hn_arena_init(&im.a, 0);
	hn_interrupt_catch();
	rc = check_log(o->arg2, err);
	rc = rc ? rc : all(o, &im, err);
	for (uint32_t i = 0; i < im.n; i++) {
		free(im.task[i].right_ns); /* of one that was not told to its end */
	}
	hn_arena_fini(&im.a);
	return rc;
}
