/* One pair of a random program and a random history, judged: the evaluator, the exact
 * legality check and the machine code have to tell the same story.
 *
 * Needs looptree_eval.h, lower_histories.h, lower_run.h, lower_edits.h and random_dags.h
 * before it. */
#ifndef HN_TESTS_RANDOM_PAIRS_H
#define HN_TESTS_RANDOM_PAIRS_H

#include "sketch/sketch.h"

#define RP_HISTORIES 6 /* of each program: generic ones first, then fills of sketches */
#define RP_GENERIC 3
#define RP_LEGAL_MS 20000
#define RP_NOTE 1100

enum rp_verdict {
	RP_PASS,
	RP_REFUSED,
	RP_TREE,
	RP_LEGALITY,
	RP_DAMAGE,
	RP_BUILD,
	RP_RUN,
	RP_WRONG,
	RP_GUARD,
	RP_CRASH
};

static const char *const rp_names[] = { "pass",
					"refused",
					"history accepted, its tree is wrong and refused",
					"legality check against evaluation",
					"damage that the legality check let pass",
					"emit",
					"the kernel's return value",
					"wrong numbers",
					"written past an argument",
					"crash or hang" };

struct rp_counts {
	uint64_t programs, refused, inexact, pairs, sketched, run, unbuilt, unknown,
		reordered, unsupported, damaged, unfilled;
};

struct rp_bench { /* what outlives a program */
	struct hn_emitter *em;
	struct hn_target host;
	struct hn_arena arena;
	struct rp_counts n;
	char note[RP_NOTE]; /* of the last failure */
};

struct rp_program {
	struct hn_arena a;
	const struct hn_dag *dag;
	bool inexact;
	struct eval meaning;
	struct run_args want;
	struct hn_sketches sketches;
};

static void rp_bench_open(struct rp_bench *b)
{
	struct hn_err err = { 0 };

	memset(b, 0, sizeof(*b));
	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	hn_arena_init(&b->arena, 0);
	hn_target_host(&b->arena, &b->host);
	if (hn_emitter_new(&b->host, &b->em, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
}

static void rp_bench_close(struct rp_bench *b)
{
	hn_emitter_free(b->em);
	hn_arena_fini(&b->arena);
}

/* Whole numbers, so that sums are exact (random_dags.h). */
static void rp_fill(const struct hn_dag *dag, struct run_args *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		struct hn_rng r = hn_rng_stream(5, 6, i, 0);
		size_t n = x->bytes[i] / hn_dtype_bytes(x->dtype[i]);

		for (size_t k = 0; k < n && i < dag->n_input; k++) {
			int32_t v = (int32_t)hn_rng_below(&r, 4) + 1;

			if (x->dtype[i] == HN_I32) {
				((int32_t *)x->at[i])[k] = v - 1;
			} else if (x->dtype[i] == HN_F32) {
				((float *)x->at[i])[k] = (float)(v > 2 ? v - 5 : v);
			} else {
				((double *)x->at[i])[k] = v > 2 ? v - 5 : v;
			}
		}
	}
}

/* 0, or -1 with b->note when the text is refused. */
static int rp_open(struct rp_bench *b, const char *text, bool inexact,
		   struct rp_program *ret)
{
	struct hn_err err = { 0 };

	hn_arena_init(&ret->a, 0);
	ret->inexact = inexact;
	if (hn_dag_from_text("t", text, strlen(text), 0, &ret->a, &ret->dag, &err)) {
		snprintf(b->note, sizeof(b->note), "%s", err.msg);
		hn_arena_fini(&ret->a);
		return -1;
	}
	run_args_make(ret->dag, 11, &ret->want);
	rp_fill(ret->dag, &ret->want);
	eval_dag(&ret->meaning, ret->dag);
	if (ret->meaning.fault[0] || hn_interpret(ret->dag, ret->want.at, &err) ||
	    hn_sketch_generate_own(ret->dag, &b->host, &ret->a, &ret->sketches, &err)) {
		fprintf(stderr, "%s%s\n%s", ret->meaning.fault, err.msg, text);
		abort();
	}
	return 0;
}

static void rp_close(struct rp_program *p)
{
	eval_free(&p->meaning);
	run_args_free(&p->want);
	hn_arena_fini(&p->a);
}

/* Loops fused and a pragma, beyond what random_history does. */
static const struct hn_state *rp_more(const struct hn_state *s, uint64_t seed,
				      struct hn_arena *a)
{
	struct draw d = { s, hn_rng_stream(seed, 8, 8, 8), a };
	const struct hn_state *next;

	for (int32_t i = 0; i < (int32_t)d.s->n_stage; i++) {
		int64_t n = d.s->stage[i]->n_iter;

		if (n > 1 && draw(&d, 3) == 0) {
			int32_t first = (int32_t)draw(&d, n - 1);
			const struct hn_iter *x = &d.s->stage[i]->iter[first];

			if (x[0].ann == HN_ANN_NONE && x[1].ann == HN_ANN_NONE) {
				keep(&d, hn_fuse(d.s, i, first, 2, a, &next, NULL),
				     &next);
			}
		}
		if (n > 0 && draw(&d, 4) == 0) {
			keep(&d,
			     hn_pragma(d.s, i, 0, "auto_unroll_max_step$16", a, &next,
				       NULL),
			     &next);
		}
	}
	return d.s;
}

/* Stages of its own: a reduction in two (rfactor), copies before readers and behind
 * writers. */
static void rp_derive(struct draw *d)
{
	const struct hn_state *next;
	int32_t stage = (int32_t)draw(d, d->s->n_stage);
	int64_t len = 1 + draw(d, 4);
	int32_t reader[8];
	int64_t list[1];

	for (int32_t i = 0; i < (int32_t)d->s->stage[stage]->n_iter; i++) {
		if (d->s->stage[stage]->iter[i].kind == HN_ITER_REDUCE && draw(d, 2)) {
			keep(d,
			     hn_split(d->s, stage, i, &len, 1, true, d->a, &next, NULL),
			     &next);
			keep(d,
			     hn_rfactor(d->s, stage, i + (int32_t)draw(d, 2),
					(int32_t)draw(d, 2), d->a, &next, NULL),
			     &next);
			break;
		}
	}
	stage = (int32_t)draw(d, d->s->n_stage);
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
	for (int32_t i = (int32_t)d.s->n_stage - 1; i >= 0; i--) {
		if (d.s->dag->op[i]->kind != HN_OP_COMPUTE) {
			continue;
		}
		if (draw(&d, 5) == 0) {
			keep(&d, hn_compute_inline(d.s, i, a, &next, NULL), &next);
		}
		if (d.s->stage[i]->at == HN_AT_INLINED) {
			continue;
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

/* History h of a seed: NULL when no fill of a sketch is legal. */
static const struct hn_state *rp_history(struct rp_bench *b, struct rp_program *p,
					 uint64_t seed, uint32_t h, struct hn_arena *a)
{
	struct hn_rng rng = hn_rng_stream(seed, 9, h, 0);
	const struct hn_state *s;

	if (h == 0) {
		return rp_wild(p->dag, seed, a);
	}
	if (h < RP_GENERIC) {
		return rp_more(random_history(p->dag, seed * RP_HISTORIES + h, a),
			       seed + h, a);
	}
	for (int i = 0; i < 20; i++) {
		uint64_t k = hn_rng_below(&rng, p->sketches.n);

		if (hn_sketch_fill(&p->sketches.sketch[k], &b->host, &rng, a, &s) ==
		    HN_VERDICT_OK) {
			b->n.sketched++;
			return s;
		}
	}
	b->n.unfilled++;
	return NULL;
}

static double rp_tolerance(const struct rp_program *p)
{
	if (!p->inexact) {
		return 0;
	}
	return p->dag->op[p->dag->arg[0]]->dtype[0] == HN_F64 ? 1e-12 : 1e-5;
}

/* Machine code of the tree, run with `env` (NULL: no threads), and the interpreter. */
static enum rp_verdict rp_call(struct rp_bench *b, struct rp_program *p,
			       const struct run_kernel *k, const struct hone_env *env)
{
	enum rp_verdict v = RP_PASS;
	struct run_args got;

	run_args_make(p->dag, 11, &got);
	rp_fill(p->dag, &got);
	int32_t rc = k->fn(got.at, env);
	double d = run_difference(&p->want, &got);

	snprintf(b->note, sizeof(b->note), "%s threads: returned %d, differs by %g",
		 env ? "with" : "no", rc, d);
	if (rc != 0) {
		v = RP_RUN;
	} else if (!run_guards_hold(&got)) {
		v = RP_GUARD;
	} else if (!(d <= rp_tolerance(p))) {
		v = RP_WRONG;
	}
	run_args_free(&got);
	return v;
}

static enum rp_verdict rp_run(struct rp_bench *b, struct rp_program *p,
			      const struct hn_looptree *t, struct hn_arena *a)
{
	struct hn_emit_options o = { .symbol = "k" };
	struct run_kernel k = { 0 };
	struct hn_err err = { 0 };
	int32_t workers = 3;
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = workers,
				.parallel_for = run_backwards,
				.ctx = &workers };
	int rc = hn_emit(b->em, t, &o, a, &k.artefact, &err);

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
	enum rp_verdict v = rp_call(b, p, &k, NULL);

	v = v == RP_PASS ? rp_call(b, p, &k, &env) : v;
	run_unload(&k);
	b->n.run++;
	return v;
}

/* The same tree made wrong: where that shows in the numbers the check must refuse it. */
static enum rp_verdict rp_damage(struct rp_bench *b, struct rp_program *p,
				 const struct hn_looptree *t, uint64_t seed,
				 struct hn_arena *a)
{
	static const edit_fn edits[] = { shorten_reduction, shorten_spatial, drop_init,
					 drop_guards, swap_children };
	struct hn_looptree damaged = *t;
	struct hn_err err = { 0 };

	damaged.root = edit_tree(t->root, edits[seed % HN_COUNT_OF(edits)], a);
	if (tree_right(&damaged, &p->meaning)) {
		return RP_PASS;
	}
	b->n.damaged++;
	snprintf(b->note, sizeof(b->note), "edit %d", (int)(seed % HN_COUNT_OF(edits)));
	return hn_legal_check(&damaged, RP_LEGAL_MS, &err) == HN_VERDICT_OK ? RP_DAMAGE
									    : RP_PASS;
}

static enum rp_verdict rp_judge(struct rp_bench *b, struct rp_program *p,
				const struct hn_state *s, uint64_t seed,
				struct hn_arena *a)
{
	const struct hn_looptree *t;
	struct hn_err err = { 0 };

	b->n.pairs++;
	if (hn_looptree_build(s, a, &t, &err)) {
		b->n.unbuilt++;
		return RP_PASS;
	}
	bool good = tree_right(t, &p->meaning);
	enum hn_verdict v = hn_legal_check(t, RP_LEGAL_MS, &err);

	if (v != HN_VERDICT_OK && v != HN_VERDICT_ILLEGAL) {
		b->n.unknown++;
		return RP_PASS;
	}
	/* What may not be reordered is refused even where the numbers happen to agree. */
	if (v == HN_VERDICT_ILLEGAL && strstr(err.msg, "may not be reordered")) {
		b->n.reordered++;
		return RP_PASS;
	}
	if ((v == HN_VERDICT_OK) != good) {
		snprintf(b->note, sizeof(b->note),
			 "evaluation says %s, the check says %s: %s",
			 good ? "right" : "wrong", hn_verdict_name(v), err.msg);
		return RP_LEGALITY;
	}
	/* What cannot be right is refused before there is a tree. */
	if (!good) {
		snprintf(b->note, sizeof(b->note), "%s", err.msg);
		return RP_TREE;
	}
	enum rp_verdict bad = rp_run(b, p, t, a);

	return bad == RP_PASS && seed % 4 == 0 ? rp_damage(b, p, t, seed / 4, a) : bad;
}

/* History h of the program. */
static enum rp_verdict rp_pair(struct rp_bench *b, struct rp_program *p, uint64_t seed,
			       uint32_t h)
{
	enum rp_verdict v = RP_PASS;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	const struct hn_state *s = rp_history(b, p, seed, h, &a);

	if (s != NULL) {
		v = rp_judge(b, p, s, seed * RP_HISTORIES + h, &a);
	}
	hn_arena_fini(&a);
	return v;
}

#endif
