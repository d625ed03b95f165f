/* rule/skip.c -- leave the stage as it is and look at the one before.
 * Source: Ansor, table 1, "skip". */
#include "sketch/sketch_int.h"

static enum hn_rule_answer meets(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				 int32_t stage)
{
	(void)ctx, (void)s, (void)stage;
	return HN_RULE_APPLY;
}

static void derive(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   struct hn_rule_results *ret)
{
	struct hn_chain c = { .s = s, .a = ctx->arena };

	hn_chain_result(&c, stage - 1, ret);
}

extern const struct hn_rule_ops hn_rule_skip;
const struct hn_rule_ops hn_rule_skip = { "skip", meets, derive };
