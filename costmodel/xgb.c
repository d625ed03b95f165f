/* costmodel/xgb.c -- the learned model: boosted trees that correct the analytic one.
 *
 * Time of a program = the sum over its statements r of cycles_r * exp(f(x_r)), and the call; f =
 * trees over the features, learned so that the logarithm of the sum follows that of the
 * measured times.  Untrained, f is 0 and the model the analytic one; each tree corrects it a
 * little.  Only programs of one task are compared, so how far a task as a whole is off is taken
 * out of its programs' errors.
 *
 * With e = log(sum) - log(measured) - the task's mean and w a program's weight, the loss is
 * w e^2; a statement's gradient is 2 w e share_r, share_r = its part of the sum.  For the second
 * derivative stands 2 w share_r, not its diagonal 2 w share_r^2: it bounds the whole matrix, so
 * statements that are corrected at the same time do not overshoot together.
 *
 * A tenth of the programs, chosen by hash, has no part in the trees and says after how many of
 * them the rest is learned by heart.  One thread and a fixed seed: the same lessons give the same
 * model, bit for bit.  Source: the pack-sum of Ansor (section 5.2), which sums predicted
 * throughputs instead; sums of times are what programs are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

#include "base/hash.h"
#include "costmodel/model.h"

#define LEAST_LESSONS 16  /* below that nothing is learned */
#define ROUNDS 300
#define PATIENCE 30	  /* rounds without progress on what is held back */
#define HELD_BACK 10	  /* one program in so many */

static const char *const params[][2] = {
	{"objective", "reg:squarederror"}, /* not used: gradients are our own */
	{"base_score", "0"},   {"tree_method", "hist"}, {"max_depth", "6"},
	{"eta", "0.1"},	       {"lambda", "1"},		{"gamma", "0.001"},
	{"min_child_weight", "0.1"}, {"max_bin", "256"}, {"subsample", "0.7"},
	{"colsample_bynode", "0.3"}, {"nthread", "1"},	 {"verbosity", "0"},
};

struct hn_model {
	uint64_t seed;
	BoosterHandle booster; /* NULL = untrained */
	uint32_t n_tree;
	uint32_t n_lesson; /* of the last training */
};

/* One training.  Programs and rows keep the lessons' order. */
struct fit {
	const struct hn_lesson *lesson;
	uint32_t n, n_row;
	float *x;		    /* [n_row * HN_N_FEATURE] */
	float *grad, *hess;	    /* [n_row] */
	double *sum, *weight, *off; /* [n] cycles predicted; weight; their log over measured */
	uint32_t *task;		    /* [n] the first lesson of the same task */
	double *mean, *mass;	    /* [n] at a task's first lesson: mean of off, weight */
	bool *held;		    /* [n] */
	DMatrixHandle matrix;
	BoosterHandle booster;
};

static struct hn_model *create(uint64_t seed)
{
	struct hn_model *m = calloc(1, sizeof *m);

	hn_assert(m);
	m->seed = seed;
	return m;
}

static void destroy(struct hn_model *m)
{
	if (m) {
		XGBoosterFree(m->booster);
		free(m);
	}
}

/* Correction f of each row by the first n_tree trees; false when xgboost refuses. */
static bool corrections(BoosterHandle booster, uint32_t n_tree, const float *x, uint32_t n_row,
			const float **ret)
{
	char data[200], config[200];
	const bst_ulong *shape;
	bst_ulong dim;

	snprintf(data, sizeof data,
		 "{\"data\": [%llu, true], \"shape\": [%u, %d], \"typestr\": \"<f4\", "
		 "\"version\": 3}",
		 (unsigned long long)(uintptr_t)x, n_row, HN_N_FEATURE);
	snprintf(config, sizeof config,
		 "{\"type\": 1, \"training\": false, \"iteration_begin\": 0, "
		 "\"iteration_end\": %u, \"missing\": NaN, \"strict_shape\": false, "
		 "\"cache_id\": 0}",
		 n_tree);
	return XGBoosterPredictFromDense(booster, data, config, NULL, &shape, &dim, ret) == 0;
}

static float *gather(const struct hn_features *const *f, uint32_t n, uint32_t *ret_row)
{
	size_t n_row = 0, row = 0;

	for (uint32_t i = 0; i < n; i++) {
		n_row += f[i]->n;
	}
	float *x = calloc(n_row * HN_N_FEATURE, sizeof *x);

	hn_assert(x);
	for (uint32_t i = 0; i < n; i++) {
		memcpy(x + row * HN_N_FEATURE, f[i]->x,
		       (size_t)f[i]->n * HN_N_FEATURE * sizeof *x);
		row += f[i]->n;
	}
	*ret_row = (uint32_t)n_row;
	return x;
}

static void predict(struct hn_model *m, const struct hn_features *const *f, uint32_t n,
		    double *score)
{
	const float *by = NULL;
	uint32_t n_row, row = 0;
	float *x = m->n_tree > 0 && n > 0 ? gather(f, n, &n_row) : NULL;

	if (x && !corrections(m->booster, m->n_tree, x, n_row, &by)) {
		by = NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		double cycles = HN_MODEL_CALL_CYCLES;

		for (uint32_t k = 0; k < f[i]->n; k++, row++) {
			cycles += f[i]->cycles[k] * (by ? exp((double)by[row]) : 1);
		}
		score[i] = HN_MODEL_HZ / cycles;
	}
	free(x);
}

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	hn_assert(p);
	return p;
}

/* Which lessons belong together, what each weighs, and which are held back. */
static void sort_out(struct fit *t)
{
	double *best = zeroed(t->n, sizeof *best);

	for (uint32_t i = 0; i < t->n; i++) {
		const struct hn_lesson *l = &t->lesson[i];
		uint32_t k = i > 0 && l[-1].task == l->task ? t->task[i - 1] : 0;

		while (t->lesson[k].task != l->task) {
			k++;
		}
		t->task[i] = k;
		if (k == i || l->median_ns < best[k]) {
			best[k] = l->median_ns;
		}
		t->held[i] = hn_hash64(&l->f->trace, sizeof l->f->trace, 0) % HELD_BACK == 0;
	}
	for (uint32_t i = 0; i < t->n; i++) {
		t->weight[i] = best[t->task[i]] / t->lesson[i].median_ns;
	}
	free(best);
}

static bool prepare(struct fit *t, const struct hn_model *m)
{
	const struct hn_features **f = zeroed(t->n, sizeof *f);
	char seed[24];
	bool ok;

	for (uint32_t i = 0; i < t->n; i++) {
		f[i] = t->lesson[i].f;
	}
	t->x = gather(f, t->n, &t->n_row);
	free(f);
	t->grad = zeroed(t->n_row, sizeof *t->grad);
	t->hess = zeroed(t->n_row, sizeof *t->hess);
	t->sum = zeroed(t->n, sizeof *t->sum);
	t->weight = zeroed(t->n, sizeof *t->weight);
	t->off = zeroed(t->n, sizeof *t->off);
	t->task = zeroed(t->n, sizeof *t->task);
	t->mean = zeroed(t->n, sizeof *t->mean);
	t->mass = zeroed(t->n, sizeof *t->mass);
	t->held = zeroed(t->n, sizeof *t->held);
	sort_out(t);
	ok = XGDMatrixCreateFromMat(t->x, t->n_row, HN_N_FEATURE, NAN, &t->matrix) == 0 &&
	     XGBoosterCreate(&t->matrix, 1, &t->booster) == 0;
	for (size_t i = 0; ok && i < HN_COUNT_OF(params); i++) {
		ok = XGBoosterSetParam(t->booster, params[i][0], params[i][1]) == 0;
	}
	snprintf(seed, sizeof seed, "%u", (unsigned)(m->seed % INT32_MAX));
	return ok && XGBoosterSetParam(t->booster, "seed", seed) == 0;
}

static void finish(struct fit *t)
{
	XGBoosterFree(t->booster);
	XGDMatrixFree(t->matrix);
	free(t->x);
	free(t->grad);
	free(t->hess);
	free(t->sum);
	free(t->weight);
	free(t->off);
	free(t->task);
	free(t->mean);
	free(t->mass);
	free(t->held);
}

/* How far each program is off, beyond its task's mean; returns the mean square of those held
 * back. */
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
		t->off[i] = log(t->sum[i]) - log(l->median_ns);
		if (!t->held[i]) {
			t->mean[t->task[i]] += t->weight[i] * t->off[i];
			t->mass[t->task[i]] += t->weight[i];
		}
	}
	for (uint32_t i = 0; i < t->n; i++) {
		t->off[i] -= t->mean[t->task[i]] / fmax(t->mass[t->task[i]], 1e-9);
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
		double w = t->held[i] ? 0 : 2 * t->weight[i];

		for (uint32_t k = 0; k < of->n; k++, row++) {
			double share = of->cycles[k] * exp((double)f[row]) / t->sum[i];

			t->grad[row] = (float)(w * t->off[i] * share);
			t->hess[row] = (float)(w * share);
		}
	}
}

/* Returns how many trees are best; 0 when none helps or xgboost refuses. */
static uint32_t boost(struct fit *t)
{
	double best = INFINITY;
	uint32_t n_best = 0;

	for (uint32_t round = 0; round <= ROUNDS && round <= n_best + PATIENCE; round++) {
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
		if (XGBoosterBoostOneIter(t->booster, t->matrix, t->grad, t->hess, n) != 0) {
			return 0;
		}
	}
	return n_best;
}

static bool update(struct hn_model *m, const struct hn_lesson *lesson, uint32_t n)
{
	struct fit t = {.lesson = lesson, .n = n};

	if (n < LEAST_LESSONS || n < m->n_lesson + m->n_lesson / 5) {
		return false;
	}
	m->n_lesson = n;
	uint32_t n_tree = prepare(&t, m) ? boost(&t) : 0;

	XGBoosterFree(m->booster);
	m->booster = t.booster;
	m->n_tree = n_tree;
	t.booster = NULL;
	finish(&t);
	return true;
}

extern const struct hn_model_ops hn_model_learned;
const struct hn_model_ops hn_model_learned = {.name = "learned",
					      .timed = true,
					      .create = create,
					      .destroy = destroy,
					      .predict = predict,
					      .update = update};
