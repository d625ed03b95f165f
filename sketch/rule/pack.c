/* rule/pack.c -- the operand that the lanes of a tiled stage run along is copied into
 * panels of its tiles.  Not of Ansor's; what the panels are is in pack.c.
 *
 * The block lengths given here stand for open ones: whichever are chosen, the copy is a
 * stage of its own with its own loops, so the steps after it do not depend on them. */
#include "sketch/sketch_int.h"

static enum hn_rule_answer meets(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				 int32_t stage)
{
	int32_t reader;

	(void)ctx;
	if (hn_pack_panel(s, stage, &reader) < 0) {
		return HN_RULE_SKIP;
	}
	return hn_stage_is_packed(s, stage) ? HN_RULE_APPLY_AND_STOP : HN_RULE_APPLY;
}

static void derive(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   struct hn_rule_results *ret)
{
	struct hn_chain c = { .s = s, .a = ctx->arena };

	hn_chain_pack(&c, stage, hn_pack_provisional(s, stage, ctx->arena));
	if (hn_stage_is_packed(s, stage)) { /* panels of groups: the groups alone are no copy */
		hn_chain_inline(&c, stage);
	}
	hn_chain_result(&c, stage, ret);
}

extern const struct hn_rule_ops hn_rule_pack;
const struct hn_rule_ops hn_rule_pack = { "pack", meets, derive };
