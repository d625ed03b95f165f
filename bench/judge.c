/* bench/judge.c -- see judge.h. */
#include "bench/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "bench/reference.h"

#define MAX_ELEMENTS 2000
#define ENOUGH_NS 1000000000

void hn_judge_init(struct hn_judge *j, const struct hn_contest *t)
{
	int64_t n = hn_contest_elements(t, t->dag->n_arg - 1), begin = hn_clock_ns();
	struct hn_reference *r = hn_reference_new(t->dag, t->arg);
	struct hn_rng rng = hn_rng_stream(11, 0, 0, 0);

	j->n = 0;
	j->first = NULL;
	j->at = malloc(MAX_ELEMENTS * sizeof(*j->at));
	j->want = malloc(MAX_ELEMENTS * sizeof(*j->want));
	hn_assert(j->at != NULL && j->want != NULL);
	while (j->n < MAX_ELEMENTS && (j->n == 0 || hn_clock_ns() - begin < ENOUGH_NS)) {
		/* the corners first, where padding and tails are */
		int64_t at = j->n == 0	 ? 0
			     : j->n == 1 ? n - 1
					 : (int64_t)hn_rng_below(&rng, (uint64_t)n);

		j->at[j->n] = at;
		j->want[j->n] = hn_reference_at(r, at);
		j->n++;
	}
	hn_reference_free(r);
}

void hn_judge_fini(struct hn_judge *j)
{
	free(j->at);
	free(j->want);
	free(j->first);
}

static double over(double difference, double size)
{
	return size > 0 ? sqrt(difference / size) : sqrt(difference);
}

struct hn_judgement hn_judge(struct hn_judge *j, struct hn_contest *t,
			     const struct hn_contender *c)
{
	uint32_t last = t->dag->n_arg - 1;
	int64_t n = hn_contest_elements(t, last);
	float *got = t->arg[last];
	struct hn_judgement ret = { 0 };
	double difference = 0, size = 0;

	memset(got, 0xff, (size_t)n * sizeof(*got));
	c->call(c->ctx);
	if (c->fetch != NULL) {
		c->fetch(c->ctx);
	}
	for (uint32_t i = 0; i < j->n; i++) {
		double d = (double)got[j->at[i]] - j->want[i];

		difference += d * d;
		size += j->want[i] * j->want[i];
	}
	ret.error = over(difference, size);
	if (j->first == NULL) {
		j->first = malloc((size_t)n * sizeof(*got));
		hn_assert(j->first != NULL);
		memcpy(j->first, got, (size_t)n * sizeof(*got));
		return ret;
	}
	difference = size = 0;
	for (int64_t i = 0; i < n; i++) {
		double d = (double)got[i] - (double)j->first[i];

		difference += d * d;
		size += (double)j->first[i] * (double)j->first[i];
	}
	ret.differs = over(difference, size);
	return ret;
}
