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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "bench/bench.h"
#include "bench/measured.h"
#include "costmodel/ansor.h"
#include "costmodel/model.h"

#define LEAST_RECORDS 60 /* that a workload is judged by */
#define TOP 30
#define ROUNDS 300 /* of a training */
#define RECORD_PARTS 5
#define WORKLOAD_PARTS 10

enum way { ANALYTIC, OTHER_RECORDS, OTHER_WORKLOADS, AGAIN, N_WAY };

static const char *const ways[] = {"analytic", "learned, other records of it",
				   "learned, other workloads", "measured again"};

struct data {
	struct hn_measured m;
	double *score[AGAIN]; /* [m.n] of each program */
};

static uint32_t part_of(const struct hn_measured_program *x, enum way way)
{
	return way == OTHER_RECORDS ? (uint32_t)(x->hash % RECORD_PARTS) : x->workload % WORKLOAD_PARTS;
}

/* Score every sample by a model that was taught all parts but its own. */
static void judge(struct data *d, enum way way)
{
	const struct hn_model_ops *ops = hn_model_ops("learned");
	uint32_t parts = way == OTHER_RECORDS ? RECORD_PARTS : WORKLOAD_PARTS;
	struct hn_lesson *lesson = calloc(d->m.n + 1, sizeof *lesson);

	hn_assert(lesson);
	for (uint32_t p = 0; p < parts; p++) {
		struct hn_model *m = ops->create(1);
		uint32_t n = 0;

		for (uint32_t i = 0; i < d->m.n; i++) {
			const struct hn_measured_program *x = &d->m.program[i];
			if (part_of(x, way) != p) {
				lesson[n++] = (struct hn_lesson){&x->features, x->workload,
								 x->ns};
			}
		}
		int64_t start = hn_clock_ns();
		char context[100];

		ops->update(m, lesson, n, ROUNDS);
		snprintf(context, sizeof context, "\"held_back\": \"%s\", \"lessons\": %u",
			 way == OTHER_RECORDS ? "records" : "workloads", n);
		hn_bench_row("model.train", (double)(hn_clock_ns() - start) * 1e-9, "s",
			     context);
		for (uint32_t i = 0; i < d->m.n; i++) {
			const struct hn_features *f = &d->m.program[i].features;
			if (part_of(&d->m.program[i], way) == p) {
				ops->predict(m, &f, 1, &d->score[way][i]);
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

	for (uint32_t i = d->m.first[w]; i < d->m.first[w + 1]; i++) {
		const struct hn_measured_program *x = &d->m.program[i];

		if (way != AGAIN) {
			ret[n++] = (struct judged){x->ns, d->score[way][i]};
		} else if (x->n_record > 1) {
			ret[n++] = (struct judged){x->first_ns, 1 / x->last_ns};
		}
	}
	return n;
}

static void print_figures(const struct data *d, enum way way)
{
	struct judged x[HN_MEASURED_MOST];
	double pairs = 0, top = 0;
	uint32_t judged = 0;
	char context[300];

	for (uint32_t w = 0; w < d->m.n_workload; w++) {
		uint32_t n = judged_of(d, w, way, x);

		if (n < LEAST_RECORDS) {
			continue;
		}
		double p = pairwise(x, n), r = recall(x, n);
		snprintf(context, sizeof context,
			 "\"model\": \"%s\", \"case\": \"%s\", \"records\": %u", ways[way],
			 d->m.workload[w].name, n);
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
	struct hn_lesson *lesson = calloc(d->m.n + 1, sizeof *lesson);
	struct hn_model *m = ops->create(1);
	struct hn_buf text;
	int rc = 0;

	hn_assert(lesson);
	hn_buf_init(&text);
	for (uint32_t i = 0; i < d->m.n; i++) {
		const struct hn_measured_program *x = &d->m.program[i];
		lesson[i] = (struct hn_lesson){&x->features, x->workload, x->ns};
	}
	if (!ops->update(m, lesson, d->m.n, ROUNDS) || !ops->save(m, &text)) {
		rc = hn_fail(err, HONE_E_NOT_FOUND, "%u programs: nothing was learned", d->m.n);
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
	for (int way = 0; way < AGAIN; way++) {
		d->score[way] = HN_NEW_ARRAY(&d->m.keep, double, d->m.n + 1);
	}
	for (uint32_t i = 0; i < d->m.n; i++) {
		d->score[ANALYTIC][i] = hn_model_analytic_score(&d->m.program[i].features);
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

	hn_assert(d);
	int rc = hn_measured_load(&d->m, home, n_home, &err);

	if (rc == 0) {
		rc = out ? train(d, out, &err) : judge_all(d);
	}
	if (rc < 0) {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
	}
	hn_measured_fini(&d->m);
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
