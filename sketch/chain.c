/* sketch/chain.c -- the chain of steps that rules and fills build with.  A step that does
 * not fit ends the chain: the rule then yields nothing there, the fill a verdict. */
#include "sketch/sketch_int.h"

/* Run the call unless the chain has failed, and note a failure. */
#define CHAIN(c, call)                                                                   \
	do {                                                                             \
		if (!(c)->failed && (call) < 0) {                                        \
			(c)->failed = true;                                              \
		}                                                                        \
	} while (0)

void hn_chain_split(struct hn_chain *c, int32_t stage, int32_t iter, const int64_t *len,
		    uint32_t n_len)
{
	CHAIN(c, hn_split(c->s, stage, iter, len, n_len, /* inner_to_outer= */ true, c->a,
			  &c->s, NULL));
}

void hn_chain_follow_split(struct hn_chain *c, int32_t stage, int32_t iter,
			   int32_t src_step, int32_t n_split)
{
	CHAIN(c,
	      hn_follow_split(c->s, stage, iter, src_step, n_split, c->a, &c->s, NULL));
}

void hn_chain_follow_fused_split(struct hn_chain *c, int32_t stage, int32_t iter,
				 const int64_t *src_step, uint32_t n_src, int32_t level)
{
	const struct hn_step step = {
		.kind = HN_STEP_follow_fused_split,
		.stage = stage,
		.a = { [HN_FFSP_ITER] = iter,
		       [HN_FFSP_LEVEL] = level,
		       [HN_FFSP_FACTOR] = 1 },
		.n_list = n_src,
		.list = src_step,
	};

	CHAIN(c, hn_state_apply(c->s, &step, c->a, &c->s, NULL));
}

void hn_chain_fuse(struct hn_chain *c, int32_t stage, int32_t first, uint32_t n)
{
	CHAIN(c, hn_fuse(c->s, stage, first, n, c->a, &c->s, NULL));
}

void hn_chain_reorder(struct hn_chain *c, int32_t stage, const int64_t *order, uint32_t n)
{
	CHAIN(c, hn_reorder(c->s, stage, order, n, c->a, &c->s, NULL));
}

void hn_chain_annotate(struct hn_chain *c, int32_t stage, int32_t iter, enum hn_ann ann)
{
	CHAIN(c, hn_annotate(c->s, stage, iter, ann, c->a, &c->s, NULL));
}

void hn_chain_pragma(struct hn_chain *c, int32_t stage, int32_t iter, const char *text)
{
	CHAIN(c, hn_pragma(c->s, stage, iter, text, c->a, &c->s, NULL));
}

void hn_chain_compute_at(struct hn_chain *c, int32_t stage, int32_t target, int32_t iter)
{
	CHAIN(c, hn_compute_at(c->s, stage, target, iter, c->a, &c->s, NULL));
}

void hn_chain_inline(struct hn_chain *c, int32_t stage)
{
	CHAIN(c, hn_compute_inline(c->s, stage, c->a, &c->s, NULL));
}

void hn_chain_root(struct hn_chain *c, int32_t stage)
{
	CHAIN(c, hn_compute_root(c->s, stage, c->a, &c->s, NULL));
}

void hn_chain_cache_write(struct hn_chain *c, int32_t stage, const char *scope)
{
	CHAIN(c, hn_cache_write(c->s, stage, scope, c->a, &c->s, NULL));
}

void hn_chain_cache_read(struct hn_chain *c, int32_t stage, const char *scope,
			 int32_t reader)
{
	const int64_t list = reader;
	const struct hn_step step = {
		.kind = HN_STEP_cache_read,
		.stage = stage,
		.n_list = 1,
		.list = &list,
		.text = scope,
	};

	CHAIN(c, hn_state_apply(c->s, &step, c->a, &c->s, NULL));
}

void hn_chain_rfactor(struct hn_chain *c, int32_t stage, int32_t iter,
		      int32_t factor_iter)
{
	CHAIN(c, hn_rfactor(c->s, stage, iter, factor_iter, c->a, &c->s, NULL));
}

void hn_chain_tensorize(struct hn_chain *c, int32_t stage, const int64_t *iter, uint32_t n,
			const char *intrin)
{
	const struct hn_step step = { .kind = HN_STEP_tensorize,
				      .stage = stage,
				      .n_list = n,
				      .list = iter,
				      .text = intrin };

	CHAIN(c, hn_state_apply(c->s, &step, c->a, &c->s, NULL));
}

void hn_chain_fragment(struct hn_chain *c, int32_t stage, const char *memory)
{
	const struct hn_step step = { .kind = HN_STEP_fragment, .stage = stage, .text = memory };

	CHAIN(c, hn_state_apply(c->s, &step, c->a, &c->s, NULL));
}

void hn_chain_swizzle(struct hn_chain *c, int32_t stage, uint32_t row_dim, int64_t unit,
		      int64_t bits, int64_t shift)
{
	const struct hn_step step = { .kind = HN_STEP_swizzle,
				      .stage = stage,
				      .a = { [HN_SW_ROW_DIM] = row_dim,
					     [HN_SW_UNIT] = unit,
					     [HN_SW_BITS] = bits,
					     [HN_SW_SHIFT] = shift } };

	CHAIN(c, hn_state_apply(c->s, &step, c->a, &c->s, NULL));
}

void hn_chain_pipeline(struct hn_chain *c, int32_t stage, int32_t iter, int64_t stages,
		       enum hn_pipeline_kind kind)
{
	const struct hn_step step = { .kind = HN_STEP_pipeline,
				      .stage = stage,
				      .a = { [HN_PL_ITER] = iter,
					     [HN_PL_STAGES] = stages,
					     [HN_PL_KIND] = kind } };

	CHAIN(c, hn_state_apply(c->s, &step, c->a, &c->s, NULL));
}

void hn_chain_pack(struct hn_chain *c, int32_t stage, const int64_t *len)
{
	const struct hn_step step = {
		.kind = HN_STEP_pack,
		.stage = stage,
		.n_list = c->s->dag->op[stage]->n_dim,
		.list = len,
	};

	CHAIN(c, hn_state_apply(c->s, &step, c->a, &c->s, NULL));
}

void hn_rule_result_add(struct hn_rule_results *ret, const struct hn_state *state,
			int32_t next_stage)
{
	if (ret->n < HN_RULE_MAX_RESULTS) {
		ret->item[ret->n] = (struct hn_rule_result){ .state = state,
							     .next_stage = next_stage };
	}
	ret->n++;
}

void hn_chain_result(const struct hn_chain *c, int32_t next, struct hn_rule_results *ret)
{
	if (!c->failed) {
		hn_rule_result_add(ret, c->s, next);
	}
}
