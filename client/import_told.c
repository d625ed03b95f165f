/* client/import_told.c -- what became of a log's lines: by the store, in the order of the log. */
#include "client/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jw.h"
#include "search/logline.h"
#include "search/policy.h"

#define CALL_MS 60000

static int by_hash(const void *x, const void *y)
{
	const struct hn_import_line *const *a = x, *const *b = y;

	return ((*a)->hash > (*b)->hash) - ((*a)->hash < (*b)->hash);
}

/* The lines that stand for their program, by its hash. */
struct programs {
	uint32_t n;
	struct hn_import_line **line;
};

static struct programs programs_of(struct hn_import_task *t)
{
	struct programs p = { .line = calloc(t->n + 1, sizeof(*p.line)) };

	hn_assert(p.line != NULL);
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->line[i].as == 0) {
			p.line[p.n++] = &t->line[i];
		}
	}
	qsort(p.line, p.n, sizeof(*p.line), by_hash);
	return p;
}

/* The line that has the program of these steps; NULL. */
static struct hn_import_line *find(const struct programs *p, const struct hn_import_task *t,
				   const char *steps)
{
	struct hn_import_line want, *w = &want, **found = NULL;
	const struct hn_trace *trace;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_trace_parse("record", steps, strlen(steps), &a, &trace, NULL) == 0 &&
	    hn_logline_replays(t->in.dag, trace, &want.hash, NULL) == 0) {
		found = bsearch(&w, p->line, p->n, sizeof(w), by_hash);
	}
	hn_arena_fini(&a);
	return found != NULL ? *found : NULL;
}

static void note_right(struct hn_import_task *t, double ns)
{
	if ((t->n_right & (t->n_right + 1)) == 0) { /* full at 2^k - 1: double */
		t->right_ns = realloc(t->right_ns, (2 * (size_t)t->n_right + 2) * sizeof(ns));
		hn_assert(t->right_ns != NULL);
	}
	t->right_ns[t->n_right++] = ns;
}

static void take(struct hn_import *im, struct hn_import_task *t, const struct programs *p,
		 const struct hn_json *v, bool before)
{
	const char *origin = hn_show_word(v, "origin"), *verdict = hn_show_word(v, "verdict");
	bool right = strcmp(verdict, "OK") == 0;
	double ns = hn_show_number(v, "median_ns");
	struct hn_import_line *x;
	int64_t record = 0;
	struct hn_buf steps;

	hn_json_int(hn_json_get(v, "record"), &record);
	t->last = record > t->last ? record : t->last;
	if (right) {
		note_right(t, ns);
	}
	if (right && strcmp(origin, HN_ORIGIN_IMPORTED) != 0 && (t->ours == 0 || ns < t->ours_ns)) {
		t->ours = record;
		t->ours_ns = ns;
		t->origin = hn_arena_strdup(&im->a, *origin != '\0' ? origin : "unknown");
	}
	hn_buf_init(&steps);
	hn_json_write(hn_json_get(v, "steps"), &steps);
	x = find(p, t, steps.s);
	hn_buf_fini(&steps);
	if (x == NULL || (x->record != 0 && (!right || (x->here_ns > 0 && x->here_ns <= ns)))) {
		return;
	}
	x->record = record;
	x->before = before;
	x->here_ns = right ? ns : 0;
	x->failure = right ? ""
			   : hn_arena_printf(&im->a, "%s: %.400s", verdict, hn_show_word(v, "detail"));
}

static int ask(const struct hn_import *im, const struct hn_import_task *t, struct hn_link *link,
	       struct hn_json **ret_doc, const struct hn_json **ret, struct hn_err *err)
{
	struct hn_buf b;
	struct hn_jw w;
	int rc;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "workload", t->in.key);
	hn_jw_str(&w, "target", im->target_line);
	hn_jw_int(&w, "after", t->last);
	hn_jw_end(&w);
	rc = hn_link_call(link, "records", b.s, CALL_MS, ret_doc, ret, err);
	hn_buf_fini(&b);
	return rc;
}

int hn_import_look(struct hn_import *im, struct hn_import_task *t, struct hn_link *link, bool before,
		   struct hn_err *err)
{
	struct programs p = programs_of(t);
	bool whole = false;
	int rc = 0;

	while (rc == 0 && !whole) {
		const struct hn_json *answer;
		struct hn_json *doc = NULL;
		int64_t last = t->last;

		rc = ask(im, t, link, &doc, &answer, err);
		if (rc == 0) {
			for (const struct hn_json *v = hn_json_first(hn_json_get(answer, "records"));
			     v != NULL; v = hn_json_next(v)) {
				take(im, t, &p, v, before);
			}
			whole = !hn_json_bool(hn_json_get(answer, "whole"), &whole) || whole ||
				t->last == last;
		}
		hn_json_free(doc);
	}
	free(p.line);
	return rc;
}

uint32_t hn_import_missing(const struct hn_import_task *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		n += t->line[i].as == 0 && t->line[i].record == 0;
	}
	return n;
}

static int by_time(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* 1 + how many right ones are faster. */
static uint32_t rank(const struct hn_import_task *t, double ns)
{
	uint32_t lo = 0, hi = t->n_right;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->right_ns[mid] < ns) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo + 1;
}

static void tell_line(const struct hn_import *im, const struct hn_import_task *t,
		      const struct hn_import_line *x)
{
	char here[32], there[32];

	printf("%s:%" PRIu64 ": ", im->log, x->line);
	if (x->as != 0) {
		printf("the program of line %" PRIu64 "\n", x->as);
	} else if (x->record == 0) {
		printf("not measured%s%s\n", t->message ? ": " : "", t->message ? t->message : "");
	} else if (x->here_ns == 0) {
		printf("%s%s\n", x->failure, x->before ? " (before)" : "");
	} else {
		printf("%s here, %s in the log, rank %u of %u%s\n",
		       hn_show_time(x->here_ns, here), hn_show_time(x->there_ns, there),
		       rank(t, x->here_ns), t->n_right, x->before ? " (measured before)" : "");
	}
}

/* The fastest line, what hone had found itself, and which of all is best. */
static void tell_task(const struct hn_import_task *t, int64_t best)
{
	const struct hn_import_line *first = NULL, *adopted = NULL;
	char here[32], there[32], ours[32];

	for (uint32_t i = 0; i < t->n; i++) {
		const struct hn_import_line *x = &t->line[i];

		if (x->here_ns > 0 && (first == NULL || x->here_ns < first->here_ns)) {
			first = x;
		}
		adopted = x->record != 0 && x->record == best ? x : adopted;
	}
	printf("%s (workload %.16s): ", t->in.name, t->in.key);
	if (first == NULL) {
		printf("no line is right here\n");
		return;
	}
	printf("fastest is line %" PRIu64 ", %s here, %s in the log; ", first->line,
	       hn_show_time(first->here_ns, here), hn_show_time(first->there_ns, there));
	if (t->ours != 0) {
		printf("hone's own %s (record %" PRId64 ", %s); ", hn_show_time(t->ours_ns, ours),
		       t->ours, t->origin);
	}
	if (adopted != NULL) {
		printf("line %" PRIu64 " is the best now\n", adopted->line);
	} else if (best != 0) {
		printf("record %" PRId64 " stays the best\n", best);
	} else {
		printf("none is proved\n");
	}
}

void hn_import_tell(const struct hn_import *im, struct hn_import_task *t, int64_t best)
{
	if (t->n_right > 0) {
		qsort(t->right_ns, t->n_right, sizeof(*t->right_ns), by_time);
	}
	for (uint32_t i = 0; i < t->n; i++) {
		tell_line(im, t, &t->line[i]);
	}
	tell_task(t, best);
	fflush(stdout);
	free(t->right_ns);
	t->right_ns = NULL;
}

void hn_import_tell_all(const struct hn_import *im)
{
	uint64_t now = 0, before = 0, repeats = 0, failed = 0, none = 0;

	for (uint32_t i = 0; i < im->n; i++) {
		for (uint32_t k = 0; k < im->task[i].n; k++) {
			const struct hn_import_line *x = &im->task[i].line[k];

			repeats += x->as != 0;
			none += x->as == 0 && x->record == 0;
			failed += x->record != 0 && x->here_ns == 0;
			now += x->here_ns > 0 && !x->before;
			before += x->here_ns > 0 && x->before;
		}
	}
	printf("%" PRIu64 " lines: %" PRIu64 " measured now, %" PRIu64 " before, %" PRIu64
	       " repeat others, %" PRIu64 " not right here, %" PRIu64 " not measured, %" PRIu64
	       " left out, %" PRIu64 " bad\n",
	       im->n_line, now, before, repeats, failed, none, im->n_left_out, im->n_bad);
}
