/* mutate/retile.c -- draw all tile sizes of one stage again, keeping every other
 * decision. */
#include "search/search_int.h"

static const struct hn_plan *mutate(const struct hn_sketch *sketch,
				    const struct hn_plan *plan, struct hn_rng *rng,
				    struct hn_arena *a)
{
	const int64_t **len;
	struct hn_plan_stage *stage;

	if (sketch->n_hole == 0) {
		return NULL;
	}
	struct hn_plan *p = hn_plan_copy(sketch, plan, &len, &stage, a);
	int32_t chosen = sketch->hole[hn_rng_below(rng, sketch->n_hole)].stage;
	for (uint32_t h = 0; h < sketch->n_hole; h++) {
		if (sketch->hole[h].stage == chosen) {
			len[h] = NULL;
		}
	}
	return p;
}

extern const struct hn_mutation_ops hn_mutation_retile;
const struct hn_mutation_ops hn_mutation_retile = {
	.origin = "mutate:retile", .mutate = mutate
};
