/* rule/add_cache_write.c -- a tiled stage that nobody can be fused into writes to a local
 * buffer first; the copy out is then its matched consumer.
 * Source: Ansor, table 1, "add cache stage". */
#include "sketch/sketch_int.h"

static enum hn_rule_answer meets(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				 int32_t stage)
{
	int32_t consumer;

	if (!hn_stage_needs_tiling(s, stage) ||
	    hn_stage_matched_consumer(s, stage, &consumer)) {
		return HN_RULE_SKIP;
	}
	return (ctx->target->caps & HN_CAP_GPU_THREADS) ? HN_RULE_APPLY_AND_STOP
							: HN_RULE_APPLY;
}

static void derive(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   struct hn_rule_results *ret)
{
	struct hn_chain c = { .s = s, .a = ctx->arena };

	hn_chain_cache_write(&c, stage, "local");
	hn_chain_result(&c, stage, ret);
}

extern const struct hn_rule_ops hn_rule_add_cache_write;
const struct hn_rule_ops hn_rule_add_cache_write = { "add_cache_write", meets, derive };
