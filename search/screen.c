/* search/screen.c -- see screen.h. */
#include "search/screen.h"

#include <stdlib.h>

#define SHARE 2

uint32_t hn_screen_share(const struct hn_space *sp)
{
	return sp->learned ? SHARE : 1;
}

static int by_sketch_and_score(const void *a, const void *b)
{
	const struct hn_indiv *x = a, *y = b;

	if (x->sketch != y->sketch) {
		return x->sketch < y->sketch ? -1 : 1;
	}
	if (x->score != y->score) {
		return x->score < y->score ? 1 : -1;
	}
	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* The better ones of each sketch, moved to the front. */
static uint32_t keep_better(struct hn_indiv *x, uint32_t n, uint32_t share)
{
	uint32_t kept = 0;

	qsort(x, n, sizeof *x, by_sketch_and_score);
	for (uint32_t from = 0, to; from < n; from = to) {
		const struct hn_sketch *sketch = x[from].sketch;

		for (to = from; to < n && x[to].sketch == sketch; to++) {
		}
		for (uint32_t i = from; i < from + (to - from + share - 1) / share; i++) {
			x[kept++] = x[i];
		}
	}
	return kept;
}

uint32_t hn_screen(const struct hn_space *sp, struct hn_indiv *x, uint32_t n)
{
	uint32_t share = hn_screen_share(sp);

	for (uint32_t i = 0; i < n && share > 1; i++) {
		x[i].score = hn_model_analytic_score(&x[i].features);
	}
	return share > 1 ? keep_better(x, n, share) : n;
}
