/* costmodel/analytic.c -- the roofline of the features' cycles (costmodel/features.c): no
 * training, the same answer always.
 */
#include "costmodel/model.h"

static struct hn_model *create(uint64_t seed)
{
	(void)seed;
	return NULL; /* it has no state */
}

static void destroy(struct hn_model *m)
{
	(void)m;
}

double hn_model_analytic_score(const struct hn_features *f)
{
	double cycles = HN_MODEL_CALL_CYCLES;

	for (uint32_t i = 0; i < f->n; i++) {
		cycles += f->cycles[i];
	}
	return HN_MODEL_HZ / cycles;
}

double hn_model_analytic_ns(const struct hn_features *f, bool cold)
{
	return cold ? 1e9 / hn_model_analytic_score(f)
		    : 1e9 * (HN_MODEL_CALL_CYCLES + f->warm_cycles) / HN_MODEL_HZ;
}

static void predict(struct hn_model *m, const struct hn_features *const *f, uint32_t n,
		    double *score)
{
	(void)m;
	for (uint32_t i = 0; i < n; i++) {
		score[i] = hn_model_analytic_score(f[i]);
	}
}

extern const struct hn_model_ops hn_model_analytic;
const struct hn_model_ops hn_model_analytic = {
	.name = "analytic",
	.timed = true,
	.create = create,
	.destroy = destroy,
	.predict = predict};
