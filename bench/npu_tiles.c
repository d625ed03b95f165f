/* bench/npu_tiles.c -- tiles that AKG's authors published beside hone's, as programs of hone on the same
 * machine: products with the best split over cores and number of slots for either, and
 * convolutions with the best of 32 tiles.
 */
#include <math.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/npu.h"
#include "target/npu/npu_run.h"

static const struct hn_npu_product products[] = {
#define TILED(rows, columns, terms, m0_, n0_, k1_, k0_)                                       \
	{ .m = rows, .n = columns, .k = terms, .result = HN_F32, .cores_m = 1, .cores_n = 1,  \
	  .m0 = m0_, .n0 = n0_, .k0 = k0_, .k1 = k1_, .slots_l1 = 2, .slots_l0 = 2,            \
	  .slots_l0c = 2, .order = HN_NPU_FLAGS },
#include "bench/npu_published.def"
};

/* Of the one or the other; 0: it has no program. */
static double cycles_of(const struct hn_npu_product *p, const struct hn_npu_conv *c,
			const struct hn_npu_profile *m)
{
	const struct hn_npu_options o = { 0 };
	const struct hn_npu_program *code;
	struct hn_npu_result r;
	struct hn_err err;
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, 0);
	rc = p != NULL ? hn_npu_product(p, m, &a, &code, NULL, &err) : hn_npu_conv(c, m, &a, &code, &err);
	rc = rc ? rc : hn_npu_run(code, m, &o, &a, &r, &err);
	hn_arena_fini(&a);
	return rc != 0 ? 0 : (double)(p != NULL ? r.cycles : r.core_cycles);
}

static void take(double cycles, double *least)
{
	*least = cycles > 0 && (*least == 0 || cycles < *least) ? cycles : *least;
}

/* 0: no split and no slots have a program.  All cores that have tiles work. */
static double best_split(const struct hn_npu_product *tiles, const struct hn_npu_profile *m)
{
	struct hn_npu_product p = *tiles;
	double least = 0;

	for (p.cores_m = 1; p.cores_m <= m->cores && p.m % (p.cores_m * p.m0) == 0; p.cores_m *= 2) {
		p.cores_n = m->cores / p.cores_m;
		while (p.cores_n > 1 && p.n % (p.cores_n * p.n0) != 0) {
			p.cores_n /= 2;
		}
		for (uint32_t slots = 0; slots < 4; slots++) {
			p.slots_l1 = 1 + slots % 2;
			p.slots_l0c = 1 + slots / 2;
			take(cycles_of(&p, NULL, m), &least);
		}
	}
	return least;
}

static double best_plan(const struct hn_npu_product *size, const struct hn_npu_profile *m)
{
	struct hn_npu_product p[HN_NPU_MOST_PLANS], like = *size;
	uint32_t n = hn_npu_product_plans(m, &like, HN_NPU_MOST_PLANS, p);
	double least = 0;

	for (uint32_t i = 0; i < n; i++) {
		take(cycles_of(&p[i], NULL, m), &least);
	}
	return least;
}

static double best_tiles(const struct hn_npu_conv *c, const struct hn_npu_profile *m)
{
	static const int64_t wide[] = { 64, 256 }, terms[] = { 64, 128 }, windows[] = { 128, 512 };
	struct hn_npu_conv t = *c;
	double least = 0;

	/* weights past L1, a fractal at a time, never pay on this machine */
	t.bypass = false;
	for (size_t i = 0; i < 32; i++) {
		t.cut_n = wide[i % 2] < c->results ? wide[i % 2] : c->results;
		t.cut_k = terms[i / 2 % 2];
		t.cut_m = windows[i / 4 % 2];
		t.cut_h = i & 8 ? c->height : (c->height + 3) / 4 + c->window - 1;
		t.cut_co = i & 16 ? c->results : t.cut_n;
		take(cycles_of(NULL, &t, m), &least);
	}
	return least;
}

static void put(const char *name, const char *profile, double published, double theirs, double ours)
{
	char context[300];

	snprintf(context, sizeof(context), "\"case\": \"%.79s\", \"profile\": \"%.20s\", \"published\": %.0f, "
		 "\"published_tiles\": %.0f, \"own_tiles\": %.0f", name, profile, published, theirs, ours);
	hn_bench_row("npu", theirs / ours, "cycles with published tiles, of those with hone's", context);
}

int hn_bench_npu_tiles(const struct hn_npu_profile *m, struct hn_err *err)
{
	struct hn_npu_case c[HN_NPU_MOST_CASES];
	double gain[2] = { 0 };
	struct hn_arena a;
	size_t n, count[2] = { 0 };
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_npu_cases(m, &a, c, &n, err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		bool product = i < HN_COUNT_OF(products);
		double theirs = 0, ours;

		if (!product && c[i].conv == NULL) {
			continue;
		}
		if (!product) {
			rc = hn_npu_case_cycles(&c[i], c[i].p, m, &theirs, err);
		}
		theirs = product ? best_split(&products[i], m) : theirs;
		ours = product ? best_plan(&products[i], m) : best_tiles(c[i].conv, m);
		if (rc == 0 && theirs > 0 && ours > 0) {
			put(c[i].name, m->name, c[i].published, theirs, ours);
			gain[product] += log(theirs / ours);
			count[product]++;
		}
	}
	for (int k = 0; k < 2 && rc == 0; k++) {
		char context[160];

		snprintf(context, sizeof(context), "\"cases\": \"%s\", \"n\": %zu, \"profile\": \"%s\"",
			 k == 1 ? "products" : hn_npu_class_name[HN_NPU_CONVOLUTION], count[k], m->name);
		hn_bench_row("npu", exp(gain[k] / (double)count[k]),
			     "cycles with published tiles, of those with hone's, geometric mean", context);
	}
	hn_arena_fini(&a);
	return rc;
}
