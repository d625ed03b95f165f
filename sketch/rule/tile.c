/* rule/tile.c -- a stage with data reuse is tiled on several levels.
 * Source: Ansor, table 1, "multi-level tiling". */
#include "sketch/sketch_int.h"

static enum hn_rule_answer meets(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				 int32_t stage)
{
	(void)ctx;
	return hn_stage_needs_tiling(s, stage) ? HN_RULE_APPLY_AND_STOP : HN_RULE_SKIP;
}

static void derive(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   struct hn_rule_results *ret)
{
	int32_t step[HN_DAG_MAX_ITERS];
	uint32_t n;
	struct hn_chain c = { .s = s, .a = ctx->arena };

	hn_tile_stage(ctx, &c, stage, step, &n);
	hn_chain_result(&c, stage - 1, ret);
}

extern const struct hn_rule_ops hn_rule_tile;
const struct hn_rule_ops hn_rule_tile = { "tile", meets, derive };
