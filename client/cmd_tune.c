/* client/cmd_tune.c -- `hone tune`: submit, watch, report.
 *
 * The computation is read and checked here first, so that a refusal names the user's own
 * file and no daemon is started for it.  Ctrl-C once gives up our interest in the job (it
 * goes on when others submitted it too) and prints the best so far; Ctrl-C twice ends at
 * once.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "client/auto.h"
#include "client/check.h"
#include "client/history.h"
#include "client/interrupt.h"
#include "client/link.h"
#include "client/made.h"
#include "client/network.h"
#include "client/say.h"
#include "client/show.h"
#include "client/tune.h"
#include "client/watch.h"
#include "loopstate/dag/mark.h"

#define CALL_MS 30000
#define DEFAULT_TRIALS 1000

void hn_tune_put_string(struct hn_jw *w, const char *key, const char *s)
{
	if (s != NULL) {
		hn_jw_str(w, key, s);
	}
}

void hn_tune_put_options(struct hn_jw *w, const struct hn_opts *o, uint32_t n_task)
{
	bool other = o->seconds > 0 || o->stop_gain > 0;
	int64_t trials = o->trials > 0 ? o->trials : other ? 0 : DEFAULT_TRIALS * n_task;

	hn_tune_put_string(w, "target", o->target);
	hn_tune_put_string(w, "policy",
			   o->policy == NULL && o->records != NULL ? "replay" : o->policy);
	hn_tune_put_string(w, "model", o->model);
	hn_jw_int(w, "trials", trials);
	hn_jw_int(w, "seed", o->seed);
	hn_jw_double(w, "seconds", o->seconds > 0 ? o->seconds : 0);
}

void hn_tune_put_best(struct hn_link *link, const struct hn_json *job, struct hn_jw *w)
{
	const struct hn_json *best = NULL;
	struct hn_json *doc = NULL;
	struct hn_err none;
	struct hn_buf b;
	struct hn_jw params;

	hn_buf_init(&b);
	hn_jw_init(&params, &b);
	hn_jw_object(&params, NULL);
	hn_jw_str(&params, "workload", hn_show_word(job, "workload"));
	hn_jw_str(&params, "target", hn_show_word(job, "target"));
	hn_jw_end(&params);
	hn_jw_done(&params);
	if (hn_show_number(job, "best_ns") > 0 &&
	    hn_link_call(link, "query", b.s, CALL_MS, &doc, &best, &none) == 0) {
		hn_say(hn_json_get(best, "record"), "record", w);
		hn_say(hn_json_get(best, "steps"), "steps", w);
	} else {
		hn_jw_null(w, "record");
		hn_jw_null(w, "steps");
	}
	hn_json_free(doc);
	hn_buf_fini(&b);
}

/* The daemon opens the log itself, from a folder of its own. */
static int put_records(const char *log, struct hn_jw *w, struct hn_err *err)
{
	char path[PATH_MAX];

	if (realpath(log, path) == NULL) {
		return hn_fail(err, HONE_E_IO, "%s: %s", log, strerror(errno));
	}
	hn_jw_str(w, "records", path);
	return 0;
}

/* --records: a log with a record of this computation, whatever the store has already. */
static int check_records(const struct hn_opts *o, const struct hn_input *in, struct hn_err *err)
{
	struct stat st;

	if (o->records == NULL) {
		return 0;
	}
	if (o->policy != NULL && strcmp(o->policy, "replay") != 0) {
		return hn_fail(err, HONE_E_INVALID,
			       "--policy %.40s measures no log: leave out --records, or the policy",
			       o->policy);
	}
	if (strcmp(o->records, "-") == 0 ||
	    (stat(o->records, &st) == 0 && S_ISFIFO(st.st_mode))) {
		return hn_fail(err, HONE_E_INVALID, "--records: tune takes a file, not a pipe");
	}
	return hn_history_check(o->records, in->dag, err);
}

static int submit(const struct hn_opts *o, const struct hn_input *in,
		  struct hn_link *link, struct hn_json **ret_doc,
		  const struct hn_json **ret, struct hn_err *err)
{
	struct hn_buf b;
	struct hn_jw w;
	int rc = 0;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "text", in->json);
	hn_jw_str(&w, "name", in->name);
	hn_tune_put_options(&w, o, /* n_task= */ 1);
	if (o->records != NULL) {
		rc = put_records(o->records, &w, err);
	}
	hn_jw_end(&w);
	if (rc == 0) {
		rc = hn_link_call(link, "submit", b.s, CALL_MS, ret_doc, ret, err);
	}
	hn_buf_fini(&b);
	return rc;
}

/* The job, with the best record there is of its task. */
static void put_json(const struct hn_watch *w, struct hn_buf *b)
{
	struct hn_jw jw;

	hn_jw_init(&jw, b);
	hn_jw_object(&jw, NULL);
	hn_say_members(w->last, &jw);
	hn_tune_put_best(w->link, w->last, &jw);
	hn_jw_end(&jw);
	hn_jw_done(&jw);
	hn_buf_putc(b, '\n');
}

/* What is known is printed however the job ended; then its end decides the exit status.
 */
static int report(const struct hn_opts *o, const struct hn_watch *w, struct hn_err *err)
{
	int error = (int)hn_show_number(w->last, "error");
	const char *state, *message;
	char why[400];
	struct hn_buf b;

	if (w->last == NULL) {
		return hn_fail(err, HONE_E_CANCELLED,
			       "stopped before anything was measured");
	}
	hn_buf_init(&b);
	if (o->json) {
		put_json(w, &b);
	} else {
		hn_show_table(w->last, &b);
	}
	fwrite(b.s, 1, b.n, stdout);
	hn_buf_fini(&b);
	state = hn_json_string(hn_json_get(w->last, "state"));
	state = state != NULL ? state : "";
	message = hn_json_string(hn_json_get(w->last, "message"));
	if (w->cancelling || strcmp(state, "cancelled") == 0 ||
	    strcmp(state, "suspended") == 0) {
		return hn_fail(err, HONE_E_CANCELLED,
			       "stopped early; run the same command again to go on");
	}
	if (strcmp(state, "failed") == 0) {
		return hn_fail(err, error > 0 && error < 64 ? error : HONE_E_INTERNAL,
			       "the job failed: %s", message != NULL ? message : "?");
	}
	if (hn_show_number(w->last, "best_ns") <= 0) {
		hn_tune_why(w->link, w->job, why, sizeof(why));
		return hn_fail(err, HONE_E_NOT_FOUND, "%s%s",
			       hn_show_number(w->last, "trials") > 0
				       ? "no candidate was correct within the budget"
				       : "no candidate was measured within the budget; `--trials 0` "
					 "answers with the automatic schedule, unmeasured", why);
	}
	return 0;
}

static int tune(const struct hn_opts *o, const struct hn_input *in, struct hn_link *link,
		struct hn_show *show, struct hn_err *err)
{
	struct hn_watch w = { .link = link, .show = show };
	const struct hn_json *result;
	struct hn_json *doc;
	int rc;

	hn_interrupt_catch();
	rc = submit(o, in, link, &doc, &result, err);
	if (rc != 0) {
		return rc;
	}
	w.job = hn_json_string(hn_json_get(result, "job"));
	if (w.job == NULL) {
		rc = hn_fail(err, HONE_E_CORRUPT, "honed: submit gave no job");
	} else {
		rc = hn_watch(&w, err);
	}
	if (rc == 0) {
		rc = report(o, &w, err);
	}
	hn_json_free(w.last_doc);
	hn_json_free(doc);
	return rc;
}

static void put_answer(const struct hn_input *in, const struct hn_best *best,
		       const struct hn_answers *all, const struct hn_check *check, double ms,
		       struct hn_buf *b)
{
	const char *certificate = best->entry.best.certificate;
	double us = check->none != NULL ? 0 : all->at[0].predicted_ns / 1e3;

	hn_buf_printf(b,
		      "%s  (workload %.16s)\n  automatic schedule, %s, not measured\n"
		      "  choice  %u of %u, answered in %.0f ms\n",
		      in->name, in->key,
		      certificate ? "proved" : "legal by the quick check (the proof takes longer)",
		      all->at[0].place + 1, all->n, ms);
	hn_buf_puts(b, "  kernel  ");
	hn_check_text(check, b);
	hn_buf_putc(b, '\n');
	if (us > 0) {
		hn_buf_printf(b, "  predicted %.4g us by the analytic model\n", us);
	} else if (check->none != NULL) {
		hn_buf_puts(b, "  predicted nothing: there is no kernel\n");
	} else {
		hn_buf_puts(b, "  predicted nothing: the analytic model knows no time for it\n");
	}
	hn_buf_printf(b, "  target  %s\n  steps   %s\n", best->target_line,
		      best->entry.best.steps);
}

static void put_answer_json(const struct hn_input *in, const struct hn_best *best,
			    const struct hn_answers *all, const struct hn_check *check, double ms,
			    struct hn_buf *b)
{
	const char *certificate = best->entry.best.certificate;
	double ns = check->none != NULL ? 0 : all->at[0].predicted_ns;
	struct hn_jw w;

	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "state", "done");
	hn_jw_str(&w, "key", in->key);
	hn_jw_str(&w, "name", in->name);
	hn_jw_str(&w, "target", best->target_line);
	hn_jw_str(&w, "cache", hn_dag_cache(in->dag));
	hn_jw_int(&w, "trials", 0);
	hn_jw_null(&w, "median_ns");
	hn_jw_uint(&w, "choice", all->at[0].place + 1);
	hn_jw_uint(&w, "choices", all->n);
	hn_jw_double(&w, "predicted_ns", ns > 0 ? ns : NAN);
	hn_jw_str(&w, "model", "analytic");
	hn_jw_fixed(&w, "ms", ms, 1);
	hn_check_json(check, &w);
	if (check->none != NULL) {
		hn_jw_str(&w, "refused", check->none);
	}
	hn_jw_null(&w, "record");
	hn_jw_json(&w, "steps", best->entry.best.steps);
	if (certificate != NULL) {
		hn_jw_json(&w, "certificate", certificate);
	} else {
		hn_jw_null(&w, "certificate");
	}
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(b, '\n');
}

/* The answer's kernel, made and run; nothing of it is kept. */
static int check_answer(const struct hn_opts *o, const struct hn_input *in,
			const struct hn_best *best, struct hn_arena *a, struct hn_check *ret,
			struct hn_err *err)
{
	int rc = hn_check_open("tune", o, best->target_line, a, ret, err);
	char *words[] = { "--no-prove", "--target", (char *)best->target_line,
			  (char *)ret->words[0], (char *)ret->words[1], NULL };
	struct hn_buf nothing;

	if (rc == 0 && hn_made_asks(&best->target) && !o->unchecked) {
		return hn_made("tune", in->json, best->entry.best.steps, best->target_line, a, &ret->none, err);
	}
	if (rc != 0 || ret->words[0] == NULL) {
		return rc;
	}
	hn_buf_init(&nothing);
	rc = hn_builder_ask("tune", in->json, best->entry.best.steps, words, &nothing, err);
	rc = rc ? rc : hn_check_kernel("tune", ret, a, err);
	hn_buf_fini(&nothing);
	hn_check_close(ret);
	return rc;
}

/* --trials 0: nothing is measured, so nobody is asked but this process, a prover, and a board for
 * a few calls. */
static int answer_at_once(const struct hn_opts *o, const struct hn_input *in,
			  struct hn_arena *a, bool *told, struct hn_err *err)
{
	int64_t start = hn_clock_ns();
	struct hn_answers all;
	struct hn_check check;
	struct hn_best best;
	struct hn_buf b;
	int rc = hn_auto_find(o, in, a, &best, &all, err);

	if (rc != 0) {
		return rc;
	}
	rc = check_answer(o, in, &best, a, &check, err);
	if (rc == 0) {
		double ms = (double)(hn_clock_ns() - start) / 1e6;

		hn_buf_init(&b);
		(o->json ? put_answer_json : put_answer)(in, &best, &all, &check, ms, &b);
		fwrite(b.s, 1, b.n, stdout);
		hn_buf_fini(&b);
	}
	*told = rc == 0;
	if (rc == 0 && check.none != NULL) {
		rc = hn_fail(err, HONE_E_UNSUPPORTED, "%s has no kernel for this target", in->name);
	}
	hn_best_close(&best);
	return rc;
}

int hn_tune_one(const struct hn_opts *o, bool *told, struct hn_err *err)
{
	struct hn_link link;
	struct hn_show show;
	struct hn_arena a;
	struct hn_input in;
	int rc;

	*told = false;
	hn_arena_init(&a, 0);
	rc = hn_input_read(o, &a, &in, err);
	rc = rc != 0 ? rc : check_records(o, &in, err);
	if (rc == 0 && o->trials == 0) {
		rc = answer_at_once(o, &in, &a, told, err);
		hn_arena_fini(&a);
		return rc;
	}
	if (rc == 0) {
		hn_show_init(&show, o->quiet);
		hn_show_begin(&show, in.name);
		rc = hn_link_open(o, /* start= */ true, &link, err);
		if (rc == 0) {
			rc = tune(o, &in, &link, &show, err);
			hn_link_close(&link);
		}
		hn_show_end(&show);
	}
	hn_arena_fini(&a);
	return rc;
}

/* What would be ignored: options that say how a network is read, where there is none, and --text
 * beside one. */
static int check_network_options(const struct hn_opts *o, struct hn_err *err)
{
	const char *of_network = o->dtype != NULL	? "--dtype"
				 : o->dim.n > 0		? "--dim"
				 : o->fusion != NULL ? "--fusion"
						     : NULL;
	bool any = false;

	for (uint32_t i = 0; i < o->n_arg; i++) {
		any |= hn_network_is(o->args[i]);
	}
	if (of_network != NULL && !any) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: give it with a network, FILE.onnx or a fused operator of AKG", of_network);
	}
	return any && o->text != NULL ? hn_fail(err, HONE_E_INVALID, "give FILEs or --text 'PROGRAM', not both") : 0;
}

int cmd_tune(const struct hn_opts *o, struct hn_err *err)
{
	bool several = o->n_arg > 1 || o->tasks != NULL || hn_network_is(o->arg);
	struct hn_opts at_once = *o;
	bool told;
	int rc;

	if (o->seconds == 0) { /* as no trials: there is time for none */
		at_once.trials = 0;
		o = &at_once;
	}
	if (o->unchecked && o->trials != 0) {
		return hn_fail(err, HONE_E_INVALID,
			       "--unchecked: candidates that are measured are always compared; "
			       "it goes with `--trials 0`");
	}
	rc = check_network_options(o, err);
	if (rc != 0) {
		return rc;
	}
	several |= o->trials != 0 && (o->strategy != NULL || o->stop_gain > 0);
	rc = several ? hn_tune_set(o, err) : hn_tune_one(o, &told, err);
	if (rc == -HONE_E_NO_BOARD && o->target != NULL) {
		struct hn_err why = *err;

		return hn_fail(err, HONE_E_NO_BOARD, "%s; `hone tune --trials 0` and `hone replay --auto` need none",
			       why.msg);
	}
	return rc;
}
