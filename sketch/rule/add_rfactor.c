/* rule/add_rfactor.c -- a long reduction with few results is cut in two: partial results
 * side by side first, then their combination. Source: Ansor, table 1, "reduction
 * factorization"; TVM RuleAddRfactor. */
#include "base/arith.h"
#include "loopstate/dag/liberty.h"
#include "sketch/sketch_int.h"

static bool worth_it(const struct hn_rule_ctx *ctx, const struct hn_state *s,
		     int32_t stage)
{
	int64_t spatial, reduce, cores = ctx->target->param[HN_PARAM_NUM_CORES];

	if (hn_stage_op(s, stage)->kind != HN_OP_COMPUTE) {
		return false;
	}
	hn_rule_work(ctx, s, stage, &spatial, &reduce);
	if (hn_stage_needs_tiling(s, stage)) {
		return spatial <= reduce && spatial <= hn_parallel_limit(ctx->target);
	}
	return reduce > 1 && reduce > cores;
}

static enum hn_rule_answer meets(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				 int32_t stage)
{
	return worth_it(ctx, s, stage) && hn_stage_has_reduce_iter(s, stage) &&
			       !hn_stage_has_cache_write(s, stage) &&
			       !hn_against_parts(s->root_dag, hn_stage_op(s, stage))
		       ? HN_RULE_APPLY
		       : HN_RULE_SKIP;
}

/* The partial stage's new axis (at position `at`) becomes its innermost loop. */
static void move_innermost(struct hn_chain *c, int32_t stage, uint32_t at)
{
	int64_t order[HN_DAG_MAX_ITERS];
	uint32_t n = 0, n_iter = c->s->stage[stage]->n_iter;

	if (c->failed || n_iter > HN_DAG_MAX_ITERS) {
		return;
	}
	for (uint32_t i = 0; i < n_iter; i++) {
		if (i != at) {
			order[n++] = i;
		}
	}
	order[n++] = at;
	hn_chain_reorder(c, stage, order, n);
}

/* The length 1 is provisional: when the sketch is finished it becomes a hole. */
static void derive(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   struct hn_rule_results *ret)
{
	const struct hn_stage *st = s->stage[stage];
	const int64_t provisional = 1;
	uint32_t n_spatial = 0, n_reduce = 0;
	struct hn_chain base = { .s = s, .a = ctx->arena };

	while (n_spatial < st->n_iter && st->iter[n_spatial].kind == HN_ITER_SPATIAL) {
		n_spatial++;
	}
	n_reduce = st->n_iter - n_spatial;
	if (n_reduce > 1) {
		hn_chain_fuse(&base, stage, (int32_t)n_spatial, n_reduce);
	}
	hn_chain_split(&base, stage, (int32_t)n_spatial, &provisional, 1);
	for (int32_t part = 0; part < 2; part++) {
		struct hn_chain c = base;
		hn_chain_rfactor(&c, stage, (int32_t)n_spatial + part,
				 (int32_t)n_spatial);
		if (part == 1) {
			move_innermost(&c, stage, n_spatial);
		}
		hn_chain_result(&c, stage - 1, ret);
	}
}

extern const struct hn_rule_ops hn_rule_add_rfactor;
const struct hn_rule_ops hn_rule_add_rfactor = { "add_rfactor", meets, derive };
