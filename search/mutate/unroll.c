/* mutate/unroll.c -- another auto-unroll value for one stage.
 * Source: Ansor, section 5.1, "pragma mutation". */
#include "search/search_int.h"

static const struct hn_plan *mutate(const struct hn_sketch *sketch,
				    const struct hn_plan *plan, struct hn_rng *rng,
				    struct hn_arena *a)
{
	const int64_t **len;
	struct hn_plan_stage *stage;
	uint32_t n_choice, n = sketch->state->n_stage;
	const int32_t *choice = hn_unroll_choices(&n_choice);

	struct hn_plan *p = hn_plan_copy(sketch, plan, &len, &stage, a);
	for (int tries = 0; tries < 8; tries++) {
		struct hn_plan_stage *st = &stage[hn_rng_below(rng, n)];
		int32_t v = choice[hn_rng_below(rng, n_choice)];
		if (st->unroll >= 0 && st->unroll != v) {
			st->unroll = v;
			return p;
		}
	}
	return NULL;
}

extern const struct hn_mutation_ops hn_mutation_unroll;
const struct hn_mutation_ops hn_mutation_unroll = {
	.origin = "mutate:unroll", .mutate = mutate
};
