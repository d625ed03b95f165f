/* bench/judge.c -- see judge.h. */
#include "bench/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "loopstate/dag/tolerance.h"
#include "lower/interp/interp.h"

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

/* Element `at` of argument i where that lies; integers of the suite are below 2^53. */
static double value(const struct hn_contest *t, uint32_t i, const void *where, int64_t at)
{
	enum hn_dtype type = hn_contest_type(t, i);

	switch (type) {
	case HN_BOOL:
	case HN_U8:
		return ((const uint8_t *)where)[at];
	case HN_I8:
		return ((const int8_t *)where)[at];
	case HN_I16:
		return ((const int16_t *)where)[at];
	case HN_U16:
		return ((const uint16_t *)where)[at];
	case HN_I32:
		return ((const int32_t *)where)[at];
	case HN_U32:
		return ((const uint32_t *)where)[at];
	case HN_I64:
		return (double)((const int64_t *)where)[at];
	case HN_U64:
		return (double)((const uint64_t *)where)[at];
	default:
		return hn_float_get(type, where, at);
	}
}

/* How far a right answer may be off. */
static double limit_of(const struct hn_contest *t)
{
	bool narrow = false, floats = false;

	for (uint32_t i = 0; i < t->dag->n_arg; i++) {
		enum hn_dtype type = hn_contest_type(t, i);

		narrow |= type != HN_F32;
		floats |= i >= t->dag->n_input && hn_dtype_class(type) == HN_CLASS_FLOAT;
	}
	return !floats ? 0 : narrow ? hn_dag_tolerance(t->dag) : HN_JUDGE_LIMIT;
}

/* The interpreter's arguments: the contest's inputs, outputs of its own. */
static void **reference_args(const struct hn_contest *t)
{
	void **arg = calloc(t->dag->n_arg, sizeof(*arg));

	hn_assert(arg != NULL);
	for (uint32_t i = 0; i < t->dag->n_arg; i++) {
		arg[i] = i < t->dag->n_input ? t->arg[i]
					     : calloc(1, hn_contest_arg_bytes(t, i));
		hn_assert(arg[i] != NULL);
	}
	return arg;
}

/* NaN where the interpreter has none: it shows as a wrong answer. */
static double wanted(const struct hn_contest *t, struct hn_interp *in, void *const *arg,
		     int64_t at)
{
	uint32_t i = locate(t, &at);
	int64_t fuel = INT64_MAX;

	return hn_interp_element(in, (uint32_t)t->dag->arg[i], at, &fuel) == HN_INTERP_OK
		       ? value(t, i, arg[i], at)
		       : NAN;
}

void hn_judge_init(struct hn_judge *j, const struct hn_contest *t)
{
	int64_t n = n_elements(t), begin = hn_clock_ns();
	void **arg = reference_args(t);
	struct hn_rng rng = hn_rng_stream(11, 0, 0, 0);
	struct hn_interp *in;
	struct hn_err err;

	*j = (struct hn_judge){ .limit = limit_of(t) };
	j->at = malloc(MAX_ELEMENTS * sizeof(*j->at));
	j->want = malloc(MAX_ELEMENTS * sizeof(*j->want));
	hn_assert(j->at != NULL && j->want != NULL);
	hn_assert(hn_interp_open(t->dag, arg, HN_INTERP_WIDE, &in, &err) == 0);
	while (j->n < MAX_ELEMENTS && (j->n == 0 || hn_clock_ns() - begin < ENOUGH_NS)) {
		/* the corners first, where padding and tails are */
		int64_t at = j->n == 0	 ? 0
			     : j->n == 1 ? n - 1
					 : (int64_t)hn_rng_below(&rng, (uint64_t)n);

		j->at[j->n] = at;
		j->want[j->n++] = wanted(t, in, arg, at);
	}
	hn_interp_close(in);
	for (uint32_t i = t->dag->n_input; i < t->dag->n_arg; i++) {
		free(arg[i]);
	}
	free(arg);
}

void hn_judge_fini(struct hn_judge *j, const struct hn_contest *t)
{
	for (uint32_t i = 0; j->first != NULL && i < t->dag->n_arg; i++) {
		free(j->first[i]);
	}
	free(j->first);
	free(j->at);
	free(j->want);
}

bool hn_judged_right(const struct hn_judgement *j)
{
	return j->error <= j->limit && j->differs <= 2 * j->limit;
}

static double over(double difference, double size)
{
	return size > 0 ? sqrt(difference / size) : sqrt(difference);
}

/* Keep what lies in the outputs. */
static void keep_first(struct hn_judge *j, const struct hn_contest *t)
{
	j->first = calloc(t->dag->n_arg, sizeof(*j->first));
	hn_assert(j->first != NULL);
	for (uint32_t i = t->dag->n_input; i < t->dag->n_arg; i++) {
		size_t bytes = hn_contest_arg_bytes(t, i);

		j->first[i] = malloc(bytes);
		hn_assert(j->first[i] != NULL);
		memcpy(j->first[i], t->arg[i], bytes);
	}
}

/* Every element of every output against the first contender's; those are kept when there are
 * none yet. */
static double against_first(struct hn_judge *j, const struct hn_contest *t)
{
	double difference = 0, size = 0;

	if (j->first == NULL) {
		keep_first(j, t);
	}
	for (uint32_t i = t->dag->n_input; i < t->dag->n_arg; i++) {
		int64_t n = hn_contest_elements(t, i);

		for (int64_t k = 0; k < n; k++) {
			double want = value(t, i, j->first[i], k);
			double d = value(t, i, t->arg[i], k) - want;

			difference += d * d;
			size += want * want;
		}
	}
	return over(difference, size);
}

struct hn_judgement hn_judge(struct hn_judge *j, struct hn_contest *t,
			     const struct hn_contender *c)
{
	struct hn_judgement ret = { .limit = j->limit };
	double difference = 0, size = 0;

	for (uint32_t i = t->dag->n_input; i < t->dag->n_arg; i++) {
		memset(t->arg[i], 0xff, hn_contest_arg_bytes(t, i));
	}
	c->call(c->ctx);
	if (c->fetch != NULL) {
		c->fetch(c->ctx);
	}
	for (uint32_t i = 0; i < j->n; i++) {
		int64_t at = j->at[i];
		uint32_t arg = locate(t, &at);
		double d = value(t, arg, t->arg[arg], at) - j->want[i];

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
	hn_judge_fini(&j, t);
	return hn_judged_right(&ret[0]);
}
