/* rule/special_compute_location.c -- an element-wise stage that feeds a transform by tiny
 * constant tensors is computed once for each of its unrolled bodies, not inlined into
 * every term of them.  Source: TVM auto_scheduler, RuleSpecialComputeLocationGPU
 * (Winograd). */
#include "sketch/sketch_int.h"

#define KEY "auto_scheduler_simplify_const_tensor_indices"

static enum hn_rule_answer meets(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				 int32_t stage)
{
	int32_t reader;

	if (s->access->op[stage].n_producer == 0 || !hn_stage_inlineable(ctx, s, stage) ||
	    hn_state_consumers(s, stage, &reader, 1) != 1) {
		return HN_RULE_SKIP;
	}
	return hn_op_attr(hn_stage_op(s, reader), KEY) ? HN_RULE_APPLY_AND_STOP
						       : HN_RULE_SKIP;
}

/* Without an unrolled loop the stage stays where it is. */
static void derive(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   struct hn_rule_results *ret)
{
	struct hn_chain c = { .s = s, .a = ctx->arena };
	int32_t reader = -1;

	hn_state_consumers(s, stage, &reader, 1);
	for (uint32_t i = 0; i < s->stage[reader]->n_iter; i++) {
		if (s->stage[reader]->iter[i].ann == HN_ANN_UNROLL) {
			hn_chain_compute_at(&c, stage, reader, (int32_t)i - 1);
			break;
		}
	}
	hn_chain_result(&c, stage - 1, ret);
}

extern const struct hn_rule_ops hn_rule_special_compute_location;
const struct hn_rule_ops hn_rule_special_compute_location = { "special_compute_location",
							      meets, derive };
