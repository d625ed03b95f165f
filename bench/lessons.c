/* bench/lessons.c -- records for a cost model to learn from: `hone-bench lessons`.
 *
 * For each case of the suite, programs are built, proved and loaded in this process, and timed in
 * turn (bench/turns.h).  They are half drawn at random, half found by evolution that is told of the
 * others; or, with --from, the fastest of other stores: those are what a search has to tell
 * apart, and worth a longer look, best on another hour.
 *
 * Records are appended to the store, the fastest round as their time and the rounds as their
 * samples.  They have no certificate, so none of them is ever an answer.  A line on standard
 * error says when the programs are built: from there on nothing else should run on the machine.
 * Who has to wait for that asks for cues.
 */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "bench/contest.h"
#include "bench/turns.h"
#include "db/db.h"
#include "loopstate/dag/mark.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/state/trace.h"
#include "lower/lower.h"
#include "search/policy.h"

#define MOST_PROGRAMS 4096
#define MOST_FROM 16
#define ASKED 32 /* of a policy at a time */

struct options {
	const char *store, *from[MOST_FROM];
	uint32_t n_from, programs, rounds, cues;
	uint64_t seed;
};

struct program {
	const char *steps, *origin;
	struct hn_turns timed;
};

struct school {
	const struct options *o;
	const struct hn_target *target;
	struct hn_emitter *emitter;
	struct hn_contest base; /* arguments and pool, no contenders */
	uint32_t n_part;
	struct hn_contest part[MOST_PROGRAMS / HN_RACE_MAX_CONTENDER];
	uint32_t n, refused;
	struct program program[MOST_PROGRAMS];
	struct hn_arena a;
};

/* Build one program; whether it stands. */
static bool build(struct school *s, const char *steps, const char *origin)
{
	struct hn_contest *part = s->n_part > 0 ? &s->part[s->n_part - 1] : NULL;
	struct hn_err err;

	if (part == NULL || part->n == HN_RACE_MAX_CONTENDER) {
		part = &s->part[s->n_part++];
		*part = s->base;
	}
	if (hn_contest_hone(part, s->emitter, "program", steps, &err) != 0) {
		s->refused++;
		return false;
	}
	s->program[s->n++] =
		(struct program){.steps = hn_arena_strdup(&s->a, steps),
				 .origin = hn_arena_strdup(&s->a, origin),
				 .timed.kernel = &part->contender[part->n - 1]};
	return true;
}

static bool build_candidate(struct school *s, const struct hn_candidate *c)
{
	struct hn_buf b;

	hn_buf_init(&b);
	hn_trace_write(c->trace, &b);
	bool stands = build(s, b.s, c->origin);

	hn_buf_fini(&b);
	return stands;
}

/* Ask, build and tell what a single turn takes, until there are so many programs.  Times that
 * guide need not be good ones. */
static int gather(struct school *s, const char *policy, uint32_t programs, struct hn_err *err)
{
	const struct hn_policy_ops *ops = hn_policy_ops(policy);
	struct hn_task task = {.dag = s->base.dag,
			       .target = s->target,
			       .seed = s->o->seed,
			       .model = "analytic"};
	struct hn_candidate candidate[ASKED];
	struct hn_told told[ASKED];
	struct hn_policy *p;
	uint32_t n = 1;
	int rc = ops->create(&task, &p, err);

	while (rc == 0 && n > 0 && s->n < programs) {
		uint32_t want = programs - s->n < ASKED ? programs - s->n : ASKED;

		n = ops->ask(p, want, &s->a, candidate);
		for (uint32_t i = 0; i < n; i++) {
			bool stands = build_candidate(s, &candidate[i]);

			told[i] = (struct hn_told){.trace = candidate[i].trace,
						   .verdict = stands ? HN_VERDICT_OK
								     : HN_VERDICT_ILLEGAL};
			if (stands) {
				told[i].median_ns =
					hn_turns_once(s->program[s->n - 1].timed.kernel);
			}
		}
		ops->tell(p, told, n);
	}
	if (rc == 0) {
		ops->destroy(p);
	}
	return rc;
}

static int append(struct school *s, struct hn_db *db, const char *key, struct hn_err *err)
{
	struct hn_record *r = calloc(s->n + 1, sizeof *r);
	struct hn_buf line;

	hn_assert(r);
	hn_buf_init(&line);
	hn_target_print(s->target, &line);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct program *p = &s->program[i];

		r[i] = (struct hn_record){.workload = key,
					  .target = line.s,
					  .steps = p->steps,
					  .origin = p->origin,
					  .verdict = HN_VERDICT_OK,
					  .detail = "",
					  .median_ns = p->timed.best_ns,
					  .n_sample = p->timed.n_round,
					  .sample_ns = p->timed.ns,
					  .unix_ms = hn_clock_unix_ms(),
					  .proved = true,
					  .stamp = {HONE_VERSION, "hone-bench " HONE_VERSION,
						    "hone-bench lessons"}};
	}
	int rc = hn_db_append(db, r, s->n, err);

	hn_buf_fini(&line);
	free(r);
	return rc;
}

static int keep(struct school *s, const char *name, struct hn_err *err)
{
	char key[HN_KEY_BYTES];
	struct hn_buf json;
	struct hn_db *db;
	int rc = hn_db_open(s->o->store, &db, err);

	if (rc < 0) {
		return rc;
	}
	hn_buf_init(&json);
	hn_dag_write_json(s->base.dag, &json);
	hn_dag_key(s->base.dag, key);
	rc = hn_db_put_workload(db,
				&(struct hn_workload_row){key, name, json.s,
							  hn_dag_flops(s->base.dag),
							  hn_dag_cache(s->base.dag)},
				err);
	rc = rc ? rc : append(s, db, key, err);
	hn_buf_fini(&json);
	hn_db_close(db);
	return rc;
}

/* A record of --from that may be built again. */
struct known {
	const char *steps, *origin;
	double ns;
};

struct finding {
	struct hn_arena *a;
	uint32_t n, cap;
	struct known *known;
};

static int find(void *ctx, const struct hn_record *r)
{
	struct finding *f = ctx;

	if (r->verdict == HN_VERDICT_OK) {
		f->known = hn_arena_grow(f->a, f->known, f->n, &f->cap, sizeof *f->known);
		f->known[f->n++] = (struct known){hn_arena_strdup(f->a, r->steps),
						  hn_arena_strdup(f->a, r->origin),
						  r->median_ns};
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static bool is_built(const struct school *s, const char *steps)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (strcmp(s->program[i].steps, steps) == 0) {
			return true;
		}
	}
	return false;
}

/* Build the fastest programs of that store that are not built yet. */
static int recall(struct school *s, const char *home, struct hn_err *err)
{
	struct finding f = {.a = &s->a};
	char key[HN_KEY_BYTES];
	struct hn_db *db;
	int rc = hn_db_open(home, &db, err);

	if (rc < 0) {
		return rc;
	}
	hn_dag_key(s->base.dag, key);
	rc = hn_db_records(db, key, NULL, find, &f, err);
	hn_db_close(db);
	if (f.n > 0) {
		qsort(f.known, f.n, sizeof *f.known, by_time);
	}
	for (uint32_t i = 0, n = 0; i < f.n && n < s->o->programs && s->n < MOST_PROGRAMS; i++) {
		n += is_built(s, f.known[i].steps) ||
		     build(s, f.known[i].steps, f.known[i].origin);
	}
	return rc;
}

static int build_all(struct school *s, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->o->n_from && rc == 0; i++) {
		rc = recall(s, s->o->from[i], err);
	}
	if (s->o->n_from > 0) {
		return rc;
	}
	rc = gather(s, "random", s->o->programs / 2, err);
	return rc ? rc : gather(s, "evolve", s->o->programs, err);
}

static int time_and_keep(struct school *s, const char *name, struct hn_err *err)
{
	struct hn_turns **timed = HN_NEW_ARRAY(&s->a, struct hn_turns *, s->n + 1);
	int64_t begin = hn_clock_ns();
	char context[200];

	for (uint32_t i = 0; i < s->n; i++) {
		timed[i] = &s->program[i].timed;
	}
	hn_turns(timed, s->n, s->o->rounds, s->o->seed);
	snprintf(context, sizeof context, "\"case\": \"%s\", \"refused\": %u, \"seconds\": %.1f",
		 name, s->refused, (double)(hn_clock_ns() - begin) * 1e-9);
	hn_bench_row("lessons.programs", s->n, "", context);
	fflush(stdout);
	return keep(s, name, err);
}

/* Wait for a line; false at the end of input. */
static bool cue(void)
{
	int c = getchar();

	while (c != '\n' && c != EOF) {
		c = getchar();
	}
	return c == '\n';
}

static int teach(struct school *s, const char *name, struct hn_err *err)
{
	int rc = build_all(s, err);

	if (rc < 0) {
		return rc;
	}
	fprintf(stderr, "hone-bench: %s: %u programs are built\n", name, s->n);
	fflush(stderr);
	if (s->o->cues == 0) {
		return time_and_keep(s, name, err);
	}
	for (uint32_t i = 0; i < s->o->cues && rc == 0 && cue(); i++) {
		rc = time_and_keep(s, name, err);
	}
	return rc;
}

static int each_row(const struct options *o, const struct hn_target *target,
		    struct hn_emitter *emitter, const struct hn_suite_row *row)
{
	struct school *s = calloc(1, sizeof *s);
	struct hn_buf text;
	struct hn_err err;

	hn_assert(s);
	*s = (struct school){.o = o, .target = target, .emitter = emitter, .base.row = row};
	s->base.n_threads = hone_pool_cpus();
	hn_arena_init(&s->a, 0);
	hn_buf_init(&text);
	hn_suite_text(row, &text);
	int rc = hn_dag_parse(row->name, text.s, text.n, 0, &s->a, &s->base.dag, &err);

	if (rc == 0) {
		hn_contest_arguments(&s->base, &s->a);
		rc = hn_contest_pool(&s->base, &err);
		if (rc == 0) {
			rc = teach(s, row->name, &err);
			hn_contest_drop_pool(&s->base);
		}
		for (uint32_t i = 0; i < s->n_part; i++) {
			hn_contest_close(&s->part[i]);
		}
		hn_contest_drop_arguments(&s->base);
	}
	if (rc < 0) {
		fprintf(stderr, "hone-bench: %s: %s\n", row->name, err.msg);
	}
	hn_buf_fini(&text);
	hn_arena_fini(&s->a);
	free(s);
	return rc;
}

static const char usage[] =
	"usage: hone-bench lessons --store HOME [--from HOME]... [--programs N] [--rounds N]\n"
	"                          [--cues N] [--seed N] CASE...\n";

static bool number(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
	char *end;

	*ret = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && *ret >= least && *ret <= most;
}

/* The index of the first case, or 0. */
static int read_options(const struct hn_bench_args *args, struct options *o)
{
	uint64_t programs = 200, rounds = 16, cues = 0;
	bool fine = true;
	int i = 0;

	for (; i + 1 < args->argc && strncmp(args->argv[i], "--", 2) == 0 && fine; i += 2) {
		const char *name = args->argv[i], *value = args->argv[i + 1];

		if (strcmp(name, "--store") == 0) {
			o->store = value;
		} else if (strcmp(name, "--from") == 0 && o->n_from < MOST_FROM) {
			o->from[o->n_from++] = value;
		} else if (strcmp(name, "--programs") == 0) {
			fine = number(value, 2, MOST_PROGRAMS - ASKED, &programs);
		} else if (strcmp(name, "--rounds") == 0) {
			fine = number(value, 1, HN_TURNS_MOST_ROUNDS, &rounds);
		} else if (strcmp(name, "--cues") == 0) {
			fine = number(value, 0, 1000, &cues);
		} else {
			fine = strcmp(name, "--seed") == 0 &&
			       number(value, 0, UINT64_MAX, &o->seed);
		}
	}
	o->programs = (uint32_t)programs;
	o->rounds = (uint32_t)rounds;
	o->cues = (uint32_t)cues;
	return fine && o->store != NULL && i < args->argc ? i : 0;
}

static bool named(const struct hn_suite_row *row, const struct hn_bench_args *args, int from)
{
	bool is = false;

	for (int i = from; i < args->argc; i++) {
		is = is || fnmatch(args->argv[i], row->name, 0) == 0;
	}
	return is;
}

int hn_bench_lessons(const struct hn_bench_args *args);

int hn_bench_lessons(const struct hn_bench_args *args)
{
	struct options o = {.store = NULL};
	struct hn_emitter *emitter;
	struct hn_target target;
	struct hn_arena arena;
	struct hn_err err;
	int from = read_options(args, &o), rc = 0;
	uint32_t cases = 0;

	if (from == 0) {
		fputs(args->argc > 0 ? usage : "hone-bench lessons: nothing to do without --store\n",
		      stderr);
		return args->argc > 0 ? 2 : 0;
	}
	hn_arena_init(&arena, 0);
	hn_target_host(&arena, &target);
	rc = hn_emitter_new(&target, &emitter, &err);
	if (rc < 0) {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
		hn_arena_fini(&arena);
		return 1;
	}
	for (uint32_t i = 0; i < hn_suite_n && rc == 0; i++) {
		if (named(&hn_suite[i], args, from)) {
			rc = each_row(&o, &target, emitter, &hn_suite[i]);
			cases++;
		}
	}
	if (cases == 0) {
		fputs("hone-bench: lessons: no case has that name; `hone-bench kernels --list` "
		      "names them\n",
		      stderr);
	}
	hn_emitter_free(emitter);
	hn_arena_fini(&arena);
	return rc < 0 || cases == 0;
}
