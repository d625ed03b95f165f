/* costmodel/xgb.c -- see boost.h: the trees are grown by xgboost, on gradients of our own.
 *
 * Time of a program = the sum over its statements r of cycles_r * exp(f(x_r)), and the call; f =
 * trees over the features, learned so that the logarithm of the sum follows that of the
 * measured times.  Untrained, f is 0 and the model the analytic one; each tree corrects it a
 * little, those there were before the first.  Only programs of one task are compared, so how far
 * a task as a whole is off is taken out of its programs' errors.
 *
 * With e = log(sum) - log(measured) - the task's mean and w a program's weight, the loss is
 * w e^2; a statement's gradient is 2 w e share_r, share_r = its part of the sum.  For the second
 * derivative stands 2 w share_r, not its diagonal 2 w share_r^2: it bounds the whole matrix, so
 * statements that are corrected at the same time do not overshoot together.  Of an error past
 * DOUBT the gradient hardly grows (pseudo-Huber): on a shared machine a time may be off by a
 * fifth and more, and such a one is not to outweigh the rest.
 *
 * A program's weight is the task's best time over its own: what is slow is told apart from what
 * is fast, and matters little among itself.  One that failed counts as FAILED times as slow as
 * the slowest that did not, with the weight that goes with it, and only while it is predicted to
 * be faster than that: how slow a program that does not work would be is nothing to learn.
 *
 * A tenth of the programs, chosen by hash, has no part in the trees and says after how many of
 * them the rest is learned by heart.  One thread and a fixed seed: the same lessons give the same
 * trees, bit for bit.  Source: the pack-sum of Ansor (section 5.2), which sums predicted
 * throughputs instead; sums of times are what programs are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

#include "base/arena.h"
#include "base/hash.h"
#include "costmodel/boost.h"

#define PATIENCE 30	  /* rounds without progress on what is held back */
#define HELD_BACK 10	  /* one program in so many */
#define FAILED 4	  /* times the slowest */
#define DOUBT 0.2	  /* error of a logarithm that a measurement may well have */

static const char *const params[][2] = {
	{"objective", "reg:squarederror"}, /* not used: gradients are our own */
	{"base_score", "0"},   {"tree_method", "hist"}, {"max_depth", "6"},
	{"eta", "0.1"},	       {"lambda", "1"},		{"gamma", "0.001"},
	{"min_child_weight", "0.1"}, {"max_bin", "256"}, {"subsample", "0.7"},
	{"colsample_bynode", "0.3"}, {"nthread", "1"},	 {"verbosity", "0"},
};

/* One training.  Programs and rows keep the lessons' order. */
struct fit {
	struct hn_arena a;
	const struct hn_lesson *lesson;
	uint32_t n, n_row;
	float *x;		    /* [n_row * HN_N_FEATURE], heap */
	float *margin;		    /* [n_row] of the trees there were before */
	float *grad, *hess;	    /* [n_row] */
	double *ns;		    /* [n] measured, or what stands for it */
	double *sum, *weight, *off; /* [n] cycles predicted; weight; their log over measured */
	uint32_t *task;		    /* [n] the first lesson of the same task */
	double *mean, *mass;	    /* [n] at a task's first lesson: mean of off, weight */
	bool *held;		    /* [n] */
	DMatrixHandle matrix;
	BoosterHandle booster;
};

float *hn_boost_rows(const struct hn_features *const *f, uint32_t n, uint32_t *ret_row)
{
	size_t n_row = 0, row = 0;

	for (uint32_t i = 0; i < n; i++) {
		n_row += f[i]->n;
	}
	float *x = calloc(n_row * HN_N_FEATURE + 1, sizeof *x);

	hn_assert(x);
	for (uint32_t i = 0; i < n; i++) {
		memcpy(x + row * HN_N_FEATURE, f[i]->x,
		       (size_t)f[i]->n * HN_N_FEATURE * sizeof *x);
		row += f[i]->n;
	}
	*ret_row = (uint32_t)n_row;
	return x;
}

/* Which lessons belong together. */
static void find_tasks(struct fit *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct hn_lesson *l = &t->lesson[i];
		uint32_t k = i > 0 && l[-1].task == l->task ? t->task[i - 1] : 0;

		while (t->lesson[k].task != l->task) {
			k++;
		}
		t->task[i] = k;
	}
}

/* What stands for the time of those that failed, what each weighs, which are held back. */
static void weigh(struct fit *t)
{
	double *best = HN_NEW_ARRAY(&t->a, double, t->n), *worst = HN_NEW_ARRAY(&t->a, double, t->n);

	for (uint32_t i = 0; i < t->n; i++) {
		double ns = t->lesson[i].median_ns;
		uint32_t k = t->task[i];

		if (isfinite(ns)) {
			best[k] = best[k] > 0 && best[k] < ns ? best[k] : ns;
			worst[k] = worst[k] > ns ? worst[k] : ns;
		}
	}
	for (uint32_t i = 0; i < t->n; i++) {
		const struct hn_lesson *l = &t->lesson[i];
		uint32_t k = t->task[i];

		t->ns[i] = isfinite(l->median_ns) ? l->median_ns : FAILED * worst[k];
		t->weight[i] = best[k] > 0 ? best[k] / t->ns[i] : 0; /* 0: nothing is right */
		t->held[i] = hn_hash64(&l->f->trace, sizeof l->f->trace, 0) % HELD_BACK == 0;
	}
}

static void make_arrays(struct fit *t, const struct hn_forest *forest)
{
	const struct hn_features **f = HN_NEW_ARRAY(&t->a, const struct hn_features *, t->n);

	for (uint32_t i = 0; i < t->n; i++) {
		f[i] = t->lesson[i].f;
	}
	t->x = hn_boost_rows(f, t->n, &t->n_row);
	t->margin = HN_NEW_ARRAY(&t->a, float, t->n_row);
	t->grad = HN_NEW_ARRAY(&t->a, float, t->n_row);
	t->hess = HN_NEW_ARRAY(&t->a, float, t->n_row);
	t->ns = HN_NEW_ARRAY(&t->a, double, t->n);
	t->sum = HN_NEW_ARRAY(&t->a, double, t->n);
	t->weight = HN_NEW_ARRAY(&t->a, double, t->n);
	t->off = HN_NEW_ARRAY(&t->a, double, t->n);
	t->task = HN_NEW_ARRAY(&t->a, uint32_t, t->n);
	t->mean = HN_NEW_ARRAY(&t->a, double, t->n);
	t->mass = HN_NEW_ARRAY(&t->a, double, t->n);
	t->held = HN_NEW_ARRAY(&t->a, bool, t->n);

	double *sum = HN_NEW_ARRAY(&t->a, double, t->n_row);

	hn_forest_predict(forest, t->x, t->n_row, HN_N_FEATURE, sum);
	for (uint32_t r = 0; r < t->n_row; r++) {
		t->margin[r] = (float)sum[r];
	}
}

static bool prepare(struct fit *t, uint64_t seed)
{
	char text[24];
	bool ok = XGDMatrixCreateFromMat(t->x, t->n_row, HN_N_FEATURE, NAN, &t->matrix) == 0 &&
		  XGDMatrixSetFloatInfo(t->matrix, "base_margin", t->margin, t->n_row) == 0 &&
		  XGBoosterCreate(&t->matrix, 1, &t->booster) == 0;

	for (size_t i = 0; ok && i < HN_COUNT_OF(params); i++) {
		ok = XGBoosterSetParam(t->booster, params[i][0], params[i][1]) == 0;
	}
	snprintf(text, sizeof text, "%u", (unsigned)(seed % INT32_MAX));
	return ok && XGBoosterSetParam(t->booster, "seed", text) == 0;
}

/* How far program i is off, beyond its task's mean. */
static double off_of(const struct fit *t, uint32_t i)
{
	double off = t->off[i] - t->mean[t->task[i]];

	return isfinite(t->lesson[i].median_ns) || off < 0 ? off : 0;
}

/* The errors by the trees so far; returns the mean square of those held back. */
static double errors(struct fit *t, const float *f)
{
	double loss = 0, mass = 0;
	uint32_t row = 0;

	memset(t->mean, 0, t->n * sizeof *t->mean);
	memset(t->mass, 0, t->n * sizeof *t->mass);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct hn_lesson *l = &t->lesson[i];

		t->sum[i] = HN_MODEL_CALL_CYCLES;
		for (uint32_t k = 0; k < l->f->n; k++, row++) {
			t->sum[i] += l->f->cycles[k] * exp((double)f[row]);
		}
		t->off[i] = log(t->sum[i]) - log(t->ns[i]);
		if (!t->held[i] && isfinite(l->median_ns)) {
			t->mean[t->task[i]] += t->weight[i] * t->off[i];
			t->mass[t->task[i]] += t->weight[i];
		}
	}
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->task[i] == i) {
			t->mean[i] /= fmax(t->mass[i], 1e-9);
		}
		t->off[i] = off_of(t, i);
		if (t->held[i]) {
			loss += t->weight[i] * t->off[i] * t->off[i];
			mass += t->weight[i];
		}
	}
	return loss / fmax(mass, 1e-9);
}

static void gradients(struct fit *t, const float *f)
{
	uint32_t row = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct hn_features *of = t->lesson[i].f;
		double doubt = sqrt(1 + t->off[i] * t->off[i] / (DOUBT * DOUBT));
		double w = t->held[i] ? 0 : 2 * t->weight[i] / doubt;

		for (uint32_t k = 0; k < of->n; k++, row++) {
			double share = of->cycles[k] * exp((double)f[row]) / t->sum[i];

			t->grad[row] = (float)(w * t->off[i] * share);
			t->hess[row] = (float)(w * share);
		}
	}
}

/* Returns how many trees are best; 0 when none helps or xgboost refuses. */
static uint32_t grow(struct fit *t, uint32_t rounds)
{
	double best = INFINITY;
	uint32_t n_best = 0;

	for (uint32_t round = 0; round <= rounds && round <= n_best + PATIENCE; round++) {
		const float *f;
		bst_ulong n;

		if (XGBoosterPredict(t->booster, t->matrix, /* margin */ 1, 0, 0, &n, &f) != 0) {
			return 0;
		}
		double loss = errors(t, f);

		if (loss < best) {
			best = loss;
			n_best = round;
		}
		gradients(t, f);
		if (round < rounds &&
		    XGBoosterBoostOneIter(t->booster, t->matrix, t->grad, t->hess, n) != 0) {
			return 0;
		}
	}
	return n_best;
}

static bool harvest(const struct fit *t, uint32_t n, struct hn_forest *f)
{
	uint32_t before = f->n_tree;
	const char **dump;
	struct hn_err err;
	bst_ulong n_dump;

	if (n > 0 && (XGBoosterDumpModelEx(t->booster, "", 0, "json", &n_dump, &dump) != 0 ||
		      n_dump < n)) {
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (hn_forest_add_dump(f, dump[i], &err) != 0) {
			hn_forest_cut(f, before);
			return false;
		}
	}
	return true;
}

bool hn_boost(struct hn_forest *f, const struct hn_lesson *lesson, uint32_t n, uint32_t rounds,
	      uint64_t seed)
{
	struct fit t = {.lesson = lesson, .n = n};

	hn_arena_init(&t.a, 0);
	make_arrays(&t, f);
	find_tasks(&t);
	weigh(&t);
	bool done = prepare(&t, seed) && harvest(&t, grow(&t, rounds), f);

	XGBoosterFree(t.booster);
	XGDMatrixFree(t.matrix);
	free(t.x);
	hn_arena_fini(&t.a);
	return done;
}
