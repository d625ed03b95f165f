/* client/tune_set.c -- `hone tune FILE FILE...`, `hone tune --tasks LIST` and `hone tune NET.onnx`:
 * several computations, one budget, one table.
 *
 * All files are read and checked before anything is started.  Then honed is asked how the set is,
 * five times a second, until it has ended.  Ctrl-C cancels the set; what was measured is kept.  A
 * network that was tuned is run as a whole at the end (netfinal.h).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "client/interrupt.h"
#include "client/netfinal.h"
#include "client/netrival.h"
#include "client/say.h"
#include "client/show.h"
#include "client/task_times.h"
#include "client/tune.h"
#include "graph/net/largest.h"

#define CALL_MS 30000
#define POLL_NS 200000000
#define LIST_MAX ((size_t)1 << 20)
#define RIVAL_S 120 /* for ways to fuse, */
#define RIVAL_SHARE 0.25 /* or so much of the budget */
#define LEAST_SHARE 0.1 /* of the budget that is left for kernels */
#define SMALL_SHARE 0.001 /* of a network's time */
/* The same of parts of a range, whose own kernels are many: tuning a range is to cost at most twice
 * as much as tuning one size, and a kernel of a hundredth gains next to nothing. */
#define SMALL_SHARE_PART 0.01

struct entry {
	const char *path; /* or */
	const char *text, *name; /* of a network's kernel */
	double weight;
};

struct list {
	struct hn_arena arena;
	struct entry entry[HN_LIMIT_SET_TASKS];
	uint32_t n, n_kernel; /* of these, kernels of networks */
	double spent_s;	      /* of the budget, on ways to fuse */
	bool ranged;	      /* a network is for ranges of sizes */
	bool fused;	      /* it is for a machine that has no program for some kernels */
};

static int add_entry(struct list *l, const struct entry *e, struct hn_err *err)
{
	if (l->n == HN_LIMIT_SET_TASKS) {
		return hn_fail(err, HONE_E_INVALID, "more than %d computations",
			       HN_LIMIT_SET_TASKS);
	}
	l->entry[l->n++] = *e;
	return 0;
}

static int add(struct list *l, const char *path, double weight, struct hn_err *err)
{
	return add_entry(l, &(struct entry){ .path = path, .weight = weight }, err);
}

/* A network's kernels, each as often as it runs.  What takes next to nothing of the whole is left
 * out: its automatic schedule will do.  Of range k those that no range before has; a run of each
 * range counts as much. */
static int add_kernels(struct list *l, const struct hn_network *n, uint32_t k,
		       const struct hn_task_time *t, double *run_ns, struct hn_err *err)
{
	double all = hn_task_times_sum(t, n->net.n_task), left = 0;
	double small = k > 0 ? SMALL_SHARE_PART : SMALL_SHARE;
	uint32_t n_left = 0;
	int rc = 0;

	*run_ns = k == 0 ? all : *run_ns;
	for (uint32_t i = 0; rc == 0 && i < n->net.n_task; i++) {
		const struct hn_gtask *task = t[i].task;
		double ns = t[i].ns * task->n_step;

		if (k > 0 && hn_range_has_other(&n->ranges, k, i)) {
			continue;
		}
		if (t[i].ns > 0 && ns < small * all) {
			left += ns;
			n_left++;
			continue;
		}
		rc = add_entry(l,
			       &(struct entry){ .text = hn_arena_strdup(&l->arena, task->text),
						.name = hn_network_label(n, task, &l->arena),
						.weight = all > 0 ? task->n_step * *run_ns / all
								  : task->n_step },
			       err);
		l->n_kernel += rc == 0;
	}
	if (rc == 0 && n_left > 0) {
		fprintf(stderr, "hone: %u small kernels, %.1f %% of the time, keep their automatic "
				"schedules\n",
			n_left, all > 0 ? left / all * 100 : 0);
	}
	return rc;
}

/* Once for a network.  Where there is no linker the rules stay, which is no fault of the tuning. */
static int search_fusion(struct list *l, const struct hn_opts *o, struct hn_network *n,
			 struct hn_err *err)
{
	int64_t begin = hn_clock_ns();
	bool rules = o->fusion != NULL && strcmp(o->fusion, "rules") == 0;
	int rc = 0;

	if (o->fusion != NULL && !rules && strcmp(o->fusion, "search") != 0) {
		return hn_fail(err, HONE_E_INVALID, "--fusion: search or rules, not \"%.40s\"", o->fusion);
	}
	if (!rules && !n->fused && !n->choice.searched) {
		rc = hn_netrival_search("tune", o, n,
					o->seconds > 0 ? RIVAL_SHARE * o->seconds : RIVAL_S, err);
		if (rc == 0) {
			hn_netrival_say(&n->choice);
		} else if (rc == -HONE_E_UNSUPPORTED) {
			fprintf(stderr, "hone: %s\n", err->msg);
			rc = 0;
		}
	}
	l->spent_s += (double)(hn_clock_ns() - begin) / 1e9;
	return rc;
}

static int add_network(struct list *l, const struct hn_opts *o, const char *path,
		       struct hn_err *err)
{
	const struct hn_task_time *t;
	struct hn_opts one = *o;
	struct hn_network n;
	double run_ns = 0;
	int rc;

	one.arg = path;
	rc = hn_network_open_ranges(&one, &n, err);
	l->ranged = l->ranged || n.ranges.n > 0;
	l->fused = l->fused || n.fused;
	rc = rc || o->trials == 0 || n.ranges.n > 0 ? rc : search_fusion(l, &one, &n, err);
	for (uint32_t k = 0; rc == 0 && (k == 0 || k < n.ranges.n); k++) {
		rc = n.ranges.n == 0 ? 0 : hn_range_largest(&n.ranges.range[k], &n.arena, &n.net, err);
		rc = rc ? rc : hn_task_times(&one, &n, /* made= */ false, &t, err);
		rc = rc ? rc : add_kernels(l, &n, k, t, &run_ns, err);
	}
	hn_network_close(&n);
	return rc;
}

/* "WEIGHT FILE", "# ..." or nothing; the text is cut up. */
static int read_line(struct list *l, const char *list_path, char *line,
		     struct hn_err *err)
{
	const char *slash = strrchr(list_path, '/');
	int dir = slash != NULL ? (int)(slash - list_path + 1) : 0;
	char *at = line + strspn(line, " \t"), *end;
	double weight;

	line[strcspn(line, "\r")] = '\0';
	if (*at == '\0' || *at == '#') {
		return 0;
	}
	weight = strtod(at, &end);
	if (end == at || !isfinite(weight) || weight <= 0 || strspn(end, " \t") == 0) {
		return hn_fail(err, HONE_E_INVALID,
			       "\"%.40s\" is not WEIGHT FILE, with a weight above 0", at);
	}
	at = end + strspn(end, " \t");
	for (end = at + strlen(at); end > at && strchr(" \t", end[-1]) != NULL; end--) {
		end[-1] = '\0';
	}
	if (*at == '\0') {
		return hn_fail(err, HONE_E_INVALID, "no file after the weight");
	}
	return add(
		l,
		hn_arena_printf(&l->arena, "%.*s%s", *at == '/' ? 0 : dir, list_path, at),
		weight, err);
}

static int read_list(struct list *l, const char *path, struct hn_err *err)
{
	struct hn_buf b;
	char *line, *next;
	uint32_t number = 1;
	int rc;

	hn_buf_init(&b);
	rc = hn_file_read(path, LIST_MAX, &b, err);
	line = rc == 0 ? hn_arena_strndup(&l->arena, b.s, b.n) : NULL;
	for (; rc == 0 && line != NULL; line = next, number++) {
		next = strchr(line, '\n');
		if (next != NULL) {
			*next++ = '\0';
		}
		rc = read_line(l, path, line, err);
		rc = rc != 0 ? hn_err_within(err, "%s:%u", path, number) : 0;
	}
	if (rc == 0 && l->n == 0) {
		rc = hn_fail(err, HONE_E_INVALID, "%s: no lines WEIGHT FILE", path);
	}
	hn_buf_fini(&b);
	return rc;
}

static int read_all(struct list *l, const struct hn_opts *o, struct hn_err *err)
{
	int rc = 0;

	if (o->tasks != NULL && (o->n_arg > 0 || o->text != NULL)) {
		return hn_fail(err, HONE_E_INVALID,
			       "give FILEs or --tasks LIST, not both");
	}
	if (o->name != NULL && (o->tasks != NULL || o->n_arg > 1)) {
		return hn_fail(err, HONE_E_INVALID,
			       "--name: of several each has its file's");
	}
	if (o->records != NULL && (o->tasks != NULL || o->n_arg > 1)) {
		return hn_fail(err, HONE_E_INVALID,
			       "--records: a log is measured for one computation at a time");
	}
	if (o->tasks != NULL) {
		return read_list(l, o->tasks, err);
	}
	if (o->n_arg == 0) { /* one by --text: read_task says what is wrong with none */
		return add(l, NULL, 1, err);
	}
	for (uint32_t i = 0; rc == 0 && i < o->n_arg; i++) {
		rc = hn_network_is(o->args[i]) ? add_network(l, o, o->args[i], err)
					       : add(l, o->args[i], 1, err);
	}
	return rc;
}

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Files of one name in several folders are called by these: resnet/dag.json, bert/dag.json. */
static const char *name_of(struct list *l, uint32_t i)
{
	const char *path = l->entry[i].path, *file = path != NULL ? file_of(path) : NULL,
		   *from;
	bool twice = false;

	for (uint32_t k = 0; file != NULL && file > path && k < l->n; k++) {
		twice |= k != i && strcmp(file_of(l->entry[k].path), file) == 0;
	}
	if (!twice) {
		return NULL;
	}
	for (from = file - 1; from > path && from[-1] != '/'; from--) {
	}
	return file - 1 - from <= HN_LIMIT_NAME_BYTES
		       ? hn_arena_strndup(&l->arena, from, (size_t)(file - 1 - from))
		       : NULL;
}

static struct hn_opts opts_of(struct list *l, uint32_t i, const struct hn_opts *o)
{
	struct hn_opts one = *o;

	one.arg = l->entry[i].path;
	one.name = o->name != NULL ? o->name : name_of(l, i);
	if (l->entry[i].text != NULL) {
		one.text = l->entry[i].text;
		one.name = l->entry[i].name;
	}
	return one;
}

static int write_task(const struct hn_opts *one, double weight, struct hn_jw *w,
		      struct hn_err *err)
{
	struct hn_input in;
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_input_read(one, &a, &in, err);
	if (rc == 0) {
		hn_jw_object(w, NULL);
		hn_jw_double(w, "weight", weight);
		hn_jw_str(w, "name", in.name);
		hn_jw_json(w, "dag", in.json);
		hn_jw_end(w);
	}
	hn_arena_fini(&a);
	return rc;
}

/* {"tasks":[...], ...}: the files are read and checked here. */
static int write_request(struct list *l, const struct hn_opts *o, struct hn_buf *b,
			 struct hn_err *err)
{
	struct hn_opts rest = *o;
	struct hn_jw w;
	int rc = 0;

	if (o->seconds > 0) {
		rest.seconds = fmax(o->seconds - l->spent_s, LEAST_SHARE * o->seconds);
	}
	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_list(&w, "tasks");
	for (uint32_t i = 0; rc == 0 && i < l->n; i++) {
		struct hn_opts one = opts_of(l, i, o);

		rc = write_task(&one, l->entry[i].weight, &w, err);
	}
	hn_jw_end(&w);
	hn_tune_put_options(&w, &rest, l->n);
	hn_tune_put_string(&w, "strategy", o->strategy);
	hn_jw_double(&w, "stop_gain", o->stop_gain);
	hn_jw_end(&w);
	hn_jw_done(&w);
	if (rc == 0 &&
	    b->n + 200 > HN_LIMIT_LINE_BYTES) { /* and what is around the params */
		rc = hn_fail(
			err, HONE_E_QUOTA,
			"the computations are %zu bytes together; honed takes %d at once",
			b->n, HN_LIMIT_LINE_BYTES);
	}
	return rc;
}

static int call(struct hn_link *link, const char *method, const char *set,
		struct hn_json **ret_doc, const struct hn_json **ret, struct hn_err *err)
{
	struct hn_buf b;
	struct hn_jw w;
	int rc;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "set", set);
	hn_jw_end(&w);
	hn_jw_done(&w);
	rc = hn_link_call(link, method, b.s, CALL_MS, ret_doc, ret, err);
	hn_buf_fini(&b);
	return rc;
}

static bool ended(const char *state)
{
	static const char *const end[] = { "done", "failed", "cancelled", "suspended" };

	for (size_t i = 0; i < HN_COUNT_OF(end); i++) {
		if (strcmp(state, end[i]) == 0) {
			return true;
		}
	}
	return false;
}

/* Until the set has ended; *ret_doc is set.get's last answer. */
static int watch(struct hn_link *link, struct hn_show *show, const char *set,
		 struct hn_json **ret_doc, const struct hn_json **ret, struct hn_err *err)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	struct hn_json *doc;
	const struct hn_json *result;
	bool cancelled = false, over = false;
	int rc = 0;

	while (rc == 0 && !over) {
		if (hn_interrupted() && !cancelled) {
			cancelled = true;
			hn_show_note(show, "hone: stopping; results so far are kept");
			rc = call(link, "set.cancel", set, &doc, &result, err);
			if (rc != 0) {
				break;
			}
			hn_json_free(doc);
		}
		rc = call(link, "set.get", set, &doc, &result, err);
		if (rc == 0) {
			const char *state = hn_json_string(hn_json_get(result, "state"));

			over = ended(state != NULL ? state : "");
			hn_show_progress(show, result, over);
			hn_json_free(*ret_doc);
			*ret_doc = doc;
			*ret = result;
		}
		if (rc == 0 && !over) {
			nanosleep(&pause, NULL);
		}
	}
	hn_show_end(show);
	return rc;
}

/* The set; each job of its tasks with the best record there is. */
static void put_json(struct hn_link *link, const struct hn_json *set, struct hn_buf *b)
{
	struct hn_jw w;

	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	for (const struct hn_json *c = hn_json_first(set); c != NULL; c = hn_json_next(c)) {
		if (strcmp(hn_json_key(c), "tasks") != 0) {
			hn_say_member(c, &w);
		}
	}
	hn_jw_list(&w, "tasks");
	for (const struct hn_json *t = hn_json_first(hn_json_get(set, "tasks")); t != NULL;
	     t = hn_json_next(t)) {
		hn_jw_object(&w, NULL);
		hn_say(hn_json_get(t, "weight"), "weight", &w);
		hn_say(hn_json_get(t, "rounds"), "rounds", &w);
		hn_jw_object(&w, "job");
		hn_say_members(hn_json_get(t, "job"), &w);
		hn_tune_put_best(link, hn_json_get(t, "job"), &w);
		hn_jw_end(&w);
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(b, '\n');
}

/* A network does not need them all: some of its kernels keep their automatic schedules; on a machine
 * that has no program for them they have none. */
static bool will_do(const struct list *l, struct hn_link *link, const char *failed, uint32_t n_failed)
{
	char why[400];

	if (l->n_kernel < l->n || n_failed == l->n) {
		return false;
	}
	hn_tune_why(link, failed, why, sizeof(why));
	fprintf(stderr, "hone: %u kernel%s no time within the budget", n_failed, n_failed > 1 ? "s have" : " has");
	if (!l->fused) {
		fprintf(stderr, " and keep%s the automatic schedule", n_failed > 1 ? "" : "s");
	}
	fprintf(stderr, "%s\n", why);
	return true;
}

static int report(const struct list *l, const struct hn_opts *o, struct hn_link *link,
		  const struct hn_json *set, struct hn_err *err)
{
	const char *state = hn_json_string(hn_json_get(set, "state"));
	const char *message = hn_json_string(hn_json_get(set, "message"));
	const char *failed = NULL;
	struct hn_buf b;
	uint32_t n_failed = 0;
	char why[400];

	hn_buf_init(&b);
	if (o->json) {
		put_json(link, set, &b);
	} else {
		hn_show_set_table(set, &b);
	}
	fwrite(b.s, 1, b.n, stdout);
	hn_buf_fini(&b);
	for (const struct hn_json *t = hn_json_first(hn_json_get(set, "tasks"));
	     t != NULL; t = hn_json_next(t)) {
		const struct hn_json *job = hn_json_get(t, "job");

		if (hn_show_number(job, "best_ns") <= 0) {
			n_failed++;
			failed = failed == NULL ? hn_json_string(hn_json_get(job, "job")) : failed;
		}
	}
	if (strcmp(state, "cancelled") == 0 || strcmp(state, "suspended") == 0) {
		return hn_fail(err, HONE_E_CANCELLED,
			       "stopped early; run the same command again to go on");
	}
	if (strcmp(state, "failed") == 0) {
		return hn_fail(err, HONE_E_INTERNAL, "the set failed: %s",
			       message != NULL ? message : "?");
	}
	if (n_failed > 0 && !will_do(l, link, failed, n_failed)) {
		hn_tune_why(link, failed, why, sizeof(why));
		return hn_fail(
			err, HONE_E_NOT_FOUND,
			"no candidate was correct within the budget, of %u task%s%s%s%s",
			n_failed, n_failed > 1 ? "s" : "",
			message != NULL && *message != '\0' ? ": " : "",
			message != NULL ? message : "", why);
	}
	return 0;
}

static int tune(const struct list *l, const struct hn_opts *o, const char *request,
		struct hn_link *link, struct hn_show *show, struct hn_err *err)
{
	const struct hn_json *result, *last = NULL;
	struct hn_json *doc, *last_doc = NULL;
	const char *set;
	int rc;

	hn_interrupt_catch();
	rc = hn_link_call(link, "set.submit", request, CALL_MS, &doc, &result, err);
	if (rc != 0) {
		return rc;
	}
	set = hn_json_string(hn_json_get(result, "set"));
	rc = set == NULL ? hn_fail(err, HONE_E_CORRUPT, "honed: set.submit gave no set")
			 : watch(link, show, set, &last_doc, &last, err);
	if (rc == 0) {
		rc = report(l, o, link, last, err);
	}
	hn_json_free(last_doc);
	hn_json_free(doc);
	return rc;
}

static int hold_final(const struct hn_opts *o, const char *path, struct hn_err *err)
{
	struct hn_opts one = *o;
	struct hn_network n;
	int rc;

	one.arg = path;
	rc = hn_network_open(&one, &n, err);
	if (rc == 0 && !n.fused) { /* of a machine of buffers there is no library */
		rc = hn_netfinal("tune", &one, &n, err);
		if (rc == 0) {
			hn_netfinal_say(&n.choice);
		}
	}
	hn_network_close(&n);
	return rc;
}

/* Networks as wholes.  Where there is no linker none can be run, which is no fault of the tuning. */
static int hold_finals(const struct hn_opts *o, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < o->n_arg; i++) {
		rc = hn_network_is(o->args[i]) ? hold_final(o, o->args[i], err) : 0;
		if (rc == -HONE_E_UNSUPPORTED) {
			fprintf(stderr, "hone: %s\n", err->msg);
			rc = 0;
		}
	}
	return rc;
}

/* --trials 0: each by itself, unmeasured. */
static int answer_at_once(struct list *l, const struct hn_opts *o, struct hn_err *err)
{
	uint32_t n_none = 0;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < l->n; i++) {
		struct hn_opts one = opts_of(l, i, o);

		bool told;

		rc = hn_tune_one(&one, &told, err);
		if (rc == -HONE_E_UNSUPPORTED) { /* the others have an answer, too */
			if (!told) {
				fprintf(stderr, "hone: %s\n", err->msg);
			}
			n_none++;
			rc = 0;
		}
	}
	return rc == 0 && n_none > 0 ? hn_fail(err, HONE_E_UNSUPPORTED, "%u of %u have no kernel for this target",
					       n_none, l->n)
				     : rc;
}

int hn_tune_set(const struct hn_opts *o, struct hn_err *err)
{
	struct list *l = calloc(1, sizeof *l);
	struct hn_link link;
	struct hn_show show;
	struct hn_buf request;
	int rc;

	hn_assert(l != NULL);
	hn_arena_init(&l->arena, 0);
	hn_buf_init(&request);
	rc = read_all(l, o, err);
	if (rc == 0 && o->trials == 0) {
		rc = answer_at_once(l, o, err);
	} else if (rc == 0) {
		rc = write_request(l, o, &request, err);
		if (rc == 0) {
			char what[32];

			snprintf(what, sizeof what, "%u tasks", l->n);
			hn_show_init(&show, o->quiet);
			hn_show_begin(&show, what);
			rc = hn_link_open(o, /* start= */ true, &link, err);
			if (rc == 0) {
				rc = tune(l, o, request.s, &link, &show, err);
				hn_link_close(&link);
			}
			hn_show_end(&show);
			/* a range has no run that could stand for all of its sizes */
			rc = rc || l->ranged ? rc : hold_finals(o, err);
		}
	}
	hn_buf_fini(&request);
	hn_arena_fini(&l->arena);
	free(l);
	return rc;
}
