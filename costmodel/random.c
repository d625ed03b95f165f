/* costmodel/random.c -- seeded noise instead of a prediction, so that tests walk strange
 * programs.  The score depends on seed and trace alone, never on the order of calls.
 * Source of the idea: FFTW's FFTW_RANDOM_ESTIMATOR. */
#include <stdlib.h>

#include "base/rng.h"
#include "costmodel/model.h"
#include "loopstate/state/trace.h"

struct hn_model {
	uint64_t seed;
};

static struct hn_model *create(uint64_t seed)
{
	struct hn_model *m = calloc(1, sizeof *m);

	hn_assert(m);
	m->seed = seed;
	return m;
}

static void destroy(struct hn_model *m)
{
	free(m);
}

static void predict(struct hn_model *m, const struct hn_features *const *f, uint32_t n,
		    double *score)
{
	for (uint32_t i = 0; i < n; i++) {
		struct hn_rng rng = hn_rng_stream(m->seed, hn_trace_hash(f[i]->trace), 0, 0);

		score[i] = 1e-9 + (1 - 1e-9) * hn_rng_unit(&rng);
	}
}

extern const struct hn_model_ops hn_model_random;
const struct hn_model_ops hn_model_random = {
	.name = "random", .create = create, .destroy = destroy, .predict = predict};
