/* bench/device.c -- what a candidate for a GPU costs, from its draw to the module, stage by stage.
 *
 * A candidate goes through what a search and a builder do with it: a history is drawn, its tree is
 * built and proved, a device program is placed, checked and verified, and printed as the target's
 * boards take it.  Of PTX the last is the walk through the program and two parts of LLVM.  Times are
 * processor time of the one thread.
 *
 * Without --rules, schedules are drawn from all sketches of each case in turn; with it they are the
 * rules', those of instructions that no machine has confirmed among them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/workload.h"
#include "loopstate/nest/looptree.h"
#include "lower/device/device_hold.h"
#include "lower/device/device_verify.h"
#include "lower/gpu/gpu.h"
#include "sketch/heuristic.h"
#include "sketch/sketch.h"

#define USAGE                                                                                    \
	"usage: hone-bench device [--target LINE] [--candidates N] [--rules] "                   \
	"[TYPE:MxNxK|FILE...]\n"
#define N_TRY 64 /* completions drawn for one candidate, until one is a program */
#define LIMIT_MS 60000

#define STAGES(X) X(draw) X(tree) X(prove) X(place) X(check) X(verify) X(walk) X(passes) X(codegen) X(total)

enum {
#define X(name) STAGE_##name,
	STAGES(X)
#undef X
	N_STAGE
};

static const char *const stage_name[N_STAGE] = {
#define X(name) #name,
	STAGES(X)
#undef X
};

struct sample {
	const char *name; /* its case */
	double ms[N_STAGE];
};

struct run {
	struct hn_target target;
	enum hn_gpu_form form;
	bool rules;
	uint32_t most, n, n_refused; /* candidates of a case; so far */
	struct sample *sample;
	uint32_t cap;
	struct hn_arena keep;
};

static double lap(int64_t *start)
{
	int64_t now = hn_clock_cpu_ns(), before = *start;

	*start = now;
	return (double)(now - before) * 1e-6;
}

/* From a history to its module; what it took goes to *x. */
static int lower(const struct run *r, const struct hn_state *s, struct sample *x, struct hn_err *err)
{
	struct hn_gpu_times times = { 0 };
	const struct hn_gpu_options how = { .contracts = true, .times = &times };
	const struct hn_device *d = NULL;
	const struct hn_looptree *t;
	struct hn_gpu_module m;
	struct hn_arena a;
	int64_t start = hn_clock_cpu_ns();

	hn_arena_init(&a, 0);
	int rc = hn_looptree_build(s, &a, &t, err);

	x->ms[STAGE_tree] = lap(&start);
	if (rc == 0 && hn_legal_check(t, LIMIT_MS, err) != HN_VERDICT_OK) {
		rc = -HONE_E_INVALID;
	}
	x->ms[STAGE_prove] = lap(&start);
	rc = rc ? rc : hn_device_place_for(t, &r->target, &a, &d, err);
	x->ms[STAGE_place] = lap(&start);
	rc = rc ? rc : hn_device_check(d, &r->target, err);
	x->ms[STAGE_check] = lap(&start);
	rc = rc ? rc : hn_device_verify(d, &r->target, LIMIT_MS, err);
	x->ms[STAGE_verify] = lap(&start);
	rc = rc ? rc : hn_gpu_print(d, r->form, &r->target, &how, &a, &m, err);
	x->ms[STAGE_walk] = lap(&start);
	x->ms[STAGE_passes] = (double)times.passes * 1e-6;
	x->ms[STAGE_codegen] = (double)times.codegen * 1e-6;
	x->ms[STAGE_walk] -= x->ms[STAGE_passes] + x->ms[STAGE_codegen];
	hn_arena_fini(&a);
	return rc;
}

static void add(struct run *r, const char *name, const struct hn_state *s, double draw_ms)
{
	struct sample x = { .name = name };
	struct hn_err err = { 0 };

	x.ms[STAGE_draw] = draw_ms;
	if (lower(r, s, &x, &err) != 0) {
		fprintf(stderr, "hone-bench device: %s: %s\n", name, err.msg);
		r->n_refused++;
		return;
	}
	for (int i = 0; i < STAGE_total; i++) {
		x.ms[STAGE_total] += x.ms[i];
	}
	r->sample = hn_arena_grow(&r->keep, r->sample, r->n, &r->cap, sizeof(r->sample[0]));
	r->sample[r->n++] = x;
}

static int draw_all(struct run *r, const char *name, const struct hn_dag *dag, struct hn_err *err)
{
	struct hn_sketches all;
	struct hn_arena a, of_one;

	hn_arena_init(&a, 0);
	hn_arena_init(&of_one, 0);
	int rc = hn_sketch_generate_own(dag, &r->target, &a, &all, err);

	for (uint32_t i = 0; i < r->most && rc == 0 && all.n > 0; i++) {
		const struct hn_state *s = NULL;
		int64_t start = hn_clock_cpu_ns();

		hn_arena_reset(&of_one);
		for (uint32_t k = 0; k < N_TRY && s == NULL; k++) {
			struct hn_rng rng = hn_rng_stream(11, i, 0, k);

			if (hn_sketch_fill(&all.sketch[i % all.n], &r->target, &rng, &of_one, &s) !=
			    HN_VERDICT_OK) {
				s = NULL;
			}
		}
		if (s != NULL) {
			add(r, name, s, lap(&start));
		}
	}
	hn_arena_fini(&of_one);
	hn_arena_fini(&a);
	return rc;
}

static void all_rules(struct run *r, const char *name, const struct hn_dag *dag)
{
	const struct hn_state *s[2 * HN_HEURISTIC_MAX];
	struct hn_arena a;
	int64_t start = hn_clock_cpu_ns();

	hn_arena_init(&a, 0);
	uint32_t n = hn_heuristics(dag, &r->target, &a, s);

	n += hn_heuristics_unconfirmed(dag, &r->target, &a, &s[n]);
	double each = n > 0 ? lap(&start) / n : 0;

	for (uint32_t i = 0; i < r->most && i < n; i++) {
		add(r, name, s[i], each);
	}
	hn_arena_fini(&a);
}

static int one(struct run *r, const char *name, const struct hn_dag *dag, struct hn_err *err)
{
	if (dag->sizes != NULL) {
		return 0; /* no device program */
	}
	if (!r->rules) {
		return draw_all(r, name, dag, err);
	}
	all_rules(r, name, dag);
	return 0;
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static void print(struct run *r)
{
	double *v = HN_NEW_ARRAY(&r->keep, double, r->n);

	for (int stage = 0; stage < N_STAGE; stage++) {
		char name[40], context[400];
		double sum = 0;
		uint32_t slowest = 0;

		for (uint32_t i = 0; i < r->n; i++) {
			v[i] = r->sample[i].ms[stage];
			sum += v[i];
			slowest = v[i] > r->sample[slowest].ms[stage] ? i : slowest;
		}
		qsort(v, r->n, sizeof(*v), by_value);
		snprintf(name, sizeof(name), "device.%s", stage_name[stage]);
		snprintf(context, sizeof(context),
			 "\"mean\": %.3f, \"p90\": %.3f, \"max\": %.3f, \"candidates\": %u, "
			 "\"refused\": %u, \"slowest\": \"%.200s\"",
			 sum / r->n, v[(r->n - 1) * 9 / 10], v[r->n - 1], r->n, r->n_refused,
			 r->sample[slowest].name);
		hn_bench_row(name, v[(r->n - 1) / 2], "ms", context);
	}
}

/* Takes the options out of args; false: they are none. */
static bool read_options(struct hn_bench_args *args, struct run *r, const char **ret_line)
{
	while (args->argc > 0 && strncmp(args->argv[0], "--", 2) == 0) {
		bool rules = strcmp(args->argv[0], "--rules") == 0;
		bool line = strcmp(args->argv[0], "--target") == 0;

		if (!rules &&
		    (args->argc < 2 || (!line && strcmp(args->argv[0], "--candidates") != 0))) {
			return false;
		}
		if (rules) {
			r->rules = true;
		} else if (line) {
			*ret_line = args->argv[1];
		} else {
			r->most = (uint32_t)strtoul(args->argv[1], NULL, 10);
		}
		args->argc -= rules ? 1 : 2;
		args->argv += rules ? 1 : 2;
	}
	return true;
}

static int run_all(struct run *r, const struct hn_bench_args *args, struct hn_err *err)
{
	struct hn_bench_args files = *args;
	struct hn_bench_case *item;
	uint32_t n;
	int rc = 0;

	for (; files.argc > 0 && strchr(files.argv[0], ':') != NULL; files.argc--, files.argv++) {
		const struct hn_dag *dag = hn_bench_product(files.argv[0], &r->keep, err);

		rc = rc ? rc : dag == NULL ? -HONE_E_INVALID : one(r, files.argv[0], dag, err);
	}
	if (rc != 0 || (args->argc > 0 && files.argc == 0)) {
		return rc;
	}
	if (hn_bench_suite(&files, &r->keep, &n, &item) != 0) {
		return -HONE_E_INVALID;
	}
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		rc = one(r, item[i].name, item[i].dag, err);
	}
	return rc;
}

extern int hn_bench_device(const struct hn_bench_args *args);

int hn_bench_device(const struct hn_bench_args *args)
{
	const char *line = "cuda -isa=sm_90a";
	struct hn_bench_args words = *args;
	struct run r = { .most = 10 };
	struct hn_err err = { 0 };

	if (!read_options(&words, &r, &line)) {
		fputs(USAGE, stderr);
		return 2;
	}
	hn_arena_init(&r.keep, 0);
	int rc = hn_target_parse(line, &r.keep, &r.target, &err);

	if (rc == 0) {
		r.form = strcmp(r.target.kind, "cuda") == 0 ? HN_GPU_PTX : HN_GPU_OPENCL;
		rc = run_all(&r, &words, &err);
	}
	if (rc == 0 && r.n == 0) {
		rc = hn_fail(&err, HONE_E_UNSUPPORTED, "no candidate for %s", line);
	}
	if (rc == 0) {
		print(&r);
	} else if (err.msg[0] != '\0') {
		fprintf(stderr, "hone-bench device: %s\n", err.msg);
	}
	hn_arena_fini(&r.keep);
	return rc != 0;
}
