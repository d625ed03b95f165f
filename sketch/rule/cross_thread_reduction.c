/* rule/cross_thread_reduction.c -- a long reduction with few results is shared out over
 * the threads of a block; where a simple reader walks the same outer loops, both run in
 * one kernel.  Not where the reduction may not be cut into parts: each thread has one.
 * Source: TVM auto_scheduler, RuleCrossThreadReduction, which does not ask that. */
#include "loopstate/dag/liberty.h"
#include "sketch/sketch_int.h"

static enum hn_rule_answer meets(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				 int32_t stage)
{
	const int64_t *param = ctx->target->param;
	int64_t spatial, reduce;
	bool worth_it;

	if (hn_stage_op(s, stage)->kind != HN_OP_COMPUTE ||
	    !hn_stage_has_reduce_iter(s, stage) || hn_stage_has_cache_write(s, stage) ||
	    hn_against_parts(s->root_dag, hn_stage_op(s, stage))) {
		return HN_RULE_SKIP;
	}
	hn_rule_work(ctx, s, stage, &spatial, &reduce);
	if (hn_stage_needs_tiling(s, stage)) {
		worth_it = spatial <= param[HN_PARAM_MAX_THREADS_PER_BLOCK] &&
			   spatial < reduce;
	} else {
		worth_it = reduce > 1 && reduce > param[HN_PARAM_WARP_SIZE];
	}
	return worth_it ? HN_RULE_APPLY : HN_RULE_SKIP;
}

/* The stage whose nest holds all readers, looking one attachment up; -1 = none. */
static int32_t single_reader(const struct hn_state *s, int32_t stage)
{
	int32_t reader[HN_DAG_MAX_OPS], host = -1;
	uint32_t n = hn_state_consumers(s, stage, reader, HN_COUNT_OF(reader));

	for (uint32_t i = 0; i < n && i < HN_COUNT_OF(reader); i++) {
		const struct hn_stage *st = s->stage[reader[i]];
		int32_t root = st->at == HN_AT_ITER && n > 1 ? st->at_stage : reader[i];
		if (host >= 0 && root != host) {
			return -1;
		}
		host = root;
	}
	return host;
}

/* The step whose split of `reader` the reduction follows, after giving the reader one if
 * it has none; -1 when the reader cannot be followed (TVM stops the program there). */
static int32_t reader_split(struct hn_chain *c, int32_t reader, int64_t warp)
{
	int32_t step;
	uint32_t n = hn_stage_split_steps(c->s, reader, &step, 1);

	if (n == 0 && !hn_stage_has_reduce_iter(c->s, reader)) {
		int32_t last = (int32_t)c->s->stage[reader]->n_iter - 1;
		hn_chain_split(c, reader, last, &warp, 1);
		step = c->failed ? -1 : (int32_t)c->s->trace->n_step - 1;
		hn_chain_annotate(c, reader, last + 1, HN_ANN_THREAD_X);
		return step;
	}
	return n == 1 ? step : -1;
}

/* Inside the reader's loops; false when the two do not go together. */
static bool derive_fused(struct hn_chain *c, int32_t stage, int32_t fused, int64_t warp)
{
	int32_t reader = single_reader(c->s, stage);

	if (c->failed || reader < 0 || hn_stage_needs_tiling(c->s, reader)) {
		return false;
	}
	uint32_t common = hn_access_common_outer(c->s->dag, c->s->access, stage, reader);
	int32_t step = common > 0 ? reader_split(c, reader, warp) : -1;
	if (step < 0) {
		return false;
	}
	hn_chain_follow_split(c, stage, fused, step, 1);
	hn_chain_annotate(c, stage, fused + 1, HN_ANN_THREAD_X);
	hn_chain_compute_at(c, stage, reader, (int32_t)common - 1);
	return !c->failed;
}

static void derive(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   struct hn_rule_results *ret)
{
	int64_t warp = ctx->target->param[HN_PARAM_WARP_SIZE];
	const struct hn_stage *st = s->stage[stage];
	struct hn_chain base = { .s = s, .a = ctx->arena };
	uint32_t first = 0;

	warp = warp > 0 ? warp : 1;
	while (st->iter[first].kind == HN_ITER_SPATIAL) {
		first++;
	}
	if (st->n_iter - first > 1) {
		hn_chain_fuse(&base, stage, (int32_t)first, st->n_iter - first);
	}
	struct hn_chain c = base;
	if (!derive_fused(&c, stage, (int32_t)first, warp)) {
		c = base;
		hn_chain_split(&c, stage, (int32_t)first, &warp, 1);
		hn_chain_annotate(&c, stage, (int32_t)first + 1, HN_ANN_THREAD_X);
	}
	hn_chain_result(&c, stage - 1, ret);
}

extern const struct hn_rule_ops hn_rule_cross_thread_reduction;
const struct hn_rule_ops hn_rule_cross_thread_reduction = { "cross_thread_reduction",
							    meets, derive };
