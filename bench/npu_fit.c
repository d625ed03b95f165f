/* bench/npu_fit.c -- constants of the simulated NPU that fit half of the published times, and what they
 * make of the other half.
 *
 * A constant is free where its row of profiles.def is an assumption, or another machine's number
 * (npu_free.def).  No constant is of a case.  From the profile's values one step of one constant is
 * taken after the other, the best first, as long as the mean |log2| of the half's ratios falls;
 * each class of cases counts as much as the other.
 *
 * The half that is told is every other case of each class in the order of the table, from the first
 * on.  Cases of the same computation are in the same half.  That it is no luck is shown by the same
 * with drawn halves.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "bench/bench.h"
#include "bench/npu.h"

#define DRAWN 200 /* halves */
#define MOST_STEPS 8

static const struct {
	const char *name;
	size_t at; /* in the profile */
	int64_t value[MOST_STEPS]; /* 0: none */
} constants[] = {
#define FREE(name, ...) { #name, offsetof(struct hn_npu_profile, name), { __VA_ARGS__ } },
#include "bench/npu_free.def"
};

#define N HN_COUNT_OF(constants)

struct point {
	uint8_t step[N];
	double cycles[HN_NPU_MOST_CASES];
	struct point *next;
};

struct fit {
	const struct hn_npu_profile *m;
	struct hn_npu_case c[HN_NPU_MOST_CASES];
	size_t n, same[HN_NPU_MOST_CASES]; /* same: the first case of that computation */
	struct point *seen; /* what was simulated */
	uint32_t n_seen;
	struct hn_arena a;
};

static void profile_of(const struct fit *f, const uint8_t *step, struct hn_npu_profile *ret)
{
	*ret = *f->m;
	for (size_t i = 0; i < N; i++) {
		memcpy((char *)ret + constants[i].at, &constants[i].value[step[i]], sizeof(int64_t));
	}
}

static int at(struct fit *f, const uint8_t *step, const struct point **ret, struct hn_err *err)
{
	struct hn_npu_profile m;
	struct point *p = f->seen;
	int rc = 0;

	while (p != NULL && memcmp(p->step, step, N) != 0) {
		p = p->next;
	}
	if (p == NULL) {
		p = HN_NEW(&f->a, struct point);
		memcpy(p->step, step, N);
		profile_of(f, step, &m);
		for (size_t i = 0; i < f->n && rc == 0; i++) {
			rc = hn_npu_case_cycles(&f->c[i], f->c[i].p, &m, &p->cycles[i], err);
		}
		p->next = f->seen;
		f->seen = p;
		f->n_seen++;
	}
	*ret = p;
	return rc;
}

/* What is made smaller: of the cases in `half`. */
static double off(const struct fit *f, const struct point *p, const bool *half)
{
	double sum[HN_NPU_N_CLASS] = { 0 }, count[HN_NPU_N_CLASS] = { 0 }, all = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (half[i]) {
			sum[f->c[i].class] += fabs(log2(p->cycles[i] / f->c[i].published));
			count[f->c[i].class]++;
		}
	}
	for (int i = 0; i < HN_NPU_N_CLASS; i++) {
		all += count[i] > 0 ? sum[i] / count[i] : 0;
	}
	return all;
}

/* The steps of the profile's own values. */
static void begin(const struct fit *f, uint8_t *step)
{
	for (size_t i = 0; i < N; i++) {
		int64_t v;

		memcpy(&v, (const char *)f->m + constants[i].at, sizeof(v));
		step[i] = 0;
		while (step[i] + 1 < MOST_STEPS && constants[i].value[step[i]] != v) {
			step[i]++;
		}
	}
}

/* The best of the steps by one from p: the same point where none is better. */
static int better(struct fit *f, const bool *half, const struct point *p, const struct point **ret,
		  struct hn_err *err)
{
	int rc = 0;

	*ret = p;
	for (size_t i = 0; i < 2 * N && rc == 0; i++) {
		uint8_t step[N];
		const struct point *q;
		int to = p->step[i / 2] + (i % 2 == 0 ? -1 : 1);

		if (to < 0 || to >= MOST_STEPS || constants[i / 2].value[to] == 0) {
			continue;
		}
		memcpy(step, p->step, N);
		step[i / 2] = (uint8_t)to;
		rc = at(f, step, &q, err);
		if (rc == 0 && off(f, q, half) < off(f, *ret, half)) {
			*ret = q;
		}
	}
	return rc;
}

static int descend(struct fit *f, const bool *half, const struct point **ret, struct hn_err *err)
{
	const struct point *p = NULL, *next = NULL;
	uint8_t step[N];
	int rc;

	begin(f, step);
	rc = at(f, step, &next, err);
	while (rc == 0 && next != p) {
		p = next;
		rc = better(f, half, p, &next, err);
	}
	*ret = p;
	return rc;
}

/* Rank correlation and median of a class's cases that are in the half, or not. */
static void judge(const struct fit *f, const struct point *p, const bool *half, bool in, uint8_t class,
		  double *ret_rank, double *ret_off)
{
	double x[HN_NPU_MOST_CASES], y[HN_NPU_MOST_CASES];
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (f->c[i].class == class && half[i] == in) {
			x[n] = p->cycles[i];
			y[n++] = f->c[i].published;
		}
	}
	*ret_rank = hn_npu_spearman(x, y, n);
	*ret_off = hn_npu_median_off(x, y, n);
}

static void put(const char *what, const char *half, double rank, double median)
{
	char context[160];

	snprintf(context, sizeof(context), "\"cases\": \"%s\", \"half\": \"%s\"", what, half);
	hn_bench_row("npu", rank, "rank correlation with published times", context);
	hn_bench_row("npu", median, "median of |log2| of the ratios", context);
}

static int told(struct fit *f, struct hn_err *err)
{
	bool half[HN_NPU_MOST_CASES];
	size_t count[HN_NPU_N_CLASS] = { 0 };
	const struct point *p;
	double rank, median;
	int rc;

	for (size_t i = 0; i < f->n; i++) {
		half[i] = f->same[i] == i ? count[f->c[i].class]++ % 2 == 0 : half[f->same[i]];
	}
	rc = descend(f, half, &p, err);
	for (size_t i = 0; i < N && rc == 0; i++) {
		char context[80];

		snprintf(context, sizeof(context), "\"constant\": \"%s\"", constants[i].name);
		hn_bench_row("npu", (double)constants[i].value[p->step[i]], "fits the half", context);
	}
	for (uint8_t class = 0; class < HN_NPU_N_CLASS && rc == 0; class++) {
		judge(f, p, half, true, class, &rank, &median);
		put(hn_npu_class_name[class], "fitted", rank, median);
		judge(f, p, half, false, class, &rank, &median);
		put(hn_npu_class_name[class], "other", rank, median);
	}
	return rc;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void spread(const char *what, const char *unit, double *v)
{
	static const int percent[] = { 0, 10, 50, 90, 100 };

	qsort(v, DRAWN, sizeof(v[0]), by_value);
	for (size_t i = 0; i < HN_COUNT_OF(percent); i++) {
		char context[160];

		snprintf(context, sizeof(context), "\"cases\": \"%s\", \"half\": \"other, of %d drawn\", "
			 "\"percentile\": %d", what, DRAWN, percent[i]);
		hn_bench_row("npu", v[(DRAWN - 1) * percent[i] / 100], unit, context);
	}
}

/* As many computations of each class as in the half that is told. */
static void draw(const struct fit *f, struct hn_rng *rng, bool *half)
{
	size_t left[HN_NPU_N_CLASS] = { 0 }, want[HN_NPU_N_CLASS];

	for (size_t i = 0; i < f->n; i++) {
		left[f->c[i].class] += f->same[i] == i;
	}
	for (int k = 0; k < HN_NPU_N_CLASS; k++) {
		want[k] = (left[k] + 1) / 2;
	}
	for (size_t i = 0; i < f->n; i++) {
		uint8_t class = f->c[i].class;

		if (f->same[i] != i) {
			half[i] = half[f->same[i]];
			continue;
		}
		half[i] = hn_rng_below(rng, left[class]--) < want[class];
		want[class] -= half[i];
	}
}

static int drawn(struct fit *f, struct hn_err *err)
{
	double rank[HN_NPU_N_CLASS][DRAWN], median[HN_NPU_N_CLASS][DRAWN];
	struct hn_rng rng = hn_rng_stream(20, 0, 0, 0);
	int rc = 0;

	for (int i = 0; i < DRAWN && rc == 0; i++) {
		bool half[HN_NPU_MOST_CASES];
		const struct point *p;

		draw(f, &rng, half);
		rc = descend(f, half, &p, err);
		for (uint8_t class = 0; class < HN_NPU_N_CLASS && rc == 0; class++) {
			judge(f, p, half, false, class, &rank[class][i], &median[class][i]);
		}
	}
	for (int class = 0; class < HN_NPU_N_CLASS && rc == 0; class++) {
		spread(hn_npu_class_name[class], "rank correlation with published times", rank[class]);
		spread(hn_npu_class_name[class], "median of |log2| of the ratios", median[class]);
	}
	return rc;
}

int hn_bench_npu_fit(const struct hn_npu_profile *m, struct hn_err *err)
{
	struct fit f = { .m = m };
	int rc;

	hn_arena_init(&f.a, 0);
	rc = hn_npu_cases(m, &f.a, f.c, &f.n, err);
	for (size_t i = 0; i < f.n && rc == 0; i++) {
		while (strcmp(f.c[f.same[i]].name, f.c[i].name) != 0) {
			f.same[i]++;
		}
	}
	rc = rc ? rc : told(&f, err);
	rc = rc ? rc : drawn(&f, err);
	if (rc == 0) {
		hn_bench_row("npu", f.n_seen, "sets of constants simulated", "");
	}
	hn_arena_fini(&f.a);
	return rc;
}
