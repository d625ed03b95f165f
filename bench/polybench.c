/* bench/polybench.c -- hone's automatic schedule against compilers on PolyBench's kernels.
 *
 *     hone-bench polybench [--case GLOB] [--budget S]
 *
 * For each kernel: the schedule that hone makes without measuring anything (search/auto.h), and
 * the plain loop nests of bench/polybench/ as gcc and clang with Polly compile them, take turns
 * in one process on the same buffers.  A row a kernel: polybench, the time of the fastest of
 * Polly's over hone's, with every compiler's own ratio; polybench.summary at the end.
 */
#include <dlfcn.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "bench/bench.h"
#include "bench/history.h"
#include "bench/judge.h"
#include "bench/team.h"
#include "loopstate/read/dag_read.h"
#include "lower/lower.h"
#include "target/target.h"

static const struct {
	const char *name, *file;
} kernels[] = {
#define KERNEL(name, file) { #name, file },
#include "bench/polybench/kernels.def"
#undef KERNEL
};

/* CMakeLists.txt has their flags. */
static const struct {
	const char *name;
	bool polly;
} compilers[] = { { "gcc", false },
		  { "gcc-fast", false },
		  { "polly", true },
		  { "polly-early", true },
		  { "polly-threads", true } };

struct bench {
	const char *pattern, *examples;
	double budget;
	int32_t threads;
	struct hn_emitter *emitter;
	struct hn_target target;
	void *nests[HN_COUNT_OF(compilers)]; /* NULL: not built */
	double log_sum, least; /* of hone over Polly */
	uint32_t n;
};

typedef void (*nest_fn)(float *const *arg);

struct nest {
	nest_fn fn;
	void *const *arg;
};

static void call_nest(void *ctx)
{
	const struct nest *n = ctx;

	n->fn((float *const *)n->arg);
}

static void open_nests(const struct hn_bench_args *args, struct bench *b)
{
	for (size_t i = 0; i < HN_COUNT_OF(compilers); i++) {
		char path[600];

		snprintf(path, sizeof(path), "%s/nests-%s.so", args->nests,
			 compilers[i].name);
		b->nests[i] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (b->nests[i] == NULL) {
			fprintf(stderr,
				"hone-bench: polybench: not compared with %s: %s\n"
				"hone-bench: ./bootstrap bench installs its compiler\n",
				compilers[i].name, dlerror());
		}
	}
}

static void close_nests(struct bench *b)
{
	for (size_t i = 0; i < HN_COUNT_OF(compilers); i++) {
		if (b->nests[i] != NULL) {
			dlclose(b->nests[i]);
		}
	}
}

static void enter_nests(const struct bench *b, struct hn_contest *t, const char *kernel)
{
	for (size_t i = 0; i < HN_COUNT_OF(compilers); i++) {
		struct hn_contender *c;
		struct nest *n;
		char symbol[100];

		if (b->nests[i] == NULL) {
			continue;
		}
		n = calloc(1, sizeof(*n));
		hn_assert(n != NULL);
		snprintf(symbol, sizeof(symbol), "polybench_%s", kernel);
		n->fn = (nest_fn)dlsym(b->nests[i], symbol);
		hn_assert(n->fn != NULL);
		n->arg = t->arg;
		c = hn_contest_add(t, compilers[i].name);
		c->ctx = n;
		c->call = call_nest;
		c->close = free;
	}
}

static bool is_polly(const char *contender)
{
	return strncmp(contender, "polly", 5) == 0;
}

static void report(struct bench *b, const struct hn_contest *t,
		   const struct hn_race_result *r, const struct hn_judgement *j)
{
	double least = INFINITY, ns = hn_race_ns(&r[0]);
	struct hn_buf context;

	hn_buf_init(&context);
	hn_buf_printf(&context, "\"case\": \"%s\", \"threads\": %d, \"ms\": %.3f, "
		      "\"gflops\": %.1f, \"error\": %.2g, \"rounds\": %u",
		      t->row->name, t->n_threads, ns * 1e-6, hn_dag_flops(t->dag) / ns,
		      j[0].error, r[0].n_round);
	for (uint32_t i = 1; i < t->n; i++) {
		double ratio = hn_race_ratio(&r[0], &r[i]);

		hn_buf_printf(&context, ", \"%s\": %.3f, \"%s error\": %.2g",
			      t->contender[i].name, ratio, t->contender[i].name,
			      j[i].error);
		if (is_polly(t->contender[i].name) && hn_judged_right(&j[i])) {
			least = fmin(least, ratio);
		}
	}
	hn_bench_row("polybench", isfinite(least) ? least : 0, "x of Polly", context.s);
	hn_buf_fini(&context);
	if (isfinite(least)) {
		b->log_sum += log(least);
		b->least = fmin(b->least, least);
		b->n++;
	}
}

/* hone's automatic schedule of the contest's dag. */
static int enter_hone(const struct bench *b, struct hn_contest *t, struct hn_arena *a,
		      struct hn_err *err)
{
	struct hn_histories of;

	hn_history_of_auto(t->dag, &b->target, a, &of);
	return hn_contest_hone(t, b->emitter, "hone", of.steps[0], err);
}

/* The contest on a pool of its own. */
static int hold_contest(struct bench *b, struct hn_contest *t, const char *kernel,
			struct hn_arena *a, struct hn_err *err)
{
	struct hn_race_result result[HN_RACE_MAX_CONTENDER];
	struct hn_judgement judgement[HN_RACE_MAX_CONTENDER];
	int rc = hn_contest_pool(t, err);

	if (rc != 0) {
		return rc;
	}
	hn_team_pin(t->n_threads);
	rc = enter_hone(b, t, a, err);
	if (rc == 0) {
		enter_nests(b, t, kernel);
		if (!hn_judge_all(t, judgement)) {
			rc = hn_fail(err, HONE_E_INTERNAL, "hone's numbers are wrong");
		}
	}
	if (rc == 0) {
		hn_race(t->contender, t->n, 0, b->budget, result);
		report(b, t, result, judgement);
	}
	hn_contest_close(t);
	hn_contest_drop_pool(t);
	return rc;
}

static int bench_kernel(struct bench *b, const char *kernel, const char *file)
{
	struct hn_suite_row row = { .name = file };
	struct hn_contest t = { .row = &row, .n_threads = b->threads };
	struct hn_err err = { 0 };
	struct hn_buf text;
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	char *path = hn_arena_printf(&a, "%s/polybench/%s.dag", b->examples, file);

	rc = hn_file_read(path, 1u << 20, &text, &err);
	rc = rc ? rc : hn_dag_parse(path, text.s, text.n, 0, &a, &t.dag, &err);
	if (rc == 0) {
		hn_contest_arguments(&t, &a);
		rc = hold_contest(b, &t, kernel, &a, &err);
		hn_contest_drop_arguments(&t);
	}
	if (rc != 0) {
		fprintf(stderr, "hone-bench: %s: %s\n", file, err.msg);
	}
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	return rc ? 1 : 0;
}

static int usage(void)
{
	fputs("usage: hone-bench polybench [--case GLOB] [--budget S]\n", stderr);
	return 2;
}

static int read_options(const struct hn_bench_args *args, struct bench *b)
{
	for (int i = 0; i < args->argc; i += 2) {
		if (i + 1 == args->argc) {
			return usage();
		}
		if (strcmp(args->argv[i], "--case") == 0) {
			b->pattern = args->argv[i + 1];
		} else if (strcmp(args->argv[i], "--budget") == 0) {
			char *end;

			b->budget = strtod(args->argv[i + 1], &end);
			if (*end != '\0' || !(b->budget > 0 && b->budget <= 1e4)) {
				return usage();
			}
		} else {
			return usage();
		}
	}
	return 0;
}

int hn_bench_polybench(const struct hn_bench_args *args);

int hn_bench_polybench(const struct hn_bench_args *args)
{
	struct bench b = { .pattern = "*",
			   .examples = args->examples,
			   .budget = 3,
			   .threads = hone_pool_cpus(),
			   .least = INFINITY };
	struct hn_arena arena;
	struct hn_err err;
	int status = read_options(args, &b);

	if (status != 0) {
		return status;
	}
	hn_arena_init(&arena, 0);
	hn_target_host(&arena, &b.target);
	if (hn_emitter_new(&b.target, &b.emitter, &err) != 0) {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
		hn_arena_fini(&arena);
		return 1;
	}
	open_nests(args, &b);
	for (size_t i = 0; i < HN_COUNT_OF(kernels); i++) {
		if (fnmatch(b.pattern, kernels[i].file, 0) == 0) {
			status |= bench_kernel(&b, kernels[i].name, kernels[i].file);
		}
	}
	if (b.n > 0) {
		char context[100];

		snprintf(context, sizeof(context), "\"least\": %.3f, \"cases\": %u",
			 b.least, b.n);
		hn_bench_row("polybench.summary", exp(b.log_sum / b.n), "x of Polly",
			     context);
	}
	close_nests(&b);
	hn_emitter_free(b.emitter);
	hn_arena_fini(&arena);
	return status;
}
