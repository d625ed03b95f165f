/* mutate/prefetch.c -- a stage fetches an operand ahead, another one, at another distance,
 * or no more. */
#include "search/search_int.h"

static const struct hn_plan *mutate(const struct hn_sketch *sketch,
				    const struct hn_plan *plan, struct hn_rng *rng,
				    struct hn_arena *a)
{
	const int64_t **len;
	struct hn_plan_stage *stage;
	uint32_t n = sketch->state->n_stage;

	struct hn_plan *p = hn_plan_copy(sketch, plan, &len, &stage, a);
	for (int tries = 0; tries < 8; tries++) {
		int32_t i = (int32_t)hn_rng_below(rng, n);
		struct hn_plan_stage old = stage[i];
		if (old.fetch > 0 && hn_rng_below(rng, 3) == 0) {
			stage[i].fetch = 0;
			return p;
		}
		if (!hn_fetch_draw(sketch, i, rng, &stage[i])) {
			continue;
		}
		if (old.fetch > 0 && hn_rng_below(rng, 2) == 0) {
			stage[i].fetch_iter = old.fetch_iter;
			stage[i].fetch_operand = old.fetch_operand;
		}
		return p;
	}
	return NULL;
}

extern const struct hn_mutation_ops hn_mutation_prefetch;
const struct hn_mutation_ops hn_mutation_prefetch = {
	.origin = "mutate:prefetch", .mutate = mutate
};
