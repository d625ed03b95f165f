/* bench/sizes.c -- a kernel whose sizes are parameters beside those made for each of the
 * sizes, with the same tiles, on one core: what it costs not to know them.  Both take turns in
 * one run, and their answers are compared first.
 *
 *   hone-bench sizes [WORD]   cases with the word in their name
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/contest.h"
#include "loopstate/dag/size.h"
#include "loopstate/read/dag_read.h"
#include "lower/lower.h"

#define MAX_ROWS 8
#define SECONDS 0.4 /* a size */
#define TOLERANCE 1e-4

struct sized_case {
	const char *name, *text, *steps;
	int64_t sizes[MAX_ROWS][3]; /* the first of a row is 0 = no more */
};

static const struct sized_case cases[] = {
	{ "matmul",
	  "f(N in [1, 1024], M in [1, 1024], K in [1, 1024], float32 A[N,K], float32 B[K,M])"
	  " -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	  "[[\"SP\",2,0,1024,[8],1],[\"SP\",2,2,1024,[32],1],[\"SP\",2,4,1024,[64],1],"
	  "[\"RE\",2,[0,2,4,5,1,3]],[\"AN\",2,5,2]]",
	  { { 1024, 1024, 1024 },
	    { 512, 512, 512 },
	    { 500, 500, 500 },
	    { 257, 257, 257 },
	    { 64, 64, 64 },
	    { 127, 96, 31 },
	    { 1, 1024, 1024 } } },
	{ "conv",
	  "f(N in [1, 4], H in [1, 64], W in [1, 64], float32 X[N,H,W,64], float32 "
	  "F[3,3,64,64]) -> C {"
	  " P(n,h,w,c) = h >= 1 && h < H + 1 && w >= 1 && w < W + 1 ? X(n,h-1,w-1,c) : 0"
	  " where h in 0:H + 2, w in 0:W + 2"
	  " C(n,h,w,f) +=! P(n,h+r,w+s,c) * F(r,s,c,f) }",
	  "[[\"CI\",2],[\"SP\",3,2,64,[7],1],[\"SP\",3,4,64,[32],1],"
	  "[\"RE\",3,[0,1,4,2,6,7,8,3,5]],[\"AN\",3,8,2]]",
	  { { 1, 56, 56 }, { 1, 28, 28 }, { 4, 14, 14 }, { 4, 7, 7 }, { 1, 57, 53 } } },
	{ "conv, pad copied",
	  "f(N in [1, 4], H in [1, 64], W in [1, 64], float32 X[N,H,W,64], float32 "
	  "F[3,3,64,64]) -> C {"
	  " P(n,h,w,c) = h >= 1 && h < H + 1 && w >= 1 && w < W + 1 ? X(n,h-1,w-1,c) : 0"
	  " where h in 0:H + 2, w in 0:W + 2"
	  " C(n,h,w,f) +=! P(n,h+r,w+s,c) * F(r,s,c,f) }",
	  "[[\"SP\",3,2,64,[7],1],[\"SP\",3,4,64,[32],1],"
	  "[\"RE\",3,[0,1,4,2,6,7,8,3,5]],[\"AN\",3,8,2]]",
	  { { 1, 56, 56 }, { 1, 28, 28 }, { 4, 14, 14 }, { 4, 7, 7 }, { 1, 57, 53 } } },
};

/* Largest difference of the last outputs of both, relative to the largest value. */
static double difference(struct hn_contest *t)
{
	uint32_t out = t->dag->n_arg - 1;
	int64_t n = hn_contest_elements(t, out);
	double top = 1e-30, most = 0;
	float *kept = malloc((size_t)n * sizeof(*kept));

	hn_assert(kept != NULL);
	t->contender[0].call(t->contender[0].ctx);
	memcpy(kept, t->arg[out], (size_t)n * sizeof(*kept));
	memset(t->arg[out], 0xff, (size_t)n * sizeof(*kept));
	t->contender[1].call(t->contender[1].ctx);
	for (int64_t i = 0; i < n; i++) {
		double d = fabs((double)kept[i] - (double)((const float *)t->arg[out])[i]);

		top = fmax(top, fabs((double)kept[i]));
		most = d <= most ? most : d; /* NaN is larger */
	}
	free(kept);
	return most / top;
}

static int one_size(const struct sized_case *c, const struct hn_dag *dag,
		    const int64_t *sizes, struct hn_emitter *emitter, struct hn_err *err)
{
	struct hn_race_result result[2];
	struct hn_contest t = { .n_threads = 1 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = hn_dag_instantiate(dag, sizes, &a, &t.dag, err);

	if (rc == 0) {
		hn_contest_arguments(&t, &a);
		rc = hn_contest_hone(&t, emitter, "numbers", c->steps, err);
		rc = rc ? rc
			: hn_contest_sized(&t, emitter, "sizes", dag, sizes, c->steps, err);
		if (rc == 0 && !(difference(&t) <= TOLERANCE)) {
			rc = hn_fail(err, HONE_E_INTERNAL, "the two kernels differ");
		}
		if (rc == 0) {
			hn_race(t.contender, 2, 0, SECONDS, result);
			const char *context = hn_arena_printf(
				&a,
				"\"case\": \"%s\", \"sizes\": [%lld, %lld, %lld], "
				"\"us_numbers\": %.2f, \"us_sizes\": %.2f",
				c->name, (long long)sizes[0], (long long)sizes[1],
				(long long)sizes[2], hn_race_ns(&result[0]) / 1e3,
				hn_race_ns(&result[1]) / 1e3);
			hn_bench_row("sizes/ratio", hn_race_ratio(&result[0], &result[1]),
				     "time of numbers", context);
		}
		hn_contest_close(&t);
		hn_contest_drop_arguments(&t);
	}
	hn_arena_fini(&a);
	return rc;
}

static int one_case(const struct sized_case *c, struct hn_emitter *emitter,
		    struct hn_err *err)
{
	const struct hn_dag *dag;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = hn_dag_parse_sized(c->name, c->text, strlen(c->text), 0, &a, &dag, err);

	for (uint32_t i = 0; rc == 0 && i < MAX_ROWS && c->sizes[i][0] > 0; i++) {
		rc = one_size(c, dag, c->sizes[i], emitter, err);
	}
	hn_arena_fini(&a);
	return rc;
}

int hn_bench_sizes(const struct hn_bench_args *args);

int hn_bench_sizes(const struct hn_bench_args *args)
{
	const char *word = args->argc > 0 ? args->argv[0] : "";
	struct hn_emitter *emitter;
	struct hn_target host;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	int rc = hn_emitter_new(&host, &emitter, &err);

	for (size_t i = 0; rc == 0 && i < HN_COUNT_OF(cases); i++) {
		if (strstr(cases[i].name, word)) {
			rc = one_case(&cases[i], emitter, &err);
		}
	}
	if (rc == 0) {
		hn_emitter_free(emitter);
	} else {
		fprintf(stderr, "hone-bench: sizes: %s\n", err.msg);
	}
	hn_arena_fini(&a);
	return rc ? 1 : 0;
}
