/* client/cmd_replay.c -- `hone replay`: a stored schedule as an object file, its C header and a
 * manifest, and as more if it is asked for (replay.h), made by hone-build and run by hone-board
 * (check.h); no daemon.  Beside them what a program needs that calls it (runtime.def).
 */
#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "client/auto.h"
#include "client/history.h"
#include "client/interrupt.h"
#include "client/npu.h"
#include "client/replay.h"
#include "client/runtime.h"
#include "client/workdir.h"
#include "loopstate/state/state.h"

/* A C name made of the input's. */
static const char *symbol_of(const struct hn_opts *o, const struct hn_input *in,
			     struct hn_arena *a, struct hn_err *err)
{
	const char *from = o->symbol != NULL ? o->symbol : in->name;
	char *s = hn_arena_printf(a, "%s%s", isdigit((unsigned char)*from) ? "k" : "",
				  from);

	for (char *p = s; *p != '\0'; p++) {
		bool fine = isalnum((unsigned char)*p) || *p == '_';

		if (!fine && o->symbol != NULL) {
			break;
		}
		*p = fine ? *p : '_';
	}
	if (o->symbol != NULL &&
	    (strcmp(s, o->symbol) != 0 || *s == '\0' ||
	     strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		       "0123456789_") != strlen(s) ||
	     strlen(s) > 120)) {
		hn_fail(err, HONE_E_INVALID, "--symbol: \"%.60s\" is no C name",
			o->symbol);
		return NULL;
	}
	return s;
}

/* --record: a history in a file, checked to be one of this computation. */
static int read_record(const struct hn_opts *o, const struct hn_input *in,
		       struct hn_arena *a, const char **ret, struct hn_err *err)
{
	const struct hn_trace *trace;
	const struct hn_state *state;
	struct hn_buf b;
	int rc = hn_history_read(o->record, a, &trace, err);

	if (rc == 0 && hn_state_replay(in->dag, trace, a, &state, err) != 0) {
		rc = hn_err_within(err, "%s", o->record);
	}
	if (rc == 0 && !state->concrete) {
		rc = hn_fail(err, HONE_E_INVALID, "%s: a tile size is left open",
			     o->record);
	}
	if (rc == 0) {
		hn_buf_init(&b);
		hn_trace_write(trace, &b);
		*ret = hn_arena_strndup(a, b.s, b.n);
		hn_buf_fini(&b);
	}
	return rc;
}

/* --records: the best of a log. */
static int read_log(const struct hn_opts *o, const struct hn_input *in, struct hn_arena *a,
		    const struct hn_target *target, const char **ret, struct hn_err *err)
{
	struct hn_history best;
	char time[32];
	int rc = hn_history_best(o->records, in->dag, target, a, &best, err);

	if (rc == 0) {
		*ret = best.steps;
		fprintf(stderr, "hone: %s:%" PRIu64 ": %s there, the best of %" PRIu64 "\n",
			o->records, best.line, hn_show_time(best.cost_ns, time), best.n_fit);
	}
	return rc;
}

/* The history for o->target. */
static int find_steps(const struct hn_opts *o, const struct hn_input *in, struct hn_arena *a,
		      struct hn_replay_kernel *k, struct hn_err *err)
{
	struct hn_answers answers;
	struct hn_target target;
	struct hn_best best;
	int rc;

	if (o->record != NULL || o->records != NULL) {
		rc = hn_best_target(o, a, &target, &k->target_line, err);
		return rc != 0		   ? rc
		       : o->record != NULL ? read_record(o, in, a, &k->steps, err)
					   : read_log(o, in, a, &target, &k->steps, err);
	}
	rc = o->automatic ? hn_auto_find(o, in, a, &best, &answers, err)
			  : hn_auto_instead(hn_best_find(o, in->key, a, &best, err), err);
	if (rc == 0 && !o->automatic && best.entry.best.median_ns == 0) { /* to be proved yet */
		hn_best_close(&best);
		rc = hn_auto_find(o, in, a, &best, &answers, err);
	}
	if (rc == 0) {
		k->target_line = best.asked_line;
		k->steps = hn_arena_strdup(a, best.entry.best.steps);
		if (*best.near == '\0') {
			k->median_ns = best.entry.best.median_ns;
		} else {
			fprintf(stderr, "hone: tuned on another machine: %s; `hone tune` finds out "
					"what is best here\n", best.near);
		}
		hn_best_close(&best);
	}
	return rc;
}

/* --target, then each --also. */
static int find_kernels(const struct hn_opts *o, struct hn_arena *a, struct hn_replay *r,
			struct hn_err *err)
{
	struct hn_opts of = *o;
	int rc = 0;

	if (o->also.n >= HN_REPLAY_MOST) {
		return hn_fail(err, HONE_E_INVALID, "--also: a kernel is for at most %d targets",
			       HN_REPLAY_MOST);
	}
	r->n = 1 + o->also.n;
	for (uint32_t i = 0; i < r->n && rc == 0; i++) {
		struct hn_replay_kernel *k = &r->kernel[i];

		of.target = i == 0 ? o->target : o->also.word[i - 1];
		rc = find_steps(&of, r->in, a, k, err);
		rc = rc ? rc : hn_target_parse(k->target_line, a, &k->target, err);
	}
	return rc;
}

static void close_checks(struct hn_replay *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		hn_check_close(&r->kernel[i].check);
	}
}

static int open_checks(const struct hn_opts *o, struct hn_arena *a, struct hn_replay *r,
		       struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		r->kernel[i].check.file.fd = -1;
	}
	for (uint32_t i = 0; i < r->n && rc == 0; i++) {
		rc = hn_check_open("replay", o, r->kernel[i].target_line, a, &r->kernel[i].check,
				   err);
	}
	if (rc != 0) {
		close_checks(r);
	}
	return rc;
}

static void say_what_lacks(const struct hn_opts *o, const struct hn_replay *r)
{
	if (hn_npu_is(&r->kernel[0].target)) {
		fprintf(stderr, "hone: no race was found in it; its numbers are compared where it is "
				"measured\n");
		return;
	}
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->kernel[i].check.why != NULL && !o->unchecked) {
			fprintf(stderr, "hone: the kernel was not run: %s\n",
				r->kernel[i].check.why);
		}
	}
	if (!hn_replay_is_gpu(r) && hn_runtime_is_source(&r->kernel[0].target)) {
		fprintf(stderr,
			"hone: %s/hone_pool.c is the thread pool, to be compiled for %s: hone "
			"carries no object of it for other machines\n",
			r->dir, r->kernel[0].target.isa);
	}
}

static int replay(const struct hn_opts *o, struct hn_arena *a, struct hn_err *err)
{
	struct hn_input in;
	struct hn_replay r = { .in = &in, .dir = o->out, .json = o->json };
	struct hn_workdir work;
	sigset_t held;
	/* what is stored is for numbers */
	int rc = o->record != NULL || o->records != NULL || o->automatic
			 ? hn_input_read_sized(o, a, &in, err)
			 : hn_input_read(o, a, &in, err);

	rc = rc || o->as == NULL ? rc : hn_replay_forms(o->as, &r.forms, err);
	rc = rc ? rc : find_kernels(o, a, &r, err);
	if (rc != 0) {
		return rc;
	}
	r.symbol = symbol_of(o, &in, a, err);
	if (r.symbol == NULL) {
		return -err->code;
	}
	if (strlen(o->out) > PATH_MAX - 400) {
		return hn_fail(err, HONE_E_INVALID, "--output: path too long");
	}
	rc = hn_replay_check_forms(&r, err);
	rc = rc ? rc : hn_file_mkdirs(o->out, 0777, err);
	rc = rc != 0 || o->force ? rc : hn_replay_check_place(&r, err);
	rc = rc ? rc : open_checks(o, a, &r, err);
	if (rc != 0) {
		return rc;
	}
	hn_interrupt_hold(&held);
	rc = hn_workdir_open(o->out, &work, err);
	if (rc == 0) {
		r.work = work.path;
		rc = hn_replay_is_gpu(&r)		? hn_replay_make_gpu(&r, a, err)
		     : hn_npu_is(&r.kernel[0].target) ? hn_replay_make_npu(&r, a, err)
						      : hn_replay_make(&r, a, err);
		hn_workdir_close(&work);
	}
	close_checks(&r);
	if (rc == 0) {
		say_what_lacks(o, &r);
	}
	sigprocmask(SIG_SETMASK, &held, NULL); /* a Ctrl-C that came meanwhile ends us here */
	return rc;
}

int cmd_replay(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_arena a;
	int rc;

	if ((o->record != NULL) + (o->records != NULL) + o->automatic > 1) {
		return hn_fail(err, HONE_E_INVALID,
			       "replay: --record, --records or --auto, not several");
	}
	if (o->out == NULL) {
		return hn_fail(err, HONE_E_INVALID,
			       "replay: give -o DIR, where the files shall go");
	}
	hn_arena_init(&a, 0);
	rc = replay(o, &a, err);
	hn_arena_fini(&a);
	return rc;
}
