/* search/experience.c -- see experience.h.  Invariant: the means hold the biases of the first
 * n_weighed programs by the model as it is now. */
#include "search/experience.h"

#include <math.h>

#define MOST 8192 /* programs remembered; a longer search teaches no more */

void hn_experience_init(struct hn_experience *e, struct hn_space *sp)
{
	*e = (struct hn_experience){
		.space = sp,
		.of = HN_NEW_ARRAY(&sp->arena, struct hn_bias, sp->sketches.n)};
}

static void grow(struct hn_experience *e)
{
	struct hn_arena *a = &e->space->arena;
	uint32_t cap[3] = {e->cap, e->cap, e->cap};

	e->features = hn_arena_grow(a, e->features, e->n, &cap[0], sizeof *e->features);
	e->lesson = hn_arena_grow(a, e->lesson, e->n, &cap[1], sizeof *e->lesson);
	e->sketch = hn_arena_grow(a, e->sketch, e->n, &cap[2], sizeof *e->sketch);
	e->cap = cap[0];
}

struct hn_features hn_experience_add(struct hn_experience *e, const struct hn_indiv *x,
				     double median_ns)
{
	struct hn_features copy = hn_features_copy(&x->features, &e->space->arena);

	if (e->n < MOST) {
		grow(e);
		e->features[e->n] = copy;
		e->lesson[e->n].median_ns = median_ns;
		e->sketch[e->n++] = x->sketch;
	}
	return copy;
}

double hn_experience_bias(const struct hn_indiv *x, double median_ns)
{
	return log(1e9 / median_ns) - log(fmax(x->score, 1e-300));
}

/* Take the programs that are not in the means into them. */
static void weigh(struct hn_experience *e)
{
	for (; e->n_weighed < e->n; e->n_weighed++) {
		uint32_t i = e->n_weighed;
		struct hn_indiv x = {.features = e->features[i]};

		if (!isfinite(e->lesson[i].median_ns)) {
			continue; /* it failed: the model knows, the means do not */
		}
		hn_space_score(e->space, &x, 1);
		double bias = hn_experience_bias(&x, e->lesson[i].median_ns);

		e->all.sum += bias;
		e->all.n++;
		if (e->sketch[i]) {
			struct hn_bias *b = &e->of[e->sketch[i] - e->space->sketches.sketch];
			b->sum += bias;
			b->n++;
		}
	}
}

bool hn_experience_learn(struct hn_experience *e)
{
	struct hn_space *sp = e->space;
	bool learned = false;

	if (sp->ops->update) {
		for (uint32_t i = 0; i < e->n; i++) {
			e->lesson[i].f = &e->features[i];
		}
		learned = sp->ops->update(sp->model, e->lesson, e->n, 0);
	}
	if (learned) {
		sp->learned = true;
		e->n_weighed = 0;
		e->all = (struct hn_bias){0};
		for (uint32_t i = 0; i < sp->sketches.n; i++) {
			e->of[i] = (struct hn_bias){0};
		}
	}
	weigh(e);
	return learned;
}

double hn_experience_mean(const struct hn_experience *e, const struct hn_sketch *sketch)
{
	double all = e->all.n > 0 ? e->all.sum / e->all.n : 0;

	if (!sketch) {
		return all;
	}
	const struct hn_bias *b = &e->of[sketch - e->space->sketches.sketch];
	return (b->sum + 4 * all) / (b->n + 4);
}
