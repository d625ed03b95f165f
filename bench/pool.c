/* bench/pool.c -- what one parallel loop costs beyond its work: fork and join of an empty
 * loop on the kernels' thread pool, beside libgomp's on the same cores in the same run.
 *
 * The two take turns, round by round, and each is given its threads anew in every round,
 * because idle threads of one would spin against the other's.  Without OpenMP in the
 * compiler only hone's row is printed, and a note says so. */
#include <stdio.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/clock.h"
#include "bench/bench.h"
#include "measure/board/pool.h"

#define N_ROUND 15
#define N_LOOP 4000

/* What every iteration must do, or the loop would be optimised away: count itself. */
struct counts {
	_Alignas(128) volatile int64_t n[64][16];
};

static void count(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	struct counts *c = closure;

	c->n[worker & 63][0] += end - begin;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

static int hone_round(int32_t workers, struct counts *c, double *ret_ns)
{
	struct hone_pool *pool;
	struct hn_err err;

	if (hn_kernel_pool_new(workers, NULL, NULL, &pool, &err) != 0) {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
		return 1;
	}
	for (int i = 0; i < N_LOOP / 10; i++) {
		hone_pool_run(pool, count, c, workers);
	}
	int64_t begin = hn_clock_ns();
	for (int i = 0; i < N_LOOP; i++) {
		hone_pool_run(pool, count, c, workers);
	}
	*ret_ns = (double)(hn_clock_ns() - begin) / N_LOOP;
	hone_pool_destroy(pool);
	return 0;
}

#ifdef _OPENMP
static void gomp_loops(int32_t workers, struct counts *c, int loops)
{
	for (int i = 0; i < loops; i++) {
#pragma omp parallel for schedule(static) num_threads(workers)
		for (int32_t k = 0; k < workers; k++) {
			count(c, k, k + 1, k);
		}
	}
}

/* libgomp as a user meets it: default settings, threads kept between loops. */
static double gomp_round(int32_t workers, struct counts *c)
{
	double ns;

	gomp_loops(workers, c, N_LOOP / 10);
	int64_t begin = hn_clock_ns();
	gomp_loops(workers, c, N_LOOP);
	ns = (double)(hn_clock_ns() - begin) / N_LOOP;
	omp_pause_resource_all(omp_pause_hard);
	return ns;
}
#endif

int hn_bench_pool(const struct hn_bench_args *args);

int hn_bench_pool(const struct hn_bench_args *args)
{
	static struct counts c;
	int32_t workers = hone_pool_cpus();
	double hone[N_ROUND], gomp[N_ROUND];
	char context[160];

	(void)args;
	workers = workers > 64 ? 64 : workers;
	for (int r = 0; r < N_ROUND; r++) {
		if (hone_round(workers, &c, &hone[r]) != 0) {
			return 1;
		}
#ifdef _OPENMP
		gomp[r] = gomp_round(workers, &c);
#endif
	}
	snprintf(context, sizeof(context), "\"workers\": %d, \"loops\": %d", workers,
		 N_ROUND * N_LOOP);
	hn_bench_row("pool.fork_join", median(hone, N_ROUND), "ns", context);
#ifdef _OPENMP
	hn_bench_row("pool.fork_join_libgomp", median(gomp, N_ROUND), "ns", context);
	hn_bench_row("pool.hone_over_libgomp", hone[N_ROUND / 2] / gomp[N_ROUND / 2],
		     "ratio", context);
#else
	(void)gomp;
	fputs("hone-bench: built without OpenMP: no row for libgomp\n", stderr);
#endif
	return 0;
}
