/* One pair of a random program and a random history, judged: the evaluation, the quick and the
 * exact legality check and the machine code have to tell the same story.
 *
 * Kernels run on guarded memory (random_runs.h): alone, with workers in any order, with real
 * threads, with what was prepared before the call, and for several sizes. */
#ifndef HN_TESTS_RANDOM_PAIRS_H
#define HN_TESTS_RANDOM_PAIRS_H

#include "loopstate/read/dag_read.h"
#include "loopstate/nest/quick.h"
#include "search/search_int.h"
#include "sketch/heuristic.h"
#include "sketch/sketch.h"
#include "tests/lib/exact_eval.h"
#include "tests/lib/looptree_trace.h"
#include "tests/lib/lower_edits.h"
#include "tests/lib/lower_histories.h"
#include "tests/lib/lower_run.h"
#include "tests/lib/mutated.h"
#include "tests/lib/random_dags.h"
#include "tests/lib/random_runs.h"

#define RP_HISTORIES 6 /* of each program */
#define RP_LEGAL_MS 20000

/* Where a history comes from. */
enum rp_source { RP_WILD, RP_RANDOM, RP_FILL, RP_MUTATED, RP_SEARCHED };

static const enum rp_source rp_sources[RP_HISTORIES] = { RP_WILD,    RP_RANDOM,   RP_FILL,
							 RP_MUTATED, RP_SEARCHED, RP_WILD };

struct rp_counts {
	uint64_t programs, refused, inexact, sized, pairs, sketched, run, unbuilt, unknown,
		reordered, unsupported, illegal, damaged, unfilled, right, missed, plain, plain_missed,
		drawn, drawn_missed, /* right ones, and refused: by the exact check; by the quick
				      * one, without sizes; of those what a search draws */
		alike; /* right in number alone: their order is another one, and the terms of
			* these inputs do not tell */
};

struct rp_bench { /* what outlives a program */
	struct hn_emitter *em;
	struct hn_target host;
	struct hn_arena arena;
	struct hn_quick *quick;
	struct hone_pool *pool;
	struct rp_counts n;
	char note[RP_NOTE]; /* of the last failure */
};

struct rp_program {
	struct hn_arena a;
	const struct hn_dag *dag;
	struct rd_kind kind;
	bool inexact;
	struct rr_cases cases;
	struct hn_sketches sketches; /* of what has no sizes */
};

static void rp_bench_open(struct rp_bench *b)
{
	struct hn_err err = { 0 };

	memset(b, 0, sizeof(*b));
	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	hn_arena_init(&b->arena, 0);
	hn_target_host(&b->arena, &b->host);
	b->quick = hn_quick_new();
	b->pool = hone_pool_create(3);
	if (b->pool == NULL || hn_emitter_new(&b->host, &b->em, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
}

static void rp_bench_close(struct rp_bench *b)
{
	hone_pool_destroy(b->pool);
	hn_quick_free(b->quick);
	hn_emitter_free(b->em);
	hn_arena_fini(&b->arena);
}

static void rp_close(struct rp_program *p)
{
	rr_cases_close(&p->cases);
	hn_arena_fini(&p->a);
}

/* The dag with each tensor under the name of the one before it of its kind: names say nothing,
 * ids do. */
static const struct hn_dag *rp_rename(const struct hn_dag *dag, struct hn_arena *a)
{
	struct hn_op *op = HN_NEW_ARRAY(a, struct hn_op, dag->n_op);
	const struct hn_op **list = HN_NEW_ARRAY(a, const struct hn_op *, dag->n_op);
	struct hn_dag *r = HN_NEW(a, struct hn_dag);

	for (uint32_t i = 0; i < dag->n_op; i++) {
		uint32_t of = i;

		do {
			of = of > 0 ? of - 1 : dag->n_op - 1;
		} while (dag->op[of]->kind != dag->op[i]->kind);
		op[i] = *dag->op[i];
		op[i].name = dag->op[of]->name;
		list[i] = &op[i];
	}
	*r = *dag;
	r->op = list;
	return r;
}

/* 0, or -1 with b->note when the text is refused. */
static int rp_open(struct rp_bench *b, const char *text, const struct rd_kind *kind,
		   bool inexact, struct rp_program *ret)
{
	struct hn_err err = { 0 };

	memset(ret, 0, sizeof(*ret));
	hn_arena_init(&ret->a, 0);
	ret->inexact = inexact;
	ret->kind = *kind;
	if (hn_dag_parse_sized("t", text, strlen(text), 0, &ret->a, &ret->dag, &err)) {
		snprintf(b->note, sizeof(b->note), "%s", err.msg);
		hn_arena_fini(&ret->a);
		return -1;
	}
	ret->kind.sized = ret->dag->sizes != NULL;
	if (ret->kind.renamed) {
		ret->dag = rp_rename(ret->dag, &ret->a);
	}
	if (rr_cases_open(ret->dag, kind->family, &ret->a, &ret->cases, &err) ||
	    (!ret->kind.sized &&
	     hn_sketch_generate_own(ret->dag, &b->host, &ret->a, &ret->sketches, &err))) {
		fprintf(stderr, "%s\n%s", err.msg, text);
		abort();
	}
	for (uint32_t i = 0; i < ret->cases.n && kind->family == RD_WHOLE; i++) {
		if (!rr_in_range(&ret->cases.at[i], kind->family)) {
			snprintf(b->note, sizeof(b->note), "it leaves the range of numbers");
			rr_cases_close(&ret->cases);
			hn_arena_fini(&ret->a);
			return -1;
		}
	}
	return 0;
}

/* Loop `at` in two, the inner a part of `of`: then its digits are sums of the two. */
static void rp_split_even(struct draw *d, int32_t stage, int32_t at, int64_t of)
{
	int64_t len = 2 + draw(d, of < 8 ? of : 8);
	const struct hn_state *next;

	if (of % len == 0) {
		keep(d, hn_split(d->s, stage, at, &len, 1, true, d->a, &next, NULL), &next);
	}
}

/* Two loops of the stage, or more, as one. */
static void rp_fuse(struct draw *d, int32_t stage)
{
	int64_t n = d->s->stage[stage]->n_iter;
	const struct hn_state *next;

	if (n < 2) {
		return;
	}
	int32_t first = (int32_t)draw(d, n - 1);
	const struct hn_iter *x = &d->s->stage[stage]->iter[first];

	if (x[0].ann == HN_ANN_NONE && x[1].ann == HN_ANN_NONE) {
		uint32_t more = draw(d, 4) ? 0 : (uint32_t)draw(d, n - first - 1);

		int64_t last = x[1 + more].extent;

		keep(d, hn_fuse(d->s, stage, first, 2 + more, d->a, &next, NULL), &next);
		rp_split_even(d, stage, first, last);
	}
}

/* The program that a tape says; false when it is refused. */
static inline bool rp_open_tape(struct rp_bench *b, const uint32_t *tape,
				struct rp_program *p)
{
	struct hn_buf text;
	bool inexact;

	hn_buf_init(&text);
	struct rd_kind kind = rd_kind(tape);

	rd_program_any(tape, RD_TAPE, &text, &inexact);
	b->n.programs++;
	b->n.inexact += inexact;
	int rc = rp_open(b, text.s, &kind, inexact, p);

	b->n.sized += rc == 0 && p->kind.sized;
	if (rc && getenv("HONE_REFUSED")) {
		fprintf(stderr, "%s\n%s\n", b->note, text.s);
	}
	b->n.refused += rc != 0;
	hn_buf_fini(&text);
	return rc == 0;
}

/* Loops fused and a pragma, beyond what random_history does. */
static const struct hn_state *rp_more(const struct hn_state *s, uint64_t seed,
				      struct hn_arena *a)
{
	struct draw d = { s, hn_rng_stream(seed, 8, 8, 8), a };
	const struct hn_state *next;

	for (int32_t i = 0; i < (int32_t)d.s->n_stage; i++) {
		if (d.s->dag->sizes != NULL || draw(&d, 3) == 0) {
			rp_fuse(&d, i);
			if (draw(&d, 2)) { /* guards that are linear in neither */
				split_all(&d, i);
			}
		}
		if (d.s->stage[i]->n_iter > 0 && draw(&d, 4) == 0) {
			keep(&d,
			     hn_pragma(d.s, i, 0, "auto_unroll_max_step$16", a, &next,
				       NULL),
			     &next);
		}
	}
	return d.s;
}

/* A reduction in two (rfactor), over any of its loops. */
static void rp_factor(struct draw *d, int32_t stage)
{
	const struct hn_stage *of = d->s->stage[stage];
	const struct hn_state *next;
	int64_t len = 1 + draw(d, 4);
	int32_t at = -1, n = 0;

	for (int32_t i = 0; i < (int32_t)of->n_iter; i++) {
		if (of->iter[i].kind == HN_ITER_REDUCE && draw(d, ++n) == 0) {
			at = i;
		}
	}
	if (at >= 0) {
		keep(d, hn_split(d->s, stage, at, &len, 1, true, d->a, &next, NULL), &next);
		keep(d,
		     hn_rfactor(d->s, stage, at + (int32_t)draw(d, 2), (int32_t)draw(d, 2), d->a,
				&next, NULL),
		     &next);
	}
}

/* Stages of its own: reductions in two, copies before readers and behind writers. */
static void rp_derive(struct draw *d)
{
	const struct hn_state *next;
	int32_t reader[8];
	int64_t list[1];

	for (int32_t i = (int32_t)d->s->n_stage - 1; i >= 0; i--) {
		if (draw(d, 2)) {
			rp_factor(d, i);
		}
	}
	int32_t stage = (int32_t)draw(d, d->s->n_stage);

	if (draw(d, 2) && hn_state_consumers(d->s, stage, reader, 8) > 0) {
		struct hn_step step = { .kind = HN_STEP_cache_read,
					.stage = stage,
					.list = list,
					.n_list = 1,
					.text = "local" };

		list[0] = reader[0];
		keep(d, hn_state_apply(d->s, &step, d->a, &next, NULL), &next);
	}
	if (draw(d, 2)) {
		stage = (int32_t)draw(d, d->s->n_stage);
		keep(d, hn_cache_write(d->s, stage, "local", d->a, &next, NULL), &next);
	}
}

/* Like random_history, with derived stages, and attached to any of the readers. */
static const struct hn_state *rp_wild(const struct hn_dag *dag, uint64_t seed,
				      struct hn_arena *a)
{
	struct draw d = { hn_state_init(dag, a), hn_rng_stream(seed, 10, 3, 4), a };
	const struct hn_state *next;
	int32_t reader[8];

	rp_derive(&d);
	bool inlines = draw(&d, 3) == 0; /* nearly all that can be: bodies grow, and are simplified */

	for (int32_t i = (int32_t)d.s->n_stage - 1; i >= 0; i--) {
		if (d.s->dag->op[i]->kind != HN_OP_COMPUTE) {
			continue;
		}
		if (inlines ? draw(&d, 4) > 0 : draw(&d, 5) == 0) {
			keep(&d, hn_compute_inline(d.s, i, a, &next, NULL), &next);
		}
		if (d.s->stage[i]->at == HN_AT_INLINED) {
			continue;
		}
		if (dag->sizes != NULL && draw(&d, 2)) {
			rp_fuse(&d, i);
		}
		split_all(&d, i);
		shuffle_loops(&d, i);
		annotate_loops(&d, i);
		uint32_t n = hn_state_consumers(d.s, i, reader, 8);

		if (n > 0 && n <= 8 && draw(&d, 3)) {
			int32_t to = reader[draw(&d, n)];
			int64_t n_iter = d.s->stage[to]->n_iter;

			if (n_iter > 0) {
				keep(&d,
				     hn_compute_at(d.s, i, to, (int32_t)draw(&d, n_iter),
						   a, &next, NULL),
				     &next);
			}
		}
	}
	return rp_more(d.s, seed, a);
}

/* A fill of a sketch; NULL when none of 20 draws is one. */
static const struct hn_state *rp_fill_sketch(struct rp_bench *b, struct rp_program *p,
					     struct hn_rng *rng, const struct hn_sketch **ret_of,
					     struct hn_arena *a)
{
	const struct hn_state *s;

	for (int i = 0; i < 20; i++) {
		*ret_of = &p->sketches.sketch[hn_rng_below(rng, p->sketches.n)];
		if (hn_sketch_fill(*ret_of, &b->host, rng, a, &s) == HN_VERDICT_OK) {
			return s;
		}
	}
	return NULL;
}

/* What a search makes: a heuristic schedule, or a fill and some of its mutations. */
static const struct hn_state *rp_searched(struct rp_bench *b, struct rp_program *p,
					  struct hn_rng *rng, struct hn_arena *a)
{
	const struct hn_state *guard[HN_HEURISTIC_MAX], *next;
	const struct hn_sketch *of;
	struct hn_plan *plan;
	const char *origin;

	if (hn_rng_below(rng, 3) == 0) {
		return guard[hn_rng_below(rng, hn_heuristics(p->dag, &b->host, a, guard))];
	}
	const struct hn_state *s = rp_fill_sketch(b, p, rng, &of, a);

	for (uint64_t n = 1 + hn_rng_below(rng, 4); s != NULL && n > 0; n--) {
		const struct hn_plan *other =
			hn_plan_of(of, s->trace, a, &plan)
				? hn_mutate(of, plan, NULL, rng, a, &origin)
				: NULL;

		if (other != NULL && hn_sketch_rebuild(of, other, &b->host, rng, a, &next) ==
					     HN_VERDICT_OK) {
			s = next;
		}
	}
	return s;
}

/* A fill that is changed in ways that need not be right. */
static const struct hn_state *rp_mutated(struct rp_bench *b, struct rp_program *p, uint64_t seed,
					 struct hn_arena *a)
{
	struct mutated m = mutated_draw(p->dag, &p->sketches, &b->host, seed, 0, a);
	const struct hn_state *s;

	return m.trace && hn_state_replay(p->dag, m.trace, a, &s, NULL) == 0 ? s : NULL;
}

/* History h of a seed; NULL when there is none. */
static inline const struct hn_state *rp_history(struct rp_bench *b, struct rp_program *p,
					 uint64_t seed, uint32_t h, struct hn_arena *a)
{
	struct hn_rng rng = hn_rng_stream(seed, 9, h, 0);
	uint64_t own = seed * RP_HISTORIES + h;
	enum rp_source from = p->kind.sized ? (h % 2 ? RP_RANDOM : RP_WILD) : rp_sources[h];
	const struct hn_sketch *of;
	const struct hn_state *s = NULL;

	switch (from) {
	case RP_WILD:
		return rp_wild(p->dag, own, a);
	case RP_RANDOM:
		return rp_more(random_history(p->dag, own, a), own, a);
	case RP_FILL:
		s = rp_fill_sketch(b, p, &rng, &of, a);
		break;
	case RP_SEARCHED:
		s = rp_searched(b, p, &rng, a);
		break;
	default:
		s = rp_mutated(b, p, own, a);
	}
	b->n.sketched += s != NULL;
	b->n.unfilled += s == NULL;
	return s;
}

static double rp_tolerance(const struct rp_program *p)
{
	if (!p->inexact) {
		return 0;
	}
	return p->dag->op[p->dag->arg[0]]->dtype[0] == HN_F64 ? 1e-12 : 1e-5;
}

/* Machine code of the tree, run each way on all cases. */
static enum rp_verdict rp_emit(struct rp_bench *b, struct rp_program *p,
			       const struct hn_looptree *t, bool scalar, struct hn_arena *a)
{
	struct hn_emit_options o = { .symbol = "k", .scalar = scalar };
	struct run_kernel k = { 0 };
	struct hn_err err = { 0 };
	int rc = hn_emit(b->em, t, &o, a, &k.artefact, &err);
	struct rr_bed bed = { .kernel = &k,
			      .pool = b->pool,
			      .sized = p->kind.sized,
			      .family = p->kind.family,
			      .tolerance = rp_tolerance(p),
			      .note = b->note };

	if (rc == -HONE_E_UNSUPPORTED) {
		b->n.unsupported++;
		snprintf(b->note, sizeof(b->note), "%s", err.msg);
		return RP_PASS;
	}
	if (rc) {
		snprintf(b->note, sizeof(b->note), "%s", err.msg);
		return RP_BUILD;
	}
	run_load(&k, "k");

	enum rp_verdict v = rr_all(&bed, &p->cases);

	run_unload(&k);
	return v;
}

/* The naive program, once: of a bitwise task it is the answer. */
static enum rp_verdict rp_naive(struct rp_bench *b, struct rp_program *p)
{
	const struct hn_looptree *t;
	enum rp_verdict v = RP_PASS;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (!p->cases.known && hn_looptree_build(hn_state_init(p->dag, &a), &a, &t, NULL) == 0) {
		v = rp_emit(b, p, t, /* scalar= */ true, &a);
	}
	p->cases.known = true;
	hn_arena_fini(&a);
	return v == RP_WRONG ? RP_NAIVE : v;
}

/* The same tree made wrong: where that shows in the numbers both checks must refuse it. */
static enum rp_verdict rp_damage(struct rp_bench *b, struct rp_program *p,
				 const struct hn_looptree *t, uint64_t seed,
				 struct hn_arena *a)
{
	static const edit_fn edits[] = { shorten_reduction, shorten_spatial, drop_init,
					 drop_guards, tighten_guards, swap_children,
					 repeat_reduction, lengthen_spatial };
	struct hn_looptree damaged = *t;
	struct hn_err err = { 0 };
	char why[300];

	damaged.root = edit_tree(t->root, edits[seed % HN_COUNT_OF(edits)], a);
	if (exact_right(&damaged, &p->cases, why)) {
		return RP_PASS;
	}
	b->n.damaged++;
	snprintf(b->note, sizeof(b->note), "edit %d: %s", (int)(seed % HN_COUNT_OF(edits)), why);
	return hn_quick_legal(b->quick, &damaged, NULL) ||
			       hn_legal_check(&damaged, RP_LEGAL_MS, &err) == HN_VERDICT_OK
		       ? RP_DAMAGE
		       : RP_PASS;
}

/* Whether a tree that is right in number reorders a reduction that has to keep its order: what is
 * summed does not tell, with these inputs. */
static bool rp_alike(const struct rp_program *p, const struct hn_looptree *t)
{
	bool reordered = false;
	char why[300];

	for (uint32_t i = 0; i < p->cases.n && !reordered; i++) {
		reordered = !exact_once(t, &p->cases.at[i], p->cases.family, 0,
					/* formal= */ true, why) &&
			    strncmp(why, "reordered", strlen("reordered")) == 0;
	}
	return reordered;
}

/* A right tree: was it refused in error, and by whom? */
static void rp_count(struct rp_bench *b, const struct rp_program *p, uint64_t seed, bool legal,
		     bool quick)
{
	bool drawn = rp_sources[seed % RP_HISTORIES] >= RP_FILL;

	b->n.right++;
	b->n.missed += !legal;
	if (!p->kind.sized) {
		b->n.plain++;
		b->n.plain_missed += !quick;
		b->n.drawn += drawn;
		b->n.drawn_missed += drawn && !quick;
	}
}

static void rp_show(const struct rp_program *p, const struct hn_looptree *t, const char *who,
		    const char *why)
{
	struct hn_buf text;

	if (getenv("HONE_REFUSED")) {
		hn_buf_init(&text);
		hn_dag_write_text(p->dag, "f", &text);
		hn_looptree_print(t, &text);
		fprintf(stderr, "refused by the %s check, and right: %s\n%s\n", who, why, text.s);
		hn_buf_fini(&text);
	}
}

/* Both checks and the evaluation on one tree; *ret_legal: the exact check takes it.  Right ones
 * that it refuses are findings, but where a law would have to be known of the combiner. */
static enum rp_verdict rp_legal(struct rp_bench *b, struct rp_program *p,
				const struct hn_looptree *t, uint64_t seed, bool *ret_legal)
{
	bool may_be_wrong = rp_sources[seed % RP_HISTORIES] == RP_MUTATED;
	const struct rr_case *c = &p->cases.at[seed % p->cases.n];
	struct hn_err err = { 0 }, quick_err = { 0 };
	enum hn_verdict v = hn_legal_check(t, RP_LEGAL_MS, &err);
	bool quick = hn_quick_legal(b->quick, t, &quick_err), legal = v == HN_VERDICT_OK;
	bool order = strstr(err.msg, "may not be reordered") != NULL;
	char why[300];

	*ret_legal = legal;
	if (quick && v == HN_VERDICT_ILLEGAL) {
		snprintf(b->note, sizeof(b->note), "the exact check: %s", err.msg);
		return RP_QUICK;
	}
	bool right = legal ? exact_once(t, c, p->cases.family, seed % 3, /* formal= */ true, why)
			   : exact_right(t, &p->cases, why);

	b->n.unknown += !legal && v != HN_VERDICT_ILLEGAL;
	b->n.illegal += v == HN_VERDICT_ILLEGAL;
	b->n.reordered += order;
	snprintf(b->note, sizeof(b->note), "evaluation: %s; the check: %.600s",
		 right ? "right" : why, legal ? "legal" : err.msg);
	if (!right && !legal) {
		/* What cannot be right is refused before there is a tree. */
		return may_be_wrong || order || v != HN_VERDICT_ILLEGAL ? RP_PASS : RP_TREE;
	}
	if (right && !legal && rp_alike(p, t)) {
		b->n.alike++;
	} else if (right) {
		rp_count(b, p, seed, legal, quick);
		if (!legal || (!quick && !p->kind.sized)) {
			rp_show(p, t, legal ? "quick" : "exact", legal ? quick_err.msg : err.msg);
		}
	}
	return legal != right && !order && (legal || v == HN_VERDICT_ILLEGAL) ? RP_LEGALITY
									       : RP_PASS;
}

static inline enum rp_verdict rp_judge(struct rp_bench *b, struct rp_program *p,
				const struct hn_state *s, uint64_t seed, struct hn_arena *a)
{
	const struct hn_looptree *t;
	enum rp_verdict v;
	bool legal;

	b->n.pairs++;
	v = rp_naive(b, p);
	if (v != RP_PASS) {
		return v;
	}
	if (hn_looptree_build(s, a, &t, NULL)) {
		b->n.unbuilt++;
		return RP_PASS;
	}
	v = rp_legal(b, p, t, seed, &legal);
	if (v != RP_PASS || !legal) {
		return v;
	}
	v = rp_emit(b, p, t, /* scalar= */ false, a);
	b->n.run++;
	return v == RP_PASS && seed % 4 == 0 ? rp_damage(b, p, t, seed / 4, a) : v;
}

#endif
