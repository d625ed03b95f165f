/* client/cmd_jobs.c -- the verbs that only ask a running daemon: jobs, cancel, boards,
 * ping, stop. */
#include <stdio.h>
#include <string.h>

#include "base/jw.h"
#include "client/ask.h"
#include "client/link.h"
#include "client/say.h"
#include "client/show.h"
#include "proto/addr.h"

#define CALL_MS 10000
#define STOP_MS 15000

/* With --json the answer is printed and NULL is left of it. */
static const struct hn_json *print_answer(const struct hn_opts *o, const struct hn_json *answer)
{
	if (!o->json) {
		return answer;
	}
	hn_say_print(answer);
	return NULL;
}

/* Call a method of a daemon that is there already; the answer as print_answer leaves it. */
static int ask(const struct hn_opts *o, const char *method, const char *params,
	       struct hn_json **ret_doc, const struct hn_json **ret_result,
	       struct hn_err *err)
{
	struct hn_link link;
	int rc = hn_link_open(o, /* start= */ false, &link, err);

	if (rc != 0) {
		return rc;
	}
	rc = hn_link_call(&link, method, params, CALL_MS, ret_doc, ret_result, err);
	hn_link_close(&link);
	if (rc == 0) {
		*ret_result = print_answer(o, *ret_result);
	}
	return rc;
}

/* A line of what has ended: id, state, when, what it was. */
static void put_ended(const struct hn_json *e, struct hn_buf *b)
{
	const char *set = hn_show_word(e, "set");
	double ns = hn_show_number(e, "best_ns");
	char ago[32], time[32];

	hn_buf_printf(b, "%s  %-9s %8s ago  ", *set != '\0' ? set : hn_show_word(e, "job"),
		      hn_show_word(e, "state"),
		      hn_show_age((int64_t)hn_show_number(e, "unix_ms"), ago));
	if (*set != '\0') {
		hn_buf_printf(b, "%.0f tasks", hn_show_number(e, "tasks"));
	} else {
		hn_buf_printf(b, "%-12.12s  %s", hn_show_word(e, "workload"),
			      hn_show_word(e, "name"));
	}
	if (ns > 0) {
		hn_buf_printf(b, "  %s in %.0f trials", hn_show_time(ns, time),
			      hn_show_number(e, "trials"));
	}
	if (*hn_show_word(e, "message") != '\0') {
		hn_buf_printf(b, "  (%s)", hn_show_word(e, "message"));
	}
	hn_buf_putc(b, '\n');
}

static int ask_all(const struct hn_opts *o, struct hn_json **ret_doc, const struct hn_json **ret,
		   struct hn_err *err)
{
	struct hn_buf params;
	struct hn_jw w;
	int rc;

	hn_buf_init(&params);
	hn_jw_init(&w, &params);
	hn_jw_object(&w, NULL);
	hn_jw_bool(&w, "all", true);
	hn_jw_end(&w);
	rc = hn_ask(o, "job.list", params.s, CALL_MS, ret_doc, ret, err);
	hn_buf_fini(&params);
	return rc;
}

static void print_stopped(void)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_bool(&w, "stopped", true);
	hn_jw_end(&w);
	puts(b.s);
	hn_buf_fini(&b);
}

int cmd_jobs(const struct hn_opts *o, struct hn_err *err)
{
	const struct hn_json *result, *list, *sets, *ended;
	struct hn_json *doc;
	struct hn_buf b;
	int rc;

	if (o->all) {
		rc = ask_all(o, &doc, &result, err);
		result = rc == 0 ? print_answer(o, result) : NULL;
	} else {
		rc = ask(o, "job.list", NULL, &doc, &result, err);
	}
	if (rc != 0) {
		return rc;
	}
	list = result != NULL ? hn_json_get(result, "jobs") : NULL;
	hn_buf_init(&b);
	for (const struct hn_json *j = list != NULL ? hn_json_first(list) : NULL;
	     j != NULL; j = hn_json_next(j)) {
		if (hn_json_get(j, "set") == NULL) {
			hn_show_table(j, &b);
		}
	}
	sets = result != NULL ? hn_json_get(result, "sets") : NULL;
	for (const struct hn_json *s = sets != NULL ? hn_json_first(sets) : NULL; s != NULL;
	     s = hn_json_next(s)) {
		hn_show_set_table(s, &b);
	}
	ended = result != NULL ? hn_json_get(result, "ended") : NULL;
	for (const struct hn_json *e = ended != NULL ? hn_json_first(ended) : NULL; e != NULL;
	     e = hn_json_next(e)) {
		put_ended(e, &b);
	}
	if (result != NULL && b.n == 0) {
		hn_buf_puts(&b, o->all ? "no jobs\n" : "no jobs (--all lists those that ended)\n");
	}
	fwrite(b.s, 1, b.n, stdout);
	hn_buf_fini(&b);
	hn_json_free(doc);
	return 0;
}

int cmd_cancel(const struct hn_opts *o, struct hn_err *err)
{
	const struct hn_json *result;
	struct hn_json *doc;
	struct hn_buf params;
	struct hn_jw w;
	bool cancelled = false, set;
	int rc;

	if (o->arg == NULL) {
		return hn_fail(err, HONE_E_INVALID,
			       "cancel: give the JOB or SET, as `hone jobs` prints it");
	}
	set = o->arg[0] == 's'; /* so the ids of sets begin */
	hn_buf_init(&params);
	hn_jw_init(&w, &params);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, set ? "set" : "job", o->arg);
	hn_jw_end(&w);
	hn_jw_done(&w);
	rc = ask(o, set ? "set.cancel" : "job.cancel", params.s, &doc, &result, err);
	hn_buf_fini(&params);
	if (rc != 0) {
		return rc;
	}
	if (result != NULL) {
		hn_json_bool(hn_json_get(result, "cancelled"), &cancelled);
		printf("%s: %s\n", o->arg, cancelled ? "cancelled" : "had ended already");
	}
	hn_json_free(doc);
	return 0;
}

static const char *word(const struct hn_json *object, const char *key)
{
	const char *s = object != NULL ? hn_json_string(hn_json_get(object, key)) : NULL;

	return s != NULL ? s : "?";
}

static void print_board(const struct hn_json *b)
{
	double canary = hn_show_number(b, "canary_ns"), retry = hn_show_number(b, "retry_ms");
	char time[32];

	printf("\nboard %.0f %s, %s, %.0f measured", hn_show_number(b, "board"),
	       word(b, "state"), word(b, "health"), hn_show_number(b, "measured"));
	printf(", lost %.0f times, quarantined %.0f times\n", hn_show_number(b, "lost"),
	       hn_show_number(b, "quarantined"));
	if (*word(b, "why") != '\0') {
		printf("why     %s\n", word(b, "why"));
	}
	if (retry > 0) {
		printf("next    asked again in %.1f s\n", retry / 1000);
	}
	if (canary > 0) {
		printf("canary  %s, %+.1f %% from its reference, %.1f %% allowed\n",
		       hn_show_time(canary, time),
		       100 * (canary / hn_show_number(b, "reference_canary_ns") - 1),
		       100 * hn_show_number(b, "canary_allowed"));
	}
	hn_show_probe(hn_json_get(b, "probe"));
}

/* A target and its boards, of stats' answer. */
static void print_target(const struct hn_json *t, const struct hn_json *boards)
{
	uint32_t n = 0;

	printf("machine %s\ntarget  %s\n", word(t, "board"), word(t, "target"));
	printf("name    %s, %.0f jobs\n", word(t, "name"), hn_show_number(t, "jobs_live"));
	for (const struct hn_json *b = hn_json_first(boards); b != NULL; b = hn_json_next(b)) {
		if (strcmp(word(b, "target"), word(t, "name")) == 0) {
			print_board(b);
			n++;
		}
	}
	if (n == 0) {
		puts("boards  started with the first job, which measures their limits");
	}
}

int cmd_boards(const struct hn_opts *o, struct hn_err *err)
{
	const struct hn_json *result, *targets;
	struct hn_json *doc;
	int rc = ask(o, "stats", NULL, &doc, &result, err);

	if (rc != 0) {
		return rc;
	}
	if (result != NULL) {
		targets = hn_json_get(result, "targets");
		for (const struct hn_json *t = hn_json_first(targets); t != NULL;
		     t = hn_json_next(t)) {
			fputs(t != hn_json_first(targets) ? "\n" : "", stdout);
			print_target(t, hn_json_get(result, "boards"));
		}
		if (hn_show_number(result, "objects_by_frame") > 0) {
			printf("objects %.0f found no room in shared memory and went by honed\n",
			       hn_show_number(result, "objects_by_frame"));
		}
	}
	hn_json_free(doc);
	return 0;
}

int cmd_ping(const struct hn_opts *o, struct hn_err *err)
{
	const struct hn_json *result;
	struct hn_json *doc;
	int rc = ask(o, "ping", NULL, &doc, &result, err);

	if (rc != 0) {
		return rc;
	}
	if (result != NULL) {
		printf("honed answers; up %.1f s\n",
		       hn_show_number(result, "uptime_ms") / 1000);
	}
	hn_json_free(doc);
	return 0;
}

/* Ask, then wait until its lock is free: after us, nothing of it runs any more. */
int cmd_stop(const struct hn_opts *o, struct hn_err *err)
{
	const struct hn_json *result;
	struct hn_json *doc;
	struct hn_link link;
	struct hn_buf path;
	int rc = hn_link_open(o, /* start= */ false, &link, err);

	if (rc != 0) {
		return rc;
	}
	rc = hn_link_call(&link, "shutdown", NULL, CALL_MS, &doc, &result, err);
	hn_link_close(&link);
	if (rc != 0) {
		return rc;
	}
	hn_json_free(doc);
	hn_buf_init(&path);
	rc = hn_addr_path(o->socket, &path, err);
	if (rc == 0) {
		rc = hn_addr_wait_free(path.s, STOP_MS, err);
	}
	if (rc == 0 && o->json) {
		print_stopped();
	}
	hn_buf_fini(&path);
	return rc;
}
