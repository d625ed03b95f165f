/* costmodel/xgb.c -- see boost.h: xgboost grows the trees, on gradients of hone's own.
 *
 * The time of a program is the sum over its statements r of cycles_r * exp(f(x_r)), plus the
 * call. f is the sum of trees over the features, trained to put programs in the order of their
 * measured times. Untrained, f is 0 and the model is the analytic one. Each tree corrects it a
 * little.
 *
 * The loss is that of costmodel/loss.h. Let g and h be its derivatives by the logarithm of a
 * program's sum. A statement's gradient is g share_r, where share_r is its part of the sum. The
 * second derivative used is h share_r, not the diagonal h share_r^2: it bounds the whole matrix,
 * so statements that are corrected at the same time do not overshoot together.
 *
 * A program's weight is the task's best time over its own, and more for the TOP fastest: slow
 * programs must be told from fast ones, but their order among themselves matters little. A
 * program that failed counts as FAILED times as slow as the slowest that did not, with the
 * weight of that time. Once it is predicted clearly slower than working programs, the loss asks
 * for no more.
 *
 * One thread and a fixed seed: the same lessons give the same trees, bit for bit. Source: the
 * pack-sum of Ansor (section 5.2). Ansor sums predicted throughputs; hone sums times, because
 * the time of a program is a sum of times.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

#include "base/arena.h"
#include "costmodel/boost.h"
#include "costmodel/loss.h"

#define FAILED 4 /* times the slowest */
#define LEAST 0.2 /* weight of what is far from the top */
#define TOP 30	 /* about so many are worth measuring */

_Static_assert(HN_FOREST_DEPTH == 6, "max_depth");

static const char *const params[][2] = {
	{"objective", "reg:squarederror"}, /* not used: gradients are our own */
	{"base_score", "0"},   {"tree_method", "hist"}, {"max_depth", "6"},
	{"eta", "0.2"},	       {"lambda", "1"},		{"gamma", "0.001"},
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
	double *sum, *weight;	    /* [n] cycles predicted; weight */
	double *g, *h;		    /* [n] derivatives of the loss by the logarithm of sum */
	struct hn_loss loss;
	uint64_t seed;
	uint32_t *task;		    /* [n] the first lesson of the same task */
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

struct by_time {
	double ns;
	uint32_t task, program;
};

static int by_time(const void *a, const void *b)
{
	const struct by_time *x = a, *y = b;

	if (x->task != y->task) {
		return x->task < y->task ? -1 : 1;
	}
	if (x->ns != y->ns) {
		return x->ns < y->ns ? -1 : 1;
	}
	return x->program < y->program ? -1 : 1;
}

/* What stands for the time of those that failed, and what each weighs. */
static void weigh(struct fit *t)
{
	struct by_time *all = HN_NEW_ARRAY(&t->a, struct by_time, t->n);
	uint32_t first = 0; /* of a task, the fastest */
	double slow = 0;    /* what stands for a failure in it */

	for (uint32_t i = 0; i < t->n; i++) {
		all[i] = (struct by_time){t->lesson[i].median_ns, t->task[i], i};
	}
	qsort(all, t->n, sizeof *all, by_time);
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t k = all[i].program;

		if (i == 0 || all[i - 1].task != all[i].task) {
			first = i;
			slow = 0; /* until something works */
		}
		bool works = isfinite(all[i].ns);
		slow = works ? FAILED * all[i].ns : slow;
		t->ns[k] = works ? all[i].ns : slow;
		t->weight[k] = slow > 0 ? all[first].ns / t->ns[k] *
						  (LEAST + TOP / (TOP + (double)(i - first)))
					: 0;
	}
	hn_loss_init(&t->loss, t->n, t->task, t->ns, t->weight, &t->a);
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
	t->g = HN_NEW_ARRAY(&t->a, double, t->n);
	t->h = HN_NEW_ARRAY(&t->a, double, t->n);
	t->task = HN_NEW_ARRAY(&t->a, uint32_t, t->n);

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

static void sums(struct fit *t, const float *f)
{
	uint32_t row = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct hn_features *of = t->lesson[i].f;

		t->sum[i] = HN_MODEL_CALL_CYCLES;
		for (uint32_t k = 0; k < of->n; k++, row++) {
			t->sum[i] += of->cycles[k] * exp((double)f[row]);
		}
	}
}

static void gradients(struct fit *t, const float *f, uint32_t round)
{
	uint32_t row = 0;

	hn_loss(&t->loss, t->sum, t->seed, round, t->g, t->h, NULL);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct hn_features *of = t->lesson[i].f;

		for (uint32_t k = 0; k < of->n; k++, row++) {
			double share = of->cycles[k] * exp((double)f[row]) / t->sum[i];

			t->grad[row] = (float)(t->g[i] * share);
			t->hess[row] = (float)(t->h[i] * share);
		}
	}
}

/* False when xgboost refuses. */
static bool grow(struct fit *t, uint32_t rounds)
{
	for (uint32_t round = 0; round < rounds; round++) {
		const float *f;
		bst_ulong n;

		if (XGBoosterPredict(t->booster, t->matrix, /* margin */ 1, 0, 0, &n, &f) != 0) {
			return false;
		}
		sums(t, f);
		gradients(t, f, round);
		if (XGBoosterBoostOneIter(t->booster, t->matrix, t->grad, t->hess, n) != 0) {
			return false;
		}
	}
	return true;
}

static bool harvest(const struct fit *t, struct hn_forest *f)
{
	uint32_t before = f->n_tree;
	const char **dump;
	struct hn_err err;
	bst_ulong n;

	if (XGBoosterDumpModelEx(t->booster, "", 0, "json", &n, &dump) != 0) {
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
	struct fit t = {.lesson = lesson, .n = n, .seed = seed};

	hn_arena_init(&t.a, 0);
	make_arrays(&t, f);
	find_tasks(&t);
	weigh(&t);
	bool done = prepare(&t, seed) && grow(&t, rounds) && harvest(&t, f);

	XGBoosterFree(t.booster);
	XGDMatrixFree(t.matrix);
	free(t.x);
	hn_arena_fini(&t.a);
	return done;
}
