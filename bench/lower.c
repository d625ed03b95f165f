/* bench/lower.c -- what a candidate costs before it can be measured, phase by phase.
 *
 * Candidates are random completions of random sketches, drawn over all workloads in turn;
 * number i of a seed is the same candidate for ever.  Each goes through hn_build, as a
 * builder does it (the dag is parsed, the history replayed, the tree proved, emitted,
 * compiled), and through the loader of the board.  The slowest are named with their
 * history, so that `hone-build --dag CASE --steps FILE` shows them again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/workload.h"
#include "loopstate/read/dag_read.h"
#include "lower/build/build.h"
#include "base/loader.h"
#include "sketch/sketch.h"

#define N_WORST 5
#define N_TRY 64 /* completions drawn for one candidate, until one is a program */

/* members of struct hn_build_times */
#define PHASES(X) X(dag) X(replay) X(tree) X(prove) X(emit) X(passes) X(codegen)

enum {
#define X(name) PHASE_##name,
	PHASES(X)
#undef X
	PHASE_load,
	PHASE_total,
	PHASE_cpu, /* total again, as processor time of this thread */
	N_PHASE
};

static const char *const phase_name[N_PHASE] = {
#define X(name) #name,
	PHASES(X)
#undef X
	"load", "total", "cpu"
};

struct sample {
	uint64_t number;
	const struct hn_bench_case *item;
	enum hn_verdict verdict;
	double ms[N_PHASE];
	size_t object_bytes;
	const char *why, *steps; /* "" when OK */
};

struct run {
	struct hn_bench_case *item;
	const char **text; /* the dags, as a builder gets them */
	struct hn_sketches *sketches;
	uint32_t n_item;
	struct hn_target target;
	struct hn_builder builder;
	struct hn_arena *keep; /* what the samples point to */
	struct sample *sample;
	uint64_t first, n;
};

/* Candidate `number`: its history as text; false when none of the draws was a program. */
static bool draw(struct run *r, uint64_t number, struct hn_arena *a, uint32_t *ret_item,
		 struct hn_buf *ret_steps)
{
	uint32_t item = (uint32_t)(number % r->n_item);

	*ret_item = item;
	for (uint32_t k = 0; k < N_TRY && r->sketches[item].n > 0; k++) {
		struct hn_rng rng = hn_rng_stream(11, number, 0, k);
		const struct hn_state *s;
		uint32_t i = (uint32_t)hn_rng_below(&rng, r->sketches[item].n);

		if (hn_sketch_fill(&r->sketches[item].sketch[i], &r->target, &rng, a,
				   &s) == HN_VERDICT_OK) {
			hn_trace_write(s->trace, ret_steps);
			return true;
		}
	}
	return false;
}

static void load(const struct hn_build_answer *ans, struct sample *ret)
{
	struct hn_object *object;
	struct hn_err err;
	int64_t start = hn_clock_ns();

	if (hn_object_load(ans->artefact.object, ans->artefact.object_bytes, &object,
			   &err) == 0) {
		ret->ms[PHASE_load] = (double)(hn_clock_ns() - start) * 1e-6;
		hn_object_free(object);
	} else {
		fprintf(stderr, "hone-bench: candidate %llu: %s\n",
			(unsigned long long)ret->number, err.msg);
	}
}

static void measure(struct run *r, uint32_t item, const struct hn_buf *steps,
		    struct hn_arena *a, struct sample *ret)
{
	struct hn_build_answer ans = { .verdict = HN_VERDICT_BUILD_FAIL };
	struct hn_build_request request = { .dag = r->text[item],
					    .dag_bytes = strlen(r->text[item]),
					    .steps = steps->s,
					    .steps_bytes = steps->n,
					    .target = "native",
					    .symbol = "hone_kernel",
					    .plant = "",
					    .prove = true };

	ret->item = &r->item[item];
	ret->steps = hn_arena_strndup(r->keep, steps->s, steps->n);
	int64_t start = hn_clock_ns(), cpu_start = hn_clock_cpu_ns();

	hn_build(&r->builder, &request, a, &ans);
	ret->verdict = ans.verdict;
	ret->why = hn_arena_strdup(r->keep, ans.why.msg);
	ret->object_bytes = ans.artefact.object_bytes;
#define X(name) ret->ms[PHASE_##name] = (double)ans.ns.name * 1e-6;
	PHASES(X)
#undef X
	if (ans.verdict == HN_VERDICT_OK) {
		load(&ans, ret);
	}
	ret->ms[PHASE_total] = (double)(hn_clock_ns() - start) * 1e-6;
	ret->ms[PHASE_cpu] = (double)(hn_clock_cpu_ns() - cpu_start) * 1e-6;
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x;
	double b = *(const double *)y;

	return (a > b) - (a < b);
}

static double quantile(const double *sorted, uint64_t n, double q)
{
	return n ? sorted[(uint64_t)((double)(n - 1) * q)] : 0;
}

static void print_phase(const struct run *r, uint32_t phase)
{
	double *v = HN_NEW_ARRAY(r->keep, double, r->n), sum = 0;
	char name[40], context[300];

	for (uint64_t i = 0; i < r->n; i++) {
		v[i] = r->sample[i].ms[phase];
		sum += v[i];
	}
	qsort(v, r->n, sizeof(*v), by_value);
	snprintf(name, sizeof(name), "lower.%s", phase_name[phase]);
	snprintf(context, sizeof(context),
		 "\"mean\": %.3f, \"p90\": %.3f, \"p99\": %.3f, \"max\": %.3f, "
		 "\"candidates\": %llu",
		 r->n ? sum / (double)r->n : 0, quantile(v, r->n, 0.9),
		 quantile(v, r->n, 0.99), quantile(v, r->n, 1), (unsigned long long)r->n);
	hn_bench_row(name, quantile(v, r->n, 0.5), "ms", context);
}

static void print_sample(const char *name, const struct sample *s)
{
	struct hn_buf context;

	hn_buf_init(&context);
	hn_buf_printf(&context, "\"candidate\": %llu, \"case\": ",
		      (unsigned long long)s->number);
	hn_buf_json_string(&context, s->item->name);
	for (uint32_t p = 0; p < N_PHASE; p++) {
		hn_buf_printf(&context, ", \"%s\": %.3f", phase_name[p], s->ms[p]);
	}
	hn_buf_printf(&context, ", \"object_bytes\": %zu, \"verdict\": \"%s\", \"why\": ",
		      s->object_bytes, hn_verdict_name(s->verdict));
	hn_buf_json_string(&context, s->why);
	hn_buf_printf(&context, ", \"steps\": %s", s->steps);
	hn_bench_row(name, s->ms[PHASE_total], "ms", context.s);
	hn_buf_fini(&context);
}

static int slowest_first(const void *x, const void *y)
{
	const struct sample *a = x, *b = y;

	return (a->ms[PHASE_total] < b->ms[PHASE_total]) -
	       (a->ms[PHASE_total] > b->ms[PHASE_total]);
}

static void print_verdicts(const struct run *r)
{
	uint64_t n_ok = 0, n_timeout = 0;
	char context[100];

	for (uint64_t i = 0; i < r->n; i++) {
		n_ok += r->sample[i].verdict == HN_VERDICT_OK;
		n_timeout += r->sample[i].verdict == HN_VERDICT_BUILD_TIMEOUT;
		if (r->sample[i].verdict != HN_VERDICT_OK) {
			print_sample("lower.refused", &r->sample[i]);
		}
	}
	snprintf(context, sizeof(context), "\"candidates\": %llu, \"over_limit\": %llu",
		 (unsigned long long)r->n, (unsigned long long)n_timeout);
	hn_bench_row("lower.built", (double)n_ok, "candidates", context);
}

static void measure_all(struct run *r, bool each)
{
	struct hn_arena a;
	struct hn_buf steps;
	uint64_t end = r->first + r->n, kept = 0;

	hn_arena_init(&a, 0);
	hn_buf_init(&steps);
	for (uint64_t i = r->first; i < end; i++) {
		struct sample *s = &r->sample[kept];
		uint32_t item;

		hn_arena_reset(&a);
		hn_buf_reset(&steps);
		s->number = i;
		if (draw(r, i, &a, &item, &steps)) {
			measure(r, item, &steps, &a, s);
			kept++;
			if (each) {
				print_sample("lower.candidate", s);
			}
		}
	}
	r->n = kept;
	hn_buf_fini(&steps);
	hn_arena_fini(&a);
}

static int make_sketches(struct run *r, struct hn_arena *a)
{
	struct hn_err err;

	r->text = HN_NEW_ARRAY(a, const char *, r->n_item);
	r->sketches = HN_NEW_ARRAY(a, struct hn_sketches, r->n_item);
	for (uint32_t i = 0; i < r->n_item; i++) {
		struct hn_buf text;

		hn_buf_init(&text);
		hn_dag_write_json(r->item[i].dag, &text);
		r->text[i] = hn_arena_strdup(a, text.s);
		hn_buf_fini(&text);
		if (hn_sketch_generate_own(r->item[i].dag, &r->target, a, &r->sketches[i],
				       &err) != 0) {
			fprintf(stderr, "hone-bench: %s: %s\n", r->item[i].name, err.msg);
			return 1;
		}
	}
	return 0;
}

/* Takes the options out of args; what is left names files. */
static int read_options(struct hn_bench_args *args, struct run *r, bool *ret_each)
{
	while (args->argc > 0 && strncmp(args->argv[0], "--", 2) == 0) {
		bool each = strcmp(args->argv[0], "--each") == 0;
		bool first = strcmp(args->argv[0], "--first") == 0;

		if (each) {
			*ret_each = true;
		} else if (args->argc > 1 &&
			   (first || strcmp(args->argv[0], "--candidates") == 0)) {
			*(first ? &r->first : &r->n) = strtoull(args->argv[1], NULL, 10);
			args->argc--;
			args->argv++;
		} else {
			fputs("usage: hone-bench lower [--candidates N] [--first I] "
			      "[--each] [FILE...]\n",
			      stderr);
			return 2;
		}
		args->argc--;
		args->argv++;
	}
	return 0;
}

int hn_bench_lower(const struct hn_bench_args *args);

int hn_bench_lower(const struct hn_bench_args *args)
{
	struct hn_bench_args files = *args;
	struct run r = { .n = 2000 };
	struct hn_arena arena;
	bool each = false;
	int status = read_options(&files, &r, &each);

	hn_arena_init(&arena, 0);
	hn_target_host(&arena, &r.target);
	r.keep = &arena;
	r.sample = HN_NEW_ARRAY(&arena, struct sample, r.n);
	status = status ? status : hn_bench_suite(&files, &arena, &r.n_item, &r.item) != 0;
	status = status ? status : make_sketches(&r, &arena);
	if (status == 0) {
		measure_all(&r, each);
		for (uint32_t p = 0; p < N_PHASE; p++) {
			print_phase(&r, p);
		}
		print_verdicts(&r);
		qsort(r.sample, r.n, sizeof(*r.sample), slowest_first);
		for (uint64_t i = 0; i < r.n && i < N_WORST; i++) {
			print_sample("lower.slowest", &r.sample[i]);
		}
		hn_builder_fini(&r.builder);
	}
	hn_arena_fini(&arena);
	return status;
}
