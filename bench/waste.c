/* bench/waste.c -- how many candidates of a search need not have gone to the builder: those that
 * it refuses, and those that it has seen before.
 *
 * Each workload is searched by `evolve` for a few rounds, on a machine that differs from the
 * model: the model's speed, changed by a factor that follows from the history. Every candidate
 * goes through hn_build, like in a builder: it is replayed, proved by isl, emitted and compiled.
 *
 * Two programs are the same if their fingerprints for the target are equal
 * (target/cpu/fingerprint.h): the generator makes the same code of them. Programs with different
 * fingerprints may still compile to equal machine code: `same_code` counts these too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "bench/workload.h"
#include "loopstate/read/dag_read.h"
#include "target/cpu/fingerprint.h"
#include "lower/build/build.h"
#include "search/policy.h"

#define MOST_ASKED 256 /* in one round */

struct tally {
	uint32_t asked, refused, same_program, same_code;
};

struct run {
	uint32_t rounds, batch;
	bool compile;
	struct hn_target target;
	struct hn_builder builder;
	struct tally all;
};

/* One workload's search. */
struct search {
	const struct hn_bench_case *item;
	const char *dag; /* as a builder gets it */
	uint64_t *program, *code; /* [tally.asked - tally.refused], hashes */
	struct tally tally;
};

static double pretend_ns(const struct hn_candidate *c)
{
	struct hn_rng r = hn_rng_stream(hn_trace_hash(c->trace), 5, 5, 5);

	return 1e9 / fmax(c->score, 1e-300) * exp(0.6 * (hn_rng_unit(&r) - 0.5));
}

static void judge(struct run *r, struct search *s, const struct hn_build_answer *ans,
		  struct hn_arena *a)
{
	uint32_t n = s->tally.asked++ - s->tally.refused;

	if (ans->verdict != HN_VERDICT_OK) {
		s->tally.refused++;
		fprintf(stderr, "%s: %s: %s\n", s->item->name, hn_verdict_name(ans->verdict),
			ans->why.msg);
		return;
	}
	s->program[n] = hn_fingerprint(ans->tree, &r->target, a);
	if (r->compile) {
		s->code[n] = hn_hash64(ans->artefact.object, ans->artefact.object_bytes, 1);
	}
}

static void build(struct run *r, struct search *s, const struct hn_candidate *c)
{
	struct hn_build_answer ans = { .verdict = HN_VERDICT_BUILD_FAIL };
	struct hn_arena a;
	struct hn_buf steps;

	hn_arena_init(&a, 0);
	hn_buf_init(&steps);
	hn_trace_write(c->trace, &steps);
	struct hn_build_request request = { .dag = s->dag,
					    .dag_bytes = strlen(s->dag),
					    .steps = steps.s,
					    .steps_bytes = steps.n,
					    .target = "native",
					    .symbol = "hone_kernel",
					    .plant = "",
					    .prove = true };

	if (r->compile) {
		hn_build(&r->builder, &request, &a, &ans);
	} else {
		hn_build_prove(&request, &a, &ans);
	}
	judge(r, s, &ans, &a);
	hn_buf_fini(&steps);
	hn_arena_fini(&a);
}

static void ask_and_build(struct run *r, struct search *s, const struct hn_policy_ops *ops,
			  struct hn_policy *p)
{
	struct hn_candidate c[MOST_ASKED];
	struct hn_told told[MOST_ASKED];
	struct hn_arena a;

	hn_arena_init(&a, 0);
	uint32_t n = ops->ask(p, r->batch, &a, c);
	for (uint32_t i = 0; i < n; i++) {
		build(r, s, &c[i]);
		told[i] = (struct hn_told){ c[i].trace, HN_VERDICT_OK, pretend_ns(&c[i]) };
	}
	ops->tell(p, told, n);
	hn_arena_fini(&a);
}

static void print(const struct run *r, const char *name, const struct tally *t)
{
	uint32_t wasted = t->refused + t->same_program;
	char context[400], code[40] = "";

	if (r->compile) {
		snprintf(code, sizeof(code), ", \"same_code\": %u", t->same_code);
	}
	snprintf(context, sizeof(context),
		 "\"case\": \"%s\", \"asked\": %u, \"refused\": %u, \"same_program\": %u%s", name,
		 t->asked, t->refused, t->same_program, code);
	hn_bench_row("waste", t->asked ? 100.0 * wasted / t->asked : 0, "%", context);
}

static int by_value(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

static uint32_t count_repeats(uint64_t *hash, uint32_t n)
{
	uint32_t repeats = 0;

	qsort(hash, n, sizeof(*hash), by_value);
	for (uint32_t i = 1; i < n; i++) {
		repeats += hash[i] == hash[i - 1];
	}
	return repeats;
}

static void add(struct tally *all, const struct tally *t)
{
	all->asked += t->asked;
	all->refused += t->refused;
	all->same_program += t->same_program;
	all->same_code += t->same_code;
}

static int run_case(struct run *r, const struct hn_bench_case *item)
{
	const struct hn_policy_ops *ops = hn_policy_ops("evolve");
	struct hn_task task = { .dag = item->dag,
				.target = &r->target,
				.seed = 1,
				.model = "analytic" };
	struct search s = { .item = item };
	struct hn_arena a;
	struct hn_policy *p;
	struct hn_buf dag;
	struct hn_err err;

	if (ops->create(&task, &p, &err) != 0) {
		fprintf(stderr, "hone-bench: %s: %s\n", item->name, err.msg);
		return 1;
	}
	hn_arena_init(&a, 0);
	s.program = HN_NEW_ARRAY(&a, uint64_t, (size_t)r->rounds * r->batch);
	s.code = HN_NEW_ARRAY(&a, uint64_t, (size_t)r->rounds * r->batch);
	hn_buf_init(&dag);
	hn_dag_write_json(item->dag, &dag);
	s.dag = dag.s;
	for (uint32_t round = 0; round < r->rounds; round++) {
		ask_and_build(r, &s, ops, p);
	}
	uint32_t n = s.tally.asked - s.tally.refused;

	s.tally.same_program = count_repeats(s.program, n);
	s.tally.same_code = r->compile ? count_repeats(s.code, n) : 0;
	print(r, item->name, &s.tally);
	add(&r->all, &s.tally);
	ops->destroy(p);
	hn_arena_fini(&a);
	hn_buf_fini(&dag);
	return 0;
}

/* Takes the options out of args; what is left names files. */
static int read_options(struct hn_bench_args *args, struct run *r)
{
	while (args->argc > 0 && strncmp(args->argv[0], "--", 2) == 0) {
		bool rounds = strcmp(args->argv[0], "--rounds") == 0;
		bool batch = strcmp(args->argv[0], "--batch") == 0;

		if (strcmp(args->argv[0], "--compile") == 0) {
			r->compile = true;
		} else if (args->argc > 1 && (rounds || batch)) {
			*(rounds ? &r->rounds : &r->batch) =
				(uint32_t)strtoul(args->argv[1], NULL, 10);
			args->argc--;
			args->argv++;
		} else {
			fputs("usage: hone-bench waste [--rounds N] [--batch N] [--compile] "
			      "[FILE...]\n",
			      stderr);
			return 2;
		}
		args->argc--;
		args->argv++;
	}
	r->batch = r->batch < MOST_ASKED ? r->batch : MOST_ASKED;
	return 0;
}

int hn_bench_waste(const struct hn_bench_args *args);

int hn_bench_waste(const struct hn_bench_args *args)
{
	struct hn_bench_args files = *args;
	struct run r = { .rounds = 3, .batch = 32 };
	struct hn_bench_case *item;
	struct hn_arena arena;
	uint32_t n;
	int status = read_options(&files, &r);

	hn_arena_init(&arena, 0);
	hn_target_host(&arena, &r.target);
	status = status ? status : hn_bench_suite(&files, &arena, &n, &item) != 0;
	for (uint32_t i = 0; status == 0 && i < n; i++) {
		status = run_case(&r, &item[i]);
	}
	if (status == 0) {
		print(&r, "all", &r.all);
	}
	hn_builder_fini(&r.builder);
	hn_arena_fini(&arena);
	return status;
}
