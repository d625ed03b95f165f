/* rule/always_inline.c -- a cheap element-wise stage is computed where it is read.
 * Source: Ansor, table 1, "always inline". */
#include "sketch/sketch_int.h"

static enum hn_rule_answer meets(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				 int32_t stage)
{
	return hn_stage_inlineable(ctx, s, stage) ? HN_RULE_APPLY_AND_STOP : HN_RULE_SKIP;
}

static void derive(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   struct hn_rule_results *ret)
{
	struct hn_chain c = { .s = s, .a = ctx->arena };

	hn_chain_inline(&c, stage);
	hn_chain_result(&c, stage - 1, ret);
}

extern const struct hn_rule_ops hn_rule_always_inline;
const struct hn_rule_ops hn_rule_always_inline = { "always_inline", meets, derive };
