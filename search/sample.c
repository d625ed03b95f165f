/* search/sample.c -- the space of a task: drawing, rebuilding and scoring candidates, and
 * remembering which have been out.
 *
 * Every draw is named by (seed, round, index), so the candidates do not depend on what
 * else was drawn in between.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loopstate/nest/bounds.h"
#include "target/cpu/fingerprint.h"
#include "search/auto.h"
#include "search/search_int.h"

bool hn_hashes_has(const struct hn_hashes *h, uint64_t key)
{
	key = key ? key : 1;
	for (uint32_t i = h->cap ? (uint32_t)key & (h->cap - 1) : 0; h->cap && h->slot[i];
	     i = (i + 1) & (h->cap - 1)) {
		if (h->slot[i] == key) {
			return true;
		}
	}
	return false;
}

static void place(struct hn_hashes *h, uint64_t key)
{
	uint32_t i = (uint32_t)key & (h->cap - 1);

	while (h->slot[i]) {
		i = (i + 1) & (h->cap - 1);
	}
	h->slot[i] = key;
}

static void grow(struct hn_hashes *h)
{
	struct hn_hashes bigger = {.cap = h->cap ? 2 * h->cap : 256, .n = h->n};

	bigger.slot = calloc(bigger.cap, sizeof *bigger.slot);
	hn_assert(bigger.slot);
	for (uint32_t i = 0; i < h->cap; i++) {
		if (h->slot[i]) {
			place(&bigger, h->slot[i]);
		}
	}
	free(h->slot);
	*h = bigger;
}

bool hn_hashes_add(struct hn_hashes *h, uint64_t key)
{
	key = key ? key : 1;
	if (hn_hashes_has(h, key)) {
		return false;
	}
	if (2 * (h->n + 1) > h->cap) {
		grow(h);
	}
	place(h, key);
	h->n++;
	return true;
}

void hn_hashes_fini(struct hn_hashes *h)
{
	free(h->slot);
	*h = (struct hn_hashes){0};
}

/* What no machine has confirmed comes in turn with what is automatic, so that a short search has
 * seen both. */
static void find_heuristics(struct hn_space *sp)
{
	const struct hn_trace *automatic[HN_AUTO_MAX];
	const struct hn_state *other[HN_HEURISTIC_MAX];
	const struct hn_trace **trace = HN_NEW_ARRAY(&sp->arena, const struct hn_trace *,
						     HN_AUTO_MAX + HN_HEURISTIC_MAX);
	uint32_t n = hn_auto(sp->task.dag, sp->task.target, &sp->arena, automatic);
	uint32_t n_other =
		hn_heuristics_unconfirmed(sp->task.dag, sp->task.target, &sp->arena, other);

	for (uint32_t i = 0; i < n || i < n_other; i++) {
		if (i < n) {
			trace[sp->n_heuristic++] = automatic[i];
		}
		if (i < n_other) {
			trace[sp->n_heuristic++] = other[i]->trace;
		}
	}
	sp->heuristic = trace;
}

void hn_space_only_unconfirmed(struct hn_space *sp)
{
	const struct hn_state *state[HN_HEURISTIC_MAX];
	const struct hn_trace **trace =
		HN_NEW_ARRAY(&sp->arena, const struct hn_trace *, HN_HEURISTIC_MAX);

	sp->n_heuristic =
		hn_heuristics_unconfirmed(sp->task.dag, sp->task.target, &sp->arena, state);
	for (uint32_t i = 0; i < sp->n_heuristic; i++) {
		trace[i] = state[i]->trace;
	}
	sp->heuristic = trace;
}

int hn_space_init(struct hn_space *sp, const struct hn_task *task, struct hn_err *err)
{
	const char *model = task->model ? task->model : "analytic";

	*sp = (struct hn_space){.task = *task, .ops = hn_model_ops(model)};
	if (!sp->ops) {
		return hn_fail(err, HONE_E_NOT_FOUND,
			       "model '%.60s': no such model; want analytic, learned or random",
			       model);
	}
	hn_arena_init(&sp->arena, 0);
	int rc = hn_sketch_generate_own(task->dag, task->target, &sp->arena,
					&sp->sketches, err);
	if (rc < 0) {
		hn_arena_fini(&sp->arena);
		return rc;
	}
	hn_pack_pairs(sp);
	sp->model = sp->ops->create(task->seed);
	if (task->knowledge && sp->ops->load) {
		rc = sp->ops->load(sp->model, task->knowledge, err);
		if (rc < 0) {
			sp->ops->destroy(sp->model);
			hn_arena_fini(&sp->arena);
			return rc;
		}
		sp->learned = true;
	}
	sp->quick = hn_quick_new();
	find_heuristics(sp);
	return 0;
}

void hn_space_fini(struct hn_space *sp)
{
	sp->ops->destroy(sp->model);
	hn_quick_free(sp->quick);
	hn_hashes_fini(&sp->seen);
	hn_hashes_fini(&sp->made);
	hn_arena_fini(&sp->arena);
}

int hn_policy_new(const struct hn_task *task, size_t bytes, struct hn_policy **ret,
		  struct hn_err *err)
{
	struct hn_space *sp = calloc(1, bytes);

	hn_assert(sp);
	int rc = hn_space_init(sp, task, err);
	if (rc < 0) {
		free(sp);
		return rc;
	}
	*ret = (struct hn_policy *)sp;
	return 0;
}

void hn_policy_free(struct hn_policy *p)
{
	if (p) {
		hn_space_fini((struct hn_space *)p);
		free(p);
	}
}

void hn_space_score(struct hn_space *sp, struct hn_indiv *x, uint32_t n)
{
	const struct hn_features *f[64];
	double score[HN_COUNT_OF(f)];

	for (uint32_t from = 0, k; from < n; from += k) {
		for (k = 0; k < HN_COUNT_OF(f) && from + k < n; k++) {
			f[k] = &x[from + k].features;
		}
		sp->ops->predict(sp->model, f, k, score);
		for (uint32_t i = 0; i < k; i++) {
			x[from + i].score = score[i];
		}
	}
}

/* Of a draw for a pool: whether it has been out or is there already. */
static bool is_known(const struct hn_space *sp, uint64_t hash)
{
	return sp->in && (hn_hashes_has(&sp->seen, hash) || hn_hashes_has(sp->in, hash));
}

/* Bounds, loop tree, features; of a draw, which is to be legal and for a pool new, these two
 * first: what is dropped costs no more than it must. */
static enum hn_verdict finish(struct hn_space *sp, const struct hn_state *s, bool drawn,
			      struct hn_arena *a, struct hn_indiv *ret)
{
	const struct hn_looptree *tree;
	static const struct hn_trace none;

	if (hn_looptree_build(s, a, &tree, NULL) < 0) {
		return HN_VERDICT_ILLEGAL;
	}
	ret->trace = s->trace ? s->trace : &none;
	ret->hash = hn_fingerprint(tree, NULL, a);
	if (drawn &&
	    (is_known(sp, ret->hash) || !hn_quick_legal(sp->quick, tree, NULL))) {
		return HN_VERDICT_ILLEGAL;
	}
	return hn_features_of(tree, sp->task.target, a, &ret->features)
		       ? HN_VERDICT_OK
		       : HN_VERDICT_OVER_LIMIT;
}

/* The fingerprint of what the code generator makes of the program; 0 when it makes nothing. */
static uint64_t code_of(const struct hn_space *sp, const struct hn_trace *trace)
{
	const struct hn_looptree *tree;
	const struct hn_state *s;
	struct hn_arena a;
	uint64_t code = 0;

	hn_arena_init(&a, 0);
	if (hn_state_replay(sp->task.dag, trace, &a, &s, NULL) == 0 &&
	    hn_looptree_build(s, &a, &tree, NULL) == 0) {
		code = hn_fingerprint(tree, sp->task.target, &a);
	}
	hn_arena_fini(&a);
	return code;
}

bool hn_space_take(struct hn_space *sp, const struct hn_indiv *x)
{
	return hn_hashes_add(&sp->seen, x->hash) &&
	       hn_hashes_add(&sp->made, code_of(sp, x->trace));
}

struct hn_candidate hn_space_candidate(const struct hn_space *sp, const struct hn_indiv *x,
				       struct hn_arena *a)
{
	bool timed = sp->ops->timed && x->score > 0;

	return (struct hn_candidate){.trace = hn_trace_copy(x->trace, a),
				     .origin = x->origin,
				     .score = x->score,
				     .predicted_ns = timed ? 1e9 / x->score : 0,
				     .model = sp->ops->name,
				     .lineage = x->lineage};
}

enum hn_verdict hn_space_rebuild(struct hn_space *sp, const struct hn_sketch *sketch,
				 const struct hn_plan *plan, struct hn_rng *rng,
				 struct hn_arena *a, struct hn_indiv *ret)
{
	const struct hn_state *s;
	struct hn_plan *full;
	enum hn_verdict v = hn_sketch_rebuild(sketch, plan, sp->task.target, rng, a, &s);

	*ret = (struct hn_indiv){.sketch = sketch, .origin = "sample"};
	v = v == HN_VERDICT_OK ? finish(sp, s, true, a, ret) : v;
	if (v == HN_VERDICT_OK && hn_plan_of(sketch, s->trace, a, &full)) {
		ret->plan = full;
	}
	return v;
}

enum hn_verdict hn_space_sample(struct hn_space *sp, uint64_t index, struct hn_arena *a,
				struct hn_indiv *ret)
{
	struct hn_rng rng = hn_rng_stream(sp->task.seed, 1, sp->round, index);
	uint64_t k = hn_rng_below(&rng, sp->sketches.n);
	enum hn_verdict v =
		hn_space_rebuild(sp, &sp->sketches.sketch[k], NULL, &rng, a, ret);

	hn_lineage_add(&ret->lineage, ret->origin);
	return v;
}

static enum hn_verdict adopt(struct hn_space *sp, const struct hn_trace *trace, bool drawn,
			     struct hn_arena *a, struct hn_indiv *ret)
{
	const struct hn_state *s;

	*ret = (struct hn_indiv){.origin = "warm"};
	if (!hn_trace_complete(trace) ||
	    hn_state_replay(sp->task.dag, trace, a, &s, NULL) < 0) {
		return HN_VERDICT_ILLEGAL;
	}
	for (uint32_t i = 0; i < sp->sketches.n && !ret->plan; i++) {
		struct hn_plan *plan;
		if (hn_plan_of(&sp->sketches.sketch[i], trace, a, &plan)) {
			ret->sketch = &sp->sketches.sketch[i];
			ret->plan = plan;
		}
	}
	return finish(sp, s, drawn, a, ret);
}

void hn_space_hint(struct hn_space *sp, const struct hn_trace *const *trace, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		sp->hint = hn_arena_grow(&sp->arena, sp->hint, sp->n_hint, &sp->cap_hint,
					 sizeof *sp->hint);
		sp->hint[sp->n_hint++] = hn_trace_copy(trace[i], &sp->arena);
	}
}

/* The next program that is to go out before what the search finds; NULL when none is left. */
static const struct hn_trace *next_first(struct hn_space *sp, const char **ret_origin)
{
	if (sp->n_heuristic > 0) {
		*ret_origin = HN_ORIGIN_HEURISTIC;
		sp->n_heuristic--;
		return *sp->heuristic++;
	}
	*ret_origin = "near";
	return sp->i_hint < sp->n_hint ? sp->hint[sp->i_hint++] : NULL;
}

uint32_t hn_space_heuristics(struct hn_space *sp, uint32_t n, struct hn_arena *a,
			 struct hn_candidate *ret)
{
	const struct hn_trace *t;
	struct hn_arena scratch;
	const char *origin;
	uint32_t got = 0;

	hn_arena_init(&scratch, 0);
	while (got < n && (t = next_first(sp, &origin)) != NULL) {
		struct hn_indiv x;
		bool proved = strcmp(origin, HN_ORIGIN_HEURISTIC) == 0;
		hn_arena_reset(&scratch);
		if (adopt(sp, t, !proved, &scratch, &x) == HN_VERDICT_OK &&
		    hn_space_take(sp, &x)) {
			hn_space_score(sp, &x, 1);
			x.origin = origin;
			ret[got++] = hn_space_candidate(sp, &x, a);
		}
	}
	hn_arena_fini(&scratch);
	return got;
}

enum hn_verdict hn_space_adopt(struct hn_space *sp, const struct hn_trace *trace,
			       struct hn_arena *a, struct hn_indiv *ret)
{
	return adopt(sp, trace, false, a, ret);
}

enum hn_verdict hn_space_told(struct hn_space *sp, const struct hn_trace *trace,
			      struct hn_arena *a, struct hn_indiv *ret)
{
	enum hn_verdict v = trace ? adopt(sp, trace, false, a, ret) : HN_VERDICT_ILLEGAL;

	if (v != HN_VERDICT_ILLEGAL) {
		hn_space_take(sp, ret);
	}
	return v;
}

void hn_space_heard(struct hn_space *sp, const struct hn_told *told, uint32_t n)
{
	struct hn_arena scratch;
	struct hn_indiv x;

	hn_arena_init(&scratch, 0);
	for (uint32_t i = 0; i < n; i++) {
		hn_arena_reset(&scratch);
		hn_space_told(sp, told[i].trace, &scratch, &x);
	}
	hn_arena_fini(&scratch);
}

enum hn_verdict hn_space_check(struct hn_space *sp, const struct hn_trace *trace,
			       struct hn_arena *a, struct hn_indiv *ret)
{
	return adopt(sp, trace, true, a, ret);
}
