/* rule/tile_fuse.c -- tile a stage and compute it inside the tiles of its one
 * element-wise consumer, once for each level at which they may share tiles. Source:
 * Ansor, table 1, "multi-level tiling with fusion"; TVM FollowTiling. */
#include "sketch/sketch_int.h"

#define KEY "auto_scheduler_no_split_at_inner"
#define MAX_FOLLOW 3 /* levels a consumer can share */

static enum hn_rule_answer meets(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				 int32_t stage)
{
	int32_t consumer;

	if (!hn_stage_needs_tiling(s, stage) ||
	    !hn_stage_matched_consumer(s, stage, &consumer)) {
		return HN_RULE_SKIP;
	}
	return hn_stage_has_cache_write(s, stage) ||
			       (ctx->target->caps & HN_CAP_GPU_THREADS)
		       ? HN_RULE_APPLY_AND_STOP
		       : HN_RULE_APPLY;
}

/* The loops of the consumer after following: part[p] holds those of level p. */
struct levels {
	uint32_t n[MAX_FOLLOW + 1];
	int64_t part[MAX_FOLLOW + 1][HN_DAG_MAX_ITERS];
};

/* Split the consumer's axes as the tiled stage's are, `level` times, part 0s outermost;
 * axes to be left whole stand among the innermost, in axis order, and last of all what an
 * instruction's loops are cut from: first[i] is the step that did this to axis i, or -1. */
static void follow(struct hn_chain *c, int32_t consumer, const int32_t *step,
		   uint32_t n_step, uint32_t level, const int32_t *first)
{
	const struct hn_stage *st = c->s->stage[consumer];
	const struct hn_state *s = c->s;
	struct levels lv = { 0 };
	int64_t order[HN_DAG_MAX_ITERS * (MAX_FOLLOW + 1)];
	int64_t last[HN_DAG_MAX_ITERS];
	uint32_t n_split = 0, n = 0, n_last = 0;
	int64_t at = 0;

	for (uint32_t i = 0; i < st->n_iter && !c->failed; i++) {
		if (st->iter[i].kind != HN_ITER_SPATIAL || i >= HN_DAG_MAX_ITERS) {
			c->failed = true;
		} else if (hn_stage_attr_names(s, consumer, KEY, st->iter[i].name)) {
			lv.part[level][lv.n[level]++] = at++;
		} else if (n_split == n_step) {
			c->failed = true;
		} else {
			if (first[i] >= 0) {
				hn_chain_follow_split(c, consumer, (int32_t)at, first[i], 1);
			}
			hn_chain_follow_split(c, consumer, (int32_t)at, step[n_split++],
					      (int32_t)level);
			for (uint32_t p = 0; p <= level; p++) {
				lv.part[p][lv.n[p]++] = at++;
			}
			if (first[i] >= 0) {
				last[n_last++] = at++;
			}
		}
	}
	for (uint32_t p = 0; p <= level; p++) {
		for (uint32_t i = 0; i < lv.n[p]; i++) {
			order[n++] = lv.part[p][i];
		}
	}
	for (uint32_t i = 0; i < n_last; i++) {
		order[n++] = last[i];
	}
	c->failed |= n_split != n_step;
	hn_chain_reorder(c, consumer, order, n);
}

static void derive(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   struct hn_rule_results *ret)
{
	const struct hn_structure *st = hn_structure_of(ctx->target);
	int32_t step[HN_DAG_MAX_ITERS], first[HN_DAG_MAX_ITERS], consumer = -1;
	uint32_t n;
	struct hn_chain base = { .s = s, .a = ctx->arena };

	if (!st || !hn_stage_matched_consumer(s, stage, &consumer)) {
		return;
	}
	for (int32_t i = 0; i < HN_DAG_MAX_ITERS; i++) {
		first[i] = hn_intrin_split_step(s, stage, i);
	}
	hn_tile_stage(ctx, &base, stage, step, &n);
	for (const char *p = st->follow; *p; p++) {
		uint32_t level = (uint32_t)(*p - '0');
		struct hn_chain c = base;
		if (st->tiling[level - 1] != 'S') {
			continue;
		}
		follow(&c, consumer, step, n, level, first);
		hn_chain_compute_at(&c, stage, consumer, (int32_t)(level * n) - 1);
		hn_chain_result(&c, stage - 1, ret);
	}
}

extern const struct hn_rule_ops hn_rule_tile_fuse;
const struct hn_rule_ops hn_rule_tile_fuse = { "tile_fuse", meets, derive };
