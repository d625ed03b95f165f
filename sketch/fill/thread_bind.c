/* fill/thread_bind.c -- which loops are blocks, virtual threads and threads.
 *
 * Every nest at root is a kernel.  A tiled one has a level of tiles for each; a reduction
 * shared out over threads has its threads already and gets blocks; any other nest fuses
 * its outer spatial loops and cuts blocks of threads from them.  Source: TVM
 * InitThreadBind.
 */
#include <string.h>

#include "loopstate/nest/bounds.h"
#include "sketch/sketch_int.h"

/* Whether tiles are attached to the nest, so that its levels are those of the structure.
 */
static bool hosts_tiles(const struct hn_state *s, int32_t stage)
{
	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (s->stage[i]->at == HN_AT_ITER && s->stage[i]->at_stage == stage &&
		    hn_stage_needs_tiling(s, (int32_t)i)) {
			return true;
		}
	}
	return false;
}

/* Fuse n loops from `at` into one; of none, a loop of one iteration is made. */
static void fuse(struct hn_chain *c, int32_t stage, int32_t at, uint32_t n)
{
	if (n != 1) {
		hn_chain_fuse(c, stage, at, n);
	}
}

/* Leading spatial loops that are free and have nobody attached but to the last. */
static uint32_t outer_loops(const struct hn_state *s, int32_t stage)
{
	const struct hn_stage *st = s->stage[stage];
	uint32_t n = 0;

	while (n < st->n_iter && st->iter[n].kind == HN_ITER_SPATIAL &&
	       st->iter[n].ann == HN_ANN_NONE &&
	       (n == 0 || !hn_state_attached_at(s, stage, (int32_t)n - 1))) {
		n++;
	}
	return n;
}

/* One loop of them all at position 0; of one iteration where there are none. */
static void fuse_outer(struct hn_chain *c, int32_t stage)
{
	fuse(c, stage, 0, outer_loops(c->s, stage));
}

static void bind_plain(const struct hn_fill_ctx *ctx, struct hn_chain *c, int32_t stage)
{
	int64_t warp = ctx->target->param[HN_PARAM_WARP_SIZE];
	int32_t want = ctx->plan->stage[stage].strip;

	fuse_outer(c, stage);
	if (c->failed) {
		return;
	}
	warp = warp > 0 ? warp : 1;
	if (c->s->stage[stage]->iter[0].extent <= warp) {
		hn_chain_annotate(c, stage, 0, HN_ANN_THREAD_X);
		return;
	}
	if (want > 0) {
		warp = want;
	} else {
		int64_t most = ctx->target->param[HN_PARAM_MAX_THREADS_PER_BLOCK];
		for (uint64_t k = hn_rng_below(ctx->rng, 4); k > 0 && 2 * warp <= most;
		     k--) {
			warp *= 2;
		}
	}
	hn_chain_split(c, stage, 0, &warp, 1);
	hn_chain_annotate(c, stage, 0, HN_ANN_BLOCK_X);
	hn_chain_annotate(c, stage, 1, HN_ANN_THREAD_X);
}

/* From position `at` on, the loops that are part `level` of an axis. */
static uint32_t count_level(const struct hn_stage *st, uint32_t at, const char *level)
{
	uint32_t n = 0;

	for (; at + n < st->n_iter; n++) {
		const char *name = st->iter[at + n].name;
		size_t len = strlen(name), m = strlen(level);
		if (len < m || strcmp(name + len - m, level) != 0) {
			break;
		}
	}
	return n;
}

/* Levels 0, 1 and 2 become blocks, virtual threads and threads. */
static enum hn_verdict bind_tiled(const struct hn_fill_ctx *ctx, struct hn_chain *c,
				  int32_t stage)
{
	static const struct {
		const char *level;
		enum hn_ann ann;
	} level[] = { { ".0", HN_ANN_BLOCK_X },
		      { ".1", HN_ANN_VTHREAD },
		      { ".2", HN_ANN_THREAD_X } };
	const int64_t *param = ctx->target->param;

	for (int32_t i = 0; i < (int32_t)HN_COUNT_OF(level); i++) {
		uint32_t n = c->failed ? 0
				       : count_level(c->s->stage[stage], (uint32_t)i,
						     level[i].level);
		if (n == 0) {
			return HN_VERDICT_ILLEGAL;
		}
		fuse(c, stage, i, n);
		int64_t extent = c->failed ? 0 : c->s->stage[stage]->iter[i].extent;
		if ((level[i].ann == HN_ANN_VTHREAD &&
		     extent > param[HN_PARAM_MAX_VTHREAD_EXTENT]) ||
		    (level[i].ann == HN_ANN_THREAD_X &&
		     extent > param[HN_PARAM_MAX_THREADS_PER_BLOCK])) {
			return HN_VERDICT_OVER_LIMIT;
		}
		hn_chain_annotate(c, stage, i, level[i].ann);
	}
	return HN_VERDICT_OK;
}

static enum hn_verdict bind_root(const struct hn_fill_ctx *ctx, struct hn_chain *c,
				 int32_t stage)
{
	if (hn_stage_cross_thread_reduced(c->s, stage)) {
		fuse_outer(c, stage);
		hn_chain_annotate(c, stage, 0, HN_ANN_BLOCK_X);
	} else if (hn_stage_has_ann(c->s, stage, HN_ANN_THREAD_X)) {
		return HN_VERDICT_OK;
	} else if (hosts_tiles(c->s, stage)) {
		return bind_tiled(ctx, c, stage);
	} else {
		bind_plain(ctx, c, stage);
	}
	return HN_VERDICT_OK;
}

static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	struct hn_chain c = { .a = ctx->arena };
	enum hn_verdict v = HN_VERDICT_OK;

	if (hn_bounds_extents(s, ctx->arena, &c.s, NULL) < 0) {
		return HN_VERDICT_ILLEGAL;
	}
	for (int32_t i = (int32_t)s->n_stage - 1; i >= 0 && v == HN_VERDICT_OK; i--) {
		if (hn_stage_op(c.s, i)->kind == HN_OP_COMPUTE &&
		    c.s->stage[i]->at == HN_AT_ROOT) {
			v = bind_root(ctx, &c, i);
		}
	}
	*ret = c.s;
	return c.failed ? HN_VERDICT_ILLEGAL : v;
}

extern const struct hn_fill_ops hn_fill_thread_bind;
const struct hn_fill_ops hn_fill_thread_bind = { "thread_bind", fill };
