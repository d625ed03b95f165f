/* Random histories over any dag, and whether what they give computes the dag when its
 * loop tree is evaluated as it stands, in order. */
#ifndef LOWER_HISTORIES_H
#define LOWER_HISTORIES_H

#include "base/rng.h"
#include "tests/lib/looptree_eval.h"

struct draw {
	const struct hn_state *s;
	struct hn_rng rng;
	struct hn_arena *a;
};

static int64_t draw(struct draw *d, int64_t n)
{
	return (int64_t)hn_rng_below(&d->rng, (uint64_t)n);
}

static void keep(struct draw *d, int rc, const struct hn_state *const *next)
{
	d->s = rc == 0 ? *next : d->s;
}

static void split_all(struct draw *d, int32_t stage)
{
	for (int32_t i = 0; i < (int32_t)d->s->stage[stage]->n_iter; i++) {
		int64_t len[2] = { 1 + draw(d, 9), 1 + draw(d, 17) };
		uint32_t n = 1 + (uint32_t)draw(d, 2);
		const struct hn_state *next;

		if (d->s->stage[stage]->iter[i].extent > 1 && draw(d, 3) &&
		    hn_split(d->s, stage, i, len, n, true, d->a, &next, NULL) == 0) {
			d->s = next;
			i += (int32_t)n;
		}
	}
}

static void shuffle_loops(struct draw *d, int32_t stage)
{
	uint32_t n = d->s->stage[stage]->n_iter;
	const struct hn_state *next;
	int64_t order[64];

	for (uint32_t i = 0; i < n && i < 64; i++) {
		int64_t j = draw(d, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	if (n > 0 && n <= 64) {
		keep(d, hn_reorder(d->s, stage, order, n, d->a, &next, NULL), &next);
	}
}

static void annotate_loops(struct draw *d, int32_t stage)
{
	int32_t n = (int32_t)d->s->stage[stage]->n_iter;
	const struct hn_state *next;

	for (int32_t i = 0; i < n; i++) {
		bool spatial = d->s->stage[stage]->iter[i].kind == HN_ITER_SPATIAL;
		enum hn_ann ann = spatial && i == 0	  ? HN_ANN_PARALLEL
				  : spatial && i + 1 == n ? HN_ANN_VECTORIZE
							  : HN_ANN_UNROLL;

		if (draw(d, 3) == 0) {
			keep(d, hn_annotate(d->s, stage, i, ann, d->a, &next, NULL),
			     &next);
		}
	}
}

/* The stage in blocks, and the copy's loops treated like any. */
static void pack_stage(struct draw *d, int32_t stage)
{
	const struct hn_op *op = d->s->dag->op[stage];
	struct hn_step step = { .kind = HN_STEP_pack, .stage = stage, .n_list = op->n_dim };
	const struct hn_state *next;
	int64_t len[HN_DAG_MAX_RANK];

	for (uint32_t i = 0; i < op->n_dim; i++) {
		len[i] = 1 + draw(d, op->shape[i] < 9 ? op->shape[i] : 9);
	}
	step.list = len;
	keep(d, hn_state_apply(d->s, &step, d->a, &next, NULL), &next);
}

/* Loops of the stage fetch ahead what it reads, where they can. */
static void prefetch_stage(struct draw *d, int32_t stage)
{
	const struct hn_state *next;

	for (int64_t n = draw(d, 4); n > 0 && d->s->stage[stage]->n_iter > 0; n--) {
		const struct hn_op_access *acc = &d->s->access->op[stage];
		struct hn_step step = { .kind = HN_STEP_prefetch, .stage = stage };

		if (acc->n_producer == 0) {
			return;
		}
		step.a[HN_PF_ITER] = draw(d, d->s->stage[stage]->n_iter);
		step.a[HN_PF_OPERAND] = acc->producer[draw(d, acc->n_producer)];
		step.a[HN_PF_DISTANCE] = 1 + draw(d, 7);
		keep(d, hn_state_apply(d->s, &step, d->a, &next, NULL), &next);
	}
}

/* Whether the loop tree can be made: what a step asks of buffers is known then. */
static bool has_tree(const struct hn_state *s, struct hn_arena *a)
{
	const struct hn_looptree *t;

	return hn_looptree_build(s, a, &t, NULL) == 0;
}

/* Chunks of the stage's buffer change places, where it can be. */
static void swizzle_stage(struct draw *d, int32_t stage)
{
	struct hn_step step = { .kind = HN_STEP_swizzle, .stage = stage };
	const struct hn_state *next;
	int64_t least = d->s->dag->op[stage]->n_dim;

	step.a[HN_SW_ROW_DIM] = least > 1 ? draw(d, least - 1) : 0;
	step.a[HN_SW_UNIT] = draw(d, 4);
	step.a[HN_SW_BITS] = 1 + draw(d, 3);
	step.a[HN_SW_SHIFT] = draw(d, 3);
	if (hn_state_apply(d->s, &step, d->a, &next, NULL) == 0 && has_tree(next, d->a)) {
		d->s = next;
	}
}

/* What is computed in a loop of the stage runs ahead. */
static void pipeline_stage(struct draw *d, int32_t stage)
{
	struct hn_step step = { .kind = HN_STEP_pipeline, .stage = stage };
	const struct hn_state *next;

	step.a[HN_PL_STAGES] = 2 + draw(d, 4);
	step.a[HN_PL_KIND] = draw(d, 3);
	for (uint32_t k = 0; k < d->s->stage[stage]->n_iter; k++) {
		step.a[HN_PL_ITER] = k;
		if (draw(d, 3) && hn_state_apply(d->s, &step, d->a, &next, NULL) == 0) {
			d->s = next;
		}
	}
}

/* The steps of layout and of order, drawn apart: histories without them are what they were. */
static void lay_out(struct draw *d, uint64_t seed)
{
	d->rng = hn_rng_stream(seed, 2, 3, 5);
	for (int32_t i = 0; i < (int32_t)d->s->n_stage && has_tree(d->s, d->a); i++) {
		for (int64_t n = draw(d, 6); n > 0 && d->s->stage[i]->swizzle.bits == 0; n--) {
			swizzle_stage(d, i);
		}
		pipeline_stage(d, i);
	}
}

/* Splits, orders, annotations, prefetches on every stage; caches, panels, inlining,
 * attachment, swizzles, pipelines now and then.
 */
static const struct hn_state *random_history(const struct hn_dag *dag, uint64_t seed,
					     struct hn_arena *a)
{
	struct draw d = { hn_state_init(dag, a), hn_rng_stream(seed, 2, 3, 4), a };
	int32_t last = (int32_t)dag->n_op - 1;
	const struct hn_state *next;

	if (draw(&d, 2)) {
		keep(&d, hn_cache_write(d.s, last, "local", a, &next, NULL), &next);
	}
	if (draw(&d, 3) == 0) {
		pack_stage(&d, (int32_t)draw(&d, d.s->n_stage));
	}
	last = (int32_t)d.s->n_stage - 1;
	for (int32_t i = last; i >= 0; i--) {
		if (d.s->dag->op[i]->kind != HN_OP_COMPUTE) {
			continue;
		}
		if (i < last && draw(&d, 4) == 0) {
			keep(&d, hn_compute_inline(d.s, i, a, &next, NULL), &next);
		}
		if (d.s->stage[i]->at == HN_AT_INLINED) {
			continue;
		}
		split_all(&d, i);
		shuffle_loops(&d, i);
		annotate_loops(&d, i);
		prefetch_stage(&d, i);
		int32_t reader, n_iter;

		if (i < last && draw(&d, 3) &&
		    hn_state_consumers(d.s, i, &reader, 1) == 1 &&
		    (n_iter = (int32_t)d.s->stage[reader]->n_iter) > 0) {
			keep(&d,
			     hn_compute_at(d.s, i, reader, (int32_t)draw(&d, n_iter), a,
					   &next, NULL),
			     &next);
		}
	}
	lay_out(&d, seed);
	return d.s;
}

/* Whether the tree, evaluated as it stands and in order, computes the dag. */
static inline bool tree_right(const struct hn_looptree *t, const struct eval *want)
{
	struct eval got;
	bool same;

	eval_tree(&got, t);
	same = got.fault[0] == 0 && eval_same(want, &got);
	eval_free(&got);
	return same;
}

#endif
