/* search/mutate.c -- the table of mutations, drawn by weight. */
#include "search/search_int.h"

#define MUTATION(name, weight) extern const struct hn_mutation_ops hn_mutation_##name;
#include "search/mutations.def"
#undef MUTATION

static const struct {
	const struct hn_mutation_ops *ops;
	uint32_t weight;
} mutations[] = {
#define MUTATION(name, weight) {&hn_mutation_##name, weight},
#include "search/mutations.def"
#undef MUTATION
};

static uint32_t weight_of(size_t i, bool alone)
{
	return alone && mutations[i].ops->cross ? 0 : mutations[i].weight;
}

const struct hn_plan *hn_mutate(const struct hn_sketch *sketch,
				const struct hn_plan *plan, const struct hn_plan *mate,
				struct hn_rng *rng, struct hn_arena *a,
				const char **ret_origin)
{
	uint32_t all = 0;

	for (size_t i = 0; i < HN_COUNT_OF(mutations); i++) {
		all += weight_of(i, !mate);
	}
	uint64_t draw = hn_rng_below(rng, all);
	for (size_t i = 0; i < HN_COUNT_OF(mutations); i++) {
		const struct hn_mutation_ops *ops = mutations[i].ops;
		uint32_t weight = weight_of(i, !mate);

		if (draw < weight) {
			*ret_origin = ops->origin;
			return ops->cross ? ops->cross(sketch, plan, mate, rng, a)
					  : ops->mutate(sketch, plan, rng, a);
		}
		draw -= weight;
	}
	return NULL;
}
