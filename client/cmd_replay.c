/* client/cmd_replay.c -- `hone replay`: a stored schedule as an object file, its C header
 * and a manifest, made by one run of hone-build and run by hone-board (check.h); no daemon.
 * Beside them what a program needs that calls it (runtime.def).
 *
 * All is written into a temporary folder inside DIR and renamed when it is whole.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jw.h"
#include "client/auto.h"
#include "client/builder.h"
#include "client/check.h"
#include "client/history.h"
#include "client/interrupt.h"
#include "client/runtime.h"
#include "loopstate/dag/mark.h"
#include "loopstate/state/state.h"

#define MANIFEST_MAX ((size_t)16 << 20)

struct replay {
	const struct hn_input *in;
	const char *steps, *target_line, *symbol, *dir;
	struct hn_target target;
	double median_ns; /* 0 = unknown */
	bool json;
	struct hn_check check;
	char work[PATH_MAX]; /* temporary folder */
};

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

static int write_work(const struct replay *r, const char *name, const char *text,
		      char *path, struct hn_err *err)
{
	snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 200, r->work, name);
	return hn_file_replace(path, text, strlen(text), err);
}

static int put_in_place(const struct replay *r, const char *ending, struct hn_err *err)
{
	char from[PATH_MAX], to[PATH_MAX];

	snprintf(from, sizeof(from), "%.*s/out%s", PATH_MAX - 200, r->work, ending);
	snprintf(to, sizeof(to), "%.*s/%s%s", PATH_MAX - 200, r->dir, r->symbol, ending);
	if (rename(from, to) != 0) {
		return hn_fail(err, HONE_E_IO, "%s: %s", to, strerror(errno));
	}
	if (!r->json) {
		printf("%s\n", to);
	}
	return 0;
}

static int write_manifest(const struct replay *r, struct hn_err *err)
{
	char path[PATH_MAX];
	struct hn_buf b;
	struct hn_jw w;
	int rc;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", "hone-kernel/1");
	hn_jw_str(&w, "symbol", r->symbol);
	hn_jw_str(&w, "name", r->in->name);
	hn_jw_str(&w, "key", r->in->key);
	hn_jw_str(&w, "target", r->target_line);
	hn_jw_strf(&w, "object", "%s.o", r->symbol);
	hn_jw_strf(&w, "header", "%s.h", r->symbol);
	hn_jw_str(&w, "cache", hn_dag_cache(r->in->dag));
	hn_jw_double(&w, "median_ns", r->median_ns > 0 ? r->median_ns : NAN);
	hn_check_json(&r->check, &w);
	hn_jw_str(&w, "hone", HONE_VERSION);
	hn_jw_json(&w, "steps", r->steps);
	hn_jw_json(&w, "dag", r->in->json);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(&b, '\n');
	rc = write_work(r, "out.json", b.s, path, err);
	hn_buf_fini(&b);
	return rc;
}

static void say(const char *path)
{
	printf("%s\n", path);
}

static void say_nothing(const char *path)
{
	(void)path;
}

/* The key in the manifest at `path`; "" when that is none of ours. */
static void read_key(const char *path, char key[HN_KEY_BYTES])
{
	const struct hn_json_limits deep = { .max_depth = UINT32_MAX }; /* as dags are */
	struct hn_json *v = NULL;
	struct hn_buf b;
	const char *s;

	key[0] = '\0';
	hn_buf_init(&b);
	if (hn_file_read(path, MANIFEST_MAX, &b, NULL) == 0 &&
	    hn_json_parse(path, b.s, b.n, &deep, &v, NULL) == 0) {
		s = hn_json_string(hn_json_get(v, "key"));
		s = s != NULL ? s : hn_json_string(hn_json_get(v, "workload")); /* before 0.2 */
		snprintf(key, HN_KEY_BYTES, "%s", s != NULL ? s : "");
	}
	hn_json_free(v);
	hn_buf_fini(&b);
}

/* A newer kernel of the same computation may take the place of an older one; what else has these
 * names in DIR stays. */
static int check_place(const struct replay *r, struct hn_err *err)
{
	static const char *const ending[] = { ".o", ".h", ".json" };
	char path[PATH_MAX], key[HN_KEY_BYTES];

	snprintf(path, sizeof(path), "%.*s/%s.json", PATH_MAX - 200, r->dir, r->symbol);
	read_key(path, key);
	if (strcmp(key, r->in->key) == 0) {
		return 0;
	}
	for (size_t i = 0; i < HN_COUNT_OF(ending); i++) {
		snprintf(path, sizeof(path), "%.*s/%s%s", PATH_MAX - 200, r->dir, r->symbol,
			 ending[i]);
		if (access(path, F_OK) == 0) {
			return hn_fail(err, HONE_E_INVALID,
				       "%.200s: there already, of another program%s%.12s; name this "
				       "one with --symbol, or replace that one with --force",
				       path, *key != '\0' ? ", key " : "", key);
		}
	}
	return 0;
}

static int build(struct replay *r, struct hn_arena *a, struct hn_err *err)
{
	char dag[PATH_MAX], steps[PATH_MAX], object[PATH_MAX], header[PATH_MAX];
	char *argv[] = { "hone-build",
			 "--dag",
			 dag,
			 "--steps",
			 steps,
			 "--target",
			 (char *)r->target_line,
			 "--symbol",
			 (char *)r->symbol,
			 "-o",
			 object,
			 "--header",
			 header,
			 (char *)r->check.words[0],
			 (char *)r->check.words[1],
			 NULL };
	int rc = write_work(r, "dag.json", r->in->json, dag, err);

	if (rc == 0) {
		rc = write_work(r, "steps.json", r->steps, steps, err);
	}
	if (rc != 0) {
		return rc;
	}
	snprintf(object, sizeof(object), "%.*s/out.o", PATH_MAX - 200, r->work);
	snprintf(header, sizeof(header), "%.*s/out.h", PATH_MAX - 200, r->work);
	rc = hn_builder_run("replay", argv, -1, err);
	rc = rc ? rc : hn_check_kernel("replay", &r->check, a, err);
	rc = rc ? rc : write_manifest(r, err);
	if (rc == 0) {
		rc = put_in_place(r, ".o", err);
	}
	if (rc == 0) {
		rc = put_in_place(r, ".h", err);
	}
	if (rc == 0) {
		rc = put_in_place(r, ".json", err);
	}
	return rc == 0 ? hn_runtime_write(r->dir, &r->target, /* network= */ false,
					  r->json ? say_nothing : say, err)
		       : rc;
}

/* --json: where the files are. */
static void print_files(const struct replay *r)
{
	static const char *const what[][2] = { { "object", ".o" },
					       { "header", ".h" },
					       { "manifest", ".json" } };
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "name", r->in->name);
	hn_jw_str(&w, "key", r->in->key);
	hn_jw_str(&w, "symbol", r->symbol);
	hn_jw_str(&w, "target", r->target_line);
	hn_jw_double(&w, "median_ns", r->median_ns > 0 ? r->median_ns : NAN);
	hn_check_json(&r->check, &w);
	for (size_t i = 0; i < HN_COUNT_OF(what); i++) {
		hn_jw_strf(&w, what[i][0], "%s/%s%s", r->dir, r->symbol, what[i][1]);
	}
	hn_jw_end(&w);
	hn_jw_done(&w);
	puts(b.s);
	hn_buf_fini(&b);
}

static void clear_work(const struct replay *r)
{
	static const char *const name[] = { "dag.json", "steps.json", "out.o", "out.h",
					    "out.json" };
	char path[PATH_MAX];

	for (size_t i = 0; i < HN_COUNT_OF(name); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - 200, r->work, name[i]);
		unlink(path);
	}
	rmdir(r->work);
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
static int read_log(const struct hn_opts *o, struct hn_arena *a,
		    const struct hn_target *target, struct replay *r, struct hn_err *err)
{
	struct hn_history best;
	char time[32];
	int rc = hn_history_best(o->records, r->in->dag, target, a, &best, err);

	if (rc == 0) {
		r->steps = best.steps;
		fprintf(stderr, "hone: %s:%" PRIu64 ": %s there, the best of %" PRIu64 "\n",
			o->records, best.line, hn_show_time(best.cost_ns, time), best.n_fit);
	}
	return rc;
}

static int find_steps(const struct hn_opts *o, struct hn_arena *a, struct replay *r,
		      struct hn_err *err)
{
	struct hn_answers answers;
	struct hn_target target;
	struct hn_best best;
	int rc;

	if (o->record != NULL || o->records != NULL) {
		rc = hn_best_target(o, a, &target, &r->target_line, err);
		return rc != 0		   ? rc
		       : o->record != NULL ? read_record(o, r->in, a, &r->steps, err)
					   : read_log(o, a, &target, r, err);
	}
	rc = o->automatic ? hn_auto_find(o, r->in, a, &best, &answers, err)
			  : hn_best_find(o, r->in->key, a, &best, err);
	if (rc == 0 && !o->automatic && best.entry.best.median_ns == 0) { /* to be proved yet */
		hn_best_close(&best);
		rc = hn_auto_find(o, r->in, a, &best, &answers, err);
	}
	if (rc == 0) {
		r->target_line = best.asked_line;
		r->steps = hn_arena_strdup(a, best.entry.best.steps);
		if (*best.near == '\0') {
			r->median_ns = best.entry.best.median_ns;
		} else {
			fprintf(stderr, "hone: tuned on another machine: %s; `hone tune` finds out "
					"what is best here\n", best.near);
		}
		hn_best_close(&best);
	}
	return rc;
}

static int replay(const struct hn_opts *o, struct hn_arena *a, struct hn_err *err)
{
	struct hn_input in;
	struct replay r = { .in = &in, .dir = o->out, .json = o->json };
	sigset_t held;
	/* what is stored is for numbers */
	int rc = o->record != NULL || o->records != NULL || o->automatic
			 ? hn_input_read_sized(o, a, &in, err)
			 : hn_input_read(o, a, &in, err);

	if (rc == 0) {
		rc = find_steps(o, a, &r, err);
	}
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
	rc = hn_target_parse(r.target_line, a, &r.target, err);
	rc = rc != 0 ? rc : hn_file_mkdirs(o->out, 0777, err);
	rc = rc != 0 || o->force ? rc : check_place(&r, err);
	if (rc != 0) {
		return rc;
	}
	rc = hn_check_open("replay", o, r.target_line, a, &r.check, err);
	if (rc != 0) {
		return rc;
	}
	snprintf(r.work, sizeof(r.work), "%s/.hone-XXXXXX", o->out);
	hn_interrupt_hold(&held);
	if (mkdtemp(r.work) == NULL) {
		sigprocmask(SIG_SETMASK, &held, NULL);
		hn_check_close(&r.check);
		return hn_fail(err,
			       errno == EACCES || errno == EROFS ? HONE_E_PERMISSION
								 : HONE_E_IO,
			       "%s: %s", o->out, strerror(errno));
	}
	rc = build(&r, a, err);
	clear_work(&r);
	hn_check_close(&r.check);
	if (rc == 0 && r.check.why != NULL && !o->unchecked) {
		fprintf(stderr, "hone: the kernel was not run: %s\n", r.check.why);
	}
	if (rc == 0 && hn_runtime_is_source(&r.target)) {
		fprintf(stderr,
			"hone: %s/hone_pool.c is the thread pool, to be compiled for %s: hone "
			"carries no object of it for other machines\n",
			r.dir, r.target.isa);
	}
	if (rc == 0 && r.json) {
		print_files(&r);
	}
	sigprocmask(SIG_SETMASK, &held,
		    NULL); /* a Ctrl-C that came meanwhile ends us here */
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
