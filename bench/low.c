/* bench/low.c -- hone's kernels of low precision against oneDNN and the machine's peak.
 *
 *     hone-bench low [--case GLOB] [--record FILE | --trials N [--tune DIR]] [--against FILE]
 *                    [--save FILE] [--with-guards] [--threads N] [--isa NAME] [--budget S]
 *                    [--list]
 *
 * For each case of low.def hone's best known schedule, the automatic one, every peer's way of
 * saying the case, and the peak of the machine's instruction for the types take turns in one
 * process, on the same buffers.  Rows: low.time of each contender, low.ratio and low.auto to the
 * fastest peer whose answer is right, low.other, low.peak; low.summary of each class at the
 * end.  A table for people goes to standard error.  A ratio above 1 means that hone is faster.
 */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bench/bench.h"
#include "bench/history.h"
#include "bench/judge.h"
#include "bench/limit.h"
#include "bench/low_table.h"
#include "bench/peers.h"
#include "loopstate/read/dag_read.h"
#include "lower/lower.h"
#include "target/target.h"

/* contenders beside hone's best */
#define AUTO "hone-auto"
#define OTHER "hone-other"

struct options {
	const char *pattern, *record, *against, *save, *tune, *isa_name;
	const struct isa *isa;
	double trials, budget, threads;
	bool guards, list;
};

/* What oneDNN may be held to, in its words; tiles: AMX is among it. */
static const struct isa {
	const char *name;
	bool tiles;
} isas[] = {
	{ "ALL", true },
	{ "AVX512_CORE_AMX", true },
	{ "AVX512_CORE_FP16", false },
	{ "AVX512_CORE_BF16", false },
	{ "AVX512_CORE_VNNI", false },
	{ "AVX512_CORE", false },
	{ "AVX2_VNNI", false },
	{ "AVX2", false },
};

struct machine {
	struct hn_emitter *emitter;
	const struct hn_target *target;
};

/* hone's schedules for a case. */
struct schedules {
	struct hn_histories best; /* none known: n = 0 */
	struct hn_histories automatic;
	const char *by; /* where the best is from */
};

static int usage(const char *word)
{
	fprintf(stderr,
		"hone-bench: low: %s\n"
		"usage: hone-bench low [--case GLOB] [--record FILE | --trials N [--tune "
		"DIR]]\n"
		"                      [--against FILE] [--save FILE] [--with-guards] "
		"[--threads N]\n"
		"                      [--isa NAME] [--budget S] [--list]\n",
		word);
	return 2;
}

static bool number(const char *text, double least, double most, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return end != text && *end == '\0' && *ret >= least && *ret <= most;
}

/* The value of an option, or false. */
static bool take(const char *name, const char *value, struct options *o)
{
	const struct {
		const char *name, **to;
	} words[] = {
		{ "--case", &o->pattern },    { "--record", &o->record },
		{ "--against", &o->against }, { "--save", &o->save },
		{ "--tune", &o->tune },	      { "--isa", &o->isa_name },
	};
	const struct {
		const char *name;
		double least, most, *to;
	} numbers[] = {
		{ "--trials", 1, 1e6, &o->trials },
		{ "--budget", 0, 1e4, &o->budget },
		{ "--threads", 1, hone_pool_cpus(), &o->threads },
	};

	for (size_t i = 0; i < HN_COUNT_OF(words); i++) {
		if (strcmp(name, words[i].name) == 0) {
			*words[i].to = value;
			return true;
		}
	}
	for (size_t i = 0; i < HN_COUNT_OF(numbers); i++) {
		if (strcmp(name, numbers[i].name) == 0) {
			return number(value, numbers[i].least, numbers[i].most,
				      numbers[i].to);
		}
	}
	return false;
}

/* The row of that name, or NULL and a line that has them all. */
static const struct isa *isa_of(const char *name)
{
	struct hn_buf all;

	for (size_t i = 0; i < HN_COUNT_OF(isas); i++) {
		if (strcasecmp(name, isas[i].name) == 0) {
			return &isas[i];
		}
	}
	hn_buf_init(&all);
	for (size_t i = 0; i < HN_COUNT_OF(isas); i++) {
		hn_buf_printf(&all, " %s", isas[i].name);
	}
	fprintf(stderr, "hone-bench: low: --isa %s is none of%s\n", name, all.s);
	hn_buf_fini(&all);
	return NULL;
}

static int read_options(const struct hn_bench_args *args, struct options *o)
{
	for (int i = 0; i < args->argc; i++) {
		const char *word = args->argv[i];

		if (strcmp(word, "--with-guards") == 0) {
			o->guards = true;
		} else if (strcmp(word, "--list") == 0) {
			o->list = true;
		} else if (i + 1 == args->argc || !take(word, args->argv[i + 1], o)) {
			return usage(word);
		} else {
			i++;
		}
	}
	if (o->tune != NULL && o->trials == 0) {
		return usage("--tune without --trials");
	}
	o->isa = isa_of(o->isa_name);
	if (o->isa == NULL) {
		return 2;
	}
	return o->record != NULL && o->trials > 0 ? usage("--record with --trials") : 0;
}

/* The process keeps so many of its CPUs: schedules are made and tuned for as many cores as they
 * are timed on. */
static void keep_cpus(int n)
{
	cpu_set_t all, some;

	CPU_ZERO(&some);
	hn_assert(sched_getaffinity(0, sizeof(all), &all) == 0);
	for (int i = 0; i < CPU_SETSIZE && n > 0; i++) {
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &some);
			n--;
		}
	}
	hn_assert(sched_setaffinity(0, sizeof(some), &some) == 0);
}

/* What libraries and `hone tune` read from the environment. */
static void set_environment(const struct options *o)
{
	char path[4096];

	setenv("ONEDNN_MAX_CPU_ISA", o->isa->name, 1);
	if (o->tune != NULL) {
		/* a daemon of the user's own would tune into another store */
		snprintf(path, sizeof(path), "%s/honed.sock", o->tune);
		setenv("HONE_HOME", o->tune, 1);
		setenv("HONE_SOCKET", path, 1);
	}
}

static int find_best(const struct options *o, const struct hn_contest *t,
		     const char *text, struct hn_arena *a, struct schedules *s,
		     struct hn_err *err)
{
	char key[HN_KEY_BYTES];

	if (o->record != NULL) {
		s->by = "record";
		return hn_history_of_log(o->record, t->row->name, a, &s->best, err);
	}
	hn_dag_key(t->dag, key);
	s->best.n = 1;
	s->by = o->trials > 0 ? "tuned" : "store";
	return o->trials > 0 ? hn_history_tuned(t->row->name, text, key, "--trials",
						o->trials, a, s->best.steps, err)
			     : hn_history_of_store(key, a, s->best.steps, err);
}

/* Without a best one the automatic schedule stands for it. */
static int find_schedules(const struct options *o, const struct hn_contest *t,
			  const struct machine *m, const char *text, struct hn_arena *a,
			  struct schedules *s, struct hn_err *err)
{
	int rc = find_best(o, t, text, a, s, err);

	hn_history_of_auto(t->dag, m->target, a, &s->automatic);
	if (rc == -HONE_E_NOT_FOUND && o->trials == 0) {
		s->best.n = 0;
		s->by = "auto";
		rc = 0;
	}
	return rc;
}

/* The fastest of them as the next contender. */
static int enter(struct hn_contest *t, const struct machine *m, const char *name,
		 const struct hn_histories *of, const char **ret_steps,
		 struct hn_err *err)
{
	int rc = hn_history_fastest(t, m->emitter, of, ret_steps, err);

	rc = rc ? rc : hn_contest_hone(t, m->emitter, name, *ret_steps, err);
	if (rc == 0) {
		t->contender[t->n - 1].own = true;
	}
	return rc;
}

/* The same beside hone's best, which goes on without it. */
static void enter_beside(struct hn_contest *t, const struct machine *m, const char *name,
			 const struct hn_histories *of)
{
	const char *steps;
	struct hn_err err;

	if (enter(t, m, name, of, &steps, &err) != 0) {
		fprintf(stderr, "hone-bench: %s: without %s: %s\n", t->row->name, name,
			err.msg);
	}
}

/* Those of the log beside hone's best; a case that is not in it goes without. */
static void enter_other(const struct options *o, struct hn_contest *t,
			const struct machine *m, struct hn_arena *a)
{
	struct hn_histories other;
	struct hn_err err;

	if (hn_history_of_log(o->against, t->row->name, a, &other, &err) == 0) {
		enter_beside(t, m, OTHER, &other);
	} else {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
	}
}

static int enter_hone(const struct options *o, struct hn_contest *t,
		      const struct machine *m, const struct schedules *s,
		      const char **ret_steps, struct hn_arena *a, struct hn_err *err)
{
	bool known = s->best.n > 0;
	int rc = enter(t, m, "hone", known ? &s->best : &s->automatic, ret_steps, err);
	struct hn_histories rule;

	if (rc == 0 && known) {
		enter_beside(t, m, AUTO, &s->automatic);
	}
	if (rc == 0 && o->against != NULL) {
		enter_other(o, t, m, a);
	}
	if (rc == 0 && o->guards) {
		hn_history_of_heuristics(t->dag, m->target, a, &rule);
		enter_beside(t, m, "hone-heuristic", &rule);
	}
	return rc;
}

/* The channels' scales are powers of two, so that every order of scale, bias and zero point gives
 * the same, whatever side computes it; with the boards' other inputs both ends are reached. */
static void set_scales(struct hn_contest *t)
{
	float *scale;

	if (hn_low_epilogue(t->row) == REQUANT) {
		scale = t->arg[3];
		for (int64_t i = 0; i < hn_contest_elements(t, 3); i++) {
			scale[i] = ldexpf(1, -1 - (int)(i % 4));
		}
	}
}

static void print_times(const struct hn_contest *t, const struct hn_race_result *r,
			const struct hn_judgement *j, const struct hn_low_line *line)
{
	char context[400];

	for (uint32_t i = 0; i < t->n; i++) {
		double ns = hn_race_ns(&r[i]);
		double gops = hn_suite_useful_flops(t->row) / ns;

		if (t->contender[i].limit) {
			gops = gops / t->contender[i].amount;
		}
		snprintf(context, sizeof(context),
			 "\"case\": \"%s\", \"contender\": \"%s\", \"threads\": %d, "
			 "\"clock\": \"%s\", \"gops\": %.1f, \"error\": %.2g, "
			 "\"differs\": %.2g, \"rounds\": %u"
			 "%s%s%s",
			 t->row->name, t->contender[i].name, t->n_threads,
			 t->how & HN_RACE_OWN_TIME ? "thread" : "wall", gops, j[i].error,
			 j[i].differs, r[i].n_round, i == 0 ? ", \"by\": \"" : "",
			 i == 0 ? line->by : "", i == 0 ? "\"" : "");
		hn_bench_row("low.time", ns * 1e-6, "ms", context);
	}
}

/* What the table says of a case. */
static void fill_line(const struct hn_contest *t, const struct hn_race_result *r,
		      const struct hn_judgement *j, struct hn_low_line *line)
{
	double flops = hn_suite_useful_flops(t->row);
	bool known = strcmp(line->by, "auto") != 0;
	uint32_t peer = 0, automatic = 0, limit = 0;

	for (uint32_t i = 1; i < t->n; i++) {
		const struct hn_contender *c = &t->contender[i];

		if (c->limit) {
			limit = i;
		} else if (strcmp(c->name, AUTO) == 0) {
			automatic = i;
		} else if (strcmp(c->name, OTHER) == 0) {
			line->other = hn_race_ratio(&r[0], &r[i]);
		} else if (!c->own && hn_judged_right(&j[i]) &&
			   (peer == 0 || hn_race_ns(&r[i]) < hn_race_ns(&r[peer]))) {
			peer = i;
		}
	}
	line->gops = flops / hn_race_ns(&r[0]);
	line->peer = peer > 0 ? t->contender[peer].name : "";
	if (peer > 0) {
		line->peer_gops = flops / hn_race_ns(&r[peer]);
		line->ratio = hn_race_ratio(&r[0], &r[peer]);
	}
	if (automatic > 0 || !known) {
		line->auto_gops = flops / hn_race_ns(&r[automatic]);
		line->auto_ratio = peer > 0 ? hn_race_ratio(&r[automatic], &r[peer]) : 0;
	}
	if (limit > 0) {
		double amount = t->contender[limit].amount;

		line->limit = t->contender[limit].name + strlen("limit-");
		line->peak = amount * hn_race_ratio(&r[0], &r[limit]);
		line->peer_peak =
			peer > 0 ? amount * hn_race_ratio(&r[peer], &r[limit]) : 0;
	}
}

static int run_contest(const struct options *o, struct hn_contest *t, const char *by,
		       struct hn_low_table *table)
{
	struct hn_race_result result[HN_RACE_MAX_CONTENDER];
	struct hn_judgement judgement[HN_RACE_MAX_CONTENDER] = { 0 };
	struct hn_low_line line = { .name = t->row->name, .by = by, .limit = "" };
	int status;

	hn_peers_enter(t);
	status = !hn_judge_all(t, judgement);
	if (!hn_limit_dot(t, o->isa->tiles)) {
		fprintf(stderr,
			"hone-bench: %s: this machine has no instruction for its types, "
			"so there is no peak\n",
			t->row->name);
	}
	hn_race(t->contender, t->n, t->how, o->budget, result);
	fill_line(t, result, judgement, &line);
	print_times(t, result, judgement, &line);
	hn_low_add(table, &line, t->n_threads);
	hn_contest_close(t);
	return status;
}

/* The contest on a pool of its own. */
static int hold_contest(const struct options *o, struct hn_contest *t,
			const struct machine *m, const struct schedules *s,
			const char **ret_steps, struct hn_arena *a,
			struct hn_low_table *table, int *ret_status, struct hn_err *err)
{
	int rc = hn_contest_pool(t, err);

	if (rc == 0) {
		rc = enter_hone(o, t, m, s, ret_steps, a, err);
		if (rc == 0) {
			*ret_status = run_contest(o, t, s->by, table);
		} else {
			hn_contest_close(t);
		}
		hn_contest_drop_pool(t);
	}
	return rc;
}

/* One case; 0, or an exit status. */
static int bench_row(const struct options *o, const struct hn_suite_row *row,
		     const struct machine *m, struct hn_low_table *table)
{
	struct hn_contest t = { .row = row,
				.n_threads = (int32_t)o->threads,
				.how = o->threads > 1 ? 0 : HN_RACE_OWN_TIME };
	const char *steps = NULL;
	struct schedules s;
	struct hn_err err;
	struct hn_buf text;
	struct hn_arena a;
	int rc, status = 1;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	hn_low_text(row, &text);
	rc = hn_dag_parse(row->name, text.s, text.n, 0, &a, &t.dag, &err);
	rc = rc ? rc : find_schedules(o, &t, m, text.s, &a, &s, &err);
	if (rc == 0) {
		hn_contest_arguments(&t, &a);
		set_scales(&t);
		rc = hold_contest(o, &t, m, &s, &steps, &a, table, &status, &err);
		hn_contest_drop_arguments(&t);
	}
	if (rc == 0 && status == 0 && o->save != NULL && s.best.n > 0) {
		rc = hn_history_save(o->save, row->name, steps,
				     hn_suite_useful_flops(row) /
					     table->line[table->n - 1].gops,
				     &err);
	}
	if (rc != 0) {
		fprintf(stderr, "hone-bench: %s: skipped: %s\n", row->name, err.msg);
	}
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	return rc ? 1 : status;
}

/* How many cases match; with --list they are printed. */
static uint32_t matching(const struct options *o)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < hn_low_n; i++) {
		struct hn_buf text;

		if (fnmatch(o->pattern, hn_low[i].name, 0) != 0) {
			continue;
		}
		n++;
		if (o->list) {
			hn_buf_init(&text);
			hn_low_text(&hn_low[i], &text);
			printf("# %s\n%s", hn_low[i].name, text.s);
			hn_buf_fini(&text);
		}
	}
	if (n == 0) {
		fprintf(stderr,
			"hone-bench: low: no case is called \"%s\"; --list names them\n",
			o->pattern);
	}
	return n;
}

static int bench_all(const struct options *o, const struct machine *m)
{
	struct hn_low_table table = { 0 };
	int status = 0;

	for (uint32_t i = 0; i < hn_low_n; i++) {
		if (fnmatch(o->pattern, hn_low[i].name, 0) == 0) {
			status |= bench_row(o, &hn_low[i], m, &table);
		}
	}
	hn_low_summary(&table, (int32_t)o->threads);
	free(table.line);
	return status;
}

int hn_bench_low(const struct hn_bench_args *args);

int hn_bench_low(const struct hn_bench_args *args)
{
	struct options o = { .pattern = "*",
			     .isa_name = "ALL",
			     .budget = 1,
			     .threads = hone_pool_cpus() };
	struct hn_emitter *emitter;
	struct hn_target target;
	struct hn_arena arena;
	struct hn_err err;
	int status = read_options(args, &o);

	if (status == 0 && matching(&o) == 0) {
		status = 2;
	}
	if (status != 0 || o.list) {
		return status;
	}
	hn_peers_prepare(args);
	keep_cpus((int)o.threads);
	set_environment(&o);
	hn_arena_init(&arena, 0);
	hn_target_host(&arena, &target);
	status = 1;
	if (hn_emitter_new(&target, &emitter, &err) != 0) {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
	} else {
		hn_peers_note("low", "onednn");
		status = bench_all(&o, &(struct machine){ emitter, &target });
		hn_emitter_free(emitter);
	}
	hn_arena_fini(&arena);
	return status;
}
