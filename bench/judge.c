/* bench/judge.c -- see judge.h. */
#include "bench/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "bench/reference.h"

#define MAX_ELEMENTS 2000
#define ENOUGH_NS 1000000000

/* Elements of all outputs. */
static int64_t n_elements(const struct hn_contest *t)
{
	int64_t n = 0;

	for (uint32_t i = t->dag->n_input; i < t->dag->n_arg; i++) {
		n += hn_contest_elements(t, i);
	}
	return n;
}

/* Which argument holds element *at of all outputs; *at becomes the place in it. */
static uint32_t locate(const struct hn_contest *t, int64_t *at)
{
	uint32_t i = t->dag->n_input;

	for (; *at >= hn_contest_elements(t, i); i++) {
		*at -= hn_contest_elements(t, i);
	}
	return i;
}

void hn_judge_init(struct hn_judge *j, const struct hn_contest *t)
{
	int64_t n = n_elements(t), begin = hn_clock_ns();
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
		uint32_t arg = locate(t, &at);

		j->want[j->n] = hn_reference_at(r, arg, at);
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

bool hn_judged_right(const struct hn_judgement *j)
{
	return j->error <= HN_JUDGE_LIMIT && j->differs <= 2 * HN_JUDGE_LIMIT;
}

static double over(double difference, double size)
{
	return size > 0 ? sqrt(difference / size) : sqrt(difference);
}

/* Every element of every output against the first contender's; those are kept when there are
 * none yet. */
static double against_first(struct hn_judge *j, const struct hn_contest *t)
{
	bool first = j->first == NULL;
	double difference = 0, size = 0;
	float *want;

	if (first) {
		j->first = malloc((size_t)n_elements(t) * sizeof(*j->first));
		hn_assert(j->first != NULL);
	}
	want = j->first;
	for (uint32_t i = t->dag->n_input; i < t->dag->n_arg; i++) {
		int64_t n = hn_contest_elements(t, i);

		if (first) {
			memcpy(want, t->arg[i], (size_t)n * sizeof(*want));
		}
		for (int64_t k = 0; k < n; k++) {
			double d = (double)t->arg[i][k] - (double)want[k];

			difference += d * d;
			size += (double)want[k] * (double)want[k];
		}
		want += n;
	}
	return over(difference, size);
}

struct hn_judgement hn_judge(struct hn_judge *j, struct hn_contest *t,
			     const struct hn_contender *c)
{
	struct hn_judgement ret = { 0 };
	double difference = 0, size = 0;

	for (uint32_t i = t->dag->n_input; i < t->dag->n_arg; i++) {
		memset(t->arg[i], 0xff,
		       (size_t)hn_contest_elements(t, i) * sizeof(float));
	}
	c->call(c->ctx);
	if (c->fetch != NULL) {
		c->fetch(c->ctx);
	}
	for (uint32_t i = 0; i < j->n; i++) {
		int64_t at = j->at[i];
		uint32_t arg = locate(t, &at);
		double d = (double)t->arg[arg][at] - j->want[i];

		difference += d * d;
		size += j->want[i] * j->want[i];
	}
	ret.error = over(difference, size);
	ret.differs = against_first(j, t);
	return ret;
}

bool hn_judge_all(struct hn_contest *t, struct hn_judgement *ret)
{
	struct hn_judge j;

	hn_judge_init(&j, t);
	for (uint32_t i = 0; i < t->n; i++) {
		ret[i] = hn_judge(&j, t, &t->contender[i]);
		if (!hn_judged_right(&ret[i])) {
			fprintf(stderr,
				"hone-bench: %s: %s is wrong: relative error %g, against "
				"%s %g\n",
				t->row->name, t->contender[i].name, ret[i].error,
				t->contender[0].name, ret[i].differs);
		}
	}
	hn_judge_fini(&j);
	return hn_judged_right(&ret[0]);
}
