/* bench/model.c -- how well the cost models rank what was measured: `hone-bench model`.
 *
 * Records of a store (hone.sqlite; nothing is measured here) are held back from the learned
 * model in two ways: a fifth of every workload's records at a time (it knows the others, as in
 * the middle of a search), and whole workloads, a tenth of them at a time (it knows others
 * alone, as at the start of a search with a model from elsewhere).  Each record is judged by the
 * one model that has not seen it.
 *
 * pairwise: share of pairs of a workload's records that are put in the right order, equal ones
 * left out; recall: how many of the 30 fastest are among the 30 that are predicted fastest (by
 * chance: 30 / records).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "bench/bench.h"
#include "costmodel/ansor.h"
#include "costmodel/model.h"
#include "db/db.h"

#define MOST_RECORDS 600 /* of a workload, chosen by hash */
#define LEAST_RECORDS 60 /* that a workload is judged by */
#define LEAST_SAMPLES 3	 /* below: the board gave up after a first, perhaps cold call */
#define MOST_WORKLOADS 1000
#define TOP 30
#define ROUNDS 300 /* of a training */
#define RECORD_PARTS 5
#define WORKLOAD_PARTS 10

enum way { ANALYTIC, OTHER_RECORDS, OTHER_WORKLOADS, AGAIN, N_WAY };

struct sample {
	struct hn_features features;
	double median_ns; /* of several records of a program: the fastest's */
	double first_ns, last_ns;
	uint32_t n_record;
	uint64_t hash;
	uint32_t workload;
	double score[N_WAY];
};

struct workload {
	const char *key, *name;
	const struct hn_dag *dag;
};

struct data {
	struct hn_arena keep;
	struct hn_target target;
	uint32_t n, cap;
	struct sample *sample; /* workload by workload */
	uint32_t n_workload;
	struct workload workload[MOST_WORKLOADS];
	uint32_t first[MOST_WORKLOADS + 1]; /* of a workload's samples */
};

static const char *const ways[] = {"analytic", "learned, other records of it",
				   "learned, other workloads", "measured again"};

struct loading {
	struct data *data;
	struct hn_db *db;
	struct hn_arena scratch;
	struct hn_err *err;
};

/* The workload's number, its dag read when the first of its records comes; or an error. */
static int workload_of(struct loading *l, const char *key)
{
	struct data *d = l->data;
	struct workload *w = &d->workload[d->n_workload];
	struct hn_workload_row row;

	for (uint32_t i = d->n_workload; i-- > 0;) {
		if (strcmp(d->workload[i].key, key) == 0) {
			return (int)i;
		}
	}
	if (d->n_workload == MOST_WORKLOADS) {
		return hn_fail(l->err, HONE_E_QUOTA, "more than %d workloads", MOST_WORKLOADS);
	}
	int rc = hn_db_workload(l->db, key, &d->keep, &row, l->err);
	if (rc == 0) {
		rc = hn_dag_parse(row.name, row.dag_json, strlen(row.dag_json), 0, &d->keep,
				  &w->dag, l->err);
	}
	w->key = row.key;
	w->name = row.name;
	return rc < 0 ? rc : (int)d->n_workload++;
}

static int each(void *ctx, const struct hn_record *r)
{
	struct loading *l = ctx;
	struct data *d = l->data;
	const struct hn_looptree *tree;
	const struct hn_trace *t;
	const struct hn_state *s;
	struct hn_features f;

	if (r->verdict != HN_VERDICT_OK || r->n_sample < LEAST_SAMPLES) {
		return 0;
	}
	int w = workload_of(l, r->workload);
	if (w < 0) {
		return w;
	}
	hn_arena_reset(&l->scratch);
	if (hn_trace_parse("record", r->steps, strlen(r->steps), &l->scratch, &t, NULL) < 0 ||
	    hn_state_replay(d->workload[w].dag, t, &l->scratch, &s, NULL) < 0 ||
	    hn_looptree_build(s, &l->scratch, &tree, NULL) < 0 ||
	    !hn_features_of(tree, &d->target, &l->scratch, &f)) {
		return 0;
	}
	d->sample = hn_arena_grow(&d->keep, d->sample, d->n, &d->cap, sizeof *d->sample);
	d->sample[d->n++] = (struct sample){.features = hn_features_copy(&f, &d->keep),
					    .median_ns = r->median_ns,
					    .first_ns = r->median_ns,
					    .last_ns = r->median_ns,
					    .n_record = 1,
					    .hash = hn_hash64(r->steps, strlen(r->steps), 0),
					    .workload = (uint32_t)w};
	return 0;
}

static int by_hash(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->workload != y->workload) {
		return x->workload < y->workload ? -1 : 1;
	}
	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* The same program measured again. */
static void merge(struct sample *to, const struct sample *x)
{
	to->n_record++;
	to->median_ns = fmin(to->median_ns, x->median_ns);
	to->last_ns = x->median_ns;
}

/* Keep each program once, and no more than MOST_RECORDS of a workload. */
static void thin(struct data *d)
{
	uint32_t n = 0, of_workload = 0;

	qsort(d->sample, d->n, sizeof *d->sample, by_hash);
	for (uint32_t i = 0; i < d->n; i++) {
		const struct sample *x = &d->sample[i];
		bool same = n > 0 && d->sample[n - 1].workload == x->workload;

		of_workload = same ? of_workload : 0;
		if (of_workload == 0) {
			for (uint32_t k = n > 0 ? d->sample[n - 1].workload + 1 : 0;
			     k <= x->workload; k++) {
				d->first[k] = n;
			}
		}
		if (same && d->sample[n - 1].hash == x->hash) {
			merge(&d->sample[n - 1], x);
		} else if (of_workload < MOST_RECORDS) {
			of_workload++;
			d->sample[n++] = *x;
		}
	}
	for (uint32_t k = n > 0 ? d->sample[n - 1].workload + 1 : 0; k <= d->n_workload; k++) {
		d->first[k] = n;
	}
	d->n = n;
}

static int load(const char *home, struct data *d, struct hn_err *err)
{
	struct loading l = {.data = d, .err = err};
	int rc = hn_db_open(home, &l.db, err);

	if (rc < 0) {
		return rc;
	}
	hn_arena_init(&l.scratch, 0);
	rc = hn_db_records(l.db, NULL, NULL, each, &l, err);
	hn_arena_fini(&l.scratch);
	hn_db_close(l.db);
	return rc;
}

static uint32_t part_of(const struct sample *x, enum way way)
{
	return way == OTHER_RECORDS ? (uint32_t)(x->hash % RECORD_PARTS) : x->workload % WORKLOAD_PARTS;
}

/* Score every sample by a model that was taught all parts but its own. */
static void judge(struct data *d, enum way way)
{
	const struct hn_model_ops *ops = hn_model_ops("learned");
	uint32_t parts = way == OTHER_RECORDS ? RECORD_PARTS : WORKLOAD_PARTS;
	struct hn_lesson *lesson = calloc(d->n + 1, sizeof *lesson);

	hn_assert(lesson);
	for (uint32_t p = 0; p < parts; p++) {
		struct hn_model *m = ops->create(1);
		uint32_t n = 0;

		for (uint32_t i = 0; i < d->n; i++) {
			const struct sample *x = &d->sample[i];
			if (part_of(x, way) != p) {
				lesson[n++] = (struct hn_lesson){&x->features, x->workload,
								 x->median_ns};
			}
		}
		int64_t start = hn_clock_ns();
		char context[100];

		ops->update(m, lesson, n, ROUNDS);
		snprintf(context, sizeof context, "\"held_back\": \"%s\", \"lessons\": %u",
			 way == OTHER_RECORDS ? "records" : "workloads", n);
		hn_bench_row("model.train", (double)(hn_clock_ns() - start) * 1e-9, "s",
			     context);
		for (uint32_t i = 0; i < d->n; i++) {
			const struct hn_features *f = &d->sample[i].features;
			if (part_of(&d->sample[i], way) == p) {
				ops->predict(m, &f, 1, &d->sample[i].score[way]);
			}
		}
		ops->destroy(m);
	}
	free(lesson);
}

/* One program as a figure sees it. */
struct judged {
	double ns, score;
};

static double pairwise(const struct judged *x, uint32_t n)
{
	uint64_t right = 0, all = 0;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = i + 1; k < n; k++) {
			if (x[i].ns != x[k].ns) {
				bool faster = x[i].ns < x[k].ns;
				all++;
				right += faster ? x[i].score > x[k].score
						: x[i].score < x[k].score;
			}
		}
	}
	return (double)right / (double)(all ? all : 1);
}

/* How many of the others are faster, or predicted faster; equal ones in order. */
static double recall(const struct judged *x, uint32_t n)
{
	uint32_t both = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t faster = 0, predicted = 0;
		for (uint32_t k = 0; k < n; k++) {
			double dt = x[k].ns - x[i].ns;
			double ds = x[i].score - x[k].score;
			faster += dt < 0 || (dt == 0 && k < i);
			predicted += ds < 0 || (ds == 0 && k < i);
		}
		both += faster < TOP && predicted < TOP;
	}
	return (double)both / TOP;
}

/* The samples of a workload that can be judged this way; measured again: the first time against
 * the last. */
static uint32_t judged_of(const struct data *d, uint32_t w, enum way way, struct judged *ret)
{
	uint32_t n = 0;

	for (uint32_t i = d->first[w]; i < d->first[w + 1]; i++) {
		const struct sample *x = &d->sample[i];

		if (way != AGAIN) {
			ret[n++] = (struct judged){x->median_ns, x->score[way]};
		} else if (x->n_record > 1) {
			ret[n++] = (struct judged){x->first_ns, 1 / x->last_ns};
		}
	}
	return n;
}

static void print_figures(const struct data *d, enum way way)
{
	struct judged x[MOST_RECORDS];
	double pairs = 0, top = 0;
	uint32_t judged = 0;
	char context[300];

	for (uint32_t w = 0; w < d->n_workload; w++) {
		uint32_t n = judged_of(d, w, way, x);

		if (n < LEAST_RECORDS) {
			continue;
		}
		double p = pairwise(x, n), r = recall(x, n);
		snprintf(context, sizeof context,
			 "\"model\": \"%s\", \"case\": \"%s\", \"records\": %u", ways[way],
			 d->workload[w].name, n);
		hn_bench_row("model.pairwise", p, "", context);
		hn_bench_row("model.recall", r, "", context);
		pairs += p;
		top += r;
		judged++;
	}
	if (judged == 0) {
		return;
	}
	snprintf(context, sizeof context,
		 "\"model\": \"%s\", \"case\": \"mean\", \"workloads\": %u", ways[way], judged);
	hn_bench_row("model.pairwise", pairs / judged, "", context);
	hn_bench_row("model.recall", top / judged, "", context);
}

/* Teach everything to one model, and write it. */
static int train(struct data *d, const char *path, struct hn_err *err)
{
	const struct hn_model_ops *ops = hn_model_ops("learned");
	struct hn_lesson *lesson = calloc(d->n + 1, sizeof *lesson);
	struct hn_model *m = ops->create(1);
	struct hn_buf text;
	int rc = 0;

	hn_assert(lesson);
	hn_buf_init(&text);
	for (uint32_t i = 0; i < d->n; i++) {
		const struct sample *x = &d->sample[i];
		lesson[i] = (struct hn_lesson){&x->features, x->workload, x->median_ns};
	}
	if (!ops->update(m, lesson, d->n, ROUNDS) || !ops->save(m, &text)) {
		rc = hn_fail(err, HONE_E_NOT_FOUND, "%u programs: nothing was learned", d->n);
	} else {
		rc = hn_file_replace(path, text.s, text.n, err);
	}
	hn_buf_fini(&text);
	ops->destroy(m);
	free(lesson);
	return rc;
}

static int judge_all(struct data *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		d->sample[i].score[ANALYTIC] = hn_model_analytic_score(&d->sample[i].features);
	}
	judge(d, OTHER_RECORDS);
	judge(d, OTHER_WORKLOADS);
	for (int way = 0; way < N_WAY; way++) {
		print_figures(d, (enum way)way);
	}
	return 0;
}

/* out: where the trained model goes; NULL: how good one is. */
static int run(char *const *home, int n_home, const char *out)
{
	struct data *d = calloc(1, sizeof *d);
	struct hn_err err = {0};
	int rc = 0;

	hn_assert(d);
	hn_arena_init(&d->keep, 0);
	hn_target_host(&d->keep, &d->target);
	for (int i = 0; i < n_home && rc == 0; i++) {
		rc = load(home[i], d, &err);
	}
	thin(d);
	if (rc == 0) {
		rc = out ? train(d, out, &err) : judge_all(d);
	}
	if (rc < 0) {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
	}
	hn_arena_fini(&d->keep);
	free(d);
	return rc < 0;
}

static int print_doc(void (*put)(struct hn_buf *buf))
{
	struct hn_buf doc;

	hn_buf_init(&doc);
	put(&doc);
	fputs(doc.s, stdout);
	hn_buf_fini(&doc);
	return 0;
}

int hn_bench_model(const struct hn_bench_args *args);

int hn_bench_model(const struct hn_bench_args *args)
{
	bool doc = args->argc > 0 && strcmp(args->argv[0], "--features") == 0;

	if (doc && args->argc == 1) {
		return print_doc(hn_features_doc);
	}
	if (doc && args->argc == 2 && strcmp(args->argv[1], "ansor") == 0) {
		return print_doc(hn_ansor_doc);
	}
	if (args->argc >= 2 && strcmp(args->argv[0], "--store") == 0) {
		return run(args->argv + 1, args->argc - 1, NULL);
	}
	if (args->argc >= 4 && strcmp(args->argv[0], "--train") == 0 &&
	    strcmp(args->argv[2], "--store") == 0) {
		return run(args->argv + 3, args->argc - 3, args->argv[1]);
	}
	if (args->argc == 0) {
		fputs("hone-bench model: without --store HOME there is nothing to judge by\n",
		      stderr);
		return 0;
	}
	fputs("usage: hone-bench model [--train FILE] --store HOME... | --features [ansor]\n", stderr);
	return 2;
}
