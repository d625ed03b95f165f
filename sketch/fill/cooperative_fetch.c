/* fill/cooperative_fetch.c -- all threads of a block bring in its shared tiles together, a
 * short vector each at a time.
 *
 * Where the tiles give the threads, the fused loop is split as the spatial splits of the
 * stage that reads it together say, and follows them when they change; elsewhere it takes
 * the number of threads that the nest has.  Source: TVM InitThreadBind, whose vectors begin
 * at length 1 and are left to evolution.
 */
#include "base/arith.h"
#include "sketch/sketch_int.h"

#define LEVEL 1 /* of a spatial split: threads */

/* The splits that made the reader's tiles, newest first. */
static uint32_t tile_splits(const struct hn_sketch *sk, int32_t reader, int64_t *ret)
{
	uint32_t n = 0;

	for (uint32_t h = sk->n_hole; h-- > 0 && n < HN_DAG_MAX_ITERS;) {
		if (sk->hole[h].stage == reader && sk->hole[h].role == HN_HOLE_SPATIAL) {
			ret[n++] = sk->hole[h].step;
		}
	}
	return n;
}

/* 1, 2 or 4 elements, within what one access may move. */
static int64_t draw_vector(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			   int32_t stage, int64_t extent)
{
	int32_t want = ctx->plan->stage[stage].strip;
	int64_t lanes = hn_stage_lanes(s, stage, ctx->target), good[8];
	uint32_t n = 0;

	if (want > 0) {
		return want;
	}
	for (int64_t v = 1; v <= lanes && n < HN_COUNT_OF(good); v *= 2) {
		if (extent % v == 0) {
			good[n++] = v;
		}
	}
	return good[hn_rng_below(ctx->rng, n)];
}

/* Threads of the nest around the stage; 0 = none are bound at its root. */
static int64_t threads_around(const struct hn_state *s, int32_t stage)
{
	const struct hn_stage *st = s->stage[stage];

	while (st->at == HN_AT_ITER) {
		st = s->stage[st->at_stage];
	}
	for (uint32_t i = 0; i < st->n_iter; i++) {
		if (st->iter[i].ann == HN_ANN_THREAD_X) {
			return st->iter[i].extent;
		}
	}
	return 0;
}

static int64_t threads_of_tiles(const struct hn_state *s, const int64_t *src, uint32_t n)
{
	int64_t product = n > 0;

	for (uint32_t i = 0; i < n; i++) {
		product = hn_mul_sat(product, s->trace->step[src[i]]->list[LEVEL]);
	}
	return product;
}

static void fetch(const struct hn_fill_ctx *ctx, struct hn_chain *c, int32_t stage)
{
	int64_t src[HN_DAG_MAX_ITERS];
	uint32_t n = tile_splits(ctx->sketch, c->s->stage[stage]->at_stage, src);
	int64_t threads = threads_around(c->s, stage);

	if (threads < 1) {
		return;
	}
	if (c->s->stage[stage]->n_iter != 1) {
		hn_chain_fuse(c, stage, 0, c->s->stage[stage]->n_iter);
	}
	if (c->failed) {
		return;
	}
	int64_t v = draw_vector(ctx, c->s, stage, c->s->stage[stage]->iter[0].extent);
	if (threads == threads_of_tiles(c->s, src, n)) {
		hn_chain_split(c, stage, 0, &v, 1);
		hn_chain_annotate(c, stage, 1, HN_ANN_VECTORIZE);
		hn_chain_follow_fused_split(c, stage, 0, src, n, LEVEL);
	} else {
		const int64_t len[] = { threads, v };
		hn_chain_split(c, stage, 0, len, 2);
		hn_chain_annotate(c, stage, 2, HN_ANN_VECTORIZE);
	}
	hn_chain_annotate(c, stage, 1, HN_ANN_THREAD_X);
}

static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	struct hn_chain c = { .s = s, .a = ctx->arena };

	for (int32_t i = (int32_t)s->n_stage - 1; i >= 0 && !c.failed; i--) {
		if (c.s->stage[i]->at == HN_AT_ITER &&
		    hn_stage_name_ends(c.s, i, ".shared")) {
			fetch(ctx, &c, i);
		}
	}
	*ret = c.s;
	return c.failed ? HN_VERDICT_ILLEGAL : HN_VERDICT_OK;
}

extern const struct hn_fill_ops hn_fill_cooperative_fetch;
const struct hn_fill_ops hn_fill_cooperative_fetch = { "cooperative_fetch", fill };
