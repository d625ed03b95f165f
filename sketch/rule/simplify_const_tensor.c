/* rule/simplify_const_tensor.c -- axes that only index tiny constant tensors are
 * unrolled, so that the constants fold away; the other axes are tiled in two. Source: TVM
 * auto_scheduler, RuleSimplifyComputeWithConstTensor (Winograd's transforms). */
#include "sketch/sketch_int.h"

#define KEY "auto_scheduler_simplify_const_tensor_indices"

static enum hn_rule_answer meets(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				 int32_t stage)
{
	(void)ctx;
	return hn_op_attr(hn_stage_op(s, stage), KEY) ? HN_RULE_APPLY_AND_STOP
						      : HN_RULE_SKIP;
}

static void derive(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   struct hn_rule_results *ret)
{
	const int64_t open = HN_HOLE;
	int64_t outer[HN_DAG_MAX_ITERS], unrolled[HN_DAG_MAX_ITERS];
	int64_t order[2 * HN_DAG_MAX_ITERS];
	uint32_t n_outer = 0, n_unrolled = 0, n = 0;
	int32_t at = 0;
	struct hn_chain c = { .s = s, .a = ctx->arena };

	if (s->stage[stage]->n_iter > HN_DAG_MAX_ITERS) {
		return;
	}
	for (uint32_t i = 0; i < s->stage[stage]->n_iter; i++) {
		if (hn_stage_attr_names(s, stage, KEY, s->stage[stage]->iter[i].name)) {
			hn_chain_annotate(&c, stage, at, HN_ANN_UNROLL);
			unrolled[n_unrolled++] = at++;
		} else {
			hn_chain_split(&c, stage, at, &open, 1);
			outer[n_outer++] = at;
			at += 2;
		}
	}
	for (uint32_t i = 0; i < n_outer; i++) {
		order[n++] = outer[i];
	}
	for (uint32_t i = 0; i < n_outer; i++) {
		order[n++] = outer[i] + 1;
	}
	for (uint32_t i = 0; i < n_unrolled; i++) {
		order[n++] = unrolled[i];
	}
	hn_chain_reorder(&c, stage, order, n);
	hn_chain_result(&c, stage - 1, ret);
}

extern const struct hn_rule_ops hn_rule_simplify_const_tensor;
const struct hn_rule_ops hn_rule_simplify_const_tensor = { "simplify_const_tensor", meets,
							   derive };
