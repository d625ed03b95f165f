/* bench/kernels.c -- hone's best kernels against oneDNN, OpenBLAS and the machine.
 *
 *     hone-bench kernels [--case GLOB] [--seconds S | --record FILE | --guards | --auto]
 *                        [--with-guards | --with-auto] [--against FILE] [--save FILE]
 *                        [--threads N] [--cold] [--budget S] [--list]
 *
 * For each case of the suite: hone's schedule (of a log, freshly tuned, by rule, or from the
 * store), every peer that has the operation, and the machine's limits take turns in one process, on
 * the same buffers.  Rows: kernels.time and kernels.ratio of each contender, kernels.share of the
 * limit; kernels.summary of each class at the end.  A ratio above 1 means that hone is
 * faster.
 */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/history.h"
#include "bench/judge.h"
#include "bench/limit.h"
#include "bench/peers.h"
#include "bench/tally.h"
#include "loopstate/read/dag_read.h"
#include "lower/lower.h"
#include "target/target.h"

struct options {
	const char *pattern, *record, *against, *save;
	double seconds, budget;
	int32_t threads;
	bool cold, list;
	const struct rule *by, *with; /* NULL = none */
};

/* Schedules without search or store: what hone's is to be, or takes part beside it. */
static const struct rule {
	const char *as, *beside; /* options */
	const char *name;	 /* of the contender beside */
	void (*find)(const struct hn_dag *dag, const struct hn_target *target,
		     struct hn_arena *a, struct hn_histories *ret);
} rules[] = {
	{ "--guards", "--with-guards", "hone-heuristic", hn_history_of_heuristics },
	{ "--auto", "--with-auto", "hone-auto", hn_history_of_auto },
};

struct machine {
	struct hn_emitter *emitter;
	const struct hn_target *target;
};

static int usage(const char *word)
{
	fprintf(stderr,
		"hone-bench: kernels: %s\n"
		"usage: hone-bench kernels [--case GLOB] [--seconds S | --record FILE | "
		"--guards | --auto]\n"
		"                          [--with-guards | --with-auto] [--against FILE] "
		"[--save FILE]\n"
		"                          [--threads N] [--cold] [--budget S] [--list]\n",
		word);
	return 2;
}

static bool number(const char *text, double least, double most, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return end != text && *end == '\0' && *ret >= least && *ret <= most;
}

/* The value of option i, or false. */
static bool take(const char *name, const char *value, struct options *o)
{
	double v = 0;

	if (strcmp(name, "--case") == 0) {
		o->pattern = value;
	} else if (strcmp(name, "--record") == 0) {
		o->record = value;
	} else if (strcmp(name, "--against") == 0) {
		o->against = value;
	} else if (strcmp(name, "--save") == 0) {
		o->save = value;
	} else if (strcmp(name, "--seconds") == 0) {
		return number(value, 0, 1e6, &o->seconds);
	} else if (strcmp(name, "--budget") == 0) {
		return number(value, 0, 1e4, &o->budget);
	} else if (strcmp(name, "--threads") == 0) {
		bool good = number(value, 1, hone_pool_cpus(), &v);

		o->threads = (int32_t)v;
		return good;
	} else {
		return false;
	}
	return true;
}

static bool take_rule(const char *word, struct options *o)
{
	for (size_t i = 0; i < HN_COUNT_OF(rules); i++) {
		if (strcmp(word, rules[i].as) == 0) {
			o->by = &rules[i];
			return true;
		}
		if (strcmp(word, rules[i].beside) == 0) {
			o->with = &rules[i];
			return true;
		}
	}
	return false;
}

static int read_options(const struct hn_bench_args *args, struct options *o)
{
	for (int i = 0; i < args->argc; i++) {
		const char *word = args->argv[i];

		if (strcmp(word, "--cold") == 0) {
			o->cold = true;
		} else if (strcmp(word, "--list") == 0) {
			o->list = true;
		} else if (take_rule(word, o)) {
			continue;
		} else if (i + 1 == args->argc || !take(word, args->argv[i + 1], o)) {
			return usage(word);
		} else {
			i++;
		}
	}
	return 0;
}

/* The schedules of which the fastest is hone's. */
static int find_steps(const struct options *o, const struct hn_contest *t,
		      const struct machine *m, const char *text, struct hn_arena *a,
		      struct hn_histories *ret, struct hn_err *err)
{
	char key[HN_KEY_BYTES];

	if (o->by != NULL) {
		o->by->find(t->dag, m->target, a, ret);
		return 0;
	}
	if (o->record != NULL) {
		return hn_history_of_log(o->record, t->row->name, a, ret, err);
	}
	ret->n = 1;
	hn_dag_key(t->dag, key);
	return o->seconds > 0 ? hn_history_tuned(t->row->name, text, key, "--seconds",
						 o->seconds, a, ret->steps, err)
			      : hn_history_of_store(key, a, ret->steps, err);
}

static const char *cache(const struct options *o)
{
	return o->cold ? "cold" : "warm";
}

static void print_time(const struct options *o, const struct hn_contest *t, uint32_t i,
		       const struct hn_race_result *r, const struct hn_judgement *j)
{
	double flops = hn_suite_useful_flops(t->row), ns = hn_race_ns(r);
	char context[400], work[100];

	if (flops > 0) {
		snprintf(work, sizeof(work), "\"gflops\": %.1f", flops / ns);
	} else {
		snprintf(work, sizeof(work), "\"gb_s\": %.2f",
			 (double)hn_contest_bytes(t) / ns);
	}
	snprintf(context, sizeof(context),
		 "\"case\": \"%s\", \"contender\": \"%s\", \"threads\": %d, \"cache\": "
		 "\"%s\", %s, \"error\": %.2g, \"differs\": %.2g, \"rounds\": %u",
		 t->row->name, t->contender[i].name, t->n_threads, cache(o), work,
		 j->error, j->differs, r->n_round);
	hn_bench_row("kernels.time", ns * 1e-6, "ms", context);
}

/* Everything measured of a case, as rows; the better of the peers into the tally. */
static void report(const struct options *o, const struct hn_contest *t,
		   const struct hn_race_result *r, const struct hn_judgement *j,
		   struct hn_tally *tally)
{
	struct hn_tally_entry e = { .name = t->row->name,
				    .ns = hn_race_ns(&r[0]),
				    .ratio = INFINITY,
				    .peer = "" };
	const char *limit;
	char common[200], context[300];

	snprintf(common, sizeof(common),
		 "\"case\": \"%s\", \"threads\": %d, \"cache\": \"%s\"", t->row->name,
		 t->n_threads, cache(o));
	for (uint32_t i = 0; i < t->n && !t->contender[i].limit; i++) {
		print_time(o, t, i, &r[i], &j[i]);
	}
	for (uint32_t i = 1; i < t->n && !t->contender[i].limit; i++) {
		double ratio = hn_race_ratio(&r[0], &r[i]);

		if (strcmp(t->contender[i].name, tally->own) == 0) {
			e.own = 1 / ratio;
		} else if (!t->contender[i].own && ratio < e.ratio &&
			   hn_judged_right(&j[i])) {
			e.ratio = ratio;
			e.peer = t->contender[i].name;
		}
		snprintf(context, sizeof(context), "%s, \"peer\": \"%s\"", common,
			 t->contender[i].name);
		hn_bench_row("kernels.ratio", ratio, "x", context);
	}
	if (isfinite(e.ratio)) {
		snprintf(context, sizeof(context), "%s, \"peer\": \"%s\"", common,
			 e.peer);
		hn_bench_row("kernels.best", e.ratio, "x of the best peer", context);
	}
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->contender[i].limit) {
			const char *const one[] = { t->contender[i].name, NULL };
			double share = hn_tally_share(t, r, one, &limit);

			snprintf(context, sizeof(context), "%s, \"limit\": \"%s\"",
				 common, limit);
			if (share > 0) { /* a softmax has no multiply-adds */
				hn_bench_row("kernels.limit", share, "of the limit",
					     context);
			}
		}
	}
	e.share = hn_tally_share(t, r, hn_tally_reading, &limit);
	snprintf(context, sizeof(context), "%s, \"limit\": \"%s\"", common, limit);
	hn_bench_row("kernels.share", e.share, "of the limit", context);
	e.roofline = hn_tally_share(t, r, hn_tally_roofline, &limit);
	snprintf(context, sizeof(context), "%s, \"limit\": \"%s\"", common, limit);
	hn_bench_row("kernels.roofline", e.roofline, "of the roofline", context);
	hn_tally_add(tally, &e);
}

static int run_contest(const struct options *o, struct hn_contest *t,
		       struct hn_tally *tally)
{
	struct hn_race_result result[HN_RACE_MAX_CONTENDER];
	struct hn_judgement judgement[HN_RACE_MAX_CONTENDER] = { 0 };

	hn_peers_enter(t);

	int status = !hn_judge_all(t, judgement);

	hn_contest_limits(t);
	hn_race(t->contender, t->n, t->how | (o->cold ? HN_RACE_COLD : 0), o->budget,
		result);
	report(o, t, result, judgement, tally);
	hn_contest_close(t);
	return status;
}

/* The fastest of those schedules as a contender beside hone's, which is no peer. */
static int enter_beside(struct hn_contest *t, const struct machine *m, const char *name,
			const struct hn_histories *of, struct hn_err *err)
{
	const char *steps;
	int rc = hn_history_fastest(t, m->emitter, of, &steps, err);

	rc = rc ? rc : hn_contest_hone(t, m->emitter, name, steps, err);
	if (rc == 0) {
		t->contender[t->n - 1].own = true;
	}
	return rc;
}

/* hone's contenders: the fastest of its schedules, and of those by rule and of another log
 * where they are asked for beside it. */
static int enter_hone(const struct options *o, struct hn_contest *t,
		      const struct machine *m, const struct hn_histories *of,
		      const char **ret_steps, struct hn_arena *a, struct hn_err *err)
{
	struct hn_histories other;
	int rc = hn_history_fastest(t, m->emitter, of, ret_steps, err);

	rc = rc ? rc : hn_contest_hone(t, m->emitter, "hone", *ret_steps, err);
	if (rc == 0 && o->with != NULL) {
		o->with->find(t->dag, m->target, a, &other);
		rc = enter_beside(t, m, o->with->name, &other, err);
	}
	if (rc == 0 && o->against != NULL) {
		rc = hn_history_of_log(o->against, t->row->name, a, &other, err);
		rc = rc ? rc : enter_beside(t, m, "hone-other", &other, err);
	}
	return rc;
}

/* The contest on a pool of its own. */
static int hold_contest(const struct options *o, struct hn_contest *t,
			const struct machine *m, const struct hn_histories *of,
			const char **ret_steps, struct hn_arena *a,
			struct hn_tally *tally, int *ret_status, struct hn_err *err)
{
	int rc = hn_contest_pool(t, err);

	if (rc == 0) {
		rc = enter_hone(o, t, m, of, ret_steps, a, err);
		*ret_status = rc ? 1 : run_contest(o, t, tally);
		hn_contest_drop_pool(t);
	}
	return rc;
}

/* One case; 0, or an exit status. */
static int bench_row(const struct options *o, const struct hn_suite_row *row,
		     const struct machine *m, struct hn_tally *tally)
{
	struct hn_contest t = { .row = row,
				.n_threads = o->threads,
				.how = o->threads > 1 ? 0 : HN_RACE_OWN_TIME };
	const char *steps = NULL;
	struct hn_histories of;
	struct hn_err err;
	struct hn_buf text;
	struct hn_arena a;
	int rc, status = 1;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	hn_suite_text(row, &text);
	rc = hn_dag_parse(row->name, text.s, text.n, 0, &a, &t.dag, &err);
	rc = rc ? rc : find_steps(o, &t, m, text.s, &a, &of, &err);
	if (rc == 0) {
		hn_contest_arguments(&t, &a);
		rc = hold_contest(o, &t, m, &of, &steps, &a, tally, &status, &err);
		hn_contest_drop_arguments(&t);
	}
	if (rc == 0 && status == 0 && o->save != NULL) {
		rc = hn_history_save(o->save, row->name, steps,
				     tally->entry[tally->n - 1].ns, &err);
	}
	if (rc != 0) {
		fprintf(stderr, "hone-bench: %s: skipped: %s\n", row->name, err.msg);
	}
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	return rc ? 1 : status;
}

static bool any_case(const struct options *o)
{
	for (uint32_t i = 0; i < hn_suite_n; i++) {
		if (fnmatch(o->pattern, hn_suite[i].name, 0) == 0) {
			return true;
		}
	}
	fprintf(stderr,
		"hone-bench: kernels: no case is called \"%s\"; --list names them\n",
		o->pattern);
	return false;
}

static int bench_suite(const struct options *o, const struct machine *m)
{
	struct hn_tally tally = { .own = o->with != NULL ? o->with->name : "" };
	char context[100];
	int status = 0;

	for (uint32_t i = 0; i < hn_suite_n; i++) {
		if (fnmatch(o->pattern, hn_suite[i].name, 0) == 0) {
			status |= bench_row(o, &hn_suite[i], m, &tally);
		}
	}
	snprintf(context, sizeof(context), "\"threads\": %d, \"cache\": \"%s\"",
		 o->threads, cache(o));
	hn_tally_summary(&tally, context);
	free(tally.entry);
	return status;
}

static int list(const struct options *o)
{
	for (uint32_t i = 0; i < hn_suite_n; i++) {
		if (fnmatch(o->pattern, hn_suite[i].name, 0) == 0) {
			struct hn_buf text;

			hn_buf_init(&text);
			hn_suite_text(&hn_suite[i], &text);
			printf("# %s\n%s", hn_suite[i].name, text.s);
			hn_buf_fini(&text);
		}
	}
	return 0;
}

int hn_bench_kernels(const struct hn_bench_args *args);

int hn_bench_kernels(const struct hn_bench_args *args)
{
	struct options o = { .pattern = "*",
			     .budget = 3,
			     .threads = hone_pool_cpus() };
	struct hn_emitter *emitter;
	struct hn_target target;
	struct hn_arena arena;
	struct hn_err err;
	int status = read_options(args, &o);

	if (status == 0 && !any_case(&o)) {
		status = 2;
	}
	if (status != 0 || o.list) {
		return status ? status : list(&o);
	}
	hn_peers_prepare(args);
	hn_arena_init(&arena, 0);
	hn_target_host(&arena, &target);
	status = 1;
	if (hn_emitter_new(&target, &emitter, &err) != 0) {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
	} else {
		hn_peers_note("kernels", NULL);
		status = bench_suite(&o, &(struct machine){ emitter, &target });
		hn_emitter_free(emitter);
	}
	hn_arena_fini(&arena);
	return status;
}
