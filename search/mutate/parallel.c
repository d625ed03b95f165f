/* mutate/parallel.c -- fuse one loop more or one less into a parallel loop, or cut strips
 * of another length.  Source: Ansor, section 5.1, "parallel granularity mutation". */
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
		struct hn_plan_stage *st = &stage[hn_rng_below(rng, n)];
		if (st->strip > 0 && hn_rng_below(rng, 3) == 0) {
			st->strip = -1;
			return p;
		}
		if (st->parallel >= 0) {
			bool more = hn_rng_below(rng, 2) == 0 || st->parallel == 0;
			st->parallel += more ? 1 : -1;
			return p;
		}
	}
	return NULL;
}

extern const struct hn_mutation_ops hn_mutation_parallel;
const struct hn_mutation_ops hn_mutation_parallel = {
	.origin = "mutate:parallel", .mutate = mutate
};
