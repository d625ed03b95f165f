/* bench/regret.c -- what a range of sizes costs: the automatic kernel for the range, made for
 * its largest size, beside the kernel that is made for each size, and beside the libraries.  Where
 * a network has several kernels for parts of a range (graph/net/family.h), so has a case here.
 *
 *   hone-bench regret [--sizes N] [--seconds S] [--threads N] [--tune TRIALS] [WORD]
 *
 * WORD: cases with the word in their name.
 * Sizes are drawn log-uniformly from a fixed seed.  The kernel of a size is the fastest here of
 * the schedules by rule for it (history.h).  With --tune each size is tuned for so many trials
 * beforehand, and that schedule is one of them, too; a range is tuned for as many in each of its
 * parts, as `hone tune NET --dim` does.  All take turns in one process; answers are compared first.
 * Rows: regret.size of each size, regret.summary of each case and of all: the geometric mean and
 * the 95th percentile of the times' ratios.  A regret above 1 is lost; a peer ratio above 1 is won.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "bench/bench.h"
#include "bench/history.h"
#include "bench/judge.h"
#include "bench/peers.h"
#include "graph/net/family.h"
#include "loopstate/dag/size.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/nest/looptree.h"
#include "lower/lower.h"
#include "search/answer.h"

#define MAX_SIZES 200
#define SEED 20260101

struct regret_case {
	const char *name, *text; /* of one size, S */
	enum hn_suite_class class;
	int64_t p[4]; /* the suite's parameters; -k = k * S */
};

static const struct regret_case cases[] = {
	{ "product 768x768",
	  "f(S in [1, 4096], float32 X[S,768], const float32 W[768,768], const float32 b[768]) -> Y {"
	  " C(i,f) +=! X(i,k) * W(f,k) Y(i,f) = C(i,f) + b(f) }",
	  HN_SUITE_dense,
	  { -1, 768, 768, BIAS } },
	{ "bert dense 3072x768",
	  "f(S in [1, 512], float32 X[S,768], const float32 W[3072,768], const float32 b[3072]) -> Y {"
	  " C(i,f) +=! X(i,k) * W(f,k) Y(i,f) = C(i,f) + b(f) }",
	  HN_SUITE_dense,
	  { -1, 3072, 768, BIAS } },
	{ "bert dense 768x3072",
	  "f(S in [1, 512], float32 X[S,3072], const float32 W[768,3072], const float32 b[768]) -> Y {"
	  " C(i,f) +=! X(i,k) * W(f,k) Y(i,f) = C(i,f) + b(f) }",
	  HN_SUITE_dense,
	  { -1, 768, 3072, BIAS } },
	{ "bert scores",
	  "f(S in [1, 512], float32 Q[12,S,64], float32 K[12,S,64], float32 M[12,S]) -> Y {"
	  " C(b,i,j) +=! Q(b,i,k) * K(b,j,k) D(b,i,j) = C(b,i,j) * 0.125 Y(b,i,j) = D(b,i,j) + M(b,j) }",
	  HN_SUITE_scores,
	  { 12, -1, -1, 64 } },
	{ "bert softmax",
	  "f(S in [1, 512], float32 X[12 * S,S]) -> Y { M(i) max=! X(i,k) E(i,j) = exp(X(i,j) - M(i))"
	  " T(i) +=! E(i,k) Y(i,j) = E(i,j) / T(i) }",
	  HN_SUITE_softmax,
	  { -12, -1, 0, 0 } },
	{ "bert values",
	  "f(S in [1, 512], float32 P[12,S,S], float32 V[12,S,64]) -> Y {"
	  " C(b,i,j) +=! P(b,i,k) * V(b,k,j) Y(i,b,j) = C(b,i,j) where i in 0:S }",
	  HN_SUITE_values,
	  { 12, -1, 64, -1 } },
};

struct options {
	const char *word;
	double seconds;
	int64_t n_size, threads, trials;
};

struct machine {
	struct hn_emitter *emitter;
	const struct hn_target *target;
};

/* Ratios of all sizes of a case, or of all cases. */
struct figures {
	uint32_t n, n_peer;
	double regret[MAX_SIZES * HN_COUNT_OF(cases)], peer[MAX_SIZES * HN_COUNT_OF(cases)];
};

static void add(struct figures *f, double regret, double peer)
{
	f->regret[f->n++] = regret;
	if (isfinite(peer)) {
		f->peer[f->n_peer++] = peer;
	}
}

static double mean(const double *x, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += log(x[i]);
	}
	return n > 0 ? exp(sum / n) : NAN;
}

static int order(const void *p, const void *q)
{
	const double *x = p, *y = q;

	return (*x > *y) - (*x < *y);
}

static void summarize(const char *name, struct figures *f)
{
	char context[300];

	if (f->n == 0) {
		return;
	}
	qsort(f->regret, f->n, sizeof(f->regret[0]), order);
	qsort(f->peer, f->n_peer, sizeof(f->peer[0]), order);
	snprintf(context, sizeof(context),
		 "\"case\": \"%s\", \"sizes\": %u, \"p95\": %.3f, \"worst\": %.3f, \"peer\": %.3f, "
		 "\"peer_least\": %.3f",
		 name, f->n, f->regret[(f->n - 1) * 95 / 100], f->regret[f->n - 1],
		 f->n_peer > 0 ? mean(f->peer, f->n_peer) : 0, f->n_peer > 0 ? f->peer[0] : 0);
	hn_bench_row("regret.summary", mean(f->regret, f->n), "x, geometric mean", context);
}

/* The row of the suite that a size makes, for the libraries. */
static void row_of(const struct regret_case *c, int64_t size, struct hn_suite_row *ret)
{
	*ret = (struct hn_suite_row){ .name = c->name, .class = c->class };
	for (uint32_t i = 0; i < 4; i++) {
		ret->p[i] = c->p[i] < 0 ? -c->p[i] * size : c->p[i];
	}
}

/* What tuning finds for these numbers, in front of the schedules by rule. */
static int histories_of(const struct options *o, const struct machine *m, const struct hn_dag *dag,
			struct hn_arena *a, struct hn_histories *ret, struct hn_err *err)
{
	char key[HN_KEY_BYTES];
	const char *tuned;
	struct hn_buf text;
	int rc = 0;

	hn_history_of_heuristics(dag, m->target, a, ret);
	if (o->trials == 0) {
		return 0;
	}
	hn_buf_init(&text);
	hn_dag_key(dag, key);
	hn_dag_write_text(dag, "regret", &text);
	hn_buf_putc(&text, '\0');
	rc = hn_history_tuned("regret", text.s, key, "--trials", (double)o->trials, a, &tuned, err);
	hn_buf_fini(&text);
	if (rc == 0) {
		ret->n = ret->n < HN_HISTORY_MAX ? ret->n + 1 : HN_HISTORY_MAX;
		memmove(ret->steps + 1, ret->steps, (ret->n - 1) * sizeof(*ret->steps));
		ret->steps[0] = tuned;
	}
	return rc;
}

/* The range's kernel, the size's, then the libraries'. */
static int enter(const struct options *o, struct hn_contest *t, const struct machine *m,
		 const struct hn_dag *dag, const int64_t *size, const char *steps,
		 struct hn_arena *a, struct hn_err *err)
{
	struct hn_histories of;
	const char *best;
	int rc = hn_contest_sized(t, m->emitter, "range", dag, size, steps, err);

	rc = rc ? rc : histories_of(o, m, t->dag, a, &of, err);
	rc = rc ? rc : hn_history_fastest(t, m->emitter, &of, &best, err);
	rc = rc ? rc : hn_contest_hone(t, m->emitter, "size", best, err);
	if (rc == 0) {
		t->contender[1].own = true;
		hn_peers_enter(t);
	}
	return rc;
}

static int race(const struct options *o, const struct regret_case *c, struct hn_contest *t,
		int64_t size, struct figures *one, struct figures *all, struct hn_err *err)
{
	struct hn_race_result result[HN_RACE_MAX_CONTENDER];
	struct hn_judgement judgement[HN_RACE_MAX_CONTENDER] = { 0 };
	double peer = INFINITY, regret;
	const char *name = "";
	char context[300];

	if (!hn_judge_all(t, judgement)) {
		return hn_fail(err, HONE_E_INTERNAL, "%s, size %lld: wrong numbers", c->name,
			       (long long)size);
	}
	hn_race(t->contender, t->n, t->how, o->seconds, result);
	for (uint32_t i = 2; i < t->n; i++) {
		double ratio = hn_race_ratio(&result[0], &result[i]);

		if (ratio < peer && hn_judged_right(&judgement[i])) {
			peer = ratio;
			name = t->contender[i].name;
		}
	}
	regret = 1 / hn_race_ratio(&result[0], &result[1]);
	add(one, regret, peer);
	add(all, regret, peer);
	snprintf(context, sizeof(context),
		 "\"case\": \"%s\", \"size\": %lld, \"us\": %.2f, \"peer\": \"%s\", \"ratio\": %.3f",
		 c->name, (long long)size, hn_race_ns(&result[0]) / 1e3, name,
		 isfinite(peer) ? peer : 0);
	hn_bench_row("regret.size", regret, "x", context);
	return 0;
}

static int one_size(const struct options *o, const struct regret_case *c, const struct machine *m,
		    const struct hn_dag *dag, int64_t size, const char *steps, struct figures *one,
		    struct figures *all, struct hn_err *err)
{
	struct hn_suite_row row;
	struct hn_contest t = { .row = &row,
				.n_threads = (int32_t)o->threads,
				.how = o->threads > 1 ? 0 : HN_RACE_OWN_TIME };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	row_of(c, size, &row);
	int rc = hn_dag_instantiate(dag, &size, &a, &t.dag, err);

	if (rc == 0) {
		hn_contest_arguments(&t, &a);
		rc = hn_contest_pool(&t, err);
		if (rc == 0) {
			rc = enter(o, &t, m, dag, &size, steps, &a, err);
			rc = rc ? rc : race(o, c, &t, size, one, all, err);
			hn_contest_close(&t);
			hn_contest_drop_pool(&t);
		}
		hn_contest_drop_arguments(&t);
	}
	hn_arena_fini(&a);
	return rc;
}

/* A part of a case's range: its kernel is the range's, or for its sizes alone. */
struct part {
	const struct hn_dag *dag;
	const char *steps;
	int64_t most;
};

#define MAX_PARTS 8

/* 0: the steps are legal for all sizes of the dag. */
static int check_steps(const struct hn_dag *dag, const char *steps, struct hn_arena *a,
		       struct hn_err *err)
{
	const struct hn_looptree *tree;
	const struct hn_trace *trace;
	const struct hn_state *state;
	int rc = hn_trace_parse("steps", steps, strlen(steps), a, &trace, err);

	rc = rc ? rc : hn_state_replay(dag, trace, a, &state, err);
	rc = rc ? rc : hn_looptree_build(state, a, &tree, err);
	return rc ? rc : hn_legal_check(tree, 20000, err) != HN_VERDICT_OK;
}

/* By rule, as `hone compile` chooses for kernels between other kernels (client/auto.c). */
static void prefer_warm(const struct machine *m, const struct hn_dag *dag, struct hn_arena *a,
			struct hn_histories *of)
{
	struct hn_answers all;

	hn_answers_find(dag, m->target, a, &all);
	hn_answers_prefer_warm(&all);
	if (all.n > 0 && of->n < HN_HISTORY_MAX) {
		struct hn_buf b;

		hn_buf_init(&b);
		hn_trace_write(all.at[0].trace, &b);
		memmove(of->steps + 1, of->steps, of->n++ * sizeof(*of->steps));
		of->steps[0] = hn_arena_strdup(a, b.s);
		hn_buf_fini(&b);
	}
}

/* The first of the schedules of the largest size that is legal for all sizes. */
static int steps_of_range(const struct options *o, const struct machine *m,
			  const struct hn_dag *dag, struct hn_arena *a, const char **ret,
			  struct hn_err *err)
{
	struct hn_histories of;
	const struct hn_dag *top;
	bool legal = false;
	int rc = hn_dag_instantiate(dag, &dag->sizes->size[0].hi, a, &top, err);

	rc = rc ? rc : histories_of(o, m, top, a, &of, err);
	if (rc == 0 && o->trials == 0 && !hn_family_has_weights(dag)) {
		prefer_warm(m, top, a, &of);
	}
	for (uint32_t i = 0; rc == 0 && i < of.n && !legal; i++) {
		*ret = of.steps[i];
		legal = check_steps(dag, *ret, a, err) == 0;
	}
	return rc == 0 && legal ? 0 : HONE_E_NOT_FOUND;
}

/* Sizes from `least` on; "f(S in [1, 512], .." of the case becomes the part's. */
static int make_part(const struct options *o, const struct regret_case *c, const struct machine *m, const struct hn_dag *all,
		     int64_t least, struct hn_arena *a, struct part *ret, struct hn_err *err)
{
	int64_t most = all->sizes->size[0].hi;
	int rc = 0;

	*ret = (struct part){ .dag = all, .most = most };
	if (hn_family_differs(all, 0) && hn_family_end(least, most) < most) {
		const char *text = hn_arena_printf(a, "f(S in [%lld, %lld%s", (long long)least,
						   (long long)hn_family_end(least, most),
						   strchr(c->text, ']'));

		ret->most = hn_family_end(least, most);
		rc = hn_dag_parse_sized(c->name, text, strlen(text), 0, a, &ret->dag, err);
	}
	return rc ? rc : steps_of_range(o, m, ret->dag, a, &ret->steps, err);
}

static int make_parts(const struct options *o, const struct regret_case *c, const struct machine *m, struct hn_arena *a,
		      struct part *ret, uint32_t *ret_n, struct hn_err *err)
{
	const struct hn_dag *all;
	int rc = hn_dag_parse_sized(c->name, c->text, strlen(c->text), 0, a, &all, err);

	*ret_n = 0;
	for (int64_t least = 1; rc == 0 && *ret_n < MAX_PARTS && least <= all->sizes->size[0].hi;) {
		rc = make_part(o, c, m, all, least, a, &ret[*ret_n], err);
		least = ret[(*ret_n)++].most + 1;
	}
	return rc;
}

static int one_case(const struct options *o, const struct regret_case *c, const struct machine *m,
		    struct figures *all, struct hn_err *err)
{
	struct hn_rng r = hn_rng_stream(SEED, 0, 0, 0);
	struct figures *one = calloc(1, sizeof(*one));
	struct part part[MAX_PARTS];
	struct hn_arena a;
	uint32_t n_part;

	hn_assert(one != NULL);
	hn_arena_init(&a, 0);
	int rc = make_parts(o, c, m, &a, part, &n_part, err);

	for (int64_t i = 0; rc == 0 && i < o->n_size; i++) {
		double top = (double)part[n_part - 1].most;
		int64_t size = (int64_t)exp(hn_rng_unit(&r) * log(top + 1));
		const struct part *p = part;

		while (p->most < size) {
			p++;
		}
		rc = one_size(o, c, m, p->dag, size, p->steps, one, all, err);
	}
	summarize(c->name, one);
	free(one);
	hn_arena_fini(&a);
	return rc;
}

static int read_options(const struct hn_bench_args *args, struct options *o)
{
	for (int i = 0; i < args->argc; i++) {
		const char *word = args->argv[i], *value = i + 1 < args->argc ? args->argv[i + 1] : "";

		if (strcmp(word, "--sizes") == 0 && atoi(value) > 0 && atoi(value) <= MAX_SIZES) {
			o->n_size = atoi(args->argv[++i]);
		} else if (strcmp(word, "--seconds") == 0 && atof(value) > 0) {
			o->seconds = atof(args->argv[++i]);
		} else if (strcmp(word, "--threads") == 0 && atoi(value) > 0 &&
			   atoi(value) <= hone_pool_cpus()) {
			o->threads = atoi(args->argv[++i]);
		} else if (strcmp(word, "--tune") == 0 && atoi(value) > 0) {
			o->trials = atoi(args->argv[++i]);
		} else if (word[0] != '-') {
			o->word = word;
		} else {
			fprintf(stderr, "hone-bench: regret: %s\nusage: hone-bench regret [--sizes N]"
					" [--seconds S] [--threads N] [--tune TRIALS] [WORD]\n", word);
			return 2;
		}
	}
	return 0;
}

int hn_bench_regret(const struct hn_bench_args *args);

int hn_bench_regret(const struct hn_bench_args *args)
{
	struct options o = { .word = "", .seconds = 0.3, .n_size = 60, .threads = 1 };
	struct figures *all = calloc(1, sizeof(*all));
	struct hn_emitter *emitter;
	struct hn_target host;
	struct hn_err err = { 0 };
	struct hn_arena a;
	int rc = read_options(args, &o);

	hn_assert(all != NULL);
	if (rc != 0) {
		free(all);
		return rc;
	}
	hn_peers_prepare(args);
	hn_peers_note("regret", NULL);
	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	rc = hn_emitter_new(&host, &emitter, &err);
	for (size_t i = 0; rc == 0 && i < HN_COUNT_OF(cases); i++) {
		if (strstr(cases[i].name, o.word)) {
			rc = one_case(&o, &cases[i], &(struct machine){ emitter, &host }, all, &err);
		}
	}
	summarize("all", all);
	free(all);
	if (rc == 0) {
		hn_emitter_free(emitter);
	} else {
		fprintf(stderr, "hone-bench: regret: %s\n", err.msg);
	}
	hn_arena_fini(&a);
	return rc ? 1 : 0;
}
