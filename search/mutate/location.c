/* mutate/location.c -- let one stage that is computed inside another, or could be, choose
 * its place again.  Source: Ansor, section 5.1, "computation location mutation". */
#include "search/search_int.h"

bool hn_may_relocate(const struct hn_sketch *sketch, uint32_t stage)
{
	const struct hn_state *s = sketch->state;

	return s->dag->op[stage]->kind == HN_OP_COMPUTE &&
	       s->stage[stage]->at != HN_AT_INLINED && !s->access->op[stage].output &&
	       !s->access->op[stage].needs_multi_level_tiling;
}

static const struct hn_plan *mutate(const struct hn_sketch *sketch,
				    const struct hn_plan *plan, struct hn_rng *rng,
				    struct hn_arena *a)
{
	const int64_t **len;
	struct hn_plan_stage *stage;
	uint32_t n = sketch->state->n_stage;

	struct hn_plan *p = hn_plan_copy(sketch, plan, &len, &stage, a);
	for (int tries = 0; tries < 8; tries++) {
		uint32_t i = (uint32_t)hn_rng_below(rng, n);
		if (hn_may_relocate(sketch, i)) {
			stage[i].at = -1;
			stage[i].strip = stage[i].parallel = -1;
			return p;
		}
	}
	return NULL;
}

extern const struct hn_mutation_ops hn_mutation_location;
const struct hn_mutation_ops hn_mutation_location = {
	.origin = "mutate:location", .mutate = mutate
};
