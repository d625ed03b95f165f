/* fill/prefetch.c -- now and then a stage fetches an operand ahead.  Not of Ansor's.
 *
 * Hardware fetches well what lies in a row, so that most programs are best without: few
 * draws have a prefetch, and mutation adds the rest.  One that its loop cannot do is left
 * out. */
#include "sketch/sketch_int.h"

#define ONE_IN 32 /* stages drawn with a prefetch */

const int32_t *hn_fetch_distances(uint32_t *ret_n)
{
	static const int32_t distance[] = { 1, 2, 4, 8, 16, 32 };

	*ret_n = HN_COUNT_OF(distance);
	return distance;
}

bool hn_fetch_draw(const struct hn_sketch *sketch, int32_t stage, struct hn_rng *rng,
		   struct hn_plan_stage *ret)
{
	uint32_t n_distance;
	const int32_t *distance = hn_fetch_distances(&n_distance);
	const struct hn_state *s = sketch->state;
	const struct hn_op_access *acc = &s->access->op[stage];
	uint32_t n_iter = s->stage[stage]->n_iter;

	if (acc->n_producer == 0 || n_iter == 0) {
		return false;
	}
	ret->fetch = distance[hn_rng_below(rng, n_distance)];
	ret->fetch_iter = (int32_t)hn_rng_below(rng, n_iter);
	ret->fetch_operand = acc->producer[hn_rng_below(rng, acc->n_producer)];
	return true;
}

static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	for (int32_t i = 0; i < (int32_t)s->n_stage; i++) {
		struct hn_plan_stage p = ctx->plan->stage[i];
		struct hn_step step = { .kind = HN_STEP_prefetch, .stage = i };

		if (p.fetch < 0 && hn_rng_below(ctx->rng, ONE_IN) == 0) {
			hn_fetch_draw(ctx->sketch, i, ctx->rng, &p);
		}
		if (p.fetch <= 0) {
			continue;
		}
		step.a[HN_PF_ITER] = p.fetch_iter;
		step.a[HN_PF_OPERAND] = p.fetch_operand;
		step.a[HN_PF_DISTANCE] = p.fetch;
		/* *ret is written on success alone */
		(void)!hn_state_apply(s, &step, ctx->arena, &s, NULL);
	}
	*ret = s;
	return HN_VERDICT_OK;
}

extern const struct hn_fill_ops hn_fill_prefetch;
const struct hn_fill_ops hn_fill_prefetch = { "prefetch", fill };
