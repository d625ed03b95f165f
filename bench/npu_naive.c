/* bench/npu_naive.c -- the simulated NPU's tuned programs beside naive ones, in three degrees:
 *
 *   barriers  the same fused program of the largest tiles, `barrier all` behind each instruction
 *   ops       each op by itself through global memory, largest tiles (lower/npu/naive.h)
 *   naive     each op by itself, a row or a repeat at a time, products by 16 x 16 x 16
 *
 * Over the published cases, and what has a program of the kernels of AKG that are there.  Products
 * are row by row, for of fractals the naive product has none.  A convolution's tuned program has the
 * published tiles, and the other ones tiles of 16.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/npu.h"
#include "graph/akg/import.h"
#include "graph/net/net.h"
#include "loopstate/read/dag_read.h"
#include "lower/npu/naive.h"
#include "lower/npu/task.h"
#include "target/npu/npu_run.h"

enum degree { BARRIERS, OPS, NAIVE, N_DEGREE };

static const char *const degree_name[N_DEGREE] = { "barriers", "ops", "naive" };

enum group { PRODUCTS, FUSED, CONVOLUTIONS, AKG, ALL, LONG, N_GROUP };

static const char *const group_name[N_GROUP] = { "products", "fused operators", "convolutions on one core",
						 "tasks of AKG's kernels", "all",
						 "all that take two launches or more when tuned" };

struct tally {
	double log[N_GROUP][N_DEGREE], least[N_GROUP][N_DEGREE];
	uint32_t n[N_GROUP];
};

static void count(struct tally *t, enum group g, const char *name, const struct hn_npu_profile *m,
		  double tuned, const double *cycles)
{
	const enum group in[] = { g, ALL, LONG };
	uint32_t n_in = tuned < 2 * (double)m->launch ? 2 : 3;

	for (int d = 0; d < N_DEGREE; d++) {
		double gain = cycles[d] / tuned;
		char context[300];

		snprintf(context, sizeof(context), "\"case\": \"%.120s\", \"program\": \"%s\", \"tuned_cycles\": %.0f, "
			 "\"cycles\": %.0f", name, degree_name[d], tuned, cycles[d]);
		hn_bench_row("npu", gain, "times as fast when tuned", context);
		for (uint32_t k = 0; k < n_in; k++) {
			enum group of = in[k];

			t->log[of][d] += log(gain);
			t->least[of][d] = t->n[of] == 0 || gain < t->least[of][d] ? gain : t->least[of][d];
			t->n[of] += d + 1 == N_DEGREE;
		}
	}
}

static int timed(const struct hn_npu_program *p, const struct hn_npu_profile *m, struct hn_arena *a,
		 double *ret, struct hn_err *err)
{
	const struct hn_npu_options o = { 0 };
	struct hn_npu_result r;
	int rc = hn_npu_run(p, m, &o, a, &r, err);

	*ret = (double)r.cycles;
	return rc;
}

static int of_steps(const struct hn_dag *dag, const struct hn_npu_profile *m, enum hn_npu_tile tile,
		    struct hn_arena *a, double *ret, struct hn_err *err)
{
	const struct hn_npu_steps *s;
	int64_t cycles = 0;
	int rc = hn_npu_naive(dag, m, tile, a, &s, err);

	rc = rc ? rc : hn_npu_naive_run(s, m, NULL, &cycles, err);
	*ret = (double)cycles;
	return rc;
}

/* HONE_E_UNSUPPORTED: it has no program. */
static int of_dag(struct tally *t, enum group g, const char *name, const struct hn_dag *dag,
		  const struct hn_npu_profile *m, struct hn_err *err)
{
	static const struct hn_npu_plan barriers = { .order = HN_NPU_BARRIERS, .slots = 1 };
	double cycles[N_DEGREE], tuned = 0;
	const struct hn_npu_program *p;
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_npu_tuned(dag, m, &a, &p, err);
	rc = rc ? rc : timed(p, m, &a, &tuned, err);
	rc = rc ? rc : hn_npu_program(dag, m, &barriers, &a, &p, err);
	rc = rc ? rc : timed(p, m, &a, &cycles[BARRIERS], err);
	rc = rc ? rc : of_steps(dag, m, HN_NPU_MOST, &a, &cycles[OPS], err);
	rc = rc ? rc : of_steps(dag, m, HN_NPU_LEAST, &a, &cycles[NAIVE], err);
	hn_arena_fini(&a);
	if (rc == 0) {
		count(t, g, name, m, tuned, cycles);
	}
	return rc;
}

static int of_convolution(struct tally *t, const struct hn_npu_case *c, const struct hn_npu_profile *m,
			  struct hn_err *err)
{
	struct hn_npu_conv barriers = *c->conv, naive = *c->conv;
	const struct hn_npu_program *p;
	double cycles[N_DEGREE], tuned;
	struct hn_arena a;
	int rc;

	barriers.order = naive.order = HN_NPU_BARRIERS;
	naive.cut_h = naive.window;
	naive.cut_co = naive.cut_m = naive.cut_k = naive.cut_n = 16;
	naive.bypass = false;
	hn_arena_init(&a, 0);
	rc = hn_npu_case_cycles(c, c->p, m, &tuned, err);
	rc = rc ? rc : hn_npu_conv(&barriers, m, &a, &p, err);
	rc = rc ? rc : hn_npu_case_cycles(c, p, m, &cycles[BARRIERS], err);
	cycles[OPS] = cycles[BARRIERS]; /* it is one op */
	rc = rc ? rc : hn_npu_conv(&naive, m, &a, &p, err);
	rc = rc ? rc : hn_npu_case_cycles(c, p, m, &cycles[NAIVE], err);
	hn_arena_fini(&a);
	if (rc == 0) {
		count(t, CONVOLUTIONS, c->name, m, tuned, cycles);
	}
	return rc;
}

static const struct {
	long long m, n, k;
} products[] = {
#define TILED(m, n, k, m0, n0, k1, k0) { m, n, k },
#include "bench/npu_published.def"
};

static int of_product(struct tally *t, size_t i, const struct hn_npu_profile *m, struct hn_err *err)
{
	long long rows = products[i].m, columns = products[i].n, terms = products[i].k;
	const struct hn_dag *dag;
	struct hn_arena a;
	char name[80], text[300];
	int n, rc;

	snprintf(name, sizeof(name), "product:%lldx%lldx%lld", rows, columns, terms);
	n = snprintf(text, sizeof(text), "f(float16 A[%lld,%lld], float16 B[%lld,%lld]) -> Y { Y(i,j) +=! "
		     "float32(A(i,k)) * float32(B(k,j)) }", rows, terms, terms, columns);
	hn_arena_init(&a, 0);
	rc = hn_dag_from_text(name, text, (size_t)n, 0, &a, &dag, err);
	rc = rc ? rc : of_dag(t, PRODUCTS, name, dag, m, err);
	hn_arena_fini(&a);
	return rc;
}

/* No product, nor a program as it is.  What has no naive program is told. */
static void of_fused(struct tally *t, const struct hn_npu_case *c, const struct hn_npu_profile *m,
		     struct hn_arena *a)
{
	struct hn_npu_product p;
	const char *why = NULL;
	struct hn_err err = { 0 };

	if (c->dag != NULL && !hn_npu_task_of(c->dag, a, &p, &why) &&
	    of_dag(t, FUSED, c->name, c->dag, m, &err) != 0) {
		fprintf(stderr, "hone-bench npu naive: %s: left out: %s\n", c->name, err.msg);
	}
}

static int published(struct tally *t, const struct hn_npu_profile *m, struct hn_err *err)
{
	struct hn_npu_case c[HN_NPU_MOST_CASES];
	struct hn_arena a;
	size_t n;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_npu_cases(m, &a, c, &n, err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (c[i].conv != NULL) {
			rc = of_convolution(t, &c[i], m, err);
		} else {
			of_fused(t, &c[i], m, &a);
		}
	}
	for (size_t i = 0; i < HN_COUNT_OF(products) && rc == 0; i++) {
		rc = of_product(t, i, m, err);
	}
	hn_arena_fini(&a);
	return rc;
}

/* Its tasks, cut as the target has them, that have programs: what has none is told elsewhere. */
static void of_kernel(struct tally *t, const char *folder, const char *file, const struct hn_npu_profile *m)
{
	const struct hn_net_choice fused = { .rival = hn_rival_fused(), .whole = true };
	struct hn_import im = { 0 };
	struct hn_err err = { 0 };
	struct hn_akg *k = NULL;
	struct hn_graph g;
	struct hn_arena a;
	struct hn_net net;
	char path[4400];

	snprintf(path, sizeof(path), "%.4000s/%.255s", folder, file);
	hn_arena_init(&a, 0);
	hn_graph_init(&g, &a, "kernel", &err);
	if (hn_akg_open(path, &k, &err) == 0 && hn_akg_import(k, &im, &g, &err) == 0 &&
	    hn_net_make_by(&g, &fused, &net, &err) == 0) {
		for (uint32_t i = 0; i < net.n_task; i++) {
			char name[200];

			snprintf(name, sizeof(name), "%.3s %.80s", file, net.task[i].name);
			(void)of_dag(t, AKG, name, net.task[i].dag, m, &err);
		}
	}
	hn_akg_close(k);
	hn_arena_fini(&a);
}

static int is_kernel(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');

	return dot != NULL && (strcmp(dot, ".info") == 0 || strcmp(dot, ".json") == 0);
}

static void kernels(struct tally *t, const char *cases, const struct hn_npu_profile *m)
{
	struct dirent **file = NULL;
	char folder[4000];
	int n;

	snprintf(folder, sizeof(folder), "%s/akg", cases);
	n = scandir(folder, &file, is_kernel, alphasort);
	if (n < 0) {
		fprintf(stderr, "hone-bench npu naive: %s is not there: without kernels of AKG\n", folder);
		return;
	}
	for (int i = 0; i < n; i++) {
		of_kernel(t, folder, file[i]->d_name, m);
		free(file[i]);
	}
	free(file);
}

int hn_bench_npu_naive(const struct hn_npu_profile *m, const char *cases, struct hn_err *err)
{
	struct tally t = { 0 };
	int rc = published(&t, m, err);

	if (rc != 0) {
		return rc;
	}
	kernels(&t, cases, m);
	for (int g = 0; g < N_GROUP; g++) {
		for (int d = 0; d < N_DEGREE && t.n[g] > 0; d++) {
			char context[200];

			snprintf(context, sizeof(context), "\"cases\": \"%s\", \"n\": %u, \"program\": \"%s\", "
				 "\"profile\": \"%s\", \"least\": %.2f", group_name[g], t.n[g], degree_name[d], m->name,
				 t.least[g][d]);
			hn_bench_row("npu", exp(t.log[g][d] / t.n[g]), "times as fast when tuned, geometric mean",
				     context);
		}
	}
	return 0;
}
